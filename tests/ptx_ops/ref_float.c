/* Floating-point arithmetic with a defined result, PTX ISA 9.7.3 to 9.7.5.  SPDX-License-Identifier: MIT */
#include "ref.h"

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static number_rounding rounding_of(const form *f)
{
    if (form_has(f, "rz")) return ROUND_ZERO;
    if (form_has(f, "rm")) return ROUND_DOWN;
    if (form_has(f, "rp")) return ROUND_UP;
    return ROUND_NEAREST;
}

static uint64_t one_of_format(const number_format *format)
{
    return ((1ull << (format->exponent_bits - 1)) - 1) << format->fraction_bits;
}

/* Flushing and saturation of a result. */
static uint64_t finish(const form *f, const number_format *format, uint64_t bits)
{
    if (form_has(f, "ftz")) bits = number_flush(format, bits);
    const number x = number_decode(format, bits);
    if (form_has(f, "sat")) {
        if (x.kind == NUMBER_NAN || x.kind == NUMBER_ZERO || x.negative) return 0;
        const uint64_t one = one_of_format(format);
        return number_compare(x, number_decode(format, one)) > 0 ? one : bits;
    }
    if (form_has(f, "relu") && x.kind != NUMBER_NAN && (x.negative || x.kind == NUMBER_ZERO))
        return 0;
    return bits;
}

static bool arithmetic(const form *f, const number v[3], number_rounding r, number *out)
{
    number b = v[1];
    if (form_is(f, "add")) *out = number_add(v[0], b, r);
    else if (form_is(f, "sub")) {
        b.negative = !b.negative;
        *out = number_add(v[0], b, r);
    } else if (form_is(f, "mul")) *out = number_multiply(v[0], b);
    else if (form_is(f, "fma") || form_is(f, "mad"))
        *out = number_add(number_multiply(v[0], b), v[2], r);
    else if (form_is(f, "div")) *out = number_divide(v[0], b);
    else if (form_is(f, "rcp")) *out = number_divide(number_integer(false, 1), v[0]);
    else if (form_is(f, "sqrt")) *out = number_root(v[0]);
    else return false;
    return true;
}

static const uint64_t quiet_64 = 0x0008000000000000; /* the bit that keeps a NaN from signalling */

/* min and max of two, with the NaN and sign rules of 9.7.3.11; signs are taken off before for .abs. */
static uint64_t choose(const form *f, const number_format *format, uint64_t a, uint64_t b)
{
    const number x = number_decode(format, a), y = number_decode(format, b);
    const bool nan_a = x.kind == NUMBER_NAN, nan_b = y.kind == NUMBER_NAN;
    if (nan_a && nan_b && f->d == TYPE_F64) return b | quiet_64; /* recorded on an H200 */
    if ((nan_a && nan_b) || (form_has(f, "NaN") && (nan_a || nan_b))) return format->nan;
    if (nan_a) return b;
    if (nan_b) return a;
    int order = number_compare(x, y);
    if (order == 0) order = (int)y.negative - (int)x.negative; /* -0 is below +0 */
    return (strncmp(f->words[0], "max", 3) == 0 ? order > 0 : order < 0) ? a : b;
}

static bool extremes(const form *f, const number_format *format, uint64_t v[3], uint64_t *out)
{
    const uint64_t sign = 1ull << (format->exponent_bits + format->fraction_bits);
    const uint64_t xorsign = (v[0] ^ v[1]) & sign;
    if (form_has(f, "abs"))
        for (int i = 0; i < 3; i++) v[i] &= ~sign;
    *out = choose(f, format, v[0], v[1]);
    if (form_is(f, "min3") || form_is(f, "max3")) *out = choose(f, format, *out, v[2]);
    else if (form_has(f, "xorsign") && number_decode(format, *out).kind != NUMBER_NAN)
        *out |= xorsign;
    return true;
}

/* Which NaN arithmetic on doubles passes on, as recorded on an H200. */
static uint64_t passed_on(const form *f, const uint64_t v[3], const number x[3])
{
    const char *order = form_is(f, "fma") || form_is(f, "mad")       ? "\1\2\0"
                        : f->source_count == 2 && !form_is(f, "div") ? "\1\0"
                                                                     : "\0\1";
    for (unsigned i = 0; i < f->source_count; i++) {
        const unsigned at = (unsigned)order[i];
        if (x[at].kind == NUMBER_NAN) return v[at] | quiet_64;
    }
    return 0xfff8000000000000;
}

static bool one(const form *f, form_type t, const uint64_t in[4], uint64_t *out)
{
    const form_type mixed = f->type_count == 2 ? f->types[1] : t;
    const number_format *format = number_format_of(t);
    const uint64_t sign = 1ull << (form_bits(t) - 1);
    uint64_t v[3];
    number x[3];
    for (unsigned i = 0; i < 3; i++) {
        const form_type type = i + 1 < f->source_count ? mixed : t;
        const form_type own = f->type_count == 2 ? type : t;
        v[i] = in[i] & mask_of(form_bits(own));
        if (form_has(f, "ftz")) v[i] = number_flush(number_format_of(own), v[i]);
        x[i] = number_decode(number_format_of(own), v[i]);
    }
    if (form_is(f, "neg") || form_is(f, "abs")) {
        *out = form_is(f, "neg") ? v[0] ^ sign : v[0] & ~sign;
        if (x[0].kind == NUMBER_NAN) *out = t == TYPE_F64 ? v[0] | quiet_64 : format->nan;
    } else if (form_is(f, "copysign")) *out = (v[0] & sign) | (v[1] & ~sign);
    else if (strncmp(f->words[0], "min", 3) == 0 || strncmp(f->words[0], "max", 3) == 0)
        return extremes(f, format, v, out);
    else {
        number result;
        const number_rounding r = rounding_of(f);
        if (!arithmetic(f, x, r, &result)) return false;
        *out = finish(f, format, number_encode(format, result, r));
        if (form_has(f, "ftz") && number_tiny(format, result, r))
            *out = finish(f, format, (uint64_t)result.negative << (form_bits(t) - 1));
        if (t == TYPE_F64 && result.kind == NUMBER_NAN) *out = passed_on(f, v, x);
    }
    return true;
}

bool ref_float(const form *f, const uint64_t in[4], uint64_t *out)
{
    const form_type t = f->types[0];
    if (form_is(f, "cvt") || form_has(f, "approx") || form_has(f, "full")) return false;
    if (t != TYPE_F16X2 && t != TYPE_BF16X2 && t != TYPE_F32X2)
        return form_is_float(t) && one(f, t, in, out);
    const form_type element = t == TYPE_F32X2 ? TYPE_F32 : t == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16;
    const unsigned width = form_bits(element);
    const uint64_t upper[4] = { in[0] >> width, in[1] >> width, in[2] >> width };
    uint64_t low, high;
    if (!one(f, element, in, &low) || !one(f, element, upper, &high)) return false;
    *out = low | high << width;
    return true;
}
