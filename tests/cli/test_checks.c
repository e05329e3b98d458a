/* Comparing results, and the statistics of bench.  SPDX-License-Identifier: MIT */
#include "runner.h"

#undef fail /* cmocka's; the command has its own */

#include <math.h>
#include <string.h>

#include "tools/bench.h"
#include "tools/codes.h"
#include "tools/expect.h"
#include "tools/values.h"

typedef struct floats {
    float got[8], expected[8];
} floats;

static comparison compare(const floats *f, uint64_t count, tolerance t, const float *initial,
                          const float *second)
{
    buffer b = {
        .name = "y", .layout = layout_plain(GPUL_F32, 1), .shape = shape_flat(count), .count = count
    };
    expectation e = { .buffer = &b, .tolerance = t };
    comparison c;
    compare_begin(&c, 100);
    compare_range(&c, &e, 0, count, (const void *)f->got, (const void *)f->expected,
                  (const void *)initial, (const void *)second);
    compare_end(&c, &e);
    return c;
}

static void tolerances(void **state)
{
    (void)state;
    floats f = { { 1, 2, 3, 4 }, { 1, 2.0001f, 3, 4 } };
    assert_false(compare(&f, 4, (tolerance){ .rtol = 1e-6 }, NULL, NULL).passed);
    assert_true(compare(&f, 4, (tolerance){ .rtol = 1e-4 }, NULL, NULL).passed);
    assert_true(compare(&f, 4, (tolerance){ .atol = 2e-4 }, NULL, NULL).passed);
    assert_true(compare(&f, 4, (tolerance){ .fail = 1 }, NULL, NULL).passed);
    assert_true(
        compare(&f, 4, (tolerance){ .has_range = true, .range_from = 2, .range_to = 4 }, NULL, NULL)
            .passed);
    assert_true(compare(&f, 4, (tolerance){ .has_rmse = true, .rmse = 1e-4 }, NULL, NULL).passed);
    assert_false(compare(&f, 4, (tolerance){ .has_rmse = true, .rmse = 1e-5 }, NULL, NULL).passed);
    floats zeros = { { 0.0f }, { -0.0f } };
    assert_true(compare(&zeros, 1, (tolerance){ 0 }, NULL, NULL).passed);
    assert_false(compare(&zeros, 1, (tolerance){ .exact = true }, NULL, NULL).passed);
    floats near_one = { { 1 }, { nextafterf(nextafterf(1, 2), 2) } };
    assert_true(compare(&near_one, 1, (tolerance){ .has_ulp = true, .ulp = 2 }, NULL, NULL).passed);
    assert_false(
        compare(&near_one, 1, (tolerance){ .has_ulp = true, .ulp = 1 }, NULL, NULL).passed);
    floats across = { { 1e-45f }, { -1e-45f } }; /* two values around zero are two apart */
    assert_int_equal(compare(&across, 1, (tolerance){ .has_ulp = true }, NULL, NULL).largest_ulp,
                     2);
    floats nans = { { NAN, 1, NAN, INFINITY }, { NAN, NAN, 1, INFINITY } };
    comparison c = compare(&nans, 4, (tolerance){ .nan_equal = true, .rtol = 1 }, NULL, NULL);
    assert_int_equal(c.bad, 2);
    assert_int_equal(c.nans, 2);
    assert_int_equal(compare(&nans, 4, (tolerance){ .rtol = 1 }, NULL, NULL).bad, 3);
    floats infinite = { { INFINITY }, { 1e38f } };
    assert_false(compare(&infinite, 1, (tolerance){ .rtol = 1, .atol = 1e30 }, NULL, NULL).passed);
    mem_release();
}

static void where(void **state)
{
    (void)state;
    floats f = { { 0, 1, 9, 9, 4, 5, 9, 7 }, { 0, 1, 2, 3, 4, 5, 6, 7 } };
    float initial[8] = { 9, 9, 9, 9, 9, 9, 9, 9 }, second[8] = { 0, 1, 9, 9, 4, 5, 8, 7 };
    comparison c = compare(&f, 8, (tolerance){ 0 }, initial, NULL);
    assert_int_equal(c.bad, 3);
    assert_int_equal(c.unchanged, 3);
    assert_int_equal(c.gaps, 2);
    assert_int_equal(c.first_bad, 2);
    assert_int_equal(c.last_bad, 6);
    assert_int_equal(c.runs.items[0].length, 2);
    assert_int_equal(c.worst.index, 2);
    assert_true(c.needed_atol == 7);
    assert_int_equal(compare(&f, 8, (tolerance){ .atol = 100 }, NULL, second).unset, 1);
    mem_release();
}

