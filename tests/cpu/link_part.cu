// The function that link_main.cu calls; made by nvcc -ptx -rdc=true -arch=compute_75.
// SPDX-License-Identifier: MIT
__device__ int twice(int x) { return 2 * x; }
