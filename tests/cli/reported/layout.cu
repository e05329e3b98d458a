// Parameters of odd sizes and wide alignment.  SPDX-License-Identifier: MIT
struct __align__(16) Wide { double a, b; };
struct Mixed { char tag; double value; short count; float2 at; };

extern "C" __global__ void tail_short(int *out, short s) { out[0] = s; }
extern "C" __global__ void tail_char(double *out, float x, signed char c) { out[0] = (double)x + c; }
extern "C" __global__ void tail_bool(char c, int *out, bool negate) { out[0] = negate ? -c : c; }
extern "C" __global__ void order(short a, double *out, char c, Wide w, int b, long long l)
{
    out[0] = a, out[1] = c, out[2] = w.a, out[3] = w.b, out[4] = b, out[5] = (double)l;
}
extern "C" __global__ void inside(Mixed m, double *out)
{
    out[0] = m.tag, out[1] = m.value, out[2] = m.count, out[3] = m.at.x, out[4] = m.at.y;
}
extern "C" __global__ void line(float *out, float slope, int n, unsigned char step)
{
    if ((int)threadIdx.x < n) out[threadIdx.x] = slope * threadIdx.x * step;
}
extern "C" __global__ void axpy(const float *x, float *y, int n, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
