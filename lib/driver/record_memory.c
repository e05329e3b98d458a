/* Tests: memory of the recording provider: device, managed, pinned, registered, pools, reserved ranges, and the copies
 * and fills between them.  SPDX-License-Identifier: MIT */
#include "driver/record_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 512, POISONED = 1 << 20, GRANULARITY = 2 << 20 };

/* ---- Allocations --------------------------------------------------------------------------- */

static unsigned char *as_pointer(CUdeviceptr address)
{
    return (unsigned char *)(uintptr_t)address;
}
static CUdeviceptr as_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

struct memory *gpul__record_memory_wrap(struct context *context, enum memory_kind kind, void *data,
                                        size_t size)
{
    struct memory *memory = gpul__record_new(MEMORY, sizeof *memory, context);
    if (!memory) return NULL;
    memory->kind = kind;
    memory->device = context ? context->device : 0;
    memory->data = data;
    memory->size = size;
    return memory;
}

/* Device memory counts against the device's; its content is poison, not zero. */
static CUresult allocate(struct memory **out, struct context *context, enum memory_kind kind,
                         size_t size)
{
    uint64_t *used = &gpul__record.used[context->device % 16];
    bool counted = kind == DEVICE || kind == MANAGED;
    REQUIRE(size > 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!counted || size <= gpul__record.config.memory - *used, CUDA_ERROR_OUT_OF_MEMORY);
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *data = rounded >= size ? aligned_alloc(ALIGNMENT, rounded) : NULL;
    REQUIRE(data, CUDA_ERROR_OUT_OF_MEMORY);
    memset(data, 0xa5, size < POISONED ? size : POISONED);
    *out = gpul__record_memory_wrap(context, kind, data, size);
    if (!*out) {
        free(data);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*out)->base = data;
    if (counted) *used += size;
    return CUDA_SUCCESS;
}

void gpul__record_memory_free(struct memory *memory)
{
    if (memory->kind == DEVICE || memory->kind == MANAGED)
        gpul__record.used[memory->device % 16] -= memory->size;
    if (memory->pool) memory->pool->used -= memory->size;
    if (memory->kind == RESERVED) munmap(memory->data, memory->size);
    free(memory->base);
    gpul__record_drop(memory);
}

struct memory *gpul__record_memory_at(CUdeviceptr address, size_t size)
{
    for (struct memory *m = NULL; (m = gpul__record_next(MEMORY, m));) {
        CUdeviceptr start = as_address(m->data);
        if (m->kind == RESERVED && !m->mapped) continue;
        if (address >= start && address - start <= m->size && size <= m->size - (address - start) &&
            (size > 0 || address - start < m->size))
            return m;
    }
    return NULL;
}

/* The allocation that begins at an address. */
static struct memory *beginning_at(CUdeviceptr address, enum memory_kind kind, enum memory_kind or)
{
    for (struct memory *m = NULL; (m = gpul__record_next(MEMORY, m));)
        if (as_address(m->data) == address && (m->kind == kind || m->kind == or)) return m;
    return NULL;
}

CUresult gpul__record_MemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    ENTER;
    *free_bytes = gpul__record.config.memory - gpul__record.used[context->device % 16];
    *total_bytes = gpul__record.config.memory;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemAlloc(CUdeviceptr *address, size_t bytes)
{
    ENTER;
    struct memory *memory;
    CUresult result = allocate(&memory, context, DEVICE, bytes);
    if (result == CUDA_SUCCESS) *address = as_address(memory->data);
    return result;
}

