/* The inputs of the instructions under test: corner values of each type crossed at random, values
 * near each other, and random patterns, all drawn from a counter so that every run and every
 * machine sees the same.  SPDX-License-Identifier: MIT */
#include "form.h"

#include <math.h>

uint64_t form_random(uint64_t seed, uint64_t counter)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + counter * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static const uint32_t corners_f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x3f000000, 0xbf000000, 0x40000000,
    0x40490fdb, 0x3fc00000, 0x40200000, 0xc0200000, 0x40600000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
    0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xffbfffff, 0x7fffffff, 0x4b000000, 0x4b000001,
    0x4affffff, 0x4b800000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x4f7fffff, 0x5f000000,
    0xdf000000, 0x5f800000, 0x5f7fffff, 0x42fe0000, 0x42ff0000, 0xc3000000, 0xc3008000, 0x437f0000,
    0x437f8000, 0x46fffe00, 0x46ffff00, 0xc7000000, 0xc7000080, 0x477fff00, 0x477fff80, 0x477fefff,
    0x477ff000, 0x33000000, 0x33000001, 0x33800000, 0x387fe000, 0x38800000, 0x387fffff, 0x387fefff,
    0x3f801000, 0x3f803000, 0x3f808000, 0x3f818000, 0x7f7f7fff, 0x7f7f8000, 0x00008000, 0x00004000,
    0x00400000, 0x003fffff, 0x43e00000, 0x43e80000, 0x43e7ffff, 0x47600000, 0x476fffff, 0x47700000,
    0x3a800000, 0x3b000000, 0x37000000, 0x36800000, 0x3f801fff, 0x3f800fff, 0x7effffff, 0x7e800000,
    0x01000000, 0x1f800000, 0x20000000, 0x5e800000, 0x7f000000, 0xc2fc0000, 0xc3160000, 0x42ffffff,
    0x40c90fdb, 0xc0c90fdb, 0x439d1463, 0x322bcc77,
};
static const uint64_t corners_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
    0x000fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x3ff0000000000000,
    0xbff0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001, 0x3fe0000000000000,
    0xbfe0000000000000, 0x4004000000000000, 0x3ff8000000000000, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0xfff8000000000001, 0x7ff0000000000001, 0x7fffffffffffffff, 0x4330000000000000,
    0x4330000000000001, 0x432fffffffffffff, 0x41dfffffffc00000, 0x41dfffffffe00000,
    0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000100000, 0x41efffffffe00000,
    0x41f0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x43dfffffffffffff,
    0x43f0000000000000, 0x43efffffffffffff, 0x36a0000000000000, 0x3690000000000000,
    0x3690000000000001, 0x380fffffc0000000, 0x380fffffe0000000, 0x3810000000000000,
    0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x3ff0000010000000,
    0x3ff0000010000001, 0x3ff0000030000000, 0x40effdffffffffff, 0x40effe0000000000,
    0x3e60000000000000, 0x3e70000000000000, 0x3f0ffe0000000000, 0x405fc00000000000,
    0x406fe00000000000, 0x40dfffc000000000, 0x40efffe000000000, 0xc060000000000000,
    0x0008000000000000, 0x7fe0000000000000, 0x0020000000000000, 0x1ff0000000000000,
    0x2000000000000000, 0x3ff0200000000000, 0x3ff0100000000001, 0x3ff0040000000000,
};
static const uint16_t corners_f16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x3c00, 0xbc00,
    0x3bff, 0x3c01, 0x3800, 0xb800, 0x4000, 0x4100, 0x3e00, 0xbe00, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x7fff, 0xfdff, 0x6400, 0x6401, 0x57f0, 0x57f8, 0x5bf8,
    0x5bfc, 0xd800, 0x5c00, 0x0200, 0x1000, 0x1400, 0x7800, 0x5f00, 0x5f40, 0x5eff, 0x7b00,
};
static const uint16_t corners_bf16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081, 0x3f80, 0xbf80,
    0x3f7f, 0x3f81, 0x3f00, 0xbf00, 0x4000, 0x4020, 0x3fc0, 0xbfc0, 0x7f7f, 0xff7f, 0x7f80,
    0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x7fff, 0x4300, 0x42fe, 0x42ff, 0x437f, 0x4380, 0x4700,
    0x4780, 0x4f00, 0xcf00, 0x4f80, 0x5f00, 0xdf00, 0x5f80, 0x0040, 0x1f80, 0x2000, 0x477f,
};
static const uint64_t corners_integer[] = {
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    24,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    129,
    254,
    255,
    256,
    0x7fff,
    0x8000,
    0x8001,
    0xffff,
    0x10000,
    0x7fffff,
    0x800000,
    0xffffff,
    0x1000000,
    0x1000001,
    0x3000001,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xfffffffe,
    0xffffffff,
    0x100000000,
    0x100000001,
    0x7fffff80,
    0x7fffffbf,
    0x7fffffc0,
    0xffffff7f,
    0xffffff80,
    0x20000000000000,
    0x20000000000001,
    0x60000000000001,
    0x8000008000000000,
    0x8000008000000001,
    0x8000018000000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xfffffffffffffffe,
    0xffffffffffffffff,
    0xffffffff80000000,
    0xffffffff7fffffff,
    0xffffffffffff8000,
    0xffffffffffffff80,
    0xffffffffffffff7f,
    0x7ffffffffffffc00,
    0x7ffffffffffffdff,
    0xfffffffffffffbff,
    0xfffffffffffffc00,
    0xaaaaaaaaaaaaaaaa,
    0x5555555555555555,
    0x00ff00ff00ff00ff,
    0x8080808080808080,
    0x7f7f7f7f7f7f7f7f,
    65504,
    65519,
    65520,
    2047,
    2049,
};

