// Barriers of a block, well used and misused.  SPDX-License-Identifier: MIT
extern "C" __global__ void exits(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = t;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < n; k++) sum += s[k];
    out[t] = sum;
}

extern "C" __global__ void split(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t & 1) {
        __syncthreads();
        out[t] = s[t - 1];
    } else {
        __syncthreads();
        out[t] = s[t + 1];
    }
}

extern "C" __global__ void loop(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 0;
#pragma unroll 1
    for (int k = 0; k <= t; k++) {
        s[t] += k;
        __syncthreads();
    }
    __syncthreads();
    out[t] = s[63 - t];
}

// Warps meet at different instructions, which is allowed.
extern "C" __global__ void two_places(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        __syncthreads();
        out[t] = s[t + 32];
    } else {
        s[t] = 2 * t;
        __syncthreads();
        out[t] = s[t - 32];
    }
}

extern "C" __global__ void reduced(int *out)
{
    int t = threadIdx.x;
    int count = __syncthreads_count(t % 3 == 0);
    int all = __syncthreads_and(t < 1000), not_all = __syncthreads_and(t != 17);
    int any = __syncthreads_or(t == 40), none = __syncthreads_or(t > 1000);
    out[t] = count * 10000 + all * 1000 + not_all * 100 + any * 10 + none;
}

// Warp 0 fills, warps 1 and 2 use: barrier 1 says full, barrier 2 says empty.
extern "C" __global__ void named(int *out)
{
    __shared__ int box[32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int round = 0; round < 4; round++) {
        if (warp == 0) {
            box[lane] = 100 * round + lane;
            asm volatile("bar.arrive 1, 96;" ::: "memory");
            asm volatile("bar.sync 2, 96;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 96;" ::: "memory");
            out[(4 * (warp - 1) + round) * 32 + lane] = box[31 - lane];
            asm volatile("bar.arrive 2, 96;" ::: "memory");
        }
    }
}

// A counted barrier that waits for threads which have exited.
extern "C" __global__ void counted(int *out)
{
    if (threadIdx.x >= 32) return;
    asm volatile("bar.sync 3, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void mismatch(int *out)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 3, 64;" ::: "memory");
    else asm volatile("bar.sync 3, 96;" ::: "memory");
    out[threadIdx.x] = 1;
}

// Not aligned: the lanes of a warp come one after the other.
extern "C" __global__ void unaligned(int *out)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    if (t % 2) {
        s[t] = t;
        asm volatile("barrier.sync 5;" ::: "memory");
        out[t] = s[t - 1];
    } else {
        s[t] = 3 * t;
        asm volatile("barrier.sync 5;" ::: "memory");
        out[t] = s[t + 1];
    }
}

// One thread faults in front of the barrier: the others must not wait for it.
extern "C" __global__ void faulty(int *out, int *wild)
{
    if (threadIdx.x == 5) *wild = 1;
    __syncthreads();
    out[threadIdx.x] = 7;
}
