/* Textures and surfaces.  What the driver would take in another sense than the caller's is refused here.
 * SPDX-License-Identifier: MIT */
#include "core/texture.h"

#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"

struct gpul_texture {
    gpul_device *device; /* a reference */
    gpul_array *array;   /* a reference, or NULL */
    gpul_buffer *buffer; /* a reference, or NULL */
    bool surface;
    unsigned long long handle;
};

#define INVALID(...) gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_texture_new"), __VA_ARGS__)

static bool is_mipmap(const gpul_texture_opts *o)
{
    return o->array && o->array->mipmap && !o->surface;
}

static gpul_status check_levels(const gpul_texture_opts *o)
{
    bool asked = o->mip_linear || o->mip_bias != 0 || o->mip_min != 0 || o->mip_max != 0;
    if (!is_mipmap(o))
        return asked ? INVALID("mip_linear, mip_bias, mip_min and mip_max are for an array of "
                               "several levels")
                     : GPUL_OK;
    if (!o->normalized)
        return INVALID("a mipmap is read by normalized coordinates, as its levels differ in size");
    if (o->mip_linear && !o->linear)
        return INVALID("mip_linear needs linear: levels are interpolated of what is interpolated");
    float last = (float)(o->array->levels - 1), most = o->mip_max != 0 ? o->mip_max : last;
    if (!(o->mip_min >= 0 && o->mip_min <= most && most <= last))
        return INVALID("levels %g to %g of an array whose last is %g", (double)o->mip_min,
                       (double)most, (double)last);
    return GPUL_OK;
}

static gpul_status check_reading(const gpul_texture_opts *o, gpul_type type)
{
    bool is_float = type == GPUL_F16 || type == GPUL_F32;
    bool narrow = !is_float && gpul_type_size(type) <= 2;
    if (o->as_float && !narrow)
        return INVALID("as_float is for integers of 8 and 16 bits, and these are %s",
                       gpul_type_name(type));
    if (o->srgb && type != GPUL_U8)
        return INVALID("srgb is for 8-bit channels, and these are %s", gpul_type_name(type));
    if (o->linear && !is_float && !o->as_float)
        return INVALID("only floats are interpolated, and these are %s: set as_float, or leave "
                       "linear out",
                       gpul_type_name(type));
    gpul_status status = check_levels(o);
    if (status != GPUL_OK) return status;
    if (o->anisotropy > 16)
        return INVALID("anisotropy is %u: 16 samples are the most", o->anisotropy);
    for (int i = 0; i < 3; i++) {
        if ((unsigned)o->edge[i] > GPUL_EDGE_MIRROR)
            return INVALID("edge[%d] is %d, which is none of gpul_edge", i, (int)o->edge[i]);
        if (o->edge[i] >= GPUL_EDGE_WRAP && !o->normalized)
            return INVALID("edge[%d] is %s, which needs normalized coordinates", i,
                           o->edge[i] == GPUL_EDGE_WRAP ? "GPUL_EDGE_WRAP" : "GPUL_EDGE_MIRROR");
    }
    return GPUL_OK;
}

/* A buffer as the texture sees it. */
static gpul_status describe_buffer(CUDA_RESOURCE_DESC *out, gpul_type *type,
                                   const gpul_texture_opts *o)
{
    const gpul_buffer *buffer = o->buffer;
    unsigned channels = o->channels ? o->channels : 1;
    CUarray_format format;
    size_t element, row, span;
    *type = o->type ? o->type : buffer->type;
    if (!gpul__channel_format(&format, &element, *type))
        return INVALID("textures read integers of 8, 16 and 32 bits, half and float; the buffer's "
                       "type is %s",
                       gpul_type_name(*type));
    if (channels != 1 && channels != 2 && channels != 4)
        return INVALID("an element of %u channels: 1, 2 and 4 are possible", channels);
    element *= channels;
    if (!o->height) {
        size_t elements = buffer->size / element;
        uint32_t most = buffer->device->info.texture_1d_linear;
        if (o->width || o->pitch || o->linear || o->normalized)
            return INVALID("width, pitch, linear and normalized are for two dimensions, and height "
                           "is 0");
        if (elements == 0) return INVALID("the buffer is smaller than an element");
        if (most && elements > most)
            return INVALID("%zu elements are more than the %u that a texture of a buffer reads",
                           elements, most);
        out->resType = CU_RESOURCE_TYPE_LINEAR;
        out->res.linear.devPtr = buffer->address;
        out->res.linear.format = format;
        out->res.linear.numChannels = channels;
        out->res.linear.sizeInBytes = elements * element;
        return GPUL_OK;
    }
    if (!o->width) return INVALID("height is %zu, and width is 0", o->height);
    if (__builtin_mul_overflow(o->width, element, &row)) return INVALID("the width overflows");
    size_t pitch = o->pitch ? o->pitch : row;
    if (pitch < row)
        return INVALID("rows of %zu bytes are longer than the pitch of %zu", row, pitch);
    if (!gpul__rows_span(&span, pitch, row, o->height)) return INVALID("the size overflows");
    gpul_status status = gpul__check_range("gpul_texture_new", "texture", buffer, 0, span);
    if (status != GPUL_OK) return status;
    out->resType = CU_RESOURCE_TYPE_PITCH2D;
    out->res.pitch2D.devPtr = buffer->address;
    out->res.pitch2D.format = format;
    out->res.pitch2D.numChannels = channels;
    out->res.pitch2D.width = o->width;
    out->res.pitch2D.height = o->height;
    out->res.pitch2D.pitchInBytes = pitch;
    return GPUL_OK;
}

