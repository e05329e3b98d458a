extern "C" __global__ void k(int *x, int n)
{
    int i = threadIdx.x;
    if (i == 0) printf("hello from the kernel, n is %d\n", n);
    if (i < n) x[i] = i * i;
}
