/* Large copies by way of pinned memory, and files, over the recording provider.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <unistd.h>

#include "core/staging.h"

enum { SIZE = (16 << 20) + 12345 };

static unsigned char *bytes, *got;

static int open_memory(void **state)
{
    bytes = malloc(SIZE);
    got = malloc(SIZE);
    if (!bytes || !got) return -1;
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * 31 + (i >> 13));
    memset(got, 0, SIZE);
    use_record(NULL);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    (void)state;
    assert_ok(gpul_open(&device, NULL));
    return 0;
}

static int close_memory(void **state)
{
    (void)state;
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    gpul_device_free(&device);
    free(bytes);
    free(got);
    if (*gpul__record_leaks()) fail_msg("left behind: %s", gpul__record_leaks());
    gpul__driver_override(NULL);
    return 0;
}

static gpul_buffer *buffer_of(size_t size)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, size, NULL));
    return buffer;
}

static void large_copies_go_through_pinned_memory(void **state)
{
    (void)state;
    gpul_buffer *b = buffer_of(SIZE + 64);
    assert_ok(gpul_write(b, 0, bytes, GPUL__STAGING_LEAST - 1, NULL));
    assert_int_equal(gpul__record_live().host_allocations, 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(gpul_write(b, 17, bytes, SIZE, NULL));
        memset(got, 0, SIZE);
        assert_ok(gpul_read(got, b, 17, SIZE, NULL));
        assert_memory_equal(bytes, got, SIZE);
        assert_int_equal(gpul__record_live().host_allocations, 1);
    }
    gpul_buffer_free(&b);
}

static void pinned_memory_and_streams_go_the_short_way(void **state)
{
    (void)state;
    gpul_buffer *b = buffer_of(SIZE), *pinned;
    gpul_stream *stream;
    assert_ok(gpul_alloc(&pinned, device, SIZE, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_write(b, 0, gpul_buffer_host(pinned), SIZE, NULL));
    assert_ok(gpul_write(b, 0, bytes, SIZE, stream));
    assert_ok(gpul_read(got, b, 0, SIZE, stream));
    assert_ok(gpul_stream_sync(stream));
    assert_memory_equal(bytes, got, SIZE);
    assert_int_equal(gpul__record_live().host_allocations, 1);
    gpul_stream_free(&stream);
    gpul_buffer_free(&pinned);
    gpul_buffer_free(&b);
}

static void without_pinned_memory_the_driver_copies(void **state)
{
    (void)state;
    gpul_buffer *b = buffer_of(SIZE);
    static const char *const entries[] = { "cuMemHostAlloc", "cuEventCreate" };
    for (int i = 0; i < 2; i++) {
        gpul__fault_entry(entries[i], 1, CUDA_ERROR_OUT_OF_MEMORY);
        assert_ok(gpul_write(b, 0, bytes, SIZE, NULL));
        assert_int_equal(gpul__record_live().host_allocations, 0);
        assert_int_equal(gpul__record_live().events, 0);
    }
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    assert_ok(gpul_read(got, b, 0, SIZE, NULL));
    assert_memory_equal(bytes, got, SIZE);
    gpul_buffer_free(&b);
}

static void a_refused_part_is_told(void **state)
{
    (void)state;
    gpul_buffer *b = buffer_of(SIZE);
    gpul__fault_entry("cuMemcpyHtoDAsync_v2", 5, CUDA_ERROR_INVALID_VALUE);
    assert_code(gpul_write(b, 0, bytes, SIZE, NULL), 814, "gpul_write");
    gpul__fault_entry("cuEventSynchronize", 3, CUDA_ERROR_INVALID_HANDLE);
    assert_int_not_equal(gpul_read(got, b, 0, SIZE, NULL), GPUL_OK);
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    assert_ok(gpul_write(b, 0, bytes, SIZE, NULL));
    assert_ok(gpul_read(got, b, 0, SIZE, NULL));
    assert_memory_equal(bytes, got, SIZE);
    gpul_buffer_free(&b);
}

static void files_are_streamed(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, SIZE, file), SIZE);
    assert_int_equal(fflush(file), 0);
    int fd = fileno(file);
    gpul_buffer *b = buffer_of(SIZE);
    off_t before = lseek(fd, 0, SEEK_CUR);
    assert_ok(gpul_write_file(b, 0, fd, 0, SIZE));
    assert_ok(gpul_read(got, b, 0, SIZE, NULL));
    assert_memory_equal(bytes, got, SIZE);
    assert_true(lseek(fd, 0, SEEK_CUR) == before);
    size_t part = 3 << 20;
    assert_ok(gpul_write_file(b, 100, fd, 777, part));
    assert_ok(gpul_read(got, b, 0, SIZE, NULL));
    assert_memory_equal(got, bytes, 100);
    assert_memory_equal(got + 100, bytes + 777, part);
    assert_memory_equal(got + 100 + part, bytes + 100 + part, 1000);
    assert_ok(gpul_write_file(b, 0, -1, 0, 0));

    assert_code(gpul_write_file(b, 0, fd, 1, SIZE), 401, "ends before byte");
    assert_code(gpul_write_file(b, 0, fd, SIZE - 5, 10), 401, "ends before byte");
    assert_code(gpul_write_file(b, 0, -1, 0, 10), 401, "read");
    assert_code(gpul_write_file(b, 0, -1, 0, SIZE), 401, "read");
    assert_code(gpul_write_file(b, 1, fd, 0, SIZE), 810, "offset 1");
    assert_code(gpul_write_file(b, 0, fd, UINT64_MAX, 10), 315, "10 bytes");
    assert_code(gpul_write_file(NULL, 0, fd, 0, 10), 314, "destination");
    gpul_buffer_free(&b);
    fclose(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_memory, close_memory)
GPUL_TEST_MAIN("large copies of the core", TEST(large_copies_go_through_pinned_memory),
               TEST(pinned_memory_and_streams_go_the_short_way),
               TEST(without_pinned_memory_the_driver_copies), TEST(a_refused_part_is_told),
               TEST(files_are_streamed));
