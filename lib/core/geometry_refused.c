/* The driver refused a launch that had passed every check: which limit was it after all, and when it was
 * none, what was checked.  A limit that was kept is never blamed.  SPDX-License-Identifier: MIT */
#include "core/device_failure.h"
#include "core/geometry.h"

typedef struct refusal {
    const gpul_kernel *kernel;
    const gpul__geometry *geometry;
    const gpul_launch_opts *opts;
    CUresult result;
    const char *entry;
} refusal;

#define FAIL(r, code, ...)                                                                         \
    gpul__fail(code,                                                                               \
               (.call = (r)->entry, .native_kind = GPUL_NATIVE_CUDA, .native = (int)(r)->result,   \
                .caller_file = (r)->opts->caller_file, .caller_line = (r)->opts->caller_line),     \
               __VA_ARGS__)

static uint32_t threads_of(const gpul__geometry *g)
{
    return g->block[0] * g->block[1] * g->block[2];
}

static gpul_status too_cooperative(const refusal *r)
{
    const gpul_kernel *k = r->kernel;
    const uint32_t *g = r->geometry->grid;
    uint64_t most = 0;
    CUresult asked =
        gpul__geometry_cooperative(&most, k, threads_of(r->geometry), r->geometry->shared);
    if (asked == CUDA_SUCCESS)
        FAIL(r, GPUL__LAUNCH_COOPERATIVE,
             "a cooperative grid of %ux%ux%u blocks does not fit: at most %llu blocks of '%s' run "
             "at once on %s",
             g[0], g[1], g[2], (unsigned long long)most, k->info.name, k->device->info.name);
    else
        FAIL(r, GPUL__LAUNCH_COOPERATIVE,
             "a cooperative grid of %ux%ux%u blocks of '%s' does not fit on %s", g[0], g[1], g[2],
             k->info.name, k->device->info.name);
    return gpul__hint("other work on the device does not change this limit; size the grid with "
                      "gpul_kernel_max_cooperative");
}

static gpul_status bad_cluster(const refusal *r)
{
    const gpul_kernel *k = r->kernel;
    const gpul__geometry *g = r->geometry;
    const gpul__driver *driver = gpul__api(k->device);
    CUlaunchConfig config = { .gridDimX = g->grid[0],
                              .gridDimY = g->grid[1],
                              .gridDimZ = g->grid[2],
                              .blockDimX = g->block[0],
                              .blockDimY = g->block[1],
                              .blockDimZ = g->block[2],
                              .sharedMemBytes = g->shared };
    int most = 0;
    bool known =
        driver->OccupancyMaxPotentialClusterSize &&
        driver->OccupancyMaxPotentialClusterSize(&most, k->function, &config) == CUDA_SUCCESS;
    FAIL(r, GPUL__LAUNCH_CLUSTER, "a cluster of %ux%ux%u blocks of '%s' does not fit on %s",
         g->cluster[0], g->cluster[1], g->cluster[2], k->info.name, k->device->info.name);
    if (known)
        return gpul__hint("with this block and shared memory a cluster has at most %d blocks",
                          most);
    return gpul__hint("use a smaller cluster, smaller blocks or less shared memory");
}

static int attribute(const gpul_kernel *kernel, CUfunction_attribute which)
{
    int value = 0;
    const gpul__driver *driver = gpul__api(kernel->device);
    return driver->FuncGetAttribute(&value, which, kernel->function) == CUDA_SUCCESS ? value : -1;
}

/* The kernel's attributes may have been changed through its handle: ask again. */
static bool changed_limits(const refusal *r)
{
    const gpul_kernel *k = r->kernel;
    int threads = attribute(k, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    int shared = attribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    if (threads >= 0 && threads_of(r->geometry) > (uint32_t)threads) {
        FAIL(r, GPUL__LAUNCH_BOUNDS,
             "the largest block of '%s' is now %d threads, and the launch has %u", k->info.name,
             threads, threads_of(r->geometry));
        return true;
    }
    if (shared >= 0 && r->geometry->shared > (uint32_t)shared) {
        FAIL(r, GPUL__LAUNCH_SHARED,
             "the dynamic shared memory of '%s' is now limited to %d bytes, and the launch has %u",
             k->info.name, shared, r->geometry->shared);
        gpul__hint("somebody set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES on its handle");
        return true;
    }
    return false;
}

static void note_checked(const refusal *r)
{
    const gpul_kernel *k = r->kernel;
    const gpul__geometry *g = r->geometry;
    gpul__note("checked: grid %ux%ux%u is within %ux%ux%u", g->grid[0], g->grid[1], g->grid[2],
               k->grid_limit[0], k->grid_limit[1], k->grid_limit[2]);
    gpul__note("checked: block %ux%ux%u is within %ux%ux%u and has %u of at most %u threads",
               g->block[0], g->block[1], g->block[2], k->block_limit[0], k->block_limit[1],
               k->block_limit[2], threads_of(g), k->max_threads);
    gpul__note("checked: %u bytes of dynamic shared memory are within %u", g->shared,
               k->shared_limit);
    gpul__note("checked: %u parameter bytes are what the kernel takes", k->param_bytes);
}

gpul_status gpul__geometry_refused(const gpul_kernel *kernel, const gpul__geometry *geometry,
                                   const gpul_launch_opts *opts, CUresult result, const char *entry)
{
    refusal r = { kernel, geometry, opts, result, entry };
    gpul_device *device = kernel->device;
    bool lost = gpul__is_sticky(result) || atomic_load(&device->fault);
    if (!lost && result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) return too_cooperative(&r);
    if (!lost && result == CUDA_ERROR_INVALID_CLUSTER_SIZE) return bad_cluster(&r);
    bool limit = result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (!lost && limit && changed_limits(&r)) return gpul_last_error()->status;
    gpul_status status = gpul__refused(device,
                                       &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result, entry,
                                                         opts->caller_file, opts->caller_line },
                                       "the launch of '%s' is refused", kernel->info.name);
    if (gpul_last_error()->code != GPUL__LAUNCH_REFUSED) return status;
    note_checked(&r);
    if (result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return gpul__hint("every limit that can be asked for was kept: the memory for the threads' "
                          "stacks may be short (%d bytes of local memory a thread)",
                          kernel->info.local_bytes);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return gpul__hint("the stream or the module was destroyed outside the library");
    return gpul__hint("GPUL_LOG_TRACE shows the driver call with its arguments");
}
