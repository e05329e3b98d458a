/* Buffers over memory that is somebody else's: registered host memory, foreign device addresses, memory of
 * another process.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"

static gpul_status check_options(const char *call, const gpul_alloc_opts *opts)
{
    if (!opts->init && opts->memory == GPUL_MEMORY_DEVICE && !opts->write_combined &&
        !opts->attach_host && !opts->reserve && !opts->pool && !opts->stream &&
        (unsigned)opts->type <= GPUL_OTHER)
        return GPUL_OK;
    return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                      "%s: memory that is there already takes .name, .type, .portable and "
                      ".read_only only",
                      call);
}

/* A buffer of this kind with the context current; NULL and a failing status when there is none. */
static gpul_status start(gpul_buffer **out, bool *pushed, gpul_device *device, size_t size,
                         gpul_memory memory, const gpul_alloc_opts *opts, const char *call)
{
    static const gpul_alloc_opts defaults;
    gpul_status status = check_options(call, opts ? opts : &defaults);
    if (status != GPUL_OK) return status;
    if (size == 0)
        return gpul__fail(GPUL__MEMORY_ZERO, (.call = call),
                          "%s: a buffer of size zero was asked for", call);
    gpul_buffer *buffer = gpul__buffer_new(device, size, opts ? opts : &defaults);
    if (!buffer) return gpul__no_memory();
    buffer->memory = memory;
    status = gpul__enter(device, pushed, call);
    if (status != GPUL_OK) gpul__buffer_forget(buffer);
    else *out = buffer;
    return status;
}

static gpul_status finish(gpul_buffer **out, gpul_buffer *buffer, bool pushed, CUresult result,
                          const char *entry, const char *what)
{
    gpul_status status =
        gpul__leave_with(buffer->device, pushed, GPUL__MEMORY_FAILED, result, entry, what);
    if (status == GPUL_OK) {
        gpul__buffer_keep(buffer);
        *out = buffer;
    } else {
        gpul__buffer_forget(buffer);
    }
    return status;
}

gpul_status gpul_register(gpul_buffer **out, gpul_device *device, void *memory, size_t size,
                          const gpul_alloc_opts *opts)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(memory);
    if (size > UINTPTR_MAX - (uintptr_t)memory)
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = "gpul_register"),
                          "%zu bytes from %p on go past the end of memory", size, memory);
    gpul_buffer *buffer;
    bool pushed;
    gpul_status status =
        start(&buffer, &pushed, device, size, GPUL_MEMORY_REGISTERED, opts, "gpul_register");
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(device);
    unsigned flags = CU_MEMHOSTREGISTER_DEVICEMAP;
    if (opts && opts->portable) flags |= CU_MEMHOSTREGISTER_PORTABLE;
    if (opts && opts->read_only) flags |= CU_MEMHOSTREGISTER_READ_ONLY;
    buffer->host = memory;
    const char *entry = "cuMemHostRegister";
    CUresult result = GPUL__TAKE(driver, MemHostRegister, MemHostUnregister, memory, size, flags);
    if (result == CUDA_SUCCESS) {
        entry = "cuMemHostGetDevicePointer";
        result = GPUL__CALL(driver, MemHostGetDevicePointer, &buffer->address, memory, 0);
        if (result != CUDA_SUCCESS) driver->MemHostUnregister(memory);
    }
    status = finish(out, buffer, pushed, result, entry, "host memory cannot be registered");
    if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        return gpul__hint("it, or a part of it, is registered already or was allocated as pinned");
    return status;
}

/* How many bytes of its allocation lie from the address on; 0: the driver does not know the address. */
static CUresult bytes_behind(const gpul_device *device, CUdeviceptr address, size_t *out)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    const gpul__driver *driver = gpul__api(device);
    CUresult result =
        driver->PointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
    if (result == CUDA_SUCCESS)
        result = driver->PointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
    *out = result == CUDA_SUCCESS && address >= base && address - base <= size
               ? size - (size_t)(address - base)
               : 0;
    return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}

