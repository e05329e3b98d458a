/* Making a kernel: its attributes on this device, and the tables that a launch goes by.  Finding one by
 * name is in kernel_find.c.  SPDX-License-Identifier: MIT */
#include "core/kernel.h"

#include "core/context.h"
#include "core/device_failure.h"

void gpul__kernel_free(gpul_kernel *kernel)
{
    if (!kernel) return;
    gpul__free((void *)(uintptr_t)kernel->slots);
    gpul__free(kernel);
}

static gpul_status refused(gpul_module *module, CUresult result, const char *entry,
                           const char *name)
{
    return gpul__refused(module->device,
                         &(gpul__refusal){ GPUL__LOAD_FAILED, result, entry, NULL, 0 },
                         "the kernel '%s' cannot be loaded or asked", name);
}

/* Fills what comes from the device.  Only the largest block is needed; the rest stays unknown where a
 * driver does not tell. */
static gpul_status read_attributes(gpul_kernel *k)
{
    const struct {
        CUfunction_attribute which;
        int *to;
    } rows[] = {
        { CU_FUNC_ATTRIBUTE_NUM_REGS, &k->info.registers },
        { CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &k->info.shared_bytes },
        { CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &k->info.local_bytes },
        { CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &k->info.constant_bytes },
        { CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &k->info.max_threads },
    };
    const gpul__driver *driver = gpul__api(k->device);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int value = 0;
        CUresult result = driver->FuncGetAttribute(&value, rows[i].which, k->function);
        if (result != CUDA_SUCCESS)
            return refused(k->module, result, "cuFuncGetAttribute", k->info.name);
        *rows[i].to = value;
    }
    return GPUL_OK;
}

static int optional_attribute(const gpul_kernel *k, CUfunction_attribute which)
{
    int value = 0;
    CUresult result = gpul__api(k->device)->FuncGetAttribute(&value, which, k->function);
    return result == CUDA_SUCCESS && value > 0 ? value : 0;
}

