// Threads that wait for others: inside a warp, between warps, between blocks.
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void locks(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int *)count = *(volatile int *)count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void locks_inside(int *lock, int *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)count += 1;
            __threadfence();
            *(volatile int *)lock = 0;
            done = true;
        }
    }
}

extern "C" __global__ void hand(volatile int *flag, volatile int *cell, int *out)
{
    if (blockIdx.x == 0) {
        while (flag[0] == 0) {
        }
        __threadfence();
        out[0] = cell[0] + 1;
        cell[1] = 5;
        __threadfence();
        flag[1] = 1;
    } else {
        cell[0] = 10;
        __threadfence();
        flag[0] = 1;
        while (flag[1] == 0) {
        }
        __threadfence();
        out[1] = cell[1] + 2;
    }
}

// A warp waits for a warp of its block without a barrier.
extern "C" __global__ void warps(int *out)
{
    __shared__ volatile int flag, value;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (flag == 0) __nanosleep(20);
        out[threadIdx.x] = value;
    } else if (threadIdx.x == 63) {
        value = 123;
        __threadfence_block();
        flag = 1;
    }
}

extern "C" __global__ void wait(volatile int *flag, int *out)
{
    while (flag[0] == 0) {
    }
    if (threadIdx.x == 0) out[0] = 1;
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

// Each block waits for the one before it: a chained scan.
extern "C" __global__ void chain(const int *in, volatile int *sums, volatile int *ready, int *out)
{
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x, v = in[b * 64 + t];
    __shared__ int s[64];
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int x = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += x;
        __syncthreads();
    }
    if (t == 0) {
        int sum = 0;
        if (b > 0) {
            while (ready[b - 1] == 0) {
            }
            __threadfence();
            sum = sums[b - 1];
        }
        before = sum;
        sums[b] = sum + s[63];
        __threadfence();
        ready[b] = 1;
    }
    __syncthreads();
    out[b * 64 + t] = before + s[t];
}

extern "C" __global__ void grid_wide(int *data, int *out, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int k = 0; k < rounds; k++) {
        data[(k + 1) % 2 * n + i] = data[k % 2 * n + (i + 37) % n] + 1;
        grid.sync();
    }
    out[i] = data[rounds % 2 * n + i];
}

extern "C" __global__ void groups(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int v = block.thread_rank();
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) out[block.thread_rank() / 8] = v;
    if (block.thread_rank() % 3 == 0) {
        auto active = cg::coalesced_threads();
        out[64 + block.thread_rank()] = active.size() * 100 + active.thread_rank();
    }
    block.sync();
}

extern "C" __global__ void divergent(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = i + 1;
    int steps = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        steps++;
    }
    switch (i % 7) {
    case 0: steps += 1000; break;
    case 1: steps *= 3;
    case 2: steps -= 5; break;
    case 3: steps ^= 0xff; break;
    case 5: steps = -steps; break;
    default: steps += i; break;
    }
    out[i] = steps;
}
