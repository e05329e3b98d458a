/* Prepared launches, sequences and captures on the CPU device and on a GPU.  SPDX-License-Identifier: MIT */
#include "suite.h"

enum { COUNT = 1000 };

static gpul_module *module;
static const gpul_kernel *scale;
static const gpul_launch_opts opts = { .grid = { 8 }, .block = { 128 } };

static int open_kernel(void **state)
{
    if (open_device(state)) return -1;
    module = load_kernels("scale");
    scale = kernel_of(module, "scale");
    return 0;
}

static int close_kernel(void **state)
{
    gpul_module_free(&module);
    return close_device(state);
}

static gpul_buffer *ones(void)
{
    static float init[COUNT];
    for (int i = 0; i < COUNT; i++) init[i] = 1;
    return buffer_of(sizeof init, init);
}

static void all_are(gpul_buffer *buffer, int from, int to, float value)
{
    static float got[COUNT];
    assert_ok(gpul_sync(device));
    assert_ok(gpul_read(got, buffer, 0, sizeof got, NULL));
    for (int i = from; i < to; i++)
        if (got[i] != value) fail_msg("element %d is %g, not %g", i, got[i], value);
}

static void a_prepared_launch_runs_each_time(void **state)
{
    (void)state;
    gpul_buffer *a = ones(), *b = ones();
    gpul_prepared *p;
    assert_ok(gpul_prepare(&p, scale, &opts, gpul_args(a, COUNT, 2.0f)));
    assert_int_equal(gpul_prepared_is_graph(p),
                     gpul_device_describe(device)->backend == GPUL_BACKEND_CUDA);
    for (int i = 0; i < 10; i++) assert_ok(gpul_prepared_launch(p));
    all_are(a, 0, COUNT, 1024);
    for (int i = 0; i < 3; i++) {
        assert_ok(gpul_prepared_set(p, 2, gpul_argument((float)i + 1)));
        assert_ok(gpul_prepared_set(p, 0, gpul_argument(i % 2 ? b : a)));
        assert_ok(gpul_prepared_launch(p));
    }
    all_are(a, 0, COUNT, 3072);
    all_are(b, 0, COUNT, 2);
    assert_ok(gpul_prepared_set(p, 1, gpul_argument(10)));
    assert_ok(gpul_prepared_launch(p));
    all_are(a, 0, 10, 9216);
    all_are(a, 10, COUNT, 3072);
    gpul_prepared_free(&p);
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
}

static void a_sequence_is_played(void **state)
{
    (void)state;
    static float in[COUNT], second[COUNT], out[COUNT];
    gpul_buffer *a = ones(), *b = ones();
    gpul_sequence *s;
    for (int i = 0; i < COUNT; i++) in[i] = 5, second[i] = 7;
    assert_ok(gpul_sequence_new(&s, device));
    assert_ok(gpul_sequence_write(s, a, 0, in, sizeof in));
    for (int i = 0; i < 20; i++)
        assert_ok(gpul_sequence_launch(s, scale, &opts, gpul_args(a, COUNT, i % 2 ? 0.5f : 2.0f)));
    assert_ok(gpul_sequence_launch(s, scale, &opts, gpul_args(a, COUNT, 3.0f)));
    assert_ok(gpul_sequence_copy(s, b, 0, a, 0, sizeof in));
    assert_ok(gpul_sequence_fill(s, b, 0, 40, "\0\0\0\100", 4)); /* 2.0f */
    assert_ok(gpul_sequence_read(s, out, b, 0, sizeof out));
    for (int i = 0; i < 3; i++) {
        out[500] = 0;
        assert_ok(gpul_sequence_play(s, NULL));
        assert_ok(gpul_sync(device));
        assert_true(gpul_sequence_is_graph(s));
        assert_true(out[9] == 2 && out[10] == 15 && out[COUNT - 1] == 15);
    }
    assert_ok(gpul_sequence_set(s, 21, 2, gpul_argument(4.0f)));
    assert_ok(gpul_sequence_set_host(s, 0, second));
    assert_ok(gpul_sequence_play(s, NULL));
    assert_ok(gpul_sync(device));
    assert_true(out[9] == 2 && out[10] == 28 && out[COUNT - 1] == 28);
    /* A step more, and what was freed before it is played is still there. */
    assert_ok(gpul_sequence_launch(s, scale, &opts, gpul_args(b, 3, 10.0f)));
    assert_ok(gpul_sequence_read(s, out, b, 0, sizeof out));
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
    assert_ok(gpul_sequence_play(s, NULL));
    assert_ok(gpul_sync(device));
    assert_true(out[2] == 20 && out[3] == 2 && out[10] == 28);
    gpul_sequence_free(&s);
}

static void a_stream_is_captured(void **state)
{
    (void)state;
    gpul_buffer *a = ones();
    gpul_stream *stream;
    gpul_prepared *p;
    gpul_sequence *s;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    gpul_launch_opts in_stream = opts;
    in_stream.stream = stream;
    assert_ok(gpul_prepare(&p, scale, &in_stream, gpul_args(a, COUNT, 3.0f)));
    assert_ok(gpul_capture_begin(stream));
    assert_ok(gpul_launch(scale, &in_stream, gpul_args(a, COUNT, 2.0f)));
    assert_ok(gpul_prepared_launch(p));
    assert_ok(gpul_capture_end(&s, stream));
    all_are(a, 0, COUNT, 1);
    for (int i = 0; i < 3; i++) assert_ok(gpul_sequence_play(s, stream));
    assert_ok(gpul_stream_sync(stream));
    all_are(a, 0, COUNT, 216);
    assert_ok(gpul_prepared_launch(p));
    assert_ok(gpul_stream_sync(stream));
    all_are(a, 0, COUNT, 648);
    gpul_sequence_free(&s);
    gpul_prepared_free(&p);
    gpul_stream_free(&stream);
    gpul_buffer_free(&a);
}

static void checks_are_those_of_a_launch(void **state)
{
    (void)state;
    gpul_buffer *a = ones();
    gpul_prepared *p;
    gpul_sequence *s;
    assert_ok(gpul_sequence_new(&s, device));
    assert_code(gpul_prepare(&p, scale, &opts, gpul_args(a, COUNT)), 303, "3");
    assert_code(gpul_prepare(&p, scale, gpul_launch_opts(.grid = { 1 }, .block = { 2048 }),
                             gpul_args(a, COUNT, 1.0f)),
                705, "1024");
    assert_code(gpul_sequence_launch(s, scale, &opts, gpul_args(a)), 303, "3");
    assert_code(gpul_sequence_read(s, &p, a, 4000, 8), 810, "4000");
    gpul_sequence_free(&s);
    gpul_buffer_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_prepared_launch_runs_each_time),
                                        cmocka_unit_test(a_sequence_is_played),
                                        cmocka_unit_test(a_stream_is_captured),
                                        cmocka_unit_test(checks_are_those_of_a_launch) };
    return gpul_run_tests("graphs", tests, open_kernel, close_kernel);
}
