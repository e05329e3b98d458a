/* Limits of a device's context.  SPDX-License-Identifier: MIT */
#include <gpulaunch/device.h>

#include "core/context.h"
#include "core/device_failure.h"

static const char *limit_name(gpul_limit limit)
{
    switch (limit) {
    case GPUL_LIMIT_STACK: return "the stack of a thread";
    case GPUL_LIMIT_PRINTF: return "the printf buffer";
    case GPUL_LIMIT_HEAP: return "the heap of kernels";
    case GPUL_LIMIT_PENDING_LAUNCHES: return "the number of pending launches";
    case GPUL_LIMIT_L2_FETCH: return "the size of a fetch into L2";
    case GPUL_LIMIT_PERSISTING_L2: return "the persisting part of L2";
    }
    return NULL;
}

static gpul_status check_limit(gpul_limit limit, const char *call)
{
    if (limit_name(limit)) return GPUL_OK;
    return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                      "limit is %d, which is none of gpul_limit", (int)limit);
}

/* The driver has an error of its own for a limit that the device does not have. */
static CUresult plain(CUresult result)
{
    return result == CUDA_ERROR_UNSUPPORTED_LIMIT ? CUDA_ERROR_NOT_SUPPORTED : result;
}

gpul_status gpul_device_limit(uint64_t *out, gpul_device *device, gpul_limit limit)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(device);
    bool pushed;
    size_t value = 0;
    gpul_status status = check_limit(limit, "gpul_device_limit");
    if (status == GPUL_OK) status = gpul__enter(device, &pushed, "gpul_device_limit");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(device)->CtxGetLimit(&value, (CUlimit)limit);
    status = gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, plain(result), "cuCtxGetLimit",
                              limit_name(limit));
    if (status == GPUL_OK) *out = value;
    return status;
}

gpul_status gpul_device_set_limit(gpul_device *device, gpul_limit limit, uint64_t value)
{
    GPUL__NEED(device);
    bool pushed;
    gpul_status status = check_limit(limit, "gpul_device_set_limit");
    if (status == GPUL_OK && value > SIZE_MAX)
        status = gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_device_set_limit"),
                            "%llu is more than any memory has", (unsigned long long)value);
    if (status == GPUL_OK) status = gpul__enter(device, &pushed, "gpul_device_set_limit");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(device)->CtxSetLimit((CUlimit)limit, (size_t)value);
    status = gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, plain(result), "cuCtxSetLimit",
                              limit_name(limit));
    if (result == CUDA_ERROR_INVALID_VALUE && !atomic_load(&device->fault))
        return gpul__hint("the value is out of the device's range, or the limit is printf or heap "
                          "and a kernel that uses it was launched already");
    return status;
}

gpul_status gpul_device_reset_persisting(gpul_device *device)
{
    GPUL__NEED(device);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_device_reset_persisting");
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(device);
    CUresult result = driver->CtxResetPersistingL2Cache ? driver->CtxResetPersistingL2Cache()
                                                        : CUDA_ERROR_NOT_SUPPORTED;
    return gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, result,
                            "cuCtxResetPersistingL2Cache", "giving persisting L2 lines back");
}
