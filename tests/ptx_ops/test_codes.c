/* Conversions of the 16-bit and 8-bit formats over all their codes, in every variant.
 * SPDX-License-Identifier: MIT */
#include "../runner.h"

#include <stdio.h>

#include "harness.h"

static form_list list;

static int setup(void **state)
{
    (void)state;
    return form_list_make(&list) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    form_list_free(&list);
    return 0;
}

typedef void filler(uint64_t (*rows)[4], const form *f, uint32_t first);

/* Runs forms that `wanted` picks on inputs number 0 to count - 1. */
static void run_all(bool (*wanted)(const form *), filler *fill, uint32_t count)
{
    harness h;
    unsigned forms = 0;
    assert_true(harness_start(&h));
    for (size_t v = 0; ptx_isa_variants[v] != NULL; v++) {
        h.isa = ptx_isa_variants[v];
        if (!ptx_isa_available(h.isa)) continue;
        for (size_t i = 0; i < list.count; i++) {
            const form *f = &list.items[i];
            if (!wanted(f) || harness_row(&h, f) == NULL) continue;
            forms++;
            for (uint32_t at = 0; at < count; at += WARP_LANES) {
                uint64_t rows[WARP_LANES][4] = { 0 };
                fill(rows, f, at);
                harness_run(&h, f, rows, ALL_LANES, false, "all");
            }
        }
    }
    const unsigned bad = h.bad;
    harness_end(&h);
    assert_true(forms >= 12);
    assert_int_equal(bad, 0);
}

static bool takes_16_bits(const form *f)
{
    const form_type s = f->source[0];
    return f->source_count == 1 && form_bits(s) == 16 &&
           (form_is_float(s) || s == TYPE_E4M3X2 || s == TYPE_E5M2X2) &&
           (form_is_float(f->d) || !form_has(f, "sat")); /* the same rows as without */
}

static void every_code(uint64_t (*rows)[4], const form *f, uint32_t first)
{
    (void)f;
    for (unsigned l = 0; l < WARP_LANES; l++) rows[l][0] = first + l;
}

static void all_codes_of_halves_and_bytes(void **state)
{
    (void)state;
    run_all(takes_16_bits, every_code, 65536);
}

/* The plain forms: what .ftz, .sat and .relu add comes after the rounding. */
static bool narrows(const form *f)
{
    return form_is(f, "cvt") && f->source[0] == TYPE_F32 && !form_has(f, "ftz") &&
           !form_has(f, "sat") && !form_has(f, "relu") &&
           (f->d == TYPE_F16 || f->d == TYPE_BF16 || form_has(f, "e4m3x2") ||
            form_has(f, "e5m2x2"));
}

/* For each code of the upper 16 bits of a float, and for each half: the value itself, the middle to the next
 * one, and the floats on both sides of these. */
static void around_codes(uint64_t (*rows)[4], const form *f, uint32_t first)
{
    (void)f;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint32_t index = first + l, bits = index >> 3, side = index & 7;
        uint32_t base = bits << 16; /* bf16, and by its upper bits all others */
        if (side >= 4) {            /* f16 and what lies between two of them */
            const uint64_t exact =
                number_encode(number_format_of(TYPE_F32),
                              number_decode(number_format_of(TYPE_F16), bits), ROUND_NEAREST);
            base = (uint32_t)exact;
        }
        static const int32_t offsets[8] = { 0, 0x7fff, 0x8000, 0x8001, 0, 0xfff, 0x1000, 0x1001 };
        rows[l][0] = base + (uint32_t)offsets[side];
        rows[l][1] = base ^ 0x80000000u;
    }
}

static void all_boundaries_of_halves(void **state)
{
    (void)state;
    run_all(narrows, around_codes, 65536 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_codes_of_halves_and_bytes),
        cmocka_unit_test(all_boundaries_of_halves),
    };
    return gpul_run_tests("exhaustive conversions", tests, setup, teardown);
}
