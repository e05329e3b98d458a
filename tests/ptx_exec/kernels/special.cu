// Special registers, clocks and clusters.  SPDX-License-Identifier: MIT
#define READ(name) ({ unsigned v_; asm volatile("mov.u32 %0, %%" name ";" : "=r"(v_)); v_; })
#define WIDE(name) ({ unsigned long long v_; asm volatile("mov.u64 %0, %%" name ";" : "=l"(v_)); v_; })

extern "C" __global__ void indices(unsigned *out)
{
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned *o = out + 16 * (thread + block * blockDim.x * blockDim.y * blockDim.z);
    o[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    o[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    o[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16;
    o[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
    o[4] = READ("laneid");
    o[5] = READ("warpid");
    o[6] = READ("nwarpid");
    o[7] = READ("lanemask_eq");
    o[8] = READ("lanemask_le");
    o[9] = READ("lanemask_lt");
    o[10] = READ("lanemask_ge");
    o[11] = READ("lanemask_gt");
    o[12] = READ("smid") < READ("nsmid");
    o[13] = READ("total_smem_size");
    o[14] = READ("dynamic_smem_size");
    o[15] = (unsigned)WIDE("gridid");
}

extern "C" __global__ void clocks(unsigned long long *out)
{
    unsigned long long a = clock64(), g = WIDE("globaltimer");
    unsigned b = READ("clock");
    __nanosleep(1000);
    unsigned long long c = clock64(), h = WIDE("globaltimer");
    unsigned d = READ("clock");
    out[0] = c > a;
    out[1] = h >= g + 1000;
    out[2] = d - b > 0 && d - b < 1000000;
    unsigned long long until = WIDE("globaltimer") + 50000;
    while (WIDE("globaltimer") < until) {
    }
    out[3] = 1;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) clusters(unsigned *out)
{
    unsigned *o = out + 8 * blockIdx.x;
    if (threadIdx.x == 0) {
        o[0] = READ("clusterid.x");
        o[1] = READ("nclusterid.x");
        o[2] = READ("cluster_ctaid.x");
        o[3] = READ("cluster_nctaid.x");
        o[4] = READ("cluster_ctarank");
        o[5] = READ("cluster_nctarank");
    }
    if (blockIdx.x % 2 == 1 && threadIdx.x == 0) {
        *(volatile unsigned *)(o + 6) = 77;
        __threadfence();
    }
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (blockIdx.x % 2 == 0 && threadIdx.x == 0) o[7] = ((volatile unsigned *)o)[14];
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(128) bounded(int *out) { out[threadIdx.x] = 1; }
