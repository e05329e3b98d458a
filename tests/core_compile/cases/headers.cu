// Ordinary C headers at the top of a file of kernels (C01).  SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#include <float.h>

extern "C" __global__ void unsquare(const float *x, uint32_t n, double *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] > FLT_MAX) printf("never\n");
    out[i] = sqrt((double)x[i]);
}
