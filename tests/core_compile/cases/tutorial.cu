// A whole tutorial program (C02).  SPDX-License-Identifier: MIT
#include <cstdio>
#include <chrono>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
using namespace std;
using std::vector;
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = call;                                                                      \
        if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); }         \
    } while (0)
#define SQUARE(x) square(x)
typedef vector<float> host_vector;
struct Timer { chrono::steady_clock::time_point t; void start() { t = chrono::steady_clock::now(); } };
struct Point { float x, y; float norm() const { return sqrtf(x * x + y * y); } };
static Timer timer;
int counter = 0;
float square(float v) { return v * v; }
template <typename T> T twice(T v) { return v + v; }
constexpr int more(int v) { return v + 1; }
__constant__ int place[4];

__global__ void weigh(const int *in, int *out, const Point *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * place[i & 3] + (int)SQUARE(p[i].norm()) + twice(more(1));
}
std::ostream &operator<<(std::ostream &o, const Point &p) { return o << p.x; }
Point operator+(Point a, Point b) { a.x += b.x; return a; }
static void run(const host_vector &h)
{
    // a brace } in a comment, and one in a "string {"
    int *d = nullptr;
    CHECK(cudaMalloc(&d, h.size() * sizeof(float)));
    weigh<<<1, 4>>>(d, d, nullptr, 4);
    CHECK(cudaDeviceSynchronize());
}
int main()
{
    host_vector h(6);
    timer.start();
    run(h);
    for (float f : h) std::cout << f << std::endl;
    return counter;
}
