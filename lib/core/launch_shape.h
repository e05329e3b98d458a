/* What was asked for by the last launches of a kernel, with what the checks made of it: a launch that asks for the same
 * again needs none of them.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_LAUNCH_SHAPE_H
#define GPUL_CORE_LAUNCH_SHAPE_H

#include <string.h>

#include "core/geometry.h"

/* Never changes once it can be found; lives as long as the device, whose ring points at it. */
typedef struct gpul__shape {
    gpul_launch_opts opts; /* as they were given; caller_file is only compared */
    uint32_t grid[3], block[3], shared;
    const char *kernel, *file; /* for the ring: live as long as the device */
    struct gpul__shape *next;  /* of the device */
} gpul__shape;

static inline size_t gpul__shape_place(const gpul_launch_opts *opts)
{
    return ((size_t)opts->grid[0] + (size_t)opts->caller_line) % GPUL__KERNEL_SHAPES;
}

/* Field by field would be slower: bytes between fields that differ only cost the whole check. */
static inline bool gpul__same_opts(const gpul_launch_opts *a, const gpul_launch_opts *b)
{
    typedef uint64_t pair __attribute__((vector_size(16)));
    enum { PAIRS = sizeof *a / sizeof(pair), REST = sizeof *a % sizeof(pair) };
    _Static_assert(REST == 0 || REST == 8, "the rest is one word");
    pair difference = { 0 };
#pragma GCC unroll 8
    for (size_t i = 0; i < PAIRS; i++) {
        pair x, y;
        memcpy(&x, (const char *)a + i * sizeof x, sizeof x);
        memcpy(&y, (const char *)b + i * sizeof y, sizeof y);
        difference |= x ^ y;
    }
    uint64_t rest = 0;
    if (REST) {
        uint64_t x, y;
        memcpy(&x, (const char *)a + PAIRS * sizeof(pair), sizeof x);
        memcpy(&y, (const char *)b + PAIRS * sizeof(pair), sizeof y);
        rest = x ^ y;
    }
    return !(difference[0] | difference[1] | rest);
}

/* The shape that these options have; NULL: none is known. */
static inline const gpul__shape *gpul__shape_find(const gpul_kernel *kernel,
                                                  const gpul_launch_opts *opts)
{
    const gpul__shape *shape =
        atomic_load_explicit(&kernel->shapes[gpul__shape_place(opts)], memory_order_acquire);
    return shape && gpul__same_opts(&shape->opts, opts) ? shape : NULL;
}

/* A plain launch was accepted: keeps its shape when it is met the second time in a row.  Without memory the next
 * launch is checked like this one. */
void gpul__shape_note(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                      const gpul__geometry *geometry);

/* Frees all of a device's. */
void gpul__shapes_free(gpul_device *device);

#endif
