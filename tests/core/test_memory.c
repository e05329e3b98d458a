/* Buffers, streams and events: ranges, misuse, waiting, and what is said when memory runs out.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

static gpul_buffer *buffer_of(size_t size, const void *init, const char *name)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, size, gpul_alloc_opts(.init = init, .name = name)));
    return buffer;
}

static void bytes_come_back(void **state)
{
    (void)state;
    unsigned char put[100], got[100];
    for (int i = 0; i < 100; i++) put[i] = (unsigned char)(i * 7);
    gpul_buffer *a = buffer_of(100, put, "a"), *b = buffer_of(100, NULL, "b");
    assert_int_equal(gpul_buffer_size(a), 100);
    assert_ptr_equal(gpul_buffer_device(a), device);
    assert_true(gpul_buffer_address(a) != 0);
    assert_ok(gpul_copy(b, 0, a, 0, 100, NULL));
    assert_ok(gpul_read(got, b, 0, 100, NULL));
    assert_memory_equal(put, got, 100);
    assert_ok(gpul_write(b, 98, "xy", 2, NULL));
    assert_ok(gpul_read(got, b, 97, 3, NULL));
    assert_memory_equal(got + 1, "xy", 2);
    assert_ok(gpul_read(NULL, b, 100, 0, NULL));
    assert_ok(gpul_write(b, 0, NULL, 0, NULL));
    gpul_buffer_free(&a);
    assert_null(a);
    gpul_buffer_free(&a);
    gpul_buffer_free(NULL);
    gpul_buffer_free(&b);
    assert_int_equal(gpul__record_live().allocations, 0);
    assert_int_equal(gpul_buffer_size(NULL) + gpul_buffer_address(NULL), 0);
    assert_null(gpul_buffer_device(NULL));
}

static void ranges_do_not_overflow(void **state)
{
    (void)state;
    char byte = 0;
    gpul_buffer *a = buffer_of(64, NULL, "samples"), *view = (gpul_buffer *)1;
    assert_code(gpul_read(&byte, a, 64, 1, NULL), 810, "1 bytes at offset 64", "'samples'",
                "64 bytes");
    assert_code(gpul_read(&byte, a, SIZE_MAX, 2, NULL), 810, "samples");
    assert_code(gpul_read(&byte, a, 2, SIZE_MAX, NULL), 810, "samples");
    assert_code(gpul_write(a, 60, &byte, 5, NULL), 810, "destination");
    assert_code(gpul_fill(a, 32, 64, &byte, 1, NULL), 810, "64 bytes at offset 32");
    assert_code(gpul_copy(a, 0, a, 60, 8, NULL), 810, "source");
    assert_code(gpul_view(&view, a, 60, 8), 810, "a view of 8 bytes at offset 60", "64 bytes");
    assert_null(view);
    assert_code(gpul_view(&view, a, SIZE_MAX - 3, 8), 810, "64");
    gpul_buffer_free(&a);
}

static void misuse_is_refused(void **state)
{
    (void)state;
    char byte = 0;
    gpul_buffer *a = (gpul_buffer *)1;
    assert_code(gpul_alloc(&a, device, 0, gpul_alloc_opts(.name = "empty")), 811, "zero", "empty");
    assert_null(a);
    assert_code(gpul_alloc(&a, device, 4, gpul_alloc_opts(.type = (gpul_type)77)), 315, "77");
    assert_code(gpul_alloc(&a, NULL, 4, NULL), 314, "device");
    assert_code(gpul_alloc(NULL, device, 4, NULL), 314, "out");
    a = buffer_of(64, NULL, NULL);
    assert_code(gpul_view(&(gpul_buffer *){ 0 }, a, 0, 0), 811, "zero");
    assert_code(gpul_write(NULL, 0, &byte, 1, NULL), 314, "destination");
    assert_code(gpul_write(a, 0, NULL, 1, NULL), 314, "source");
    assert_code(gpul_read(NULL, a, 0, 1, NULL), 314, "destination");
    assert_code(gpul_read(&byte, NULL, 0, 1, NULL), 314, "source");
    assert_code(gpul_copy(a, 0, NULL, 0, 1, NULL), 314, "source");
    assert_code(gpul_fill(a, 0, 4, NULL, 1, NULL), 314, "pattern");
    assert_code(gpul_copy(a, 0, a, 10, 32, NULL), 815, "overlap", "10 bytes apart");
    assert_ok(gpul_copy(a, 0, a, 32, 32, NULL));
    gpul_device *other;
    gpul_buffer *foreign;
    gpul_stream *stream;
    assert_ok(gpul_open(&other, NULL));
    assert_ok(gpul_alloc(&foreign, other, 64, NULL));
    assert_ok(gpul_stream_new(&stream, other, NULL));
    assert_code(gpul_write(a, 0, &byte, 1, stream), 313, "stream");
    gpul_stream_free(&stream);
    gpul_buffer_free(&foreign);
    gpul_device_free(&other);
    gpul_buffer_free(&a);
}

static void patterns_fill(void **state)
{
    (void)state;
    uint32_t words[4];
    gpul_buffer *a = buffer_of(16, NULL, NULL), *odd;
    assert_ok(gpul_fill(a, 0, 16, &(uint32_t){ 0xdeadbeef }, 4, NULL));
    assert_ok(gpul_fill(a, 4, 4, &(uint16_t){ 0x1234 }, 2, NULL));
    assert_ok(gpul_fill(a, 15, 1, &(uint8_t){ 0x55 }, 1, NULL));
    assert_ok(gpul_fill(a, 0, 0, &(uint8_t){ 0 }, 1, NULL));
    assert_ok(gpul_read(words, a, 0, 16, NULL));
    assert_int_equal(words[0], 0xdeadbeef);
    assert_int_equal(words[1], 0x12341234);
    assert_int_equal(words[3], 0x55adbeef);
    assert_code(gpul_fill(a, 0, 16, &(uint64_t){ 1 }, 8, NULL), 813, "8 bytes");
    assert_code(gpul_fill(a, 0, 6, &(uint32_t){ 1 }, 4, NULL), 813, "6 bytes");
    assert_code(gpul_fill(a, 2, 4, &(uint32_t){ 1 }, 4, NULL), 813, "offset 2");
    assert_ok(gpul_view(&odd, a, 1, 8));
    assert_code(gpul_fill(odd, 0, 4, &(uint32_t){ 1 }, 4, NULL), 813, "not aligned");
    gpul_buffer_free(&odd);
    gpul_buffer_free(&a);
}

static void views_keep_their_parent(void **state)
{
    (void)state;
    char got[4];
    gpul_buffer *a = buffer_of(64, NULL, "a"), *view, *inner;
    assert_ok(gpul_view(&view, a, 16, 16));
    assert_ok(gpul_view(&inner, view, 4, 4));
    assert_int_equal(gpul_buffer_address(inner), gpul_buffer_address(a) + 20);
    assert_int_equal(gpul_buffer_size(inner), 4);
    gpul_buffer_free(&a);
    gpul_buffer_free(&view);
    assert_int_equal(gpul__record_live().allocations, 1);
    assert_ok(gpul_write(inner, 0, "abcd", 4, NULL));
    assert_ok(gpul_read(got, inner, 0, 4, NULL));
    assert_memory_equal(got, "abcd", 4);
    gpul_buffer_free(&inner);
    assert_int_equal(gpul__record_live().allocations, 0);
}

static void exhaustion_names_what_is_there(void **state)
{
    (void)state;
    gpul_module_free(&module);
    gpul_device_free(&device);
    use_record(&(gpul__record_config){ .memory = (uint64_t)64 << 20 });
    assert_ok(gpul_open(&device, NULL));
    gpul_buffer *small = buffer_of(1 << 20, NULL, "small"), *big = buffer_of(8 << 20, NULL, "big"),
                *nameless = buffer_of(2 << 20, NULL, NULL), *none = (gpul_buffer *)1;
    assert_code(gpul_alloc(&none, device, (size_t)1 << 30, gpul_alloc_opts(.name = "wanted")), 804,
                "1.0 GiB (1073741824 bytes) asked for 'wanted'", "free of 64.0 MiB",
                "'big' holds 8.0 MiB", "'small' holds 1.0 MiB", "3 live buffers");
    const gpul_error *e = gpul_last_error();
    assert_null(none);
    assert_int_equal(e->native, 2);
    assert_string_equal(e->call, "cuMemAlloc");
    assert_non_null(strstr(e->details[0].text, "'big'"));
    assert_non_null(strstr(e->details[1].text, "'buffer'"));
    assert_non_null(e->hint);
    gpul_buffer_free(&small);
    gpul_buffer_free(&big);
    gpul_buffer_free(&nameless);
}

static void streams_have_priorities(void **state)
{
    (void)state;
    gpul_stream *stream = (gpul_stream *)1;
    int priority = 99, least, greatest;
    unsigned flags = 99;
    const gpul__driver *record = gpul__record_driver();
    record->CtxGetStreamPriorityRange(&least, &greatest);
    assert_ok(gpul_stream_new(&stream, device, NULL));
    record->StreamGetFlags(gpul_stream_handle(stream), &flags);
    assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
    gpul_stream_free(&stream);
    assert_ok(
        gpul_stream_new(&stream, device, gpul_stream_opts(.priority = -1000, .blocking = true)));
    record->StreamGetPriority(gpul_stream_handle(stream), &priority);
    record->StreamGetFlags(gpul_stream_handle(stream), &flags);
    assert_int_equal(priority, greatest);
    assert_int_equal(flags, CU_STREAM_DEFAULT);
    gpul_stream_free(&stream);
    assert_ok(gpul_stream_new(&stream, device, gpul_stream_opts(.priority = 1000)));
    record->StreamGetPriority(gpul_stream_handle(stream), &priority);
    assert_int_equal(priority, least);
    gpul_stream_free(&stream);
    gpul_stream_free(&stream);
    gpul_stream_free(NULL);
    assert_code(gpul_stream_new(&stream, NULL, NULL), 314, "device");
    assert_code(gpul_stream_sync(NULL), 314, "stream");
    assert_null(gpul_stream_handle(NULL));
}

/* Which streams were waited for, in order. */
static gpul__driver watched;
static CUstream waited[16];
static size_t waits;

