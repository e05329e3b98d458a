/* Host memory that runs out: for n = 1, 2, 3 ... the n-th allocation of a whole session fails.  Every
 * call then succeeds or says OUT_OF_MEMORY, and nothing is left at the end.
 * SPDX-License-Identifier: MIT */
#include "cpu_test.h"

static char *ptx, *part;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_) return result_;                                                               \
    } while (0)

/* Everything that allocates, once. */
static CUresult session(CUcontext *context)
{
    CUmodule module;
    CUfunction fill;
    CUstream stream, other;
    CUevent event;
    CUdeviceptr memory, managed, pooled;
    CUgraph graph, recorded;
    CUgraphNode node, second;
    CUgraphExec exec;
    CUlinkState link;
    CUlibrary library;
    void *host, *image;
    size_t size;
    int value = 5, n = 64, back[64];
    char log[256];
    CUjit_option options[] = { CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_LOG_VERBOSE };
    void *values[] = { log, (void *)sizeof log, (void *)1 };

    TRY(cu->CtxCreate(context, 0, 0));
    for (int i = 0; i < 10; i++) TRY(cu->CtxPushCurrent(*context));
    TRY(cu->ModuleLoadDataEx(&module, ptx, 3, options, values));
    TRY(cu->ModuleGetFunction(&fill, module, "fill"));
    TRY(cu->StreamCreate(&stream, 0));
    TRY(cu->StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    TRY(cu->EventCreate(&event, 0));
    TRY(cu->MemAlloc(&memory, 256));
    TRY(cu->MemAllocManaged(&managed, 256, CU_MEM_ATTACH_GLOBAL));
    TRY(cu->MemHostAlloc(&host, 256, 0));
    TRY(cu->MemAllocAsync(&pooled, 256, stream));
    void *params[] = { &memory, &value, &n };
    TRY(cu->LaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
    TRY(cu->EventRecord(event, stream));
    TRY(cu->StreamWaitEvent(other, event, 0));
    TRY(cu->MemcpyHtoDAsync(pooled, back, 256, other));
    TRY(cu->MemcpyDtoH(back, memory, 256));
    TRY(cu->MemFreeAsync(pooled, other));
    TRY(cu->StreamSynchronize(other));

    CUDA_KERNEL_NODE_PARAMS kernel = { .func = fill,
                                       .gridDimX = 1,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 64,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .kernelParams = params };
    TRY(cu->GraphCreate(&graph, 0));
    TRY(cu->GraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    TRY(cu->GraphAddEmptyNode(&second, graph, &node, 1));
    TRY(cu->GraphInstantiate(&exec, graph, 0));
    TRY(cu->GraphExecKernelNodeSetParams(exec, node, &kernel));
    TRY(cu->GraphLaunch(exec, stream));
    TRY(cu->StreamBeginCapture(other, 0));
    CUresult result = cu->LaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, other, params, NULL);
    CUresult ended = cu->StreamEndCapture(other, &recorded);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        /* A launch that was refused before it was recorded does no harm to the recording. */
        assert_true(ended == CUDA_SUCCESS || ended == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
                    ended == CUDA_ERROR_OUT_OF_MEMORY);
        return result;
    }
    TRY(result);
    TRY(ended);

    TRY(cu->LinkCreate(0, NULL, NULL, &link));
    TRY(cu->LinkAddData(link, CU_JIT_INPUT_PTX, part, strlen(part), "part", 0, NULL, NULL));
    TRY(cu->LinkComplete(link, &image, &size));
    TRY(cu->LibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    TRY(cu->CtxSynchronize());
    for (int i = 0; i < n; i++) assert_int_equal(back[i], value);
    return CUDA_SUCCESS;
}

static void every_allocation(void **state)
{
    (void)state;
    long failures = 0;
    ptx = read_kernels("kernels");
    part = read_kernels("link_part");
    cu = gpul__cpu_driver();
    /* An emulator keeps a record of each page that is reserved, and this reserves hundreds of times. */
    assert_int_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .memory_bytes = 64 << 20 }), GPUL_OK);
    ok(cu->Init(0));
    assert_int_equal(warm_up(), 0);
    for (long n = 1;; n++) {
        CUcontext context = NULL, top;
        long before = gpul__alloc_live();
        gpul__alloc_fail_at(n);
        CUresult result = session(&context);
        gpul__alloc_fail_at(0);
        if (result && result != CUDA_ERROR_OUT_OF_MEMORY)
            fail_msg("allocation %ld: result %d", n, (int)result);
        if (context) {
            while (cu->CtxPopCurrent(&top) == CUDA_SUCCESS) continue;
            ok(cu->CtxDestroy(context));
        }
        long left = gpul__alloc_live() - before;
        if (left) fail_msg("allocation %ld: %ld are left", n, left);
        failures += result != CUDA_SUCCESS;
        /* A failed allocation that nobody minds does not end the search, a long calm does. */
        if (result == CUDA_SUCCESS && n > failures + 50) break;
    }
    print_message("%ld allocations made to fail\n", failures);
    assert_true(failures > 100);
    gpul__free(ptx);
    gpul__free(part);
}

GPUL_TEST_MAIN("CPU device: memory that runs out", cmocka_unit_test(every_allocation));
