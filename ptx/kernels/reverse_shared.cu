// gpulaunch: args data=16384:iota n=data.len --grid 1 --block 1024 --shared 64K
// gpulaunch: case default --expect data=iota:16383:-1
// Reverses one block's array of n ints by way of dynamic shared memory; 64 KB need the opt-in.
extern "C" __global__ void reverse_shared(int *data, int n)
{
    extern __shared__ int copy[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) copy[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = copy[n - 1 - i];
}
