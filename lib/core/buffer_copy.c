/* Copies between host and device, between buffers, and fills.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/peer.h"
#include "core/staging.h"
#include "core/stream.h"

gpul_status gpul__check_range(const char *call, const char *role, const gpul_buffer *buffer,
                              size_t offset, size_t size)
{
    if (offset <= buffer->size && size <= buffer->size - offset) return GPUL_OK;
    gpul__str title = { 0 };
    gpul__buffer_title(&title, buffer);
    gpul__fail(GPUL__MEMORY_RANGE, (.call = call, .hint = "offsets and sizes are bytes"),
               "%s: %zu bytes at offset %zu lie outside the %s, %s, which has %zu bytes", call,
               size, offset, role, gpul__str_text(&title), buffer->size);
    gpul__str_free(&title);
    return gpul_last_error()->status;
}

gpul_status gpul__check_overlap(const char *call, CUdeviceptr to, CUdeviceptr from, size_t size)
{
    if (to >= from + size || from >= to + size) return GPUL_OK;
    return gpul__fail(GPUL__MEMORY_OVERLAP, (.call = call, .hint = "copy through a second buffer"),
                      "source and destination overlap: %zu bytes, their starts %llu bytes apart",
                      size, (unsigned long long)(to > from ? to - from : from - to));
}

uint32_t gpul__pattern_number(const void *pattern, size_t size)
{
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    if (size == 1) return memcpy(&byte, pattern, 1), byte;
    if (size == 2) return memcpy(&half, pattern, 2), half;
    return memcpy(&word, pattern, 4), word;
}

gpul_status gpul__transfer_begin(gpul__transfer *t)
{
    gpul_status status =
        gpul__stream_of(&t->stream, &t->stream_id, t->device, t->caller_stream, t->call);
    return status == GPUL_OK ? gpul__enter(t->device, &t->pushed, t->call) : status;
}

/* Without a stream of the caller's the operation is waited for. */
gpul_status gpul__transfer_finish(gpul__transfer *t, CUresult result, const char *entry)
{
    if (result == CUDA_SUCCESS && !t->caller_stream) {
        entry = "cuStreamSynchronize";
        result = gpul__stream_wait(t->device, t->stream, t->stream_id);
    }
    gpul__leave(t->device, t->pushed);
    if (result != CUDA_SUCCESS)
        return gpul__refused(t->device,
                             &(gpul__refusal){ GPUL__MEMORY_FAILED, result, entry, NULL, 0 }, "%s",
                             t->call);
    if (!t->caller_stream) gpul__tell_cpu_warnings(t->device);
    return GPUL_OK;
}

/* Where the host reaches a buffer too, the driver finds out by the addresses on which side each one is. */
static bool by_address(const gpul_buffer *buffer, const gpul__driver *driver)
{
    return buffer->host && driver->MemcpyAsync;
}

/* A large copy of pageable memory that is waited for anyway.  False: not one of those. */
static bool copy_staged(const gpul__transfer *t, const void *host, gpul__staged copy,
                        CUresult *result, const char **entry)
{
    if (t->caller_stream) return false;
    copy.device = t->device;
    copy.stream = t->stream;
    return gpul__staging_suits(t->device, host, copy.size) &&
           gpul__staging_copy(&copy, result, entry);
}

