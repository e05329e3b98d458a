/* Occupancy beyond blocks on a multiprocessor, and preferences of a kernel.  SPDX-License-Identifier: MIT */
#include "core/context.h"
#include "core/device_failure.h"
#include "core/geometry.h"
#include "core/launch_extra.h"

static gpul_status leave(const gpul_kernel *kernel, bool pushed, CUresult result, const char *entry)
{
    gpul__leave(kernel->device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return gpul__refused(kernel->device,
                         &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result, entry, NULL, 0 },
                         "the occupancy of '%s'", kernel->info.name);
}

static bool unsupported(const gpul_device *device)
{
    return !device->info.cluster || !device->driver->OccupancyMaxPotentialClusterSize ||
           !device->driver->OccupancyMaxActiveClusters;
}

/* Both questions about clusters: `most` asks for the largest, and then one block stands for the grid. */
static gpul_status ask_clusters(int *out, const gpul_kernel *kernel, const gpul_launch_opts *opts,
                                bool most, const char *call)
{
    gpul_device *device = kernel->device;
    if (unsupported(device))
        return gpul__fail(GPUL__LAUNCH_UNSUPPORTED, (.call = call),
                          "clusters need compute capability 9.0 and a driver of CUDA 11.8, and %s "
                          "has %d.%d and CUDA %d.%d",
                          device->info.name, device->info.compute_major, device->info.compute_minor,
                          device->driver->version / 1000, device->driver->version % 1000 / 10);
    gpul_launch_opts asked = *opts;
    for (int i = 0; i < 3; i++) {
        if (most) asked.cluster[i] = 0;
        uint32_t own = kernel->info.cluster[i] > 0 ? (uint32_t)kernel->info.cluster[i] : 1;
        asked.grid[i] = asked.cluster[i] ? asked.cluster[i] : own;
    }
    gpul__geometry g;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, call);
    if (status != GPUL_OK) return status;
    status = gpul__geometry_check(&g, kernel, &asked);
    if (status != GPUL_OK) {
        gpul__leave(device, pushed);
        return status;
    }
    CUlaunchAttribute attributes[GPUL__LAUNCH_ATTRIBUTES];
    g.cooperative = false; /* the question is of the cluster alone */
    unsigned count = gpul__launch_attributes(attributes, &g, NULL);
    CUlaunchConfig config = { .gridDimX = g.grid[0],
                              .gridDimY = g.grid[1],
                              .gridDimZ = g.grid[2],
                              .blockDimX = g.block[0],
                              .blockDimY = g.block[1],
                              .blockDimZ = g.block[2],
                              .sharedMemBytes = g.shared,
                              .attrs = attributes,
                              .numAttrs = count };
    const gpul__driver *driver = gpul__api(device);
    CUresult result = most
                          ? driver->OccupancyMaxPotentialClusterSize(out, kernel->function, &config)
                          : driver->OccupancyMaxActiveClusters(out, kernel->function, &config);
    if (result != CUDA_SUCCESS) *out = 0;
    return leave(kernel, pushed, result,
                 most ? "cuOccupancyMaxPotentialClusterSize" : "cuOccupancyMaxActiveClusters");
}

gpul_status gpul_kernel_max_cluster(int *out, const gpul_kernel *kernel,
                                    const gpul_launch_opts *opts)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(kernel);
    GPUL__NEED(opts);
    return ask_clusters(out, kernel, opts, true, "gpul_kernel_max_cluster");
}

gpul_status gpul_kernel_active_clusters(int *out, const gpul_kernel *kernel,
                                        const gpul_launch_opts *opts)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(kernel);
    GPUL__NEED(opts);
    bool asked = opts->cluster[0] || opts->cluster[1] || opts->cluster[2];
    if (!asked && kernel->info.cluster[0] <= 0)
        return gpul__fail(GPUL__LAUNCH_CLUSTER, (.call = "gpul_kernel_active_clusters"),
                          "neither .cluster nor '%s' says how many blocks a cluster has",
                          kernel->info.name);
    return ask_clusters(out, kernel, opts, false, "gpul_kernel_active_clusters");
}

