/* What the tests of the CPU device share: the table, a context, the kernels.  They call the driver
 * table directly.  SPDX-License-Identifier: MIT */
#ifndef GPUL_TESTS_CPU_TEST_H
#define GPUL_TESTS_CPU_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"

#include "base/alloc.h"
#include "base/file.h"
#include "cpu/cpu.h"

#define ok(call)          assert_int_equal((call), CUDA_SUCCESS)
#define fails(code, call) assert_int_equal((call), CUDA_ERROR_##code)

static const gpul__driver *cu;
static CUcontext test_context;
static long live_before;

/* What is made once in a process and stays: the engine's tables of operations, by the first load, and
 * the thread's error record. */
static inline int warm_up(void)
{
    char path[512], *text;
    size_t size;
    CUmodule module;
    snprintf(path, sizeof path, "%s/kernels.ptx", KERNELS);
    if (!gpul__file_read(&text, &size, "/no/such/file") || gpul__file_read(&text, &size, path) ||
        cu->CtxCreate(&test_context, 0, 0))
        return -1;
    CUresult result = cu->ModuleLoadDataEx(&module, text, 0, NULL, NULL);
    gpul__free(text);
    return cu->CtxDestroy(test_context) || result ? -1 : 0;
}

/* Each test has a context of its own; at its end nothing may be left. */
static inline int make_context(void **state)
{
    static bool warm;
    (void)state;
    cu = gpul__cpu_driver();
    if (cu->Init(0) || (!warm && warm_up())) return -1;
    warm = true;
    live_before = gpul__alloc_live();
    return cu->CtxCreate(&test_context, 0, 0) ? -1 : 0;
}

static inline int end_context(void **state)
{
    (void)state;
    if (test_context && cu->CtxDestroy(test_context)) return -1;
    test_context = NULL;
    long left = gpul__alloc_live() - live_before;
    if (left) fprintf(stderr, "%ld allocations are left\n", left);
    return left ? -1 : 0;
}

#define in_context(test) cmocka_unit_test_setup_teardown(test, make_context, end_context)

/* One of the checked-in .ptx files; freed with gpul__free. */
static inline char *read_kernels(const char *name)
{
    char path[512], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/%s.ptx", KERNELS, name);
    assert_int_equal(gpul__file_read(&text, &size, path), GPUL_OK);
    return text;
}

static inline CUmodule load(const char *name)
{
    char *text = read_kernels(name);
    CUmodule module = NULL;
    ok(cu->ModuleLoadDataEx(&module, text, 0, NULL, NULL));
    gpul__free(text);
    return module;
}

static inline CUfunction kernel(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    ok(cu->ModuleGetFunction(&function, module, name));
    return function;
}

static inline CUdeviceptr alloc(size_t bytes)
{
    CUdeviceptr address = 0;
    ok(cu->MemAlloc(&address, bytes));
    return address;
}

static inline int read_int(CUdeviceptr address)
{
    int value = 0;
    ok(cu->MemcpyDtoH(&value, address, sizeof value));
    return value;
}

/* launch(function, blocks, threads, stream, &a, &b ...) */
#define launch(function, blocks, threads, stream, ...)                                             \
    cu->LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, (void *[]){ __VA_ARGS__ },  \
                     NULL)

#endif
