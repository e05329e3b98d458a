/* Which context is current: each call of the library makes the device's own current and leaves a
 * foreign one as it was.  Also here: noticing that the process was forked.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_CONTEXT_H
#define GPUL_CORE_CONTEXT_H

#include "core/device.h"

/* How many forks lie between this process and the one that loaded the library. */
extern unsigned gpul__forks;

/* Starts to count forks; called before the first device is opened. */
gpul_status gpul__watch_forks(void);

/* GL1010 for an object that was made before a fork. */
gpul_status gpul__fail_forked(const char *call);

/* Makes the device's context current when `current` (what cuCtxGetCurrent gave, with `result`) is
 * another one or none.  *entry is the driver call that refused. */
CUresult gpul__make_current(gpul_device *device, CUresult result, CUcontext current, bool *pushed,
                            const char **entry);

/* The slow part of gpul__enter: another context, none, or a failing driver. */
gpul_status gpul__enter_slowly(gpul_device *device, CUresult result, CUcontext current,
                               bool *pushed, const char *call);

/* Makes the device's context current on this thread.  *pushed says that a foreign one lies below,
 * and goes to gpul__leave.  A fork or an unusable context is a failing status, and then gpul__leave is
 * not to be called. */
static inline gpul_status gpul__enter(gpul_device *device, bool *pushed, const char *call)
{
    CUcontext current = NULL;
    *pushed = false;
    if (__builtin_expect(device->forks != gpul__forks, 0)) return gpul__fail_forked(call);
    CUresult result = gpul__api(device)->CtxGetCurrent(&current);
    if (__builtin_expect(result == CUDA_SUCCESS && current == device->context, 1)) return GPUL_OK;
    return gpul__enter_slowly(device, result, current, pushed, call);
}

/* The same for the _free functions, which leave no error record; false: the driver is out of reach. */
bool gpul__enter_quietly(gpul_device *device, bool *pushed);

static inline void gpul__leave(gpul_device *device, bool pushed)
{
    CUcontext popped;
    if (__builtin_expect(pushed, 0)) gpul__api(device)->CtxPopCurrent(&popped);
}

#endif
