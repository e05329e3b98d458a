/* Kinds of memory: taking each from the driver, giving each back, and growing.  Memory that is somebody
 * else's is in buffer_outside.c.  SPDX-License-Identifier: MIT */
#include "core/buffer.h"

#include "core/context.h"
#include "core/device_failure.h"
#include "core/pool.h"
#include "core/stream.h"

static CUstream stream_of(const gpul_buffer *buffer)
{
    return buffer->stream ? buffer->stream->handle : buffer->device->stream;
}

static CUresult take_pinned(gpul_buffer *buffer, const gpul_alloc_opts *opts, const char **entry)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    unsigned flags = CU_MEMHOSTALLOC_DEVICEMAP;
    if (opts->portable) flags |= CU_MEMHOSTALLOC_PORTABLE;
    if (opts->write_combined) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
    *entry = "cuMemHostAlloc";
    CUresult result =
        GPUL__TAKE(driver, MemHostAlloc, MemFreeHost, &buffer->host, buffer->size, flags);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuMemHostGetDevicePointer";
    result = GPUL__CALL(driver, MemHostGetDevicePointer, &buffer->address, buffer->host, 0);
    if (result != CUDA_SUCCESS) driver->MemFreeHost(buffer->host);
    return result;
}

static CUresult take_pooled(gpul_buffer *buffer, const gpul_alloc_opts *opts, const char **entry)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    if (opts->stream) {
        gpul__refs_take(&opts->stream->refs);
        buffer->stream = opts->stream;
    }
    if (opts->pool) {
        gpul__pool_take(opts->pool);
        buffer->pool = opts->pool;
        *entry = "cuMemAllocFromPoolAsync";
        return GPUL__TAKE(driver, MemAllocFromPoolAsync, MemFreeAsync, &buffer->address,
                          buffer->size, gpul__pool_handle(opts->pool), stream_of(buffer));
    }
    *entry = "cuMemAllocAsync";
    return GPUL__TAKE(driver, MemAllocAsync, MemFreeAsync, &buffer->address, buffer->size,
                      stream_of(buffer));
}

/* ---- Growing ---- */

static CUmemAllocationProp physical(const gpul_buffer *buffer)
{
    return (
        CUmemAllocationProp){ .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = { CU_MEM_LOCATION_TYPE_DEVICE, buffer->device->handle } };
}

static size_t mapped_of(const gpul_buffer *buffer)
{
    size_t mapped = 0;
    for (size_t i = 0; i < buffer->piece_count; i++) mapped += buffer->pieces[i];
    return mapped;
}

/* Whole units of the device's granularity; 0: the size is too large to be one. */
static size_t round_up(size_t size, size_t unit)
{
    size_t rest = size % unit;
    if (!rest) return size;
    return size > SIZE_MAX - (unit - rest) ? 0 : size + (unit - rest);
}

/* The device's unit of physical memory, never 0. */
static CUresult ask_unit(size_t *out, const gpul_buffer *buffer, const CUmemAllocationProp *prop,
                         const char **entry)
{
    *out = 0;
    *entry = "cuMemGetAllocationGranularity";
    CUresult result = GPUL__CALL(gpul__api(buffer->device), MemGetAllocationGranularity, out, prop,
                                 CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (!*out) *out = 1;
    return result;
}

/* Maps more memory behind what is there, until `size` bytes are usable.  The mapping keeps the memory, so
 * its handle is released at once. */
static CUresult map_more(gpul_buffer *buffer, size_t size, const char **entry)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    CUmemAllocationProp prop = physical(buffer);
    CUmemGenericAllocationHandle handle;
    size_t unit, mapped = mapped_of(buffer);
    CUresult result = ask_unit(&unit, buffer, &prop, entry);
    if (result != CUDA_SUCCESS) return result;
    size = round_up(size, unit);
    if (size <= mapped) return size ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    size_t more = size - mapped;
    if (!gpul__grow(&buffer->pieces, &buffer->piece_capacity, buffer->piece_count + 1,
                    sizeof *buffer->pieces)) {
        *entry = NULL;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *entry = "cuMemCreate";
    result = GPUL__TAKE(driver, MemCreate, MemRelease, &handle, more, &prop, 0);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuMemMap";
    CUdeviceptr at = buffer->address + mapped;
    result = GPUL__TAKE(driver, MemMap, MemUnmap, at, more, 0, handle, 0);
    CUresult released = driver->MemRelease(handle);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuMemSetAccess";
    CUmemAccessDesc access = { prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    result = released == CUDA_SUCCESS ? GPUL__CALL(driver, MemSetAccess, at, more, &access, 1)
                                      : released;
    if (result != CUDA_SUCCESS) driver->MemUnmap(at, more);
    else buffer->pieces[buffer->piece_count++] = more;
    return result;
}

static void unmap_all(gpul_buffer *buffer)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    size_t end = mapped_of(buffer);
    /* Mapped memory may still be in use, and unmapping does not wait. */
    if (end) driver->CtxSynchronize();
    while (buffer->piece_count) {
        end -= buffer->pieces[--buffer->piece_count];
        driver->MemUnmap(buffer->address + end, buffer->pieces[buffer->piece_count]);
    }
    driver->MemAddressFree(buffer->address, buffer->reserved);
}

static CUresult take_growing(gpul_buffer *buffer, const gpul_alloc_opts *opts, const char **entry)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    CUmemAllocationProp prop = physical(buffer);
    size_t unit;
    CUresult result = ask_unit(&unit, buffer, &prop, entry);
    if (result != CUDA_SUCCESS) return result;
    size_t reserve = round_up(opts->reserve ? opts->reserve : buffer->size, unit);
    *entry = "cuMemAddressReserve";
    if (!reserve) return CUDA_ERROR_OUT_OF_MEMORY;
    result =
        GPUL__TAKE(driver, MemAddressReserve, MemAddressFree, &buffer->address, reserve, 0, 0, 0);
    if (result != CUDA_SUCCESS) return result;
    buffer->reserved = reserve;
    result = map_more(buffer, buffer->size, entry);
    if (result != CUDA_SUCCESS) driver->MemAddressFree(buffer->address, reserve);
    return result;
}

