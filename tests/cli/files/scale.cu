// gpulaunch: args data=1024:iota n=data.len by=2
// gpulaunch: case default --expect data=iota:0:2
// Multiplies each element of an array in place.
extern "C" __global__ void scale(float *data, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
}