gpul_status gpul_write(gpul_buffer *destination, size_t offset, const void *source, size_t size,
                       gpul_stream *stream)
{
    GPUL__NEED(destination);
    if (size) GPUL__NEED(source);
    gpul_status status = gpul__check_range("gpul_write", "destination", destination, offset, size);
    if (status != GPUL_OK || size == 0) return status;
    gpul__transfer t = { .call = "gpul_write",
                         .device = destination->device,
                         .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    CUdeviceptr to = destination->address + offset;
    const gpul__driver *driver = gpul__api(t.device);
    CUresult result;
    const char *entry = "cuMemcpyHtoDAsync";
    gpul__staged staged = { .address = to, .size = size, .from = source };
    if (by_address(destination, driver)) {
        entry = "cuMemcpyAsync";
        result = driver->MemcpyAsync(to, (CUdeviceptr)(uintptr_t)source, size, t.stream);
    } else if (!copy_staged(&t, source, staged, &result, &entry)) {
        result = driver->MemcpyHtoDAsync(to, source, size, t.stream);
    }
    return gpul__transfer_finish(&t, result, entry);
}

gpul_status gpul_read(void *destination, const gpul_buffer *source, size_t offset, size_t size,
                      gpul_stream *stream)
{
    GPUL__NEED(source);
    if (size) GPUL__NEED(destination);
    gpul_status status = gpul__check_range("gpul_read", "source", source, offset, size);
    if (status != GPUL_OK || size == 0) return status;
    gpul__transfer t = { .call = "gpul_read", .device = source->device, .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    CUdeviceptr from = source->address + offset;
    const gpul__driver *driver = gpul__api(t.device);
    CUresult result;
    const char *entry = "cuMemcpyDtoHAsync";
    gpul__staged staged = { .address = from, .size = size, .to = destination };
    if (by_address(source, driver)) {
        entry = "cuMemcpyAsync";
        result = driver->MemcpyAsync((CUdeviceptr)(uintptr_t)destination, from, size, t.stream);
    } else if (!copy_staged(&t, destination, staged, &result, &entry)) {
        result = driver->MemcpyDtoHAsync(destination, from, size, t.stream);
    }
    return gpul__transfer_finish(&t, result, entry);
}

gpul_status gpul_copy(gpul_buffer *destination, size_t destination_offset,
                      const gpul_buffer *source, size_t source_offset, size_t size,
                      gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(source);
    gpul_status status =
        gpul__check_range("gpul_copy", "destination", destination, destination_offset, size);
    if (status == GPUL_OK)
        status = gpul__check_range("gpul_copy", "source", source, source_offset, size);
    if (status != GPUL_OK || size == 0) return status;
    if (destination->device != source->device)
        return gpul__copy_peer(destination, destination_offset, source, source_offset, size,
                               stream);
    CUdeviceptr to = destination->address + destination_offset;
    CUdeviceptr from = source->address + source_offset;
    status = gpul__check_overlap("gpul_copy", to, from, size);
    if (status != GPUL_OK) return status;
    gpul__transfer t = { .call = "gpul_copy",
                         .device = destination->device,
                         .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(t.device);
    if (by_address(destination, driver) || by_address(source, driver))
        return gpul__transfer_finish(&t, driver->MemcpyAsync(to, from, size, t.stream),
                                     "cuMemcpyAsync");
    CUresult result = driver->MemcpyDtoDAsync(to, from, size, t.stream);
    return gpul__transfer_finish(&t, result, "cuMemcpyDtoDAsync");
}

gpul_status gpul__check_pattern(const gpul_buffer *destination, size_t offset, size_t size,
                                size_t pattern)
{
    if (pattern != 1 && pattern != 2 && pattern != 4)
        return gpul__fail(GPUL__MEMORY_PATTERN, (.call = "gpul_fill"),
                          "a pattern of %zu bytes cannot be repeated: 1, 2 and 4 can", pattern);
    if (offset % pattern || size % pattern)
        return gpul__fail(GPUL__MEMORY_PATTERN, (.call = "gpul_fill"),
                          "%zu bytes at offset %zu are not whole patterns of %zu bytes", size,
                          offset, pattern);
    if ((destination->address + offset) % pattern)
        return gpul__fail(
            GPUL__MEMORY_PATTERN,
            (.call = "gpul_fill", .hint = "the view starts at an odd place in its parent"),
            "the place to fill is not aligned to the pattern's %zu bytes", pattern);
    return GPUL_OK;
}

gpul_status gpul_fill(gpul_buffer *destination, size_t offset, size_t size, const void *pattern,
                      size_t pattern_size, gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(pattern);
    gpul_status status = gpul__check_range("gpul_fill", "destination", destination, offset, size);
    if (status == GPUL_OK) status = gpul__check_pattern(destination, offset, size, pattern_size);
    if (status != GPUL_OK || size == 0) return status;
    gpul__transfer t = { .call = "gpul_fill",
                         .device = destination->device,
                         .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(t.device);
    CUdeviceptr to = destination->address + offset;
    uint32_t value = gpul__pattern_number(pattern, pattern_size);
    CUresult result;
    switch (pattern_size) {
    case 1:
        result = driver->MemsetD8Async(to, (unsigned char)value, size, t.stream);
        return gpul__transfer_finish(&t, result, "cuMemsetD8Async");
    case 2:
        result = driver->MemsetD16Async(to, (unsigned short)value, size / 2, t.stream);
        return gpul__transfer_finish(&t, result, "cuMemsetD16Async");
    default:
        result = driver->MemsetD32Async(to, value, size / 4, t.stream);
        return gpul__transfer_finish(&t, result, "cuMemsetD32Async");
    }
}
