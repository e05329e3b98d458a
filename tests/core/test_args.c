/* Arguments: what fits which parameter, the exact bytes that reach the driver, and what is said about
 * everything else.  SPDX-License-Identifier: MIT */
#include "suite.h"

#define ONE gpul_launch_opts(.grid = { 1 }, .block = { 1 })

/* The last launch's parameters, exactly. */
static void check_bytes(const void *expected, size_t size)
{
    const gpul__record_launch *l = gpul__record_launch_at(-1);
    assert_non_null(l);
    assert_true(l->extra);
    assert_int_equal(l->size, size);
    assert_int_equal(l->signature_size, size);
    if (size) assert_memory_equal(l->bytes, expected, size);
}

static void put(unsigned char *buffer, size_t offset, const void *value, size_t size)
{
    memcpy(buffer + offset, value, size);
}

static gpul_buffer *buffer_of(gpul_type type, const char *name)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, 64, gpul_alloc_opts(.type = type, .name = name)));
    return buffer;
}

static void sizes_have_no_tail_padding(void **state)
{
    (void)state;
    gpul_buffer *out = buffer_of(0, NULL);
    uint64_t address = gpul_buffer_address(out);
    unsigned char b[32];

    memset(b, 0, sizeof b);
    put(b, 0, &address, 8);
    put(b, 8, &(short){ -7 }, 2);
    assert_ok(gpul_launch(kernel_of("c14_a"), ONE, gpul_args(out, (short)-7)));
    check_bytes(b, 10);

    memset(b, 0, sizeof b);
    put(b, 0, &address, 8);
    put(b, 8, &(float){ 0.5f }, 4);
    b[12] = 'A';
    assert_ok(gpul_launch(kernel_of("c14_b"), ONE, gpul_args(out, 0.5f, (signed char)'A')));
    check_bytes(b, 13);

    memset(b, 0, sizeof b);
    b[0] = 3;
    put(b, 8, &address, 8);
    b[16] = 1;
    assert_ok(gpul_launch(kernel_of("c14_c"), ONE, gpul_args((signed char)3, out, true)));
    check_bytes(b, 17);
    assert_ok(gpul_launch(kernel_of("c14_c"), ONE, gpul_args((signed char)3, out, (bool)1)));
    check_bytes(b, 17);
    gpul_buffer_free(&out);
}

static void wide_alignment_is_the_devices(void **state)
{
    (void)state;
    struct {
        long long lo, hi;
    } quad = { 3, 4 };
    struct {
        char tag;
        double v;
        short n;
        float p[2];
    } rec = { 'x', 0.25, -9, { 1.5f, 2.5f } };
    gpul_buffer *out = buffer_of(0, NULL);
    uint64_t address = gpul_buffer_address(out);
    unsigned char b[64] = { 0 };
    put(b, 0, &(int){ 1 }, 4);
    put(b, 8, &address, 8);
    b[16] = 2;
    put(b, 32, &quad, 16);
    put(b, 48, &(int){ 5 }, 4);
    put(b, 56, &(long long){ 6 }, 8);
    assert_ok(gpul_launch(kernel_of("c15_order"), ONE,
                          gpul_args(1, out, (signed char)2, gpul_value(quad), 5, 6ll)));
    check_bytes(b, 64);
    assert_int_equal(sizeof rec, 32);
    put(b, 0, &rec, 32);
    put(b, 32, &address, 8);
    assert_ok(gpul_launch(kernel_of("c15_inner"), ONE, gpul_args(gpul_value(rec), out)));
    check_bytes(b, 40);
    gpul_buffer_free(&out);
}

