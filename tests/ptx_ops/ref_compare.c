/* Comparison, selection and tests, PTX ISA 9.7.3.1, 9.7.3.2 and 9.7.6.  SPDX-License-Identifier: MIT */
#include "ref.h"

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

/* -1, 0 or 1, or 2 when they are unordered. */
static int order(form_type t, uint64_t a, uint64_t b, bool ftz)
{
    const unsigned width = form_bits(t);
    a &= mask_of(width);
    b &= mask_of(width);
    if (form_is_float(t)) {
        const number_format *format = number_format_of(t);
        if (ftz) {
            a = number_flush(format, a);
            b = number_flush(format, b);
        }
        return number_compare(number_decode(format, a), number_decode(format, b));
    }
    if (form_is_signed(t)) { /* the sign bit counts the other way */
        a ^= 1ull << (width - 1);
        b ^= 1ull << (width - 1);
    }
    return (a > b) - (a < b);
}

static bool holds(const char *op, int order)
{
    static const struct {
        const char *op;
        bool less, equal, greater, unordered;
    } table[] = {
        { "eq", 0, 1, 0, 0 },  { "ne", 1, 0, 1, 0 },  { "lt", 1, 0, 0, 0 },  { "le", 1, 1, 0, 0 },
        { "gt", 0, 0, 1, 0 },  { "ge", 0, 1, 1, 0 },  { "lo", 1, 0, 0, 0 },  { "ls", 1, 1, 0, 0 },
        { "hi", 0, 0, 1, 0 },  { "hs", 0, 1, 1, 0 },  { "equ", 0, 1, 0, 1 }, { "neu", 1, 0, 1, 1 },
        { "ltu", 1, 0, 0, 1 }, { "leu", 1, 1, 0, 1 }, { "gtu", 0, 0, 1, 1 }, { "geu", 0, 1, 1, 1 },
        { "num", 1, 1, 1, 0 }, { "nan", 0, 0, 0, 1 },
    };
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].op, op) == 0)
            return order == 2   ? table[i].unordered
                   : order < 0  ? table[i].less
                   : order == 0 ? table[i].equal
                                : table[i].greater;
    return false;
}

static form_type element_of(form_type t)
{
    return t == TYPE_F16X2 ? TYPE_F16 : t == TYPE_BF16X2 ? TYPE_BF16 : t;
}

static uint64_t true_as(form_type t)
{
    switch (t) {
    case TYPE_F16: return 0x3c00;
    case TYPE_BF16: return 0x3f80;
    case TYPE_F32: return 0x3f800000;
    default: return mask_of(form_bits(t));
    }
}

static bool test(const char *property, form_type t, uint64_t bits)
{
    const number_format *format = number_format_of(t);
    const number x = number_decode(format, bits);
    const bool subnormal = number_subnormal(format, bits);
    if (strcmp(property, "finite") == 0) return x.kind == NUMBER_ZERO || x.kind == NUMBER_FINITE;
    if (strcmp(property, "infinite") == 0) return x.kind == NUMBER_INFINITE;
    if (strcmp(property, "number") == 0) return x.kind != NUMBER_NAN;
    if (strcmp(property, "notanumber") == 0) return x.kind == NUMBER_NAN;
    if (strcmp(property, "subnormal") == 0) return subnormal;
    return (x.kind == NUMBER_ZERO || x.kind == NUMBER_FINITE) && !subnormal; /* normal */
}

bool ref_compare(const form *f, const uint64_t in[4], uint64_t *out)
{
    if (form_is(f, "testp")) {
        *out = test(f->words[1], f->types[0], in[0] & mask_of(form_bits(f->types[0])));
        return true;
    }
    if (form_is(f, "slct")) {
        const form_type t = f->types[1];
        /* A NaN or a negative number selects b; -0 is not negative. */
        const int against_zero = order(t, in[2], 0, form_has(f, "ftz"));
        *out = (against_zero == 0 || against_zero == 1 ? in[0] : in[1]) & mask_of(form_bits(f->d));
        return true;
    }
    if (!form_is(f, "setp") && !form_is(f, "set")) return false;
    const form_type source = f->source[0], t = element_of(source);
    const bool two = t != source, ftz = form_has(f, "ftz");
    const bool low = holds(f->words[1], order(t, in[0], in[1], ftz));
    const bool high = two && holds(f->words[1], order(t, in[0] >> 16, in[1] >> 16, ftz));
    if (f->d == TYPE_PRED) {
        *out = (uint64_t)low | (uint64_t)high << 1;
        return true;
    }
    const form_type d = element_of(f->d);
    if (!two) *out = low ? true_as(d) : 0;
    else if (d != f->d) *out = (low ? true_as(d) : 0) | (high ? true_as(d) << 16 : 0);
    else *out = (low ? 0xffff : 0) | (high ? 0xffff0000 : 0); /* set.u32.f16x2: halves of ones */
    return true;
}
