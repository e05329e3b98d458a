// Half and bfloat16 with no folder named (C07).  SPDX-License-Identifier: MIT
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void mix(const __half *h, const __nv_bfloat16 *b, half scale, float *out)
{
    int i = threadIdx.x;
    out[i] = __half2float(h[i]) * __half2float(scale) + __bfloat162float(b[i]);
}
