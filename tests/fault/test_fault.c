/* What can fail is made to fail, for n = 1, 2, 3 ...: allocations, driver calls, compiler calls.  Status
 * and record agree, the message is not empty, nothing is left behind.  SPDX-License-Identifier: MIT */
#include "road.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc/nvrtc.h"

/* The driver of the compiled road is as new as the compiler that is here. */
static gpul__record_config machine;

static void start(void)
{
    gpul__record_driver(); /* its first call resets */
    gpul__record_reset(&machine);
    const gpul__driver *driver = gpul__fault_driver(gpul__record_driver());
    gpul__driver_override(driver);
    gpul__fault_at(0, CUDA_SUCCESS);
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    gpul__fault_without(NULL);
}

static void the_whole_road_is_clean(void **state)
{
    (void)state;
    journey j;
    for (int i = 0; i < 2; i++) {
        start();
        travel(&j, FROM_PTX);
        if (j.status != GPUL_OK) fail_msg("GL%04d: %s", j.error.code, j.message);
        check_clean(&j, "nothing fails");
    }
    assert_true(gpul__fault_calls() > 50);
}

/* Allocations that are missed without harm (a log, say) let the road go on: the sweep ends when it has
 * gone on for a long time. */
static void sweep_allocations(route way, long step, long calm)
{
    char what[64];
    journey j;
    long succeeded = 0, failures = 0;
    for (long n = 1; succeeded < calm; n += n < 200 ? 1 : step) {
        start();
        gpul__alloc_fail_at(n);
        travel(&j, way);
        snprintf(what, sizeof what, "allocation %ld", n);
        if (j.status == GPUL_OK) {
            check_clean(&j, what);
            succeeded++;
            continue;
        }
        succeeded = 0;
        failures++;
        check_failure(&j, what);
        if (j.status != GPUL_E_MEMORY) fail_msg("%s: GL%04d: %s", what, j.error.code, j.message);
    }
    assert_true(failures > 10);
}

static void each_allocation_fails(void **state)
{
    (void)state;
    sweep_allocations(FROM_PTX, 1, 40);
}

static void each_driver_call_fails(void **state)
{
    (void)state;
    static const CUresult results[] = { CUDA_ERROR_INVALID_VALUE,   CUDA_ERROR_OUT_OF_MEMORY,
                                        CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_ILLEGAL_ADDRESS,
                                        CUDA_ERROR_NOT_SUPPORTED,   CUDA_ERROR_UNKNOWN };
    char what[128];
    for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
        journey j;
        long n = 0, failures = 0;
        do {
            start();
            gpul__fault_at(++n, results[r]);
            travel(&j, FROM_PTX);
            if (n > gpul__fault_calls()) break;
            snprintf(what, sizeof what, "driver call %ld, %s, gives %d", n, gpul__fault_failed(),
                     (int)results[r]);
            if (j.status == GPUL_OK) {
                check_clean(&j, what);
                continue;
            }
            failures++;
            check_failure(&j, what);
        } while (true);
        assert_true(failures > 30);
    }
}

/* The ways off the main road, with each allocation, each driver call and each optional entry. */
static void each_way_off_the_road_fails(void **state)
{
    (void)state;
    static const CUresult results[] = { CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,
                                        CUDA_ERROR_ILLEGAL_ADDRESS };
    char what[128];
    for (route way = KINDS; way <= GRAPHS; way++) {
        journey j;
        start();
        travel(&j, way);
        if (j.status != GPUL_OK) fail_msg("way %d: GL%04d: %s", way, j.error.code, j.message);
        check_clean(&j, "nothing fails");
        sweep_allocations(way, 1, 40);
        for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
            for (long n = 1;; n++) {
                start();
                gpul__fault_at(n, results[r]);
                travel(&j, way);
                if (n > gpul__fault_calls()) break;
                snprintf(what, sizeof what, "way %d, call %ld, %s, gives %d", way, n,
                         gpul__fault_failed(), (int)results[r]);
                if (j.status == GPUL_OK) check_clean(&j, what);
                else check_failure(&j, what);
            }
        }
        const char *symbol;
        bool needed;
        for (size_t i = 0; (symbol = gpul__driver_symbol(i, &needed)); i++) {
            if (needed) continue;
            start();
            gpul__fault_without(symbol);
            travel(&j, way);
            snprintf(what, sizeof what, "way %d without %s", way, symbol);
            if (j.status == GPUL_OK) check_clean(&j, what);
            else check_failure(&j, what);
            if (j.status != GPUL_OK && j.status != GPUL_E_UNSUPPORTED)
                fail_msg("%s: GL%04d: %s", what, j.error.code, j.message);
        }
    }
}

