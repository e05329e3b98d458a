namespace demo {
template <typename T, bool twice, int N = 3> __global__ void fill(T *out)
{
    out[threadIdx.x] = (T)(twice ? 2 * N : N);
}
}

extern "C" __global__ void initial(char c, int *out)
{
    out[0] = c;
}

extern "C" __global__ void below(const int *v, int limit, int *out)
{
    if (v[threadIdx.x] >= limit) __trap();
    out[threadIdx.x] = v[threadIdx.x] + (int)threadIdx.y;
}