static void every_kind_reaches_its_place(void **state)
{
    (void)state;
    float f3[3] = { 1, 2, 3 };
    gpul_buffer *in = buffer_of(GPUL_F32, "in"), *out = buffer_of(GPUL_F32, "out");
    const gpul_kernel *every = kernel_of("every");
    const gpul_kernel_info *info = gpul_kernel_describe(every);
    assert_ok(
        gpul_launch(every, ONE,
                    gpul_args((bool)1, (signed char)-5, (unsigned char)250, (short)-30000,
                              (unsigned short)60000, -7, 4000000000u, -5000000000l, 6000000000ul,
                              1.5f, -2.25, gpul_half(0x4200), gpul_bfloat16(0x4040), gpul_value(f3),
                              2, gpul_in(in), out, gpul_null)));
    unsigned char b[256] = { 0 };
    assert_true(info->param_bytes < sizeof b);
    uint64_t in_address = gpul_buffer_address(in), out_address = gpul_buffer_address(out);
    const void *values[] = { &(bool){ 1 },
                             &(signed char){ -5 },
                             &(unsigned char){ 250 },
                             &(short){ -30000 },
                             &(unsigned short){ 60000 },
                             &(int){ -7 },
                             &(unsigned){ 4000000000u },
                             &(long){ -5000000000l },
                             &(unsigned long){ 6000000000ul },
                             &(float){ 1.5f },
                             &(double){ -2.25 },
                             &(uint16_t){ 0x4200 },
                             &(uint16_t){ 0x4040 },
                             f3,
                             &(int){ 2 },
                             &in_address,
                             &out_address,
                             &(uint64_t){ 0 } };
    assert_int_equal(info->param_count, sizeof values / sizeof *values);
    for (size_t i = 0; i < info->param_count; i++)
        put(b, info->params[i].value.offset, values[i], info->params[i].value.size);
    check_bytes(b, info->param_bytes);
    gpul_buffer_free(&in);
    gpul_buffer_free(&out);
}

static void a_kernel_without_parameters(void **state)
{
    (void)state;
    assert_ok(gpul_launch(kernel_of("nothing"), ONE, gpul_no_args));
    assert_int_equal(gpul__record_launch_at(-1)->size, 0);
    assert_code(gpul_launch(kernel_of("nothing"), ONE, gpul_args(1)), 303, "nothing", "0 arguments",
                "got 1", "gpul_no_args");
}

/* What the driver gets stays as it was: nothing of a refused launch may reach it. */
static size_t launches;
static void nothing_launched(void)
{
    assert_int_equal(gpul__record_launches(), launches);
}

static void counts_are_told_with_sizes(void **state)
{
    (void)state;
    gpul_buffer *data = buffer_of(GPUL_F32, "data");
    const gpul_kernel *scale = kernel_of("scale");
    launches = gpul__record_launches();
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16)), 303, "'scale' takes 3 arguments",
                "(8 4 4 bytes)", "got 2", "by, float, 4 bytes at offset 12", "buffer 'data'");
    const gpul_error *e = gpul_last_error();
    assert_string_equal(e->details[0].parameter, "data");
    assert_string_equal(e->details[0].file, "kernels.cu");
    assert_int_equal(e->details[2].line, 12);
    assert_non_null(strstr(e->caller_file, "test_args.c"));
    assert_true(e->caller_line > 0);
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16, 2.0f, 1)), 303, "got 4");
    assert_code(gpul_launch(scale, ONE, gpul_no_args), 303, "got 0");
    assert_code(gpul_launch(scale, ONE, ((gpul_arglist){ 3, NULL })), 314, "argument list");
    nothing_launched();
    gpul_buffer_free(&data);
}

static void classes_are_compared(void **state)
{
    (void)state;
    gpul_buffer *data = buffer_of(GPUL_F32, "data");
    const gpul_kernel *scale = kernel_of("scale");
    launches = gpul__record_launches();
    /* A double for a float: named with both sizes, the place and what to write. */
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16, 2.5)), 304, "argument 3 of 'scale'",
                "('by')", "float (4 bytes)", "double 2.5 (8 bytes)", "write 2.5f");
    assert_int_equal(gpul_last_error()->detail_count, 1);
    assert_int_equal(gpul_last_error()->details[0].line, 12);
    assert_string_equal(gpul_last_error()->details[0].parameter, "by");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16, 3)), 304, "int 3", "3.0f");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16.0f, 2.0f)), 304, "'n'", "int (4 bytes)",
                "float 16.0");
    assert_code(gpul_launch(scale, ONE, gpul_args(0, 16, 2.0f)), 304, "'data'", "float *",
                "gpul_null");
    assert_code(gpul_launch(scale, ONE, gpul_args(12345, 16, 2.0f)), 304, "gpul_address");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, data, 2.0f)), 304, "'n'", "pass its value");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, gpul_address(16), 2.0f)), 304,
                "device address 0x10");
    double pair[2] = { 1, 2 };
    assert_code(gpul_launch(scale, ONE, gpul_args(gpul_value(pair), 16, 2.0f)), 304, "a struct");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16, gpul_half(0))), 304, "a half");
    nothing_launched();
    gpul_buffer_free(&data);
}

