/* Streams, events, host functions and their order.  Host functions that wait for a signal stand for long
 * work, so that nothing here depends on luck.  SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* A gate: work behind it waits until the test opens it. */
struct gate {
    atomic_bool open;
    atomic_int passed;
};

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static void pass(void *user)
{
    struct gate *gate = user;
    while (!atomic_load(&gate->open)) pause_a_little();
    atomic_fetch_add(&gate->passed, 1);
}

static atomic_int trace_length;
static int trace[64];
static void note(void *user)
{
    trace[atomic_fetch_add(&trace_length, 1)] = (int)(intptr_t)user;
}

#define NOTE(stream, number) ok(cu->LaunchHostFunc(stream, note, (void *)(intptr_t)(number)))

static CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    ok(cu->StreamCreate(&stream, flags));
    return stream;
}

static void in_order(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    trace_length = 0;
    for (int i = 0; i < 50; i++) NOTE(stream, i);
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(trace_length, 50);
    for (int i = 0; i < 50; i++) assert_int_equal(trace[i], i);
}

static void query(void **state)
{
    (void)state;
    struct gate gate = { 0 };
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event;
    ok(cu->EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ok(cu->EventQuery(event)); /* never recorded: done */
    ok(cu->EventSynchronize(event));
    ok(cu->StreamQuery(stream));
    ok(cu->LaunchHostFunc(stream, pass, &gate));
    ok(cu->EventRecord(event, stream));
    fails(NOT_READY, cu->StreamQuery(stream));
    fails(NOT_READY, cu->EventQuery(event));
    atomic_store(&gate.open, true);
    ok(cu->EventSynchronize(event));
    assert_int_equal(gate.passed, 1);
    ok(cu->EventQuery(event));
    ok(cu->StreamSynchronize(stream));
    ok(cu->StreamQuery(stream));
}

/* Streams do not wait for each other, unless an event says so. */
static void across_streams(void **state)
{
    (void)state;
    struct gate gate = { 0 };
    CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event;
    ok(cu->EventCreate(&event, 0));
    trace_length = 0;
    ok(cu->LaunchHostFunc(a, pass, &gate));
    NOTE(a, 1);
    ok(cu->EventRecord(event, a));
    NOTE(b, 2);
    ok(cu->StreamSynchronize(b)); /* although a is held up */
    assert_int_equal(trace_length, 1);
    ok(cu->StreamWaitEvent(b, event, 0));
    NOTE(b, 3);
    fails(NOT_READY, cu->StreamQuery(b));
    /* What is recorded again later does not move what already waits. */
    NOTE(a, 4);
    atomic_store(&gate.open, true);
    ok(cu->StreamSynchronize(b));
    ok(cu->StreamSynchronize(a));
    assert_int_equal(trace[0], 2);
    assert_int_equal(trace[1], 1);
    assert_int_equal(trace[2] + trace[3], 7); /* 3 and 4 in any order */
    ok(cu->StreamWaitEvent(b, event, 0));     /* long done */
    fails(INVALID_VALUE, cu->StreamWaitEvent(b, event, 2));
}

/* The legacy stream is ordered against blocking streams and against no other. */
static void legacy(void **state)
{
    (void)state;
    struct gate gate = { 0 }, second = { 0 };
    CUstream blocking = new_stream(0), apart = new_stream(CU_STREAM_NON_BLOCKING);
    trace_length = 0;
    ok(cu->LaunchHostFunc(blocking, pass, &gate));
    NOTE(blocking, 1);
    NOTE(NULL, 2); /* behind the blocking stream */
    NOTE(apart, 3);
    ok(cu->StreamSynchronize(apart));
    assert_int_equal(trace_length, 1);
    fails(NOT_READY, cu->StreamQuery(CU_STREAM_LEGACY));
    NOTE(blocking, 4); /* behind the legacy stream */
    atomic_store(&gate.open, true);
    ok(cu->CtxSynchronize());
    assert_int_equal(trace[1], 1);
    assert_int_equal(trace[2], 2);
    assert_int_equal(trace[3], 4);

    trace_length = 0;
    ok(cu->LaunchHostFunc(NULL, pass, &second));
    NOTE(CU_STREAM_PER_THREAD, 5);
    NOTE(blocking, 6);
    NOTE(apart, 7);
    ok(cu->StreamSynchronize(apart));
    assert_int_equal(trace_length, 1);
    atomic_store(&second.open, true);
    ok(cu->StreamSynchronize(CU_STREAM_PER_THREAD));
    ok(cu->StreamSynchronize(blocking));
    assert_int_equal(trace_length, 3);
    assert_int_equal(trace[0], 7);
}

static void *synchronise(void *user)
{
    CUcontext context = user;
    return (void *)(intptr_t)(cu->CtxSetCurrent(context) || cu->CtxSynchronize());
}

static void from_two_threads(void **state)
{
    (void)state;
    struct gate gate = { 0 };
    pthread_t thread;
    void *result;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    ok(cu->LaunchHostFunc(stream, pass, &gate));
    assert_int_equal(pthread_create(&thread, NULL, synchronise, test_context), 0);
    alloc(64); /* the other thread's waiting holds nobody up */
    atomic_store(&gate.open, true);
    pthread_join(thread, &result);
    assert_null(result);
    assert_int_equal(gate.passed, 1);
}

static void timing(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUevent start, end, untimed;
    float milliseconds = -1;
    struct gate gate = { 0 };
    ok(cu->EventCreate(&start, 0));
    ok(cu->EventCreate(&end, 0));
    ok(cu->EventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    fails(INVALID_HANDLE, cu->EventElapsedTime(&milliseconds, start, end)); /* not recorded */
    ok(cu->EventRecord(start, stream));
    ok(cu->LaunchHostFunc(stream, pass, &gate));
    ok(cu->EventRecord(end, stream));
    fails(NOT_READY, cu->EventElapsedTime(&milliseconds, start, end));
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    atomic_store(&gate.open, true);
    ok(cu->EventSynchronize(end));
    ok(cu->EventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds >= 15 && milliseconds < 10000);
    ok(cu->EventElapsedTime(&milliseconds, end, start));
    assert_true(milliseconds <= -15);
    ok(cu->EventRecord(untimed, stream));
    ok(cu->StreamSynchronize(stream));
    fails(INVALID_HANDLE, cu->EventElapsedTime(&milliseconds, start, untimed));
    fails(INVALID_VALUE, cu->EventElapsedTime(NULL, start, end));
}

static CUresult status_seen;
static CUstream stream_seen;
static void callback(CUstream stream, CUresult status, void *user)
{
    (void)user;
    stream_seen = stream;
    status_seen = status;
}

static void callbacks(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    status_seen = CUDA_ERROR_UNKNOWN;
    ok(cu->StreamAddCallback(stream, callback, NULL, 0));
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(status_seen, CUDA_SUCCESS);
    assert_ptr_equal(stream_seen, stream);
    fails(INVALID_VALUE, cu->StreamAddCallback(stream, NULL, NULL, 0));
    fails(INVALID_VALUE, cu->StreamAddCallback(stream, callback, NULL, 1));
    fails(INVALID_VALUE, cu->LaunchHostFunc(stream, NULL, NULL));
}

static void facts(void **state)
{
    (void)state;
    CUstream stream;
    CUcontext context;
    unsigned flags;
    int priority;
    unsigned long long a, b;
    CUstreamAttrValue value = { .syncPolicy = CU_SYNC_POLICY_YIELD };
    ok(cu->StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));
    ok(cu->StreamGetPriority(stream, &priority));
    assert_int_equal(priority, -5); /* clamped */
    ok(cu->StreamGetFlags(stream, &flags));
    assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
    ok(cu->StreamGetCtx(stream, &context));
    assert_ptr_equal(context, test_context);
    ok(cu->StreamGetId(stream, &a));
    ok(cu->StreamGetId(NULL, &b));
    assert_true(a != b);
    ok(cu->StreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    ok(cu->StreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    assert_int_equal(value.syncPolicy, CU_SYNC_POLICY_YIELD);
    fails(INVALID_VALUE, cu->StreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    fails(INVALID_VALUE, cu->StreamCreate(&stream, 2));
    fails(INVALID_VALUE, cu->StreamCreate(NULL, 0));
}

static void wrong_handles(void **state)
{
    (void)state;
    struct gate gate = { 0 };
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event, none;
    CUcontext second;
    ok(cu->EventCreate(&event, 0));
    ok(cu->LaunchHostFunc(stream, pass, &gate));
    ok(cu->StreamDestroy(stream)); /* does not wait; what is queued still runs */
    fails(INVALID_HANDLE, cu->StreamDestroy(stream));
    fails(INVALID_HANDLE, cu->StreamSynchronize(stream));
    fails(INVALID_HANDLE, cu->EventRecord(event, stream));
    atomic_store(&gate.open, true);
    ok(cu->CtxSynchronize());
    assert_int_equal(gate.passed, 1);
    fails(INVALID_HANDLE, cu->StreamSynchronize((CUstream)event)); /* another kind */
    fails(INVALID_HANDLE, cu->EventSynchronize((CUevent)&gate));
    fails(INVALID_HANDLE, cu->StreamDestroy(NULL));
    fails(INVALID_HANDLE, cu->StreamWaitEvent(NULL, NULL, 0));
    fails(INVALID_VALUE, cu->EventCreate(&none, 64));
    fails(NOT_SUPPORTED, cu->EventCreate(&none, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    /* Objects of another context: waiting is possible, recording is not. */
    stream = new_stream(0);
    ok(cu->CtxCreate(&second, 0, 0));
    ok(cu->StreamSynchronize(stream));
    fails(INVALID_HANDLE, cu->EventRecord(event, NULL));
    ok(cu->EventRecord(event, stream));
    ok(cu->CtxDestroy(second));
    ok(cu->EventDestroy(event));
    fails(INVALID_HANDLE, cu->EventDestroy(event));
}

static void values_in_memory(void **state)
{
    (void)state;
    CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = alloc(4);
    trace_length = 0;
    ok(cu->MemsetD32(word, 0, 1));
    ok(cu->StreamWaitValue32(a, word, 3, CU_STREAM_WAIT_VALUE_GEQ));
    NOTE(a, 1);
    ok(cu->StreamWriteValue32(b, word, 2, 0));
    ok(cu->StreamSynchronize(b));
    fails(NOT_READY, cu->StreamQuery(a));
    assert_int_equal(trace_length, 0);
    ok(cu->StreamWriteValue32(b, word, 3, 0));
    ok(cu->StreamSynchronize(a));
    assert_int_equal(trace_length, 1);
    fails(INVALID_VALUE, cu->StreamWaitValue32(a, word + 2, 1, 0));
    fails(INVALID_VALUE, cu->StreamWriteValue32(a, 0x1000, 1, 0));
}

GPUL_TEST_MAIN("CPU device: streams", in_context(in_order), in_context(query),
               in_context(across_streams), in_context(legacy), in_context(from_two_threads),
               in_context(timing), in_context(callbacks), in_context(facts),
               in_context(wrong_handles), in_context(values_in_memory));
