/* Comparing a result with the reference.  SPDX-License-Identifier: MIT */
#include "ref.h"

#include <math.h>
#include <stdio.h>

bool ref_exact(const form *f, const uint64_t in[4], uint64_t *out)
{
    return ref_integer(f, in, out) || ref_bits(f, in, out) || ref_compare(f, in, out) ||
           ref_float(f, in, out) || ref_convert(f, in, out);
}

static form_type element_of(form_type t)
{
    switch (t) {
    case TYPE_F16X2: return TYPE_F16;
    case TYPE_BF16X2: return TYPE_BF16;
    default: return t;
    }
}

static bool is_nan(form_type t, uint64_t bits)
{
    return number_decode(number_format_of(t), bits).kind == NUMBER_NAN;
}

bool ref_same(const form *f, uint64_t a, uint64_t b)
{
    if (a == b) return true;
    const form_type t = element_of(f->d);
    if (f->check == CHECK_EXACT || !form_is_float(t)) return false;
    for (unsigned i = 0; i < form_bits(f->d); i += form_bits(t)) {
        const uint64_t mask = t == TYPE_F64 ? ~0ull : (1ull << form_bits(t)) - 1;
        const uint64_t x = a >> i & mask, y = b >> i & mask;
        if (x != y && (t == TYPE_F64 || !is_nan(t, x) || !is_nan(t, y))) return false;
    }
    return true;
}

/* What was wanted, for the message; formed only when something is wrong. */
typedef struct wanted {
    bool approximate;
    uint64_t bits;
    long double value, bound;
} wanted;

static bool within(const form *f, form_type t, const uint64_t in[4], uint64_t got, wanted *want)
{
    long double value, bound;
    form one = *f;
    one.types[0] = t;
    if (!ref_true_value(&one, in, &value, &bound)) return true;
    *want = (wanted){ true, 0, value, bound };
    const long double y = ref_value_of(t, got);
    if (isnan(value) || isnan(y)) return isnan(value) && isnan(y);
    if (y == value)
        return value != 0 || signbit(y) == signbit(value) || bound > 0.5L || form_is(f, "lg2");
    const number_format *format = number_format_of(t);
    const int top = 1 << (format->exponent_bits - 1);
    const long double least = ldexpl(1, 2 - top), most = ldexpl(1, top);
    if (isinf(value)) return false;
    if (isinf(y)) /* overflow: the value rounds to infinity or may do so */
        return fabsl(value) + bound >= most * (1 - ldexpl(1, -(int)format->fraction_bits - 2)) &&
               signbit(y) == signbit(value);
    if (form_has(f, "ftz") && fabsl(value) < least + bound && y == 0)
        return signbit(y) == signbit(value) || bound >= least;
    return fabsl(y - value) <= bound;
}

static bool accepted(const form *f, const uint64_t in[4], uint64_t got, wanted *want)
{
    if (f->check != CHECK_BOUND)
        return !ref_exact(f, in, &want->bits) || ref_same(f, want->bits, got);
    const form_type t = element_of(f->types[0]);
    for (unsigned i = 0; i < form_bits(f->types[0]); i += form_bits(t)) {
        uint64_t part[4] = { in[0] >> i, in[1] >> i, in[2], in[3] }, bits = got >> i;
        if (form_bits(t) < 64) {
            const uint64_t mask = (1ull << form_bits(t)) - 1;
            part[0] &= mask;
            part[1] &= mask;
            bits &= mask;
        }
        if (!within(f, t, part, bits, want)) return false;
    }
    return true;
}

bool ref_accepts(const form *f, const uint64_t in[4], uint64_t got, char *expected, size_t room)
{
    wanted want = { 0 };
    if (accepted(f, in, got, &want)) return true;
    if (want.approximate) snprintf(expected, room, "%.12Lg within %.3Lg", want.value, want.bound);
    else snprintf(expected, room, "%llx", (unsigned long long)want.bits);
    return false;
}