/* Each entry of the road with each error that the driver's documentation names for such calls: the
 * record has the number, its name, and the entry that refused. */
static void each_entry_gives_each_error(void **state)
{
    (void)state;
    static const char *const entries[] = { "cuInit",
                                           "cuDeviceGetCount",
                                           "cuDeviceGetName",
                                           "cuDeviceTotalMem_v2",
                                           "cuCtxCreate_v2",
                                           "cuMemGetInfo_v2",
                                           "cuStreamCreate",
                                           "cuModuleLoadDataEx",
                                           "cuModuleGetFunction",
                                           "cuFuncGetAttribute",
                                           "cuMemAlloc_v2",
                                           "cuMemcpyHtoDAsync_v2",
                                           "cuStreamSynchronize",
                                           "cuCtxGetStreamPriorityRange",
                                           "cuStreamCreateWithPriority",
                                           "cuEventCreate",
                                           "cuEventRecord",
                                           "cuLaunchKernel",
                                           "cuStreamWaitEvent",
                                           "cuLaunchKernelEx",
                                           "cuMemcpyDtoDAsync_v2",
                                           "cuMemsetD32Async",
                                           "cuEventSynchronize",
                                           "cuEventElapsedTime",
                                           "cuStreamQuery",
                                           "cuMemcpyDtoHAsync_v2",
                                           "cuModuleGetGlobal_v2",
                                           "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                           "cuOccupancyMaxPotentialBlockSize",
                                           "cuCtxGetCurrent",
                                           "cuCtxSetCurrent" };
    static const CUresult results[] = {
        CUDA_ERROR_INVALID_VALUE,
        CUDA_ERROR_OUT_OF_MEMORY,
        CUDA_ERROR_NOT_INITIALIZED,
        CUDA_ERROR_DEINITIALIZED,
        CUDA_ERROR_NO_DEVICE,
        CUDA_ERROR_INVALID_DEVICE,
        CUDA_ERROR_INVALID_IMAGE,
        CUDA_ERROR_INVALID_CONTEXT,
        CUDA_ERROR_NO_BINARY_FOR_GPU,
        CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        CUDA_ERROR_INVALID_PTX,
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
        CUDA_ERROR_INVALID_HANDLE,
        CUDA_ERROR_NOT_FOUND,
        CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUDA_ERROR_ASSERT,
        CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        CUDA_ERROR_NOT_PERMITTED,
        CUDA_ERROR_NOT_SUPPORTED,
        CUDA_ERROR_SYSTEM_NOT_READY,
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CUDA_ERROR_INVALID_CLUSTER_SIZE,
        CUDA_ERROR_UNKNOWN,
    };
    char what[128];
    size_t refused = 0;
    for (size_t e = 0; e < sizeof entries / sizeof *entries; e++) {
        for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
            journey j;
            start();
            gpul__fault_entry(entries[e], 1, results[r]);
            travel(&j, FROM_PTX);
            snprintf(what, sizeof what, "%s gives %d", entries[e], (int)results[r]);
            check_clean(&j, what);
            if (j.status == GPUL_OK) continue; /* entries whose answer may be missed */
            check_failure(&j, what);
            refused++;
            if (j.error.native_kind != GPUL_NATIVE_CUDA || j.error.native != (int)results[r])
                fail_msg("%s: the record has %d (%s)", what, j.error.native, j.message);
            assert_string_equal(j.native_name, gpul_native_name(GPUL_NATIVE_CUDA, j.error.native));
            if (strncmp(j.call, "cu", 2) != 0) fail_msg("%s: the call is \"%s\"", what, j.call);
        }
    }
    assert_true(refused > 800);
}

