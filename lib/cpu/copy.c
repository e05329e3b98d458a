/* Copies and fills: checking what is asked for, and making work of it.  SPDX-License-Identifier: MIT */
#include "cpu/copy.h"

#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

#include "base/alloc.h"

#include <string.h>

/* A pageable source up to this size is copied aside, so that an asynchronous copy need not wait. */
enum { STAGED_BYTES = 1 << 20, MAX_PITCH = 2147483647 };

/* ---- checking --------------------------------------------------------------------------- */

/* One side as the API describes it. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, rows;
};

static bool add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static CUresult place(cpu_side *out, const struct side *side, size_t width, size_t height,
                      size_t depth)
{
    size_t pitch = side->pitch ? side->pitch : side->x + width;
    size_t rows = side->rows ? side->rows : side->y + height;
    uint64_t slice = 0, first = side->x, length = width;
    if (pitch > MAX_PITCH && height > 1) return CUDA_ERROR_INVALID_VALUE;
    if (side->x > pitch || width > pitch - side->x || (depth > 1 && height > rows))
        return CUDA_ERROR_INVALID_VALUE;
    if (!add_product(&slice, pitch, rows) || !add_product(&first, side->y, pitch) ||
        !add_product(&first, side->z, slice) || !add_product(&length, height - 1, pitch) ||
        !add_product(&length, depth - 1, slice))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (cpu_side){ .pitch = pitch, .slice = (size_t)slice };
    uint64_t base = side->device;
    bool ours;
    switch (side->type) {
    case CU_MEMORYTYPE_HOST:
        base = (uint64_t)(uintptr_t)side->host;
        ours = false;
        break;
    case CU_MEMORYTYPE_DEVICE: ours = true; break;
    case CU_MEMORYTYPE_UNIFIED:
        ours = ptx_memory_is_device_address(gpul__cpu.memory, base) ||
               gpul__cpu_region_find(base, NULL) != NULL;
        break;
    case CU_MEMORYTYPE_ARRAY: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (!base || first > UINT64_MAX - base || length > UINT64_MAX - base - first)
        return CUDA_ERROR_INVALID_VALUE;
    out->address = base + first;
    out->device = ours;
    if (ours ? !gpul__cpu_range_valid(out->address, length)
             : ptx_memory_is_device_address(gpul__cpu.memory, out->address))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_copy_check(cpu_work **out, const CUDA_MEMCPY3D *copy)
{
    cpu_work *work = gpul__cpu_work_new(WORK_COPY);
    if (!work) return CUDA_ERROR_OUT_OF_MEMORY;
    work->copy.width = copy->WidthInBytes;
    work->copy.height = copy->Height;
    work->copy.depth = copy->Depth;
    *out = work;
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0) return CUDA_SUCCESS;
    struct side from = { copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes,
                         copy->srcY,          copy->srcZ,    copy->srcPitch,  copy->srcHeight };
    struct side to = { copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                       copy->dstY,          copy->dstZ,    copy->dstPitch,  copy->dstHeight };
    CUresult result = copy->srcLOD || copy->dstLOD ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (!result)
        result = place(&work->copy.from, &from, copy->WidthInBytes, copy->Height, copy->Depth);
    if (!result) result = place(&work->copy.to, &to, copy->WidthInBytes, copy->Height, copy->Depth);
    if (result) gpul__cpu_work_drop(work);
    return result;
}

CUresult gpul__cpu_fill_check(cpu_work **out, const CUDA_MEMSET_NODE_PARAMS *fill)
{
    unsigned element = fill->elementSize;
    if (element != 1 && element != 2 && element != 4) return CUDA_ERROR_INVALID_VALUE;
    cpu_work *work = gpul__cpu_work_new(WORK_FILL);
    if (!work) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t pitch = fill->height > 1 ? fill->pitch : 0;
    work->fill = (cpu_fill){ fill->dst, fill->value, element, fill->width, fill->height, pitch };
    *out = work;
    if (fill->width == 0 || fill->height == 0) return CUDA_SUCCESS;
    uint64_t row = 0, length;
    bool fits = add_product(&row, fill->width, element);
    length = row;
    fits = fits && add_product(&length, fill->height - 1, pitch);
    if (fits && fill->dst % element == 0 && (fill->height == 1 || pitch >= row) &&
        pitch % element == 0 && gpul__cpu_range_valid(fill->dst, length))
        return CUDA_SUCCESS;
    gpul__cpu_work_drop(work);
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- issuing ---------------------------------------------------------------------------- */

