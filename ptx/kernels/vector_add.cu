// gpulaunch: args a=50000:rand b=50000:rand c=50000 n=a.len
// gpulaunch: case default --expect-kernel c=vector_add_serial
// Adds two vectors; the serial form is what the result is compared with.
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void vector_add_serial(const float *a, const float *b, float *c, int n)
{
    if (blockIdx.x || threadIdx.x) return;
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}
