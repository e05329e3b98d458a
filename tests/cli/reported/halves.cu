// half and bfloat16: arrays, and scalars by value.  SPDX-License-Identifier: MIT
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void blend(const __half *a, const __nv_bfloat16 *b, __half by, __nv_bfloat16 plus, float *out)
{
    int i = threadIdx.x;
    out[i] = __half2float(a[i]) * __half2float(by) + __bfloat162float(b[i]) + __bfloat162float(plus);
}
