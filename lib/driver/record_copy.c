/* Tests: copies, fills, arrays, textures and surfaces of the recording provider.  Every copy becomes a three-dimensional
 * one, so that there is one place that copies.  SPDX-License-Identifier: MIT */
#include "driver/record_private.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *as_pointer(CUdeviceptr address)
{
    return (unsigned char *)(uintptr_t)address;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

struct array {
    struct object object;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    size_t row, height; /* bytes of a row, rows of a layer */
    unsigned char data[];
};

static size_t element_bytes(CUarray_format format, unsigned channels)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2 * channels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4 * channels;
    }
    return 0;
}

static CUresult make_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           struct context *context)
{
    REQUIRE(out && desc && desc->Width, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(desc->NumChannels == 1 || desc->NumChannels == 2 || desc->NumChannels == 4,
            CUDA_ERROR_INVALID_VALUE);
    size_t row = desc->Width * element_bytes(desc->Format, desc->NumChannels);
    size_t height = desc->Height ? desc->Height : 1, depth = desc->Depth ? desc->Depth : 1;
    REQUIRE(row && row <= (size_t)1 << 20 && height <= 1 << 17 && depth <= 1 << 14,
            CUDA_ERROR_INVALID_VALUE);
    struct array *array = gpul__record_new(ARRAY, sizeof *array + row * height * depth, context);
    REQUIRE(array, CUDA_ERROR_OUT_OF_MEMORY);
    array->desc = *desc;
    array->row = row;
    array->height = height;
    *out = (CUarray)array;
    return CUDA_SUCCESS;
}

CUresult gpul__record_Array3DCreate(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    ENTER;
    return make_array(out, desc, context);
}

CUresult gpul__record_ArrayCreate(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    REQUIRE(desc, CUDA_ERROR_INVALID_VALUE);
    CUDA_ARRAY3D_DESCRIPTOR solid = { .Width = desc->Width,
                                      .Height = desc->Height,
                                      .Format = desc->Format,
                                      .NumChannels = desc->NumChannels };
    return gpul__record_Array3DCreate(out, &solid);
}

CUresult gpul__record_Array3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray handle)
{
    ENTER;
    struct array *array = gpul__record_find(ARRAY, handle);
    REQUIRE(array, CUDA_ERROR_INVALID_HANDLE);
    *desc = array->desc;
    return CUDA_SUCCESS;
}

CUresult gpul__record_ArrayDestroy(CUarray handle)
{
    ENTER;
    struct array *array = gpul__record_find(ARRAY, handle);
    REQUIRE(array, CUDA_ERROR_INVALID_HANDLE);
    gpul__record_drop(array);
    return CUDA_SUCCESS;
}

struct mipmap {
    struct object object;
    unsigned levels;
    CUarray level[32];
};

CUresult gpul__record_MipmappedArrayDestroy(CUmipmappedArray handle)
{
    ENTER;
    struct mipmap *mipmap = gpul__record_find(MIPMAP, handle);
    REQUIRE(mipmap, CUDA_ERROR_INVALID_HANDLE);
    for (unsigned i = 0; i < mipmap->levels; i++) gpul__record_drop(mipmap->level[i]);
    gpul__record_drop(mipmap);
    return CUDA_SUCCESS;
}

static size_t halved(size_t extent, unsigned level)
{
    return extent >> level ? extent >> level : extent != 0;
}

CUresult gpul__record_MipmappedArrayCreate(CUmipmappedArray *out,
                                           const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels)
{
    ENTER;
    bool flat = desc && desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    REQUIRE(out && desc && levels && levels <= 32, CUDA_ERROR_INVALID_VALUE);
    struct mipmap *mipmap = gpul__record_new(MIPMAP, sizeof *mipmap, context);
    REQUIRE(mipmap, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < levels && result == CUDA_SUCCESS; i++) {
        CUDA_ARRAY3D_DESCRIPTOR level = *desc;
        level.Width = halved(desc->Width, i);
        level.Height = halved(desc->Height, i);
        if (!flat) level.Depth = halved(desc->Depth, i);
        result = make_array(&mipmap->level[i], &level, context);
        mipmap->levels += result == CUDA_SUCCESS;
    }
    *out = (CUmipmappedArray)mipmap;
    if (result != CUDA_SUCCESS) {
        for (unsigned i = 0; i < mipmap->levels; i++) gpul__record_drop(mipmap->level[i]);
        gpul__record_drop(mipmap);
    }
    return result;
}

