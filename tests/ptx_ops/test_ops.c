/* Every row of the arithmetic tables against the reference: all lanes, some lanes, and in place, in every
 * instruction set variant that this processor runs.  SPDX-License-Identifier: MIT */
#include "../runner.h"

#include <stdio.h>
#include <stdlib.h>

#include "ptx/exec/isa.h"
#include "ptx/exec/warp.h"
#include "ref.h"

enum { ROUNDS = 8, SHOWN = 25, SLOT = 256, FILL = 0x5a };

/* Slots: d, e, then the sources, then two predicates. */
enum { AT_D = 0, AT_SOURCE = SLOT, AT_P = 6 * SLOT, AT_Q = 6 * SLOT + 64, REGS = 7 * SLOT };

static form_list list;
static const char *only;

static int setup(void **state)
{
    (void)state;
    only = getenv("PTX_OPS_ONLY");
    return form_list_make(&list) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    form_list_free(&list);
    return 0;
}

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static void put_sources(uint8_t *regs, const form *f, uint64_t (*rows)[4])
{
    for (unsigned o = 0; o < f->source_count; o++) {
        uint8_t *slot = regs + AT_SOURCE + o * SLOT;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            const uint64_t value = rows[l][o];
            if (form_bits(f->source[o]) == 64) memcpy(slot + 8 * l, &value, 8);
            else memcpy(slot + 4 * l, &value, 4);
        }
    }
}

/* What lane l got: predicates as the reference gives them, the rest with all bits of the slot. */
static uint64_t result_of(const uint8_t *regs, const form *f, unsigned l, uint32_t at)
{
    uint32_t word, second;
    uint64_t value;
    if (f->d == TYPE_PRED) {
        memcpy(&word, regs + AT_P, 4);
        memcpy(&second, regs + AT_Q, 4);
        return (word >> l & 1) | (f->pair ? (uint64_t)(second >> l & 1) << 1 : 0);
    }
    if (form_bits(f->d) == 64) {
        memcpy(&value, regs + at + 8 * l, 8);
        return value;
    }
    memcpy(&word, regs + at + 4 * l, 4);
    return word;
}

/* A narrow result fills its slot: by its sign when the type has one, with zeros otherwise. */
static bool extended(const form *f, uint64_t got)
{
    const unsigned bits = form_bits(f->d);
    if (bits >= 32 || f->d == TYPE_PRED) return true;
    uint32_t want = (uint32_t)(got & mask_of(bits));
    const bool by_sign = f->d == TYPE_S8 || f->d == TYPE_S16;
    if (by_sign && want >> (bits - 1) & 1) want |= (uint32_t)~mask_of(bits);
    /* A row may serve s16 and u16: then either extension will do. */
    return got == want || got == (got & mask_of(bits)) ||
           (uint32_t)got == (uint32_t)(int32_t)(bits == 8 ? (int8_t)got : (int16_t)got);
}

typedef struct run {
    const isa_variant *isa;
    const op_entry *row;
    insn code;
    warp *warp;
    uint8_t *regs;
    unsigned *bad;
} run;

static void complain(const run *r, const form *f, const uint64_t in[4], uint64_t got,
                     const char *expected, const char *how)
{
    if ((*r->bad)++ >= SHOWN) return;
    printf("%s %s %s(", r->isa->name, how, f->name);
    for (unsigned i = 0; i < f->source_count; i++)
        printf("%s%llx", i ? ", " : "",
               (unsigned long long)(in[i] & mask_of(form_bits(f->source[i]))));
    printf(") = %llx, not %s\n", (unsigned long long)got, expected);
}

static void check_lanes(const run *r, const form *f, uint64_t (*rows)[4], uint32_t mask,
                        uint32_t at, const uint8_t *before, const char *how)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint64_t got = result_of(r->regs, f, l, at);
        char text[96];
        if (mask >> l & 1) {
            const uint64_t cut = f->pair ? got : got & mask_of(form_bits(f->d));
            if (!ref_accepts(f, rows[l], cut, text, sizeof text))
                complain(r, f, rows[l], got, text, how);
            else if (!extended(f, got)) complain(r, f, rows[l], got, "extended", how);
        } else if (got != result_of(before, f, l, at)) {
            complain(r, f, rows[l], got, "left alone", how);
        }
    }
}

