// Loads and stores of every size in every space, and faults.  SPDX-License-Identifier: MIT
struct alignas(16) mixed {
    signed char a;
    unsigned char b;
    short c;
    unsigned short d;
    int e;
    long long f;
    float g;
    double h;
};

extern "C" __global__ void scalars(const mixed *in, mixed *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    mixed m;
    m.a = in[i].a + 1;
    m.b = in[i].b + 1;
    m.c = in[i].c - 1;
    m.d = in[i].d - 1;
    m.e = in[i].e * 2;
    m.f = in[i].f * 3;
    m.g = in[i].g * 0.5f;
    m.h = in[i].h * 0.25;
    out[i] = m;
}

extern "C" __global__ void bytes(const signed char *a, const unsigned char *b, const short *c,
                                 const unsigned short *d, int *out)
{
    int i = threadIdx.x;
    out[i] = a[i] + 1000 * b[i] + 7 * c[i] + 11 * d[i];
}

extern "C" __global__ void stores(signed char *a, short *b, long long *c, int stride)
{
    int i = threadIdx.x;
    a[i * stride] = (signed char)(3 * i);
    b[i * stride] = (short)(-5 * i);
    c[i * stride] = 1ll << i;
}

extern "C" __global__ void vectors(const float4 *in, float4 *out, const int2 *in2, int2 *out2,
                                   const double2 *in3, double2 *out3, const uchar4 *in4, uchar4 *out4,
                                   const ushort2 *in5, ushort2 *out5, int stride)
{
    int i = threadIdx.x * stride;
    float4 a = in[i];
    out[i] = make_float4(a.w, a.z, a.y, a.x);
    int2 b = in2[i];
    out2[i] = make_int2(b.y, b.x);
    double2 c = in3[i];
    out3[i] = make_double2(c.y, c.x);
    uchar4 d = in4[i];
    out4[i] = make_uchar4(d.w, d.z, d.y, d.x);
    ushort2 e = in5[i];
    out5[i] = make_ushort2(e.y, e.x);
}

__constant__ int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
__constant__ double weights[4] = { 0.5, 0.25, 0.125, 1.0 };
__device__ int counter = 41;
__device__ int *pointer_to_counter = &counter;
__device__ const char text[] = "global text";

extern "C" __global__ void constants(double *out, int which)
{
    out[threadIdx.x] = table[threadIdx.x & 7] * weights[which] + table[3] + *pointer_to_counter + text[2];
}

extern "C" __global__ void local_array(int *out, int n)
{
    int a[40];
    short b[40];
    double c[10];
    unsigned char d[16];
    for (int k = 0; k < 40; k++) {
        a[k] = k * (int)threadIdx.x;
        b[k] = (short)(k - (int)threadIdx.x);
    }
    for (int k = 0; k < 10; k++) c[k] = k * 0.5;
    for (int k = 0; k < 16; k++) d[k] = (unsigned char)(k * 16 + threadIdx.x);
    int sum = 0;
    for (int k = 0; k < n; k++) sum += a[(k * 7 + threadIdx.x) % 40] + b[(k * 3) % 40];
    out[threadIdx.x] = sum + (int)(c[n % 10] * 2) + d[(n + threadIdx.x) % 16];
}

__device__ __noinline__ int read_any(const int *p) { return *p; }
__device__ __noinline__ void write_any(int *p, int v) { *p = v; }

extern "C" __global__ void generic(int *g, int *out)
{
    __shared__ int s[32];
    int l[4], t = threadIdx.x;
    int *p = t % 3 == 0 ? &g[t] : t % 3 == 1 ? &s[t] : &l[t % 4];
    write_any(p, 100 + t);
    __syncwarp();
    int r = read_any(p) + (__isGlobal(p) ? 1000 : 0) + (__isShared(p) ? 2000 : 0) + (__isLocal(p) ? 4000 : 0);
    out[t] = r;
}

extern __shared__ int dynamic[];
extern "C" __global__ void dynamic_shared(int *out, int n)
{
    __shared__ int before[4];
    if (threadIdx.x < 4) before[threadIdx.x] = threadIdx.x;
    dynamic[threadIdx.x] = 2 * threadIdx.x;
    __syncthreads();
    unsigned size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    out[threadIdx.x] = dynamic[n - 1 - threadIdx.x] + before[threadIdx.x & 3] + (int)size;
}

extern "C" __global__ void volatiles(volatile int *flag, int *out)
{
    int v = flag[threadIdx.x];
    flag[threadIdx.x] = v + 1;
    out[threadIdx.x] = flag[threadIdx.x];
    unsigned a;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(a) : "l"(out + threadIdx.x));
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(out + threadIdx.x), "r"(a + 1));
}

/* ------------------------------------------------------------------ faults */

extern "C" __global__ void fill(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    (void)n;
    p[i] = i;
}
extern "C" __global__ void read_one(const int *p, int *out) { out[0] = p[0]; }
extern "C" __global__ void misaligned(char *p, int *out) { out[threadIdx.x] = *(int *)(p + threadIdx.x); }
extern "C" __global__ void shared_past(int *out, int i)
{
    __shared__ int s[16];
    s[threadIdx.x & 15] = 1;
    __syncthreads();
    out[threadIdx.x] = s[i + threadIdx.x];
}
extern "C" __global__ void local_past(int *out, int i)
{
    int a[8];
    for (int k = 0; k < 8; k++) a[k] = k;
    out[threadIdx.x] = a[i];
}
extern "C" __global__ void shared_as_global(int *out)
{
    __shared__ int s[4];
    s[threadIdx.x & 3] = 3;
    unsigned long long a = (unsigned long long)(void *)s;
    int v;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(a));
    out[0] = v;
}
extern "C" __global__ void vector_misaligned(float *p, float4 *out)
{
    out[0] = *(float4 *)(p + 1);
}