CUresult gpul__record_MipmappedArrayGetLevel(CUarray *out, CUmipmappedArray handle, unsigned level)
{
    ENTER;
    struct mipmap *mipmap = gpul__record_find(MIPMAP, handle);
    REQUIRE(mipmap, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(out && level < mipmap->levels, CUDA_ERROR_INVALID_VALUE);
    *out = mipmap->level[level];
    return CUDA_SUCCESS;
}

/* ---- Textures and surfaces ------------------------------------------------------------------ */

static bool good_resource(const CUDA_RESOURCE_DESC *resource)
{
    if (!resource) return false;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return gpul__record_find(ARRAY, resource->res.array.hArray) != NULL;
    case CU_RESOURCE_TYPE_LINEAR:
        return gpul__record_memory_at(resource->res.linear.devPtr,
                                      resource->res.linear.sizeInBytes) != NULL;
    case CU_RESOURCE_TYPE_PITCH2D: {
        size_t row = resource->res.pitch2D.width *
                     element_bytes(resource->res.pitch2D.format, resource->res.pitch2D.numChannels);
        size_t pitch = resource->res.pitch2D.pitchInBytes, rows = resource->res.pitch2D.height;
        return row && rows && row <= pitch &&
               gpul__record_memory_at(resource->res.pitch2D.devPtr, (rows - 1) * pitch + row) !=
                   NULL;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return gpul__record_find(MIPMAP, resource->res.mipmap.hMipmappedArray) != NULL;
    }
    return false;
}

static CUresult make_object(enum kind kind, unsigned long long *out,
                            const CUDA_RESOURCE_DESC *resource, struct context *context)
{
    REQUIRE(good_resource(resource), CUDA_ERROR_INVALID_VALUE);
    struct object *object = gpul__record_new(kind, sizeof *object, context);
    REQUIRE(object, CUDA_ERROR_OUT_OF_MEMORY);
    *out = (uintptr_t)object;
    return CUDA_SUCCESS;
}

static CUresult destroy_object(enum kind kind, unsigned long long handle)
{
    void *object = gpul__record_find(kind, as_pointer(handle));
    REQUIRE(object, CUDA_ERROR_INVALID_VALUE);
    gpul__record_drop(object);
    return CUDA_SUCCESS;
}

CUresult gpul__record_TexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                                      const CUDA_TEXTURE_DESC *desc,
                                      const CUDA_RESOURCE_VIEW_DESC *view)
{
    (void)view;
    ENTER;
    REQUIRE(texture && desc, CUDA_ERROR_INVALID_VALUE);
    return make_object(TEXTURE, texture, resource, context);
}

CUresult gpul__record_TexObjectDestroy(CUtexObject texture)
{
    ENTER;
    return destroy_object(TEXTURE, texture);
}

CUresult gpul__record_SurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    ENTER;
    REQUIRE(surface && resource && resource->resType == CU_RESOURCE_TYPE_ARRAY,
            CUDA_ERROR_INVALID_VALUE);
    return make_object(SURFACE, surface, resource, context);
}

CUresult gpul__record_SurfObjectDestroy(CUsurfObject surface)
{
    ENTER;
    return destroy_object(SURFACE, surface);
}

/* ---- Copies --------------------------------------------------------------------------------- */

/* One side of a copy: its first byte and the distances between rows and between layers. */
struct side {
    unsigned char *data;
    size_t pitch, layer;
};

static bool resolve(struct side *side, CUmemorytype type, const void *host, CUdeviceptr device,
                    CUarray handle, size_t pitch, size_t height, size_t x, size_t y, size_t z,
                    const CUDA_MEMCPY3D *copy)
{
    size_t bytes = copy->WidthInBytes, rows = copy->Height, layers = copy->Depth;
    if (type == CU_MEMORYTYPE_ARRAY) {
        struct array *array = gpul__record_find(ARRAY, handle);
        if (!array) return false;
        size_t depth = array->desc.Depth ? array->desc.Depth : 1;
        if (x + bytes > array->row || y + rows > array->height || z + layers > depth) return false;
        side->pitch = array->row;
        side->layer = array->row * array->height;
        side->data = array->data + z * side->layer + y * side->pitch + x;
        return true;
    }
    if (pitch == 0) pitch = x + bytes;
    if (height == 0) height = y + rows;
    if (x + bytes > pitch && (rows > 1 || layers > 1)) return false;
    side->pitch = pitch;
    side->layer = pitch * height;
    size_t first = z * side->layer + y * pitch + x;
    size_t extent = first + (layers - 1) * side->layer + (rows - 1) * pitch + bytes;
    if (type == CU_MEMORYTYPE_HOST) {
        side->data = (unsigned char *)(uintptr_t)host + first;
        return host != NULL;
    }
    side->data = as_pointer(device) + first;
    return gpul__record_memory_at(device, extent) != NULL;
}