#define PICK(list, r) (list)[(r) % (sizeof(list) / sizeof(list)[0])]

static uint64_t corner(form_type t, uint64_t r)
{
    switch (t) {
    case TYPE_F32: return PICK(corners_f32, r);
    case TYPE_F64: return PICK(corners_f64, r);
    case TYPE_F16: return PICK(corners_f16, r);
    case TYPE_BF16: return PICK(corners_bf16, r);
    case TYPE_F16X2: return PICK(corners_f16, r) | (uint64_t)PICK(corners_f16, r >> 32) << 16;
    case TYPE_BF16X2: return PICK(corners_bf16, r) | (uint64_t)PICK(corners_bf16, r >> 32) << 16;
    case TYPE_F32X2: return PICK(corners_f32, r) | (uint64_t)PICK(corners_f32, r >> 32) << 32;
    case TYPE_U16X2:
    case TYPE_S16X2:
        return (PICK(corners_integer, r) & 0xffff) | PICK(corners_integer, r >> 32) << 16;
    default: return PICK(corners_integer, r);
    }
}

/* A value near a given one: a few units in the last place away, of the other sign, or its double. */
static uint64_t close_to(form_type t, uint64_t other, uint64_t r)
{
    unsigned top = form_bits(t) - 1;
    switch (r % 6) {
    case 0: return other;
    case 1: return other ^ (1ull << top);
    case 2: return other + (r >> 8) % 5 - 2;
    case 3: return (other ^ (1ull << top)) + (r >> 8) % 5 - 2;
    case 4: return other ^ (1ull << (r >> 8) % (top + 1));
    default: return form_is_float(t) ? other ^ (r >> 8 & 0xff) : ~other;
    }
}

/* Floating-point patterns whose exponents stay close to one, where most code lives. */
static uint64_t moderate(form_type t, uint64_t r)
{
    switch (t) {
    case TYPE_F32: return (r & 0x807fffff) | (119 + (r >> 40) % 17) << 23;
    case TYPE_F64: return (r & 0x800fffffffffffff) | (1015 + (r >> 54 & 0xf)) << 52;
    case TYPE_F16: return (r & 0x83ff) | (11 + (r >> 40) % 9) << 10;
    case TYPE_BF16: return (r & 0x807f) | (119 + (r >> 40) % 17) << 7;
    case TYPE_F32X2: return moderate(TYPE_F32, r) | moderate(TYPE_F32, r * 3 >> 7) << 32;
    case TYPE_F16X2: return moderate(TYPE_F16, r) | moderate(TYPE_F16, r * 3 >> 7) << 16;
    case TYPE_BF16X2: return moderate(TYPE_BF16, r) | moderate(TYPE_BF16, r * 3 >> 7) << 16;
    default: return r >> (r >> 58);
    }
}

/* Products that fall below or just at the smallest normal number, where flushing is decided. */
static bool tiny_product(const form *f, uint64_t *row, uint64_t r)
{
    if (f->d != TYPE_F32 || f->source[0] != TYPE_F32 || f->source_count < 2) return false;
    static const uint32_t pairs[][2] = {
        { 0x00800000, 0x3f7fffff }, { 0x00800001, 0x3f7ffffe }, { 0x00ffffff, 0x3effffff },
        { 0x0f7fffff, 0x30800000 }, { 0x007fffff, 0x3f800001 }, { 0x20000001, 0x1f7fffff },
        { 0x00800003, 0x3f7ffffb }, { 0x1fb504f3, 0x1fb504f3 }, { 0x1fb504f4, 0x1fb504f4 },
        { 0x00c00000, 0x3f2aaaab }, { 0x00c00000, 0x3f2aaaaa }, { 0x00fffffe, 0x3f000000 },
    };
    row[0] = PICK(pairs, r)[0] | (r & 0x8000000000) >> 8;
    row[1] = PICK(pairs, r)[1];
    if (f->source_count > 2) row[2] = PICK(((uint32_t[]){ 0, 0x80000000, 1, 0x80000001 }), r >> 48);
    return true;
}

