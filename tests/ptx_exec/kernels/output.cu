// printf, assert and trap.  SPDX-License-Identifier: MIT
#include <cassert>
#include <cstdio>
extern "C" __global__ void formats(int *ret)
{
    ret[0] = printf("[%5d] [%-5d] [%05d] [%+d]\n", 42, 42, 42, 42) + 3;
    printf("[%.3f] [%.1e] [%8.2f] [%g]\n", 3.14159, 1500.0, 2.5f, -0.0);
    printf("[%x] [%X] [0x%04x] [%lld] [%llu]\n", 255, 255, 255, -9223372036854775807LL - 1, 18446744073709551615ULL);
    printf("[%c] [%-10s] [%10s] [%%] [%.2s]\n", 'A', "abc", "abc", "abc");
    ret[1] = printf("");
    printf("[%*d] [%-*.*f] [%hhd] [%hu] [%ld] [%i] [%o]\n", 6, 7, 8, 2, 1.005, 300, 70000, 1l << 40, -3, 8);
    printf("[%s] [%p]\n", (const char *)nullptr, (void *)0x1234);
    printf("no end of line");
    printf(" then one\n");
}

extern "C" __global__ void lines(int n)
{
    for (int k = 0; k < n; k++) printf("b%d t%d n%d\n", (int)blockIdx.x, (int)threadIdx.x, k);
}

extern "C" __global__ void before_trap(int who)
{
    printf("line of %d\n", (int)threadIdx.x);
    if (threadIdx.x == who) __trap();
}

extern "C" __global__ void bad_format(const char *f) { printf(f, 1); }

extern "C" __global__ void check(const int *v, int limit, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * v[i];
    assert(v[i] < limit);
}

extern "C" __global__ void trap(int who)
{
    if (blockIdx.x == 1 && threadIdx.x == who) __trap();
}

extern "C" __global__ void breakpoint() { __brkpt(); }
