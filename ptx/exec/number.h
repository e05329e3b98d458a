/* Floating-point values as bits: NaNs, subnormals, signs, order, and sums that are not rounded twice.
 * Everything here is branch-free so that the loops vectorise.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_NUMBER_H
#define PTX_EXEC_NUMBER_H

#include <string.h>

#include "ptx/exec/ops.h"

#if defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMAF)
#define PTX_HAVE_FMA 1
#else
#define PTX_HAVE_FMA 0
#endif

static inline u32 as_u32(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline f32 as_f32(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline u64 as_u64(f64 x)
{
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline f64 as_f64(u64 bits)
{
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define SIGN_32 0x80000000u
#define SIGN_64 0x8000000000000000u
#define NAN_32  0x7fffffffu         /* the NaN that this hardware makes, whatever NaN went in */
#define NAN_64  0xfff8000000000000u /* what it makes of doubles that were no NaNs */

static inline bool is_nan_32(f32 x)
{
    return x != x;
}
static inline bool is_nan_64(f64 x)
{
    return x != x;
}
static inline f32 canonical_32(f32 x)
{
    return x == x ? x : as_f32(NAN_32);
}
static inline f64 canonical_64(f64 x)
{
    return x == x ? x : as_f64(NAN_64);
}

/* A NaN that signals no more, its payload kept: what conversions of doubles pass on. */
static inline f64 quiet_64(f64 nan)
{
    return as_f64(as_u64(nan) | 0x0008000000000000);
}

/* .ftz: a subnormal becomes a zero of its sign. */
static inline f32 flush_32(f32 x)
{
    const u32 bits = as_u32(x);
    return as_f32(bits & 0x7f800000 ? bits : bits & SIGN_32);
}

/* .ftz of a result.  The smallest normal number may have been rounded up to where only 23 places were left:
 * the same computed 2^64 times larger tells. */
static inline f32 flushed_32(f32 x, f32 scaled)
{
    const u32 bits = as_u32(x), magnitude = bits & ~SIGN_32;
    const bool tiny = magnitude < 0x00800000 ||
                      (magnitude == 0x00800000 && (as_u32(scaled) & ~SIGN_32) < 0x20800000);
    return as_f32(tiny ? bits & SIGN_32 : bits);
}

/* .sat: into [0, 1]; NaN and -0 become +0. */
static inline f32 unit_32(f32 x)
{
    return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}
static inline f64 unit_64(f64 x)
{
    return x > 0 ? (x < 1 ? x : 1.0) : 0.0;
}

/* An order of all values that are not NaN, with -0 below +0. */
static inline s32 rank_32(f32 x)
{
    const s32 bits = (s32)as_u32(x);
    return bits ^ (s32)((u32)(bits >> 31) >> 1);
}
static inline s64 rank_64(f64 x)
{
    const s64 bits = (s64)as_u64(x);
    return bits ^ (s64)((u64)(bits >> 63) >> 1);
}

/* The sum of p and c, exact if it fits a double; otherwise the one of its two neighbours whose last bit
 * is odd.  Rounding that to a format of at least two bits less gives the sum correctly rounded. */
static inline f64 odd_sum(f64 p, f64 c)
{
    const f64 sum = p + c, part = sum - p;
    const f64 error = (p - (sum - part)) + (c - part);
    const u64 bits = as_u64(sum);
    const bool inexact = error < 0 || error > 0, outwards = (error > 0) == (sum > 0);
    const u64 odd = outwards ? bits + 1 : bits - 1;
    return as_f64(inexact && !(bits & 1) ? odd : bits);
}

/* A double rounded to a float in the same way. */
static inline f32 odd_32(f64 x)
{
    const f32 near = (f32)x;
    const u32 bits = as_u32(near);
    const f64 back = near;
    const bool inexact = back < x || back > x, outwards = (back < x) == (x > 0);
    return as_f32(inexact && !(bits & 1) ? (outwards ? bits + 1 : bits - 1) : bits);
}

/* Rounded to an integral value, by the names of PTX's modifiers. */
static inline f32 integral_rni_32(f32 x)
{
    return __builtin_rintf(x);
}
static inline f32 integral_rzi_32(f32 x)
{
    return __builtin_truncf(x);
}
static inline f32 integral_rmi_32(f32 x)
{
    return __builtin_floorf(x);
}
static inline f32 integral_rpi_32(f32 x)
{
    return __builtin_ceilf(x);
}
static inline f64 integral_rni_64(f64 x)
{
    return __builtin_rint(x);
}
static inline f64 integral_rzi_64(f64 x)
{
    return __builtin_trunc(x);
}
static inline f64 integral_rmi_64(f64 x)
{
    return __builtin_floor(x);
}
static inline f64 integral_rpi_64(f64 x)
{
    return __builtin_ceil(x);
}

#endif