/* The sides' memory, checked; CUDA_SUCCESS when the copy could be done now. */
static CUresult resolve_both(struct side *to, struct side *from, const CUDA_MEMCPY3D *c)
{
    bool good = resolve(from, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcPitch,
                        c->srcHeight, c->srcXInBytes, c->srcY, c->srcZ, c) &&
                resolve(to, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstPitch,
                        c->dstHeight, c->dstXInBytes, c->dstY, c->dstZ, c);
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_copy(const CUDA_MEMCPY3D *copy)
{
    struct side to, from;
    if (!copy->WidthInBytes || !copy->Height || !copy->Depth) return CUDA_SUCCESS;
    CUresult result = resolve_both(&to, &from, copy);
    if (result != CUDA_SUCCESS) return result;
    for (size_t z = 0; z < copy->Depth; z++)
        for (size_t y = 0; y < copy->Height; y++)
            memmove(to.data + z * to.layer + y * to.pitch,
                    from.data + z * from.layer + y * from.pitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

/* Copies in a stream are checked when they are asked for, and done at once unless the stream is captured. */
static CUresult submit_copy(const CUDA_MEMCPY3D *copy, struct context *context, CUstream stream)
{
    struct side to, from;
    if (!copy->WidthInBytes || !copy->Height || !copy->Depth) return CUDA_SUCCESS;
    CUresult result = resolve_both(&to, &from, copy);
    if (result != CUDA_SUCCESS) return result;
    struct work work = { .kind = COPY, .copy = *copy };
    return gpul__record_submit(stream, context, &work);
}

static CUDA_MEMCPY3D line(size_t bytes)
{
    return (CUDA_MEMCPY3D){ .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .WidthInBytes = bytes,
                            .Height = 1,
                            .Depth = 1 };
}

static CUDA_MEMCPY3D to_device(CUdeviceptr destination, const void *source, size_t bytes)
{
    CUDA_MEMCPY3D copy = line(bytes);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = source;
    copy.dstDevice = destination;
    return copy;
}

static CUDA_MEMCPY3D to_host(void *destination, CUdeviceptr source, size_t bytes)
{
    CUDA_MEMCPY3D copy = line(bytes);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = destination;
    copy.srcDevice = source;
    return copy;
}

static CUDA_MEMCPY3D on_device(CUdeviceptr destination, CUdeviceptr source, size_t bytes)
{
    CUDA_MEMCPY3D copy = line(bytes);
    copy.srcDevice = source;
    copy.dstDevice = destination;
    return copy;
}

static CUDA_MEMCPY3D solid(const CUDA_MEMCPY2D *flat)
{
    return (CUDA_MEMCPY3D){ .srcXInBytes = flat->srcXInBytes,
                            .srcY = flat->srcY,
                            .srcMemoryType = flat->srcMemoryType,
                            .srcHost = flat->srcHost,
                            .srcDevice = flat->srcDevice,
                            .srcArray = flat->srcArray,
                            .srcPitch = flat->srcPitch,
                            .dstXInBytes = flat->dstXInBytes,
                            .dstY = flat->dstY,
                            .dstMemoryType = flat->dstMemoryType,
                            .dstHost = flat->dstHost,
                            .dstDevice = flat->dstDevice,
                            .dstArray = flat->dstArray,
                            .dstPitch = flat->dstPitch,
                            .WidthInBytes = flat->WidthInBytes,
                            .Height = flat->Height,
                            .Depth = 1 };
}

/* Without a context in `made`: the synchronous form of each, then the one with a stream. */
#define COPY_NOW(made)                                                                             \
    ENTER;                                                                                         \
    (void)context;                                                                                 \
    CUDA_MEMCPY3D copy_ = made;                                                                    \
    return gpul__record_copy(&copy_)
#define COPY_IN(stream, made)                                                                      \
    ENTER;                                                                                         \
    CUDA_MEMCPY3D copy_ = made;                                                                    \
    return submit_copy(&copy_, context, stream)

CUresult gpul__record_MemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    COPY_NOW(to_device(to, from, bytes));
}

CUresult gpul__record_MemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    COPY_NOW(to_host(to, from, bytes));
}

CUresult gpul__record_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    COPY_NOW(on_device(to, from, bytes));
}

CUresult gpul__record_Memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    COPY_NOW(on_device(to, from, bytes));
}

