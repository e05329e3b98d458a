/* Streams and events beyond the common: facts, host functions, adoption, values in memory, options.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include <stdatomic.h>

static void streams_tell_about_themselves(void **state)
{
    (void)state;
    int least = 99, greatest = 99;
    gpul_stream_info info;
    gpul_stream *stream;
    assert_ok(gpul_device_priorities(device, &least, &greatest));
    assert_true(greatest <= least);
    assert_ok(gpul_device_priorities(device, NULL, NULL));
    assert_ok(gpul_stream_new(&stream, device, gpul_stream_opts(.priority = greatest)));
    assert_ok(gpul_stream_describe(&info, stream));
    assert_int_equal(info.priority, greatest);
    assert_false(info.blocking || info.adopted);
    gpul_stream_free(&stream);
    assert_ok(gpul_stream_new(&stream, device, gpul_stream_opts(.blocking = true)));
    assert_ok(gpul_stream_describe(&info, stream));
    assert_true(info.blocking);
    gpul_stream_free(&stream);
    assert_code(gpul_stream_describe(&info, NULL), 314, "stream");
    assert_code(gpul_stream_describe(NULL, NULL), 314, "out");
    assert_code(gpul_device_priorities(NULL, &least, NULL), 314, "device");
}

typedef struct seen {
    float *values;
    float first;
    atomic_int calls;
} seen;

static void look(void *user)
{
    seen *s = user;
    s->first = s->values[0];
    s->values[0] = 1; /* the copy behind it takes this */
    atomic_fetch_add(&s->calls, 1);
}

static void host_functions_run_in_order(void **state)
{
    (void)state;
    float values[4] = { 0 };
    seen s = { .values = values };
    gpul_stream *stream;
    gpul_buffer *buffer = buffer_of(sizeof values, (const float[]){ 5, 6, 7, 8 });
    gpul_buffer *after = buffer_of(sizeof values, NULL);
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_read(values, buffer, 0, sizeof values, stream));
    assert_ok(gpul_stream_call(device, stream, look, &s));
    assert_ok(gpul_stream_sync(stream));
    assert_int_equal(atomic_load(&s.calls), 1);
    assert_float_equal(s.first, 5, 0);
    assert_ok(gpul_write(after, 0, values, sizeof values, stream));
    assert_ok(gpul_stream_call(device, NULL, look, &s));
    assert_ok(gpul_sync(device));
    assert_int_equal(atomic_load(&s.calls), 2);
    assert_ok(gpul_read(values, after, 0, sizeof values, NULL));
    assert_float_equal(values[0], 1, 0);
    assert_code(gpul_stream_call(device, stream, NULL, &s), 314, "fn");
    assert_code(gpul_stream_call(NULL, stream, look, &s), 314, "device");
    gpul_stream_free(&stream);
    gpul_buffer_free(&buffer);
    gpul_buffer_free(&after);
}

static void raw_streams_are_adopted(void **state)
{
    (void)state;
    gpul_stream *own, *adopted, *legacy, *none = (gpul_stream *)1;
    gpul_stream_info info;
    gpul_buffer *buffer = buffer_of(64, NULL);
    unsigned char got[64];
    assert_ok(gpul_stream_new(&own, device, NULL));
    assert_ok(gpul_stream_adopt(&adopted, device, gpul_stream_handle(own)));
    assert_ptr_equal(gpul_stream_handle(adopted), gpul_stream_handle(own));
    assert_ok(gpul_stream_describe(&info, adopted));
    assert_true(info.adopted);
    assert_ok(gpul_fill(buffer, 0, 64, "a", 1, adopted));
    assert_ok(gpul_read(got, buffer, 0, 64, own));
    gpul_stream_free(&adopted);
    assert_ok(gpul_stream_sync(own)); /* it was not destroyed */
    assert_int_equal(got[63], 'a');
    assert_ok(gpul_stream_adopt(&legacy, device, NULL));
    assert_ok(gpul_fill(buffer, 0, 64, "b", 1, legacy));
    assert_ok(gpul_sync(device)); /* waits for adopted streams too */
    assert_ok(gpul_read(got, buffer, 0, 64, NULL));
    assert_int_equal(got[0], 'b');
    assert_ok(gpul_stream_describe(&info, legacy));
    assert_true(info.blocking && info.adopted);
    gpul_stream_free(&legacy);
    gpul_device *second;
    assert_ok(gpul_open(&second, NULL));
    assert_code(gpul_stream_adopt(&none, second, gpul_stream_handle(own)), 313, "another context");
    assert_null(none);
    gpul_device_free(&second);
    gpul_stream_free(&own);
    gpul_buffer_free(&buffer);
}

