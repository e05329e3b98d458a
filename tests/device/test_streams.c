/* Streams and events: order, waiting across streams, times, threads.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <pthread.h>

static void work_in_a_stream_is_ordered(void **state)
{
    (void)state;
    enum { N = 4096 };
    static float data[N];
    for (int i = 0; i < N; i++) data[i] = 1;
    gpul_module *module = load_kernels("scale");
    const gpul_kernel *scale = kernel_of(module, "scale");
    gpul_stream *stream;
    gpul_buffer *buffer = buffer_of(sizeof data, NULL);
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_write(buffer, 0, data, sizeof data, stream));
    for (int i = 0; i < 10; i++)
        assert_ok(gpul_launch(scale,
                              gpul_launch_opts(.grid = { 16 }, .block = { 256 }, .stream = stream),
                              gpul_args(buffer, (int)N, 2.0f)));
    static float got[N];
    assert_ok(gpul_read(got, buffer, 0, sizeof got, stream));
    assert_ok(gpul_stream_sync(stream));
    for (int i = 0; i < N; i++) assert_true(got[i] == 1024.0f);
    bool done;
    assert_ok(gpul_stream_done(&done, stream));
    assert_true(done);
    gpul_stream_free(&stream);
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
}

static void an_event_orders_two_streams(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    gpul_module *module = load_kernels("scale");
    const gpul_kernel *scale = kernel_of(module, "scale");
    gpul_stream *first, *second;
    gpul_event *event;
    gpul_buffer *buffer = buffer_of(N * sizeof(float), NULL);
    assert_ok(gpul_stream_new(&first, device, NULL));
    assert_ok(gpul_stream_new(&second, device, gpul_stream_opts(.priority = -100)));
    assert_ok(gpul_event_new(&event, device));
    float one = 1;
    assert_ok(gpul_fill(buffer, 0, N * sizeof(float), &one, 4, first));
    for (int i = 0; i < 5; i++)
        assert_ok(gpul_launch(scale,
                              gpul_launch_opts(.grid = { 256 }, .block = { 256 }, .stream = first),
                              gpul_args(buffer, (int)N, 2.0f)));
    assert_ok(gpul_event_record(event, first));
    assert_ok(gpul_stream_wait(second, event));
    assert_ok(gpul_launch(scale,
                          gpul_launch_opts(.grid = { 256 }, .block = { 256 }, .stream = second),
                          gpul_args(buffer, (int)N, 3.0f)));
    float *got = malloc(N * sizeof *got);
    assert_ok(gpul_read(got, buffer, 0, N * sizeof *got, second));
    assert_ok(gpul_stream_sync(second));
    for (int i = 0; i < N; i++) assert_true(got[i] == 96.0f);
    free(got);
    gpul_event_free(&event);
    gpul_stream_free(&first);
    gpul_stream_free(&second);
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
}

static void events_measure_time(void **state)
{
    (void)state;
    gpul_event *start, *stop;
    gpul_buffer *buffer = buffer_of((size_t)16 << 20, NULL);
    assert_ok(gpul_event_new(&start, device));
    assert_ok(gpul_event_new(&stop, device));
    float ms = -1;
    assert_code(gpul_event_elapsed(&ms, start, stop), 817, "recorded");
    assert_ok(gpul_event_record(start, NULL));
    for (int i = 0; i < 4; i++)
        assert_ok(gpul_fill(buffer, 0, (size_t)16 << 20, &(uint32_t){ 1 }, 4, NULL));
    assert_ok(gpul_event_record(stop, NULL));
    assert_ok(gpul_event_sync(stop));
    assert_ok(gpul_event_elapsed(&ms, start, stop));
    assert_true(ms > 0 && ms < 60000);
    gpul_event_free(&start);
    gpul_event_free(&stop);
    gpul_buffer_free(&buffer);
}

struct job {
    const gpul_kernel *kernel;
    gpul_buffer *buffer;
    gpul_status status;
};

static void *launch_in_thread(void *pointer)
{
    struct job *job = pointer;
    job->status = GPUL_OK;
    for (int i = 0; i < 50 && job->status == GPUL_OK; i++)
        job->status = gpul_launch(job->kernel, gpul_launch_opts(.grid = { 4 }, .block = { 64 }),
                                  gpul_args(job->buffer, 256, i % 2 ? 0.5f : 2.0f));
    if (job->status == GPUL_OK) job->status = gpul_sync(device);
    return NULL;
}

static void any_thread_launches(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    gpul_module *module = load_kernels("scale");
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    float data[256];
    for (int i = 0; i < 256; i++) data[i] = (float)i;
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (struct job){ kernel_of(module, "scale"), buffer_of(sizeof data, data), GPUL_OK };
        assert_int_equal(pthread_create(&threads[t], NULL, launch_in_thread, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(jobs[t].status, GPUL_OK);
        float got[256];
        assert_ok(gpul_read(got, jobs[t].buffer, 0, sizeof got, NULL));
        assert_memory_equal(got, data, sizeof data);
        gpul_buffer_free(&jobs[t].buffer);
    }
    gpul_module_free(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_in_a_stream_is_ordered),
        cmocka_unit_test(an_event_orders_two_streams),
        cmocka_unit_test(events_measure_time),
        cmocka_unit_test(any_thread_launches),
    };
    return gpul_run_tests("device streams", tests, open_device, close_device);
}
