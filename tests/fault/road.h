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

/* Goes the whole road in a thread of its own, so that its error record goes with it, and stops at the
 * first failure.  `source`: from CUDA source by the compiler, else from PTX. */
void travel(journey *out, bool source);

/* What holds for every failure: status and record agree, there are words, nothing is left behind. */
void check_failure(const journey *j, const char *what);

/* Nothing is left behind. */
void check_clean(const journey *j, const char *what);

#endif