static bool pageable(const cpu_side *side)
{
    return !side->device && !gpul__cpu_region_find(side->address, NULL);
}

/* Copies pageable source memory aside, row by row. */
static CUresult stage(cpu_copy *copy)
{
    unsigned char *staged = gpul__malloc(copy->width * copy->height * copy->depth);
    if (!staged) return CUDA_ERROR_OUT_OF_MEMORY;
    const unsigned char *from = (const unsigned char *)(uintptr_t)copy->from.address;
    unsigned char *to = staged;
    for (size_t plane = 0; plane < copy->depth; plane++)
        for (size_t row = 0; row < copy->height; row++, to += copy->width)
            memcpy(to, from + plane * copy->from.slice + row * copy->from.pitch, copy->width);
    copy->staged = staged;
    copy->from.pitch = copy->width;
    copy->from.slice = copy->width * copy->height;
    return CUDA_SUCCESS;
}

/* As the driver promises: pageable source memory may be reused when the call returns, and pageable
 * destination memory holds the data then. */
static CUresult issue_async(cpu_stream *stream, cpu_work *work)
{
    cpu_copy *copy = &work->copy;
    bool waits = false;
    if (!stream->capture && copy->width && copy->height && copy->depth) {
        if (pageable(&copy->to)) {
            waits = true;
        } else if (pageable(&copy->from)) {
            uint64_t bytes = copy->width;
            waits = __builtin_mul_overflow(bytes, copy->height, &bytes) ||
                    __builtin_mul_overflow(bytes, copy->depth, &bytes) || bytes > STAGED_BYTES;
            CUresult result = waits ? CUDA_SUCCESS : stage(copy);
            if (result) return result;
        }
    }
    return waits ? gpul__cpu_issue_and_wait(stream, work) : gpul__cpu_issue(stream, work);
}

/* `stream` NULL: the synchronous form. */
static CUresult copy3d(const CUDA_MEMCPY3D *copy, const CUstream *handle)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_stream *stream;
    result = gpul__cpu_stream_any(context, handle ? *handle : NULL, &stream);
    if (result) return gpul__cpu_leave(result);
    cpu_work *work;
    result = gpul__cpu_copy_check(&work, copy);
    if (result) return gpul__cpu_leave(result);
    result = handle ? issue_async(stream, work) : gpul__cpu_issue_and_wait(stream, work);
    gpul__cpu_work_drop(work);
    return handle ? gpul__cpu_leave(result) : gpul__cpu_leave_synchronised(result);
}

/* ---- one dimension ---------------------------------------------------------------------- */

static CUDA_MEMCPY3D line(size_t bytes)
{
    return (CUDA_MEMCPY3D){ .WidthInBytes = bytes, .Height = 1, .Depth = 1 };
}

static CUresult host_to_device(CUdeviceptr to, const void *from, size_t bytes,
                               const CUstream *stream)
{
    CUDA_MEMCPY3D copy = line(bytes);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    return copy3d(&copy, stream);
}

static CUresult device_to_host(void *to, CUdeviceptr from, size_t bytes, const CUstream *stream)
{
    CUDA_MEMCPY3D copy = line(bytes);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    return copy3d(&copy, stream);
}

static CUresult between(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemorytype type,
                        const CUstream *stream)
{
    CUDA_MEMCPY3D copy = line(bytes);
    copy.srcMemoryType = copy.dstMemoryType = type;
    copy.srcDevice = from;
    copy.dstDevice = to;
    return copy3d(&copy, stream);
}

CUresult gpul__cpu_Memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return between(to, from, bytes, CU_MEMORYTYPE_UNIFIED, NULL);
}

CUresult gpul__cpu_MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return between(to, from, bytes, CU_MEMORYTYPE_UNIFIED, &stream);
}

CUresult gpul__cpu_MemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return host_to_device(to, from, bytes, NULL);
}

CUresult gpul__cpu_MemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return device_to_host(to, from, bytes, NULL);
}

