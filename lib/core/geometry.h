/* Grid, block, shared memory, cooperative and cluster launches against the limits of kernel and device.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_GEOMETRY_H
#define GPUL_CORE_GEOMETRY_H

#include "core/kernel.h"

/* A launch's dimensions as the driver takes them. */
typedef struct gpul__geometry {
    uint32_t grid[3], block[3], cluster[3]; /* cluster: zeros when the launch asks for none */
    uint32_t shared;
    bool cooperative;
} gpul__geometry;

/* Grid, block and shared memory alone: false when a limit is broken or something needs a closer look. */
static inline bool gpul__geometry_in_limits(gpul__geometry *out, const gpul_kernel *kernel,
                                            const gpul_launch_opts *opts)
{
    uint64_t gx = opts->grid[0], gy = opts->grid[1], gz = opts->grid[2];
    uint64_t bx = opts->block[0], by = opts->block[1], bz = opts->block[2];
    gy += gy == 0;
    gz += gz == 0;
    by += by == 0;
    bz += bz == 0;
    /* x - 1 is larger than any limit when x is zero. */
    if (gx - 1 >= kernel->grid_limit[0] || gy > kernel->grid_limit[1] ||
        gz > kernel->grid_limit[2] || bx - 1 >= kernel->block_limit[0] ||
        by > kernel->block_limit[1] || bz > kernel->block_limit[2] ||
        bx * by * bz > kernel->max_threads)
        return false;
    if (opts->shared > atomic_load_explicit(&kernel->shared_allowed, memory_order_relaxed))
        return false;
    if ((kernel->special & ~(opts->shared ? GPUL__KERNEL_SHARED : 0)) || opts->cooperative ||
        (opts->cluster[0] | opts->cluster[1] | opts->cluster[2]))
        return false;
    out->grid[0] = (uint32_t)gx;
    out->grid[1] = (uint32_t)gy;
    out->grid[2] = (uint32_t)gz;
    out->block[0] = (uint32_t)bx;
    out->block[1] = (uint32_t)by;
    out->block[2] = (uint32_t)bz;
    out->shared = (uint32_t)opts->shared;
    return true;
}

/* The common launch; when it is none, gpul__geometry_check decides. */
static inline bool gpul__geometry_fits(gpul__geometry *out, const gpul_kernel *kernel,
                                       const gpul_launch_opts *opts)
{
    return !opts->extra && gpul__geometry_in_limits(out, kernel, opts);
}

/* The whole check.  Raises the opt-in for shared memory where that suffices.  A failing status has
 * every mistake as a detail.  Needs the context current. */
gpul_status gpul__geometry_check(gpul__geometry *out, const gpul_kernel *kernel,
                                 const gpul_launch_opts *opts);

/* The driver refused: looks for the limit that was broken, and when none was, says so with what was
 * checked. */
gpul_status gpul__geometry_refused(const gpul_kernel *kernel, const gpul__geometry *geometry,
                                   const gpul_launch_opts *opts, CUresult result,
                                   const char *entry);

/* The largest cooperative grid for this block and shared memory; `shared` was checked. */
CUresult gpul__geometry_cooperative(uint64_t *out, const gpul_kernel *kernel, uint32_t threads,
                                    uint32_t shared);

#endif
