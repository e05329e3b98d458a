/* Faults of kernels: the driver's numbers, what stays broken and what does not, reports, time limits.
 * SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <stdlib.h>
#include <time.h>

/* The context is lost: everything but getting rid of it answers `fault`. */
static void assert_lost(CUresult fault)
{
    CUdeviceptr address;
    CUstream stream;
    CUevent event;
    CUmodule module;
    CUcontext context;
    size_t bytes;
    int byte;
    assert_int_equal(cu->CtxSynchronize(), fault);
    assert_int_equal(cu->MemAlloc(&address, 4), fault);
    assert_int_equal(cu->MemHostAlloc((void **)&address, 4, 0), fault);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), fault);
    assert_int_equal(cu->StreamCreate(&stream, 0), fault);
    assert_int_equal(cu->StreamSynchronize(NULL), fault);
    assert_int_equal(cu->StreamQuery(NULL), fault);
    assert_int_equal(cu->EventCreate(&event, 0), fault);
    assert_int_equal(cu->ModuleLoadDataEx(&module, "", 0, NULL, NULL), fault);
    assert_int_equal(cu->MemcpyHtoD(1, &byte, 1), fault);
    assert_int_equal(cu->MemFree(0), fault);
    ok(cu->CtxGetCurrent(&context)); /* not everything asks the device */
    assert_ptr_equal(context, test_context);
    ok(cu->CtxGetDevice(&byte));
}

/* A new context of the same process works: that is what the CPU device is better at than a GPU. */
static void recover(void)
{
    ok(cu->CtxDestroy(test_context));
    ok(cu->CtxCreate(&test_context, 0, 0));
    CUfunction fill = kernel(load("kernels"), "fill");
    CUdeviceptr out = alloc(4);
    int value = 3, n = 1;
    ok(launch(fill, 1, 1, NULL, &out, &value, &n));
    assert_int_equal(read_int(out), 3);
}

static ptx_fault_kind kind_of_fault(void)
{
    gpul__cpu_report *report = gpul__cpu_fault_report(test_context);
    assert_non_null(report);
    assert_int_equal(report->launch, gpul__cpu_launch_number());
    assert_true(report->details.finding_count > 0);
    assert_true(strlen(report->text) > 0);
    ptx_fault_kind kind = report->details.findings[0].kind;
    gpul__cpu_report_free(report);
    return kind;
}

static void addresses(void **state)
{
    (void)state;
    static int outside;
    enum { NULL_POINTER, HOST, FREED, FAR_AWAY, PAST_THE_END, CASES };
    static const ptx_fault_kind kinds[CASES] = { PTX_FAULT_NULL, PTX_FAULT_HOST_ADDRESS,
                                                 PTX_FAULT_FREED, PTX_FAULT_OUT_OF_BOUNDS,
                                                 PTX_FAULT_OUT_OF_BOUNDS };
    for (int i = 0; i < CASES; i++) {
        CUfunction poke = kernel(load("kernels"), "poke");
        CUdeviceptr good = alloc(400), target = 0;
        int value = 1;
        switch (i) {
        case HOST: target = (CUdeviceptr)(uintptr_t)&outside; break;
        case FREED:
            target = alloc(64);
            ok(cu->MemFree(target));
            break;
        case FAR_AWAY: target = good + ((CUdeviceptr)1 << 33); break;
        case PAST_THE_END: target = good + 400; break;
        default: break;
        }
        ok(launch(poke, 1, 1, NULL, &target, &value)); /* the launch itself succeeds */
        fails(ILLEGAL_ADDRESS, cu->CtxSynchronize());
        assert_int_equal(kind_of_fault(), kinds[i]);
        assert_lost(CUDA_ERROR_ILLEGAL_ADDRESS);
        recover();
    }
    assert_int_equal(outside, 0);
}