/* An older driver lacks an entry that may be missing: the road goes on without it, or says so. */
static void each_optional_entry_is_missing(void **state)
{
    (void)state;
    const char *symbol;
    bool needed;
    char what[128];
    for (size_t i = 0; (symbol = gpul__driver_symbol(i, &needed)); i++) {
        journey j;
        if (needed) continue;
        start();
        gpul__fault_without(symbol);
        travel(&j, FROM_PTX);
        snprintf(what, sizeof what, "without %s", symbol);
        if (j.status != GPUL_OK) fail_msg("%s: GL%04d: %s", what, j.error.code, j.message);
        check_clean(&j, what);
    }
}

/* ---- With the compiler ---- */

/* A nvrtcDestroyProgram that is made to fail leaves the compiler's program behind, which is no leak of
 * the library's. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnvrtc\n";
}

static void need_compiler(void)
{
    const gpul__nvrtc *nvrtc;
    if (gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ .arch = 90, .driver_version = 13000 }) !=
        GPUL_OK)
        skip_because("no NVRTC for sm_90 and CUDA 13.0 here");
    int version = nvrtc->major * 1000 + nvrtc->minor * 10;
    machine.driver_version = version > 13000 ? version : 13000;
}

static void the_compiled_road_is_clean(void **state)
{
    (void)state;
    journey j;
    need_compiler();
    for (int i = 0; i < 2; i++) {
        start();
        travel(&j, FROM_SOURCE);
        if (j.status != GPUL_OK) fail_msg("GL%04d: %s", j.error.code, j.message);
    }
    check_clean(&j, "nothing fails");
}

static void each_compiler_call_fails(void **state)
{
    (void)state;
    static const nvrtcResult results[] = { NVRTC_ERROR_OUT_OF_MEMORY,
                                           2,
                                           NVRTC_ERROR_INVALID_OPTION,
                                           NVRTC_ERROR_COMPILATION,
                                           NVRTC_ERROR_BUILTIN_OPERATION_FAILURE,
                                           11 };
    char what[64];
    need_compiler();
    for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
        journey j;
        for (long n = 1;; n++) {
            start();
            gpul__nvrtc_fail_at(n, results[r]);
            travel(&j, FROM_SOURCE);
            long calls = gpul__nvrtc_calls();
            gpul__nvrtc_fail_at(0, 0);
            if (n > calls) break;
            snprintf(what, sizeof what, "compiler call %ld gives %d", n, results[r]);
            if (j.status == GPUL_OK) {
                check_clean(&j, what);
                continue;
            }
            check_failure(&j, what);
            if (!*j.hint && results[r] != NVRTC_ERROR_COMPILATION) /* that has the compiler's log */
                fail_msg("%s: neither hint nor log: %s", what, j.message);
            if (j.error.native_kind == GPUL_NATIVE_NVRTC)
                assert_string_equal(j.native_name, gpul_native_name(GPUL_NATIVE_NVRTC, results[r]));
        }
    }
}

static void each_allocation_of_the_compiled_road_fails(void **state)
{
    (void)state;
    need_compiler();
    sweep_allocations(FROM_SOURCE, 13, 6);
}

GPUL_TEST_MAIN("fault", cmocka_unit_test(the_whole_road_is_clean),
               cmocka_unit_test(each_allocation_fails), cmocka_unit_test(each_driver_call_fails),
               cmocka_unit_test(each_way_off_the_road_fails),
               cmocka_unit_test(each_entry_gives_each_error),
               cmocka_unit_test(each_optional_entry_is_missing),
               cmocka_unit_test(the_compiled_road_is_clean),
               cmocka_unit_test(each_compiler_call_fails),
               cmocka_unit_test(each_allocation_of_the_compiled_road_fails));