static void all_mistakes_come_together(void **state)
{
    (void)state;
    gpul_buffer *data = buffer_of(GPUL_F32, "data");
    assert_code(gpul_launch(kernel_of("scale"), ONE, gpul_args(1, (size_t)16, 2.0)), 304,
                "3 arguments of 'scale' do not fit");
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->detail_count, 3);
    assert_int_equal(e->details[0].code, 304);
    assert_int_equal(e->details[1].code, 310);
    assert_int_equal(e->details[2].code, 304);
    assert_string_equal(e->details[1].parameter, "n");
    assert_non_null(strstr(e->details[1].text, "8 bytes"));
    assert_code(gpul_launch(kernel_of("scale"), ONE, gpul_args(16, data, 2.0f)), 304,
                "arguments 1 and 2 seem to be swapped");
    gpul_buffer_free(&data);
}

static void integers_keep_size_and_value(void **state)
{
    (void)state;
    gpul_buffer *data = buffer_of(GPUL_F32, "data");
    const gpul_kernel *scale = kernel_of("scale"), *c14_a = kernel_of("c14_a"),
                      *c14_c = kernel_of("c14_c");
    /* Another size is refused, another signedness only when the value does not fit. */
    assert_code(gpul_launch(scale, ONE, gpul_args(data, (size_t)16, 2.0f)), 310, "'n'",
                "int (4 bytes)", "unsigned long 16 (8 bytes)", "(int)value");
    assert_code(gpul_launch(c14_a, ONE, gpul_args(gpul_null, 7)), 310, "short (2 bytes)");
    assert_ok(gpul_launch(scale, ONE, gpul_args(data, 16u, 2.0f)));
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 4000000000u, 2.0f)), 305, "4000000000",
                "-2147483648 to 2147483647");
    /* A bool takes any integer that is 0 or 1. */
    assert_ok(gpul_launch(c14_c, ONE, gpul_args((signed char)1, gpul_null, 0)));
    assert_ok(gpul_launch(c14_c, ONE, gpul_args((signed char)1, gpul_null, 1ull)));
    assert_code(gpul_launch(c14_c, ONE, gpul_args((signed char)1, gpul_null, 2)), 305, "0 or 1",
                "'neg'");
    assert_code(gpul_launch(c14_c, ONE, gpul_args((signed char)1, gpul_null, 1.0f)), 304, "bool");
    gpul_buffer_free(&data);
}

static void signs_are_checked_in_every_size(void **state)
{
    (void)state;
    gpul_arg args[18];
    float f3[3] = { 0 };
    const gpul_arglist list = { 18, args };
    const gpul_kernel *every = kernel_of("every");
    gpul_arglist good = gpul_args(
        true, (signed char)0, (unsigned char)0, (short)0, (unsigned short)0, 0, 0u, 0l, 0ul, 0.0f,
        0.0, gpul_half(0), gpul_bfloat16(0), gpul_value(f3), 0, gpul_null, gpul_null, gpul_null);
    memcpy(args, good.items, sizeof args);
    assert_ok(gpul_launch(every, ONE, list));
#define WITH(index, value, check)                                                                  \
    do {                                                                                           \
        args[index] = GPUL_ARG_OF(value);                                                          \
        check;                                                                                     \
        args[index] = good.items[index];                                                           \
    } while (0)
#define FITS    assert_ok(gpul_launch(every, ONE, list))
#define TOO_BIG assert_code(gpul_launch(every, ONE, list), 305, "does not fit")
    WITH(1, (unsigned char)127, FITS);
    WITH(1, (unsigned char)128, TOO_BIG);
    WITH(2, (signed char)127, FITS);
    WITH(2, (signed char)-1, TOO_BIG);
    WITH(3, (unsigned short)32767, FITS);
    WITH(3, (unsigned short)32768, TOO_BIG);
    WITH(4, (short)-1, TOO_BIG);
    WITH(5, 2147483647u, FITS);
    WITH(5, 2147483648u, TOO_BIG);
    WITH(6, -1, TOO_BIG);
    WITH(6, 5, FITS);
    WITH(7, 9223372036854775807ul, FITS);
    WITH(7, 9223372036854775808ul, TOO_BIG);
    WITH(8, -1l, TOO_BIG);
    WITH(8, 5ll, FITS);
    WITH(14, 7u, FITS); /* an enumeration is its integer */
#undef FITS
#undef TOO_BIG
    WITH(14, (short)1, assert_code(gpul_launch(every, ONE, list), 310, "'e'", "enumeration"));
    WITH(11, gpul_bfloat16(0), assert_code(gpul_launch(every, ONE, list), 304, "gpul_half(bits)"));
    WITH(12, gpul_half(0), assert_code(gpul_launch(every, ONE, list), 304, "gpul_bfloat16(bits)"));
    WITH(10, 1.0f, assert_code(gpul_launch(every, ONE, list), 304, "(double)value"));
    uint16_t bits = 0x3c00;
    WITH(11, gpul_value(bits), assert_ok(gpul_launch(every, ONE, list)));
    float f4[4] = { 0 };
    WITH(13, gpul_value(f4),
         assert_code(gpul_launch(every, ONE, list), 310, "float3 (12 bytes)", "16 bytes"));
    WITH(13, 1.0f, assert_code(gpul_launch(every, ONE, list), 304, "gpul_value"));
#undef WITH
}

