/* Faults: who is blamed and who never is; the ring of launches; checked mode.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include <pthread.h>

#include "core/launch_ring.h"

static gpul_stream *stream;
static int first_line;

static gpul_status launch_in(gpul_stream *in, unsigned grid)
{
    first_line = __LINE__ + 1;
    return gpul_launch(kernel_of("scale"),
                       gpul_launch_opts(.grid = { grid }, .block = { 64 }, .stream = in),
                       gpul_args(gpul_null, 0, 1.0f));
}

static int open_with_stream(void **state)
{
    open_all(state);
    assert_ok(gpul_stream_new(&stream, device, NULL));
    return 0;
}

/* What a lost context will not give back goes with it; everything was asked to go. */
static int close_with_stream(void **state)
{
    (void)state;
    gpul_stream_free(&stream);
    gpul_module_free(&module);
    gpul_device_free(&device);
    gpul__record_counts left = gpul__record_live();
    left.abandoned = 0;
    assert_memory_equal(&left, &(gpul__record_counts){ 0 }, sizeof left);
    gpul__driver_override(NULL);
    return 0;
}

static size_t notes_with(const char *words)
{
    const gpul_error *e = gpul_last_error();
    size_t count = 0;
    for (size_t i = 0; i < e->detail_count; i++) count += strstr(e->details[i].text, words) != NULL;
    return count;
}

static void each_fault_has_its_code(void **state)
{
    (void)state;
    static const struct {
        CUresult result;
        int code;
        gpul_status status;
    } faults[] = {
        { CUDA_ERROR_ILLEGAL_ADDRESS, 802, GPUL_E_FAULT },
        { CUDA_ERROR_MISALIGNED_ADDRESS, 803, GPUL_E_FAULT },
        { CUDA_ERROR_ASSERT, 805, GPUL_E_FAULT },
        { CUDA_ERROR_LAUNCH_FAILED, 806, GPUL_E_FAULT },
        { CUDA_ERROR_LAUNCH_TIMEOUT, 807, GPUL_E_TIMEOUT },
        { CUDA_ERROR_ILLEGAL_INSTRUCTION, 819, GPUL_E_FAULT },
        { CUDA_ERROR_HARDWARE_STACK_ERROR, 819, GPUL_E_FAULT },
        { CUDA_ERROR_INVALID_PC, 819, GPUL_E_FAULT },
        { CUDA_ERROR_INVALID_ADDRESS_SPACE, 819, GPUL_E_FAULT },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        close_with_stream(state);
        open_with_stream(state);
        assert_ok(launch_in(NULL, 4));
        gpul__record_fault(faults[i].result);
        assert_code(gpul_sync(device), faults[i].code, "'scale', grid 4x1x1, block 64x1x1");
        assert_int_equal(gpul_last_error()->native, faults[i].result);
        assert_int_equal(gpul_last_error()->status, faults[i].status);
    }
}

/* The call that notices is not to blame; the only launch under way is named with its place. */
static void the_only_launch_is_named(void **state)
{
    (void)state;
    gpul_buffer *a;
    char byte;
    assert_ok(gpul_alloc(&a, device, 8, NULL));
    assert_ok(launch_in(NULL, 7));
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(gpul_read(&byte, a, 0, 1, NULL), 802, "the only launch that had not finished",
                "grid 7x1x1", "checked = true", "new process");
    const gpul_error *e = gpul_last_error();
    assert_non_null(strstr(e->caller_file, "test_faults.c"));
    assert_true(e->caller_line >= first_line && e->caller_line <= first_line + 2);
    assert_int_equal(e->detail_count, 1);
    assert_int_equal(e->details[0].line, e->caller_line);
    /* Every later call is told of the first fault, and takes no blame. */
    assert_code(gpul_read(&byte, a, 0, 1, NULL), 808, "an earlier fault ended this context",
                "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "'scale', grid 7x1x1", "new process");
    assert_code(launch_in(NULL, 1), 808, "grid 7x1x1");
    gpul_buffer *b;
    assert_code(gpul_alloc(&b, device, 8, NULL), 808, "700");
    assert_code(gpul_sync(device), 808, "700");
    gpul_buffer_free(&a);
}

static void all_pending_launches_are_listed(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 3; i++) assert_ok(launch_in(i == 2 ? stream : NULL, 10 + i));
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(gpul_sync(device), 802, "3 launches had not finished", "grid 11x1x1", "grid 12x1x1",
                "grid 13x1x1");
    assert_int_equal(gpul_last_error()->detail_count, 3);
    assert_null(gpul_last_error()->caller_file);
}

static void finished_launches_are_not_listed(void **state)
{
    (void)state;
    assert_ok(launch_in(NULL, 11));
    assert_ok(launch_in(stream, 12));
    assert_ok(gpul_stream_sync(stream)); /* covers 12 only */
    assert_ok(launch_in(stream, 13));
    gpul__record_fault(CUDA_ERROR_ASSERT);
    assert_code(gpul_sync(device), 805, "2 launches", "grid 11x1x1", "grid 13x1x1");
    assert_false(said("grid 12x1x1"));
}