CUresult gpul__record_MemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                                      CUstream stream)
{
    COPY_IN(stream, to_device(to, from, bytes));
}

CUresult gpul__record_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    COPY_IN(stream, to_host(to, from, bytes));
}

CUresult gpul__record_MemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                      CUstream stream)
{
    COPY_IN(stream, on_device(to, from, bytes));
}

CUresult gpul__record_MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    COPY_IN(stream, on_device(to, from, bytes));
}

CUresult gpul__record_Memcpy2D(const CUDA_MEMCPY2D *copy)
{
    COPY_NOW(solid(copy));
}

CUresult gpul__record_Memcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    COPY_NOW(solid(copy));
}

CUresult gpul__record_Memcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    COPY_IN(stream, solid(copy));
}

CUresult gpul__record_Memcpy3D(const CUDA_MEMCPY3D *copy)
{
    COPY_NOW(*copy);
}

CUresult gpul__record_Memcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    COPY_IN(stream, *copy);
}

static bool contexts(CUcontext a, CUcontext b)
{
    return gpul__record_find(CONTEXT, a) && gpul__record_find(CONTEXT, b);
}

CUresult gpul__record_MemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                 CUcontext from_context, size_t bytes)
{
    REQUIRE(contexts(to_context, from_context), CUDA_ERROR_INVALID_CONTEXT);
    return gpul__record_MemcpyDtoD(to, from, bytes);
}

CUresult gpul__record_MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                      CUcontext from_context, size_t bytes, CUstream stream)
{
    REQUIRE(contexts(to_context, from_context), CUDA_ERROR_INVALID_CONTEXT);
    return gpul__record_MemcpyDtoDAsync(to, from, bytes, stream);
}

/* ---- Fills ---------------------------------------------------------------------------------- */

static CUresult check_fill(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    size_t row = fill->width * fill->elementSize;
    if (!row || !fill->height) return CUDA_SUCCESS;
    REQUIRE(fill->dst % fill->elementSize == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(fill->height == 1 || fill->pitch >= row, CUDA_ERROR_INVALID_VALUE);
    size_t extent = (fill->height - 1) * fill->pitch + row;
    return gpul__record_memory_at(fill->dst, extent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_fill(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    CUresult result = check_fill(fill);
    if (result != CUDA_SUCCESS) return result;
    for (size_t y = 0; y < fill->height; y++)
        for (size_t x = 0; x < fill->width; x++)
            memcpy(as_pointer(fill->dst) + y * fill->pitch + x * fill->elementSize, &fill->value,
                   fill->elementSize);
    return CUDA_SUCCESS;
}

static CUresult submit_fill(CUDA_MEMSET_NODE_PARAMS fill, bool in_stream, CUstream stream)
{
    ENTER;
    CUresult result = check_fill(&fill);
    if (result != CUDA_SUCCESS) return result;
    if (!in_stream) return gpul__record_fill(&fill);
    struct work work = { .kind = FILL, .fill = fill };
    return gpul__record_submit(stream, context, &work);
}

#define FILLS(bits, type)                                                                          \
    CUresult gpul__record_MemsetD##bits(CUdeviceptr address, type value, size_t count)             \
    {                                                                                              \
        return submit_fill((CUDA_MEMSET_NODE_PARAMS){ address, 0, value, bits / 8, count, 1 },     \
                           false, NULL);                                                           \
    }                                                                                              \
    CUresult gpul__record_MemsetD##bits##Async(CUdeviceptr address, type value, size_t count,      \
                                               CUstream stream)                                    \
    {                                                                                              \
        return submit_fill((CUDA_MEMSET_NODE_PARAMS){ address, 0, value, bits / 8, count, 1 },     \
                           true, stream);                                                          \
    }                                                                                              \
    CUresult gpul__record_MemsetD2D##bits(CUdeviceptr address, size_t pitch, type value,           \
                                          size_t width, size_t height)                             \
    {                                                                                              \
        return submit_fill(                                                                        \
            (CUDA_MEMSET_NODE_PARAMS){ address, pitch, value, bits / 8, width, height }, false,    \
            NULL);                                                                                 \
    }                                                                                              \
    CUresult gpul__record_MemsetD2D##bits##Async(CUdeviceptr address, size_t pitch, type value,    \
                                                 size_t width, size_t height, CUstream stream)     \
    {                                                                                              \
        return submit_fill(                                                                        \
            (CUDA_MEMSET_NODE_PARAMS){ address, pitch, value, bits / 8, width, height }, true,     \
            stream);                                                                               \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
