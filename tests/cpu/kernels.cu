// Kernels of the tests of the CPU device; kernels.ptx is made from this by nvcc -ptx -arch=compute_75.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cassert>

struct packed {
    char tag;
    double value;
    short pair[2];
};

__device__ int counter = 7;
__constant__ float table[4] = { 1.0f, 2.0f, 4.0f, 8.0f };
__device__ __managed__ int shared_number = 5;

extern "C" __global__ void fill(int *out, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}

extern "C" __global__ void add_one(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += 1;
}

extern "C" __global__ void params(packed p, char c, float3 f, double d, short s, double *out)
{
    out[0] = p.tag;
    out[1] = p.value;
    out[2] = p.pair[0] + p.pair[1];
    out[3] = c;
    out[4] = f.x + 10 * f.y + 100 * f.z;
    out[5] = d;
    out[6] = s;
}

extern "C" __global__ void nothing() {}

extern "C" __global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = threadIdx.x; }

extern "C" __global__ void dynamic(int *out, int n)
{
    extern __shared__ int space[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) space[i] = 3 * i;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = space[n - 1];
}

extern "C" __global__ void fixed(int *out)
{
    __shared__ int space[1024];
    space[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = space[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void globals(float *out)
{
    out[0] = table[0] + table[3];
    out[1] = (float)atomicAdd(&counter, 1);
    out[2] = (float)shared_number;
    shared_number = 6;
}

extern "C" __global__ void wait_for(volatile int *flag, int *out)
{
    while (flag[0] == 0)
        ;
    out[0] = 1;
}

extern "C" __global__ void raise(volatile int *flag) { flag[0] = 1; }

extern "C" __global__ void say(int id) { printf("kernel %d says %s\n", id, "hello"); }

extern "C" __global__ void poke(int *p, int value) { p[threadIdx.x] = value; }

extern "C" __global__ void poke_odd(char *p) { *(int *)(p + 1) = 1; }

extern "C" __global__ void check(int value) { assert(value < 10); }

extern "C" __global__ void stop() { __trap(); }

// All blocks meet: ends only when all of them run at the same time.
extern "C" __global__ void meet(int *arrived)
{
    atomicAdd(arrived, 1);
    while (*(volatile int *)arrived < (int)gridDim.x)
        ;
}
