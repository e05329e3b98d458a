// Ordinary C headers above a kernel.  SPDX-License-Identifier: MIT
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct Pair { char first; int64_t second; };

extern "C" __global__ void roots(const float *squares, uint32_t n, double *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(squares[i] < FLT_MAX && n < (uint32_t)INT_MAX);
    if (squares[i] < 0) printf("never\n");
    out[i] = sqrt((double)squares[i]) + (double)offsetof(Pair, second);
}