static void set_limits(gpul_kernel *k)
{
    const gpul_device_info *device = &k->device->info;
    uint64_t bounded = 1;
    for (int i = 0; i < 3; i++) {
        k->grid_limit[i] =
            device->max_grid[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)device->max_grid[i];
        k->block_limit[i] = device->max_block[i];
        if (k->info.bound_threads[i] > 0) bounded *= (uint64_t)k->info.bound_threads[i];
    }
    k->max_threads = device->max_threads_per_block;
    if (k->info.max_threads > 0 && (uint32_t)k->info.max_threads < k->max_threads)
        k->max_threads = (uint32_t)k->info.max_threads;
    if (k->info.bound_threads[0] > 0 && bounded < k->max_threads)
        k->max_threads = (uint32_t)bounded;
    uint32_t fixed = k->info.shared_bytes > 0 ? (uint32_t)k->info.shared_bytes : 0;
    uint32_t most = device->shared_per_block_optin;
    k->shared_limit = fixed < most ? most - fixed : 0;
    int allowed = optional_attribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    if ((uint32_t)allowed > k->shared_limit) allowed = (int)k->shared_limit;
    atomic_init(&k->shared_allowed, (uint32_t)allowed);
    atomic_init(&k->cooperative, 0);
    if (!k->info.cluster[0]) {
        k->info.cluster[0] = optional_attribute(k, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        k->info.cluster[1] = optional_attribute(k, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
        k->info.cluster[2] = optional_attribute(k, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
    }
    if (k->info.bound_exact && k->info.bound_threads[0] > 0) k->special |= GPUL__KERNEL_EXACT_BLOCK;
    if (k->info.cluster[0] > 0) k->special |= GPUL__KERNEL_CLUSTER;
    if (k->info.uses_dynamic_shared) k->special |= GPUL__KERNEL_SHARED;
    if (k->info.uses_grid_sync) k->special |= GPUL__KERNEL_GRID_SYNC;
    if (k->param_bytes > device->max_parameter_bytes) k->special |= GPUL__KERNEL_PARAMETERS;
}

/* Loads the code now: done at the first launch, as drivers like to, it would break a capture. */
static gpul_status preload(const gpul_kernel *k)
{
    CUresult result = GPUL__CALL(gpul__api(k->device), FuncLoad, k->function);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_SUPPORTED) return GPUL_OK;
    return refused(k->module, result, "cuFuncLoad", k->info.name);
}

/* The driver's own layout, where it tells (12.4), must be ours: nobody else would notice a mistake. */
static gpul_status compare_layout(const gpul_kernel *k)
{
    const gpul__driver *driver = gpul__api(k->device);
    for (uint32_t i = 0; driver->FuncGetParamInfo && i < k->slot_count; i++) {
        size_t offset = 0, size = 0;
        CUresult result = driver->FuncGetParamInfo(k->function, i, &offset, &size);
        if (result == CUDA_ERROR_NOT_SUPPORTED) return GPUL_OK;
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
            return refused(k->module, result, "cuFuncGetParamInfo", k->info.name);
        if (result == CUDA_ERROR_INVALID_VALUE)
            return gpul__fail(GPUL__INTERNAL,
                              (.call = "cuFuncGetParamInfo", .native_kind = GPUL_NATIVE_CUDA,
                               .native = (int)result),
                              "'%s' has %u parameters by our reading and %u by the driver's",
                              k->info.name, k->slot_count, i);
        if (offset != k->slots[i].offset || size != k->slots[i].size)
            return gpul__fail(GPUL__INTERNAL, (.call = "cuFuncGetParamInfo"),
                              "parameter %u of '%s' is %u bytes at offset %u by our reading, and "
                              "%zu bytes at offset %zu by the driver's",
                              i + 1, k->info.name, k->slots[i].size, k->slots[i].offset, size,
                              offset);
    }
    return GPUL_OK;
}

static gpul_status make_slots(gpul_kernel *k)
{
    gpul__slot *slots = gpul__calloc(k->info.param_count, sizeof *slots);
    if (!slots) return gpul__no_memory();
    k->slots = slots;
    k->slot_count = k->info.param_count;
    k->param_bytes = k->info.param_bytes;
    uint64_t end = 0;
    k->quick = k->slot_count > 0;
    for (uint32_t i = 0; i < k->slot_count; i++) {
        gpul__slot_make(&slots[i], &k->info.params[i], k->info.types);
        if (slots[i].offset != end) k->padded = true;
        if (slots[i].size > sizeof(uint64_t)) k->quick = false;
        end = (uint64_t)slots[i].offset + slots[i].size;
        if (end > k->param_bytes)
            return gpul__fail(GPUL__INTERNAL, (.call = "gpul_module_kernel"),
                              "parameter %u of '%s' ends at byte %llu of %u", i + 1, k->info.name,
                              (unsigned long long)end, k->param_bytes);
    }
    k->quick = k->quick && k->param_bytes <= GPUL__QUICK_PARAMETERS;
    return GPUL_OK;
}

gpul_status gpul__kernel_new(gpul_kernel **out, gpul_module *module, const gpul_kernel_info *info,
                             CUfunction function)
{
    gpul_kernel *k = gpul__calloc(1, sizeof *k);
    if (!k) return gpul__no_memory();
    k->device = module->device;
    k->module = module;
    k->function = function;
    k->info = *info;
    k->kept_name = gpul__device_keep_name(module->device, info->name);
    gpul_status status = k->kept_name ? make_slots(k) : gpul__no_memory();
    if (status == GPUL_OK) status = preload(k);
    if (status == GPUL_OK) status = read_attributes(k);
    if (status == GPUL_OK) status = compare_layout(k);
    if (status == GPUL_OK) {
        set_limits(k);
        *out = k;
    } else {
        gpul__kernel_free(k);
    }
    return status;
}

const gpul_kernel_info *gpul_kernel_describe(const gpul_kernel *kernel)
{
    return kernel ? &kernel->info : NULL;
}

void *gpul_kernel_handle(const gpul_kernel *kernel)
{
    return kernel ? kernel->function : NULL;
}

static gpul_status occupancy_refused(const gpul_kernel *kernel, CUresult result, const char *entry)
{
    return gpul__refused(kernel->device,
                         &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result, entry, NULL, 0 },
                         "the occupancy of '%s'", kernel->info.name);
}

static gpul_status check_shared(const gpul_kernel *kernel, size_t shared, const char *call)
{
    if (shared <= kernel->shared_limit) return GPUL_OK;
    return gpul__fail(GPUL__LAUNCH_SHARED, (.call = call),
                      "%zu bytes of dynamic shared memory are more than the %u that '%s' can have",
                      shared, kernel->shared_limit, kernel->info.name);
}

gpul_status gpul_kernel_occupancy(int *out, const gpul_kernel *kernel, unsigned block_threads,
                                  size_t shared)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(kernel);
    gpul_status status = check_shared(kernel, shared, "gpul_kernel_occupancy");
    if (status != GPUL_OK) return status;
    if (block_threads == 0 || block_threads > kernel->max_threads)
        return gpul__fail(GPUL__LAUNCH_LIMIT, (.call = "gpul_kernel_occupancy"),
                          "a block of %u threads: '%s' takes 1 to %u here", block_threads,
                          kernel->info.name, kernel->max_threads);
    bool pushed;
    status = gpul__enter(kernel->device, &pushed, "gpul_kernel_occupancy");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(kernel->device)
                          ->OccupancyMaxActiveBlocksPerMultiprocessor(out, kernel->function,
                                                                      (int)block_threads, shared);
    gpul__leave(kernel->device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    *out = 0;
    return occupancy_refused(kernel, result, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

gpul_status gpul_kernel_suggest_block(int *out, const gpul_kernel *kernel, size_t shared)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(kernel);
    gpul_status status = check_shared(kernel, shared, "gpul_kernel_suggest_block");
    if (status != GPUL_OK) return status;
    bool pushed;
    status = gpul__enter(kernel->device, &pushed, "gpul_kernel_suggest_block");
    if (status != GPUL_OK) return status;
    int grid = 0;
    CUresult result =
        gpul__api(kernel->device)
            ->OccupancyMaxPotentialBlockSize(&grid, out, kernel->function, NULL, shared, 0);
    gpul__leave(kernel->device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    *out = 0;
    return occupancy_refused(kernel, result, "cuOccupancyMaxPotentialBlockSize");
}
