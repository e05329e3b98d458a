/* What a driver tells about a device.  SPDX-License-Identifier: MIT */
#include "core/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/device_failure.h"

gpul_status gpul__fail_driver(int code, const gpul__driver *driver, CUresult result,
                              const char *entry, const char *format, ...)
{
    gpul__str text = { 0 };
    va_list args;
    va_start(args, format);
    gpul__str_vprintf(&text, format, args);
    va_end(args);
    char *log = gpul__driver_log(driver);
    gpul_status status = gpul__fail(
        code, (.call = entry, .native_kind = GPUL_NATIVE_CUDA, .native = (int)result, .log = log),
        "%s: %s", gpul__str_text(&text), gpul_native_text(GPUL_NATIVE_CUDA, (int)result));
    gpul__free(log);
    gpul__str_free(&text);
    return status;
}

static uint64_t attribute(const gpul__choice *choice, CUdevice_attribute which)
{
    int value = 0;
    if (choice->driver->DeviceGetAttribute(&value, which, choice->device) != CUDA_SUCCESS) return 0;
    return value > 0 ? (uint64_t)value : 0;
}

/* MIG instances have a UUID of their own, which only the second form of the entry tells. */
bool gpul__device_uuid(char out[48], bool *mig, const gpul__choice *choice)
{
    CUuuid first, second;
    const gpul__driver *driver = choice->driver;
    out[0] = 0;
    *mig = false;
    bool have = driver->DeviceGetUuid(&first, choice->device) == CUDA_SUCCESS;
    if (driver->DeviceGetUuid_v2 &&
        driver->DeviceGetUuid_v2(&second, choice->device) == CUDA_SUCCESS) {
        *mig = have && memcmp(&first, &second, sizeof first) != 0;
        first = second;
        have = true;
    }
    if (!have) return false;
    const char *kind = choice->backend == GPUL_BACKEND_CPU ? "CPU" : *mig ? "MIG" : "GPU";
    int n = snprintf(out, 48, "%s", kind);
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        n += snprintf(out + n, 48 - (size_t)n, "%s%02x", dash ? "-" : "",
                      (unsigned char)first.bytes[i]);
    }
    return true;
}

static void read_attributes(gpul_device_info *out, const gpul__choice *choice)
{
#define INT(field, name)                                                                           \
    out->field = (__typeof__(out->field))attribute(choice, CU_DEVICE_ATTRIBUTE_##name)
    INT(compute_major, COMPUTE_CAPABILITY_MAJOR);
    INT(compute_minor, COMPUTE_CAPABILITY_MINOR);
    INT(multiprocessors, MULTIPROCESSOR_COUNT);
    INT(warp_size, WARP_SIZE);
    INT(l2_bytes, L2_CACHE_SIZE);
    INT(clock_khz, CLOCK_RATE);
    INT(memory_clock_khz, MEMORY_CLOCK_RATE);
    INT(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH);
    INT(max_grid[0], MAX_GRID_DIM_X);
    INT(max_grid[1], MAX_GRID_DIM_Y);
    INT(max_grid[2], MAX_GRID_DIM_Z);
    INT(max_block[0], MAX_BLOCK_DIM_X);
    INT(max_block[1], MAX_BLOCK_DIM_Y);
    INT(max_block[2], MAX_BLOCK_DIM_Z);
    INT(max_threads_per_block, MAX_THREADS_PER_BLOCK);
    INT(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR);
    INT(max_blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR);
    INT(registers_per_block, MAX_REGISTERS_PER_BLOCK);
    INT(registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR);
    INT(shared_per_block, MAX_SHARED_MEMORY_PER_BLOCK);
    INT(shared_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    INT(shared_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    INT(constant_bytes, TOTAL_CONSTANT_MEMORY);
    INT(compute_mode, COMPUTE_MODE);
    INT(copy_engines, ASYNC_ENGINE_COUNT);
    INT(persisting_l2_bytes, MAX_PERSISTING_L2_CACHE_SIZE);
    INT(access_window_bytes, MAX_ACCESS_POLICY_WINDOW_SIZE);
    INT(texture_1d_linear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    INT(texture_2d[0], MAXIMUM_TEXTURE2D_WIDTH);
    INT(texture_2d[1], MAXIMUM_TEXTURE2D_HEIGHT);
    INT(texture_3d[0], MAXIMUM_TEXTURE3D_WIDTH);
    INT(texture_3d[1], MAXIMUM_TEXTURE3D_HEIGHT);
    INT(texture_3d[2], MAXIMUM_TEXTURE3D_DEPTH);
#undef INT
#define BOOL(field, name) out->field = attribute(choice, CU_DEVICE_ATTRIBUTE_##name) != 0
    BOOL(cooperative, COOPERATIVE_LAUNCH);
    BOOL(cluster, CLUSTER_LAUNCH);
    BOOL(memory_pools, MEMORY_POOLS_SUPPORTED);
    BOOL(managed, MANAGED_MEMORY);
    BOOL(concurrent_managed, CONCURRENT_MANAGED_ACCESS);
    BOOL(unified_addressing, UNIFIED_ADDRESSING);
    BOOL(virtual_memory, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    BOOL(pageable_access, PAGEABLE_MEMORY_ACCESS);
    BOOL(integrated, INTEGRATED);
    BOOL(ecc, ECC_ENABLED);
#undef BOOL
    if (!out->shared_per_block_optin) out->shared_per_block_optin = out->shared_per_block;
}

gpul_status gpul__device_facts(gpul_device_info *out, const gpul__choice *choice)
{
    const gpul__driver *driver = choice->driver;
    *out = (gpul_device_info){ .backend = choice->backend,
                               .ordinal = choice->device,
                               .driver_version = driver->version };
    CUresult result = driver->DeviceGetName(out->name, sizeof out->name - 1, choice->device);
    if (result != CUDA_SUCCESS)
        return gpul__fail_driver(GPUL__ENV_NO_DEVICE, driver, result, "cuDeviceGetName",
                                 "device %d does not tell its name", choice->device);
    size_t total = 0;
    result = driver->DeviceTotalMem(&total, choice->device);
    if (result != CUDA_SUCCESS)
        return gpul__fail_driver(GPUL__ENV_NO_DEVICE, driver, result, "cuDeviceTotalMem",
                                 "device %d, %s, does not tell its memory", choice->device,
                                 out->name);
    out->memory_total = total;
    gpul__device_uuid(out->uuid, &out->mig, choice);
    if (driver->DeviceGetPCIBusId(out->pci_bus_id, sizeof out->pci_bus_id, choice->device) !=
        CUDA_SUCCESS)
        out->pci_bus_id[0] = 0;
    if (choice->backend == GPUL_BACKEND_CUDA)
        gpul__driver_release(out->driver_release, sizeof out->driver_release, driver);
    read_attributes(out, choice);
    /* Both limits of a launch that later checks divide by and compare with must be there. */
    if (!out->max_threads_per_block || !out->max_grid[0] || !out->compute_major) {
        int value;
        result = driver->DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                            choice->device);
        return gpul__fail(GPUL__ENV_NO_DEVICE,
                          (.call = "cuDeviceGetAttribute", .native_kind = GPUL_NATIVE_CUDA,
                           .native = (int)result,
                           .hint = "gpulaunch doctor looks at the driver and its devices"),
                          "device %d, %s, does not tell its limits: %s", choice->device, out->name,
                          gpul_native_text(GPUL_NATIVE_CUDA, (int)result));
    }
    bool large = driver->version >= 12010 && out->compute_major >= 7;
    out->max_parameter_bytes = large ? 32764 : 4096;
    return GPUL_OK;
}
