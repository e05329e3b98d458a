/* Stream-ordered memory and the entries about pools.  An allocation is there at once; a free happens
 * when the stream reaches it.  Nothing is cached in a pool: what is freed goes back.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

static CUresult alloc_async(CUdeviceptr *out, size_t bytes, cpu_context *context, cpu_pool *pool,
                            CUstream handle)
{
    cpu_stream *stream;
    CUresult result = gpul__cpu_stream_any(context, handle, &stream);
    if (result) return result;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    uint64_t address;
    result = gpul__cpu_region_alloc(&address, NULL, pool, bytes);
    if (!result) *out = address;
    return result;
}

CUresult gpul__cpu_MemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!gpul__cpu_default_pool(context->device)) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    return gpul__cpu_leave(alloc_async(out, bytes, context, context->device->pool, stream));
}

CUresult gpul__cpu_MemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool handle,
                                         CUstream stream)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_pool *pool = gpul__cpu_handle_get(CPU_POOL, handle);
    if (!pool) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    return gpul__cpu_leave(alloc_async(out, bytes, context, pool, stream));
}

CUresult gpul__cpu_MemFreeAsync(CUdeviceptr address, CUstream handle)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_stream *stream;
    result = gpul__cpu_stream_any(context, handle, &stream);
    if (result) return gpul__cpu_leave(result);
    cpu_region *region = gpul__cpu_region_at(address);
    if (!region || region->freeing ||
        (region->kind != REGION_POOL && region->kind != REGION_DEVICE))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (stream->capture) return gpul__cpu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    cpu_work *work = gpul__cpu_work_new(WORK_FREE);
    if (!work) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    work->address = address;
    region->freeing = true;
    result = gpul__cpu_submit(stream, work, NULL, 0, NULL);
    if (result) region->freeing = false;
    gpul__cpu_work_drop(work);
    return gpul__cpu_leave(result);
}

/* ---- pools ------------------------------------------------------------------------------ */

/* Pools live as long as the engine, so that making one needs a context; it need not be current. */
static CUresult enter_device(CUdevice ordinal, cpu_device **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_device_at(ordinal);
    result = !*out                      ? CUDA_ERROR_INVALID_DEVICE
             : !gpul__cpu.context_count ? CUDA_ERROR_INVALID_CONTEXT
                                        : CUDA_SUCCESS;
    if (!result && !gpul__cpu_default_pool(*out)) result = CUDA_ERROR_OUT_OF_MEMORY;
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

CUresult gpul__cpu_DeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal)
{
    cpu_device *device;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter_device(ordinal, &device);
    if (result) return result;
    *out = device->default_pool->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal)
{
    cpu_device *device;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter_device(ordinal, &device);
    if (result) return result;
    *out = device->pool->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle)
{
    cpu_device *device;
    CUresult result = enter_device(ordinal, &device);
    if (result) return result;
    cpu_pool *pool = gpul__cpu_handle_get(CPU_POOL, handle);
    if (!pool || pool->device != device) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    device->pool = pool;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGraphMemTrim(CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    return gpul__cpu_leave(gpul__cpu_device_at(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

CUresult gpul__cpu_MemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
    if (!out || !props) return CUDA_ERROR_INVALID_VALUE;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    cpu_device *device;
    CUresult result = enter_device(props->location.id, &device);
    if (result) return result;
    cpu_pool *pool = gpul__cpu_pool_new(device, props->maxSize);
    if (!pool) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    pool->next = device->pools;
    device->pools = pool;
    *out = pool->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

static CUresult enter_pool(CUmemoryPool handle, cpu_pool **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_POOL, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
}

/* What is still allocated stays until it is freed in the default pool's book. */
CUresult gpul__cpu_MemPoolDestroy(CUmemoryPool handle)
{
    cpu_pool *pool;
    CUresult result = enter_pool(handle, &pool);
    if (result) return result;
    cpu_device *device = pool->device;
    if (pool->is_default) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (device->pool == pool) device->pool = device->default_pool;
    cpu_pool **link = &device->pools;
    while (*link != pool) link = &(*link)->next;
    *link = pool->next;
    gpul__cpu_pool_hand_over(pool, device->default_pool);
    gpul__cpu_pool_free(pool);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_MemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                       void *value)
{
    cpu_pool *pool;
    CUresult result = enter_pool(handle, &pool);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = pool->reuse[attribute - 1];
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(cuuint64_t *)value = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(cuuint64_t *)value = pool->used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(cuuint64_t *)value = pool->used_high; break;
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_MemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                       void *value)
{
    cpu_pool *pool;
    CUresult result = enter_pool(handle, &pool);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse[attribute - 1] = *(int *)value != 0;
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->threshold = *(cuuint64_t *)value; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: /* can be put back only */
        if (*(cuuint64_t *)value != 0) result = CUDA_ERROR_INVALID_VALUE;
        else pool->used_high = pool->used;
        break;
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_MemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    cpu_pool *pool;
    (void)keep; /* nothing is kept anyhow */
    CUresult result = enter_pool(handle, &pool);
    return result ? result : gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_MemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count)
{
    cpu_pool *pool;
    CUresult result = enter_pool(handle, &pool);
    if (result) return result;
    if (count && !map) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
        cpu_device *device = gpul__cpu_device_at(map[i].location.id);
        if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
        /* The pool's own device always has access. */
        if (device == pool->device && map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* All CPU devices reach each other's memory. */
CUresult gpul__cpu_MemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                                    CUmemLocation *location)
{
    cpu_pool *pool;
    CUresult result = enter_pool(handle, &pool);
    if (result) return result;
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(location->id)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return gpul__cpu_leave(CUDA_SUCCESS);
}
