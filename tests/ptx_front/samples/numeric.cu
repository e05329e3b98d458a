// SPDX-License-Identifier: MIT
// One of many kinds of instructions, so that the tables are exercised.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void floats(float *f, double *d, int *i)
{
    float x = f[0], y = f[1];
    f[2] = __fmaf_rz(x, y, 1.0f) + __fdiv_rn(x, y) + __frcp_ru(x) + sqrtf(y) + rsqrtf(x) + __expf(y) + __sinf(x) + __log2f(y);
    f[3] = fminf(x, y) + fabsf(x) + copysignf(x, y) + __saturatef(x) + tanhf(y) + powf(x, y);
    d[2] = fma(d[0], d[1], 2.0) / d[3] + sqrt(d[4]) + exp(d[5]) + __dadd_rd(d[0], d[1]);
    i[0] = __float2int_rz(x) + __float2int_rn(y) + (int)d[0] + __popc(i[1]) + __clz(i[2]) + __brev(i[3]) + __ffs(i[4]);
    i[5] = __byte_perm(i[1], i[2], 0x3120) + __funnelshift_l(i[1], i[2], 3) + __mulhi(i[1], i[2]) + i[3] / i[4] + i[5] % i[6];
    i[7] = __dp4a(i[1], i[2], i[3]) + __sad(i[1], i[2], 3) + max(i[1], i[2]) + (i[1] > i[2] ? i[3] : i[4]);
}
extern "C" __global__ void halves(__half *h, __nv_bfloat16 *b, __half2 *h2, __nv_bfloat162 *b2, float *f)
{
    h[0] = __hfma(h[1], h[2], h[3]) + hexp2(h[4]);
    b[0] = __hfma(b[1], b[2], b[3]);
    h2[0] = __hfma2_relu(h2[1], h2[2], h2[3]) + __hmax2(h2[1], h2[2]);
    b2[0] = __hmul2(b2[1], b2[2]);
    f[0] = __half2float(h[5]) + __bfloat162float(b[5]);
    h[6] = __float2half_rz(f[1]);
    b[6] = __float2bfloat16_rn(f[2]);
}
extern "C" __global__ void atomics(int *i, unsigned long long *u, float *f, double *d)
{
    __shared__ int s;
    atomicAdd(i, 1); atomicAdd_system(i + 1, 2); atomicMax(i + 2, 3); atomicInc((unsigned *)i + 3, 4u);
    i[5] = atomicCAS(i + 6, 7, 8) + atomicExch(i + 7, 9);
    atomicAdd(u, 1ull); atomicAnd(u + 1, 3ull); atomicAdd(f, 1.5f); atomicAdd(d, 2.5); atomicOr(&s, 1);
    __threadfence(); __threadfence_block(); __threadfence_system();
}
extern "C" __global__ void warps(int *i, unsigned long long *u)
{
    int v = i[threadIdx.x];
    bool p;
    v += __shfl_xor_sync(~0u, v, 1) + __shfl_up_sync(~0u, v, 2) + __ballot_sync(~0u, v > 3) + __all_sync(~0u, v) + __any_sync(~0u, v);
    v += __match_any_sync(~0u, v) + __reduce_add_sync(~0u, v) + __activemask() + (int)__match_all_sync(~0u, v, (int *)&p);
    v += __syncthreads_or(v) + __syncthreads_count(v) + (int)clock64();
    __syncwarp(); __nanosleep(20);
    i[threadIdx.x] = v;
    u[0] = __ldg(u + 1) + __ldcs(u + 2);
    ((int4 *)i)[8] = ((const int4 *)i)[4];
    ((volatile int *)i)[3] = 4;
}
extern "C" __global__ void branches(int *i, int n)
{
    int local[16];
    for (int k = 0; k < n; k++) local[k & 15] = i[k] * k;
    switch (n) { case 0: i[0] = 1; break; case 1: i[1] = 3; break; case 2: i[2] = local[n & 15]; break; case 3: i[4] = 9; break; case 4: i[9] = 1; break; default: __trap(); }
}
