/* The approximate instructions: true values in extended precision and the bounds of the PTX ISA 9.0.
 *
 *   rcp.approx.f32    9.7.3.13  1 ulp over the full range
 *   div.approx.f32    9.7.3.8   2 ulp for |b| in [2^-126, 2^126]; above that 0, or NaN for a infinite
 *   div.full.f32      9.7.3.8   2 ulp over the full range
 *   sqrt.approx.f32   9.7.3.15  relative 2^-23
 *   rsqrt.approx.f32  9.7.3.16  relative 2^-22.9
 *   sin, cos          9.7.3.18  absolute 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi], else none
 *   lg2.approx.f32    9.7.3.20  absolute 2^-22 in (0.5, 2), else relative 2^-22
 *   ex2.approx.f32    9.7.3.21  2 ulp from the correctly rounded result
 *   tanh.approx.f32   9.7.3.22  relative 2^-11
 *   tanh.approx       9.7.4.9   absolute 2^-10.987 for f16, 2^-8 for bf16
 *   ex2.approx        9.7.4.10  relative 2^-9.9 for f16, 2^-7 for bf16
 *   rcp.approx.ftz.f64, rsqrt.approx.ftz.f64  9.7.3.14, 9.7.3.17  no number is given; the upper word
 *       alone is used and made, so two units of its last place, relative 2^-19, are asked for here
 *   rsqrt.approx.f64  9.7.3.16  no number is given; two ulp are asked for here
 * SPDX-License-Identifier: MIT */
#include "ref.h"

#include <math.h>

long double ref_value_of(form_type type, uint64_t bits)
{
    const number x = number_decode(number_format_of(type), bits);
    if (x.kind == NUMBER_NAN) return NAN;
    long double value = x.kind == NUMBER_INFINITE ? INFINITY : (long double)(uint64_t)x.digits;
    if (x.kind == NUMBER_ZERO) value = 0;
    value = ldexpl(value, x.exponent);
    return x.negative ? -value : value;
}

/* One unit in the last place of a value in a type's normal range. */
static long double ulp(form_type type, long double value)
{
    const number_format *f = number_format_of(type);
    const int least = 2 - (1 << (f->exponent_bits - 1));
    int exponent = least;
    if (value != 0 && isfinite(value)) exponent = ilogbl(fabsl(value));
    if (exponent < least) exponent = least;
    return ldexpl(1, exponent - (int)f->fraction_bits);
}

static long double sine_bound(long double x)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    if (fabsl(x) <= 2 * pi) return exp2l(-20.5L);
    if (fabsl(x) <= 100 * pi) return exp2l(-14.7L);
    return 2;
}

bool ref_true_value(const form *f, const uint64_t in[4], long double *value, long double *bound)
{
    const form_type t = f->types[0];
    const char *op = f->words[0];
    const bool ftz = form_has(f, "ftz");
    const number_format *format = number_format_of(t);
    if (format == NULL) return false;
    uint64_t raw[2] = { in[0], in[1] };
    for (int i = 0; i < 2; i++)
        if (ftz) raw[i] = number_flush(format, raw[i]);
    const bool upper = ftz && t == TYPE_F64;
    if (upper) raw[0] &= 0xffffffff00000000;
    const long double a = ref_value_of(t, raw[0]), b = ref_value_of(t, raw[1]);
    long double y, e;
    if (strcmp(op, "rcp") == 0) {
        y = 1 / a;
        e = t == TYPE_F64 ? fabsl(y) * exp2l(-19) : ulp(t, y);
    } else if (strcmp(op, "div") == 0) {
        const long double most = ldexpl(1, 126);
        y = a / b;
        e = 2 * ulp(t, y);
        if (form_has(f, "approx") && isfinite(b) && fabsl(b) > most) {
            y = isinf(a) || isnan(a) ? NAN : copysignl(0, y);
            e = 0;
        }
        /* Below 2^-126 nothing is said for .approx: the reciprocal may overflow. */
        if (form_has(f, "approx") && b != 0 && fabsl(b) < ldexpl(1, -126)) return false;
    } else if (strcmp(op, "sqrt") == 0) {
        y = sqrtl(a);
        e = y * exp2l(-23);
    } else if (strcmp(op, "rsqrt") == 0) {
        y = a == 0 ? 1 / a : 1 / sqrtl(a);
        e = t == TYPE_F32 ? y * exp2l(-22.9L) : upper ? y * exp2l(-19) : 2 * ulp(t, y);
    } else if (strcmp(op, "sin") == 0) {
        y = sinl(a);
        e = sine_bound(a);
    } else if (strcmp(op, "cos") == 0) {
        y = cosl(a);
        e = sine_bound(a);
    } else if (strcmp(op, "lg2") == 0) {
        y = log2l(a);
        e = a > 0.5L && a < 2 ? exp2l(-22) : fabsl(y) * exp2l(-22);
    } else if (strcmp(op, "ex2") == 0) {
        y = exp2l(a);
        e = t == TYPE_F32 ? 2.5L * ulp(t, y) : y * exp2l(t == TYPE_F16 ? -9.9L : -7);
    } else if (strcmp(op, "tanh") == 0) {
        y = tanhl(a);
        e = t == TYPE_F32 ? fabsl(y) * exp2l(-11) : exp2l(t == TYPE_F16 ? -10.987L : -8);
    } else {
        return false;
    }
    /* A result in the subnormal range cannot be closer than half of its own last place, and the
     * hardware may lose one unit there. */
    const long double least = ldexpl(1, 2 - (1 << (format->exponent_bits - 1)));
    if (isfinite(y) && y != 0 && fabsl(y) < 2 * least && e < ulp(t, 0)) e = ulp(t, 0);
    *value = y;
    *bound = e;
    return true;
}
