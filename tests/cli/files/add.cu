extern "C" __global__ void add(const float *x, float *y, int n, void *work, const int2 *pairs)
{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n - 3) y[i] = x[i] + 1; }
