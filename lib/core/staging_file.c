/* From a file to a device without the whole file in host memory.  SPDX-License-Identifier: MIT */
#include "core/staging.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/stream.h"

enum { SMALL_PIECE = 1 << 20 };

int gpul__staging_read(int file, char *out, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(file, out + done, size - done, (off_t)(offset + done));
        if (got > 0) done += (size_t)got;
        else if (got == 0) return -1;
        else if (errno != EINTR) return errno;
    }
    return 0;
}

/* One piece after the other through ordinary memory; false: there is none. */
static bool copy_small(gpul__staged *copy, CUresult *result, const char **entry)
{
    const gpul__driver *driver = gpul__api(copy->device);
    size_t piece = copy->size < SMALL_PIECE ? copy->size : SMALL_PIECE;
    char *memory = gpul__malloc(piece);
    if (!memory) return false;
    copy->error = 0;
    *result = CUDA_SUCCESS;
    for (size_t at = 0; at < copy->size && *result == CUDA_SUCCESS && !copy->error; at += piece) {
        size_t size = copy->size - at < piece ? copy->size - at : piece;
        copy->error = gpul__staging_read(copy->file, memory, size, copy->file_offset + at);
        if (copy->error) break;
        *entry = "cuMemcpyHtoDAsync";
        *result = driver->MemcpyHtoDAsync(copy->address + at, memory, size, copy->stream);
        if (*result != CUDA_SUCCESS) break;
        *entry = "cuStreamSynchronize";
        *result = driver->StreamSynchronize(copy->stream);
    }
    gpul__free(memory);
    return true;
}

gpul_status gpul_write_file(gpul_buffer *destination, size_t offset, int file, uint64_t file_offset,
                            size_t size)
{
    static const char call[] = "gpul_write_file";
    GPUL__NEED(destination);
    gpul_status status = gpul__check_range(call, "destination", destination, offset, size);
    if (status != GPUL_OK || size == 0) return status;
    if (file_offset > INT64_MAX - size)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "%s: no file has %zu bytes at offset %llu", call, size,
                          (unsigned long long)file_offset);
    gpul__transfer t = { .call = call, .device = destination->device };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    gpul__staged copy = { .device = t.device,
                          .stream = t.stream,
                          .address = destination->address + offset,
                          .size = size,
                          .file = file,
                          .file_offset = file_offset };
    CUresult result = CUDA_SUCCESS;
    const char *entry = "cuMemcpyHtoDAsync";
    bool done = size >= GPUL__STAGING_LEAST && gpul__staging_copy(&copy, &result, &entry);
    if (!done) done = copy_small(&copy, &result, &entry);
    status = gpul__transfer_finish(&t, result, entry);
    if (status != GPUL_OK) return status;
    if (!done) return gpul__no_memory();
    if (copy.error < 0)
        return gpul__fail(
            GPUL__FILE_OPEN, (.call = call),
            "%s: the file ends before byte %llu: %zu bytes from %llu on were asked for", call,
            (unsigned long long)(file_offset + size), size, (unsigned long long)file_offset);
    if (copy.error)
        return gpul__fail(GPUL__FILE_OPEN,
                          (.call = "pread", .native_kind = GPUL_NATIVE_ERRNO, .native = copy.error),
                          "%s: the file cannot be read: %s", call, strerror(copy.error));
    return GPUL_OK;
}
