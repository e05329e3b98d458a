/* Launches: parameters both ways, geometry and its limits, clusters, cooperative launches, occupancy,
 * kernels side by side, printf.  SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <stdatomic.h>

#include "base/str.h"

static void pointers(void **state)
{
    (void)state;
    CUfunction fill = kernel(load("kernels"), "fill");
    CUdeviceptr out = alloc(4000);
    int value = 17, n = 1000, back[1000];
    ok(launch(fill, 4, 256, NULL, &out, &value, &n));
    ok(cu->MemcpyDtoH(back, out, sizeof back));
    for (int i = 0; i < n; i++) assert_int_equal(back[i], 17);
    fails(INVALID_VALUE, launch(fill, 1, 1, NULL, &out, NULL, &n));
    fails(INVALID_VALUE, cu->LaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    fails(INVALID_HANDLE, launch(NULL, 1, 1, NULL, &out, &value, &n));
    fails(INVALID_HANDLE, launch((CUfunction)test_context, 1, 1, NULL, &out, &value, &n));
    fails(INVALID_HANDLE, launch(fill, 1, 1, (CUstream)0x770, &out, &value, &n));
    ok(cu->LaunchKernel(kernel(load("kernels"), "nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ok(cu->CtxSynchronize());
}

static CUresult packed(CUfunction function, const void *buffer, size_t size)
{
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)buffer,
                      CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END };
    return cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
}

static void packed_buffer(void **state)
{
    (void)state;
    CUfunction function = kernel(load("kernels"), "params");
    struct {
        struct {
            char tag;
            double value;
            short pair[2];
        } first;
        char c;
        float f[3];
        double d;
        short s;
        CUdeviceptr out;
    } args = { { 1, 2.5, { 3, 4 } }, 5, { 6, 7, 8 }, 9.5, 10, alloc(7 * 8) };
    assert_int_equal(sizeof args, 64);
    ok(packed(function, &args, 64));
    double out[7];
    static const double right[7] = { 1, 2.5, 7, 5, 876, 9.5, 10 };
    ok(cu->MemcpyDtoH(out, args.out, sizeof out));
    for (int i = 0; i < 7; i++) assert_true(out[i] == right[i]);
    fails(LAUNCH_OUT_OF_RESOURCES, packed(function, &args, 65)); /* one byte too many */
    fails(INVALID_VALUE, packed(function, &args, 0));
    fails(INVALID_VALUE, packed(function, NULL, 64));

    size_t size = 64;
    void *params[6] = { &args }, *unknown[] = { (void *)9, &size, CU_LAUNCH_PARAM_END };
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &args, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      CU_LAUNCH_PARAM_END };
    void *no_size[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &args, CU_LAUNCH_PARAM_END };
    fails(INVALID_VALUE, cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    fails(INVALID_VALUE, cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown));
    fails(INVALID_VALUE, cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, no_size));
    /* A kernel without parameters takes none. */
    CUfunction nothing = kernel(load("kernels"), "nothing");
    ok(packed(nothing, NULL, 0));
    fails(LAUNCH_OUT_OF_RESOURCES, packed(nothing, &args, 4));
    ok(cu->CtxSynchronize());
}

static CUresult shape(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared)
{
    return cu->LaunchKernel(function, gx, gy, gz, bx, by, bz, shared, NULL, NULL, NULL);
}

static void geometry(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction nothing = kernel(module, "nothing"), bounded = kernel(module, "bounded");
    CUfunction fixed = kernel(module, "fixed");
    ok(shape(nothing, 70000, 1, 1, 1, 1, 1, 0));
    ok(shape(nothing, 1, 1, 1, 1024, 1, 1, 49152));
    ok(shape(nothing, 1, 1, 1, 4, 4, 64, 0));
    fails(INVALID_VALUE, shape(nothing, 0, 1, 1, 1, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 0, 1, 1, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 0, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1, 1, 0, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 65536, 1, 1, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 65536, 1, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 2147483648u, 1, 1, 1, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1025, 1, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 32, 33, 1, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1, 1, 65, 0));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1, 1, 1, 49153));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1, 1, 1, 300000));
    CUdeviceptr out = alloc(8192);
    ok(launch(bounded, 1, 64, NULL, &out));
    fails(LAUNCH_OUT_OF_RESOURCES, launch(bounded, 1, 65, NULL, &out));
    /* Static and dynamic shared memory count together; the attribute is a cap, also a lower one. */
    fails(INVALID_VALUE, cu->LaunchKernel(fixed, 1, 1, 1, 1, 1, 1, 49152 - 4096 + 1, NULL,
                                          (void *[]){ &out }, NULL));
    ok(cu->FuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4096));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1, 1, 1, 8192));
    ok(cu->FuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    ok(shape(nothing, 1, 1, 1, 1, 1, 1, 232448));
    fails(INVALID_VALUE, shape(nothing, 1, 1, 1, 1, 1, 1, 232449));
    ok(cu->CtxSynchronize());
}