/* The report of an overrun by 28 threads. */
static void report(void **state)
{
    (void)state;
    CUfunction poke = kernel(load("kernels"), "poke");
    CUdeviceptr target = alloc(400);
    int value = 1, back[100];
    ok(launch(poke, 1, 100, NULL, &target, &value));
    ok(cu->CtxSynchronize());
    ok(launch(poke, 1, 128, NULL, &target, &value));
    fails(ILLEGAL_ADDRESS, cu->MemcpyDtoH(back, target, sizeof back));
    gpul__cpu_report *found = gpul__cpu_fault_report(test_context);
    assert_non_null(found);
    assert_int_equal(found->result, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(found->block[0], 128);
    assert_ptr_equal(found->function, poke);
    assert_string_equal(found->details.kernel, "poke");
    const ptx_finding *finding = &found->details.findings[0];
    assert_int_equal(finding->thread[0], 100);
    assert_int_equal(finding->threads, 28);
    assert_int_equal(finding->size, 4);
    assert_true(finding->has_allocation);
    assert_int_equal(finding->allocation.size, 400);
    assert_int_equal(finding->offset, 400);
    assert_non_null(strstr(finding->text, "st.global"));
    assert_non_null(strstr(found->text, "poke"));
    /* It outlives the context. */
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(found->details.findings[0].threads, 28);
    ok(cu->CtxCreate(&test_context, 0, 0));
    gpul__cpu_report_free(found);
    assert_null(gpul__cpu_fault_report(test_context));
    assert_null(gpul__cpu_take_warning(test_context));
    assert_null(gpul__cpu_fault_report(NULL));
}

static void other_faults(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        CUresult fault;
        ptx_fault_kind kind;
    } cases[] = { { "poke_odd", CUDA_ERROR_MISALIGNED_ADDRESS, PTX_FAULT_MISALIGNED },
                  { "check", CUDA_ERROR_ASSERT, PTX_FAULT_ASSERT },
                  { "stop", CUDA_ERROR_LAUNCH_FAILED, PTX_FAULT_TRAP } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUfunction function = kernel(load("kernels"), cases[i].kernel);
        /* `check` takes an int, which is the low half; `stop` takes nothing. */
        CUdeviceptr argument = strcmp(cases[i].kernel, "check") == 0 ? 60 : alloc(64);
        CUstream stream;
        ok(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        ok(launch(function, 1, 1, stream, &argument));
        assert_int_equal(cu->StreamSynchronize(stream), cases[i].fault);
        assert_int_equal(kind_of_fault(), cases[i].kind);
        assert_lost(cases[i].fault);
        assert_int_equal(cu->StreamDestroy(stream), cases[i].fault);
        recover();
    }
}

/* What was queued behind the fault does not run, in no stream of the context; other contexts go on. */
static void what_follows(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction poke = kernel(module, "poke"), fill = kernel(module, "fill");
    CUdeviceptr null = 0, *pinned;
    int value = 1, n = 1, *word;
    CUcontext first = test_context, second;
    ok(cu->MemHostAlloc((void **)&word, 4, CU_MEMHOSTALLOC_PORTABLE));
    pinned = (CUdeviceptr *)&word;
    *word = 5;
    ok(launch(poke, 1, 1, NULL, &null, &value));
    for (int i = 0; i < 20; i++) {
        CUresult result = launch(fill, 1, 1, NULL, pinned, &value, &n);
        assert_true(result == CUDA_SUCCESS || result == CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    fails(ILLEGAL_ADDRESS, cu->CtxSynchronize());
    assert_int_equal(*word, 5);
    ok(cu->CtxCreate(&second, 0, 0));
    CUdeviceptr out = alloc(4);
    fill = kernel(load("kernels"), "fill");
    ok(launch(fill, 1, 1, NULL, &out, &value, &n));
    assert_int_equal(read_int(out), 1);
    ok(cu->CtxDestroy(second));
    ok(cu->CtxGetCurrent(&second));
    assert_ptr_equal(second, first);
    recover();
}

static CUresult callback_saw;
static void callback(CUstream stream, CUresult status, void *user)
{
    (void)stream, (void)user;
    callback_saw = status;
}
static void never(void *user)
{
    *(int *)user = 1;
}

/* Callbacks hear of a fault, host functions do not run. */
static void callbacks_hear_of_it(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUstream stream;
    CUdeviceptr flag = alloc(4), out = alloc(4), null = 0;
    int value = 1, ran = 0;
    ok(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    /* All of it is queued behind a kernel that waits, so that nothing is refused. */
    ok(cu->MemsetD32(flag, 0, 1));
    ok(launch(kernel(module, "wait_for"), 1, 1, stream, &flag, &out));
    ok(launch(kernel(module, "poke"), 1, 1, stream, &null, &value));
    ok(cu->LaunchHostFunc(stream, never, &ran));
    ok(cu->StreamAddCallback(stream, callback, NULL, 0));
    ok(cu->MemsetD32(flag, 1, 1));
    fails(ILLEGAL_ADDRESS, cu->StreamSynchronize(stream));
    assert_int_equal(callback_saw, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(ran, 0);
    recover();
}

static void primary_context(void **state)
{
    (void)state;
    CUcontext primary;
    CUdeviceptr null = 0;
    int value = 1;
    ok(cu->DevicePrimaryCtxRetain(&primary, 0));
    ok(cu->CtxPushCurrent(primary));
    ok(launch(kernel(load("kernels"), "poke"), 1, 1, NULL, &null, &value));
    fails(ILLEGAL_ADDRESS, cu->CtxSynchronize());
    ok(cu->CtxPopCurrent(&primary));
    alloc(4); /* the other context is well */
    ok(cu->DevicePrimaryCtxRelease(0));
    ok(cu->DevicePrimaryCtxRetain(&primary, 0));
    ok(cu->CtxPushCurrent(primary));
    alloc(4);
    ok(cu->CtxPopCurrent(&primary));
    ok(cu->DevicePrimaryCtxRelease(0));
}

static void budget(void **state)
{
    (void)state;
    CUfunction wait_for = kernel(load("kernels"), "wait_for");
    CUdeviceptr flag = alloc(4), out = alloc(4);
    gpul_cpu_opts options = { .instruction_budget = 100000 };
    assert_int_equal(gpul__cpu_configure(&options), GPUL_OK);
    ok(cu->MemsetD32(flag, 0, 1));
    ok(launch(wait_for, 1, 32, NULL, &flag, &out));
    fails(LAUNCH_TIMEOUT, cu->CtxSynchronize());
    assert_int_equal(kind_of_fault(), PTX_FAULT_BUDGET);
    gpul__cpu_report *report = gpul__cpu_fault_report(test_context);
    assert_true(report->details.position_count > 0); /* says where the threads stand */
    assert_string_equal(report->details.positions[0].function, "wait_for");
    gpul__cpu_report_free(report);
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(gpul__cpu_configure(NULL), GPUL_OK);
    ok(cu->CtxCreate(&test_context, 0, 0));
}

/* A kernel that never ends is stopped from outside, and nothing goes on running. */
static void interrupt(void **state)
{
    (void)state;
    CUfunction wait_for = kernel(load("kernels"), "wait_for");
    CUdeviceptr flag = alloc(4), out = alloc(4);
    ok(cu->MemsetD32(flag, 0, 1));
    ok(launch(wait_for, 1, 32, NULL, &flag, &out));
    for (int i = 0; i < 5; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
        fails(NOT_READY, cu->StreamQuery(NULL));
    }
    fails(INVALID_CONTEXT, gpul__cpu_interrupt(NULL));
    ok(gpul__cpu_interrupt(test_context));
    fails(LAUNCH_TIMEOUT, cu->CtxSynchronize());
    assert_int_equal(kind_of_fault(), PTX_FAULT_CANCELLED);
    recover();
    ok(gpul__cpu_interrupt(test_context)); /* nothing runs: nothing happens */
    ok(cu->CtxSynchronize());
}

GPUL_TEST_MAIN("CPU device: faults", in_context(addresses), in_context(report),
               in_context(other_faults), in_context(what_follows), in_context(callbacks_hear_of_it),
               in_context(primary_context), in_context(budget), in_context(interrupt));
