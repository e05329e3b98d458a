// Memory that is not the kernel's, asserts, traps, and a loop without an end.  SPDX-License-Identifier: MIT
extern "C" __global__ void fill(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = 3 * i;
}
extern "C" __global__ void first(const int *p, int *out)
{
    out[0] = p[0];
}
extern "C" __global__ void below(const int *v, int limit, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = v[i] + 1;
    assert(v[i] < limit);
}
extern "C" __global__ void stop(int who)
{
    if (blockIdx.x == 1 && threadIdx.x == who)
        __trap();
}
extern "C" __global__ void wait(volatile int *flag, int *out)
{
    while (flag[0] == 0)
        ;
    if (threadIdx.x == 0) out[0] = 1;
}
extern "C" __global__ void odd(const char *p, float *out)
{
    out[0] = *(const float *)(p + 2);
}
