/* Contexts, the stack of each thread, primary contexts, limits, forks.  SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext current(void)
{
    CUcontext context = NULL;
    ok(cu->CtxGetCurrent(&context));
    return context;
}

static void stack(void **state)
{
    (void)state;
    CUcontext a = test_context, b, c, top;
    assert_ptr_equal(current(), a);
    ok(cu->CtxCreate(&b, 0, 0)); /* pushes */
    assert_ptr_equal(current(), b);
    ok(cu->CtxPushCurrent(a));
    assert_ptr_equal(current(), a);
    ok(cu->CtxPopCurrent(&top));
    assert_ptr_equal(top, a);
    assert_ptr_equal(current(), b);
    ok(cu->CtxSetCurrent(a)); /* replaces the top */
    ok(cu->CtxPopCurrent(&top));
    assert_ptr_equal(top, a);
    assert_ptr_equal(current(), a);
    ok(cu->CtxSetCurrent(NULL));
    assert_null(current());
    fails(INVALID_CONTEXT, cu->CtxPopCurrent(&top));
    fails(INVALID_CONTEXT, cu->CtxSynchronize());
    fails(INVALID_CONTEXT, cu->CtxPushCurrent(NULL));
    fails(INVALID_CONTEXT, cu->CtxPushCurrent((CUcontext)&a));
    fails(INVALID_CONTEXT, cu->CtxSetCurrent((CUcontext)0x1234560));

    /* Deeper than what is kept inline. */
    for (int i = 0; i < 40; i++) ok(cu->CtxPushCurrent(i % 2 ? a : b));
    for (int i = 39; i >= 0; i--) {
        ok(cu->CtxPopCurrent(&top));
        assert_ptr_equal(top, i % 2 ? a : b);
    }
    ok(cu->CtxDestroy(b));
    fails(INVALID_CONTEXT, cu->CtxDestroy(b));
    fails(INVALID_CONTEXT, cu->CtxSetCurrent(b));
    fails(INVALID_CONTEXT, cu->CtxDestroy(NULL));
    fails(INVALID_VALUE, cu->CtxCreate(&c, 3, 0));
    fails(INVALID_VALUE, cu->CtxCreate(&c, 1u << 20, 0));
    fails(INVALID_DEVICE, cu->CtxCreate(&c, 0, 7));
    fails(INVALID_VALUE, cu->CtxCreate(NULL, 0, 0));
}

struct other {
    CUcontext seen, context;
    CUresult push, alloc, destroyed, get;
    pthread_barrier_t barrier;
};

static void *run_other(void *user)
{
    struct other *other = user;
    CUdeviceptr address;
    cu->CtxGetCurrent(&other->seen);
    other->alloc = cu->MemAlloc(&address, 4);
    other->push = cu->CtxPushCurrent(other->context);
    pthread_barrier_wait(&other->barrier);
    pthread_barrier_wait(&other->barrier); /* the main thread has destroyed it */
    other->destroyed = cu->MemAlloc(&address, 4);
    other->get = cu->CtxGetCurrent(&other->seen);
    return NULL;
}

