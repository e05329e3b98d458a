/* Exact arithmetic on numbers and rounding into formats.  SPDX-License-Identifier: MIT */
#include "number.h"

static const number_format half = { 5, 10, 0x7fff, false, 0 };
static const number_format bfloat = { 8, 7, 0x7fff, false, 0 };
static const number_format single = { 8, 23, 0x7fffffff, false, 0 };
static const number_format tensor = { 8, 10, 0x7fffffff, false, 13 };
static const number_format binary64 = { 11, 52, 0x7fffffffffffffff, false, 0 };
const number_format number_e4m3 = { 4, 3, 0x7f, true, 0 };
const number_format number_e5m2 = { 5, 2, 0x7f, false, 0 };

const number_format *number_format_of(form_type type)
{
    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2: return &half;
    case TYPE_BF16:
    case TYPE_BF16X2: return &bfloat;
    case TYPE_F32: return &single;
    case TYPE_TF32: return &tensor;
    case TYPE_F64: return &binary64;
    case TYPE_E4M3X2: return &number_e4m3;
    case TYPE_E5M2X2: return &number_e5m2;
    default: return NULL;
    }
}

static int length_of(wide x)
{
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    if (high != 0) return 128 - __builtin_clzll(high);
    return low != 0 ? 64 - __builtin_clzll(low) : 0;
}

static int bias(const number_format *f)
{
    return (1 << (f->exponent_bits - 1)) - 1;
}

number number_decode(const number_format *f, uint64_t bits)
{
    bits >>= f->unused_low;
    const uint64_t fraction = bits & ((1ull << f->fraction_bits) - 1);
    const int top = (1 << f->exponent_bits) - 1, field = (int)(bits >> f->fraction_bits) & top;
    number x = { NUMBER_FINITE, bits >> (f->fraction_bits + f->exponent_bits) & 1, false, 0, 0 };
    if (field == top && !f->no_infinity) {
        x.kind = fraction != 0 ? NUMBER_NAN : NUMBER_INFINITE;
    } else if (f->no_infinity && field == top && fraction + 1 == 1ull << f->fraction_bits) {
        x.kind = NUMBER_NAN;
    } else {
        x.digits = fraction + (field != 0 ? 1ull << f->fraction_bits : 0);
        x.exponent = (field != 0 ? field : 1) - bias(f) - (int)f->fraction_bits;
        if (x.digits == 0) x.kind = NUMBER_ZERO;
    }
    return x;
}

/* Whether a magnitude with the lost part `low` of `unit` goes up to the next one. */
static bool goes_up(number_rounding r, bool negative, bool odd, wide low, wide unit, bool more)
{
    if (low == 0 && !more) return false;
    const wide middle = unit >> 1;
    const bool above = unit > 1 && (low > middle || (low == middle && more));
    const bool tie = unit > 1 && low == middle && !more;
    switch (r) {
    case ROUND_NEAREST: return above || (tie && odd);
    case ROUND_AWAY: return above || tie;
    case ROUND_DOWN: return negative;
    case ROUND_UP: return !negative;
    default: return false;
    }
}

/* Drops `count` low bits. */
static number drop(number x, int count, number_rounding rounding)
{
    if (count <= 0) return x;
    wide kept = 0, low = x.digits, unit = 0;
    bool more = x.more;
    if (count < 127) {
        unit = (wide)1 << count;
        kept = x.digits >> count;
        low = x.digits & (unit - 1);
    } else { /* far below one unit */
        unit = 4;
        more = more || low != 0;
        low = 0;
    }
    if (goes_up(rounding, x.negative, kept & 1, low, unit, more)) kept++;
    x.digits = kept;
    x.exponent += count;
    x.more = false;
    return x;
}