static CUresult watch(CUstream stream)
{
    if (waits < 16) waited[waits++] = stream;
    return gpul__record_driver()->StreamSynchronize(stream);
}

static void watch_waiting(void)
{
    watched = *gpul__record_driver();
    watched.StreamSynchronize = watch;
    gpul__driver_override(&watched);
    gpul_module_free(&module);
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, NULL));
    waits = 0;
}

static void calls_wait_for_what_they_promise(void **state)
{
    (void)state;
    watch_waiting();
    gpul_stream *one, *two;
    char bytes[8] = { 0 };
    gpul_buffer *a = buffer_of(8, NULL, NULL);
    assert_ok(gpul_stream_new(&one, device, NULL));
    assert_ok(gpul_stream_new(&two, device, NULL));
    /* With a stream: never. */
    assert_ok(gpul_write(a, 0, bytes, 8, one));
    assert_ok(gpul_read(bytes, a, 0, 8, one));
    assert_ok(gpul_fill(a, 0, 8, bytes, 1, one));
    assert_int_equal(waits, 0);
    /* Without: for the device's own stream and nothing else. */
    assert_ok(gpul_write(a, 0, bytes, 8, NULL));
    assert_int_equal(waits, 1);
    CUstream own = waited[0];
    assert_true(own != NULL && own != gpul_stream_handle(one));
    assert_ok(gpul_read(bytes, a, 0, 8, NULL));
    assert_ok(gpul_fill(a, 0, 8, bytes, 1, NULL));
    assert_int_equal(waits, 3);
    assert_ptr_equal(waited[2], own);
    /* gpul_sync: all of them, once. */
    waits = 0;
    assert_ok(gpul_sync(device));
    assert_int_equal(waits, 3);
    bool done = false;
    assert_ok(gpul_stream_done(&done, one));
    assert_true(done);
    waits = 0;
    assert_ok(gpul_stream_sync(two));
    assert_int_equal(waits, 1);
    assert_ptr_equal(waited[0], gpul_stream_handle(two));
    gpul_stream_free(&one);
    waits = 0;
    assert_ok(gpul_sync(device));
    assert_int_equal(waits, 2);
    gpul_stream_free(&two);
    gpul_buffer_free(&a);
}