static void shared_memory(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction dynamic = kernel(module, "dynamic"), fixed = kernel(module, "fixed");
    CUdeviceptr out = alloc(4096);
    int n = 50000, back[1024];
    void *params[] = { &out, &n };
    ok(cu->FuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000));
    ok(cu->LaunchKernel(dynamic, 1, 1, 1, 128, 1, 1, 200000, NULL, params, NULL));
    assert_int_equal(read_int(out), 3 * 49999);
    ok(launch(fixed, 1, 1024, NULL, &out));
    ok(cu->MemcpyDtoH(back, out, sizeof back));
    for (int i = 0; i < 1024; i++) assert_int_equal(back[i], 1023 - i);
}

static void module_variables(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction globals = kernel(module, "globals");
    CUdeviceptr out = alloc(12), counter, table, number;
    size_t bytes;
    float back[3], changed[4] = { 10, 20, 30, 40 };
    ok(launch(globals, 1, 1, NULL, &out));
    ok(cu->MemcpyDtoH(back, out, sizeof back));
    assert_true(back[0] == 9 && back[1] == 7 && back[2] == 5);
    ok(cu->ModuleGetGlobal(&counter, &bytes, module, "counter"));
    assert_int_equal(read_int(counter), 8);
    ok(cu->ModuleGetGlobal(&table, &bytes, module, "table"));
    ok(cu->MemcpyHtoD(table, changed, bytes));
    ok(cu->ModuleGetGlobal(&number, &bytes, module, "shared_number"));
    assert_int_equal(*(int *)(uintptr_t)number, 6); /* managed: the host sees it */
    *(int *)(uintptr_t)number = 11;
    ok(launch(globals, 1, 1, NULL, &out));
    ok(cu->MemcpyDtoH(back, out, sizeof back));
    assert_true(back[0] == 50 && back[1] == 8 && back[2] == 11);
    /* A second load has variables of its own. */
    CUmodule again = load("kernels");
    ok(cu->ModuleGetGlobal(&counter, &bytes, again, "counter"));
    assert_int_equal(read_int(counter), 7);
}

static CUresult launch_ex(CUfunction function, unsigned grid, CUlaunchAttribute *attributes,
                          unsigned count, void **params)
{
    CUlaunchConfig config = { .gridDimX = grid,
                              .gridDimY = 1,
                              .gridDimZ = 1,
                              .blockDimX = 32,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .attrs = attributes,
                              .numAttrs = count };
    return cu->LaunchKernelEx(&config, function, params, NULL);
}

static CUlaunchAttribute cluster_of(unsigned x)
{
    CUlaunchAttribute attribute = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    return attribute;
}

