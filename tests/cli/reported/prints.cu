// printf in kernels.  SPDX-License-Identifier: MIT
extern "C" __global__ void formats(int *ret)
{
    ret[0] = printf("[%6d] [%-6d] [%06d] [%+d]\n", 73, 73, 73, 73) * 10;
    printf("[%.2f] [%.2e] [%9.3f] [%g]\n", 2.71828, 12345.0, 0.5f, -0.0);
    printf("[%x] [%X] [%#x] [%lld] [%llu]\n", 48879, 48879, 48879, -9223372036854775807LL - 1, ~0ull);
    printf("[%c] [%-8s] [%8s] [%%] [%.3s]\n", 'z', "left", "right", "cut off");
    ret[1] = printf("");
}
extern "C" __global__ void lines(int each)
{
    for (int k = 0; k < each; k++) printf("block %d thread %d line %d\n", (int)blockIdx.x, (int)threadIdx.x, k);
}
