/* Arrays and mipmaps: their life.  Copies are in copy_box.c.  SPDX-License-Identifier: MIT */
#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/texture.h"

bool gpul__channel_format(CUarray_format *out, size_t *bytes, gpul_type type)
{
    static const struct {
        gpul_type type;
        CUarray_format format;
    } formats[] = {
        { GPUL_U8, CU_AD_FORMAT_UNSIGNED_INT8 },   { GPUL_I8, CU_AD_FORMAT_SIGNED_INT8 },
        { GPUL_U16, CU_AD_FORMAT_UNSIGNED_INT16 }, { GPUL_I16, CU_AD_FORMAT_SIGNED_INT16 },
        { GPUL_U32, CU_AD_FORMAT_UNSIGNED_INT32 }, { GPUL_I32, CU_AD_FORMAT_SIGNED_INT32 },
        { GPUL_F16, CU_AD_FORMAT_HALF },           { GPUL_F32, CU_AD_FORMAT_FLOAT },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].type != type) continue;
        *out = formats[i].format;
        *bytes = gpul_type_size(type);
        return true;
    }
    return false;
}

static void drop(gpul_array *array)
{
    if (!gpul__refs_drop(&array->refs)) return;
    bool pushed;
    if (array->whole) {
        drop(array->whole); /* which has the memory of its levels */
    } else if ((array->handle || array->mipmap) && gpul__enter_quietly(array->device, &pushed)) {
        if (array->mipmap) gpul__api(array->device)->MipmappedArrayDestroy(array->mipmap);
        else gpul__api(array->device)->ArrayDestroy(array->handle);
        gpul__leave(array->device, pushed);
    }
    gpul__device_drop(array->device);
    gpul__free(array->name);
    gpul__free(array);
}

void gpul_array_free(gpul_array **array)
{
    if (!array) return;
    if (*array) drop(*array);
    *array = NULL;
}

static gpul_status fail_shape(const gpul_array_opts *o, const char *why)
{
    return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_array_new"),
                      "an array of %zux%zux%zu elements%s%s cannot be: %s", o->width, o->height,
                      o->depth, o->layered ? ", layered" : "", o->cube ? ", of cubes" : "", why);
}

/* The levels until every extent is 1; layers are not halved. */
static unsigned most_levels(const gpul_array_opts *o)
{
    size_t largest = o->width > o->height ? o->width : o->height;
    if (!o->layered && !o->cube && o->depth > largest) largest = o->depth;
    unsigned levels = 1;
    for (; largest > 1; largest >>= 1) levels++;
    return levels;
}

static gpul_status check_shape(const gpul_array_opts *o, size_t element, size_t *bytes)
{
    size_t rows = o->height ? o->height : 1, layers = o->depth ? o->depth : 1;
    if (o->width == 0)
        return gpul__fail(GPUL__MEMORY_ZERO, (.call = "gpul_array_new"), "an array without width");
    if (o->layered && !o->depth) return fail_shape(o, "depth, the number of layers, is 0");
    if (o->depth && !o->height && !o->layered)
        return fail_shape(o, "height is 0, and depth is not");
    if (o->cube &&
        (o->width != o->height || o->depth % 6 || !o->depth || (!o->layered && o->depth != 6)))
        return fail_shape(o, "a cube has six faces that are as wide as high");
    if (o->gather && (!o->height || o->depth)) return fail_shape(o, "gather needs two dimensions");
    unsigned most = most_levels(o);
    if (o->levels > most)
        return gpul__fail(
            GPUL__ARGS_INVALID, (.call = "gpul_array_new"),
            "%u levels of %zux%zux%zu elements: the last of %u is one element already", o->levels,
            o->width, o->height, o->depth, most);
    if (__builtin_mul_overflow(o->width, element, bytes) ||
        __builtin_mul_overflow(*bytes, rows, bytes) ||
        __builtin_mul_overflow(*bytes, layers, bytes))
        return fail_shape(o, "its size overflows");
    return GPUL_OK;
}

/* *entry gets the name of the last entry that was called. */
static CUresult create(gpul_array *array, const gpul_array_opts *o, CUarray_format format,
                       const char **entry)
{
    const gpul__driver *driver = gpul__api(array->device);
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = o->width,
        .Height = o->height,
        .Depth = o->depth,
        .Format = format,
        .NumChannels = array->channels,
        .Flags = (o->layered ? CUDA_ARRAY3D_LAYERED : 0u) |
                 (o->surface ? CUDA_ARRAY3D_SURFACE_LDST : 0u) |
                 (o->cube ? CUDA_ARRAY3D_CUBEMAP : 0u) |
                 (o->gather ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u),
    };
    *entry = o->levels > 1 ? "cuMipmappedArrayCreate" : "cuArray3DCreate";
    if (o->levels <= 1)
        return driver->ArrayDestroy ? GPUL__CALL(driver, Array3DCreate, &array->handle, &desc)
                                    : CUDA_ERROR_NOT_SUPPORTED;
    if (!driver->MipmappedArrayDestroy || !driver->MipmappedArrayGetLevel)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = GPUL__CALL(driver, MipmappedArrayCreate, &array->mipmap, &desc, o->levels);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuMipmappedArrayGetLevel";
    return driver->MipmappedArrayGetLevel(&array->handle, array->mipmap, 0);
}

