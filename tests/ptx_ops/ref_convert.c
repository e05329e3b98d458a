/* Conversions, PTX ISA 9.7.9.21.  SPDX-License-Identifier: MIT */
#include "ref.h"

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static number_rounding rounding_of(const form *f)
{
    if (form_has(f, "rna")) return ROUND_AWAY;
    if (form_has(f, "rz") || form_has(f, "rzi")) return ROUND_ZERO;
    if (form_has(f, "rm") || form_has(f, "rmi")) return ROUND_DOWN;
    if (form_has(f, "rp") || form_has(f, "rpi")) return ROUND_UP;
    return ROUND_NEAREST;
}

static bool rounds_to_integral(const form *f)
{
    return form_has(f, "rni") || form_has(f, "rzi") || form_has(f, "rmi") || form_has(f, "rpi");
}

static number integer_value(form_type t, uint64_t bits)
{
    const unsigned width = form_bits(t);
    bits &= mask_of(width);
    const bool negative = form_is_signed(t) && bits >> (width - 1) & 1;
    return number_integer(negative, negative ? (0 - bits) & mask_of(width) : bits);
}

static uint64_t to_integer(form_type d, form_type s, number x, number_rounding r)
{
    const unsigned width = form_bits(d);
    if (x.kind == NUMBER_NAN) /* zero, unless one of the two types has 64 bits */
        return s == TYPE_F64 || width == 64 ? 1ull << (width - 1) : 0;
    return number_to_integer(number_integral(x, r), width, form_is_signed(d));
}

/* Into a floating-point format, with what may follow the rounding. */
static uint64_t to_float(const form *f, const number_format *format, number x, number_rounding r)
{
    const unsigned top = format->fraction_bits + format->exponent_bits + format->unused_low;
    uint64_t bits = number_encode(format, x, r);
    if (form_has(f, "ftz") && format == number_format_of(TYPE_F32)) {
        bits = number_flush(format, bits);
        if (number_tiny(format, x, r)) bits = (uint64_t)x.negative << 31;
    }
    const number y = number_decode(format, bits);
    if (form_has(f, "sat")) {
        const number one = number_integer(false, 1);
        if (y.kind == NUMBER_NAN || y.kind == NUMBER_ZERO || y.negative) return 0;
        return number_compare(y, one) > 0 ? number_encode(format, one, r) : bits;
    }
    if (form_has(f, "satfinite") && x.kind != NUMBER_NAN && x.kind != NUMBER_ZERO) {
        /* The largest number of the format, found by rounding something huge towards zero. */
        const number huge = { NUMBER_FINITE, false, false, 4000, 1 };
        const uint64_t most = number_encode(format, huge, ROUND_ZERO);
        const number magnitude = { x.kind, false, x.more, x.exponent, x.digits };
        if (number_compare(magnitude, number_decode(format, most)) > 0)
            bits = most | (uint64_t)x.negative << top;
    }
    if (form_has(f, "relu") && x.kind != NUMBER_NAN && (x.negative || x.kind == NUMBER_ZERO))
        return 0;
    return bits;
}

static number source_value(const form *f, form_type s, uint64_t bits)
{
    if (!form_is_float(s)) return integer_value(s, bits);
    const number_format *format = number_format_of(s);
    bits &= mask_of(form_bits(s));
    /* Into f16 an H200 does not flush. */
    if (form_has(f, "ftz") && s == TYPE_F32 && f->d != TYPE_F16) bits = number_flush(format, bits);
    return number_decode(format, bits);
}

static bool packed(const form *f, const uint64_t in[4], uint64_t *out)
{
    const form_type d = f->types[0], s = f->types[1];
    const unsigned to = form_bits(d) / 2, from = form_bits(s) / 2;
    const number_format *format = number_format_of(d);
    if (s == TYPE_F32) /* the first source becomes the upper part */
        *out = to_float(f, format, source_value(f, s, in[1]), rounding_of(f)) |
               to_float(f, format, source_value(f, s, in[0]), rounding_of(f)) << to;
    else {
        const number low = number_decode(number_format_of(s), in[0] & mask_of(from));
        const number high = number_decode(number_format_of(s), in[0] >> from & mask_of(from));
        *out = to_float(f, format, low, rounding_of(f)) | to_float(f, format, high, rounding_of(f))
                                                              << to;
    }
    return true;
}

/* NaNs that are not made canonical, as recorded on an H200: the ISA leaves it open. */
static bool kept_nan(const form *f, uint64_t in, uint64_t *out)
{
    const form_type d = f->types[0], s = f->types[1];
    const bool plain = !form_has(f, "sat") && !form_has(f, "ftz");
    if (d == TYPE_F32 && s == TYPE_F32 && plain && !rounds_to_integral(f)) { /* a move */
        *out = in & 0xffffffff;
    } else if (d == TYPE_F32 && s == TYPE_BF16 && plain) {
        *out = (in & 0xffff) << 16;
    } else if (d == TYPE_F32 && s == TYPE_F64 && !form_has(f, "sat")) { /* its upper part, quiet */
        *out = (in >> 32 & 0x80000000) | 0x7fc00000 | (in >> 29 & 0x7fffff);
    } else if (d == TYPE_F64 && form_is_float(s) && !form_has(f, "sat")) {
        const number_format *from = number_format_of(s);
        uint64_t bits = in & mask_of(form_bits(s));
        if (form_has(f, "ftz")) bits = from->nan;
        *out = bits >> (form_bits(s) - 1) << 63 | 0x7ff8000000000000 |
               (bits & mask_of(from->fraction_bits)) << (52 - from->fraction_bits);
        if (s == TYPE_F64 && !rounds_to_integral(f)) *out = in; /* a move */
    } else if (s == TYPE_F64 && (d == TYPE_F16 || d == TYPE_BF16) && !form_has(f, "sat")) {
        const unsigned fraction = number_format_of(d)->fraction_bits;
        const uint64_t top = d == TYPE_F16 ? 0x7e00 : 0x7fc0;
        *out = (in >> 48 & 0x8000) | top | (in >> (52 - fraction) & mask_of(fraction));
    } else if (d == TYPE_TF32) {
        *out = 0x7fffe000;
        if (form_has(f, "rna")) *out = (in & 0xffffe000) - (form_has(f, "satfinite") ? 0x2000 : 0);
    } else return false;
    return true;
}

bool ref_convert(const form *f, const uint64_t in[4], uint64_t *out)
{
    if (!form_is(f, "cvt") || f->type_count != 2) return false;
    const form_type d = f->types[0], s = f->types[1];
    const number_rounding r = rounding_of(f);
    if (form_is_packed(d)) return packed(f, in, out);
    number x = source_value(f, s, in[0]);
    if (x.kind == NUMBER_NAN && kept_nan(f, in[0], out)) return true;
    if (form_is_float(d)) {
        const uint64_t sign = (uint64_t)x.negative << (form_bits(d) - 1);
        if (rounds_to_integral(f)) {
            x = number_integral(x, r);
            if (x.kind == NUMBER_ZERO && !form_has(f, "sat")) {
                *out = sign; /* the sign stays */
                return true;
            }
        }
        *out = to_float(f, number_format_of(d), x, r);
    } else if (form_is_float(s)) {
        *out = to_integer(d, s, x, r);
    } else if (form_has(f, "sat")) {
        *out = number_to_integer(x, form_bits(d), form_is_signed(d));
    } else {
        *out = (x.negative ? 0 - (uint64_t)x.digits : (uint64_t)x.digits) & mask_of(form_bits(d));
    }
    return true;
}
