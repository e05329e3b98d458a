/* Entries about the current context: flags, limits, synchronising, peers.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

CUresult gpul__cpu_CtxGetDevice(CUdevice *device)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    result = device ? gpul__cpu_current(&context) : CUDA_ERROR_INVALID_VALUE;
    if (!result) *device = context->device->ordinal;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_CtxGetFlags(unsigned int *flags)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    result = flags ? gpul__cpu_current(&context) : CUDA_ERROR_INVALID_VALUE;
    if (!result) *flags = context->flags;
    return gpul__cpu_leave(result);
}

/* NULL means the current one. */
static CUresult context_of(CUcontext handle, cpu_context **out)
{
    if (!handle) return gpul__cpu_current(out);
    *out = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult gpul__cpu_CtxGetApiVersion(CUcontext handle, unsigned int *version)
{
    enum { VERSION = 3020 }; /* what contexts of cuCtxCreate_v2 and later say */
    cpu_context *context;
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    result = version ? context_of(handle, &context) : CUDA_ERROR_INVALID_VALUE;
    if (!result) *version = VERSION;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_CtxGetId(CUcontext handle, unsigned long long *id)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    result = id ? context_of(handle, &context) : CUDA_ERROR_INVALID_VALUE;
    if (!result) *id = context->id;
    return gpul__cpu_leave(result);
}

/* A stream that records forbids waiting, and the attempt spoils its recording. */
CUresult gpul__cpu_CtxSynchronize(void)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    result = gpul__cpu_current(&context);
    if (!result && gpul__cpu_spoil_captures(context))
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!result) result = gpul__cpu_wait_context(context);
    return gpul__cpu_leave_synchronised(result);
}

/* ---- limits ----------------------------------------------------------------------------- */

CUresult gpul__cpu_CtxGetLimit(size_t *value, CUlimit limit)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: *value = context->limits[limit]; break;
    default: result = CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    return gpul__cpu_leave(result);
}

/* Values that the hardware would round or cut are kept as they are. */
CUresult gpul__cpu_CtxSetLimit(CUlimit limit, size_t value)
{
    enum { MAX_STACK = 512 * 1024, MAX_GRANULARITY = 128 };
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        if (value == 0 || value > MAX_STACK) result = CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        if (value > gpul__cpu.memory_total) result = CUDA_ERROR_OUT_OF_MEMORY;
        break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > MAX_GRANULARITY) result = CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LIMIT_PRINTF_FIFO_SIZE: break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: /* there is none to set aside */
    default: result = CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    if (!result) context->limits[limit] = value;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_CtxGetCacheConfig(CUfunc_cache *config)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (config) *config = context->cache;
    return gpul__cpu_leave(config ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_CtxSetCacheConfig(CUfunc_cache config)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    context->cache = config;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_CtxGetStreamPriorityRange(int *least, int *greatest)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (least) *least = CPU_LEAST_PRIORITY;
    if (greatest) *greatest = CPU_GREATEST_PRIORITY;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_CtxResetPersistingL2Cache(void)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    return result ? result : gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- peers ------------------------------------------------------------------------------ */

CUresult gpul__cpu_CtxEnablePeerAccess(CUcontext peer_handle, unsigned int flags)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_context *peer = gpul__cpu_handle_get(CPU_CONTEXT, peer_handle);
    if (flags) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!peer || peer == context) return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (peer->device == context->device) return gpul__cpu_leave(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    uint64_t bit = (uint64_t)1 << peer->device->ordinal;
    if (context->peers & bit) return gpul__cpu_leave(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    context->peers |= bit;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_CtxDisablePeerAccess(CUcontext peer_handle)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_context *peer = gpul__cpu_handle_get(CPU_CONTEXT, peer_handle);
    if (!peer) return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    uint64_t bit = (uint64_t)1 << peer->device->ordinal;
    if (!(context->peers & bit)) return gpul__cpu_leave(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    context->peers &= ~bit;
    return gpul__cpu_leave(CUDA_SUCCESS);
}
