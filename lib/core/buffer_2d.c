/* Memory in two dimensions: rows that begin a pitch apart.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/texture.h"

static gpul_status fail_pitch(const char *call, const char *role, size_t pitch, size_t width)
{
    return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                      "%s: the %s's rows of %zu bytes are longer than its pitch of %zu", call, role,
                      width, pitch);
}

static gpul_status fail_large(const char *call, const char *role, size_t width, size_t height)
{
    return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                      "%s: %zu rows of %zu bytes are more of the %s than can be addressed", call,
                      height, width, role);
}

/* A rectangle that was checked. */
typedef struct rectangle {
    CUmemorytype kind;
    void *host;
    CUdeviceptr address; /* of its first byte */
    CUarray array;
    size_t pitch, x, y, span;
    gpul_device *device; /* NULL: the host */
} rectangle;

static gpul_status check_array(const char *role, const gpul_plane *plane, size_t width,
                               size_t height)
{
    const gpul_array *array = plane->array;
    size_t row = array->width * array->element, rows = array->height ? array->height : 1;
    if (plane->offset > row || width > row - plane->offset || plane->row > rows ||
        height > rows - plane->row)
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = "gpul_copy_2d"),
                          "gpul_copy_2d: %zu rows of %zu bytes from row %zu, byte %zu on lie "
                          "outside the %s, an array of %zu rows of %zu bytes",
                          height, width, plane->row, plane->offset, role, rows, row);
    if (plane->pitch)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_copy_2d"),
                          "gpul_copy_2d: an array has no pitch, and the %s's is %zu", role,
                          plane->pitch);
    return GPUL_OK;
}

static gpul_status check_plane(rectangle *out, const char *role, const gpul_plane *plane,
                               size_t width, size_t height)
{
    static const char call[] = "gpul_copy_2d";
    *out = (rectangle){ .pitch = plane->pitch ? plane->pitch : width };
    if (!!plane->buffer + !!plane->host + !!plane->array != 1)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "%s: the %s must be exactly one of a buffer, host memory and an array",
                          call, role);
    if (plane->array) {
        out->kind = CU_MEMORYTYPE_ARRAY;
        out->array = plane->array->handle;
        out->device = plane->array->device;
        out->x = plane->offset;
        out->y = plane->row;
        return check_array(role, plane, width, height);
    }
    if (plane->row)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "%s: only an array has a first row; the %s's offset says where it begins",
                          call, role);
    if (out->pitch < width) return fail_pitch(call, role, out->pitch, width);
    if (!gpul__rows_span(&out->span, out->pitch, width, height))
        return fail_large(call, role, width, height);
    if (plane->host) {
        out->kind = CU_MEMORYTYPE_HOST;
        out->host = (char *)plane->host + plane->offset;
        return GPUL_OK;
    }
    out->kind = CU_MEMORYTYPE_DEVICE;
    out->device = plane->buffer->device;
    out->address = plane->buffer->address + plane->offset;
    return gpul__check_range(call, role, plane->buffer, plane->offset, out->span);
}

/* With one pitch, rows that interleave are told from rows that share bytes; else the whole spans count. */
static bool overlap(const rectangle *a, const rectangle *b, size_t width, size_t height)
{
    if (a->kind != CU_MEMORYTYPE_DEVICE || b->kind != CU_MEMORYTYPE_DEVICE) return false;
    const rectangle *low = a->address <= b->address ? a : b, *high = low == a ? b : a;
    CUdeviceptr apart = high->address - low->address;
    if (apart >= low->span) return false;
    if (a->pitch != b->pitch) return true;
    CUdeviceptr rows = apart / a->pitch, rest = apart % a->pitch;
    return (rows < height && rest < width) || (rows + 1 < height && a->pitch - rest < width);
}

