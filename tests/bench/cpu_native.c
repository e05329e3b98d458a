/* The same algorithms as cpu_kernels.cu in C; the build compiles this file with -O3 -march=native,
 * and once more with -Ofast.  SPDX-License-Identifier: MIT */
#include "cpu_native.h"

#include <math.h>
#include <string.h>

static void saxpy(int n, float a, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

static void matmul(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    memset(c, 0, sizeof(float) * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static float reduce(int n, const float *x)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

static void nbody(int n, const float *restrict p, float *restrict force, float softening)
{
    for (int i = 0; i < n; i++) {
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; j++) {
            float dx = p[4 * j] - p[4 * i], dy = p[4 * j + 1] - p[4 * i + 1],
                  dz = p[4 * j + 2] - p[4 * i + 2];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            float s = p[4 * j + 3] * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        force[4 * i] = ax;
        force[4 * i + 1] = ay;
        force[4 * i + 2] = az;
        force[4 * i + 3] = 0;
    }
}

static void histogram(int n, const unsigned *x, unsigned *out)
{
    for (int i = 0; i < n; i++) {
        unsigned v = x[i];
        out[v & 255]++;
        out[v >> 8 & 255]++;
        out[v >> 16 & 255]++;
        out[v >> 24]++;
    }
}

static void mandelbrot(int w, int h, int most, unsigned *out)
{
    for (int py = 0; py < h; py++)
        for (int px = 0; px < w; px++) {
            float cx = -2.2f + 3.f * (float)px / (float)w, cy = -1.5f + 3.f * (float)py / (float)h;
            float x = 0, y = 0;
            int k = 0;
            while (k < most && x * x + y * y < 4.f) {
                float t = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = t;
                k++;
            }
            out[py * w + px] = (unsigned)k;
        }
}

const native_kernels NATIVE_NAME = { saxpy, matmul, reduce, nbody, histogram, mandelbrot };
