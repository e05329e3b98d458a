/* Pools of stream-ordered memory: making, trimming, asking.  SPDX-License-Identifier: MIT */
#include "core/pool.h"

#include <string.h>

#include "core/context.h"
#include "core/device_failure.h"

struct gpul_pool {
    gpul__refs refs;
    gpul_device *device; /* a reference */
    CUmemoryPool handle;
    bool own; /* destroyed with it */
};

gpul_device *gpul__pool_device(const gpul_pool *pool)
{
    return pool->device;
}

CUmemoryPool gpul__pool_handle(const gpul_pool *pool)
{
    return pool->handle;
}

void gpul__pool_take(gpul_pool *pool)
{
    gpul__refs_take(&pool->refs);
}

static CUresult make(gpul_pool *pool, const gpul_pool_opts *opts, const char **entry)
{
    const gpul__driver *driver = gpul__api(pool->device);
    CUresult result;
    if (opts->device_default) {
        *entry = "cuDeviceGetDefaultMemPool";
        result = GPUL__CALL(driver, DeviceGetDefaultMemPool, &pool->handle, pool->device->handle);
    } else {
        CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = { CU_MEM_LOCATION_TYPE_DEVICE,
                                               pool->device->handle } };
        *entry = "cuMemPoolCreate";
        result = GPUL__TAKE(driver, MemPoolCreate, MemPoolDestroy, &pool->handle, &props);
        pool->own = result == CUDA_SUCCESS;
    }
    if (result != CUDA_SUCCESS || !opts->keep) return result;
    uint64_t keep = opts->keep;
    *entry = "cuMemPoolSetAttribute";
    return GPUL__CALL(driver, MemPoolSetAttribute, pool->handle, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                      &keep);
}

gpul_status gpul_pool_new(gpul_pool **out, gpul_device *device, const gpul_pool_opts *opts)
{
    static const gpul_pool_opts defaults;
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    gpul_pool *pool = gpul__calloc(1, sizeof *pool);
    if (!pool) return gpul__no_memory();
    gpul__refs_init(&pool->refs);
    gpul__device_take(device);
    pool->device = device;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_pool_new");
    if (status == GPUL_OK) {
        const char *entry;
        CUresult result = make(pool, opts ? opts : &defaults, &entry);
        status = gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, result, entry,
                                  "a memory pool cannot be had");
    }
    if (status == GPUL_OK) *out = pool;
    else gpul_pool_free(&pool);
    return status;
}

void gpul_pool_free(gpul_pool **pointer)
{
    if (!pointer || !*pointer) return;
    gpul_pool *pool = *pointer;
    *pointer = NULL;
    if (!gpul__refs_drop(&pool->refs)) return;
    bool pushed;
    if (pool->own && gpul__enter_quietly(pool->device, &pushed)) {
        gpul__api(pool->device)->MemPoolDestroy(pool->handle);
        gpul__leave(pool->device, pushed);
    }
    gpul__device_drop(pool->device);
    gpul__free(pool);
}

gpul_status gpul_pool_trim(gpul_pool *pool, uint64_t keep)
{
    GPUL__NEED(pool);
    bool pushed;
    gpul_status status = gpul__enter(pool->device, &pushed, "gpul_pool_trim");
    if (status != GPUL_OK) return status;
    size_t bytes = keep > SIZE_MAX ? SIZE_MAX : (size_t)keep;
    CUresult result = GPUL__CALL(gpul__api(pool->device), MemPoolTrimTo, pool->handle, bytes);
    return gpul__leave_with(pool->device, pushed, GPUL__MEMORY_FAILED, result, "cuMemPoolTrimTo",
                            "a pool cannot be trimmed");
}

gpul_status gpul_pool_describe(gpul_pool_info *out, gpul_pool *pool)
{
    if (!out) return gpul__fail_null("gpul_pool_describe", "out");
    memset(out, 0, sizeof *out);
    GPUL__NEED(pool);
    gpul_pool_info info = { 0 };
    const struct {
        CUmemPool_attribute which;
        uint64_t *to;
    } rows[] = { { CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &info.used },
                 { CU_MEMPOOL_ATTR_USED_MEM_HIGH, &info.used_peak },
                 { CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &info.reserved },
                 { CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &info.reserved_peak },
                 { CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &info.keep } };
    bool pushed;
    gpul_status status = gpul__enter(pool->device, &pushed, "gpul_pool_describe");
    if (status != GPUL_OK) return status;
    CUresult result = CUDA_SUCCESS;
    const gpul__driver *driver = gpul__api(pool->device);
    for (size_t i = 0; result == CUDA_SUCCESS && i < sizeof rows / sizeof *rows; i++)
        result = GPUL__CALL(driver, MemPoolGetAttribute, pool->handle, rows[i].which, rows[i].to);
    if (result == CUDA_SUCCESS) *out = info;
    return gpul__leave_with(pool->device, pushed, GPUL__MEMORY_FAILED, result,
                            "cuMemPoolGetAttribute", "a pool does not tell its size");
}
