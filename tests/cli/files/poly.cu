// A template kernel in a namespace: evaluates 1 + x + x^2 + ... + x^N.
namespace demo {
template <typename T, int N> __global__ void poly(T *y, const T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T sum = 1;
    for (int k = 0; k < N; k++) sum = sum * x[i] + 1;
    y[i] = sum;
}
} // namespace demo
