// SPDX-License-Identifier: MIT
// Functions, function pointers, printf, assert, device heap, tables with addresses, shared memory of both kinds.
#include <stdio.h>
#include <assert.h>
__constant__ float table[4] = {1.0f, -0.0f, 2.5f, 1e-40f};
__device__ int counter = 7;
__device__ double matrix[2][3] = {{1, 2, 3}, {4, 5}};
struct packed { char tag; int *where; } __attribute__((packed));
__device__ packed pointers[2] = {{1, &counter}, {2, &counter + 1}};
typedef int (*operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b + counter; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ operation operations[2] = {add, mul};
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
struct big { int v[5]; };
__device__ __noinline__ big make(int x) { big b; for (int i = 0; i < 5; i++) b.v[i] = x * i; return b; }
__device__ __noinline__ int rows() { return threadIdx.y + blockIdx.z; }
extern "C" __global__ void indirect(int *out, int which) { out[threadIdx.x] = operations[which](threadIdx.x, 3); }
extern "C" __global__ void recursive(int *out, int n) { out[threadIdx.x] = fib(n); }
extern "C" __global__ void __launch_bounds__(128, 2) prints(const char *name, float x, big b)
{
    big m = make(b.v[1]);
    if (threadIdx.x == 0) printf("%s %f %d %f\n", name, x, m.v[3], table[b.v[0] & 3]);
    assert(b.v[2] != 12);
}
extern "C" __global__ void heap(int **out) { out[threadIdx.x] = (int *)malloc(16); free(out[threadIdx.x]); }
extern __shared__ float dynamic[];
extern "C" __global__ void shared(float *out, short s, signed char c, double d)
{
    __shared__ float fixed[33];
    __shared__ double more;
    dynamic[threadIdx.x] = out[threadIdx.x];
    fixed[threadIdx.x] = (float)s + c;
    if (threadIdx.x == 0) more = d + matrix[1][rows() % 3];
    __syncthreads();
    out[threadIdx.x] = fixed[31 - threadIdx.x] + dynamic[threadIdx.x ^ 1] + (float)more;
    if (pointers[0].where) *pointers[1].where += 1;
}