gpul_status gpul_buffer_grow(gpul_buffer *buffer, size_t size)
{
    GPUL__NEED(buffer);
    gpul__str title = { 0 };
    gpul__buffer_title(&title, buffer);
    gpul_status status = GPUL_OK;
    if (buffer->memory != GPUL_MEMORY_GROWING || buffer->parent)
        status = gpul__fail(GPUL__MEMORY_KIND, (.call = "gpul_buffer_grow"),
                            "%s cannot grow: only a whole buffer of GPUL_MEMORY_GROWING can",
                            gpul__str_text(&title));
    else if (size < buffer->size || size > buffer->reserved)
        status = gpul__fail(GPUL__MEMORY_RANGE, (.call = "gpul_buffer_grow"),
                            "%s has %zu bytes and can have %zu at most: %zu is neither more nor "
                            "within that",
                            gpul__str_text(&title), buffer->size, buffer->reserved, size);
    gpul__str_free(&title);
    bool pushed;
    if (status == GPUL_OK) status = gpul__enter(buffer->device, &pushed, "gpul_buffer_grow");
    if (status != GPUL_OK) return status;
    const char *entry;
    CUresult result = map_more(buffer, size, &entry);
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&buffer->device->lock); /* the list of owners is read by others */
        buffer->size = size;
        pthread_mutex_unlock(&buffer->device->lock);
    } else if (!entry) {
        status = gpul__no_memory();
    } else if (result == CUDA_ERROR_OUT_OF_MEMORY && !atomic_load(&buffer->device->fault)) {
        status = gpul__fail_exhausted(buffer->device, result, entry, size - buffer->size,
                                      buffer->name ? buffer->name : "buffer");
    }
    if (status != GPUL_OK) {
        gpul__leave(buffer->device, pushed);
        return status;
    }
    return gpul__leave_with(buffer->device, pushed, GPUL__MEMORY_FAILED, result, entry,
                            "a buffer cannot grow");
}

/* ---- All of them ---- */

CUresult gpul__memory_take(gpul_buffer *buffer, const gpul_alloc_opts *opts, const char **entry)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    unsigned attach = opts->attach_host ? CU_MEM_ATTACH_HOST : CU_MEM_ATTACH_GLOBAL;
    CUresult result;
    switch (opts->memory) {
    case GPUL_MEMORY_MANAGED:
        *entry = "cuMemAllocManaged";
        result = GPUL__CALL(driver, MemAllocManaged, &buffer->address, buffer->size, attach);
        if (result == CUDA_SUCCESS) buffer->host = (void *)(uintptr_t)buffer->address;
        return result;
    case GPUL_MEMORY_PINNED: return take_pinned(buffer, opts, entry);
    case GPUL_MEMORY_POOL: return take_pooled(buffer, opts, entry);
    case GPUL_MEMORY_GROWING: return take_growing(buffer, opts, entry);
    default: *entry = "cuMemAlloc"; return driver->MemAlloc(&buffer->address, buffer->size);
    }
}

void gpul__memory_give_back(gpul_buffer *buffer)
{
    const gpul__driver *driver = gpul__api(buffer->device);
    if (buffer->module) return;
    switch (buffer->memory) {
    case GPUL_MEMORY_DEVICE:
    case GPUL_MEMORY_MANAGED: driver->MemFree(buffer->address); break;
    case GPUL_MEMORY_PINNED: driver->MemFreeHost(buffer->host); break;
    case GPUL_MEMORY_POOL: driver->MemFreeAsync(buffer->address, stream_of(buffer)); break;
    case GPUL_MEMORY_GROWING: unmap_all(buffer); break;
    case GPUL_MEMORY_REGISTERED: driver->MemHostUnregister(buffer->host); break;
    case GPUL_MEMORY_SHARED: driver->IpcCloseMemHandle(buffer->address); break;
    case GPUL_MEMORY_FOREIGN: break;
    }
}

gpul_status gpul_buffer_free_on(gpul_buffer **buffer, gpul_stream *stream)
{
    if (!buffer || !*buffer) return GPUL_OK;
    gpul_buffer *root = *buffer;
    CUstream handle;
    uint64_t id;
    gpul_status status = gpul__stream_of(&handle, &id, root->device, stream, "gpul_buffer_free_on");
    if (status != GPUL_OK) return status;
    while (root->parent) root = root->parent;
    if (root->memory == GPUL_MEMORY_POOL) {
        gpul_stream *before = root->stream;
        if (stream) gpul__refs_take(&stream->refs);
        root->stream = stream;
        gpul_stream_free(&before);
    } else {
        status = stream ? gpul_stream_sync(stream) : gpul_sync(root->device);
    }
    if (status == GPUL_OK) gpul_buffer_free(buffer);
    return status;
}

gpul_memory gpul_buffer_memory(const gpul_buffer *buffer)
{
    return buffer ? buffer->memory : GPUL_MEMORY_DEVICE;
}

void *gpul_buffer_host(const gpul_buffer *buffer)
{
    return buffer ? buffer->host : NULL;
}
