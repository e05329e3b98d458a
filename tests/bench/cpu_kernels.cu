// The kernels of cpu_kernels.c: seven patterns whose speed on the CPU device is compared with C.
// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=sm_90 -o cpu_kernels.ptx cpu_kernels.cu
extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

constexpr int tile = 16;
extern "C" __global__ void matmul(int n, const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ c)
{
    __shared__ float as[tile][tile], bs[tile][tile];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * tile + ty, column = blockIdx.x * tile + tx;
    float sum = 0;
    for (int t = 0; t < n / tile; t++) {
        as[ty][tx] = a[row * n + t * tile + tx];
        bs[ty][tx] = b[(t * tile + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void reduce(const float *__restrict__ x, float *out, int n)
{
    __shared__ float partial[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < (blockDim.x >> 5) ? partial[lane] : 0.f;
        for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
        if (lane == 0) atomicAdd(out, sum);
    }
}

extern "C" __global__ void nbody(const float4 *__restrict__ p, float4 *__restrict__ force, int n,
                                 float softening)
{
    __shared__ float4 others[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += blockDim.x) {
        others[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; j++) {
            float4 q = others[j];
            float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float s = q.w * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    force[i] = make_float4(ax, ay, az, 0);
}

extern "C" __global__ void histogram(const unsigned *__restrict__ x, unsigned *out, int n)
{
    __shared__ unsigned h[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        atomicAdd(&h[v & 255], 1u);
        atomicAdd(&h[(v >> 8) & 255], 1u);
        atomicAdd(&h[(v >> 16) & 255], 1u);
        atomicAdd(&h[v >> 24], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], h[i]);
}

extern "C" __global__ void mandelbrot(int w, int h, int most, unsigned *out)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = -2.2f + 3.f * px / w, cy = -1.5f + 3.f * py / h, x = 0, y = 0;
    int k = 0;
    while (k < most && x * x + y * y < 4.f) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        k++;
    }
    out[py * w + px] = k;
}
