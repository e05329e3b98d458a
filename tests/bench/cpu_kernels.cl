// The kernels of cpu_kernels.cu whose algorithm exists in OpenCL C (the reduction's shuffles do not).
// SPDX-License-Identifier: MIT
#define TILE 16

kernel void saxpy(int n, float a, global const float *restrict x, global float *restrict y)
{
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

kernel void matmul(int n, global const float *restrict a, global const float *restrict b,
                   global float *restrict c)
{
    local float as[TILE][TILE], bs[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_group_id(1) * TILE + ty, column = get_group_id(0) * TILE + tx;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        as[ty][tx] = a[row * n + t * TILE + tx];
        bs[ty][tx] = b[(t * TILE + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

kernel void nbody(global const float4 *restrict p, global float4 *restrict force, int n,
                  float softening)
{
    local float4 others[128];
    int i = get_global_id(0);
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += get_local_size(0)) {
        others[get_local_id(0)] = p[t + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 128; j++) {
            float4 q = others[j];
            float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
            float s = q.w * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[i] = (float4)(ax, ay, az, 0);
}

kernel void histogram(global const uint *restrict x, global uint *out, int n)
{
    local uint h[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) h[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        uint v = x[i];
        atomic_inc(&h[v & 255]);
        atomic_inc(&h[(v >> 8) & 255]);
        atomic_inc(&h[(v >> 16) & 255]);
        atomic_inc(&h[v >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&out[i], h[i]);
}

kernel void mandelbrot(int w, int h, int most, global uint *out)
{
    int px = get_global_id(0), py = get_global_id(1);
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
