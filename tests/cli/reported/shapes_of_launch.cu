// Grids and blocks at their limits, many registers, grid-wide synchronisation and clusters.
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void count(unsigned long long *sum) { atomicAdd(sum, 1ull); }

__device__ __forceinline__ unsigned mix(const unsigned *in, unsigned t)
{
    unsigned v[96], w[96], s = 0;
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = in[k] + t;
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
        for (int k = 0; k < 96; k++) w[k] = v[k] + v[(k * 7 + 5 * r + 3) % 96];
#pragma unroll
        for (int k = 0; k < 96; k++) v[k] = w[k];
    }
#pragma unroll
    for (int k = 0; k < 96; k++) s += v[k];
    return s;
}
extern "C" __global__ void fat(const unsigned *in, unsigned *out) { out[threadIdx.x] = mix(in, threadIdx.x); }
extern "C" __global__ void __launch_bounds__(1024) thin(const unsigned *in, unsigned *out)
{
    out[threadIdx.x] = mix(in, threadIdx.x);
}
extern "C" __global__ void whole_grid(int *part, int *out)
{
    if (threadIdx.x == 0) part[blockIdx.x] = (int)blockIdx.x + 1;
    cg::this_grid().sync();
    int s = 0;
    for (unsigned b = 0; b < gridDim.x; b++) s += part[b];
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 1, 1) fours(int *out)
{
    if (threadIdx.x == 0) out[blockIdx.x] = (int)(100 * (blockIdx.x / 4) + cg::this_cluster().block_rank());
}
#endif
