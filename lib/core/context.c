/* Making the right context current, and noticing forks.  SPDX-License-Identifier: MIT */
#include "core/context.h"

#include "core/device_failure.h"

unsigned gpul__forks;

/* Runs in the child, which has one thread: nobody else reads or writes the counter. */
static void forked(void)
{
    gpul__forks++;
}

static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static int watch_result;

static void watch(void)
{
    watch_result = pthread_atfork(NULL, NULL, forked);
}

gpul_status gpul__watch_forks(void)
{
    pthread_once(&watch_once, watch);
    if (watch_result) return gpul__no_memory();
    return GPUL_OK;
}

gpul_status gpul__fail_forked(const char *call)
{
    gpul__fail(GPUL__ENV_FORK, (.call = call),
               "the process was forked after the device was opened, and a context does not survive "
               "that");
    return gpul__hint("open the device in the child, or use threads or exec instead of fork");
}

CUresult gpul__make_current(gpul_device *device, CUresult result, CUcontext current, bool *pushed,
                            const char **entry)
{
    const gpul__driver *driver = gpul__api(device);
    *pushed = false;
    *entry = "cuCtxSetCurrent";
    /* A destroyed context on top of the stack is replaced: nobody can use it any more. */
    if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_INVALID_CONTEXT)
        return driver->CtxSetCurrent(device->context);
    if (result != CUDA_SUCCESS) {
        *entry = "cuCtxGetCurrent";
        return result;
    }
    if (!current) return driver->CtxSetCurrent(device->context);
    *entry = "cuCtxPushCurrent";
    result = driver->CtxPushCurrent(device->context);
    *pushed = result == CUDA_SUCCESS;
    return result;
}

gpul_status gpul__enter_slowly(gpul_device *device, CUresult result, CUcontext current,
                               bool *pushed, const char *call)
{
    const char *entry;
    result = gpul__make_current(device, result, current, pushed, &entry);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return gpul__refused(device, &(gpul__refusal){ GPUL__ENV_CONTEXT, result, entry, NULL, 0 },
                         "%s: the device's context cannot be made current on this thread", call);
}

bool gpul__enter_quietly(gpul_device *device, bool *pushed)
{
    *pushed = false;
    if (device->forks != gpul__forks) return false;
    CUcontext current = NULL;
    CUresult result = gpul__api(device)->CtxGetCurrent(&current);
    if (result == CUDA_SUCCESS && current == device->context) return true;
    const char *entry;
    if (gpul__make_current(device, result, current, pushed, &entry) == CUDA_SUCCESS) return true;
    /* What is current is not known: ours goes on top, whatever lies below. */
    *pushed = gpul__api(device)->CtxPushCurrent(device->context) == CUDA_SUCCESS;
    return *pushed;
}
