// An intrinsic that exists from compute capability 8.0 on.  SPDX-License-Identifier: MIT
extern "C" __global__ void most(const unsigned *in, unsigned *out)
{
    unsigned m = __reduce_max_sync(0xffffffffu, in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = m;
}