CUresult gpul__record_MemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width,
                                    size_t height, unsigned element)
{
    REQUIRE(element == 4 || element == 8 || element == 16, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(width && height && width <= SIZE_MAX / 2 / height, CUDA_ERROR_INVALID_VALUE);
    *pitch = (width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return gpul__record_MemAlloc(address, *pitch * height);
}

CUresult gpul__record_MemFree(CUdeviceptr address)
{
    ENTER;
    if (!address) return CUDA_SUCCESS;
    struct memory *memory = beginning_at(address, DEVICE, MANAGED);
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    gpul__record_memory_free(memory);
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    ENTER;
    struct memory *memory = gpul__record_memory_at(address, 1);
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    if (base) *base = as_address(memory->data);
    if (size) *size = memory->size;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    ENTER;
    REQUIRE(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE);
    struct memory *memory;
    CUresult result = allocate(&memory, context, MANAGED, bytes);
    if (result == CUDA_SUCCESS) *address = as_address(memory->data);
    return result;
}

CUresult gpul__record_MemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    ENTER;
    REQUIRE((flags & ~7u) == 0, CUDA_ERROR_INVALID_VALUE);
    struct memory *memory;
    CUresult result = allocate(&memory, context, HOST, bytes);
    if (result != CUDA_SUCCESS) return result;
    memory->flags = flags;
    *out = memory->data;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemFreeHost(void *address)
{
    ENTER;
    struct memory *memory = beginning_at(as_address(address), HOST, HOST);
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    gpul__record_memory_free(memory);
    return CUDA_SUCCESS;
}

static struct memory *host_memory(const void *address)
{
    struct memory *memory = gpul__record_memory_at(as_address(address), 1);
    return memory && (memory->kind == HOST || memory->kind == REGISTERED) ? memory : NULL;
}

CUresult gpul__record_MemHostGetDevicePointer(CUdeviceptr *out, void *address, unsigned flags)
{
    ENTER;
    REQUIRE(flags == 0 && host_memory(address), CUDA_ERROR_INVALID_VALUE);
    *out = as_address(address);
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemHostGetFlags(unsigned *flags, void *address)
{
    ENTER;
    struct memory *memory = host_memory(address);
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    *flags = memory->flags;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemHostRegister(void *address, size_t bytes, unsigned flags)
{
    ENTER;
    REQUIRE(address && bytes && (flags & ~15u) == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!gpul__record_memory_at(as_address(address), 1),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    struct memory *memory = gpul__record_memory_wrap(context, REGISTERED, address, bytes);
    REQUIRE(memory, CUDA_ERROR_OUT_OF_MEMORY);
    memory->flags = flags;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemHostUnregister(void *address)
{
    ENTER;
    struct memory *memory = beginning_at(as_address(address), REGISTERED, REGISTERED);
    REQUIRE(memory, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    gpul__record_memory_free(memory);
    return CUDA_SUCCESS;
}

static CUresult pointer_attribute(void *data, CUpointer_attribute attribute,
                                  const struct memory *memory)
{
    bool host = memory->kind == HOST || memory->kind == REGISTERED;
    CUdeviceptr start = as_address(memory->data);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: memcpy(data, &memory->object.context, sizeof(void *)); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = memory->kind == MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = memory->device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = start; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = memory->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)data = 1; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__record_PointerGetAttribute(void *data, CUpointer_attribute attribute,
                                          CUdeviceptr address)
{
    ENTER;
    struct memory *memory = gpul__record_memory_at(address, 1);
    REQUIRE(data && memory, CUDA_ERROR_INVALID_VALUE);
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
        attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER) {
        *(CUdeviceptr *)data = address;
        return CUDA_SUCCESS;
    }
    return pointer_attribute(data, attribute, memory);
}

/* A pointer that is nobody's is no error here: its attributes are zero. */
CUresult gpul__record_PointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                                           void **data, CUdeviceptr address)
{
    ENTER;
    struct memory *memory = gpul__record_memory_at(address, 1);
    for (unsigned i = 0; i < count; i++) {
        if (memory &&
            gpul__record_PointerGetAttribute(data[i], attributes[i], address) == CUDA_SUCCESS)
            continue;
        bool wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
        memset(data[i], 0, wide ? 8 : 4);
    }
    return CUDA_SUCCESS;
}

/* ---- Stream-ordered allocation and pools ---------------------------------------------------- */

static struct pool *default_pool(CUdevice device)
{
    for (struct pool *p = NULL; (p = gpul__record_next(POOL, p));)
        if (!p->object.context && p->device == device) return p;
    struct pool *pool = gpul__record_new(POOL, sizeof *pool, NULL);
    if (pool) pool->device = device;
    return pool;
}

static CUresult allocate_async(CUdeviceptr *address, size_t bytes, struct pool *pool,
                               struct context *context, CUstream stream)
{
    struct stream *in;
    REQUIRE(gpul__record_stream(stream, context, &in), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!in || !in->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    struct memory *memory;
    CUresult result = allocate(&memory, context, DEVICE, bytes);
    if (result != CUDA_SUCCESS) return result;
    memory->pool = pool;
    pool->used += bytes;
    if (pool->used > pool->high) pool->high = pool->used;
    *address = as_address(memory->data);
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    ENTER;
    return allocate_async(address, bytes, default_pool(context->device), context, stream);
}

CUresult gpul__record_MemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                            CUstream stream)
{
    ENTER;
    return allocate_async(address, bytes, gpul__record_find(POOL, pool), context, stream);
}

CUresult gpul__record_MemFreeAsync(CUdeviceptr address, CUstream stream)
{
    ENTER;
    struct stream *in;
    REQUIRE(gpul__record_stream(stream, context, &in), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!in || !in->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    struct memory *memory = beginning_at(address, DEVICE, DEVICE);
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    gpul__record_memory_free(memory);
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    LOCKED;
    REQUIRE(gpul__record_device(device), CUDA_ERROR_INVALID_DEVICE);
    *pool = (CUmemoryPool)default_pool(device);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult gpul__record_DeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return gpul__record_DeviceGetDefaultMemPool(pool, device);
}

CUresult gpul__record_MemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
    ENTER;
    REQUIRE(props && props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                props->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                gpul__record_device(props->location.id),
            CUDA_ERROR_INVALID_VALUE);
    struct pool *pool = gpul__record_new(POOL, sizeof *pool, context);
    REQUIRE(pool, CUDA_ERROR_OUT_OF_MEMORY);
    pool->device = props->location.id;
    *out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemPoolDestroy(CUmemoryPool handle)
{
    LOCKED;
    struct pool *pool = gpul__record_find(POOL, handle);
    REQUIRE(pool && pool->object.context, CUDA_ERROR_INVALID_VALUE);
    for (struct memory *m = NULL; (m = gpul__record_next(MEMORY, m));)
        if (m->pool == pool) m->pool = NULL;
    gpul__record_drop(pool);
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                          void *value)
{
    LOCKED;
    struct pool *pool = gpul__record_find(POOL, handle);
    REQUIRE(pool && value, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = pool->used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = pool->high; break;
    default: *(int *)value = 1;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                          void *value)
{
    LOCKED;
    struct pool *pool = gpul__record_find(POOL, handle);
    REQUIRE(pool && value, CUDA_ERROR_INVALID_VALUE);
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) pool->threshold = *(uint64_t *)value;
    if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool->high = pool->used;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)keep;
    LOCKED;
    return gpul__record_find(POOL, pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_MemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    LOCKED;
    return gpul__record_find(POOL, pool) && (map || !count) ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Managed memory ------------------------------------------------------------------------- */

static CUresult managed_range(CUdeviceptr address, size_t bytes)
{
    struct memory *memory = gpul__record_memory_at(address, bytes);
    return bytes && memory && memory->kind == MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_MemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                                       CUstream stream)
{
    ENTER;
    struct stream *in;
    REQUIRE(gpul__record_stream(stream, context, &in), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(device == CU_DEVICE_CPU || gpul__record_device(device), CUDA_ERROR_INVALID_DEVICE);
    return managed_range(address, bytes);
}

CUresult gpul__record_MemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                          unsigned flags, CUstream stream)
{
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    bool device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    return gpul__record_MemPrefetchAsync(address, bytes, device ? location.id : CU_DEVICE_CPU,
                                         stream);
}

CUresult gpul__record_MemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                CUdevice device)
{
    ENTER;
    REQUIRE(advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device == CU_DEVICE_CPU || gpul__record_device(device), CUDA_ERROR_INVALID_DEVICE);
    return managed_range(address, bytes);
}

CUresult gpul__record_MemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                   CUmemLocation location)
{
    bool device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    return gpul__record_MemAdvise(address, bytes, advice, device ? location.id : CU_DEVICE_CPU);
}

/* ---- Virtual memory: one physical handle covers a whole reservation ------------------------- */

CUresult gpul__record_MemGetAllocationGranularity(size_t *granularity,
                                                  const CUmemAllocationProp *prop,
                                                  CUmemAllocationGranularity_flags option)
{
    LOCKED;
    (void)option;
    REQUIRE(granularity && prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED,
            CUDA_ERROR_INVALID_VALUE);
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment,
                                        CUdeviceptr wanted, unsigned long long flags)
{
    (void)alignment;
    (void)wanted;
    ENTER;
    REQUIRE(size && size % GRANULARITY == 0 && flags == 0, CUDA_ERROR_INVALID_VALUE);
    void *data = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(data != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    struct memory *memory = gpul__record_memory_wrap(context, RESERVED, data, size);
    if (!memory) {
        munmap(data, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = as_address(data);
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemAddressFree(CUdeviceptr address, size_t size)
{
    LOCKED;
    struct memory *memory = beginning_at(address, RESERVED, RESERVED);
    REQUIRE(memory && memory->size == size, CUDA_ERROR_INVALID_VALUE);
    gpul__record_memory_free(memory);
    return CUDA_SUCCESS;
}

struct physical {
    struct object object;
    size_t size;
};

CUresult gpul__record_MemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                                const CUmemAllocationProp *prop, unsigned long long flags)
{
    ENTER;
    REQUIRE(size && size % GRANULARITY == 0 && prop && flags == 0, CUDA_ERROR_INVALID_VALUE);
    uint64_t *used = &gpul__record.used[context->device % 16];
    REQUIRE(size <= gpul__record.config.memory - *used, CUDA_ERROR_OUT_OF_MEMORY);
    struct physical *physical = gpul__record_new(HANDLE, sizeof *physical, NULL);
    REQUIRE(physical, CUDA_ERROR_OUT_OF_MEMORY);
    physical->size = size;
    *handle = as_address(physical);
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemRelease(CUmemGenericAllocationHandle handle)
{
    LOCKED;
    struct physical *physical = gpul__record_find(HANDLE, as_pointer(handle));
    REQUIRE(physical, CUDA_ERROR_INVALID_VALUE);
    gpul__record_drop(physical);
    return CUDA_SUCCESS;
}

static struct memory *reservation(CUdeviceptr address, size_t size)
{
    for (struct memory *m = NULL; (m = gpul__record_next(MEMORY, m));) {
        CUdeviceptr start = as_address(m->data);
        if (m->kind == RESERVED && address >= start && size <= m->size &&
            address - start <= m->size - size)
            return m;
    }
    return NULL;
}

CUresult gpul__record_MemMap(CUdeviceptr address, size_t size, size_t offset,
                             CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    LOCKED;
    struct physical *physical = gpul__record_find(HANDLE, as_pointer(handle));
    struct memory *memory = reservation(address, size);
    REQUIRE(memory && physical && offset == 0 && size <= physical->size && flags == 0,
            CUDA_ERROR_INVALID_VALUE);
    memory->mapped = true;
    return CUDA_SUCCESS;
}

CUresult gpul__record_MemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *desc,
                                   size_t count)
{
    LOCKED;
    struct memory *memory = reservation(address, size);
    REQUIRE(memory && memory->mapped && desc && count, CUDA_ERROR_INVALID_VALUE);
    bool writable = desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return mprotect(as_pointer(address), size, PROT_READ | (writable ? PROT_WRITE : 0)) == 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_MemUnmap(CUdeviceptr address, size_t size)
{
    LOCKED;
    struct memory *memory = reservation(address, size);
    REQUIRE(memory && memory->mapped, CUDA_ERROR_INVALID_VALUE);
    memory->mapped = address != as_address(memory->data);
    return mprotect(as_pointer(address), size, PROT_NONE) == 0 ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Sharing between processes: within one process, which is all a test needs --------------- */

CUresult gpul__record_IpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    ENTER;
    struct memory *memory = beginning_at(address, DEVICE, DEVICE);
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    memset(handle, 0, sizeof *handle);
    memcpy(handle->reserved, &address, sizeof address);
    return CUDA_SUCCESS;
}

CUresult gpul__record_IpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    ENTER;
    REQUIRE((flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE);
    memcpy(address, handle.reserved, sizeof *address);
    return beginning_at(*address, DEVICE, DEVICE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_IpcCloseMemHandle(CUdeviceptr address)
{
    ENTER;
    return beginning_at(address, DEVICE, DEVICE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
