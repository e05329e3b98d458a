// Kernels that use less than a word of shared memory at once: see kernels.cu.
// SPDX-License-Identifier: MIT
#define KERNEL extern "C" __global__ void

KERNEL race_bytes(int *out, int *in)
{
    __shared__ char text[256];
    int t = threadIdx.x;
    text[t] = (char)in[t]; // @then race_bytes
    out[t] = text[(t + 64) % 256]; // @now race_bytes
}
KERNEL race_halves(int *out, int *in)
{
    __shared__ short text[256];
    int t = threadIdx.x;
    text[t] = (short)in[t]; // @then race_halves
    out[t] = text[255 - t]; // @now race_halves
}
KERNEL good_bytes(int *out, int *in)
{
    __shared__ char text[256];
    int t = threadIdx.x;
    text[t] = (char)in[t];
    out[t] = text[t];
}
KERNEL good_halves(int *out, int *in)
{
    __shared__ short text[256];
    int t = threadIdx.x;
    text[(t % 4) * 64 + t / 4] = (short)in[t];
    out[t] = text[(t % 4) * 64 + t / 4];
}
KERNEL good_last_block(int *out, int *in)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(&out[1000], 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(&out[0], ((volatile int *)out)[1 + threadIdx.x]);
}
KERNEL good_block_bytes(int *out, int *in)
{
    char *text = (char *)out;
    int k = threadIdx.x * gridDim.x + blockIdx.x;
    text[k] = (char)in[k];
}
