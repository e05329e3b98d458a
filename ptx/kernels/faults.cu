// Kernels that misbehave on request, for tests of what is said about it.
extern "C" __global__ void write_past(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

extern "C" __global__ void read_at(const int *p, int *out) { out[0] = p[0]; }

extern "C" __global__ void misaligned(char *p) { *(int *)(p + 1) = 1; }

extern "C" __global__ void stop(void) { __trap(); }

extern "C" __global__ void must_hold(int n)
{
    assert(n > (int)threadIdx.x);
}

extern "C" __global__ void spin(volatile int *flag)
{
    while (*flag == 0) { }
}
