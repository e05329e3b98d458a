// Shuffles, votes and the other instructions that lanes execute together.
// SPDX-License-Identifier: MIT
extern "C" __global__ void shuffles(int *out)
{
    int t = threadIdx.x, v = t * t + 1;
    unsigned all = 0xffffffffu;
    int r[8] = { __shfl_sync(all, v, 5),        __shfl_sync(all, v, t + 1, 8), __shfl_up_sync(all, v, 3),
                 __shfl_up_sync(all, v, 3, 8),  __shfl_down_sync(all, v, 7),   __shfl_down_sync(all, v, 2, 4),
                 __shfl_xor_sync(all, v, 9),    __shfl_xor_sync(all, v, 5, 8) };
    for (int k = 0; k < 8; k++) out[8 * t + k] = r[k];
}

extern "C" __global__ void wide(long long *out, double *d)
{
    long long v = 0x123456789ll * (threadIdx.x + 1);
    out[threadIdx.x] = __shfl_down_sync(0xffffffffu, v, 1);
    d[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.x * 0.5, 1);
}

extern "C" __global__ void votes(unsigned *out)
{
    int t = threadIdx.x;
    unsigned all = 0xffffffffu;
    out[t] = __ballot_sync(all, t % 3 == 0);
    out[32 + t] = __any_sync(all, t == 7) * 4 + __all_sync(all, t < 32) * 2 + __all_sync(all, t < 31);
    int uniform;
    asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %1, 32; vote.sync.uni.pred q, p, -1; selp.s32 %0, 1, 0, q; }"
                 : "=r"(uniform) : "r"(t));
    out[64 + t] = uniform;
    out[96 + t] = __match_any_sync(all, t / 5);
    int same, differ;
    unsigned m = __match_all_sync(all, 5, &same), n = __match_all_sync(all, t, &differ);
    out[128 + t] = (m == all) * 8 + same * 4 + (n == 0) * 2 + differ;
    out[160 + t] = __match_any_sync(all, (unsigned long long)(t & 1) << 40);
}

extern "C" __global__ void reductions(int *out)
{
    int t = threadIdx.x, v = t - 16;
    unsigned all = 0xffffffffu;
    int r[8] = { __reduce_add_sync(all, v), __reduce_min_sync(all, v), __reduce_max_sync(all, v),
                 (int)__reduce_min_sync(all, (unsigned)v), (int)__reduce_max_sync(all, (unsigned)v),
                 (int)__reduce_and_sync(all, (unsigned)t | 64), (int)__reduce_or_sync(all, (unsigned)t),
                 (int)__reduce_xor_sync(all, (unsigned)t * 3) };
    for (int k = 0; k < 8; k++) out[8 * t + k] = r[k];
}

extern "C" __global__ void parts(unsigned *out)
{
    int t = threadIdx.x;
    if (t < 10) out[t] = __activemask();
    else if (t < 20) out[t] = __ballot_sync(0xffc00u, t % 2);
    else out[t] = __shfl_sync(0xfff00000u, t, 25);
    __syncwarp();
    unsigned leader = 0, is = 0;
    if (t % 4 == 1)
        asm volatile("{ .reg .pred p; elect.sync %0|p, 0x22222222; selp.u32 %1, 1, 0, p; }"
                     : "=r"(leader), "=r"(is));
    out[32 + t] = 100 * leader + is;
}

// Each group of lanes has a mask of its own, in one instruction.
extern "C" __global__ void masks(int *out)
{
    int t = threadIdx.x;
    unsigned mine = 0xffu << (t & 24);
    int v = t;
    for (int d = 4; d; d >>= 1) v += __shfl_xor_sync(mine, v, d);
    out[t] = v;
}

// One exchange, at two places of the code.
extern "C" __global__ void two_places(int *out)
{
    int t = threadIdx.x, r;
    if (t % 2) {
        asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(r) : "r"(10 * t));
        r += 1000;
    } else {
        asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(r) : "r"(7 * t));
        r += 2000;
    }
    out[t] = r;
}

// Lanes wait for others that still loop.
extern "C" __global__ void late(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < t; k++) sum += k ^ t;
    __syncwarp();
    int other = __shfl_down_sync(0xffffffffu, sum, 1);
    out[t] = sum - other;
}

extern "C" __global__ void exited(int *out)
{
    int t = threadIdx.x;
    if (t >= 20) return;
    out[t] = __ballot_sync(0xffffffffu, 1);
}

extern "C" __global__ void stranger(int *out)
{
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, (int)threadIdx.x, 0);
}

extern "C" __global__ void never(int *out)
{
    int t = threadIdx.x;
    if (t < 16) out[t] = __shfl_sync(0xffffffffu, t, 0);
    else out[t] = (int)__ballot_sync(0xffffffffu, 1);
}

// The old last warp of a reduction, in step without a barrier.
extern "C" __global__ void in_step(const int *in, int *out)
{
    __shared__ int box[64];
    volatile int *s = box;
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d; d >>= 1) s[t] = s[t] + s[t + d];
        if (t == 0) out[0] = s[0];
    }
}
