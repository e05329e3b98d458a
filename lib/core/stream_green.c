/* Streams on a part of the multiprocessors: each has a green context of its own.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/device_failure.h"
#include "core/stream.h"

enum { MOST_PARTS = 64 };

gpul_status gpul__green_check(const gpul_device *device, const gpul_stream_opts *o)
{
    unsigned all = (unsigned)device->info.multiprocessors;
    if (!o->multiprocessors && !o->part) return GPUL_OK;
    if (!o->multiprocessors)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_stream_new"),
                          "part is %u, and multiprocessors, the size of a part, is 0", o->part);
    if (o->multiprocessors > all || o->part >= MOST_PARTS)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_stream_new"),
                          "part %u of %u multiprocessors: %s has %u", o->part, o->multiprocessors,
                          device->info.name, all);
    if (o->blocking)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_stream_new"),
                          "a stream on a part of the multiprocessors cannot be blocking");
    if (device->context_kind != GPUL_CONTEXT_OWN) return GPUL_OK;
    gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_stream_new"),
               "a part of the multiprocessors belongs to the primary context, and the device has a "
               "context of its own");
    return gpul__hint("open the device with .context_kind = GPUL_CONTEXT_PRIMARY");
}

CUresult gpul__green_stream(gpul_stream *stream, gpul_device *device, const gpul_stream_opts *o,
                            const char **entry)
{
    const gpul__driver *driver = gpul__api(device);
    CUdevResource all, parts[MOST_PARTS];
    CUdevResourceDesc description;
    unsigned count = o->part + 1;
    memset(&all, 0, sizeof all);
    memset(parts, 0, sizeof parts);
    *entry = "cuDeviceGetDevResource";
    if (!driver->GreenCtxDestroy) return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result =
        GPUL__CALL(driver, DeviceGetDevResource, device->handle, &all, CU_DEV_RESOURCE_TYPE_SM);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuDevSmResourceSplitByCount";
    result = GPUL__CALL(driver, DevSmResourceSplitByCount, parts, &count, &all, NULL, 0,
                        o->multiprocessors);
    if (result == CUDA_SUCCESS && count <= o->part)
        result = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuDevResourceGenerateDesc";
    result = GPUL__CALL(driver, DevResourceGenerateDesc, &description, &parts[o->part], 1);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuGreenCtxCreate";
    result = GPUL__CALL(driver, GreenCtxCreate, &stream->green, description, device->handle,
                        CU_GREEN_CTX_DEFAULT_STREAM);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuGreenCtxStreamCreate";
    result = GPUL__CALL(driver, GreenCtxStreamCreate, &stream->handle, stream->green,
                        CU_STREAM_NON_BLOCKING, o->priority);
    stream->multiprocessors = parts[o->part].sm.smCount;
    if (result != CUDA_SUCCESS) gpul__green_free(stream, device);
    return result;
}

void gpul__green_free(gpul_stream *stream, gpul_device *device)
{
    if (stream->green) gpul__api(device)->GreenCtxDestroy(stream->green);
    stream->green = NULL;
}