static void clusters(void **state)
{
    (void)state;
    CUmodule module = load("cluster");
    CUfunction pair = kernel(module, "pair"), any = kernel(module, "any");
    CUdeviceptr out = alloc(64 * 4);
    unsigned back[16];
    void *params[] = { &out };
    CUlaunchAttribute two = cluster_of(2), four = cluster_of(4), sixteen = cluster_of(16);
    CUlaunchAttribute none = cluster_of(0), wrong = { .id = (CUlaunchAttributeID)99 };
    ok(launch(pair, 4, 32, NULL, &out)); /* its own size */
    ok(cu->MemcpyDtoH(back, out, 16));
    for (unsigned i = 0; i < 4; i++) assert_int_equal(back[i], i % 2);
    ok(launch_ex(any, 8, &four, 1, params));
    ok(cu->MemcpyDtoH(back, out, 32));
    for (unsigned i = 0; i < 8; i++) assert_int_equal(back[i], i % 4);
    ok(launch_ex(pair, 4, &two, 1, params));
    fails(INVALID_CLUSTER_SIZE, launch(pair, 3, 32, NULL, &out));
    fails(INVALID_CLUSTER_SIZE, launch_ex(pair, 4, &four, 1, params));
    fails(INVALID_CLUSTER_SIZE, launch_ex(any, 6, &four, 1, params));
    fails(INVALID_CLUSTER_SIZE, launch_ex(any, 16, &sixteen, 1, params));
    fails(INVALID_CLUSTER_SIZE, launch_ex(any, 16, &none, 1, params));
    ok(cu->FuncSetAttribute(any, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    ok(launch_ex(any, 16, &sixteen, 1, params));
    ok(cu->FuncSetAttribute(any, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1));
    fails(INVALID_CLUSTER_SIZE, launch(any, 4, 32, NULL, &out));
    fails(INVALID_VALUE, launch_ex(any, 4, &wrong, 1, params));
    fails(INVALID_VALUE, launch_ex(any, 4, NULL, 1, params));
    fails(INVALID_VALUE, cu->LaunchKernelEx(NULL, any, params, NULL));
    int number;
    CUlaunchConfig config = { .gridDimX = 4,
                              .gridDimY = 1,
                              .gridDimZ = 1,
                              .blockDimX = 1024,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .attrs = &four,
                              .numAttrs = 1 };
    ok(cu->OccupancyMaxActiveClusters(&number, any, &config));
    assert_int_equal(number, 2 * 132 / 4);
    ok(cu->OccupancyMaxPotentialClusterSize(&number, pair, &config));
    assert_int_equal(number, 8);
    ok(cu->CtxSynchronize());
}

static void cooperative(void **state)
{
    (void)state;
    CUfunction meet = kernel(load("kernels"), "meet");
    CUdeviceptr arrived = alloc(4);
    void *params[] = { &arrived };
    int blocks;
    ok(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 32, 0));
    assert_int_equal(blocks, 32);
    unsigned most = (unsigned)blocks * 132;
    ok(cu->MemsetD32(arrived, 0, 1));
    ok(cu->LaunchCooperativeKernel(meet, 200, 1, 1, 32, 1, 1, 0, NULL, params));
    assert_int_equal(read_int(arrived), 200 * 32);
    fails(COOPERATIVE_LAUNCH_TOO_LARGE,
          cu->LaunchCooperativeKernel(meet, most + 1, 1, 1, 32, 1, 1, 0, NULL, params));
    CUlaunchAttribute attribute = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                    .value = { .cooperative = 1 } };
    fails(COOPERATIVE_LAUNCH_TOO_LARGE, launch_ex(meet, 1000000, &attribute, 1, params));
    ok(cu->MemsetD32(arrived, 0, 1));
    ok(launch_ex(meet, 64, &attribute, 1, params));
    assert_int_equal(read_int(arrived), 64 * 32);
}

static size_t shared_for(int block_size)
{
    return (size_t)block_size * 200;
}

static void occupancy(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction nothing = kernel(module, "nothing"), bounded = kernel(module, "bounded");
    int blocks, grid, block;
    size_t bytes;
    static const struct {
        int threads;
        size_t shared;
        int blocks;
    } cases[] = { { 32, 0, 32 },    { 64, 0, 32 },      { 65, 0, 21 },      { 1024, 0, 2 },
                  { 32, 49152, 4 }, { 128, 10000, 16 }, { 128, 20000, 11 }, { 2048, 0, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ok(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, cases[i].threads,
                                                         cases[i].shared));
        assert_int_equal(blocks, cases[i].blocks);
    }
    fails(INVALID_VALUE, cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
    fails(INVALID_VALUE, cu->OccupancyMaxActiveBlocksPerMultiprocessor(NULL, nothing, 32, 0));
    ok(cu->OccupancyMaxPotentialBlockSize(&grid, &block, nothing, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 2 * 132);
    ok(cu->OccupancyMaxPotentialBlockSize(&grid, &block, bounded, NULL, 0, 0));
    assert_int_equal(block, 64);
    ok(cu->OccupancyMaxPotentialBlockSize(&grid, &block, nothing, shared_for, 0, 500));
    assert_true(block <= 245 && block > 0); /* more would not have the shared memory */
    ok(cu->OccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 2, 128));
    assert_int_equal(bytes, 233472 / 2 - 1024);
    ok(cu->OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 32, 0, 1));
    fails(INVALID_VALUE,
          cu->OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 32, 0, 2));
}

