// A kernel with a cluster size of its own and one without; cluster.ptx is made from this by
// nvcc -ptx -arch=compute_90.  SPDX-License-Identifier: MIT
__device__ unsigned rank()
{
    unsigned r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) pair(unsigned *out) { out[blockIdx.x] = rank(); }

extern "C" __global__ void any(unsigned *out) { out[blockIdx.x] = rank(); }
