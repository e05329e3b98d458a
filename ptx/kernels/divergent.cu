// gpulaunch: args out=1000 n=out.len
// Even and odd threads of a warp take different branches, some of them a loop of their own length.
extern "C" __global__ void divergent(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = 0;
    if (i % 2 == 0) {
        for (int k = 0; k <= i % 7; k++) value += k;
    } else {
        value = -i;
    }
    out[i] = value;
}
