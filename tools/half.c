/* Conversions of the two 16-bit float formats, rounded once.  SPDX-License-Identifier: MIT */
#include "half.h"

#include <math.h>
#include <string.h>

/* A format with `mantissa` stored bits and exponents from `lowest` (of the smallest normal) on. */
static uint16_t narrow(double value, int mantissa, int lowest, int highest)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    uint16_t infinity = (uint16_t)((unsigned)(highest - lowest + 2) << mantissa);
    if (isnan(value)) return (uint16_t)(sign | infinity | 1u << (mantissa - 1));
    double magnitude = fabs(value);
    if (magnitude == 0) return sign;
    if (isinf(value)) return sign | infinity;
    int exponent;
    frexp(magnitude, &exponent);
    exponent--; /* magnitude = 1.x * 2^exponent */
    if (exponent < lowest) exponent = lowest;
    double scaled =
        nearbyint(ldexp(magnitude, mantissa - exponent)); /* in units of the last place */
    uint64_t units = (uint64_t)scaled;
    uint64_t code =
        units < (1u << mantissa) ? units : ((uint64_t)(exponent - lowest) << mantissa) + units;
    return (uint16_t)(sign | (code > infinity ? infinity : code));
}

static double widen(uint16_t bits, int mantissa, int lowest, int highest)
{
    int exponent = (bits & 0x7fff) >> mantissa;
    int fraction = bits & ((1 << mantissa) - 1);
    double value;
    if (exponent == highest - lowest + 2) value = fraction ? NAN : INFINITY;
    else if (exponent == 0) value = ldexp(fraction, lowest - mantissa);
    else value = ldexp(fraction + (1 << mantissa), exponent - 1 + lowest - mantissa);
    return bits & 0x8000 ? -value : value;
}

uint16_t half_from_double(double value)
{
    return narrow(value, 10, -14, 15);
}
double half_to_double(uint16_t bits)
{
    return widen(bits, 10, -14, 15);
}
uint16_t bfloat_from_double(double value)
{
    return narrow(value, 7, -126, 127);
}
double bfloat_to_double(uint16_t bits)
{
    return widen(bits, 7, -126, 127);
}