/* A kernel that waits for a flag is answered by a copy and by a kernel of other streams. */
static void kernels_side_by_side(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction wait_for = kernel(module, "wait_for"), raise = kernel(module, "raise");
    CUstream a, b;
    CUdeviceptr flag = alloc(4), out = alloc(4);
    for (int round = 0; round < 2; round++) {
        ok(cu->MemsetD32(flag, 0, 1));
        ok(cu->MemsetD32(out, 0, 1));
        ok(cu->StreamCreate(&a, CU_STREAM_NON_BLOCKING));
        ok(cu->StreamCreate(&b, CU_STREAM_NON_BLOCKING));
        ok(launch(wait_for, 1, 32, a, &flag, &out));
        fails(NOT_READY, cu->StreamQuery(a));
        if (round == 0) ok(cu->MemsetD32Async(flag, 1, 1, b));
        else ok(launch(raise, 1, 1, b, &flag));
        ok(cu->StreamSynchronize(b));
        ok(cu->StreamSynchronize(a));
        assert_int_equal(read_int(out), 1);
        ok(cu->StreamDestroy(a));
        ok(cu->StreamDestroy(b));
    }
}

static void many_in_order(void **state)
{
    (void)state;
    CUfunction add_one = kernel(load("kernels"), "add_one");
    CUstream stream;
    CUdeviceptr out = alloc(400);
    int n = 100, back[100];
    ok(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cu->MemsetD32Async(out, 0, 100, stream));
    uint64_t first = gpul__cpu_launch_number();
    for (int i = 0; i < 500; i++) ok(launch(add_one, 1, 128, stream, &out, &n));
    assert_int_equal(gpul__cpu_launch_number() - first, 500);
    ok(cu->MemcpyDtoHAsync(back, out, sizeof back, stream));
    for (int i = 0; i < n; i++) assert_int_equal(back[i], 500);
}

static void take_text(void *user, const char *text, size_t length)
{
    gpul__str_addn(user, text, length);
}

static void printing(void **state)
{
    (void)state;
    gpul__str printed = { 0 };
    CUstream stream;
    CUmodule module = load("kernels");
    CUfunction say = kernel(module, "say");
    gpul_cpu_opts options = { .print = take_text, .print_user = &printed };
    assert_int_equal(gpul__cpu_configure(&options), GPUL_OK);
    ok(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int id = 1; id <= 2; id++) ok(launch(say, 1, 1, stream, &id));
    ok(cu->StreamSynchronize(stream));
    assert_string_equal(gpul__str_text(&printed), "kernel 1 says hello\nkernel 2 says hello\n");
    gpul__str_free(&printed);
    /* More than the buffer holds comes early, and whole. */
    ok(cu->CtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 100));
    int id = 3;
    ok(launch(say, 20, 2, stream, &id));
    ok(cu->CtxSynchronize());
    assert_int_equal(printed.length, 40 * strlen("kernel 3 says hello\n"));
    for (size_t i = 0; i < 40; i++)
        assert_memory_equal(printed.text + i * 20, "kernel 3 says hello\n", 20);
    gpul__str_free(&printed);
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(gpul__cpu_configure(NULL), GPUL_OK);
    ok(cu->CtxCreate(&test_context, 0, 0));
}

GPUL_TEST_MAIN("CPU device: launches", in_context(pointers), in_context(packed_buffer),
               in_context(geometry), in_context(shared_memory), in_context(module_variables),
               in_context(clusters), in_context(cooperative), in_context(occupancy),
               in_context(kernels_side_by_side), in_context(many_in_order), in_context(printing));