gpul_status gpul_copy_2d(const gpul_plane *destination, const gpul_plane *source, size_t width,
                         size_t height, gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(source);
    if (!width || !height) return GPUL_OK;
    rectangle to, from;
    gpul_status status = check_plane(&to, "destination", destination, width, height);
    if (status == GPUL_OK) status = check_plane(&from, "source", source, width, height);
    if (status != GPUL_OK) return status;
    if (!to.device && !from.device)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_copy_2d"),
                          "gpul_copy_2d: both sides are host memory, and no device is named");
    if (to.device && from.device && to.device != from.device)
        return gpul__fail(GPUL__ARGS_FOREIGN,
                          (.call = "gpul_copy_2d",
                           .hint = "gpul_copy copies between devices, a row or a whole at a time"),
                          "gpul_copy_2d: source and destination belong to different devices");
    if (overlap(&to, &from, width, height))
        return gpul__fail(
            GPUL__MEMORY_OVERLAP, (.call = "gpul_copy_2d", .hint = "copy through a second buffer"),
            "source and destination overlap: %zu rows of %zu bytes, their starts "
            "%llu bytes apart",
            height, width,
            (unsigned long long)(to.address > from.address ? to.address - from.address
                                                           : from.address - to.address));
    CUDA_MEMCPY2D copy = { .srcXInBytes = from.x,
                           .srcY = from.y,
                           .srcMemoryType = from.kind,
                           .srcHost = from.host,
                           .srcDevice = from.address,
                           .srcArray = from.array,
                           .srcPitch = from.pitch,
                           .dstXInBytes = to.x,
                           .dstY = to.y,
                           .dstMemoryType = to.kind,
                           .dstHost = to.host,
                           .dstDevice = to.address,
                           .dstArray = to.array,
                           .dstPitch = to.pitch,
                           .WidthInBytes = width,
                           .Height = height };
    gpul__transfer t = { .call = "gpul_copy_2d",
                         .device = to.device ? to.device : from.device,
                         .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(t.device), Memcpy2DAsync, &copy, t.stream);
    return gpul__transfer_finish(&t, result, "cuMemcpy2DAsync");
}

gpul_status gpul_fill_2d(gpul_buffer *destination, size_t offset, size_t pitch, size_t width,
                         size_t height, const void *pattern, size_t pattern_size,
                         gpul_stream *stream)
{
    static const char call[] = "gpul_fill_2d";
    GPUL__NEED(destination);
    GPUL__NEED(pattern);
    size_t span;
    gpul_status status = gpul__check_pattern(destination, offset, width, pattern_size);
    if (status != GPUL_OK || !width || !height) return status;
    if (!pitch) pitch = width;
    if (pitch < width) return fail_pitch(call, "destination", pitch, width);
    if (!gpul__rows_span(&span, pitch, width, height))
        return fail_large(call, "destination", width, height);
    if (pitch % pattern_size)
        return gpul__fail(GPUL__MEMORY_PATTERN, (.call = call),
                          "a pitch of %zu bytes is not whole patterns of %zu bytes", pitch,
                          pattern_size);
    status = gpul__check_range(call, "destination", destination, offset, span);
    if (status != GPUL_OK) return status;
    gpul__transfer t = { .call = call, .device = destination->device, .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(t.device);
    CUdeviceptr to = destination->address + offset;
    uint32_t value = gpul__pattern_number(pattern, pattern_size);
    size_t count = width / pattern_size;
    CUresult result;
    if (pattern_size == 1)
        result = GPUL__CALL(driver, MemsetD2D8Async, to, pitch, (unsigned char)value, count, height,
                            t.stream);
    else if (pattern_size == 2)
        result = GPUL__CALL(driver, MemsetD2D16Async, to, pitch, (unsigned short)value, count,
                            height, t.stream);
    else result = GPUL__CALL(driver, MemsetD2D32Async, to, pitch, value, count, height, t.stream);
    return gpul__transfer_finish(&t, result, "cuMemsetD2DAsync");
}

gpul_status gpul_alloc_2d(gpul_buffer **out, size_t *pitch, gpul_device *device, size_t width,
                          size_t height, const gpul_alloc_opts *opts)
{
    static const char call[] = "gpul_alloc_2d";
    GPUL__OUT(out, NULL);
    GPUL__OUT(pitch, 0);
    GPUL__NEED(device);
    if (!width || !height)
        return gpul__fail(GPUL__MEMORY_ZERO, (.call = call), "%zu rows of %zu bytes are none",
                          height, width);
    int unit = 0;
    const gpul__driver *driver = gpul__api(device);
    if (driver->DeviceGetAttribute(&unit, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device->handle) !=
            CUDA_SUCCESS ||
        unit <= 0)
        unit = 512;
    size_t row, size;
    if (__builtin_add_overflow(width, (size_t)unit - 1, &row) ||
        __builtin_mul_overflow(row - row % (size_t)unit, height, &size))
        return fail_large(call, "memory", width, height);
    row -= row % (size_t)unit;
    gpul_alloc_opts empty = { 0 };
    if (opts) empty = *opts;
    empty.init = NULL;
    gpul_status status = gpul_alloc(out, device, size, &empty);
    if (status == GPUL_OK && opts && opts->init) {
        const gpul_plane to = { .buffer = *out, .pitch = row };
        const gpul_plane from = { .host = (void *)(uintptr_t)opts->init };
        status = gpul_copy_2d(&to, &from, width, height, opts->stream);
        if (status == GPUL_OK && opts->stream) status = gpul_stream_sync(opts->stream);
        if (status != GPUL_OK) gpul_buffer_free(out);
    }
    if (status == GPUL_OK) *pitch = row;
    return status;
}
