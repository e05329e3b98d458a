/* What a typed launch costs above the driver: the recording table with its hot entries replaced by empty
 * ones, so that what is left is the library's own work.  Median of nine runs, in the
 * thread's own processor time.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/launch_null                       times
 *     build/tests/bench/launch_null four|eight|prepared N  N launches and nothing else, for counting instructions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/device.h"
#include "driver/record.h"

enum { LAUNCHES = 1000000, RUNS = 9 };

static const char ptx[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry four(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n{ ret; }\n"
    ".visible .entry eight(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y,\n"
    ".param .u32 m, .param .f64 d, .param .u64 z, .param .u16 s)\n{ ret; }\n";

static gpul_device *device;
static gpul_buffer *x, *y;
static const gpul_kernel *four, *eight;
static CUcontext context;
static gpul_prepared *prepared;

static CUresult get_current(CUcontext *out)
{
    *out = context;
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                       void **extra)
{
    (void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
    (void)shared, (void)stream, (void)params;
    __asm__ volatile("" : : "r"(extra) : "memory");
    return CUDA_SUCCESS;
}

static void check(gpul_status status)
{
    if (status == GPUL_OK) return;
    fprintf(stderr, "%s\n", gpul_last_error()->message);
    exit(1);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void launch_four(int i)
{
    check(gpul_launch(four, gpul_launch_opts(.grid = { 4 }, .block = { 128 }),
                      gpul_args(i, 2.0f, gpul_in(x), y)));
}

static void launch_eight(int i)
{
    check(gpul_launch(eight, gpul_launch_opts(.grid = { 4 }, .block = { 128 }),
                      gpul_args(i, 2.0f, gpul_in(x), y, 3, 4.0, gpul_in(x), (short)5)));
}

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void measure(const char *what, void (*one)(int))
{
    double times[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double start = now_ns();
        for (int i = 0; i < LAUNCHES; i++) one(i);
        times[run] = (now_ns() - start) / LAUNCHES;
    }
    qsort(times, RUNS, sizeof *times, by_value);
    printf("%-12s %6.1f ns a launch (%.1f to %.1f)\n", what, times[RUNS / 2], times[0],
           times[RUNS - 1]);
}

static CUresult graph_launch(CUgraphExec exec, CUstream stream)
{
    (void)exec, (void)stream;
    return CUDA_SUCCESS;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static void launch_prepared(int i)
{
    (void)i;
    check(gpul_prepared_launch(prepared));
}

/* False: no such launch. */
static bool only_launch(const char *which, int count)
{
    void (*one)(int) = strcmp(which, "four") == 0       ? launch_four
                       : strcmp(which, "eight") == 0    ? launch_eight
                       : strcmp(which, "prepared") == 0 ? launch_prepared
                                                        : NULL;
    for (int i = 0; one && i < count; i++) one(i);
    return one;
}

int main(int argc, char **argv)
{
    static gpul__driver null;
    gpul_image *image;
    gpul_module *module;
    gpul__record_reset(NULL);
    null = *gpul__record_driver();
    gpul__driver_override(&null);
    check(gpul_open(&device, NULL));
    check(gpul_image_from_memory(&image, ptx, strlen(ptx), "null.ptx"));
    check(gpul_load(&module, device, image, NULL));
    check(gpul_module_kernel(&four, module, "four"));
    check(gpul_module_kernel(&eight, module, "eight"));
    check(gpul_alloc(&x, device, 4096, NULL));
    check(gpul_alloc(&y, device, 4096, NULL));
    check(gpul_prepare(&prepared, four, gpul_launch_opts(.grid = { 4 }, .block = { 128 }),
                       gpul_args(0, 2.0f, gpul_in(x), y)));
    context = gpul_device_context(device);
    null.CtxGetCurrent = get_current;
    null.LaunchKernel = launch;
    null.GraphLaunch = graph_launch;
    null.StreamIsCapturing = is_capturing;
    int status = 0;
    if (argc == 3) {
        status = only_launch(argv[1], atoi(argv[2])) ? 0 : 2;
    } else {
        measure("4 arguments", launch_four);
        measure("8 arguments", launch_eight);
        measure("prepared", launch_prepared);
    }
    gpul_prepared_free(&prepared);
    gpul_buffer_free(&x);
    gpul_buffer_free(&y);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    return status;
}
