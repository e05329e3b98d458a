/* Entries that give out and take back memory: device, host, managed.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/handle.h"

#include "base/alloc.h"

#include <string.h>

enum { PAGE = 4096, PITCH = 512 };

/* ---- device memory ---------------------------------------------------------------------- */

CUresult gpul__cpu_MemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    uint64_t total = gpul__cpu.memory_total, used = context->device->memory_used;
    if (free_bytes) *free_bytes = (size_t)(used < total ? total - used : 0);
    if (total_bytes) *total_bytes = (size_t)total;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_MemAlloc(CUdeviceptr *out, size_t bytes)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t address;
    result = gpul__cpu_region_alloc(&address, context, NULL, bytes);
    if (!result) *out = address;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_MemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                                 unsigned int element)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || !pitch || width == 0 || height == 0 || width > SIZE_MAX - PITCH ||
        (element != 4 && element != 8 && element != 16))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    size_t row = (width + PITCH - 1) / PITCH * PITCH;
    if (height > SIZE_MAX / row) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    uint64_t address;
    result = gpul__cpu_region_alloc(&address, context, NULL, row * height);
    if (!result) {
        *out = address;
        *pitch = row;
    }
    return gpul__cpu_leave(result);
}

/* Frees after the work of the memory's context and of the current one is done, as the driver does. */
static CUresult free_when_unused(cpu_context *context, cpu_region *region)
{
    CUcontext current = context->handle;
    uint64_t address = region->address;
    region->freeing = true;
    if (region->context && region->context != context)
        gpul__cpu_wait_context(
            region->context); /* a fault of another context is not reported here */
    context = gpul__cpu_handle_get(CPU_CONTEXT, current);
    CUresult result = context ? gpul__cpu_wait_context(context) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    region = gpul__cpu_region_at(address); /* its context may have ended meanwhile */
    if (region && region->freeing) {
        region->freeing = false;
        if (!result) gpul__cpu_region_free(region);
    }
    return result;
}

CUresult gpul__cpu_MemFree(CUdeviceptr address)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!address) return gpul__cpu_leave(CUDA_SUCCESS);
    cpu_region *region = gpul__cpu_region_at(address);
    if (!region || region->freeing ||
        (region->kind != REGION_DEVICE && region->kind != REGION_POOL &&
         region->kind != REGION_MANAGED))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave_synchronised(free_when_unused(context, region));
}

CUresult gpul__cpu_MemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    ptx_allocation allocation;
    if (!gpul__cpu_region_find(address, &allocation)) return gpul__cpu_leave(CUDA_ERROR_NOT_FOUND);
    if (base) *base = allocation.address;
    if (size) *size = (size_t)allocation.size;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- host memory ------------------------------------------------------------------------ */

static CUresult make_host(cpu_region **out, cpu_context *context, cpu_region_kind kind,
                          size_t bytes, unsigned flags)
{
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (bytes > gpul__cpu_host_memory()) return CUDA_ERROR_OUT_OF_MEMORY;
    void *memory = gpul__aligned(PAGE, bytes);
    if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
    memset(memory, 0, bytes);
    CUresult result = gpul__cpu_region_register(out, context, kind, memory, bytes, flags);
    if (result) gpul__free(memory);
    return result;
}

CUresult gpul__cpu_MemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!memory || (flags & ~known)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_region *region;
    result = make_host(&region, context, REGION_HOST, bytes, flags);
    if (!result) *memory = region->host;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_MemFreeHost(void *memory)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_region *region = gpul__cpu_region_at((uint64_t)(uintptr_t)memory);
    if (!region || region->kind != REGION_HOST || region->freeing)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave_synchronised(free_when_unused(context, region));
}

