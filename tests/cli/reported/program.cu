// A program: host code, a main with <<<>>>, and the kernel.  SPDX-License-Identifier: MIT
#include <cstdio>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>

__global__ void twice(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

static void check(cudaError_t status)
{
    if (status != cudaSuccess) std::cerr << cudaGetErrorString(status) << std::endl;
}

int main()
{
    std::vector<int> host(4, 1);
    int *in, *out;
    check(cudaMalloc(&in, 16));
    check(cudaMalloc(&out, 16));
    check(cudaMemcpy(in, host.data(), 16, cudaMemcpyHostToDevice));
    twice<<<1, 4>>>(in, out, 4);
    check(cudaDeviceSynchronize());
    return 0;
}
