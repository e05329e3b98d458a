/* The arithmetic that makes contents, for the host and, given to NVRTC as text, for a device: the same
 * operations in the same order, so that both give the same bits.  Not contracted: -ffp-contract=off here,
 * -fmad=false there.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_GEN_CORE_H
#define TOOLS_GEN_CORE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC_RTC__
#define GEN_CORE static __device__ inline
#else
#define GEN_CORE static inline
#endif

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
GEN_CORE uint64_t gen_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

GEN_CORE uint64_t gen_core_bits(uint64_t key, uint64_t index)
{
    return gen_mix(gen_mix(key + (index + 1) * 0x9e3779b97f4a7c15u) ^ key);
}

GEN_CORE double gen_core_unit(uint64_t key, uint64_t index)
{
    return (double)(gen_core_bits(key, index) >> 11) * (1.0 / 9007199254740992.0); /* 2^-53 */
}

/* The upper half of a product of 64 bits each. */
GEN_CORE uint64_t gen_high(uint64_t a, uint64_t b)
{
    uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu), first = (a >> 32) * (b & 0xffffffffu),
             second = (a & 0xffffffffu) * (b >> 32),
             middle = (low >> 32) + (first & 0xffffffffu) + (second & 0xffffffffu);
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32) + (middle >> 32);
}

GEN_CORE uint64_t gen_core_below(uint64_t key, uint64_t index, uint64_t limit)
{
    uint64_t bits = gen_core_bits(key, index);
    return limit ? gen_high(bits, limit) : bits;
}

/* A 16-bit format with `mantissa` stored bits and exponents from `lowest` (of the smallest normal) on. */
GEN_CORE uint16_t gen_narrow(double value, int mantissa, int lowest, int highest)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    uint16_t infinity = (uint16_t)((unsigned)(highest - lowest + 2) << mantissa);
    if (isnan(value)) return (uint16_t)(sign | infinity | 1u << (mantissa - 1));
    double magnitude = fabs(value);
    if (magnitude == 0) return sign;
    if (isinf(value)) return (uint16_t)(sign | infinity);
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

GEN_CORE double gen_widen(uint16_t bits, int mantissa, int lowest, int highest)
{
    int exponent = (bits & 0x7fff) >> mantissa;
    int fraction = bits & ((1 << mantissa) - 1);
    double value;
    if (exponent == highest - lowest + 2) value = fraction ? NAN : INFINITY;
    else if (exponent == 0) value = ldexp((double)fraction, lowest - mantissa);
    else value = ldexp((double)(fraction + (1 << mantissa)), exponent - 1 + lowest - mantissa);
    return bits & 0x8000 ? -value : value;
}

#endif
