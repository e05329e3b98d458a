// printf from a kernel, one line a thread.
extern "C" __global__ void hello(int base)
{
    printf("block %d thread %d says %d %s %.3f\n", (int)blockIdx.x, (int)threadIdx.x,
           base + (int)threadIdx.x, "hello", 0.5 * threadIdx.x);
}
