// Every kind of parameter that a signature can have.  SPDX-License-Identifier: MIT
#include "params.h"
#define DEFINE(name, op) extern "C" __global__ void name(float *x, int n) { x[0] = x[1] op n; }
DEFINE(added, +)
struct Params { int n; float dt; float3 gravity; float damp[2]; };
struct Body { float4 pos; float4 vel; };
enum Mode : unsigned char { SLOW, FAST };
enum Plain { ONE, TWO };
struct Opaque;
struct Base { int b0; char c; };
struct Derived : Base { double d; };
struct Bits { unsigned a : 3, b : 5; };
class Hidden { int secret; public: int open; };
typedef Params *ParamsPointer;
#ifdef WIDE
typedef double real;
#else
typedef float real;
#endif
extern "C" __global__ void step(Body *b, Params p, Mode m, Plain q, const unsigned int *__restrict__ u,
                                void *v, const Opaque *o, int **pp, bool z, const int ci, real r,
                                const real *rs, SharedParams s, Derived d, Bits bits, Hidden h,
                                ParamsPointer ptr, cudaTextureObject_t tex)
{
    if (threadIdx.y) b[0].pos.x = p.dt;
}
namespace a {
namespace { struct Local { int q; double z; }; }
struct Outer {
    int n;
    Local l;
    enum Kind : short { X } kind;
    union { float f; int i; };
    struct { char c; double w; } inner;
};
template <class T, int K> struct Vec { T v[K]; };
typedef Vec<float, 3> V3;
__global__ void over(int *x, Outer o) { x[0] = o.n; }
__global__ void over(float *x, V3 v, Vec<int, 2> *w) { x[0] = v.v[0]; }
template <class T> __global__ void made(T *x, T v) { *x = v; }
template __global__ void made<short>(short *, short);
} // namespace a
__device__ float counter;
namespace a { __constant__ int table[4]; }
extern __shared__ double dynamic[];
__global__ void __launch_bounds__(96, 3) bounded(double *o)
{
    __shared__ int fixed[10];
    fixed[threadIdx.x % 10] = 1;
    dynamic[threadIdx.x] = o[threadIdx.z] + counter + a::table[1];
    __syncthreads();
    o[0] = dynamic[1] + fixed[2];
}
