/* Launches: every kind of argument, geometry, shared memory, and what is refused before the driver is
 * called.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <stdalign.h>

static void every_argument_arrives(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("every_type");
    struct {
        alignas(16) float v[4];
        int n;
    } wide = { { 1, 2, 3, 4 }, 5 };
    struct {
        float x, y, z;
    } f3 = { 1, 2, 4 };
    struct {
        alignas(8) int x;
        int y;
    } i2 = { 7, 8 };
    int first = 99;
    gpul_buffer *in = buffer_of(sizeof first, &first), *out = buffer_of(18 * sizeof(double), NULL);
    assert_ok(gpul_launch(
        kernel_of(module, "every_type"), gpul_launch_opts(.grid = { 1 }, .block = { 1 }),
        gpul_args((bool)1, (char)65, (signed char)-5, (unsigned char)250, (short)-30000,
                  (unsigned short)60000, -7, 4000000000u, -5000000000l, 6000000000ul, -7000000000ll,
                  8000000000ull, 1.5f, -2.25, gpul_value(f3), gpul_value(i2), gpul_value(wide),
                  gpul_in(in), out)));
    double got[18];
    static const double expected[18] = { 1,   65,   -5,  250, -30000, 60000, -7, 4e9, -5e9,
                                         6e9, -7e9, 8e9, 1.5, -2.25,  7,     15, 15,  99 };
    assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
    for (int i = 0; i < 18; i++)
        if (got[i] != expected[i]) fail_msg("out[%d] is %g, not %g", i, got[i], expected[i]);
    gpul_buffer_free(&in);
    gpul_buffer_free(&out);
    gpul_module_free(&module);
}

static void null_and_raw_addresses_pass(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("faults");
    int value = 41, got = 0;
    gpul_buffer *in = buffer_of(sizeof value, &value), *out = buffer_of(sizeof got, NULL);
    assert_ok(gpul_launch(kernel_of(module, "read_at"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 1 }),
                          gpul_args(gpul_address(gpul_buffer_address(in)), out)));
    assert_ok(gpul_read(&got, out, 0, sizeof got, NULL));
    assert_int_equal(got, 41);
    gpul_buffer_free(&in);
    gpul_buffer_free(&out);
    gpul_module_free(&module);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("scale");
    const gpul_kernel *scale = kernel_of(module, "scale");
    gpul_buffer *data = buffer_of(64, NULL);
    const gpul_launch_opts *one = gpul_launch_opts(.grid = { 1 }, .block = { 16 });
    assert_code(gpul_launch(scale, one, gpul_args(data, 16)), 303, "3");
    assert_code(gpul_launch(scale, one, gpul_args(data, 16, 2.0f, 1)), 303, "4");
    assert_code(gpul_launch(scale, one, gpul_no_args), 303, "3");
    assert_int_not_equal(gpul_launch(scale, one, gpul_args(data, 16, 2.0)), GPUL_OK);
    assert_int_not_equal(gpul_launch(scale, one, gpul_args(data, (size_t)16, 2.0f)), GPUL_OK);
    assert_int_not_equal(gpul_launch(scale, one, gpul_args(16, data, 2.0f)), GPUL_OK);
    assert_code(gpul_launch(NULL, one, gpul_args(data, 16, 2.0f)), 314, "kernel");
    /* Nothing was harmed: the right list still works. */
    float ones[16];
    for (int i = 0; i < 16; i++) ones[i] = 1;
    assert_ok(gpul_write(data, 0, ones, sizeof ones, NULL));
    assert_ok(gpul_launch(scale, one, gpul_args(data, 16, 3.0f)));
    assert_ok(gpul_read(ones, data, 0, sizeof ones, NULL));
    assert_true(ones[15] == 3.0f);
    gpul_buffer_free(&data);
    gpul_module_free(&module);
}