static void events_must_be_recorded(void **state)
{
    (void)state;
    gpul_event *start, *end;
    gpul_stream *stream;
    float ms = 5;
    assert_ok(gpul_event_new(&start, device));
    assert_ok(gpul_event_new(&end, device));
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_code(gpul_event_elapsed(&ms, start, end), 817, "start was not recorded");
    assert_true(ms == 0);
    assert_code(gpul_event_sync(start), 817, "recorded");
    assert_code(gpul_stream_wait(stream, start), 817, "recorded");
    assert_ok(gpul_event_record(start, NULL));
    assert_code(gpul_event_elapsed(&ms, start, end), 817, "end was not recorded");
    assert_ok(gpul_event_record(end, stream));
    assert_ok(gpul_event_sync(end));
    assert_ok(gpul_event_elapsed(&ms, start, end));
    assert_true(ms >= 0);
    assert_ok(gpul_stream_wait(stream, start));
    assert_ok(gpul_stream_wait(NULL, end));
    assert_code(gpul_event_record(NULL, stream), 314, "event");
    assert_code(gpul_event_elapsed(NULL, start, end), 314, "out");
    gpul_device *other;
    gpul_event *foreign;
    assert_ok(gpul_open(&other, NULL));
    assert_ok(gpul_event_new(&foreign, other));
    assert_ok(gpul_event_record(foreign, NULL));
    assert_code(gpul_event_elapsed(&ms, start, foreign), 313, "different devices");
    assert_code(gpul_event_record(foreign, stream), 313, "stream");
    assert_code(gpul_stream_wait(stream, foreign), 313, "stream");
    gpul_event_free(&foreign);
    gpul_device_free(&other);
    gpul_stream_free(&stream);
    gpul_event_free(&start);
    gpul_event_free(&start);
    gpul_event_free(&end);
    gpul_event_free(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(bytes_come_back),         TEST(ranges_do_not_overflow),
        TEST(misuse_is_refused),       TEST(patterns_fill),
        TEST(views_keep_their_parent), TEST(exhaustion_names_what_is_there),
        TEST(streams_have_priorities), TEST(calls_wait_for_what_they_promise),
        TEST(events_must_be_recorded),
    };
    return gpul_run_tests("core memory", tests, NULL, NULL);
}
