/* Every row of the arithmetic tables against the reference: all lanes, some lanes, and in place, in every
 * instruction set variant that this processor runs.  PTX_OPS_ONLY=prefix restricts the instructions.
 * SPDX-License-Identifier: MIT */
#include "../runner.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

enum { ROUNDS = 8 };

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

static void check_form(harness *h, const form *f)
{
    uint64_t rows[FORM_INPUTS][4];
    for (unsigned round = 0; round < ROUNDS; round++) {
        form_inputs(f, rows, FORM_INPUTS, round);
        for (unsigned i = 0; i < FORM_INPUTS; i += WARP_LANES) {
            const uint32_t random = (uint32_t)form_random(round, i) | 1u << (i / WARP_LANES);
            const uint32_t some = random == ALL_LANES ? 0x7fffffff : random;
            harness_run(h, f, rows + i, ALL_LANES, false, "all");
            harness_run(h, f, rows + i, some, false, "some");
            if (round == 0 && harness_fits_in_place(f))
                harness_run(h, f, rows + i, i & 32 ? ALL_LANES : some, true, "in place");
        }
    }
}

static void every_row_agrees_with_the_reference(void **state)
{
    (void)state;
    unsigned missing = 0;
    harness h;
    const char *only = getenv("PTX_OPS_ONLY");
    assert_true(harness_start(&h));
    for (size_t v = 0; ptx_isa_variants[v] != NULL; v++) {
        h.isa = ptx_isa_variants[v];
        if (!ptx_isa_available(h.isa)) continue;
        for (size_t i = 0; i < list.count; i++) {
            const form *f = &list.items[i];
            if (only != NULL && strncmp(f->name, only, strlen(only)) != 0) continue;
            const op_entry *row = harness_row(&h, f);
            if (row != NULL) check_form(&h, f);
            if ((row == NULL) == harness_in_steps(f)) continue;
            if (missing++ < HARNESS_SHOWN)
                printf("%s: %s\n", row ? "a row too many" : "no row", f->name);
        }
    }
    const unsigned bad = h.bad;
    harness_end(&h);
    assert_int_equal(missing, 0);
    assert_int_equal(bad, 0);
}

/* No row stays untested: each name in the tables of arithmetic is one that the list has. */
static void every_name_is_in_the_list(void **state)
{
    (void)state;
    unsigned unknown = 0;
    const isa_variant *isa = ptx_isa_variants[0];
    for (size_t t = 1; isa->tables[t] != NULL; t++) /* the first holds the moves */
        for (size_t i = 0; i < isa->tables[t]->count; i++) {
            char names[1024];
            assert_true(strlen(isa->tables[t]->rows[i].names) < sizeof names);
            if (!strncmp(isa->tables[t]->rows[i].names, "lower.", 6)) continue; /* no instruction */
            strcpy(names, isa->tables[t]->rows[i].names);
            for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
                size_t at = 0;
                while (at < list.count && strcmp(list.items[at].name, name) != 0) at++;
                if (at == list.count && unknown++ < HARNESS_SHOWN)
                    printf("not in the list: %s\n", name);
            }
        }
    assert_int_equal(unknown, 0);
}

static void no_name_stands_twice(void **state)
{
    (void)state;
    const char *twice = ptx_op_duplicate(ptx_isa_variants[0]);
    if (twice != NULL) printf("twice: %s\n", twice);
    assert_null(twice);
}

/* Quotients are made of rounded ones: the dividends next to multiples of the divisor are the hard ones. */
static void divisions_next_to_multiples(void **state)
{
    (void)state;
    harness h;
    form f;
    assert_true(harness_start(&h));
    for (size_t v = 0; ptx_isa_variants[v] != NULL; v++) {
        h.isa = ptx_isa_variants[v];
        if (!ptx_isa_available(h.isa)) continue;
        static const char *const names[] = { "div.u32", "div.s32", "rem.u32", "rem.s32",
                                             "div.u16", "div.s16", "rem.u16", "rem.s16" };
        for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
            assert_true(form_parse(&f, names[n]));
            assert_non_null(harness_row(&h, &f));
            for (unsigned i = 0; i < 2000; i++) {
                uint64_t rows[WARP_LANES][4] = { 0 };
                for (unsigned l = 0; l < WARP_LANES; l++) {
                    const uint64_t r = form_random(n, i * WARP_LANES + l);
                    const unsigned bits = form_bits(f.d), shift = r >> 40 & (bits - 1);
                    const uint64_t b = (uint32_t)r >> (32 - bits) >> shift;
                    const uint64_t k = form_random(r, 1) >> (64 - bits) >> (bits - 1 - shift);
                    rows[l][0] = b * k + (r >> 50) % 3 - 1;
                    rows[l][1] = b;
                }
                harness_run(&h, &f, rows, ALL_LANES, false, "all");
            }
        }
    }
    const unsigned bad = h.bad;
    harness_end(&h);
    assert_int_equal(bad, 0);
}

/* The instructions of groups 1 to 14 that occur in the corpora, one a line in census.txt. */
static void the_census_has_rows(void **state)
{
    (void)state;
    unsigned missing = 0, count = 0;
    char name[128];
    FILE *file = fopen(CENSUS_FILE, "r");
    assert_non_null(file);
    while (fgets(name, sizeof name, file) != NULL) {
        bool failed = false;
        name[strcspn(name, "\n")] = 0;
        count++;
        if (ptx_op_named(ptx_isa_variants[0], name, &failed) != NULL) continue;
        form f;
        if (form_parse(&f, name) && harness_in_steps(&f)) continue;
        printf("no row: %s\n", name);
        missing++;
    }
    fclose(file);
    assert_true(count > 300);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_agrees_with_the_reference),
        cmocka_unit_test(every_name_is_in_the_list),
        cmocka_unit_test(no_name_stands_twice),
        cmocka_unit_test(divisions_next_to_multiples),
        cmocka_unit_test(the_census_has_rows),
    };
    return gpul_run_tests("arithmetic", tests, setup, teardown);
}