uint64_t number_encode(const number_format *f, number x, number_rounding rounding)
{
    const uint64_t top = (1ull << f->exponent_bits) - 1;
    const unsigned sign_at = f->fraction_bits + f->exponent_bits;
    const uint64_t sign = (uint64_t)x.negative << sign_at;
    if (x.kind == NUMBER_NAN) return f->nan;
    if (x.kind == NUMBER_ZERO) return sign << f->unused_low;
    if (x.kind == NUMBER_INFINITE) return (sign | top << f->fraction_bits) << f->unused_low;
    /* Enough low bits that what `more` stands for is below half a unit. */
    const int room = 100 - length_of(x.digits);
    if (room > 0) {
        x.digits <<= room;
        x.exponent -= room;
    }
    const int precision = (int)f->fraction_bits + 1;
    const int smallest = 1 - bias(f) - (int)f->fraction_bits; /* exponent of the last place */
    int count = length_of(x.digits) - precision;
    if (x.exponent + count < smallest) count = smallest - x.exponent;
    x = drop(x, count, rounding);
    if (length_of(x.digits) > precision) {
        x.digits >>= 1;
        x.exponent++;
    }
    uint64_t bits = (uint64_t)x.digits;
    if (bits >> f->fraction_bits != 0) /* normal: the leading bit counts into the exponent */
        bits += (uint64_t)(x.exponent - smallest) << f->fraction_bits;
    const uint64_t limit = f->no_infinity
                               ? (top << f->fraction_bits) + (1ull << f->fraction_bits) - 1
                               : top << f->fraction_bits;
    const bool huge = x.exponent - smallest >= (int)top + 1 || bits >= limit;
    if (huge) {
        const bool to_infinity = rounding == ROUND_NEAREST || rounding == ROUND_AWAY ||
                                 rounding == (x.negative ? ROUND_DOWN : ROUND_UP);
        bits = to_infinity ? limit : limit - 1;
    }
    return (sign | bits) << f->unused_low;
}

number number_integer(bool negative, uint64_t magnitude)
{
    return (number){ magnitude ? NUMBER_FINITE : NUMBER_ZERO, negative && magnitude, false, 0,
                     magnitude };
}

static number not_a_number(void)
{
    return (number){ .kind = NUMBER_NAN };
}

/* Puts the leading bit at place 120. */
static number aligned(number x)
{
    int shift = 121 - length_of(x.digits);
    x.digits <<= shift;
    x.exponent -= shift;
    return x;
}

number number_add(number a, number b, number_rounding rounding)
{
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return not_a_number();
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_INFINITE) {
        if (a.kind == b.kind && a.negative != b.negative) return not_a_number();
        return a.kind == NUMBER_INFINITE ? a : b;
    }
    const number zero = { NUMBER_ZERO, rounding == ROUND_DOWN, false, 0, 0 };
    if (a.kind == NUMBER_ZERO && b.kind == NUMBER_ZERO) return a.negative == b.negative ? a : zero;
    if (a.kind == NUMBER_ZERO) return b;
    if (b.kind == NUMBER_ZERO) return a;
    a = aligned(a);
    b = aligned(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.digits < b.digits)) {
        number t = a;
        a = b;
        b = t;
    }
    const int distance = a.exponent - b.exponent;
    wide low = distance < 127 ? b.digits >> distance : 0;
    const bool more = distance < 127 ? low << distance != b.digits : true;
    if (a.negative == b.negative) a.digits += low;
    else a.digits -= low + more; /* what was cut off is taken away too: less than a whole unit */
    a.more = more;
    return a.digits == 0 && !more ? zero : a;
}

number number_multiply(number a, number b)
{
    const bool negative = a.negative != b.negative;
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return not_a_number();
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_INFINITE) {
        if (a.kind == NUMBER_ZERO || b.kind == NUMBER_ZERO) return not_a_number();
        return (number){ NUMBER_INFINITE, negative, false, 0, 0 };
    }
    if (a.kind == NUMBER_ZERO || b.kind == NUMBER_ZERO)
        return (number){ NUMBER_ZERO, negative, false, 0, 0 };
    return (number){ NUMBER_FINITE, negative, false, a.exponent + b.exponent, a.digits * b.digits };
}