CUresult gpul__cpu_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return between(to, from, bytes, CU_MEMORYTYPE_DEVICE, NULL);
}

CUresult gpul__cpu_MemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return host_to_device(to, from, bytes, &stream);
}

CUresult gpul__cpu_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return device_to_host(to, from, bytes, &stream);
}

CUresult gpul__cpu_MemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return between(to, from, bytes, CU_MEMORYTYPE_DEVICE, &stream);
}

/* ---- two and three dimensions ----------------------------------------------------------- */

static CUDA_MEMCPY3D plane(const CUDA_MEMCPY2D *copy)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = copy->srcXInBytes,
        .srcY = copy->srcY,
        .srcMemoryType = copy->srcMemoryType,
        .srcHost = copy->srcHost,
        .srcDevice = copy->srcDevice,
        .srcArray = copy->srcArray,
        .srcPitch = copy->srcPitch,
        .dstXInBytes = copy->dstXInBytes,
        .dstY = copy->dstY,
        .dstMemoryType = copy->dstMemoryType,
        .dstHost = copy->dstHost,
        .dstDevice = copy->dstDevice,
        .dstArray = copy->dstArray,
        .dstPitch = copy->dstPitch,
        .WidthInBytes = copy->WidthInBytes,
        .Height = copy->Height,
        .Depth = 1,
    };
}

CUresult gpul__cpu_Memcpy2D(const CUDA_MEMCPY2D *copy)
{
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D wide = plane(copy);
    return copy3d(&wide, NULL);
}

CUresult gpul__cpu_Memcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    return gpul__cpu_Memcpy2D(copy);
}

CUresult gpul__cpu_Memcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D wide = plane(copy);
    return copy3d(&wide, &stream);
}

CUresult gpul__cpu_Memcpy3D(const CUDA_MEMCPY3D *copy)
{
    return copy ? copy3d(copy, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__cpu_Memcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy ? copy3d(copy, &stream) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- between devices: all CPU devices share one memory ---------------------------------- */

static CUresult check_contexts(CUcontext a, CUcontext b)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    bool valid = gpul__cpu_handle_get(CPU_CONTEXT, a) && gpul__cpu_handle_get(CPU_CONTEXT, b);
    return gpul__cpu_leave(valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult gpul__cpu_MemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                              CUcontext from_context, size_t bytes)
{
    CUresult result = check_contexts(to_context, from_context);
    return result ? result : gpul__cpu_MemcpyDtoD(to, from, bytes);
}

CUresult gpul__cpu_MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                   CUcontext from_context, size_t bytes, CUstream stream)
{
    CUresult result = check_contexts(to_context, from_context);
    return result ? result : gpul__cpu_MemcpyDtoDAsync(to, from, bytes, stream);
}

static CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER *copy)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = copy->srcXInBytes,
        .srcY = copy->srcY,
        .srcZ = copy->srcZ,
        .srcLOD = copy->srcLOD,
        .srcMemoryType = copy->srcMemoryType,
        .srcHost = copy->srcHost,
        .srcDevice = copy->srcDevice,
        .srcArray = copy->srcArray,
        .srcPitch = copy->srcPitch,
        .srcHeight = copy->srcHeight,
        .dstXInBytes = copy->dstXInBytes,
        .dstY = copy->dstY,
        .dstZ = copy->dstZ,
        .dstLOD = copy->dstLOD,
        .dstMemoryType = copy->dstMemoryType,
        .dstHost = copy->dstHost,
        .dstDevice = copy->dstDevice,
        .dstArray = copy->dstArray,
        .dstPitch = copy->dstPitch,
        .dstHeight = copy->dstHeight,
        .WidthInBytes = copy->WidthInBytes,
        .Height = copy->Height,
        .Depth = copy->Depth,
    };
}

CUresult gpul__cpu_Memcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy)
{
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D plain = without_contexts(copy);
    CUresult result = check_contexts(copy->dstContext, copy->srcContext);
    return result ? result : copy3d(&plain, NULL);
}

CUresult gpul__cpu_Memcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D plain = without_contexts(copy);
    CUresult result = check_contexts(copy->dstContext, copy->srcContext);
    return result ? result : copy3d(&plain, &stream);
}
