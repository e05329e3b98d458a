/* The few driver and NVRTC entries that the hand-written comparisons use, opened by hand and without
 * the library.  SPDX-License-Identifier: MIT */
#ifndef BENCH_RAW_CUDA_H
#define BENCH_RAW_CUDA_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int result;
typedef unsigned long long address;

static inline void *raw_symbol(void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (symbol) return symbol;
    fprintf(stderr, "no %s: %s\n", name, dlerror());
    exit(77);
}

static inline void raw_check(result r, const char *what)
{
    if (r == 0) return;
    fprintf(stderr, "%s gave %d\n", what, r);
    exit(1);
}
#define RAW(call) raw_check((call), #call)

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

#endif