static void nobody_is_blamed_when_all_had_finished(void **state)
{
    (void)state;
    assert_ok(launch_in(NULL, 1));
    assert_ok(launch_in(stream, 2));
    assert_ok(gpul_sync(device));
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(gpul_sync(device), 802, "every launch made through this device had finished");
    assert_int_equal(gpul_last_error()->detail_count, 0);
}

static void events_cover_launches(void **state)
{
    (void)state;
    gpul_event *event;
    assert_ok(gpul_event_new(&event, device));
    assert_ok(launch_in(stream, 21));
    assert_ok(gpul_event_record(event, stream));
    assert_ok(launch_in(stream, 22));
    assert_ok(gpul_event_sync(event));
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(gpul_sync(device), 802, "grid 22x1x1");
    assert_false(said("grid 21x1x1"));
    gpul_event_free(&event);
}

static void more_launches_than_are_remembered(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) assert_ok(launch_in(NULL, 1000 + i));
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(gpul_sync(device), 802, "at least 64 launches", "older launches", "grid 1099x1x1",
                "grid 1036x1x1");
    assert_int_equal(notes_with("grid "), 64);
}

static void a_launch_that_notices_is_not_blamed(void **state)
{
    (void)state;
    assert_ok(launch_in(NULL, 31));
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(launch_in(NULL, 32), 802, "grid 31x1x1");
    assert_false(said("grid 32x1x1"));
    assert_code(gpul_load(&(gpul_module *){ 0 }, device, NULL, NULL), 314, "image");
}

static void checked_mode_names_the_launch(void **state)
{
    gpul_stream_free(&stream);
    gpul_module_free(&module);
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, gpul_device_opts(.checked = true)));
    gpul_image *image = image_of(kernels_ptx);
    type_kernels(image);
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    assert_ok(launch_in(NULL, 41));
    int host = 1;
    gpul_buffer *a;
    assert_ok(gpul_alloc(&a, device, 64, NULL));
    size_t before = gpul__record_launches();
#define SCALE(address)                                                                             \
    gpul_launch(kernel_of("scale"), gpul_launch_opts(.grid = { 1 }, .block = { 1 }),               \
                gpul_args(gpul_address(address), 1, 1.0f))
    assert_code(SCALE((uintptr_t)&host), 316, "argument 1 of 'scale'", "'data'", "a host address",
                "gpul_alloc");
    assert_int_equal(gpul_last_error()->details[0].line, 10);
    assert_code(SCALE(0x10), 316, "0x10", "freed or never given out");
    assert_int_equal(gpul__record_launches(), before);
    assert_ok(SCALE(gpul_buffer_address(a)));
    assert_ok(SCALE(0));
    gpul__record_fault(CUDA_ERROR_MISALIGNED_ADDRESS);
    gpul_buffer_free(&a);
    (void)state;
}

/* A fault that appears while a checked launch is waited for is its own. */
static gpul__driver faulting;
static CUresult fault_in_wait(CUstream in)
{
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    return gpul__record_driver()->StreamSynchronize(in);
}

static void checked_mode_blames_exactly(void **state)
{
    (void)state;
    gpul_stream_free(&stream);
    gpul_module_free(&module);
    gpul_device_free(&device);
    faulting = *gpul__record_driver();
    gpul__driver_override(&faulting);
    assert_ok(gpul_open(&device, gpul_device_opts(.checked = true)));
    gpul_image *image = image_of(kernels_ptx);
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    assert_ok(launch_in(NULL, 50));
    faulting.StreamSynchronize = fault_in_wait;
    assert_code(launch_in(NULL, 51), 802,
                "'scale', grid 51x1x1, block 64x1x1: the kernel touched an address", "new process");
    assert_true(gpul_last_error()->caller_line >= first_line);
    assert_code(gpul_sync(device), 808, "grid 51x1x1");
}

/* ---- The ring itself ---- */

