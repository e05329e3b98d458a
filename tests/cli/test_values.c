/* Values, shapes, halves and the generators.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen.h"
#include "tools/half.h"
#include "tools/shape.h"
#include "tools/values.h"

static value_fault parse(gpul_type type, const char *source, void *out)
{
    return value_parse(out, type, source, strlen(source));
}

#define whole_is(type, source, expected)                                                           \
    do {                                                                                           \
        int64_t got_ = 0;                                                                          \
        unsigned char bytes_[8] = { 0 };                                                           \
        assert_int_equal(parse(type, source, bytes_), VALUE_FINE);                                 \
        got_ = value_to_int(type, bytes_);                                                         \
        assert_true(got_ == (int64_t)(expected));                                                  \
    } while (0)
#define fault_is(type, source, fault)                                                              \
    do {                                                                                           \
        unsigned char bytes_[8] = { 0 };                                                           \
        assert_int_equal(parse(type, source, bytes_), fault);                                      \
    } while (0)

static void integers(void **state)
{
    (void)state;
    whole_is(GPUL_I32, "42", 42);
    whole_is(GPUL_I32, "-7", -7);
    whole_is(GPUL_I32, "+7", 7);
    whole_is(GPUL_I32, "0x1f", 31);
    whole_is(GPUL_I32, "-0x10", -16);
    whole_is(GPUL_I32, "0b101", 5);
    whole_is(GPUL_I32, "1_000_000", 1000000);
    whole_is(GPUL_I32, "64K", 65536);
    whole_is(GPUL_I32, "1M", 1048576);
    whole_is(GPUL_I64, "4G", 4294967296);
    whole_is(GPUL_U64, "18446744073709551615", UINT64_MAX);
    whole_is(GPUL_I64, "-9223372036854775808", INT64_MIN);
    whole_is(GPUL_I32, "1e6", 1000000);
    whole_is(GPUL_I32, "2.50e1", 25);
    whole_is(GPUL_I32, "0", 0);
    whole_is(GPUL_I32, "2147483647", 2147483647);
    whole_is(GPUL_I32, "-2147483648", INT32_MIN);
    whole_is(GPUL_U8, "'A'", 65);
    whole_is(GPUL_BOOL, "true", 1);
    whole_is(GPUL_BOOL, "false", 0);
    whole_is(GPUL_BOOL, "1", 1);
    fault_is(GPUL_I32, "2.5", VALUE_NOT_WHOLE);
    fault_is(GPUL_I32, "1e-3", VALUE_NOT_WHOLE);
    fault_is(GPUL_I32, "4G", VALUE_RANGE);
    fault_is(GPUL_I32, "2147483648", VALUE_RANGE);
    fault_is(GPUL_I32, "1e60", VALUE_RANGE);
    fault_is(GPUL_U32, "-1", VALUE_RANGE);
    fault_is(GPUL_U8, "256", VALUE_RANGE);
    fault_is(GPUL_BOOL, "2", VALUE_RANGE);
    fault_is(GPUL_I32, "010", VALUE_OCTAL);
    fault_is(GPUL_I32, "", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "-", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "abc", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "1K2", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "0x", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "1__0_", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, " 1", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "nan", VALUE_NO_NUMBER);
    fault_is(GPUL_I32, "1e", VALUE_NO_NUMBER);
    assert_string_equal(value_whole_text("4G", 2), "4294967296");
    assert_null(value_whole_text("2.5", 3));
}

static void floats(void **state)
{
    (void)state;
    float f;
    double d;
    uint16_t h;
    assert_int_equal(parse(GPUL_F32, "2.5", &f), VALUE_FINE);
    assert_true(f == 2.5f);
    assert_int_equal(parse(GPUL_F32, "0.1", &f), VALUE_FINE);
    assert_true(f == 0.1f);
    assert_int_equal(parse(GPUL_F64, "0.1", &d), VALUE_FINE);
    assert_true(d == 0.1);
    assert_int_equal(parse(GPUL_F32, "-inf", &f), VALUE_FINE);
    assert_true(isinf(f) && f < 0);
    assert_int_equal(parse(GPUL_F64, "nan", &d), VALUE_FINE);
    assert_true(isnan(d));
    assert_int_equal(parse(GPUL_F64, "0x1p-4", &d), VALUE_FINE);
    assert_true(d == 0.0625);
    assert_int_equal(parse(GPUL_F32, "64K", &f), VALUE_FINE);
    assert_true(f == 65536.f);
    /* rounding once, not by way of double: 1 + 2^-24 + 2^-54 lies above the tie */
    assert_int_equal(
        parse(GPUL_F32, "1.000000059604644830901776231257827021181583404541015625", &f),
        VALUE_FINE);
    assert_true(f == 0x1.000002p0f);
    fault_is(GPUL_F32, "1e39", VALUE_RANGE);
    fault_is(GPUL_F16, "70000", VALUE_RANGE);
    fault_is(GPUL_F64, "1e999", VALUE_RANGE);
    fault_is(GPUL_F32, "1,5", VALUE_NO_NUMBER);
    fault_is(GPUL_F32, "1.5f", VALUE_NO_NUMBER);
    fault_is(GPUL_F32, "", VALUE_NO_NUMBER);
    assert_int_equal(parse(GPUL_F16, "3", &h), VALUE_FINE);
    assert_int_equal(h, 0x4200);
    assert_int_equal(parse(GPUL_BF16, "1", &h), VALUE_FINE);
    assert_int_equal(h, 0x3f80);
}