static void geometry_is_checked_by_axis(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("scale");
    const gpul_kernel *scale = kernel_of(module, "scale");
    gpul_buffer *data = buffer_of(64, NULL);
#define TRY(...) gpul_launch(scale, gpul_launch_opts(__VA_ARGS__), gpul_args(data, 0, 2.0f))
    assert_code(TRY(.block = { 32 }), 704, "grid");
    assert_code(TRY(.grid = { 1 }), 704, "block");
    assert_code(TRY(.grid = { 1 }, .block = { 2048 }), 705, "2048");
    assert_code(TRY(.grid = { 1 }, .block = { 1, 1, 65 }), 705, "65");
    assert_code(TRY(.grid = { 1, 65536 }, .block = { 1 }), 705, "65536");
    assert_code(TRY(.grid = { 2147483648u }, .block = { 1 }), 705, "2147483648");
    assert_code(TRY(.grid = { (uint64_t)1 << 32 }, .block = { 1 }), 705, "4294967296");
    assert_code(TRY(.grid = { 1 }, .block = { 32, 32, 2 }), 705, "2048");
    assert_code(TRY(.grid = { 1 }, .block = { 32 }, .shared = 300000), 707, "300000");
    assert_ok(TRY(.grid = { 1, 65535 }, .block = { 1 }));
    assert_ok(TRY(.grid = { 70000 }, .block = { 1, 1, 64 }));
    assert_ok(gpul_sync(device));
#undef TRY
    gpul_buffer_free(&data);
    gpul_module_free(&module);
}

static void shared_memory_opts_in_by_itself(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("reverse_shared");
    const gpul_kernel *kernel = kernel_of(module, "reverse_shared");
    assert_true(gpul_kernel_describe(kernel)->uses_dynamic_shared);
    for (int n = 1024; n <= 24576; n *= 2) {
        int *values = malloc((size_t)n * sizeof *values);
        for (int i = 0; i < n; i++) values[i] = i;
        size_t bytes = (size_t)n * sizeof *values;
        gpul_buffer *data = buffer_of(bytes, values);
        assert_ok(gpul_launch(kernel,
                              gpul_launch_opts(.grid = { 1 }, .block = { 256 }, .shared = bytes),
                              gpul_args(data, n)));
        assert_ok(gpul_read(values, data, 0, bytes, NULL));
        for (int i = 0; i < n; i++) assert_int_equal(values[i], n - 1 - i);
        gpul_buffer_free(&data);
        free(values);
    }
    gpul_buffer *data = buffer_of(64, NULL);
    assert_code(
        gpul_launch(kernel, gpul_launch_opts(.grid = { 1 }, .block = { 16 }), gpul_args(data, 16)),
        707, "dynamic shared memory");
    gpul_buffer_free(&data);
    gpul_module_free(&module);
}

static void structs_lie_as_the_device_lays_them(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("by_value");
    struct {
        char tag;
        double weight;
        short pair[3];
        alignas(16) float vector[4];
        unsigned char tail;
    } m = { 'A', 2.5, { 1, 2, 3 }, { 1, 2, 3, 4 }, 200 };
    gpul_buffer *out = buffer_of(7 * sizeof(double), NULL);
    const gpul_kernel *kernel = kernel_of(module, "by_value");
    const gpul_launch_opts *one = gpul_launch_opts(.grid = { 1 }, .block = { 1 });
    assert_ok(gpul_launch(kernel, one, gpul_args((char)-3, gpul_value(m), (short)-999, out)));
    double got[7];
    static const double expected[7] = { -3, 'A', 2.5, 321, 10, 200, -999 };
    assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
    for (int i = 0; i < 7; i++) assert_true(got[i] == expected[i]);
    /* A struct of another size is refused with both sizes. */
    struct {
        char tag;
    } small = { 1 };
    assert_code(gpul_launch(kernel, one, gpul_args((char)1, gpul_value(small), (short)1, out)), 310,
                "1 byte");
    gpul_buffer_free(&out);
    gpul_module_free(&module);
}

static void a_divergent_kernel_is_right(void **state)
{
    (void)state;
    enum { N = 1000 };
    gpul_module *module = load_kernels("divergent");
    gpul_buffer *out = buffer_of(N * sizeof(int), NULL);
    assert_ok(gpul_launch(kernel_of(module, NULL),
                          gpul_launch_opts(.grid = { 8 }, .block = { 128 }),
                          gpul_args(out, (int)N)));
    int got[N];
    assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
    for (int i = 0; i < N; i++) assert_int_equal(got[i], i % 2 ? -i : (i % 7) * (i % 7 + 1) / 2);
    gpul_buffer_free(&out);
    gpul_module_free(&module);
}

/* One place in the text, so that the options of a launch are those of the one before but for what is given. */
static gpul_status launch_here(const gpul_kernel *kernel, uint64_t grid, uint64_t block,
                               gpul_stream *stream, gpul_arglist args)
{
    return gpul_launch(
        kernel, gpul_launch_opts(.grid = { grid }, .block = { block }, .stream = stream), args);
}

