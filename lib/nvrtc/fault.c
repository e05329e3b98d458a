/* The n-th NVRTC call fails: for tests of what the library does then.  SPDX-License-Identifier: MIT */
#include "nvrtc/nvrtc.h"

#include <stdatomic.h>

nvrtcResult gpul__nvrtc_injected;
static atomic_bool counting;
static atomic_long countdown, calls;

void gpul__nvrtc_fail_at(long n, nvrtcResult result)
{
    gpul__nvrtc_injected = result;
    atomic_store(&calls, 0);
    atomic_store(&countdown, n);
    atomic_store(&counting, true);
}

long gpul__nvrtc_calls(void)
{
    return atomic_load(&calls);
}

bool gpul__nvrtc_gate(void)
{
    if (!atomic_load_explicit(&counting, memory_order_relaxed)) return false;
    atomic_fetch_add(&calls, 1);
    return atomic_fetch_sub(&countdown, 1) == 1;
}