static void run_once(run *r, const form *f, uint64_t (*rows)[4], uint32_t mask, bool in_place,
                     const char *how)
{
    uint8_t before[REGS];
    memset(r->regs, FILL, REGS);
    put_sources(r->regs, f, rows);
    memcpy(before, r->regs, REGS);
    const uint32_t at = in_place ? AT_SOURCE : AT_D;
    r->code.d = f->d == TYPE_PRED ? AT_P : at;
    r->code.e = AT_Q;
    r->code.a = AT_SOURCE;
    r->code.b = AT_SOURCE + SLOT;
    r->code.c = AT_SOURCE + 2 * SLOT;
    r->code.f = AT_SOURCE + 3 * SLOT;
    r->code.imm = f->constant;
    r->code.run[0] = r->row->masked;
    r->code.run[1] = r->row->full;
    r->warp->mask = mask;
    r->warp->live = ALL_LANES;
    r->warp->regs = r->regs;
    for (unsigned l = 0; l < WARP_LANES; l++) r->warp->lane_mask[l] = mask >> l & 1 ? ALL_LANES : 0;
    r->code.run[mask == ALL_LANES](r->warp, &r->code);
    check_lanes(r, f, rows, mask, at, before, how);
}

static uint8_t kind_of(form_type t)
{
    return t == TYPE_PRED ? OPERAND_PREDICATE : form_bits(t) == 64 ? OPERAND_64 : OPERAND_32;
}

static bool operands_agree(const op_entry *row, const form *f)
{
    const uint8_t given[4] = { row->a, row->b, row->c, row->f };
    if (row->d != kind_of(f->d) || row->e != (f->pair ? OPERAND_PREDICATE : OPERAND_NONE))
        return false;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t want = i < f->source_count ? kind_of(f->source[i]) : OPERAND_NONE;
        if (f->immediate && i == f->source_count) want = OPERAND_IMMEDIATE;
        if (given[i] != want) return false;
    }
    return true;
}

static void check_form(run *r, const form *f)
{
    uint64_t rows[FORM_INPUTS][4];
    for (unsigned round = 0; round < ROUNDS; round++) {
        form_inputs(f, rows, FORM_INPUTS, round);
        for (unsigned i = 0; i < FORM_INPUTS; i += WARP_LANES) {
            const uint32_t mask = (uint32_t)form_random(round, i) | 1u << (i / WARP_LANES);
            run_once(r, f, rows + i, ALL_LANES, false, "all");
            run_once(r, f, rows + i, mask == ALL_LANES ? 0x7fffffff : mask, false, "some");
            if (round == 0 && f->source_count != 0 && f->d != TYPE_PRED &&
                kind_of(f->d) == kind_of(f->source[0]))
                run_once(r, f, rows + i, i & 32 ? ALL_LANES : mask & 0x7fffffff, true, "in place");
        }
    }
}

static void every_row_agrees_with_the_reference(void **state)
{
    (void)state;
    unsigned bad = 0, missing = 0;
    bool failed = false;
    run r = { .bad = &bad };
    r.warp = aligned_alloc(64, (sizeof(warp) + 63) / 64 * 64);
    r.regs = aligned_alloc(64, REGS);
    assert_non_null(r.warp);
    assert_non_null(r.regs);
    for (size_t v = 0; ptx_isa_variants[v] != NULL; v++) {
        r.isa = ptx_isa_variants[v];
        if (!ptx_isa_available(r.isa)) continue;
        for (size_t i = 0; i < list.count; i++) {
            const form *f = &list.items[i];
            if (only != NULL && strncmp(f->name, only, strlen(only)) != 0) continue;
            r.row = ptx_op_named(r.isa, f->name, &failed);
            assert_false(failed);
            if (r.row == NULL || !operands_agree(r.row, f)) {
                if (missing++ < SHOWN)
                    printf("%s: %s\n", f->name, r.row ? "other operands" : "no row");
                continue;
            }
            check_form(&r, f);
        }
    }
    free(r.warp);
    free(r.regs);
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
            strcpy(names, isa->tables[t]->rows[i].names);
            for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
                size_t at = 0;
                while (at < list.count && strcmp(list.items[at].name, name) != 0) at++;
                if (at == list.count && unknown++ < SHOWN) printf("not in the list: %s\n", name);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_agrees_with_the_reference),
        cmocka_unit_test(every_name_is_in_the_list),
        cmocka_unit_test(no_name_stands_twice),
    };
    return gpul_run_tests("arithmetic", tests, setup, teardown);
}