/* A launch like the last ones takes a shorter road: whatever is wrong this time is found there too. */
static void a_known_launch_is_still_checked(void **state)
{
    (void)state;
    enum { N = 16 };
    gpul_module *module = load_kernels("scale");
    const gpul_kernel *scale = kernel_of(module, "scale");
    float ones[N];
    for (int i = 0; i < N; i++) ones[i] = 1;
    gpul_buffer *data = buffer_of(sizeof ones, ones), *other, *none = NULL;
    gpul_stream *stream;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    float expected = 1;
    for (int round = 0; round < 6; round++) {
        for (int k = 0; k < 3; k++, expected *= 2)
            assert_ok(launch_here(scale, 1, N, NULL, gpul_args(data, (int)N, 2.0f)));
        assert_code(launch_here(scale, 1, N, NULL, gpul_args(data, (int)N)), 303, "3");
        assert_code(launch_here(scale, 1, N, NULL, gpul_args(data, (int)N, 2.0f, 1)), 303, "4");
        assert_code(launch_here(scale, 1, N, NULL, (gpul_arglist){ 3, NULL }), 314, "");
        assert_int_not_equal(launch_here(scale, 1, N, NULL, gpul_args(data, (int)N, 2.0)), GPUL_OK);
        assert_int_not_equal(launch_here(scale, 1, N, NULL, gpul_args(data, (size_t)N, 2.0f)),
                             GPUL_OK);
        assert_int_not_equal(launch_here(scale, 1, N, NULL, gpul_args(none, (int)N, 2.0f)),
                             GPUL_OK);
        assert_code(launch_here(scale, 1, 1025, NULL, gpul_args(data, (int)N, 2.0f)), 705, "1025");
        assert_code(launch_here(scale, 0, N, NULL, gpul_args(data, (int)N, 2.0f)), 704, "");
        /* Another stream, and another buffer that may lie where an old one lay. */
        assert_ok(gpul_sync(device));
        assert_ok(launch_here(scale, 1, N, stream, gpul_args(data, (int)N, 2.0f)));
        expected *= 2;
        assert_ok(gpul_stream_sync(stream));
        other = buffer_of(sizeof ones, ones);
        assert_ok(launch_here(scale, 1, N, NULL, gpul_args(other, (int)N, 3.0f)));
        float got[N];
        assert_ok(gpul_read(got, other, 0, sizeof got, NULL));
        for (int i = 0; i < N; i++) assert_true(got[i] == 3);
        gpul_buffer_free(&other);
        assert_ok(gpul_read(got, data, 0, sizeof got, NULL));
        for (int i = 0; i < N; i++) assert_true(got[i] == expected);
    }
    gpul_stream_free(&stream);
    gpul_buffer_free(&data);
    gpul_module_free(&module);
}

/* Small parameters with gaps between them arrive whole on the shorter road. */
static void a_known_launch_keeps_small_parameters_apart(void **state)
{
    (void)state;
    if (!have_nvrtc()) skip_because("no NVRTC here");
    gpul_image *image;
    gpul_module *module;
    assert_ok(gpul_compile(&image,
                           "extern \"C\" __global__ void k(signed char a, long long *out, short b,"
                           " int c, unsigned char d, double e, bool f, signed char g) {"
                           " out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = (long long)e;"
                           " out[5] = f; out[6] = g; }",
                           GPUL_TEXT, gpul_compile_opts(.device = device)));
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    gpul_buffer *out = buffer_of(7 * sizeof(long long), NULL);
    for (int i = 0; i < 5; i++) {
        assert_ok(launch_here(kernel_of(module, "k"), 1, 1, NULL,
                              gpul_args((signed char)(-1 - i), out, (short)(-300 - i), -70000 - i,
                                        (unsigned char)(200 + i), -2.0 - i, (bool)(i % 2),
                                        (signed char)(-100 - i))));
        const long long expected[7] = { -1 - i, -300 - i, -70000 - i, 200 + i,
                                        -2 - i, i % 2,    -100 - i };
        long long got[7];
        assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
        assert_memory_equal(got, expected, sizeof got);
    }
    gpul_buffer_free(&out);
    gpul_module_free(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_argument_arrives),
        cmocka_unit_test(null_and_raw_addresses_pass),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(geometry_is_checked_by_axis),
        cmocka_unit_test(shared_memory_opts_in_by_itself),
        cmocka_unit_test(structs_lie_as_the_device_lays_them),
        cmocka_unit_test(a_divergent_kernel_is_right),
        cmocka_unit_test(a_known_launch_is_still_checked),
        cmocka_unit_test(a_known_launch_keeps_small_parameters_apart),
    };
    return gpul_run_tests("device launch", tests, open_device, close_device);
}