static CUDA_TEXTURE_DESC describe_reading(const gpul_texture_opts *o, gpul_type type)
{
    static const CUaddress_mode edges[] = { CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER,
                                            CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR };
    bool is_float = type == GPUL_F16 || type == GPUL_F32;
    CUDA_TEXTURE_DESC desc = {
        .filterMode = o->linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
        .flags = (is_float || o->as_float ? 0u : CU_TRSF_READ_AS_INTEGER) |
                 (o->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                 (o->srgb ? CU_TRSF_SRGB : 0u),
        .maxAnisotropy = o->anisotropy,
    };
    if (is_mipmap(o)) {
        desc.mipmapFilterMode = o->mip_linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        desc.mipmapLevelBias = o->mip_bias;
        desc.minMipmapLevelClamp = o->mip_min;
        desc.maxMipmapLevelClamp = o->mip_max != 0 ? o->mip_max : (float)(o->array->levels - 1);
    }
    for (int i = 0; i < 3; i++) desc.addressMode[i] = edges[o->edge[i]];
    memcpy(desc.borderColor, o->border, sizeof desc.borderColor);
    return desc;
}

static void destroy(gpul_texture *texture)
{
    const gpul__driver *driver = gpul__api(texture->device);
    bool pushed;
    if (texture->handle && gpul__enter_quietly(texture->device, &pushed)) {
        if (texture->surface) driver->SurfObjectDestroy(texture->handle);
        else driver->TexObjectDestroy(texture->handle);
        gpul__leave(texture->device, pushed);
    }
    gpul_array_free(&texture->array);
    gpul_buffer_free(&texture->buffer);
    gpul__device_drop(texture->device);
    gpul__free(texture);
}

static gpul_status check(CUDA_RESOURCE_DESC *resource, gpul_type *type, const gpul_texture_opts *o)
{
    if (!o->array == !o->buffer)
        return INVALID("a texture is of exactly one of an array and a buffer");
    if (o->surface && (!o->array || !o->array->surface))
        return INVALID("a surface needs an array that was made with .surface = true");
    if (o->array) {
        if (o->type || o->channels || o->width || o->height || o->pitch)
            return INVALID("type, channels, width, height and pitch are the array's own");
        *type = o->array->type;
        if (is_mipmap(o)) {
            resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            resource->res.mipmap.hMipmappedArray = o->array->mipmap;
        } else {
            resource->resType = CU_RESOURCE_TYPE_ARRAY;
            resource->res.array.hArray = o->array->handle;
        }
    } else {
        gpul_status status = describe_buffer(resource, type, o);
        if (status != GPUL_OK) return status;
    }
    return o->surface ? GPUL_OK : check_reading(o, *type);
}

/* With the context current. */
static CUresult create(gpul_texture *texture, const CUDA_RESOURCE_DESC *resource,
                       const gpul_texture_opts *o, gpul_type type, const char **entry)
{
    const gpul__driver *driver = gpul__api(texture->device);
    *entry = o->surface ? "cuSurfObjectCreate" : "cuTexObjectCreate";
    if (o->surface && driver->SurfObjectDestroy)
        return GPUL__CALL(driver, SurfObjectCreate, &texture->handle, resource);
    CUDA_TEXTURE_DESC desc = describe_reading(o, type);
    if (!o->surface && driver->TexObjectDestroy)
        return GPUL__CALL(driver, TexObjectCreate, &texture->handle, resource, &desc, NULL);
    return CUDA_ERROR_NOT_SUPPORTED;
}

gpul_status gpul_texture_new(gpul_texture **out, const gpul_texture_opts *opts)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(opts);
    CUDA_RESOURCE_DESC resource;
    gpul_type type = GPUL_TYPE_UNKNOWN;
    memset(&resource, 0, sizeof resource);
    gpul_status status = check(&resource, &type, opts);
    if (status != GPUL_OK) return status;
    gpul_texture *texture = gpul__calloc(1, sizeof *texture);
    if (!texture) return gpul__no_memory();
    texture->device = opts->array ? opts->array->device : opts->buffer->device;
    texture->array = opts->array;
    texture->buffer = opts->buffer;
    texture->surface = opts->surface;
    gpul__device_take(texture->device);
    if (texture->array) gpul__refs_take(&texture->array->refs);
    if (texture->buffer) gpul__buffer_take(texture->buffer);
    bool pushed;
    status = gpul__enter(texture->device, &pushed, "gpul_texture_new");
    if (status == GPUL_OK) {
        const char *entry;
        CUresult result = create(texture, &resource, opts, type, &entry);
        status = gpul__leave_with(texture->device, pushed, GPUL__MEMORY_FAILED, result, entry,
                                  opts->surface ? "a surface cannot be made"
                                                : "a texture cannot be made");
        if (result == CUDA_ERROR_INVALID_VALUE && opts->buffer &&
            !atomic_load(&texture->device->fault))
            gpul__hint("the address or the pitch may not be aligned as textures need it: "
                       "gpul_alloc_2d gives memory that is");
    }
    if (status == GPUL_OK) *out = texture;
    else destroy(texture);
    return status;
}

void gpul_texture_free(gpul_texture **texture)
{
    if (!texture) return;
    if (*texture) destroy(*texture);
    *texture = NULL;
}

uint64_t gpul_texture_handle(const gpul_texture *texture)
{
    return texture ? texture->handle : 0;
}