gpul_status gpul_array_new(gpul_array **out, gpul_device *device, const gpul_array_opts *opts)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(opts);
    CUarray_format format;
    size_t channel, bytes = 0;
    unsigned channels = opts->channels ? opts->channels : 1;
    if (!gpul__channel_format(&format, &channel, opts->type))
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_array_new"),
                          "arrays hold integers of 8, 16 and 32 bits, half and float, and not %s",
                          gpul_type_name(opts->type));
    if (channels != 1 && channels != 2 && channels != 4)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_array_new"),
                          "an element of %u channels: 1, 2 and 4 are possible", channels);
    gpul_status status = check_shape(opts, channel * channels, &bytes);
    if (status != GPUL_OK) return status;
    gpul_array *array = gpul__calloc(1, sizeof *array);
    if (!array) return gpul__no_memory();
    gpul__refs_init(&array->refs);
    gpul__device_take(device);
    array->device = device;
    array->width = opts->width;
    array->height = opts->height;
    array->depth = opts->depth;
    array->element = channel * channels;
    array->channels = channels;
    array->levels = opts->levels ? opts->levels : 1;
    array->layered = opts->layered || opts->cube;
    array->type = opts->type;
    array->surface = opts->surface;
    array->name = gpul__strdup(opts->name ? opts->name : "array");
    bool pushed;
    status = array->name ? gpul__enter(device, &pushed, "gpul_array_new") : gpul__no_memory();
    if (status == GPUL_OK) {
        const char *entry;
        CUresult result = create(array, opts, format, &entry);
        if (result == CUDA_ERROR_OUT_OF_MEMORY && !atomic_load(&device->fault)) {
            status = gpul__fail_exhausted(device, result, entry, bytes, array->name);
            gpul__leave(device, pushed);
        } else {
            status = gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, result, entry,
                                      "an array cannot be made");
        }
        if (result == CUDA_ERROR_INVALID_VALUE && !atomic_load(&device->fault))
            gpul__hint("the shape may be over the device's limits: texture_2d and texture_3d of "
                       "gpul_device_describe are %ux%u and %ux%ux%u",
                       device->info.texture_2d[0], device->info.texture_2d[1],
                       device->info.texture_3d[0], device->info.texture_3d[1],
                       device->info.texture_3d[2]);
    }
    if (status == GPUL_OK && opts->init) status = gpul_array_write(array, opts->init, NULL);
    if (status == GPUL_OK) *out = array;
    else drop(array);
    return status;
}

/* An extent of a level; 0 stays 0, and nothing gets smaller than 1. */
static size_t halved(size_t extent, unsigned level)
{
    size_t small = extent >> level;
    return small || !extent ? small : 1;
}

gpul_status gpul_array_level(gpul_array **out, gpul_array *mipmap, unsigned level, const char *name)
{
    static const char call[] = "gpul_array_level";
    GPUL__OUT(out, NULL);
    GPUL__NEED(mipmap);
    if (!mipmap->mipmap)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call), "%s is no mipmap: it has one level",
                          mipmap->name);
    if (level >= mipmap->levels)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "level %u of %s, which has %u: they count from 0", level, mipmap->name,
                          mipmap->levels);
    gpul_array *array = gpul__calloc(1, sizeof *array);
    if (!array) return gpul__no_memory();
    gpul__refs_init(&array->refs);
    gpul__device_take(mipmap->device);
    gpul__refs_take(&mipmap->refs);
    array->device = mipmap->device;
    array->whole = mipmap;
    array->element = mipmap->element;
    array->type = mipmap->type;
    array->channels = mipmap->channels;
    array->levels = 1;
    array->surface = mipmap->surface;
    array->layered = mipmap->layered;
    array->width = halved(mipmap->width, level);
    array->height = halved(mipmap->height, level);
    array->depth = mipmap->layered ? mipmap->depth : halved(mipmap->depth, level);
    array->name = gpul__strdup(name ? name : mipmap->name);
    bool pushed;
    gpul_status status =
        array->name ? gpul__enter(array->device, &pushed, call) : gpul__no_memory();
    if (status == GPUL_OK) {
        CUresult result =
            gpul__api(array->device)->MipmappedArrayGetLevel(&array->handle, mipmap->mipmap, level);
        status = gpul__leave_with(array->device, pushed, GPUL__MEMORY_FAILED, result,
                                  "cuMipmappedArrayGetLevel", "a level of an array cannot be had");
    }
    if (status == GPUL_OK) *out = array;
    else drop(array);
    return status;
}

gpul_status gpul_array_describe(gpul_array_info *out, const gpul_array *array)
{
    GPUL__OUT(out, (gpul_array_info){ 0 });
    GPUL__NEED(array);
    *out = (gpul_array_info){ .type = array->type,
                              .channels = array->channels,
                              .levels = array->levels,
                              .width = array->width,
                              .height = array->height,
                              .depth = array->depth };
    return GPUL_OK;
}

void *gpul_array_mipmap_handle(const gpul_array *array)
{
    return array ? array->mipmap : NULL;
}

size_t gpul_array_bytes(const gpul_array *array)
{
    if (!array) return 0;
    return array->width * array->element * (array->height ? array->height : 1) *
           (array->depth ? array->depth : 1);
}

void *gpul_array_handle(const gpul_array *array)
{
    return array ? array->handle : NULL;
}
