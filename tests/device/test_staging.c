/* Large copies of pageable memory and of files, on the CPU device and on a GPU.  SPDX-License-Identifier: MIT */
#include "suite.h"

enum { SIZE = (40 << 20) + 4321 };

static unsigned char *put, *got;

static void bytes_come_back(void **state)
{
    (void)state;
    gpul_buffer *b = buffer_of(SIZE + 8, NULL);
    for (int i = 0; i < 3; i++) {
        for (size_t at = 0; at < SIZE; at++) put[at] = (unsigned char)(at * 13 + (at >> 11) + i);
        memset(got, 0, SIZE);
        assert_ok(gpul_write(b, 3, put, SIZE, NULL));
        assert_ok(gpul_read(got, b, 3, SIZE, NULL));
        assert_memory_equal(put, got, SIZE);
    }
    gpul_buffer_free(&b);
}

static void a_file_comes_over(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(put, 1, SIZE, file), SIZE);
    assert_int_equal(fflush(file), 0);
    gpul_buffer *b = buffer_of(SIZE, NULL);
    memset(got, 0, SIZE);
    assert_ok(gpul_write_file(b, 0, fileno(file), 0, SIZE));
    assert_ok(gpul_read(got, b, 0, SIZE, NULL));
    assert_memory_equal(put, got, SIZE);
    assert_code(gpul_write_file(b, 0, fileno(file), 1, SIZE), 401, "ends before byte");
    gpul_buffer_free(&b);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_come_back),
                                        cmocka_unit_test(a_file_comes_over) };
    put = malloc(SIZE);
    got = malloc(SIZE);
    int result = put && got ? gpul_run_tests("large copies", tests, open_device, close_device) : 1;
    free(put);
    free(got);
    return result;
}
