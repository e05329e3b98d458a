/* The launch: arguments packed, geometry checked, one driver call.  The common road takes no lock and no
 * memory; whatever is unusual leaves it for a function of its own.  SPDX-License-Identifier: MIT */
#include "core/args.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/launch_extra.h"
#include "core/launch_shape.h"
#include "core/stream.h"

enum { SMALL_PARAMETERS = 1024, LARGEST_PARAMETERS = 32768 };

#define unlikely(x) __builtin_expect(!!(x), 0)

/* One launch on its way. */
typedef struct launch {
    const gpul_kernel *kernel;
    const gpul_launch_opts *opts;
    gpul_arglist args;
    gpul__geometry geometry;
    CUstream stream;
    uint64_t stream_id;
    unsigned char *parameters;
} launch;

/* Cooperative and cluster launches, and those with attributes, go through cuLaunchKernelEx; a driver
 * without it has an entry for cooperative ones that takes addresses instead of a buffer.  *entry
 * NULL: out of host memory. */
static CUresult call_special(const launch *l, const gpul__driver *driver, void **extra,
                             const char **entry)
{
    const gpul__geometry *g = &l->geometry;
    const gpul_kernel *k = l->kernel;
    if (driver->LaunchKernelEx) {
        CUlaunchAttribute attributes[GPUL__LAUNCH_ATTRIBUTES];
        unsigned count = gpul__launch_attributes(attributes, g, l->opts->extra);
        CUlaunchConfig config = { g->grid[0],  g->grid[1], g->grid[2], g->block[0], g->block[1],
                                  g->block[2], g->shared,  l->stream,  attributes,  count };
        *entry = "cuLaunchKernelEx";
        return driver->LaunchKernelEx(&config, k->function, NULL, extra);
    }
    *entry = "cuLaunchCooperativeKernel";
    if (!driver->LaunchCooperativeKernel) return CUDA_ERROR_NOT_SUPPORTED;
    void **addresses = NULL;
    if (k->slot_count) {
        addresses = gpul__malloc(k->slot_count * sizeof *addresses);
        if (!addresses) {
            *entry = NULL;
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        for (uint32_t i = 0; i < k->slot_count; i++)
            addresses[i] = l->parameters + k->slots[i].offset;
    }
    CUresult result = driver->LaunchCooperativeKernel(k->function, g->grid[0], g->grid[1],
                                                      g->grid[2], g->block[0], g->block[1],
                                                      g->block[2], g->shared, l->stream, addresses);
    gpul__free(addresses);
    return result;
}

/* `plain`: nothing but grid, block and shared memory was asked for. */
static inline CUresult call_driver(const launch *l, const gpul__driver *driver, const char **entry,
                                   bool plain)
{
    const gpul__geometry *g = &l->geometry;
    size_t size = l->kernel->param_bytes;
    void *list[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, l->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, CU_LAUNCH_PARAM_END };
    /* A buffer of size 0 is refused by the driver. */
    void **extra = size ? list : NULL;
    if (unlikely(!plain && (g->cooperative || g->cluster[0] || l->opts->extra)))
        return call_special(l, driver, extra, entry);
    return driver->LaunchKernel(l->kernel->function, g->grid[0], g->grid[1], g->grid[2],
                                g->block[0], g->block[1], g->block[2], g->shared, l->stream, NULL,
                                extra);
}

/* Checked mode: the launch is waited for, so a fault that comes back now is its own.  What ran before in
 * the same stream was waited for as well. */
static __attribute__((noinline)) gpul_status wait_checked(const launch *l, uint64_t number)
{
    gpul_device *device = l->kernel->device;
    const gpul__geometry *g = &l->geometry;
    CUresult result = gpul__stream_wait(device, l->stream, l->stream_id);
    if (result == CUDA_SUCCESS) return gpul__tell_cpu_findings(device, "gpul_launch");
    gpul__launch_record record = { .number = number,
                                   .stream = l->stream_id,
                                   .kernel = l->kernel->kept_name,
                                   .shared = g->shared };
    memcpy(record.grid, g->grid, sizeof record.grid);
    memcpy(record.block, g->block, sizeof record.block);
    record.file = gpul__ring_keep_file(&device->ring, l->opts->caller_file);
    record.line = (uint32_t)l->opts->caller_line;
    return gpul__blame(device, result, "cuStreamSynchronize", &record);
}

static __attribute__((noinline)) gpul_status refused(const launch *l, CUresult result,
                                                     const char *entry, uint64_t number)
{
    gpul__ring_withdraw(&l->kernel->device->ring, number);
    if (!entry) return gpul__no_memory();
    return gpul__geometry_refused(l->kernel, &l->geometry, l->opts, result, entry);
}

/* With the context current. */
static inline gpul_status submit(launch *l, bool fits)
{
    const gpul_kernel *k = l->kernel;
    gpul_device *device = k->device;
    const gpul_launch_opts *opts = l->opts;
    if (unlikely(!fits)) {
        gpul_status status = gpul__geometry_check(&l->geometry, k, opts);
        if (status != GPUL_OK) return status;
    }
    if (unlikely(device->checked)) {
        gpul_status status = gpul__args_check_addresses(k, opts, l->args);
        if (status != GPUL_OK) return status;
    }
    const gpul__driver *driver = gpul__api(device);
    const char *entry = "cuLaunchKernel";
    uint64_t number = gpul__ring_enter(&device->ring, k->kept_name, l->stream_id, l->geometry.grid,
                                       l->geometry.block, l->geometry.shared, opts->caller_file,
                                       opts->caller_line);
    CUresult result = call_driver(l, driver, &entry, fits);
    if (unlikely(result != CUDA_SUCCESS)) return refused(l, result, entry, number);
    gpul__ring_submitted(&device->ring, number, gpul__native_launch(device));
    if (unlikely(device->checked)) return wait_checked(l, number);
    if (fits && k->quick) gpul__shape_note(k, opts, &l->geometry);
    return GPUL_OK;
}

static inline gpul_status launch_with(launch *l)
{
    const gpul_kernel *k = l->kernel;
    gpul_device *device = k->device;
    if (k->padded) memset(l->parameters, 0, k->param_bytes);
    if (unlikely(l->args.count != k->slot_count || (l->args.count && !l->args.items) ||
                 !gpul__args_pack(k->slots, l->args.items, l->args.count, device, l->parameters)))
        return gpul__args_explain(k, l->opts, l->args);
    gpul_status status =
        gpul__stream_of(&l->stream, &l->stream_id, device, l->opts->stream, "gpul_launch");
    if (unlikely(status != GPUL_OK)) return status;
    l->geometry.cluster[0] = 0;
    l->geometry.cooperative = false;
    bool pushed, fits = gpul__geometry_fits(&l->geometry, k, l->opts);
    status = gpul__enter(device, &pushed, "gpul_launch");
    if (unlikely(status != GPUL_OK)) return status;
    status = submit(l, fits);
    gpul__leave(device, pushed);
    return status;
}

static __attribute__((noinline)) gpul_status refused_quickly(const gpul_kernel *kernel,
                                                             const gpul_launch_opts *opts,
                                                             const gpul__shape *shape,
                                                             CUresult result, uint64_t number)
{
    launch l = { .kernel = kernel, .opts = opts, .geometry = { .shared = shape->shared } };
    memcpy(l.geometry.grid, shape->grid, sizeof shape->grid);
    memcpy(l.geometry.block, shape->block, sizeof shape->block);
    return refused(&l, result, "cuLaunchKernel", number);
}

/* A launch like one that was accepted before: what can differ from call to call is looked at, and no more.  False: it
 * has to take the common road, and nothing was done. */
static inline __attribute__((always_inline)) bool launch_quickly(gpul_status *status,
                                                                 const gpul_kernel *k,
                                                                 const gpul_launch_opts *opts,
                                                                 gpul_arglist args)
{
    const gpul__shape *shape = gpul__shape_find(k, opts);
    gpul_device *device = k->device;
    const gpul_stream *stream = opts->stream;
    if (!shape || args.count != k->slot_count || !args.items || device->checked ||
        device->forks != gpul__forks || (stream && stream->device != device) ||
        shape->shared > atomic_load_explicit(&k->shared_allowed, memory_order_relaxed))
        return false;
    _Alignas(16) unsigned char parameters[GPUL__QUICK_PARAMETERS + sizeof(uint64_t)];
    if (!gpul__args_pack_quickly(k->slots, args.items, args.count, device, parameters))
        return false;
    const gpul__driver *driver = gpul__api(device);
    CUcontext current = NULL;
    if (unlikely(driver->CtxGetCurrent(&current) != CUDA_SUCCESS || current != device->context))
        return false;
    size_t size = k->param_bytes;
    void *list[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END };
    uint64_t number = gpul__ring_enter_shape(&device->ring, shape, stream ? stream->id : 0);
    CUresult result =
        driver->LaunchKernel(k->function, shape->grid[0], shape->grid[1], shape->grid[2],
                             shape->block[0], shape->block[1], shape->block[2], shape->shared,
                             stream ? stream->handle : device->stream, NULL, list);
    *status = GPUL_OK;
    if (unlikely(result != CUDA_SUCCESS)) *status = refused_quickly(k, opts, shape, result, number);
    else gpul__ring_submitted(&device->ring, number, gpul__native_launch(device));
    return true;
}

/* More than a device can take is said without packing; the checks that follow see to the rest. */
static gpul_status refuse_size(const launch *l)
{
    gpul_device *device = l->kernel->device;
    gpul__geometry ignored;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_launch");
    if (status != GPUL_OK) return status;
    status = gpul__geometry_check(&ignored, l->kernel, l->opts);
    gpul__leave(device, pushed);
    return status;
}

static __attribute__((noinline)) gpul_status launch_large(launch *l)
{
    _Alignas(16) unsigned char parameters[LARGEST_PARAMETERS];
    if (l->kernel->param_bytes > sizeof parameters) return refuse_size(l);
    l->parameters = parameters;
    return launch_with(l);
}

static __attribute__((noinline)) gpul_status
launch_checked(const gpul_kernel *kernel, const gpul_launch_opts *opts, gpul_arglist args)
{
    static const gpul_launch_opts defaults;
    launch l;
    l.kernel = kernel;
    l.opts = opts ? opts : &defaults;
    l.args = args;
    if (unlikely(kernel->param_bytes > SMALL_PARAMETERS)) return launch_large(&l);
    _Alignas(16) unsigned char parameters[SMALL_PARAMETERS];
    l.parameters = parameters;
    return launch_with(&l);
}

gpul_status gpul_launch(const gpul_kernel *kernel, const gpul_launch_opts *opts, gpul_arglist args)
{
    GPUL__NEED(kernel);
    gpul_status status;
    if (kernel->quick && opts && launch_quickly(&status, kernel, opts, args)) return status;
    return launch_checked(kernel, opts, args);
}

gpul_status gpul_kernel_max_cooperative(uint64_t *out, const gpul_kernel *kernel,
                                        const gpul_launch_opts *opts)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(kernel);
    GPUL__NEED(opts);
    gpul_device *device = kernel->device;
    gpul__geometry geometry;
    /* The grid is what is asked for, so one block stands for it, or one cluster. */
    gpul_launch_opts one = *opts;
    for (int i = 0; i < 3; i++)
        one.grid[i] = kernel->info.cluster[i] > 0 ? (uint64_t)kernel->info.cluster[i] : 1;
    for (int i = 0; i < 3; i++)
        if (one.cluster[i]) one.grid[i] = one.cluster[i];
    one.cooperative = true; /* the question is how many, so one must do */
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_kernel_max_cooperative");
    if (status != GPUL_OK) return status;
    status = gpul__geometry_check(&geometry, kernel, &one);
    CUresult result = CUDA_SUCCESS;
    if (status == GPUL_OK)
        result = gpul__geometry_cooperative(
            out, kernel, geometry.block[0] * geometry.block[1] * geometry.block[2],
            geometry.shared);
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return gpul__refused(device,
                             &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result,
                                               "cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL,
                                               0 },
                             "the occupancy of '%s'", kernel->info.name);
    return status;
}
