// Barriers that not every thread reaches, races, and code that is right.  SPDX-License-Identifier: MIT
extern "C" __global__ void leavers(int *out, int n)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = 2 * t;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < n; k++) sum += s[k];
    out[t] = sum;
}
extern "C" __global__ void two_places(int *out)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = t;
    if (t % 3 == 0) {
        __syncthreads();
        out[t] = s[t + 1];
    } else {
        __syncthreads();
        out[t] = s[t - 1];
    }
}
extern "C" __global__ void ahead(int *out)
{
    __shared__ int box[96];
    int t = threadIdx.x;
    box[t] = 5 * t;
    out[t] = t >= 32 ? box[t - 32] : box[t];
}
extern "C" __global__ void behind(int *out)
{
    __shared__ int box[96];
    int t = threadIdx.x;
    box[t] = 5 * t;
    out[t] = t < 64 ? box[t + 32] : box[t];
}
template <bool Right> __device__ void rounds(const int *in, int *out)
{
    __shared__ int box[96];
    int t = threadIdx.x;
    for (int r = 0; r < 3; r++) {
        box[t] = in[96 * r + t];
        __syncthreads();
        if (t == 0) {
            int s = 0;
            for (int k = 0; k < 96; k++) s += box[k];
            out[r] = s;
        }
        if (Right) __syncthreads();
    }
}
extern "C" __global__ void loop_wrong(const int *in, int *out) { rounds<false>(in, out); }
extern "C" __global__ void loop_right(const int *in, int *out) { rounds<true>(in, out); }
template <bool Right> __device__ void last_warp(const int *in, int *out)
{
    __shared__ int box[64];
    volatile int *s = box;
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d; d >>= 1) {
            if (Right) {
                int a = s[t], b = t + d < 64 ? s[t + d] : 0;
                __syncwarp();
                s[t] = a + b;
                __syncwarp();
            } else {
                s[t] = s[t] + s[t + d];
            }
        }
        if (t == 0) out[0] = s[0];
    }
}
extern "C" __global__ void warp_wrong(const int *in, int *out) { last_warp<false>(in, out); }
extern "C" __global__ void warp_right(const int *in, int *out) { last_warp<true>(in, out); }
extern "C" __global__ void reverse(int *out)
{
    __shared__ int cell[96];
    int t = threadIdx.x;
    cell[t] = t;
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        int v = cell[95 - t];
        __syncthreads();
        cell[t] = v;
        __syncthreads();
    }
    out[t] = cell[t];
}
extern "C" __global__ void tally(const int *in, int *hist)
{
    __shared__ int h[4];
    int t = threadIdx.x;
    if (t < 4) h[t] = 0;
    __syncthreads();
    atomicAdd(&h[in[t] % 4], 1);
    __syncthreads();
    if (t < 4) hist[t] = h[t];
}
extern "C" __global__ void last_block(const int *in, int *part, unsigned *ticket, int *out)
{
    __shared__ bool last;
    int s = in[32 * blockIdx.x + threadIdx.x];
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; b++) all += ((volatile int *)part)[b];
        out[0] = all;
    }
}
extern "C" __global__ void locked(int *lock, int *plain)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *plain = *plain + 2;
    __threadfence();
    atomicExch(lock, 0);
}
extern "C" __global__ void each_lane(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile int *)count = *(volatile int *)count + 3;
    __threadfence();
    atomicExch(lock, 0);
}
extern "C" __global__ void hand_shake(volatile int *flag, volatile int *cell, int *out)
{
    if (blockIdx.x == 0) {
        while (flag[0] == 0)
            ;
        __threadfence();
        out[0] = cell[0] + 1;
        cell[1] = 6;
        __threadfence();
        flag[1] = 1;
    } else {
        cell[0] = 20;
        __threadfence();
        flag[0] = 1;
        while (flag[1] == 0)
            ;
        __threadfence();
        out[1] = cell[1] + 4;
    }
}
