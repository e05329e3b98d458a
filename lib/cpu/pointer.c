/* What a pointer is: pointer attributes and attributes of managed ranges.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"

#include <string.h>

/* Everything that an attribute can ask for; all zero for memory that is not ours. */
struct facts {
    const cpu_region *region;
    ptx_allocation allocation;
};

static bool is_host(const cpu_region *region)
{
    return region->kind == REGION_HOST || region->kind == REGION_REGISTERED ||
           region->kind == REGION_MANAGED;
}

static CUcontext context_of(const cpu_region *region)
{
    return region->context ? region->context->handle : NULL;
}

/* Writes one attribute; the values of memory that is not ours are zeros, and then false. */
static CUresult write_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr address,
                                const struct facts *facts)
{
    const cpu_region *region = facts->region;
#define WRITE(type, value) (*(type *)data = (type)(value))
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: WRITE(CUcontext, region ? context_of(region) : NULL); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        WRITE(unsigned, !region ? 0
                        : region->kind == REGION_HOST || region->kind == REGION_REGISTERED
                            ? CU_MEMORYTYPE_HOST
                            : CU_MEMORYTYPE_DEVICE);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: WRITE(CUdeviceptr, region ? address : 0); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (region && !is_host(region)) return CUDA_ERROR_INVALID_VALUE;
        WRITE(void *, region ? (void *)(uintptr_t)address : NULL);
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: WRITE(int, region && region->sync_memops); break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        WRITE(unsigned long long, facts->allocation.id);
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        WRITE(unsigned, facts->allocation.kind == PTX_MEMORY_MANAGED);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        WRITE(int, region ? region->device->ordinal : CU_DEVICE_INVALID);
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: WRITE(unsigned, 0); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        WRITE(CUdeviceptr, facts->allocation.address);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: WRITE(size_t, facts->allocation.size); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: WRITE(unsigned, region != NULL); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: WRITE(unsigned long long, 0); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        WRITE(unsigned, !region                       ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                        : facts->allocation.read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                      : CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        WRITE(CUmemoryPool, region && region->pool ? region->pool->handle : NULL);
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
#undef WRITE
    return CUDA_SUCCESS;
}

static struct facts find_facts(CUdeviceptr address)
{
    struct facts facts = { 0 };
    facts.region = gpul__cpu_region_find(address, &facts.allocation);
    if (!facts.region) facts.allocation = (ptx_allocation){ 0 };
    return facts;
}

CUresult gpul__cpu_PointerGetAttribute(void *data, CUpointer_attribute attribute,
                                       CUdeviceptr address)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    struct facts facts = find_facts(address);
    if (!data || !facts.region) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave(write_attribute(data, attribute, address, &facts));
}

/* Unlike the single form this one answers zeros for a pointer that nobody knows. */
CUresult gpul__cpu_PointerGetAttributes(unsigned int count, CUpointer_attribute *attributes,
                                        void **data, CUdeviceptr address)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (count && (!attributes || !data)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    struct facts facts = find_facts(address);
    for (unsigned i = 0; i < count && !result; i++) {
        if (!data[i]) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
        result = write_attribute(data[i], attributes[i], address, &facts);
        if (result && attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER) {
            *(void **)data[i] = NULL;
            result = CUDA_SUCCESS;
        }
    }
    return gpul__cpu_leave(result);
}

/* Managed memory stays where the host has it. */
CUresult gpul__cpu_MemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
                                        CUdeviceptr address, size_t bytes)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    struct facts facts = find_facts(address);
    if (!data || !facts.region || facts.allocation.kind != PTX_MEMORY_MANAGED || bytes == 0 ||
        !gpul__cpu_range_valid(address, bytes))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    const int nowhere = CU_DEVICE_INVALID;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        if (size != sizeof(int)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
        memset(data, 0, sizeof(int));
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        if (size != sizeof(int)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
        memcpy(data, &nowhere, sizeof nowhere);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        if (size == 0 || size % sizeof(int)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
        for (size_t i = 0; i < size; i += sizeof(int))
            memcpy((char *)data + i, &nowhere, sizeof nowhere);
        break;
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}