CUresult gpul__cpu_MemHostGetDevicePointer(CUdeviceptr *out, void *memory, unsigned int flags)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_region *region = gpul__cpu_region_find((uint64_t)(uintptr_t)memory, NULL);
    if (!out || flags || !region ||
        (region->kind != REGION_HOST && region->kind != REGION_REGISTERED))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    *out = (CUdeviceptr)(uintptr_t)memory;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_MemHostGetFlags(unsigned int *flags, void *memory)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_region *region = gpul__cpu_region_find((uint64_t)(uintptr_t)memory, NULL);
    if (!flags || !region || region->kind != REGION_HOST)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    /* With unified addressing all of it is portable and mapped. */
    *flags = region->flags | CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

struct overlap {
    uint64_t first, end;
    bool found;
};

static bool look_for_overlap(void *user, const ptx_allocation *allocation)
{
    struct overlap *overlap = user;
    if (allocation->address < overlap->end &&
        allocation->address + allocation->size > overlap->first)
        overlap->found = true;
    return !overlap->found;
}

CUresult gpul__cpu_MemHostRegister(void *memory, size_t bytes, unsigned int flags)
{
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    uint64_t address = (uint64_t)(uintptr_t)memory;
    if (!memory || bytes == 0 || bytes > UINT64_MAX - address || (flags & ~known))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY) return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    if (ptx_memory_is_device_address(gpul__cpu.memory, address))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    struct overlap overlap = { address, address + bytes, false };
    ptx_memory_each(gpul__cpu.memory, look_for_overlap, &overlap);
    if (overlap.found) return gpul__cpu_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    cpu_region *region;
    result = gpul__cpu_region_register(&region, context, REGION_REGISTERED, memory, bytes, flags);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_MemHostUnregister(void *memory)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_region *region = gpul__cpu_region_at((uint64_t)(uintptr_t)memory);
    if (!memory) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!region || region->kind != REGION_REGISTERED || region->freeing)
        return gpul__cpu_leave(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    return gpul__cpu_leave_synchronised(free_when_unused(context, region));
}

/* ---- managed memory --------------------------------------------------------------------- */

CUresult gpul__cpu_MemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned int flags)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_region *region;
    result = make_host(&region, context, REGION_MANAGED, bytes, flags);
    if (!result) *out = region->address;
    return gpul__cpu_leave(result);
}

/* True when the range is managed memory as a whole. */
static bool managed(CUdeviceptr address, size_t bytes)
{
    ptx_allocation allocation;
    return gpul__cpu_region_find(address, &allocation) && gpul__cpu_range_valid(address, bytes) &&
           allocation.kind == PTX_MEMORY_MANAGED;
}

static bool location_valid(CUmemLocation location)
{
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return gpul__cpu_device_at(location.id) != NULL;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return true;
    default: return false;
    }
}

/* Managed memory never moves here, so that advice and prefetching are checked and done. */
CUresult gpul__cpu_MemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                       unsigned int flags, CUstream stream)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (flags || bytes == 0 || !managed(address, bytes)) result = CUDA_ERROR_INVALID_VALUE;
    else if (!location_valid(location)) result = CUDA_ERROR_INVALID_DEVICE;
    else if (!gpul__cpu_stream_find(context, stream)) result = CUDA_ERROR_INVALID_HANDLE;
    return gpul__cpu_leave(result);
}

static CUmemLocation location_of(CUdevice device)
{
    return (CUmemLocation){ device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                                    : CU_MEM_LOCATION_TYPE_DEVICE,
                            device };
}

CUresult gpul__cpu_MemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                                    CUstream stream)
{
    return gpul__cpu_MemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream);
}

CUresult gpul__cpu_MemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                CUmemLocation location)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    bool uses_location = advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
                         advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                         advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    if (bytes == 0 || !managed(address, bytes) || advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
        advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (uses_location && !location_valid(location)) result = CUDA_ERROR_INVALID_DEVICE;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_MemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                             CUdevice device)
{
    return gpul__cpu_MemAdvise_v2(address, bytes, advice, location_of(device));
}