static bool is_count(const form *f, unsigned operand)
{
    const char *op = f->words[0];
    if (strcmp(op, "shl") == 0 || strcmp(op, "shr") == 0) return operand == 1;
    if (strcmp(op, "bmsk") == 0) return true;
    if (strcmp(op, "szext") == 0 || strcmp(op, "bfe") == 0) return operand >= 1;
    if (strcmp(op, "shf") == 0 || strcmp(op, "bfi") == 0) return operand >= 2;
    if (strcmp(op, "fns") == 0) return operand >= 1;
    return false;
}

/* The true product as a float, to be cancelled by the addend.  Processors differ in the sign of the NaN
 * that 0 * infinity makes; here it is that of the recording. */
static uint64_t cancelling(const form *f, const uint64_t *row, uint64_t r)
{
    if (f->source[0] == TYPE_F64) {
        double a, b, p;
        memcpy(&a, &row[0], 8);
        memcpy(&b, &row[1], 8);
        p = -(a * b);
        uint64_t bits;
        memcpy(&bits, &p, 8);
        if (isnan(p) && !isnan(a) && !isnan(b)) bits = 0x7ff8000000000000;
        return bits + (r >> 8) % 3 - 1;
    }
    uint32_t ab = (uint32_t)row[0], bb = (uint32_t)row[1], bits;
    float a, b, p;
    memcpy(&a, &ab, 4);
    memcpy(&b, &bb, 4);
    p = -(a * b);
    memcpy(&bits, &p, 4);
    if (isnan(p) && !isnan(a) && !isnan(b)) bits = 0x7fc00000;
    return bits + (uint32_t)((r >> 8) % 3) - 1;
}

static uint64_t domain(const form *f, unsigned operand, uint64_t r)
{
    const form_type t = f->source[operand];
    if (is_count(f, operand)) {
        uint64_t small = r % 72;
        if (strcmp(f->words[0], "fns") == 0)
            return operand == 1 ? r % 32 : (uint64_t)((int64_t)(r % 67) - 33);
        return (r >> 32) % 8 == 0 ? PICK(corners_integer, r) : small;
    }
    switch ((r >> 59) % 4) {
    case 0: return corner(t, r);
    case 1: return moderate(t, r);
    case 2: return operand != 0 && t == f->source[0] ? corner(t, r) : moderate(t, r);
    default: return r;
    }
}

unsigned form_input_count(const form *f)
{
    if (strcmp(f->words[0], "set") == 0 || strcmp(f->words[0], "slct") == 0) return 128;
    if (form_bits(f->d) == 64 && f->d != TYPE_F64) return 128;
    return FORM_INPUTS;
}

static uint64_t seed_of(const form *f)
{
    uint64_t seed = 0xcbf29ce484222325u + f->constant;
    for (const char *p = f->name; *p != 0; p++) seed = (seed ^ (uint8_t)*p) * 0x100000001b3u;
    return seed;
}

void form_inputs(const form *f, uint64_t (*rows)[4], unsigned count, uint64_t round)
{
    const uint64_t seed = seed_of(f) + round * 0x632be59bd9b4e019u;
    for (unsigned i = 0; i < count; i++) {
        uint64_t *row = rows[i];
        for (unsigned o = 0; o < 4; o++) {
            const uint64_t r = form_random(seed, i * 4 + o);
            if (o >= f->source_count) row[o] = r;
            /* Instructions of one source see every corner once before anything is drawn. */
            else if (f->source_count == 1 && i < 128 && !is_count(f, o))
                row[o] = corner(f->source[o], i | (uint64_t)i * 7 << 32);
            else if (o > 0 && f->source[o] == f->source[0] && r % 4 == 0 && !is_count(f, o))
                row[o] = close_to(f->source[o], row[0], r >> 2);
            else row[o] = domain(f, o, r);
            const unsigned bits = o < f->source_count ? form_bits(f->source[o]) : 64;
            if (bits < 64)
                row[o] = (row[o] & ((1ull << bits) - 1)) | form_random(~seed, i * 4 + o) << bits;
        }
        const uint64_t r = form_random(seed + 1, i);
        if (r % 8 == 0) tiny_product(f, row, r >> 3);
        const bool fused = strcmp(f->words[0], "fma") == 0 || strcmp(f->words[0], "mad") == 0;
        if (fused && r % 8 == 1 && f->source[0] == f->source[2] &&
            (f->source[0] == TYPE_F32 || f->source[0] == TYPE_F64))
            row[2] = cancelling(f, row, r);
    }
}
