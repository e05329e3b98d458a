// gpulaunch: args n=x.len a=2.5 x=64K:rand y=fill:1
// gpulaunch: case default --expect-kernel y=saxpy_ref

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_ref(int n, float a, const float *x, float *y)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
