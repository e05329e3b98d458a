/* One link on its way: its inputs as the linkers take them, and what came out.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_LINK_H
#define GPUL_CORE_LINK_H

#include <gpulaunch/link.h>

#include "core/device.h"
#include "core/image.h"

typedef enum gpul__link_kind {
    GPUL__LINK_CUBIN,
    GPUL__LINK_PTX,
    GPUL__LINK_FATBIN,
    GPUL__LINK_OBJECT,
    GPUL__LINK_LIBRARY,
    GPUL__LINK_LTOIR
} gpul__link_kind;

typedef struct gpul__link_item {
    gpul__link_kind kind;
    const void *data; /* PTX ends in NUL, which counts */
    size_t size;
    const char *name;
    char *read; /* the file's contents, owned */
} gpul__link_item;

typedef struct gpul__link {
    const gpul_link_opts *opts;
    gpul_device *device; /* NULL: none */
    gpul__arch arch;     /* to link for */
    gpul__arena arena;
    gpul__link_item *items;
    size_t count;
    gpul_image *
        *parts; /* references, in the order of the inputs that are images or were read as such */
    size_t part_count;
    void *bytes; /* what came out, owned */
    size_t size;
    bool of_cpu; /* it is the CPU device's own form */
    const char *log;
    uint64_t ns;
} gpul__link;

/* The two linkers: they fill bytes, size and log. */
gpul_status gpul__link_by_driver(gpul__link *link);
gpul_status gpul__link_by_library(gpul__link *link);

#endif