number number_divide(number a, number b)
{
    const bool negative = a.negative != b.negative;
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return not_a_number();
    if (a.kind == b.kind && (a.kind == NUMBER_ZERO || a.kind == NUMBER_INFINITE))
        return not_a_number();
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_ZERO)
        return (number){ NUMBER_INFINITE, negative, false, 0, 0 };
    if (a.kind == NUMBER_ZERO || b.kind == NUMBER_INFINITE)
        return (number){ NUMBER_ZERO, negative, false, 0, 0 };
    a = aligned(a);
    const wide quotient = a.digits / b.digits;
    return (number){ NUMBER_FINITE, negative, quotient * b.digits != a.digits,
                     a.exponent - b.exponent, quotient };
}

number number_root(number a)
{
    if (a.kind == NUMBER_NAN || a.kind == NUMBER_ZERO) return a;
    if (a.negative) return not_a_number();
    if (a.kind == NUMBER_INFINITE) return a;
    a = aligned(a);
    if (a.exponent % 2 != 0) {
        a.digits >>= 1; /* exact: there are zeros below */
        a.exponent++;
    }
    wide root = 0;
    for (int i = 61; i >= 0; i--) {
        const wide next = root | (wide)1 << i;
        if (next * next <= a.digits) root = next;
    }
    return (number){ NUMBER_FINITE, false, root * root != a.digits, a.exponent / 2, root };
}

number number_integral(number a, number_rounding rounding)
{
    if (a.kind != NUMBER_FINITE || a.exponent >= 0) return a;
    a = drop(a, -a.exponent, rounding);
    if (a.digits == 0) a.kind = NUMBER_ZERO;
    return a;
}

int number_compare(number a, number b)
{
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return 2;
    if (a.kind == NUMBER_ZERO && b.kind == NUMBER_ZERO) return 0;
    if (a.kind == NUMBER_ZERO) return b.negative ? 1 : -1;
    if (b.kind == NUMBER_ZERO || a.negative != b.negative) return a.negative ? -1 : 1;
    int order = 0;
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_INFINITE) {
        order = (a.kind == NUMBER_INFINITE) - (b.kind == NUMBER_INFINITE);
    } else {
        a = aligned(a);
        b = aligned(b);
        order = (a.exponent > b.exponent) - (a.exponent < b.exponent);
        if (order == 0) order = (a.digits > b.digits) - (a.digits < b.digits);
    }
    return a.negative ? -order : order;
}

bool number_subnormal(const number_format *f, uint64_t bits)
{
    bits >>= f->unused_low;
    const uint64_t field = bits >> f->fraction_bits & ((1ull << f->exponent_bits) - 1);
    return field == 0 && (bits & ((1ull << f->fraction_bits) - 1)) != 0;
}

bool number_tiny(const number_format *f, number x, number_rounding rounding)
{
    if (x.kind != NUMBER_FINITE) return false;
    const number_format free = { 15, f->fraction_bits, 0, false, 0 };
    const number rounded = number_decode(&free, number_encode(&free, x, rounding));
    const number least = { NUMBER_FINITE, false, false, 1 - bias(f), 1 };
    return number_compare((number){ NUMBER_FINITE, false, false, rounded.exponent, rounded.digits },
                          least) < 0;
}

uint64_t number_flush(const number_format *f, uint64_t bits)
{
    return number_subnormal(f, bits) ? bits & (1ull << (f->fraction_bits + f->exponent_bits))
                                     : bits;
}

uint64_t number_to_integer(number a, unsigned bits, bool is_signed)
{
    const uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1, most = is_signed ? all >> 1 : all;
    const uint64_t least = is_signed ? most + 1 : 0;
    if (a.kind == NUMBER_ZERO) return 0;
    const bool far = a.kind == NUMBER_INFINITE || length_of(a.digits) + a.exponent > 65;
    const wide magnitude = far               ? 0
                           : a.exponent >= 0 ? a.digits << a.exponent
                                             : a.digits >> -a.exponent;
    if (a.negative) return far || magnitude > least ? least : (0 - (uint64_t)magnitude) & all;
    return far || magnitude > most ? most : (uint64_t)magnitude;
}
