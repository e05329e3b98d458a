/* The slots of one instruction, filled, run and read back.  SPDX-License-Identifier: MIT */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLOT = 256, FILL = 0x5a };

/* Slots: d, e, then the sources, then two predicates. */
enum { AT_D = 0, AT_SOURCE = SLOT, AT_P = 6 * SLOT, AT_Q = 6 * SLOT + 64, REGS = 7 * SLOT };

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

static void complain(harness *h, const form *f, const uint64_t in[4], uint64_t got,
                     const char *expected, const char *how)
{
    if (h->bad++ >= HARNESS_SHOWN) return;
    printf("%s %s %s(", h->isa->name, how, f->name);
    for (unsigned i = 0; i < f->source_count; i++)
        printf("%s%llx", i ? ", " : "",
               (unsigned long long)(in[i] & mask_of(form_bits(f->source[i]))));
    printf(") = %llx, not %s\n", (unsigned long long)got, expected);
}

static void check_lanes(harness *h, const form *f, uint64_t (*rows)[4], uint32_t mask, uint32_t at,
                        const uint8_t *before, const char *how)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint64_t got = result_of(h->regs, f, l, at);
        char text[96];
        if (mask >> l & 1) {
            const uint64_t cut = f->pair ? got : got & mask_of(form_bits(f->d));
            if (!ref_accepts(f, rows[l], cut, text, sizeof text))
                complain(h, f, rows[l], got, text, how);
            else if (!extended(f, got)) complain(h, f, rows[l], got, "extended", how);
        } else if (got != result_of(before, f, l, at)) {
            complain(h, f, rows[l], got, "left alone", how);
        }
    }
}

void harness_run(harness *h, const form *f, uint64_t (*rows)[4], uint32_t mask, bool in_place,
                 const char *how)
{
    uint8_t before[REGS];
    memset(h->regs, FILL, REGS);
    put_sources(h->regs, f, rows);
    memcpy(before, h->regs, REGS);
    const uint32_t at = in_place ? AT_SOURCE : AT_D;
    h->code.d = f->d == TYPE_PRED ? AT_P : at;
    h->code.e = AT_Q;
    h->code.a = AT_SOURCE;
    h->code.b = AT_SOURCE + SLOT;
    h->code.c = AT_SOURCE + 2 * SLOT;
    h->code.f = AT_SOURCE + 3 * SLOT;
    h->code.imm = f->constant;
    h->code.run[0] = h->row->masked;
    h->code.run[1] = h->row->full;
    h->warp->mask = mask;
    h->warp->live = ALL_LANES;
    h->warp->regs = h->regs;
    for (unsigned l = 0; l < WARP_LANES; l++) h->warp->lane_mask[l] = mask >> l & 1 ? ALL_LANES : 0;
    h->code.run[mask == ALL_LANES](h->warp, &h->code);
    check_lanes(h, f, rows, mask, at, before, how);
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

bool harness_in_steps(const form *f)
{
    if (form_is(f, "set")) return true;
    if (!form_is(f, "cvt") || form_is_packed(f->d) || form_is_packed(f->source[0])) return false;
    const form_type to = f->d, from = f->source[0];
    const bool from_float = form_is_float(from), to_float = form_is_float(to);
    if (from_float && !to_float && to != TYPE_TF32)
        return form_bits(from) == 16 ||
               (from == TYPE_F32 && (form_has(f, "ftz") || form_bits(to) < 32));
    if (from_float || !to_float) return false;
    return form_has(f, "sat") ? to != TYPE_F32 : form_bits(to) == 16 && form_bits(from) < 32;
}

const op_entry *harness_row(harness *h, const form *f)
{
    bool failed = false;
    h->row = ptx_op_named(h->isa, f->name, &failed);
    if (failed || h->row == NULL || operands_agree(h->row, f)) return failed ? NULL : h->row;
    printf("%s: other operands\n", f->name);
    h->row = NULL;
    return NULL;
}

bool harness_fits_in_place(const form *f)
{
    return f->source_count != 0 && f->d != TYPE_PRED && kind_of(f->d) == kind_of(f->source[0]);
}

bool harness_start(harness *h)
{
    *h = (harness){ 0 };
    h->warp = aligned_alloc(64, (sizeof *h->warp + 63) / 64 * 64);
    h->regs = aligned_alloc(64, REGS);
    if (h->warp != NULL && h->regs != NULL) return true;
    harness_end(h);
    return false;
}

void harness_end(harness *h)
{
    free(h->warp);
    free(h->regs);
    *h = (harness){ 0 };
}