static void integers(void **state)
{
    (void)state;
    int64_t got[2] = { INT64_MAX, INT64_MIN }, expected[2] = { INT64_MAX - 1, INT64_MIN };
    buffer b = {
        .name = "n", .layout = layout_plain(GPUL_I64, 1), .shape = shape_flat(2), .count = 2
    };
    expectation e = { .buffer = &b };
    comparison c;
    compare_begin(&c, 5);
    compare_range(&c, &e, 0, 2, (const void *)got, (const void *)expected, NULL, NULL);
    compare_end(&c, &e);
    assert_int_equal(c.bad, 1); /* a double could not tell them apart */
    assert_true(c.first.items[0].error == 1);
    mem_release();
}

static void medians(void **state)
{
    (void)state;
    double samples[101];
    for (int i = 0; i < 101; i++) samples[i] = 100 + (i * 37) % 101;
    series s = { .ns = samples, .count = 101 };
    series_summarise(&s);
    assert_true(s.median == 150 && s.least == 100 && s.most == 200);
    assert_true(s.low < 150 && s.low >= 139 && s.high > 150 && s.high <= 161);
    assert_true(s.mad == 25);
    double even[4] = { 4, 1, 3, 2 };
    series four = { .ns = even, .count = 4 };
    series_summarise(&four);
    assert_true(four.median == 2.5);
    double one[1] = { 7 };
    series single = { .ns = one, .count = 1 };
    series_summarise(&single);
    assert_true(single.median == 7 && single.low == 7 && single.high == 7);
    assert_true(series_apart(&single, &four));
    assert_false(series_apart(&s, &s));
}

/* Long arrays are compared by stretches: what stands in them is found all the same. */
static void stretches(void **state)
{
    (void)state;
    enum { LONG = 5000 };
    static float got[LONG], expected[LONG], second[LONG];
    buffer b = {
        .name = "y", .layout = layout_plain(GPUL_F32, 1), .shape = shape_flat(LONG), .count = LONG
    };
    expectation e = { .buffer = &b };
    comparison c;
    for (int i = 0; i < LONG; i++) got[i] = expected[i] = second[i] = (float)i;
    got[1024] = -1;
    expected[4095] = -1;
    got[3000] = expected[3000] = NAN;
    got[3001] = expected[3001] = INFINITY;
    second[4999] = 7;
    compare_begin(&c, 100);
    compare_range(&c, &e, 0, LONG, (const void *)got, (const void *)expected, NULL,
                  (const void *)second);
    compare_end(&c, &e);
    assert_int_equal(c.total, LONG);
    assert_int_equal(c.scalars, LONG - 2);
    assert_int_equal(c.nans, 1);
    assert_int_equal(c.first.items[0].index, 1024);
    assert_int_equal(c.first.items[1].index, 3000);
    assert_int_equal(c.first.items[2].index, 3001); /* the second run did not write it so */
    assert_int_equal(c.first.items[3].index, 4095);
    assert_int_equal(c.first.items[4].index, 4999);
    assert_int_equal(c.bad, 5);
    assert_int_equal(c.unset, 4); /* these and the first, which differs from both */
}

static void statuses(void **state)
{
    (void)state;
    assert_int_equal(exit_status_of(CODE_ARGS_TYPE), 2);
    assert_int_equal(exit_status_of(CODE_FILE_SIZE), 5);
    assert_int_equal(exit_status_of(CODE_COMPILE_ERROR), 3);
    assert_int_equal(exit_status_of(CODE_COMPILE_OPTION), 2);
    assert_int_equal(exit_status_of(CODE_LAUNCH_LIMIT), 2);
    assert_int_equal(exit_status_of(CODE_EXECUTE_ADDRESS), 4);
    assert_int_equal(exit_status_of(CODE_EXECUTE_TIMEOUT), 124);
    assert_int_equal(exit_status_of(CODE_CHECK_DIFFERS), 1);
    assert_int_equal(exit_status_of(CODE_ENV_REQUIRE_GPU), 4);
    assert_string_equal(layer_of(CODE_EXECUTE_ADDRESS), "execute");
    assert_string_equal(layer_of(-1), "internal");
}

GPUL_TEST_MAIN("cli checks", cmocka_unit_test(tolerances), cmocka_unit_test(where),
               cmocka_unit_test(integers), cmocka_unit_test(medians), cmocka_unit_test(stretches),
               cmocka_unit_test(statuses));
