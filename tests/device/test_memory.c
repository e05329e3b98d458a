/* Buffers: round trips, views, fills, copies, ranges, and what is refused.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

static void bytes_come_back(void **state)
{
    (void)state;
    unsigned char put[1000], got[1000];
    for (int i = 0; i < 1000; i++) put[i] = (unsigned char)(i * 7);
    gpul_buffer *buffer = buffer_of(sizeof put, put);
    assert_int_equal(gpul_buffer_size(buffer), sizeof put);
    assert_ptr_equal(gpul_buffer_device(buffer), device);
    assert_true(gpul_buffer_address(buffer) != 0);
    assert_ok(gpul_read(got, buffer, 0, sizeof got, NULL));
    assert_memory_equal(put, got, sizeof put);
    assert_ok(gpul_write(buffer, 500, "hello", 5, NULL));
    assert_ok(gpul_read(got, buffer, 498, 10, NULL));
    assert_memory_equal(got + 2, "hello", 5);
    assert_int_equal(got[0], put[498]);
    assert_int_equal(got[9], put[507]);
    gpul_buffer_free(&buffer);
    assert_null(buffer);
    gpul_buffer_free(&buffer);
}

static void views_share_their_parent(void **state)
{
    (void)state;
    unsigned char zero[64] = { 0 }, got[64];
    gpul_buffer *buffer = buffer_of(sizeof zero, zero), *view;
    assert_ok(gpul_view(&view, buffer, 16, 8));
    assert_int_equal(gpul_buffer_size(view), 8);
    assert_int_equal(gpul_buffer_address(view), gpul_buffer_address(buffer) + 16);
    assert_ok(gpul_write(view, 0, "abcdefgh", 8, NULL));
    assert_code(gpul_write(view, 4, "abcdefgh", 8, NULL), 810, "8");
    assert_ok(gpul_read(got, buffer, 0, sizeof got, NULL));
    assert_memory_equal(got + 16, "abcdefgh", 8);
    assert_int_equal(got[15] + got[24], 0);
    gpul_buffer *bad = (gpul_buffer *)1;
    assert_code(gpul_view(&bad, buffer, 60, 8), 810, "64");
    assert_null(bad);
    assert_code(gpul_view(&bad, buffer, (size_t)-4, 8), 810, "64");
    /* The view keeps the memory alive. */
    gpul_buffer_free(&buffer);
    assert_ok(gpul_read(got, view, 0, 8, NULL));
    assert_memory_equal(got, "abcdefgh", 8);
    gpul_buffer_free(&view);
}

static void patterns_fill(void **state)
{
    (void)state;
    uint32_t words[16];
    gpul_buffer *buffer = buffer_of(sizeof words, NULL);
    assert_ok(gpul_fill(buffer, 0, sizeof words, &(uint32_t){ 0xdeadbeef }, 4, NULL));
    assert_ok(gpul_fill(buffer, 8, 4, &(uint16_t){ 0x1234 }, 2, NULL));
    assert_ok(gpul_fill(buffer, 63, 1, &(uint8_t){ 0x55 }, 1, NULL));
    assert_ok(gpul_read(words, buffer, 0, sizeof words, NULL));
    assert_int_equal(words[0], 0xdeadbeef);
    assert_int_equal(words[2], 0x12341234);
    assert_int_equal(words[3], 0xdeadbeef);
    assert_int_equal(words[15], 0x55adbeef);
    assert_code(gpul_fill(buffer, 0, 12, &(uint64_t){ 1 }, 8, NULL), 813, "8");
    assert_code(gpul_fill(buffer, 0, 6, &(uint32_t){ 1 }, 4, NULL), 813, "6");
    assert_code(gpul_fill(buffer, 32, 64, &(uint32_t){ 1 }, 4, NULL), 810, "64");
    gpul_buffer_free(&buffer);
}

static void buffers_copy_to_buffers(void **state)
{
    (void)state;
    unsigned char put[256], got[256];
    for (int i = 0; i < 256; i++) put[i] = (unsigned char)i;
    gpul_buffer *a = buffer_of(sizeof put, put), *b = buffer_of(sizeof put, NULL);
    assert_ok(gpul_copy(b, 0, a, 128, 128, NULL));
    assert_ok(gpul_copy(b, 128, a, 0, 128, NULL));
    assert_ok(gpul_read(got, b, 0, sizeof got, NULL));
    for (int i = 0; i < 256; i++) assert_int_equal(got[i], (i + 128) & 255);
    assert_code(gpul_copy(b, 200, a, 0, 100, NULL), 810, "256");
    assert_code(gpul_copy(a, 0, a, 10, 100, NULL), 815, "overlap");
    assert_ok(gpul_copy(a, 0, a, 128, 128, NULL));
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
}