static void halves(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) { /* every value comes back */
        double h = half_to_double((uint16_t)bits), b = bfloat_to_double((uint16_t)bits);
        if (!isnan(h)) assert_int_equal(half_from_double(h), bits);
        if (!isnan(b)) assert_int_equal(bfloat_from_double(b), bits);
    }
    assert_int_equal(half_from_double(65519), 0x7bff); /* below the middle to 65536 */
    assert_int_equal(half_from_double(65520), 0x7c00); /* the tie goes to the even one: infinity */
    assert_int_equal(half_from_double(1 + 0x1p-11), 0x3c00);
    assert_int_equal(half_from_double(1 + 0x1.8p-10), 0x3c02);
    assert_int_equal(half_from_double(0x1p-25), 0);
    assert_int_equal(half_from_double(0x1.8p-25), 1);
    assert_int_equal(half_from_double(-0.0), 0x8000);
}

static void printing(void **state)
{
    (void)state;
    float values[] = { 0.1f, 2.5f, 1e-45f, 3.4028235e38f, 1 / 3.f, -0.f };
    const char *expected[] = { "0.1", "2.5", "1e-45", "3.4028235e+38", "0.33333334", "-0" };
    for (int i = 0; i < 6; i++) {
        text out = { 0 };
        value_print(&out, GPUL_F32, &values[i], 0);
        assert_string_equal(text_of(&out), expected[i]);
    }
    text out = { 0 };
    uint64_t large = UINT64_MAX;
    value_print(&out, GPUL_U64, &large, 0);
    assert_string_equal(text_of(&out), "18446744073709551615");
    mem_release();
}

static void shapes(void **state)
{
    (void)state;
    shape s;
    const char *fault;
    uint64_t n[3];
    unsigned rank;
    assert_true(shape_parse(&s, "640x480", 7, &fault));
    assert_int_equal(s.rank, 2);
    assert_int_equal(shape_count(&s), 307200);
    assert_true(shape_parse(&s, "1Kx2x3", 6, &fault));
    assert_int_equal(shape_count(&s), 6144);
    assert_true(shape_parse(&s, "0x10", 4, &fault));
    assert_int_equal(s.dim[0], 16);
    assert_false(shape_parse(&s, "0x10x2x3x4", 10, &fault));
    assert_non_null(fault);
    assert_false(shape_parse(&s, "0", 1, &fault));
    assert_non_null(fault);
    assert_false(shape_parse(&s, "2.5", 3, &fault));
    assert_non_null(fault);
    assert_false(shape_parse(&s, "16Gx16Gx16G", 11, &fault));
    assert_non_null(fault);
    assert_false(shape_parse(&s, "abc", 3, &fault));
    assert_null(fault);
    assert_false(shape_parse(&s, "640x", 4, &fault));
    assert_true(triple_parse(n, &rank, "1,2,3") && rank == 3 && n[2] == 3);
    assert_true(triple_parse(n, &rank, "64K") && rank == 1 && n[0] == 65536);
    assert_false(triple_parse(n, &rank, "1,2,3,4"));
    assert_false(triple_parse(n, &rank, "1,"));
    assert_false(triple_parse(n, &rank, "16x16"));
    mem_release();
}

static void random_values(void **state)
{
    (void)state;
    uint64_t x = gen_key(1, "x"), y = gen_key(1, "y"), second = gen_key(2, "x");
    assert_true(x != y && x != second);
    /* fixed for all time: data of a seed must not change from one version to the next */
    assert_true(gen_bits(x, 0) == 0xbf2fe1bf8d53b8f2);
    assert_true(gen_bits(0, 0) == 0x48218226ff3cd4bf);
    double sum = 0, squares = 0;
    enum { COUNT = 200000 };
    for (int i = 0; i < COUNT; i++) {
        double u = gen_unit(x, (uint64_t)i), n = gen_normal(x, (uint64_t)i);
        assert_true(u >= 0 && u < 1);
        assert_true(gen_below(x, (uint64_t)i, 7) < 7);
        sum += n;
        squares += n * n;
    }
    assert_true(fabs(sum / COUNT) < 0.01);
    assert_true(fabs(squares / COUNT - 1) < 0.02);
    for (uint64_t count = 1; count < 300; count += 7) {
        bool seen[300] = { false };
        for (uint64_t i = 0; i < count; i++) {
            uint64_t p = gen_permuted(x, i, count);
            assert_true(p < count && !seen[p]);
            seen[p] = true;
        }
    }
}

GPUL_TEST_MAIN("cli values", cmocka_unit_test(integers), cmocka_unit_test(floats),
               cmocka_unit_test(halves), cmocka_unit_test(printing), cmocka_unit_test(shapes),
               cmocka_unit_test(random_values));
