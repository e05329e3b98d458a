/* Keeping the shapes of launches.  SPDX-License-Identifier: MIT */
#include "core/launch_shape.h"

#include "base/alloc.h"
#include "core/device.h"

/* A program that changes its options all the time gets no more than these for a kernel. */
enum { MOST_SHAPES = 64 };

static uint64_t key_of(const gpul_launch_opts *opts)
{
    uint64_t key = (uint64_t)(uintptr_t)opts->stream ^ opts->shared << 40;
    for (int i = 0; i < 3; i++)
        key = key * 0x9e3779b97f4a7c15u + (opts->grid[i] ^ opts->block[i] << 32);
    return (key ^ (uint64_t)(unsigned)opts->caller_line) | 1;
}

static void keep(gpul_kernel *kernel, const gpul_launch_opts *opts, const gpul__geometry *geometry)
{
    gpul_device *device = kernel->device;
    const char *file = gpul__ring_keep_file(&device->ring, opts->caller_file);
    gpul__shape *shape = gpul__malloc(sizeof *shape);
    if (!shape || (opts->caller_file && !file)) {
        gpul__free(shape);
        return;
    }
    memcpy(&shape->opts, opts, sizeof *opts);
    memcpy(shape->grid, geometry->grid, sizeof shape->grid);
    memcpy(shape->block, geometry->block, sizeof shape->block);
    shape->shared = geometry->shared;
    shape->kernel = kernel->kept_name;
    shape->file = file;
    shape->next = atomic_load_explicit(&device->shapes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&device->shapes, &shape->next, shape)) {}
    atomic_store_explicit(&kernel->shapes[gpul__shape_place(opts)], shape, memory_order_release);
}

void gpul__shape_note(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                      const gpul__geometry *geometry)
{
    gpul_kernel *own = (gpul_kernel *)(uintptr_t)kernel; /* what changes in it is atomic */
    uint64_t key = key_of(opts);
    if (atomic_exchange_explicit(&own->last_key, key, memory_order_relaxed) != key) return;
    if (atomic_load_explicit(&own->shape_count, memory_order_relaxed) >= MOST_SHAPES) return;
    atomic_fetch_add_explicit(&own->shape_count, 1, memory_order_relaxed);
    keep(own, opts, geometry);
}

void gpul__shapes_free(gpul_device *device)
{
    gpul__shape *shape = atomic_load_explicit(&device->shapes, memory_order_acquire);
    while (shape) {
        gpul__shape *next = shape->next;
        gpul__free(shape);
        shape = next;
    }
}