/* Names are copied, whatever the caller does with his own afterwards; the same name once. */
static void ring_keeps_names_of_callers(void **state)
{
    (void)state;
    static gpul__ring ring;
    static const uint32_t grid[3] = { 2147483647, 65535, 65534 }, block[3] = { 1024, 1023, 64 };
    char path[300];
    gpul__launch_record got[GPUL__RING_SLOTS];
    bool lost;
    long live = gpul__alloc_live();
    for (size_t length = 0; length < sizeof path; length++) {
        memset(path, 'd', length);
        path[length] = 0;
        uint64_t number = gpul__ring_enter(&ring, "k", 3, grid, block, 232448, path, 42);
        gpul__ring_submitted(&ring, number, 9);
        const char *kept = gpul__ring_keep_file(&ring, path);
        path[0] = 'X';
        assert_int_equal(gpul__ring_pending(&ring, got, GPUL__RING_SLOTS, &lost), 1);
        assert_ptr_equal(got[0].file, kept);
        assert_int_equal(strlen(kept), length);
        if (length) assert_int_equal(kept[0], 'd');
        assert_true(got[0].line == 42 && got[0].shared == 232448 && got[0].native == 9);
        assert_memory_equal(got[0].grid, grid, sizeof grid);
        assert_memory_equal(got[0].block, block, sizeof block);
        gpul__ring_finished(&ring, gpul__ring_mark(&ring), 3);
    }
    assert_int_equal(gpul__alloc_live(), live + (long)sizeof path);
    static const char literal[] = "file.c";
    for (int i = 0; i < 1000; i++) gpul__ring_enter(&ring, "k", 0, grid, block, 0, literal, i);
    assert_int_equal(gpul__alloc_live(), live + (long)sizeof path + 1);
    gpul__ring_enter(&ring, "k", 0, grid, block, 0, NULL, 0);
    assert_true(gpul__ring_pending(&ring, got, GPUL__RING_SLOTS, &lost) > 0);
    assert_null(got[0].file);
    assert_true(lost);
    gpul__ring_free(&ring);
    assert_int_equal(gpul__alloc_live(), live);
}

static void marks_cover_what_was_submitted_before(void **state)
{
    (void)state;
    static gpul__ring ring;
    static const uint32_t one[3] = { 1, 1, 1 };
    gpul__launch_record got[GPUL__RING_SLOTS];
    bool lost;
    uint64_t early = gpul__ring_enter(&ring, "early", 1, one, one, 0, NULL, 0);
    uint64_t late = gpul__ring_enter(&ring, "late", 1, one, one, 0, NULL, 0);
    uint64_t other = gpul__ring_enter(&ring, "other", 2, one, one, 0, NULL, 0);
    gpul__ring_submitted(&ring, early, 0);
    gpul__ring_submitted(&ring, other, 0);
    uint64_t mark = gpul__ring_mark(&ring);
    gpul__ring_submitted(&ring, late, 0); /* after the mark: the wait does not cover it */
    gpul__ring_finished(&ring, mark, 1);
    assert_int_equal(gpul__ring_pending(&ring, got, GPUL__RING_SLOTS, &lost), 2);
    assert_string_equal(got[0].kernel, "other");
    assert_string_equal(got[1].kernel, "late");
    gpul__ring_withdraw(&ring, other);
    gpul__ring_finished(&ring, gpul__ring_mark(&ring), GPUL__EVERY_STREAM);
    assert_int_equal(gpul__ring_pending(&ring, got, GPUL__RING_SLOTS, &lost), 0);
}

/* Many writers and a reader: what is read is whole. */
static gpul__ring busy;
static void *write_launches(void *pointer)
{
    uint32_t id = (uint32_t)(uintptr_t)pointer;
    const uint32_t dims[3] = { id, id, id };
    for (int i = 0; i < 20000; i++) {
        uint64_t number = gpul__ring_enter(&busy, "k", id, dims, dims, id, "file.c", (int)id);
        gpul__ring_submitted(&busy, number, id);
        if (i % 16 == 0) gpul__ring_finished(&busy, gpul__ring_mark(&busy), id);
    }
    return NULL;
}

static void readers_get_whole_launches(void **state)
{
    (void)state;
    pthread_t writers[4];
    gpul__launch_record got[GPUL__RING_SLOTS];
    bool lost;
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_launches, (void *)(i + 1)), 0);
    for (int round = 0; round < 2000; round++) {
        size_t count = gpul__ring_pending(&busy, got, GPUL__RING_SLOTS, &lost);
        for (size_t i = 0; i < count; i++) {
            uint32_t id = got[i].line;
            assert_true(id >= 1 && id <= 4);
            assert_true(got[i].stream == id && got[i].shared == id);
            for (int a = 0; a < 3; a++) assert_true(got[i].grid[a] == id && got[i].block[a] == id);
            assert_string_equal(got[i].file, "file.c");
        }
    }
    for (int i = 0; i < 4; i++) pthread_join(writers[i], NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_with_stream, close_with_stream)
    const struct CMUnitTest tests[] = {
        TEST(each_fault_has_its_code),
        TEST(the_only_launch_is_named),
        TEST(all_pending_launches_are_listed),
        TEST(finished_launches_are_not_listed),
        TEST(nobody_is_blamed_when_all_had_finished),
        TEST(events_cover_launches),
        TEST(more_launches_than_are_remembered),
        TEST(a_launch_that_notices_is_not_blamed),
        TEST(checked_mode_names_the_launch),
        TEST(checked_mode_blames_exactly),
        cmocka_unit_test(ring_keeps_names_of_callers),
        cmocka_unit_test(marks_cover_what_was_submitted_before),
        cmocka_unit_test(readers_get_whole_launches),
    };
    return gpul_run_tests("core faults", tests, NULL, NULL);
}
