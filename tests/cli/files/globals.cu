// Variables of a module, read and written by name.
namespace app {
__device__ int counter = 7;
}
__constant__ float table[4] = { 1, 2, 3, 4 };

extern "C" __global__ void use_globals(float *out)
{
    int i = threadIdx.x;
    if (i < 4) out[i] = table[i];
    if (i == 0) out[4] = (float)atomicAdd(&app::counter, 5);
}
