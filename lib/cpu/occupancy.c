/* How much of a kernel a multiprocessor holds.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/handle.h"

enum { SHARED_UNIT = 128 };

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

int gpul__cpu_occupancy(const cpu_function *function, uint64_t block_threads,
                        uint64_t dynamic_shared)
{
    const cpu_limits *limits = gpul__cpu.limits;
    if (block_threads == 0 || block_threads > (uint64_t)function->max_threads ||
        dynamic_shared > (uint64_t)function->max_dynamic_shared)
        return 0;
    uint64_t blocks = (uint64_t)limits->threads / round_up(block_threads, CPU_WARP);
    uint64_t shared = function->info.static_shared + dynamic_shared;
    uint64_t fit = (uint64_t)limits->shared / (round_up(shared, SHARED_UNIT) + CPU_SHARED_RESERVED);
    if (shared && fit < blocks) blocks = fit;
    return blocks < (uint64_t)limits->blocks ? (int)blocks : limits->blocks;
}

static CUresult enter_function(CUfunction handle, cpu_function **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    result = gpul__cpu_function_find(out, context, handle);
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

CUresult gpul__cpu_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                      CUfunction handle,
                                                                      int block_size, size_t shared,
                                                                      unsigned int flags)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (!blocks || block_size <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    *blocks = gpul__cpu_occupancy(function, (uint64_t)block_size, shared);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle,
                                                             int block_size, size_t shared)
{
    return gpul__cpu_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, block_size,
                                                                        shared, 0);
}

/* The largest block among those that keep the most threads resident.  `shared_of` is the caller's
 * function, so that it is called without the lock, once for each size. */
CUresult gpul__cpu_OccupancyMaxPotentialBlockSize(int *min_grid, int *block_size, CUfunction handle,
                                                  CUoccupancyB2DSize shared_of, size_t shared,
                                                  int limit)
{
    size_t sizes[CPU_MAX_THREADS / CPU_WARP + 2];
    for (int threads = CPU_WARP; threads <= CPU_MAX_THREADS; threads += CPU_WARP)
        sizes[threads / CPU_WARP] = shared_of ? shared_of(threads) : shared;
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (!min_grid || !block_size || limit < 0) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    int most = limit && limit < function->max_threads ? limit : function->max_threads;
    int best = 0, best_blocks = 0;
    for (int threads = (int)round_up((uint64_t)most, CPU_WARP); threads > 0; threads -= CPU_WARP) {
        int size = threads < most ? threads : most;
        int blocks = gpul__cpu_occupancy(function, (uint64_t)size, sizes[threads / CPU_WARP]);
        if (blocks * size <= best_blocks * best) continue;
        best = size;
        best_blocks = blocks;
    }
    *block_size = best;
    *min_grid = best_blocks * gpul__cpu.limits->multiprocessors;
    return gpul__cpu_leave(best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_OccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle,
                                                         int blocks, int block_size)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    const cpu_limits *limits = gpul__cpu.limits;
    if (!bytes || blocks <= 0 || blocks > limits->blocks || block_size <= 0 ||
        block_size > function->max_threads)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    int share = limits->shared / blocks / SHARED_UNIT * SHARED_UNIT - CPU_SHARED_RESERVED;
    if (share > limits->shared_block) share = limits->shared_block;
    share -= (int)function->info.static_shared;
    *bytes = share > 0 ? (size_t)share : 0;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- clusters --------------------------------------------------------------------------- */

/* The cluster of a configuration, in blocks; 1 without one. */
static uint64_t cluster_of(const cpu_function *function, const CUlaunchConfig *config)
{
    uint64_t size = 1;
    for (int i = 0; i < 3; i++)
        if (function->info.cluster[i]) size *= function->info.cluster[i];
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            const CUlaunchAttributeValue *value = &config->attrs[i].value;
            size = (uint64_t)value->clusterDim.x * value->clusterDim.y * value->clusterDim.z;
        }
    return size;
}

static CUresult check_config(const CUlaunchConfig *config)
{
    if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
    return gpul__cpu.limits->clusters ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult gpul__cpu_OccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                              const CUlaunchConfig *config)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    result = clusters ? check_config(config) : CUDA_ERROR_INVALID_VALUE;
    if (result) return gpul__cpu_leave(result);
    uint64_t size = cluster_of(function, config);
    uint64_t most = function->non_portable_cluster ? CPU_MAX_CLUSTER_NON_PORTABLE : CPU_MAX_CLUSTER;
    if (size == 0 || size > most) return gpul__cpu_leave(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    int resident = gpul__cpu_occupancy(function, threads, config->sharedMemBytes);
    *clusters = (int)((uint64_t)resident * (uint64_t)gpul__cpu.limits->multiprocessors / size);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_OccupancyMaxPotentialClusterSize(int *size, CUfunction handle,
                                                    const CUlaunchConfig *config)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    result = size ? check_config(config) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        *size = function->non_portable_cluster ? CPU_MAX_CLUSTER_NON_PORTABLE : CPU_MAX_CLUSTER;
    return gpul__cpu_leave(result);
}
