/* Launches: the checks that the hardware's driver makes, and the entries.
 * SPDX-License-Identifier: MIT */
#include "cpu/launch.h"

#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/function.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

#include "base/alloc.h"

#include <string.h>

/* ---- geometry --------------------------------------------------------------------------- */

static uint64_t volume(const uint32_t size[3])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

static CUresult check_cluster(const cpu_function *function, ptx_grid *grid)
{
    const ptx_kernel_info *info = &function->info;
    uint32_t *cluster = grid->cluster;
    bool asked = cluster[0] || cluster[1] || cluster[2];
    for (int i = 0; i < 3; i++) {
        uint32_t needed = info->cluster[i] ? info->cluster[i] : (uint32_t)function->cluster[i];
        if (!asked) cluster[i] = needed;
        else if (needed && needed != cluster[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    if (!cluster[0] && !cluster[1] && !cluster[2])
        return function->cluster_must_be_set ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    if (!gpul__cpu.limits->clusters) return CUDA_ERROR_NOT_SUPPORTED;
    uint64_t most = function->non_portable_cluster ? CPU_MAX_CLUSTER_NON_PORTABLE : CPU_MAX_CLUSTER;
    for (int i = 0; i < 3; i++)
        if (cluster[i] == 0 || cluster[i] > most || grid->grid[i] % cluster[i] != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return volume(cluster) > most ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

static CUresult check_geometry(const cpu_function *function, ptx_grid *grid)
{
    static const uint32_t grid_limit[3] = { CPU_MAX_GRID_X, CPU_MAX_GRID_YZ, CPU_MAX_GRID_YZ };
    static const uint32_t block_limit[3] = { CPU_MAX_THREADS, CPU_MAX_THREADS, CPU_MAX_BLOCK_Z };
    const ptx_kernel_info *info = &function->info;
    for (int i = 0; i < 3; i++)
        if (grid->grid[i] == 0 || grid->grid[i] > grid_limit[i] || grid->block[i] == 0 ||
            grid->block[i] > block_limit[i])
            return CUDA_ERROR_INVALID_VALUE;
    uint64_t threads = volume(grid->block);
    if (threads > CPU_MAX_THREADS) return CUDA_ERROR_INVALID_VALUE;
    if (info->required[0] && memcmp(info->required, grid->block, sizeof grid->block) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > (uint64_t)function->max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (grid->dynamic_shared > (uint64_t)function->max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_cluster(function, grid);
    if (result) return result;
    if (grid->cooperative) {
        int resident = gpul__cpu_occupancy(function, threads, grid->dynamic_shared);
        if (volume(grid->grid) > (uint64_t)resident * (uint64_t)gpul__cpu.limits->multiprocessors)
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

/* ---- parameters ------------------------------------------------------------------------- */

/* A packed buffer.  One byte too many is refused as on hardware; a shorter one is taken as it is, and
 * what it lacks is zero. */
static CUresult unpack_extra(cpu_launch *launch, void **extra)
{
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = extra[1];
        else return CUDA_ERROR_INVALID_VALUE;
    }
    if (launch->param_size == 0 && (!size || *size == 0)) return CUDA_SUCCESS;
    if (!buffer || !size || *size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (*size > launch->param_size) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    memcpy(launch->params, buffer, *size);
    return CUDA_SUCCESS;
}

static CUresult gather(cpu_launch *launch, const cpu_function *function, void **params)
{
    for (uint32_t i = 0; i < function->info.param_count; i++) {
        size_t offset, size;
        CUresult result = gpul__cpu_function_param(function, i, &offset, &size);
        if (result) return result;
        if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
        memcpy(launch->params + offset, params[i], size);
    }
    return CUDA_SUCCESS;
}

static CUresult take_params(cpu_launch *launch, const cpu_function *function, void **params,
                            void **extra)
{
    if (params && extra) return CUDA_ERROR_INVALID_VALUE;
    launch->param_size = function->info.param_size;
    launch->params = gpul__calloc(1, launch->param_size);
    if (!launch->params) return CUDA_ERROR_OUT_OF_MEMORY;
    if (extra) return unpack_extra(launch, extra);
    if (function->info.param_count == 0) return CUDA_SUCCESS;
    return params ? gather(launch, function, params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__cpu_launch_check(cpu_work **out, const cpu_function *function, const ptx_grid *grid,
                                void **params, void **extra)
{
    cpu_work *work = gpul__cpu_work_new(WORK_LAUNCH);
    if (!work) return CUDA_ERROR_OUT_OF_MEMORY;
    work->launch.function = function->handle;
    work->launch.grid = *grid;
    CUresult result = check_geometry(function, &work->launch.grid);
    if (!result) result = take_params(&work->launch, function, params, extra);
    if (result) gpul__cpu_work_drop(work);
    else *out = work;
    return result;
}

/* ---- entries ---------------------------------------------------------------------------- */

/* Events that an attribute wants to be recorded with the launch. */
struct wishes {
    CUevent events[2];
    size_t count;
};

static CUresult read_attributes(ptx_grid *grid, struct wishes *wishes,
                                const CUlaunchAttribute *attributes, unsigned count)
{
    if (count && !attributes) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        const CUlaunchAttributeValue *value = &attributes[i].value;
        switch (attributes[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: grid->cooperative = value->cooperative != 0; break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            if (!value->clusterDim.x || !value->clusterDim.y || !value->clusterDim.z)
                return CUDA_ERROR_INVALID_CLUSTER_SIZE;
            grid->cluster[0] = value->clusterDim.x;
            grid->cluster[1] = value->clusterDim.y;
            grid->cluster[2] = value->clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            /* The end of the launch is late enough for both. */
            if (wishes->count == 2) return CUDA_ERROR_INVALID_VALUE;
            wishes->events[wishes->count++] =
                attributes[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
                    ? value->programmaticEvent.event
                    : value->launchCompletionEvent.event;
            break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            if (value->deviceUpdatableKernelNode.deviceUpdatable) return CUDA_ERROR_NOT_SUPPORTED;
            break;
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            break; /* hints that change no result */
        default: return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function_handle, const ptx_grid *shape, CUstream stream_handle,
                       void **params, void **extra, const CUlaunchAttribute *attributes,
                       unsigned attribute_count)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_function *function;
    ptx_grid grid = *shape;
    struct wishes wishes = { 0 };
    cpu_work *work;
    result = gpul__cpu_function_find(&function, context, function_handle);
    if (!result && gpul__cpu_function_refused(function)) result = CUDA_ERROR_NOT_SUPPORTED;
    if (result) return gpul__cpu_leave(result);
    /* A stream of the function's context, which need not be the current one. */
    cpu_stream *stream;
    result = gpul__cpu_stream_any(context, stream_handle, &stream);
    if (!result && stream->context != function->module->context) result = CUDA_ERROR_INVALID_HANDLE;
    if (!result) result = read_attributes(&grid, &wishes, attributes, attribute_count);
    if (!result) result = gpul__cpu_launch_check(&work, function, &grid, params, extra);
    if (result) return gpul__cpu_leave(result);
    gpul__cpu_thread.launch = ++gpul__cpu.launches;
    result = gpul__cpu_issue(stream, work);
    gpul__cpu_work_drop(work);
    for (size_t i = 0; i < wishes.count && !result; i++) {
        cpu_event *event = gpul__cpu_handle_get(CPU_EVENT, wishes.events[i]);
        result = event ? gpul__cpu_event_record(event, stream) : CUDA_ERROR_INVALID_HANDLE;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_LaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                unsigned int block_z, unsigned int shared, CUstream stream,
                                void **params, void **extra)
{
    ptx_grid grid = { .grid = { grid_x, grid_y, grid_z },
                      .block = { block_x, block_y, block_z },
                      .dynamic_shared = shared };
    return launch(function, &grid, stream, params, extra, NULL, 0);
}

CUresult gpul__cpu_LaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                                  void **extra)
{
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    ptx_grid grid = { .grid = { config->gridDimX, config->gridDimY, config->gridDimZ },
                      .block = { config->blockDimX, config->blockDimY, config->blockDimZ },
                      .dynamic_shared = config->sharedMemBytes };
    return launch(function, &grid, config->hStream, params, extra, config->attrs, config->numAttrs);
}

CUresult gpul__cpu_LaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                           unsigned int grid_y, unsigned int grid_z,
                                           unsigned int block_x, unsigned int block_y,
                                           unsigned int block_z, unsigned int shared,
                                           CUstream stream, void **params)
{
    ptx_grid grid = { .grid = { grid_x, grid_y, grid_z },
                      .block = { block_x, block_y, block_z },
                      .dynamic_shared = shared,
                      .cooperative = true };
    return launch(function, &grid, stream, params, NULL, NULL, 0);
}
