/* Memory in two dimensions: rows that begin a pitch apart.  SPDX-License-Identifier: MIT */
#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"

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
    if (pitch < width) return gpul__fail_pitch(call, "destination", pitch, width);
    if (!gpul__rows_span(&span, pitch, width, height))
        return gpul__fail_large(call, "destination", width, height, 1);
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
        return gpul__fail_large(call, "memory", width, height, 1);
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
