/* The algorithms in C that cpu_kernels.c compares with, in two builds.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_BENCH_CPU_NATIVE_H
#define GPUL_BENCH_CPU_NATIVE_H

typedef struct native_kernels {
    void (*saxpy)(int n, float a, const float *restrict x, float *restrict y);
    void (*matmul)(int n, const float *restrict a, const float *restrict b, float *restrict c);
    float (*reduce)(int n, const float *x);
    void (*nbody)(int n, const float *restrict p, float *restrict force, float softening);
    void (*histogram)(int n, const unsigned *x, unsigned *out);
    void (*mandelbrot)(int w, int h, int most, unsigned *out);
} native_kernels;

extern const native_kernels native_strict; /* -O3 -march=native */
extern const native_kernels native_fast;   /* -Ofast -march=native */

#endif
