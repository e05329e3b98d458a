/* A libcuda for the loader's tests, made from driver.def: every entry answers STUB_ANSWER (0), but for the few that follow.
 * The environment says the rest when a call is made: STUB_INIT is cuInit's answer, STUB_COUNT the number of devices, STUB_VERSION
 * what cuDriverGetVersion says.  An entry is left out by giving it another name: -DcuMemAlloc_v2=absent.
 * SPDX-License-Identifier: MIT */
#include "driver/cuda_abi.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifndef STUB_ANSWER
#define STUB_ANSWER CUDA_SUCCESS
#endif
#define EXPORTED __attribute__((visibility("default")))

EXPORTED atomic_int stub_inits;
EXPORTED int *stub_init_calls(void);
EXPORTED int *stub_init_calls(void)
{
    return (int *)&stub_inits;
}

#ifndef STUB_ALL
static int told(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

EXPORTED CUresult stub_init(unsigned int flags) __asm__("cuInit");
EXPORTED CUresult stub_version(int *version) __asm__("cuDriverGetVersion");
EXPORTED CUresult stub_count(int *count) __asm__("cuDeviceGetCount");

CUresult stub_init(unsigned int flags)
{
    (void)flags;
    atomic_fetch_add(&stub_inits, 1);
    return (CUresult)told("STUB_INIT", CUDA_SUCCESS);
}

CUresult stub_version(int *version)
{
    *version = told("STUB_VERSION", 12040);
    return CUDA_SUCCESS;
}

CUresult stub_count(int *count)
{
    *count = told("STUB_COUNT", 1);
    return CUDA_SUCCESS;
}
/* The rows of these three make functions under names that nobody asks for. */
#define cuInit             unused_init
#define cuDriverGetVersion unused_version
#define cuDeviceGetCount   unused_count
#endif

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define X(field, symbol, need, params, args, letters) X_(symbol, params)
#define X_(symbol, params)                                                                         \
    EXPORTED CUresult symbol params;                                                               \
    CUresult symbol params                                                                         \
    {                                                                                              \
        return (CUresult)(STUB_ANSWER);                                                            \
    }
#include "driver/driver.def"
