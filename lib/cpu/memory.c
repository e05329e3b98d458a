/* Records of memory and the pools.  SPDX-License-Identifier: MIT */
#include "cpu/memory.h"

#include "cpu/context.h"
#include "cpu/handle.h"

#include "base/alloc.h"

cpu_region *gpul__cpu_region_find(uint64_t address, ptx_allocation *allocation)
{
    ptx_allocation found;
    if (!gpul__cpu.memory || !ptx_memory_find(gpul__cpu.memory, address, &found) || found.freed)
        return NULL;
    if (allocation) *allocation = found;
    return (cpu_region *)(uintptr_t)found.owner;
}

cpu_region *gpul__cpu_region_at(uint64_t address)
{
    ptx_allocation allocation;
    cpu_region *region = gpul__cpu_region_find(address, &allocation);
    return region && allocation.address == address ? region : NULL;
}

bool gpul__cpu_range_valid(uint64_t address, uint64_t size)
{
    return gpul__cpu.memory && ptx_memory_host(gpul__cpu.memory, address, size) != NULL;
}

static void link_region(cpu_region *region, cpu_region **list)
{
    region->list = list;
    region->next = *list;
    if (*list) (*list)->previous = region;
    *list = region;
}

static void unlink_region(cpu_region *region)
{
    if (region->next) region->next->previous = region->previous;
    if (region->previous) region->previous->next = region->next;
    else *region->list = region->next;
}

static CUresult result_of(ptx_status status)
{
    if (status == PTX_OK) return CUDA_SUCCESS;
    return status == PTX_OUT_OF_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__cpu_region_alloc(uint64_t *address, cpu_context *context, cpu_pool *pool,
                                size_t size)
{
    cpu_device *device = pool ? pool->device : context->device;
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    uint64_t used = device->memory_used, total = gpul__cpu.memory_total;
    if (used > total || size > total - used) return CUDA_ERROR_OUT_OF_MEMORY;
    if (pool && pool->max_size && size > pool->max_size - pool->used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    cpu_region *region = gpul__calloc(1, sizeof *region);
    if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
    *region = (cpu_region){ .kind = pool ? REGION_POOL : REGION_DEVICE,
                            .context = context,
                            .device = device,
                            .pool = pool,
                            .size = size };
    ptx_allocation request = { .size = size,
                               .owner = (uint64_t)(uintptr_t)region,
                               .kind = PTX_MEMORY_DEVICE };
    CUresult result =
        result_of(ptx_memory_alloc(gpul__cpu.memory, &request, 256, &region->address));
    if (result) {
        gpul__free(region);
        return result;
    }
    link_region(region, pool ? &pool->regions : &context->regions);
    device->memory_used += size;
    if (pool) {
        pool->used += size;
        if (pool->used > pool->used_high) pool->used_high = pool->used;
    }
    *address = region->address;
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_region_register(cpu_region **out, cpu_context *context, cpu_region_kind kind,
                                   void *host, size_t size, unsigned flags)
{
    cpu_region *region = gpul__calloc(1, sizeof *region);
    if (!region) return CUDA_ERROR_OUT_OF_MEMORY;
    *region = (cpu_region){ .kind = kind,
                            .context = context,
                            .device = context->device,
                            .address = (uint64_t)(uintptr_t)host,
                            .size = size,
                            .flags = flags,
                            .host = kind == REGION_REGISTERED ? NULL : host };
    ptx_allocation request = {
        .size = size,
        .owner = (uint64_t)(uintptr_t)region,
        .kind = kind == REGION_MANAGED ? PTX_MEMORY_MANAGED : PTX_MEMORY_HOST,
        .read_only = kind == REGION_REGISTERED && flags & CU_MEMHOSTREGISTER_READ_ONLY,
    };
    CUresult result = result_of(ptx_memory_register(gpul__cpu.memory, host, &request));
    if (result) {
        gpul__free(region);
        return result;
    }
    link_region(region, &context->regions);
    *out = region;
    return CUDA_SUCCESS;
}

void gpul__cpu_region_free(cpu_region *region)
{
    unlink_region(region);
    switch (region->kind) {
    case REGION_POOL:
        region->pool->used -= region->size;
        /* fall through */
    case REGION_DEVICE:
        region->device->memory_used -= region->size;
        ptx_memory_free(gpul__cpu.memory, region->address);
        break;
    case REGION_HOST:
    case REGION_REGISTERED:
    case REGION_MANAGED:
        ptx_memory_unregister(gpul__cpu.memory, (void *)(uintptr_t)region->address);
        gpul__free(region->host);
        break;
    case REGION_MODULE: break;
    }
    gpul__free(region);
}

/* ---- pools ------------------------------------------------------------------------------ */

cpu_pool *gpul__cpu_pool_new(cpu_device *device, uint64_t max_size)
{
    cpu_pool *pool = gpul__calloc(1, sizeof *pool);
    CUmemoryPool handle = pool ? gpul__cpu_handle_new(CPU_POOL, pool) : NULL;
    if (!handle) {
        gpul__free(pool);
        return NULL;
    }
    *pool = (cpu_pool){
        .handle = handle, .device = device, .max_size = max_size, .reuse = { 1, 1, 1 }
    };
    return pool;
}

cpu_pool *gpul__cpu_default_pool(cpu_device *device)
{
    if (!device->default_pool) {
        device->default_pool = gpul__cpu_pool_new(device, 0);
        if (!device->default_pool) return NULL;
        device->default_pool->is_default = true;
    }
    if (!device->pool) device->pool = device->default_pool;
    return device->default_pool;
}

void gpul__cpu_pool_free(cpu_pool *pool)
{
    if (!pool) return;
    while (pool->regions) gpul__cpu_region_free(pool->regions);
    gpul__cpu_handle_drop(pool->handle);
    gpul__free(pool);
}

void gpul__cpu_pool_hand_over(cpu_pool *from, cpu_pool *to)
{
    while (from->regions) {
        cpu_region *region = from->regions;
        unlink_region(region);
        region->pool = to;
        region->previous = NULL;
        link_region(region, &to->regions);
        from->used -= region->size;
        to->used += region->size;
    }
    if (to->used > to->used_high) to->used_high = to->used;
}