gpul_status gpul_wrap(gpul_buffer **out, gpul_device *device, uint64_t address, size_t size,
                      const gpul_alloc_opts *opts)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    gpul_buffer *buffer;
    bool pushed;
    gpul_status status =
        start(&buffer, &pushed, device, size, GPUL_MEMORY_FOREIGN, opts, "gpul_wrap");
    if (status != GPUL_OK) return status;
    size_t there = 0;
    buffer->address = address;
    CUresult result = bytes_behind(device, address, &there);
    if (result == CUDA_SUCCESS && there < size) {
        gpul__leave(device, pushed);
        gpul__buffer_forget(buffer);
        if (!there)
            return gpul__fail(GPUL__ARGS_ADDRESS, (.call = "gpul_wrap"),
                              "0x%llx is no address of device or pinned memory that the driver "
                              "knows",
                              (unsigned long long)address);
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = "gpul_wrap"),
                          "%zu bytes from 0x%llx on are asked for, and the allocation there has "
                          "%zu",
                          size, (unsigned long long)address, there);
    }
    return finish(out, buffer, pushed, result, "cuPointerGetAttribute",
                  "the driver does not tell what lies at the address");
}

/* ---- Other processes ---- */

gpul_status gpul_buffer_share(gpul_shared *out, gpul_buffer *buffer)
{
    if (!out) return gpul__fail_null("gpul_buffer_share", "out");
    memset(out, 0, sizeof *out);
    GPUL__NEED(buffer);
    gpul_buffer *root = buffer;
    while (root->parent) root = root->parent;
    if (root->memory != GPUL_MEMORY_DEVICE)
        return gpul__fail(GPUL__MEMORY_KIND, (.call = "gpul_buffer_share"),
                          "only memory of the kind GPUL_MEMORY_DEVICE can be shared with another "
                          "process");
    gpul_device *device = buffer->device;
    CUipcMemHandle handle;
    CUdeviceptr base = root->address;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_buffer_share");
    if (status != GPUL_OK) return status;
    /* Small allocations share one of the driver's blocks, and the handle is that block's. */
    const gpul__driver *driver = gpul__api(device);
    const char *entry = "cuMemGetAddressRange";
    CUresult result = GPUL__CALL(driver, MemGetAddressRange, &base, NULL, root->address);
    if (result == CUDA_SUCCESS) {
        entry = "cuIpcGetMemHandle";
        result = GPUL__CALL(driver, IpcGetMemHandle, &handle, root->address);
    }
    if (result == CUDA_SUCCESS) {
        memcpy(out->handle, &handle, sizeof handle);
        out->offset = buffer->address - base;
        out->size = buffer->size;
    }
    return gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, result, entry,
                            "a buffer cannot be shared");
}

gpul_status gpul_open_shared(gpul_buffer **out, gpul_device *device, const gpul_shared *shared,
                             const gpul_alloc_opts *opts)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(shared);
    if (shared->size > SIZE_MAX || shared->offset > UINT64_MAX - shared->size)
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = "gpul_open_shared"),
                          "%llu bytes at offset %llu are no range of memory",
                          (unsigned long long)shared->size, (unsigned long long)shared->offset);
    gpul_buffer *whole, *view = NULL;
    bool pushed;
    gpul_status status = start(&whole, &pushed, device, (size_t)(shared->offset + shared->size),
                               GPUL_MEMORY_SHARED, opts, "gpul_open_shared");
    if (status != GPUL_OK) return status;
    CUipcMemHandle handle;
    memcpy(&handle, shared->handle, sizeof handle);
    CUresult result = GPUL__TAKE(gpul__api(device), IpcOpenMemHandle, IpcCloseMemHandle,
                                 &whole->address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    status = finish(&whole, whole, pushed, result, "cuIpcOpenMemHandle",
                    "the memory of another process cannot be opened");
    if (status != GPUL_OK || !shared->offset) {
        if (status == GPUL_OK) *out = whole;
        return status;
    }
    status = gpul_view(&view, whole, (size_t)shared->offset, (size_t)shared->size);
    gpul_buffer_free(&whole);
    *out = view;
    return status;
}