static void buffers_obey_const_and_element(void **state)
{
    (void)state;
    gpul_buffer *floats = buffer_of(GPUL_F32, "floats"), *doubles = buffer_of(GPUL_F64, "doubles"),
                *raw = buffer_of(0, NULL), *none = NULL;
    const gpul_kernel *scale = kernel_of("scale"), *every = kernel_of("every");
    assert_ok(gpul_launch(scale, ONE, gpul_args(floats, 1, 1.0f)));
    assert_ok(gpul_launch(scale, ONE, gpul_args(raw, 1, 1.0f)));
    assert_code(gpul_launch(scale, ONE, gpul_args(gpul_in(floats), 1, 1.0f)), 311,
                "buffer 'floats'", "'data'", "float *", "gpul_in");
    assert_code(gpul_launch(scale, ONE, gpul_args(doubles, 1, 1.0f)), 312, "buffer 'doubles'",
                "double", "float");
    assert_code(gpul_launch(scale, ONE, gpul_args(none, 1, 1.0f)), 314, "NULL buffer", "'data'",
                "gpul_null");
    /* float4 * and void *: a vector counts as its lanes, void takes everything. */
    float f3[3] = { 0 };
#define EVERY(in, out, any)                                                                        \
    gpul_args(true, (signed char)0, (unsigned char)0, (short)0, (unsigned short)0, 0, 0u, 0l, 0ul, \
              0.0f, 0.0, gpul_half(0), gpul_bfloat16(0), gpul_value(f3), 0, in, out, any)
    assert_ok(gpul_launch(every, ONE, EVERY(gpul_in(floats), floats, doubles)));
    assert_code(gpul_launch(every, ONE, EVERY(floats, doubles, doubles)), 312, "'out'");
    assert_code(gpul_launch(every, ONE, EVERY(floats, floats, gpul_in(floats))), 311, "'any'");
#undef EVERY
    gpul_buffer_free(&floats);
    gpul_buffer_free(&doubles);
    gpul_buffer_free(&raw);
}

static void foreign_objects_are_refused(void **state)
{
    (void)state;
    gpul_device *other;
    gpul_buffer *foreign;
    gpul_stream *stream;
    assert_ok(gpul_open(&other, NULL));
    assert_ok(gpul_alloc(&foreign, other, 64, NULL));
    assert_ok(gpul_stream_new(&stream, other, NULL));
    assert_code(gpul_launch(kernel_of("scale"), ONE, gpul_args(foreign, 1, 1.0f)), 313, "'data'",
                "another device");
    assert_code(gpul_launch(kernel_of("scale"),
                            gpul_launch_opts(.grid = { 1 }, .block = { 1 }, .stream = stream),
                            gpul_args(gpul_null, 1, 1.0f)),
                313, "stream");
    gpul_stream_free(&stream);
    gpul_buffer_free(&foreign);
    gpul_device_free(&other);
}

