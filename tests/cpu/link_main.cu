// Half of a program whose other half is link_part.cu; made by nvcc -ptx -rdc=true -arch=compute_75.
// SPDX-License-Identifier: MIT
extern __device__ int twice(int x);

extern "C" __global__ void linked(int *out, int value) { out[0] = twice(value); }
