// A template kernel in a namespace (C05).  SPDX-License-Identifier: MIT
namespace demo {
template <typename T, int N> __global__ void poly(T *y, const T *x, T a)
{
    int i = threadIdx.x;
    T s = 1, p = 1, v = a * x[i];
    for (int k = 0; k < N; k++) {
        p *= v;
        s += p;
    }
    y[i] = s;
}
} // namespace demo