static void events_have_options(void **state)
{
    (void)state;
    gpul_event *quiet, *timed, *adopted, *none = (gpul_event *)1;
    gpul_stream *stream;
    bool done = false;
    float ms;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(
        gpul_event_make(&quiet, device, gpul_event_opts(.blocking = true, .no_timing = true)));
    assert_ok(gpul_event_make(&timed, device, NULL));
    assert_code(gpul_event_done(&done, timed), 817, "not recorded");
    assert_ok(gpul_event_record(timed, stream));
    assert_ok(gpul_event_record(quiet, stream));
    assert_ok(gpul_event_sync(quiet));
    assert_ok(gpul_event_done(&done, quiet));
    assert_true(done);
    assert_code(gpul_event_elapsed(&ms, timed, quiet), 817, "end was made with .no_timing");
    assert_code(gpul_event_make(&none, device, gpul_event_opts(.shared = true)), 315, ".no_timing");
    assert_null(none);
    assert_ok(gpul_event_adopt(&adopted, device, gpul_event_handle(timed)));
    assert_ok(gpul_event_sync(adopted));
    assert_ok(gpul_stream_wait(stream, adopted));
    assert_ok(gpul_event_done(&done, adopted));
    gpul_event_free(&adopted);
    assert_ok(gpul_event_record(timed, NULL)); /* it was not destroyed */
    assert_ok(gpul_event_sync(timed));
    assert_code(gpul_event_adopt(&none, device, NULL), 314, "event");
    gpul_event_free(&quiet);
    gpul_event_free(&timed);
    gpul_stream_free(&stream);
}

static void events_are_shared_or_refused(void **state)
{
    (void)state;
    gpul_event *event, *none = (gpul_event *)1;
    gpul_shared_event shared;
    gpul_status status =
        gpul_event_make(&event, device, gpul_event_opts(.no_timing = true, .shared = true));
    if (status == GPUL_OK) status = gpul_event_share(&shared, event);
    if (status == GPUL_E_UNSUPPORTED) {
        assert_code(status, 821, "an event cannot be");
        memset(&shared, 0, sizeof shared);
        assert_code(gpul_event_open_shared(&none, device, &shared), 821, "cannot be made");
        assert_null(none);
    } else {
        assert_ok(status);
    }
    gpul_event_free(&event);
}

static void words_order_streams(void **state)
{
    (void)state;
    if (getenv("GPULAUNCH_SANITIZED"))
        skip_because("compute-sanitizer waits for each copy, and this one waits for a later write");
    gpul_stream *first, *second;
    gpul_buffer *word = buffer_of(8, &(uint64_t){ 0 }), *bytes = buffer_of(4, &(uint32_t){ 7 });
    gpul_buffer *later = buffer_of(4, NULL);
    unsigned got = 0;
    assert_ok(gpul_stream_new(&first, device, NULL));
    assert_ok(gpul_stream_new(&second, device, NULL));
    assert_ok(gpul_stream_wait_value(second, word, 4, 3, GPUL_COMPARE_GEQ));
    assert_ok(gpul_copy(later, 0, bytes, 0, 4, second)); /* a read to pageable memory would wait */
    assert_ok(gpul_write(bytes, 0, &(uint32_t){ 42 }, 4, NULL));
    assert_ok(gpul_stream_write_value(first, word, 4, 3));
    assert_ok(gpul_stream_sync(second));
    assert_ok(gpul_read(&got, later, 0, 4, NULL));
    assert_int_equal(got, 42);
    assert_code(gpul_stream_write_value(first, word, 8, 3), 810, "offset 8");
    assert_code(gpul_stream_write_value(first, word, 2, 3), 810, "aligned");
    assert_code(gpul_stream_wait_value(first, word, 0, 3, (gpul_compare)7), 315, "7");
    assert_code(gpul_stream_wait_value(NULL, word, 0, 3, GPUL_COMPARE_EQ), 314, "stream");
    assert_code(gpul_stream_write_value(first, NULL, 0, 3), 314, "buffer");
    gpul_buffer_free(&word);
    gpul_buffer_free(&bytes);
    gpul_buffer_free(&later);
    gpul_stream_free(&first);
    gpul_stream_free(&second);
}

static void managed_memory_is_attached(void **state)
{
    (void)state;
    gpul_stream *stream;
    gpul_buffer *managed, *plain = buffer_of(16, NULL);
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_code(gpul_stream_attach(stream, plain, GPUL_ATTACH_SINGLE), 822, "MANAGED");
    if (gpul_device_describe(device)->managed) {
        assert_ok(gpul_alloc(&managed, device, 64,
                             gpul_alloc_opts(.memory = GPUL_MEMORY_MANAGED, .attach_host = true)));
        memset(gpul_buffer_host(managed), 1, 64); /* the host's, until it is attached */
        assert_ok(gpul_stream_attach(stream, managed, GPUL_ATTACH_SINGLE));
        assert_ok(gpul_stream_sync(stream));
        assert_ok(gpul_stream_attach(stream, managed, GPUL_ATTACH_GLOBAL));
        assert_code(gpul_stream_attach(stream, managed, (gpul_attach)3), 315, "3");
        assert_ok(gpul_stream_sync(stream));
        gpul_buffer_free(&managed);
    }
    gpul_buffer_free(&plain);
    gpul_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_tell_about_themselves),
        cmocka_unit_test(host_functions_run_in_order),
        cmocka_unit_test(raw_streams_are_adopted),
        cmocka_unit_test(events_have_options),
        cmocka_unit_test(events_are_shared_or_refused),
        cmocka_unit_test(words_order_streams),
        cmocka_unit_test(managed_memory_is_attached),
    };
    return gpul_run_tests("device queue", tests, open_device, close_device);
}
