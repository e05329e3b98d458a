/* The same sizes and shapes as in cpu_kernels.c, through OpenCL's host API.  Times are processor times of
 * the whole process, because POCL works in a thread of its own.  SPDX-License-Identifier: MIT */
#include "cpu_opencl.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void need(cl_int error, const char *what)
{
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "cpu_kernels: OpenCL: %s: error %d\n", what, error);
    exit(1);
}

static struct {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    char name[256];
    int opened; /* 1: usable, -1: not */
} cl = { .name = "none" };

static char *read_source(void)
{
    FILE *file = fopen(CPU_KERNELS_CL, "rb");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || !fread(text, 1, (1 << 16) - 1, file)) need(1, "cannot read the kernels");
    fclose(file);
    return text;
}

static int open_device(void)
{
    if (cl.opened) return cl.opened > 0;
    cl.opened = -1;
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
    setenv("POCL_AFFINITY", "0", 1);
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) != CL_SUCCESS)
        return 0;
    char version[128] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    snprintf(cl.name, sizeof cl.name, "%s", version);
    cl_int error;
    cl.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    need(error, "context");
    cl.queue = clCreateCommandQueue(cl.context, device, 0, &error);
    need(error, "queue");
    char *source = read_source();
    const char *text = source;
    cl.program = clCreateProgramWithSource(cl.context, 1, &text, NULL, &error);
    need(error, "program");
    need(clBuildProgram(cl.program, 1, &device, "", NULL, NULL), "build");
    free(source);
    cl.opened = 1;
    return 1;
}

const char *opencl_platform(void)
{
    open_device();
    return cl.name;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct work {
    cl_kernel kernel;
    cl_uint arguments;
    cl_mem buffers[4];
    int buffer_count;
    cl_uint dimensions;
    size_t global[2], local[2];
    int rounds;
} work;

static void integer(work *w, int value)
{
    need(clSetKernelArg(w->kernel, w->arguments++, sizeof value, &value), "argument");
}

static void number(work *w, float value)
{
    need(clSetKernelArg(w->kernel, w->arguments++, sizeof value, &value), "argument");
}

/* Filled as the trials of cpu_kernels.c fill theirs, as far as the time depends on it. */
static void buffer(work *w, size_t size, int random)
{
    unsigned *host = malloc(size), seed = 1;
    if (!host) need(1, "out of memory");
    for (size_t k = 0; k < size / 4; k++) {
        float small = (float)((k * 7919) % 1000) / 1000.f;
        seed = seed * 1664525u + 1013904223u;
        if (random) host[k] = seed;
        else memcpy(&host[k], &small, 4);
    }
    cl_int error;
    cl_mem made =
        clCreateBuffer(cl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, host, &error);
    need(error, "buffer");
    free(host);
    w->buffers[w->buffer_count++] = made;
    need(clSetKernelArg(w->kernel, w->arguments++, sizeof made, &made), "argument");
}

static void shape(work *w, size_t x, size_t y, size_t block_x, size_t block_y)
{
    w->dimensions = y > 1 ? 2 : 1;
    w->global[0] = x, w->global[1] = y;
    w->local[0] = block_x, w->local[1] = block_y;
}

/* Arguments and shape; 0: there is no such kernel. */
static int prepare(work *w, const char *name)
{
    cl_int error;
    const char *kernel = !strcmp(name, "saxpy-cached") ? "saxpy" : name;
    w->kernel = clCreateKernel(cl.program, kernel, &error);
    if (error != CL_SUCCESS) return 0;
    w->rounds = 1;
    if (!strcmp(name, "saxpy") || !strcmp(name, "saxpy-cached")) {
        int n = strcmp(name, "saxpy") ? 1 << 12 : 1 << 22;
        w->rounds = strcmp(name, "saxpy") ? 64 : 1;
        integer(w, n), number(w, 2.5f), buffer(w, 4 * (size_t)n, 0), buffer(w, 4 * (size_t)n, 0);
        shape(w, (size_t)n, 1, 256, 1);
    } else if (!strcmp(name, "matmul")) {
        integer(w, 256);
        for (int k = 0; k < 3; k++) buffer(w, 4 * 256 * 256, 0);
        shape(w, 256, 256, 16, 16);
    } else if (!strcmp(name, "nbody")) {
        buffer(w, 16 * 4096, 0), buffer(w, 16 * 4096, 0), integer(w, 4096), number(w, .01f);
        shape(w, 4096, 1, 128, 1);
    } else if (!strcmp(name, "histogram")) {
        buffer(w, 4 << 21, 1), buffer(w, 1024, 0), integer(w, 1 << 21);
        shape(w, 64 * 256, 1, 256, 1);
    } else {
        integer(w, 512), integer(w, 512), integer(w, 256), buffer(w, 4 * 512 * 512, 0);
        shape(w, 512, 512, 16, 16);
    }
    return 1;
}

double opencl_time(const char *name, int repeats)
{
    work w = { 0 };
    if (!open_device() || !prepare(&w, name)) return 0;
    double best = 1e9;
    /* The first run compiles. */
    for (int k = 0; k <= repeats; k++) {
        double time = now();
        for (int r = 0; r < w.rounds; r++)
            need(clEnqueueNDRangeKernel(cl.queue, w.kernel, w.dimensions, NULL, w.global, w.local,
                                        0, NULL, NULL),
                 "launch");
        need(clFinish(cl.queue), "finish");
        time = now() - time;
        if (k && time < best) best = time;
    }
    for (int k = 0; k < w.buffer_count; k++) clReleaseMemObject(w.buffers[k]);
    clReleaseKernel(w.kernel);
    return best;
}