gpul_status gpul_kernel_fitting_shared(size_t *out, const gpul_kernel *kernel, unsigned blocks,
                                       unsigned block_threads)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(kernel);
    if (!blocks || !block_threads || block_threads > kernel->max_threads || blocks > INT32_MAX)
        return gpul__fail(GPUL__LAUNCH_LIMIT, (.call = "gpul_kernel_fitting_shared"),
                          "%u blocks of %u threads: '%s' takes at least one block of 1 to %u "
                          "threads here",
                          blocks, block_threads, kernel->info.name, kernel->max_threads);
    bool pushed;
    gpul_status status = gpul__enter(kernel->device, &pushed, "gpul_kernel_fitting_shared");
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(kernel->device), OccupancyAvailableDynamicSMemPerBlock,
                                 out, kernel->function, (int)blocks, (int)block_threads);
    if (result != CUDA_SUCCESS) *out = 0;
    return leave(kernel, pushed, result, "cuOccupancyAvailableDynamicSMemPerBlock");
}

gpul_status gpul_kernel_suggest(int *block, int *grid, const gpul_kernel *kernel,
                                const gpul_suggest_opts *opts)
{
    static const gpul_suggest_opts defaults;
    int threads = 0, blocks = 0;
    if (block) *block = 0;
    if (grid) *grid = 0;
    GPUL__NEED(kernel);
    if (!opts) opts = &defaults;
    if (opts->shared > kernel->shared_limit)
        return gpul__fail(GPUL__LAUNCH_SHARED, (.call = "gpul_kernel_suggest"),
                          "%zu bytes of dynamic shared memory are more than the %u that '%s' can "
                          "have",
                          opts->shared, kernel->shared_limit, kernel->info.name);
    bool pushed;
    gpul_status status = gpul__enter(kernel->device, &pushed, "gpul_kernel_suggest");
    if (status != GPUL_OK) return status;
    int limit = opts->limit > INT32_MAX ? INT32_MAX : (int)opts->limit;
    CUresult result = gpul__api(kernel->device)
                          ->OccupancyMaxPotentialBlockSize(&blocks, &threads, kernel->function,
                                                           opts->shared_of, opts->shared, limit);
    if (result == CUDA_SUCCESS && block) *block = threads;
    if (result == CUDA_SUCCESS && grid) *grid = blocks;
    return leave(kernel, pushed, result, "cuOccupancyMaxPotentialBlockSize");
}

gpul_status gpul_kernel_prefer(const gpul_kernel *kernel, const gpul_kernel_prefs *prefs)
{
    GPUL__NEED(kernel);
    GPUL__NEED(prefs);
    if ((unsigned)prefs->cache > GPUL_CACHE_EQUAL || prefs->carveout > 100 ||
        prefs->carveout < GPUL_CARVEOUT_DEFAULT)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_kernel_prefer"),
                          "cache is %d and carveout %d: gpul_cache, and 1 to 100 or one of "
                          "GPUL_CARVEOUT_*",
                          (int)prefs->cache, prefs->carveout);
    bool pushed;
    gpul_status status = gpul__enter(kernel->device, &pushed, "gpul_kernel_prefer");
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(kernel->device);
    CUresult result = CUDA_SUCCESS;
    const char *entry = "cuFuncSetCacheConfig";
    if (prefs->cache)
        result = GPUL__CALL(driver, FuncSetCacheConfig, kernel->function,
                            (CUfunc_cache)(prefs->cache - GPUL_CACHE_NONE)); /* the same order */
    if (result == CUDA_SUCCESS && prefs->carveout) {
        int percent = prefs->carveout > 0                        ? prefs->carveout
                      : prefs->carveout == GPUL_CARVEOUT_DEFAULT ? CU_SHAREDMEM_CARVEOUT_DEFAULT
                                                                 : CU_SHAREDMEM_CARVEOUT_MAX_L1;
        entry = "cuFuncSetAttribute";
        result = driver->FuncSetAttribute(
            kernel->function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent);
    }
    gpul__leave(kernel->device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return gpul__refused(kernel->device,
                         &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result, entry, NULL, 0 },
                         "preferences of '%s'", kernel->info.name);
}
