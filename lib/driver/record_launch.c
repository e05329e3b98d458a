/* Tests: launches of the recording provider: checked like a device's, then written down.  Occupancy too.
 * SPDX-License-Identifier: MIT */
#include "driver/record_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gpul__record_launch *launches;
static size_t launch_count;
static void (*player)(void *user, const gpul__record_launch *launch);
static void *player_user;

/* ---- What the tests see -------------------------------------------------------------------- */

size_t gpul__record_launches(void)
{
    LOCKED;
    return launch_count;
}

const gpul__record_launch *gpul__record_launch_at(long index)
{
    LOCKED;
    if (index < 0) index += (long)launch_count;
    return index >= 0 && (size_t)index < launch_count ? &launches[index] : NULL;
}

void gpul__record_forget(void)
{
    LOCKED;
    for (size_t i = 0; i < launch_count; i++) free(launches[i].bytes);
    free(launches);
    launches = NULL;
    launch_count = 0;
}

void gpul__record_on_launch(void (*fn)(void *user, const gpul__record_launch *launch), void *user)
{
    LOCKED;
    player = fn;
    player_user = user;
}

/* ---- Checks --------------------------------------------------------------------------------- */

static int device_says(CUdevice_attribute attribute)
{
    return gpul__record.attributes[attribute];
}

