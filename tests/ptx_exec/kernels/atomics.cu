// Atomic operations of all kinds.  SPDX-License-Identifier: MIT
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __device__ void integers(T *g, T *old, T x)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    old[i] = atomicAdd(&g[0], (T)1);
    atomicMin(&g[1], x);
    atomicMax(&g[2], x);
    atomicAnd(&g[3], (T)~((T)1 << (i % 31)));
    atomicOr(&g[4], (T)1 << (i % 31));
    atomicXor(&g[5], (T)1 << (i % 16));
    atomicExch(&g[6], (T)5);
    atomicCAS(&g[7], (T)7, (T)8);
}
extern "C" __global__ void of_s32(int *g, int *old) { integers(g, old, (int)threadIdx.x - 20); }
extern "C" __global__ void of_u32(unsigned *g, unsigned *old) { integers(g, old, threadIdx.x + 0x80000000u); }
extern "C" __global__ void of_s64(long long *g)
{
    long long x = ((long long)threadIdx.x - 20) * (1ll << 33);
    atomicMin(&g[0], x);
    atomicMax(&g[1], x);
}
extern "C" __global__ void of_u64(unsigned long long *g, unsigned long long *old)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned long long x = (unsigned long long)threadIdx.x + (1ull << 63);
    old[i] = atomicAdd(&g[0], 1ull);
    atomicMin(&g[1], x);
    atomicMax(&g[2], x);
    atomicAnd(&g[3], ~(1ull << (i % 31)));
    atomicOr(&g[4], 1ull << (i % 31));
    atomicXor(&g[5], 1ull << (i % 16));
    atomicExch(&g[6], 5ull);
    atomicCAS(&g[7], 7ull, 8ull);
}

extern "C" __global__ void wrapping(unsigned *g, unsigned *old)
{
    int i = threadIdx.x;
    old[2 * i] = atomicInc(&g[0], 9u);
    old[2 * i + 1] = atomicDec(&g[1], 6u);
}

extern "C" __global__ void floats(float *f, double *d, __half2 *h, __nv_bfloat162 *b, unsigned short *s)
{
    atomicAdd(f, 0.25f);
    atomicAdd(d, 0.5);
    atomicAdd(h, __floats2half2_rn(0.5f, 1.0f));
    atomicAdd(b, __floats2bfloat162_rn(1.0f, 0.5f));
    atomicCAS(s, (unsigned short)threadIdx.x, (unsigned short)(threadIdx.x + 1));
    atomicAdd((__half *)(s + 2), __float2half(0.125f));
}

extern "C" __global__ void vectors(float2 *a, float4 *b)
{
    atomicAdd(a, make_float2(1.0f, 0.5f));
    atomicAdd(b, make_float4(1.0f, 2.0f, 3.0f, threadIdx.x));
}

extern "C" __global__ void in_shared(int *out, float *fout)
{
    __shared__ int s[4];
    __shared__ float f;
    __shared__ unsigned long long w;
    if (threadIdx.x < 4) s[threadIdx.x] = threadIdx.x == 2 ? 1000 : 0;
    if (threadIdx.x == 0) {
        f = 0;
        w = 0;
    }
    __syncthreads();
    atomicAdd(&s[0], (int)threadIdx.x);
    atomicMax(&s[1], (int)threadIdx.x);
    atomicMin(&s[2], (int)threadIdx.x + 5);
    int o = atomicExch(&s[3], (int)threadIdx.x);
    atomicAdd(&f, 0.5f);
    atomicAdd(&w, (unsigned long long)o + (1ull << 40));
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = s[threadIdx.x];
    if (threadIdx.x == 0) {
        *fout = f;
        out[4] = (int)(w >> 40);
    }
}

__device__ __noinline__ int add_any(int *p, int v) { return atomicAdd(p, v); }
extern "C" __global__ void by_generic(int *g, int *out)
{
    __shared__ int s;
    s = 0;
    __syncthreads();
    int r = add_any(threadIdx.x % 2 ? g : &s, 1);
    __syncthreads();
    out[threadIdx.x] = r;
    if (threadIdx.x == 0) out[blockDim.x] = s;
}

__device__ __noinline__ void keep(int *p) { *(volatile int *)p += 1; }
extern "C" __global__ void on_local(int *out)
{
    int l = 3;
    keep(&l);
    add_any(threadIdx.x == 7 ? &l : out, 1);
    out[1 + threadIdx.x] = l;
}

extern "C" __global__ void past(int *g) { atomicAdd(&g[threadIdx.x], 1); }

extern "C" __global__ void reductions(int *g, unsigned long long *h)
{
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(g), "r"(threadIdx.x) : "memory");
    asm volatile("red.global.max.u64 [%0], %1;" ::"l"(h), "l"(7ull * threadIdx.x) : "memory");
    asm volatile("red.release.cta.global.or.b32 [%0], %1;" ::"l"(g + 1), "r"(1 << (threadIdx.x & 15)) : "memory");
}