static void misuse_is_refused(void **state)
{
    (void)state;
    gpul_buffer *buffer = (gpul_buffer *)1;
    assert_code(gpul_alloc(&buffer, device, 0, NULL), 811, "zero");
    assert_null(buffer);
    assert_code(gpul_alloc(&buffer, NULL, 4, NULL), 314, "device");
    assert_code(gpul_alloc(NULL, device, 4, NULL), 314, "out");
    assert_code(gpul_alloc(&buffer, device, (size_t)1 << 60, NULL), 804, "free");
    buffer = buffer_of(16, NULL);
    char byte = 0;
    assert_code(gpul_read(&byte, buffer, 16, 1, NULL), 810, "16");
    assert_code(gpul_read(&byte, buffer, (size_t)-1, 2, NULL), 810, "16");
    assert_code(gpul_read(NULL, buffer, 0, 1, NULL), 314, "destination");
    assert_code(gpul_write(buffer, 0, NULL, 1, NULL), 314, "source");
    assert_code(gpul_write(NULL, 0, &byte, 1, NULL), 314, "destination");
    assert_ok(gpul_read(&byte, buffer, 16, 0, NULL));
    gpul_buffer_free(&buffer);
    gpul_buffer_free(NULL);
}

static void freeing_in_any_order_is_right(void **state)
{
    (void)state;
    gpul_device *own;
    gpul_image *image;
    gpul_module *module;
    gpul_buffer *buffer;
    gpul_stream *stream;
    gpul_event *event;
    assert_ok(gpul_open(&own, NULL));
    assert_ok(gpul_image_from_file(&image, "ptx/kernels/scale.ptx"));
    assert_ok(gpul_load(&module, own, image, NULL));
    assert_ok(gpul_alloc(&buffer, own, 64, NULL));
    assert_ok(gpul_stream_new(&stream, own, NULL));
    assert_ok(gpul_event_new(&event, own));
    gpul_device_free(&own);
    gpul_image_free(&image);
    const gpul_kernel *kernel = kernel_of(module, "scale");
    assert_ok(gpul_launch(kernel,
                          gpul_launch_opts(.grid = { 1 }, .block = { 16 }, .stream = stream),
                          gpul_args(buffer, 16, 1.0f)));
    assert_ok(gpul_event_record(event, stream));
    assert_ok(gpul_stream_sync(stream));
    gpul_module_free(&module);
    gpul_event_free(&event);
    gpul_stream_free(&stream);
    gpul_buffer_free(&buffer);
}

static void objects_of_another_device_are_refused(void **state)
{
    (void)state;
    gpul_device *other;
    gpul_buffer *foreign;
    assert_ok(gpul_open(&other, NULL));
    assert_ok(gpul_alloc(&foreign, other, 64, NULL));
    gpul_module *module = load_kernels("scale");
    assert_code(gpul_launch(kernel_of(module, "scale"),
                            gpul_launch_opts(.grid = { 1 }, .block = { 1 }),
                            gpul_args(foreign, 1, 1.0f)),
                313, "another device");
    gpul_module_free(&module);
    gpul_buffer_free(&foreign);
    gpul_device_free(&other);
}

static void memory_is_counted(void **state)
{
    (void)state;
    uint64_t before, after, total;
    assert_ok(gpul_device_memory(device, &before, &total));
    assert_true(before > 0 && before <= total);
    gpul_buffer *buffer = buffer_of((size_t)64 << 20, NULL);
    assert_ok(gpul_device_memory(device, &after, &total));
    assert_true(after + ((uint64_t)32 << 20) < before);
    gpul_buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(views_share_their_parent),
        cmocka_unit_test(patterns_fill),
        cmocka_unit_test(buffers_copy_to_buffers),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(freeing_in_any_order_is_right),
        cmocka_unit_test(objects_of_another_device_are_refused),
        cmocka_unit_test(memory_is_counted),
    };
    return gpul_run_tests("device memory", tests, open_device, close_device);
}