static int blocks_that_fit(const struct function *f, unsigned threads, size_t shared)
{
    if (!threads || threads > (unsigned)f->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
        return 0;
    unsigned warps = (threads + 31) / 32;
    int blocks = device_says(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    int by_threads =
        device_says(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (int)(warps * 32);
    size_t bytes = f->kernel->shared + shared +
                   (size_t)device_says(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    int by_shared =
        (int)((size_t)device_says(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) /
              bytes);
    if (by_threads < blocks) blocks = by_threads;
    return by_shared < blocks ? by_shared : blocks;
}

static bool within(const unsigned size[3], CUdevice_attribute first)
{
    for (unsigned axis = 0; axis < 3; axis++)
        if (size[axis] == 0 ||
            size[axis] > (unsigned)device_says((CUdevice_attribute)(first + axis)))
            return false;
    return true;
}

static CUresult check_geometry(const gpul__record_launch *launch, const struct function *f)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    REQUIRE(within(launch->grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(within(launch->block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(threads <= (uint64_t)device_says(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(threads <= (uint64_t)f->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
            f->kernel->max_threads ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    REQUIRE(launch->shared <=
                (unsigned)f->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
            CUDA_ERROR_INVALID_VALUE);
    if (launch->cooperative) {
        REQUIRE(device_says(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
        uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
        uint64_t room = (uint64_t)blocks_that_fit(f, (unsigned)threads, launch->shared) *
                        (uint64_t)device_says(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        REQUIRE(blocks <= room, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    if (launch->cluster[0] == 0) return CUDA_SUCCESS;
    REQUIRE(device_says(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
    uint64_t size = (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    uint64_t largest = f->attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] ? 16 : 8;
    REQUIRE(size && size <= largest, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    for (int axis = 0; axis < 3; axis++)
        REQUIRE(launch->grid[axis] % launch->cluster[axis] == 0, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* The parameters as one run of bytes: the `extra` buffer as it is, or the pieces of kernelParams in their places. */
static CUresult take_parameters(gpul__record_launch *launch, const struct record_kernel *kernel,
                                void **params, void **extra)
{
    REQUIRE(!params || !extra, CUDA_ERROR_INVALID_VALUE);
    launch->signature_size = kernel->param_bytes;
    if (extra) {
        const void *buffer = NULL;
        const size_t *size = NULL;
        for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
            if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
            else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = extra[1];
            else return CUDA_ERROR_INVALID_VALUE;
        }
        REQUIRE(buffer && size && *size > 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(*size <= kernel->param_bytes, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        launch->extra = true;
        launch->size = *size;
        launch->bytes = malloc(*size);
        REQUIRE(launch->bytes, CUDA_ERROR_OUT_OF_MEMORY);
        memcpy(launch->bytes, buffer, *size);
        return CUDA_SUCCESS;
    }
    REQUIRE(params || kernel->param_count == 0, CUDA_ERROR_INVALID_VALUE);
    launch->size = kernel->param_bytes;
    launch->bytes = calloc(1, kernel->param_bytes + 1);
    REQUIRE(launch->bytes, CUDA_ERROR_OUT_OF_MEMORY);
    for (size_t i = 0; i < kernel->param_count; i++) {
        REQUIRE(params[i], CUDA_ERROR_INVALID_VALUE);
        memcpy(launch->bytes + kernel->params[i].offset, params[i], kernel->params[i].size);
    }
    return CUDA_SUCCESS;
}

CUresult gpul__record_make_launch(struct work *work, struct context *context, CUfunction function,
                                  const CUlaunchConfig *config, void **params, void **extra)
{
    *work = (struct work){ .kind = KERNEL };
    struct function *f = gpul__record_function(function);
    REQUIRE(f && config, CUDA_ERROR_INVALID_HANDLE);
    gpul__record_launch *launch = &work->launch;
    work->function = f;
    snprintf(launch->kernel, sizeof launch->kernel, "%s", f->kernel->name);
    memcpy(launch->grid, &config->gridDimX, sizeof launch->grid);
    memcpy(launch->block, &config->blockDimX, sizeof launch->block);
    memcpy(launch->cluster, f->kernel->cluster, sizeof launch->cluster);
    launch->shared = config->sharedMemBytes;
    launch->context = (CUcontext)context;
    launch->stream = config->hStream;
    launch->attribute_count = config->numAttrs;
    REQUIRE(config->numAttrs <= sizeof launch->attributes / sizeof *launch->attributes,
            CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        launch->attributes[i] = *attribute;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            launch->cooperative = attribute->value.cooperative != 0;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(launch->cluster, &attribute->value.clusterDim, sizeof launch->cluster);
    }
    CUresult result = check_geometry(launch, f);
    if (result == CUDA_SUCCESS) result = take_parameters(launch, f->kernel, params, extra);
    if (result != CUDA_SUCCESS) gpul__record_work_free(work);
    return result;
}

/* ---- Doing work ----------------------------------------------------------------------------- */

void gpul__record_work_free(struct work *work)
{
    if (work->kind == KERNEL) free(work->launch.bytes);
    work->launch.bytes = NULL;
}

static CUresult write_down(struct work *work, struct context *context, CUstream stream, bool graph)
{
    gpul__record_launch *grown = realloc(launches, (launch_count + 1) * sizeof *grown);
    REQUIRE(grown, CUDA_ERROR_OUT_OF_MEMORY);
    launches = grown;
    gpul__record_launch *launch = &launches[launch_count];
    *launch = work->launch;
    launch->context = (CUcontext)context;
    launch->stream = stream;
    launch->from_graph = graph;
    launch->bytes = malloc(launch->size + 1);
    REQUIRE(launch->bytes, CUDA_ERROR_OUT_OF_MEMORY);
    if (launch->size) memcpy(launch->bytes, work->launch.bytes, launch->size);
    launch_count++;
    if (player) player(player_user, launch);
    return CUDA_SUCCESS;
}

CUresult gpul__record_run(struct work *work, struct context *context, CUstream stream, bool graph)
{
    switch (work->kind) {
    case KERNEL: return write_down(work, context, stream, graph);
    case COPY: return gpul__record_copy(&work->copy);
    case FILL: return gpul__record_fill(&work->fill);
    case CALL: work->call(work->data); break;
    case CHILD:
        for (size_t i = 0; i < work->child->count; i++) {
            CUresult result =
                gpul__record_run(&work->child->nodes[i]->work, context, stream, graph);
            if (result != CUDA_SUCCESS) return result;
        }
        break;
    case RECORD_EVENT: return gpul__record_EventRecord((CUevent)work->event, stream);
    case NOTHING:
    case WAIT_EVENT: break;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__record_submit(CUstream handle, struct context *context, struct work *work)
{
    struct stream *stream;
    CUresult result = CUDA_SUCCESS;
    if (!gpul__record_stream(handle, context, &stream)) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (stream && stream->capture) {
        if (stream->capture_failed) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        else if (!gpul__record_add_node(stream->capture, work)) result = CUDA_ERROR_OUT_OF_MEMORY;
        else return CUDA_SUCCESS; /* the node owns the work now */
    } else {
        result = gpul__record_run(work, context, handle, false);
    }
    gpul__record_work_free(work);
    return result;
}

/* ---- Entries -------------------------------------------------------------------------------- */

static CUresult launch(CUfunction function, const CUlaunchConfig *config, void **params,
                       void **extra)
{
    ENTER;
    struct work work;
    CUresult result = gpul__record_make_launch(&work, context, function, config, params, extra);
    return result == CUDA_SUCCESS ? gpul__record_submit(config->hStream, context, &work) : result;
}

CUresult gpul__record_LaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **params, void **extra)
{
    CUlaunchConfig config = { grid_x,  grid_y, grid_z, block_x, block_y,
                              block_z, shared, stream, NULL,    0 };
    return launch(function, &config, params, extra);
}

CUresult gpul__record_LaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                                     void **params, void **extra)
{
    REQUIRE(config && (config->attrs || !config->numAttrs), CUDA_ERROR_INVALID_VALUE);
    return launch(function, config, params, extra);
}

CUresult gpul__record_LaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared, CUstream stream,
                                              void **params)
{
    CUlaunchAttribute cooperative = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                      .value.cooperative = 1 };
    CUlaunchConfig config = { grid_x,  grid_y, grid_z, block_x,      block_y,
                              block_z, shared, stream, &cooperative, 1 };
    return launch(function, &config, params, NULL);
}

CUresult gpul__record_LaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    ENTER;
    REQUIRE(function, CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = CALL, .call = function, .data = data };
    return gpul__record_submit(stream, context, &work);
}

CUresult gpul__record_StreamAddCallback(CUstream handle, CUstreamCallback callback, void *data,
                                        unsigned flags)
{
    ENTER;
    struct stream *stream;
    REQUIRE(callback && flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(gpul__record_stream(handle, context, &stream), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!stream || !stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    callback(handle, CUDA_SUCCESS, data);
    return CUDA_SUCCESS;
}

/* ---- Occupancy ------------------------------------------------------------------------------ */

CUresult gpul__record_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                                int block_size, size_t shared)
{
    ENTER;
    struct function *f = gpul__record_function(function);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(block_size > 0, CUDA_ERROR_INVALID_VALUE);
    *blocks = blocks_that_fit(f, (unsigned)block_size, shared);
    return CUDA_SUCCESS;
}

CUresult gpul__record_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction function, int block_size, size_t shared, unsigned flags)
{
    REQUIRE(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE);
    return gpul__record_OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size,
                                                                  shared);
}

CUresult gpul__record_OccupancyMaxPotentialBlockSize(int *min_grid, int *block_size,
                                                     CUfunction function,
                                                     CUoccupancyB2DSize shared_of, size_t shared,
                                                     int limit)
{
    ENTER;
    struct function *f = gpul__record_function(function);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    int largest = f->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK], best = 0;
    if (limit > 0 && limit < largest) largest = limit;
    for (int size = largest / 32 * 32; size > 0; size -= 32) {
        int blocks = blocks_that_fit(f, (unsigned)size, shared_of ? shared_of(size) : shared);
        if (blocks * size <= best) continue;
        best = blocks * size;
        *block_size = size;
        *min_grid = blocks * device_says(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }
    return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_OccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function,
                                                            int blocks, int block_size)
{
    ENTER;
    struct function *f = gpul__record_function(function);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(blocks > 0 && block_size > 0 && blocks <= blocks_that_fit(f, (unsigned)block_size, 0),
            CUDA_ERROR_INVALID_VALUE);
    size_t each = (size_t)device_says(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) /
                  (size_t)blocks;
    size_t taken = f->kernel->shared +
                   (size_t)device_says(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    size_t most = (size_t)device_says(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                  f->kernel->shared;
    *bytes = each - taken < most ? each - taken : most;
    return CUDA_SUCCESS;
}

CUresult gpul__record_OccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                                 const CUlaunchConfig *config)
{
    ENTER;
    struct function *f = gpul__record_function(function);
    REQUIRE(f && config, CUDA_ERROR_INVALID_HANDLE);
    unsigned size = 1;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
                   config->attrs[i].value.clusterDim.z;
    REQUIRE(size > 0 && size <= 16, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    int blocks = blocks_that_fit(f, threads, config->sharedMemBytes);
    *clusters = blocks * device_says(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) / (int)size;
    return CUDA_SUCCESS;
}

CUresult gpul__record_OccupancyMaxPotentialClusterSize(int *size, CUfunction function,
                                                       const CUlaunchConfig *config)
{
    ENTER;
    struct function *f = gpul__record_function(function);
    REQUIRE(f && config, CUDA_ERROR_INVALID_HANDLE);
    *size = f->attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] ? 16 : 8;
    return CUDA_SUCCESS;
}
