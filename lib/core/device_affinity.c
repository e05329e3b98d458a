/* Contexts that have a share of the multiprocessors: execution affinity, which drivers offer to the clients of an MPS
 * server.  SPDX-License-Identifier: MIT */
#include "core/device.h"
#include "core/device_failure.h"

static gpul_status fail_unsupported(const gpul__choice *choice, CUresult result, const char *entry)
{
    gpul__fail_driver(GPUL__EXECUTE_UNSUPPORTED, choice->driver, result, entry,
                      "a context with a share of the multiprocessors cannot be had on %s:%d",
                      choice->backend == GPUL_BACKEND_CPU ? "cpu" : "cuda", choice->device);
    return gpul__hint(
        "execution affinity needs a driver of CUDA 11.4 and an MPS server; streams on "
        "a part of the device (gpul_stream_opts.multiprocessors) need neither");
}

/* cuCtxCreate_v3 is older, and gone from the headers of CUDA 13 in favour of _v4. */
static CUresult create(CUcontext *context, const gpul__driver *driver, CUdevice device,
                       unsigned flags, unsigned count, const char **entry)
{
    CUexecAffinityParam affinity = { .type = CU_EXEC_AFFINITY_TYPE_SM_COUNT,
                                     .param.smCount.val = count };
    CUctxCreateParams params = { .execAffinityParams = &affinity, .numExecAffinityParams = 1 };
    *entry = driver->CtxCreate_v4 ? "cuCtxCreate_v4" : "cuCtxCreate_v3";
    if (driver->CtxCreate_v4) return driver->CtxCreate_v4(context, &params, flags, device);
    return GPUL__CALL(driver, CtxCreate_v3, context, &affinity, 1, flags, device);
}

gpul_status gpul__affinity_context(gpul_device *device, const gpul__choice *choice, unsigned flags,
                                   unsigned count, CUresult *result, const char **entry)
{
    const gpul__driver *driver = choice->driver;
    unsigned all = (unsigned)device->info.multiprocessors;
    int supported = 0;
    CUexecAffinityParam got;
    CUcontext popped;
    if (count > all)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "a context on %u multiprocessors: %s has %u", count, device->info.name,
                          all);
    *entry = "cuDeviceGetExecAffinitySupport";
    *result = GPUL__CALL(driver, DeviceGetExecAffinitySupport, &supported,
                         CU_EXEC_AFFINITY_TYPE_SM_COUNT, choice->device);
    if (*result == CUDA_SUCCESS && !supported) *result = CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (*result == CUDA_SUCCESS)
        *result = create(&device->context, driver, choice->device, flags, count, entry);
    if (*result == CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY || *result == CUDA_ERROR_NOT_SUPPORTED)
        return fail_unsupported(choice, *result, *entry);
    if (*result != CUDA_SUCCESS) return GPUL_OK;
    *entry = "cuCtxGetExecAffinity";
    *result = GPUL__CALL(driver, CtxGetExecAffinity, &got, CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    driver->CtxPopCurrent(&popped);
    if (*result == CUDA_SUCCESS) device->info.context_multiprocessors = got.param.smCount.val;
    return GPUL_OK;
}
