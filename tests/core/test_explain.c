/* The catalogue of error codes: one whole entry for each, and none besides.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "runner.h"

static void check_text(int code, const char *what, const char *text, size_t least, bool lines)
{
    if (!text || strlen(text) < least) fail_msg("GL%04d: no %s", code, what);
    if (text[strlen(text) - 1] != '.')
        fail_msg("GL%04d: %s does not end in a full stop", code, what);
    if (!lines && strchr(text, '\n')) fail_msg("GL%04d: %s has several lines", code, what);
    if (strstr(text, "\n\n") || strstr(text, "  ") || strchr(text, '\t'))
        fail_msg("GL%04d: stray blanks in %s", code, what);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (*line == ' ' || *line == '\n' || !*line) fail_msg("GL%04d: a line of %s", code, what);
}

static void every_code_has_an_entry(void **state)
{
    (void)state;
    size_t i = 0;
    for (const gpul__code_row *row; (row = gpul__code_row_at(i)); i++) {
        const gpul_code_info *info = gpul_code_find(row->code);
        assert_non_null(info);
        assert_ptr_equal(info, gpul_code_at(i));
        assert_int_equal(info->code, row->code);
        assert_int_equal(info->layer, row->layer);
        assert_int_equal(info->status, row->status);
        assert_string_equal(info->title, row->title);
        check_text(row->code, "meaning", info->meaning, 40, false);
        check_text(row->code, "causes", info->causes, 20, true);
        check_text(row->code, "remedy", info->remedy, 20, true);
        assert_string_not_equal(gpul_layer_text(info->layer), "none");
        assert_int_not_equal(info->status, GPUL_OK);
    }
    assert_true(i > 100);
    assert_null(gpul_code_at(i));
    assert_null(gpul_code_find(0));
    assert_null(gpul_code_find(-1));
    assert_null(gpul_code_find(12345));
}

/* A CUDA name in a text stands with its own number. */
static void names_and_numbers_agree(void **state)
{
    (void)state;
    size_t seen = 0;
    for (size_t i = 0; gpul_code_at(i); i++) {
        const char *text = gpul_code_at(i)->meaning;
        for (const char *at = text; (at = strstr(at, "CUDA_ERROR_")); at++) {
            size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
            int number = -1;
            if (sscanf(at + length, " (%d)", &number) != 1) continue;
            const char *name = gpul_native_name(GPUL_NATIVE_CUDA, number);
            if (strlen(name) != length || strncmp(name, at, length) != 0)
                fail_msg("GL%04d: %.*s is not %d", gpul_code_at(i)->code, (int)length, at, number);
            seen++;
        }
    }
    assert_true(seen > 40);
}

static void the_library_tells_its_version(void **state)
{
    (void)state;
    assert_string_equal(gpul_version(), GPUL_VERSION);
}

GPUL_TEST_MAIN("core explain", cmocka_unit_test(every_code_has_an_entry),
               cmocka_unit_test(names_and_numbers_agree),
               cmocka_unit_test(the_library_tells_its_version));
