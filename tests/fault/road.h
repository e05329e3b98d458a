/* The main road, driven so that something on it fails: open, image, load, kernel, buffers, streams,
 * events, launches, reading back.  SPDX-License-Identifier: MIT */
#ifndef FAULT_ROAD_H
#define FAULT_ROAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "driver/fault.h"
#include "driver/record.h"
#include "runner.h"

/* What came of one journey; the record's texts are copies. */
typedef struct journey {
    gpul_status status;
    gpul_error error;
    char message[1024], call[128], hint[512], native_name[64];
    long leaked;     /* allocations of the library that are still there */
    char leaks[256]; /* objects of the driver that are */
} journey;

/* Which way: the main road from PTX or, by the compiler, from CUDA source; and what leads off it, which
 * older drivers lack in part: memory kinds, two dimensions (road_kinds.c), graphs (road_graph.c). */
typedef enum route { FROM_PTX, FROM_SOURCE, KINDS, GRAPHS } route;

/* Goes the whole way in a thread of its own, so that its error record goes with it, and stops at the
 * first failure. */
void travel(journey *out, route way);

/* The ways of other files: make, use and free their own objects. */
gpul_status travel_kinds(gpul_device *device);
gpul_status travel_graphs(gpul_device *device);

#define TRY(call)                                                                                  \
    do {                                                                                           \
        gpul_status status_ = (call);                                                              \
        if (status_ != GPUL_OK) return status_;                                                    \
    } while (0)

/* What holds for every failure: status and record agree, there are words, nothing is left behind. */
void check_failure(const journey *j, const char *what);

/* Nothing is left behind. */
void check_clean(const journey *j, const char *what);

#endif
