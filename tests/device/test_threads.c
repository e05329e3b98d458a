/* Eight threads share one device, a module and a pool, each with streams, events and buffers of its own.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 10, N = 2048 };

static gpul_module *module;
static gpul_pool *pool;
static bool pools;

typedef struct worker {
    float values[N];
    atomic_int calls;
    int number;
    gpul_status status;
    char message[512];
    gpul_stream *stream;
    gpul_event *event;
    gpul_buffer *plain, *pinned, *pooled;
} worker;

static void count_call(void *user)
{
    atomic_fetch_add(&((worker *)user)->calls, 1);
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        gpul_status status_ = (call);                                                              \
        if (status_ != GPUL_OK) return status_;                                                    \
    } while (0)

static gpul_status make(worker *w)
{
    TRY(gpul_stream_new(&w->stream, device, gpul_stream_opts(.priority = -w->number)));
    TRY(gpul_event_make(&w->event, device, gpul_event_opts(.no_timing = true)));
    TRY(gpul_alloc(&w->plain, device, sizeof w->values, NULL));
    TRY(gpul_alloc(&w->pinned, device, sizeof w->values,
                   gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    if (pools)
        TRY(gpul_alloc(
            &w->pooled, device, sizeof w->values,
            gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .pool = pool, .stream = w->stream)));
    else TRY(gpul_alloc(&w->pooled, device, sizeof w->values, NULL));
    return GPUL_OK;
}

/* To the device, doubled there, and by way of the pool back to pinned memory. */
static gpul_status work(worker *w)
{
    const gpul_kernel *scale;
    gpul_stream_info info;
    gpul_pool_info use;
    int block;
    bool done;
    float *host = gpul_buffer_host(w->pinned);
    for (int i = 0; i < N; i++) host[i] = (float)(i + w->number);
    TRY(gpul_module_kernel(&scale, module, "scale"));
    TRY(gpul_kernel_suggest(&block, NULL, scale, NULL));
    TRY(gpul_stream_describe(&info, w->stream));
    TRY(gpul_copy(w->plain, 0, w->pinned, 0, sizeof w->values, w->stream));
    TRY(gpul_launch(scale,
                    gpul_launch_opts(.grid = { N / 128 }, .block = { 128 }, .stream = w->stream),
                    gpul_args(w->plain, (int)N, 2.0f)));
    TRY(gpul_copy(w->pooled, 0, w->plain, 0, sizeof w->values, w->stream));
    TRY(gpul_copy(w->pinned, 0, w->pooled, 0, sizeof w->values, w->stream));
    TRY(gpul_stream_call(device, w->stream, count_call, w));
    TRY(gpul_event_record(w->event, w->stream));
    TRY(gpul_event_done(&done, w->event));
    TRY(gpul_stream_wait(NULL, w->event));
    if (w->number % 2) TRY(gpul_sync(device));
    else TRY(gpul_event_sync(w->event));
    if (pools) TRY(gpul_pool_describe(&use, pool));
    for (int i = 0; i < N; i++)
        if (host[i] != (float)(i + w->number) * 2) return GPUL_E_CHECK;
    return GPUL_OK;
}

static void *run(void *user)
{
    worker *w = user;
    for (int round = 0; round < ROUNDS && w->status == GPUL_OK; round++) {
        w->status = make(w);
        if (w->status == GPUL_OK) w->status = work(w);
        if (w->status != GPUL_OK && w->status != GPUL_E_CHECK)
            snprintf(w->message, sizeof w->message, "%s", gpul_last_error()->message);
        gpul_buffer_free(&w->pooled);
        gpul_buffer_free(&w->pinned);
        gpul_buffer_free(&w->plain);
        gpul_event_free(&w->event);
        gpul_stream_free(&w->stream);
    }
    return NULL;
}

static void eight_threads_share_a_device(void **state)
{
    (void)state;
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    pools = gpul_device_describe(device)->memory_pools;
    module = load_kernels("scale");
    if (pools) assert_ok(gpul_pool_new(&pool, device, NULL));
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (workers[i].status != GPUL_OK)
            fail_msg("thread %d: %s: %s", i, gpul_status_text(workers[i].status),
                     workers[i].message);
        assert_int_equal(atomic_load(&workers[i].calls), ROUNDS);
    }
    assert_ok(gpul_sync(device));
    gpul_pool_free(&pool);
    gpul_module_free(&module);
}

/* One thread's objects outlive the device's own handle, and are freed by another. */
static void *free_all(void *user)
{
    worker *w = user;
    gpul_stream_free(&w->stream);
    gpul_buffer_free(&w->pooled);
    gpul_buffer_free(&w->plain);
    gpul_event_free(&w->event);
    gpul_buffer_free(&w->pinned);
    return NULL;
}

static void objects_are_freed_by_another_thread(void **state)
{
    (void)state;
    static worker w;
    pthread_t thread;
    pools = false;
    gpul_device *kept = device;
    assert_ok(gpul_open(&device, NULL));
    assert_ok(make(&w));
    gpul_device_free(&device);
    device = kept;
    assert_int_equal(pthread_create(&thread, NULL, free_all, &w), 0);
    pthread_join(thread, NULL);
    assert_null(w.stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_share_a_device),
        cmocka_unit_test(objects_are_freed_by_another_thread),
    };
    return gpul_run_tests("device threads", tests, open_device, close_device);
}