static void arguments_made_by_hand_are_checked(void **state)
{
    (void)state;
    gpul_arg args[3] = { gpul_null, gpul_arg_int(1), gpul_arg_float(1) };
    const gpul_arglist list = { 3, args };
    args[1].kind = 99;
    assert_code(gpul_launch(kernel_of("scale"), ONE, list), 315, "gpul_args");
    args[1] = gpul_arg_int(1);
    args[1].size = 64;
    assert_code(gpul_launch(kernel_of("scale"), ONE, list), 315, "argument 2");
    assert_code(
        gpul_launch(kernel_of("c15_inner"), ONE, gpul_args(gpul_arg_bytes(NULL, 32), gpul_null)),
        314, "NULL object");
    assert_code(gpul_launch(NULL, ONE, gpul_no_args), 314, "kernel");
}

/* From PTX alone sizes are known, and which parameters may be pointers is not. */
static void sizes_alone_are_compared(void **state)
{
    (void)state;
    gpul_image *image = image_of(kernels_ptx);
    gpul_module *untyped;
    const gpul_kernel *scale, *inner;
    assert_ok(gpul_load(&untyped, device, image, NULL));
    gpul_image_free(&image);
    assert_ok(gpul_module_kernel(&scale, untyped, "scale"));
    assert_ok(gpul_module_kernel(&inner, untyped, "c15_inner"));
    gpul_buffer *data = buffer_of(GPUL_F64, "data");
    assert_ok(gpul_launch(scale, ONE, gpul_args(data, 16, 2.0f)));
    unsigned char b[16];
    uint64_t address = gpul_buffer_address(data);
    put(b, 0, &address, 8);
    put(b, 8, &(int){ 16 }, 4);
    put(b, 12, &(float){ 2.0f }, 4);
    check_bytes(b, 16);
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16, 2.0)), 310, "argument 3", "4 bytes",
                "double 2.0 (8 bytes)", "2.0f");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, (size_t)16, 2.0f)), 310, "argument 2");
    assert_code(gpul_launch(scale, ONE, gpul_args(16, data, 2.0f)), 310, "int 16 (4 bytes)",
                "swapped");
    struct {
        char tag;
    } small = { 1 };
    assert_code(gpul_launch(inner, ONE, gpul_args(gpul_value(small), data)), 310, "32 bytes",
                "1 byte");
    assert_code(gpul_launch(scale, ONE, gpul_args(data, 16)), 303, "(8 4 4 bytes)");
    gpul_buffer_free(&data);
    gpul_module_free(&untyped);
}

static unsigned char big[40000];

static void large_parameters_obey_the_devices_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof big; i++) big[i] = (unsigned char)(i * 7);
    assert_ok(gpul_launch(kernel_of("large"), ONE, gpul_args(gpul_arg_bytes(big, 5000))));
    check_bytes(big, 5000);
    assert_code(gpul_launch(kernel_of("huge"), ONE, gpul_args(gpul_arg_bytes(big, 40000))), 712,
                "40000", "32764", "offset 0");
    /* An older driver carries 4,096 bytes. */
    gpul_module_free(&module);
    gpul_device_free(&device);
    use_record(&(gpul__record_config){ .driver_version = 12000 });
    assert_ok(gpul_open(&device, NULL));
    assert_int_equal(gpul_device_describe(device)->max_parameter_bytes, 4096);
    char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                  ".visible .entry large(.param .align 1 .b8 a[5000])\n{\n    ret;\n}\n";
    gpul_image *image = image_of(text);
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    assert_code(gpul_launch(kernel_of("large"), ONE, gpul_args(gpul_arg_bytes(big, 5000))), 712,
                "5000", "4096");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(sizes_have_no_tail_padding),      TEST(wide_alignment_is_the_devices),
        TEST(every_kind_reaches_its_place),    TEST(a_kernel_without_parameters),
        TEST(counts_are_told_with_sizes),      TEST(classes_are_compared),
        TEST(all_mistakes_come_together),      TEST(integers_keep_size_and_value),
        TEST(signs_are_checked_in_every_size), TEST(buffers_obey_const_and_element),
        TEST(foreign_objects_are_refused),     TEST(arguments_made_by_hand_are_checked),
        TEST(sizes_alone_are_compared),        TEST(large_parameters_obey_the_devices_limit),
    };
    return gpul_run_tests("core args", tests, NULL, NULL);
}
