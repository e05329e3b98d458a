/* Entries about the driver and its devices.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"

#include <stdio.h>
#include <string.h>

CUresult gpul__cpu_DriverGetVersion(int *version)
{
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = CPU_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_GetErrorName(CUresult error, const char **name)
{
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = gpul_native_name(GPUL_NATIVE_CUDA, (int)error);
    if (strcmp(*name, "unknown") != 0) return CUDA_SUCCESS;
    *name = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__cpu_GetErrorString(CUresult error, const char **text)
{
    const char *name;
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = gpul__cpu_GetErrorName(error, &name);
    *text = result ? NULL : gpul_native_text(GPUL_NATIVE_CUDA, (int)error);
    return result;
}

CUresult gpul__cpu_DeviceGetCount(int *count)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!count) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    *count = (int)gpul__cpu.device_count;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* The name says what runs the kernels, so it needs the engine for a moment when none is open. */
CUresult gpul__cpu_DeviceGetName(char *name, int length, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!name || length <= 0) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    if (!gpul__cpu.isa_name[0]) {
        result = gpul__cpu_start();
        gpul__cpu_stop_if_unused();
        if (result) return gpul__cpu_leave(result);
    }
    snprintf(name, (size_t)length, "CPU device (%s, %u thread%s)", gpul__cpu.isa_name,
             gpul__cpu.threads, gpul__cpu.threads == 1 ? "" : "s");
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGetUuid(CUuuid *uuid, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!uuid) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    static const char prefix[15] = "gpulaunch-cpu-";
    memcpy(uuid->bytes, prefix, sizeof prefix);
    uuid->bytes[15] = (char)ordinal;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal)
{
    return gpul__cpu_DeviceGetUuid(uuid, ordinal);
}

CUresult gpul__cpu_DeviceTotalMem(size_t *bytes, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!bytes) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    *bytes = (size_t)gpul__cpu.memory_total;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    const cpu_limits *l = gpul__cpu.limits;
    switch ((int)attribute) {
#define X(number, what)                                                                            \
    case number:                                                                                   \
        *value = (what);                                                                           \
        break;
#include "cpu/attributes.def"
#undef X
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}

/* The device is on no bus. */
CUresult gpul__cpu_DeviceGetPCIBusId(char *bus_id, int length, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!bus_id || length <= 0) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
}

CUresult gpul__cpu_DeviceGetByPCIBusId(CUdevice *device, const char *bus_id)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    return gpul__cpu_leave(device && bus_id ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_DeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type,
                                                CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!supported || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    *supported = 0;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- peers ------------------------------------------------------------------------------ */

CUresult gpul__cpu_DeviceCanAccessPeer(int *can, CUdevice ordinal, CUdevice peer)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!can) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(ordinal) || !gpul__cpu_device_at(peer))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    *can = ordinal != peer;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute,
                                         CUdevice source, CUdevice destination)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_device_at(source) || !gpul__cpu_device_at(destination) || source == destination)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; break;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; break;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 0; break;
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}