static void threads_have_their_own(void **state)
{
    (void)state;
    pthread_t thread;
    struct other other = { .seen = (CUcontext)1 };
    ok(cu->CtxCreate(&other.context, 0, 0));
    pthread_barrier_init(&other.barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, run_other, &other), 0);
    pthread_barrier_wait(&other.barrier);
    assert_null(other.seen);
    ok(cu->CtxDestroy(other.context));
    assert_ptr_equal(current(), test_context);
    pthread_barrier_wait(&other.barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&other.barrier);
    assert_int_equal(other.alloc, CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(other.push, CUDA_SUCCESS);
    assert_int_equal(other.destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_int_equal(other.get, CUDA_SUCCESS);
    assert_ptr_equal(other.seen, other.context);
}

static void primary(void **state)
{
    (void)state;
    CUcontext a, b;
    unsigned flags;
    int active;
    CUdeviceptr address;
    ok(cu->DevicePrimaryCtxGetState(0, &flags, &active));
    assert_false(active);
    fails(INVALID_CONTEXT, cu->DevicePrimaryCtxRelease(0));
    ok(cu->DevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
    ok(cu->DevicePrimaryCtxRetain(&a, 0));
    ok(cu->DevicePrimaryCtxRetain(&b, 0));
    assert_ptr_equal(a, b);
    assert_ptr_equal(current(), test_context); /* retaining makes nothing current */
    ok(cu->DevicePrimaryCtxGetState(0, &flags, &active));
    assert_true(active);
    assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC);
    fails(INVALID_CONTEXT, cu->CtxDestroy(a));
    ok(cu->CtxPushCurrent(a));
    ok(cu->MemAlloc(&address, 16));
    ok(cu->DevicePrimaryCtxRelease(0));
    ok(cu->MemAlloc(&address, 16));
    ok(cu->DevicePrimaryCtxRelease(0));
    fails(CONTEXT_IS_DESTROYED, cu->MemAlloc(&address, 16));
    ok(cu->CtxPopCurrent(&b));
    fails(INVALID_CONTEXT, cu->DevicePrimaryCtxRelease(0));
    fails(INVALID_DEVICE, cu->DevicePrimaryCtxRetain(&a, 4));
    fails(INVALID_VALUE, cu->DevicePrimaryCtxRetain(NULL, 0));
    fails(INVALID_VALUE, cu->DevicePrimaryCtxSetFlags(0, 3));
    ok(cu->DevicePrimaryCtxSetFlags(0, 0));
}

static void facts_of_the_current(void **state)
{
    (void)state;
    CUcontext second;
    CUdevice device;
    unsigned flags, version;
    unsigned long long a, b;
    int least, greatest;
    CUfunc_cache cache;
    ok(cu->CtxCreate(&second, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST, 0));
    ok(cu->CtxGetDevice(&device));
    assert_int_equal(device, 0);
    ok(cu->CtxGetFlags(&flags));
    assert_int_equal(flags, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST);
    ok(cu->CtxGetApiVersion(NULL, &version));
    assert_int_equal(version, 3020);
    fails(INVALID_CONTEXT, cu->CtxGetApiVersion((CUcontext)&version, &version));
    ok(cu->CtxGetId(test_context, &a));
    ok(cu->CtxGetId(NULL, &b));
    assert_true(a != b);
    ok(cu->CtxGetStreamPriorityRange(&least, &greatest));
    assert_true(least > greatest);
    ok(cu->CtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    ok(cu->CtxGetCacheConfig(&cache));
    assert_int_equal(cache, CU_FUNC_CACHE_PREFER_L1);
    fails(INVALID_VALUE, cu->CtxSetCacheConfig((CUfunc_cache)9));
    fails(INVALID_VALUE, cu->CtxGetDevice(NULL));
    ok(cu->CtxDestroy(second));
    assert_ptr_equal(current(), test_context);
    fails(UNSUPPORTED_EXEC_AFFINITY,
          cu->CtxCreate_v4(&second, &(CUctxCreateParams){ .numExecAffinityParams = 1 }, 0, 0));
    ok(cu->CtxCreate_v4(&second, NULL, 0, 0));
    ok(cu->CtxDestroy(second));
}

static void limits(void **state)
{
    (void)state;
    static const struct {
        CUlimit limit;
        size_t value;
    } defaults[] = { { CU_LIMIT_STACK_SIZE, 1024 },
                     { CU_LIMIT_PRINTF_FIFO_SIZE, 8650752 },
                     { CU_LIMIT_MALLOC_HEAP_SIZE, 8388608 } };
    size_t value;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        ok(cu->CtxGetLimit(&value, defaults[i].limit));
        assert_int_equal(value, defaults[i].value);
        ok(cu->CtxSetLimit(defaults[i].limit, 4096));
        ok(cu->CtxGetLimit(&value, defaults[i].limit));
        assert_int_equal(value, 4096);
    }
    fails(UNSUPPORTED_LIMIT, cu->CtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
    fails(UNSUPPORTED_LIMIT, cu->CtxSetLimit((CUlimit)99, 1));
    fails(INVALID_VALUE, cu->CtxSetLimit(CU_LIMIT_STACK_SIZE, 1 << 30));
    fails(INVALID_VALUE, cu->CtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
}

/* All that a context owned is invalid with it. */
static void objects_end_with_the_context(void **state)
{
    (void)state;
    CUcontext second;
    CUstream stream;
    CUevent event;
    void *host;
    ok(cu->CtxCreate(&second, 0, 0));
    ok(cu->StreamCreate(&stream, 0));
    ok(cu->EventCreate(&event, 0));
    CUmodule module = load("kernels");
    CUdeviceptr memory = alloc(100);
    ok(cu->MemHostAlloc(&host, 100, 0));
    ok(cu->CtxDestroy(second));
    fails(INVALID_HANDLE, cu->StreamSynchronize(stream));
    fails(INVALID_HANDLE, cu->EventQuery(event));
    fails(INVALID_HANDLE, cu->ModuleUnload(module));
    fails(INVALID_VALUE, cu->MemFree(memory));
    fails(INVALID_VALUE, cu->MemFreeHost(host));
}

static void a_forked_child_has_nothing(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        CUcontext context;
        CUdeviceptr address;
        bool right = cu->CtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED &&
                     cu->MemAlloc(&address, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                     cu->Init(0) == CUDA_ERROR_NOT_INITIALIZED;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    alloc(4); /* the parent goes on */
}

GPUL_TEST_MAIN("CPU device: contexts", in_context(stack), in_context(threads_have_their_own),
               in_context(primary), in_context(facts_of_the_current), in_context(limits),
               in_context(objects_end_with_the_context), in_context(a_forked_child_has_nothing));
