/* The approximate instructions.  Each is computed in double precision, or by one correctly rounded operation,
 * so that the results of all variants are the same and lie well within the bounds of the ISA.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/half.h"
#include "ptx/exec/rounding.h"

#if defined(PTX_FLUSHES)
#define FLUSHING            rn_ftz
#define FLUSHED_1(fn, a)    fn(a)
#define FLUSHED_2(fn, a, b) fn(a, b)
#else
#define FLUSHING            rn
#define FLUSHED_1(fn, a)    flush_32(fn(flush_32(a)))
#define FLUSHED_2(fn, a, b) flush_32(fn(flush_32(a), flush_32(b)))
#endif

/* 2^x as a double.  The fraction is at most one half; the polynomial is the exponential's series. */
static inline f64 power_of_2(f64 x)
{
    const f64 inside = x < 200 ? (x > -200 ? x : -200.0) : 200.0; /* NaN: any finite number */
    const f64 whole = __builtin_rint(inside), t = (inside - whole) * 0.6931471805599453094;
    const f64 p =
        1 + t * (1 + t * (1.0 / 2 +
                          t * (1.0 / 6 +
                               t * (1.0 / 24 +
                                    t * (1.0 / 120 + t * (1.0 / 720 + t * (1.0 / 5040 +
                                                                           t * (1.0 / 40320))))))));
    /* The whole part lies in the low bits of this sum. */
    const u64 exponent = as_u64(whole + 0x1.8p52) - as_u64(0x1.8p52);
    return x == x ? as_f64(as_u64(p) + (exponent << 52)) : x;
}

/* log2 of a positive finite number, by the series of log((1 + s) / (1 - s)). */
static inline f64 log_of(f64 x)
{
    const u64 bits = as_u64(x);
    const u64 shifted = bits - 0x3fe6a09e00000000; /* so that the mantissa starts at sqrt(1/2) */
    const f64 mantissa = as_f64(bits - (shifted & 0xfff0000000000000));
    const u64 biased = ((shifted >> 52) + 1024) & 0xfff; /* of any float: 875 to 1152 */
    const f64 whole = as_f64(0x4330000000000000 | biased) - (0x1p52 + 1024);
    const f64 s = (mantissa - 1) / (mantissa + 1), q = s * s;
    const f64 series =
        1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11)))));
    return whole + s * series * 2.8853900817779268147;
}
static inline f32 log2_32(f32 x)
{
    const f32 regular = (f32)log_of(x > 0 ? (f64)x : 1.0);
    const f32 infinite = x == 0 ? -__builtin_inff() : x > 0 ? x : as_f32(NAN_32);
    return x > 0 && x < __builtin_inff() ? regular : infinite;
}

/* Sine and cosine by quarter turns. */
static inline f64 sine_near_0(f64 y)
{
    const f64 q = y * y;
    return y * (1 - q * (1.0 / 6 - q * (1.0 / 120 - q * (1.0 / 5040 - q * (1.0 / 362880)))));
}
static inline f64 cosine_near_0(f64 y)
{
    const f64 q = y * y;
    return 1 - q * (1.0 / 2 -
                    q * (1.0 / 24 - q * (1.0 / 720 - q * (1.0 / 40320 - q * (1.0 / 3628800)))));
}
static inline f64 turned(f64 x, f64 quarters)
{
    const f64 t = x * 0.63661977236758134308, k = __builtin_rint(t);
    const f64 y = (t - k) * 1.5707963267948966192, j = k + quarters;
    const f64 m = j - 4 * __builtin_floor(j * 0.25); /* 0, 1, 2 or 3 */
    const f64 value = m == 1 || m == 3 ? cosine_near_0(y) : sine_near_0(y);
    return m >= 2 ? -value : value;
}
static inline f32 sine_32(f32 x)
{
    return x == 0 ? x : canonical_32((f32)turned((f64)x, 0));
}
static inline f32 cosine_32(f32 x)
{
    return canonical_32((f32)turned((f64)x, 1));
}

static inline f32 tangent_32(f32 x)
{
    const f64 a = x, e = power_of_2(a * 2.8853900817779268147);
    const f64 regular = (e - 1) / (e + 1), small = a - a * a * a * (1.0 / 3);
    const f64 inside = a < 0x1p-6 && a > -0x1p-6 ? small : regular;
    return canonical_32(x == 0 ? x : a > 20 ? 1.0f : a < -20 ? -1.0f : (f32)inside);
}

static inline f32 power_32(f32 x)
{
    return canonical_32((f32)power_of_2((f64)x));
}
static inline f32 inverse_32(f32 x)
{
    return canonical_32(1.0f / x);
}
static inline f32 root_32(f32 x)
{
    return canonical_32(__builtin_sqrtf(x));
}
static inline f32 inverse_root_32(f32 x)
{
    return canonical_32(1.0f / __builtin_sqrtf(x));
}

/* PTX ISA 9.7.3.8: above 2^126 the reciprocal counts as zero. */
static inline f32 quotient_32(f32 a, f32 b)
{
    const u32 magnitude = as_u32(b) & ~SIGN_32;
    const bool far = magnitude > 0x7e800000 && magnitude < 0x7f800000;
    const f32 zero = as_f32(as_u32(b) & SIGN_32);
    return canonical_32(far ? a * zero : a / b);
}

static inline f32 full_quotient_32(f32 a, f32 b)
{
    return canonical_32(a / b);
}

/* The seeds for double precision use and make upper words only. */
static inline f64 upper_flushed(u64 bits)
{
    const u64 upper = bits & 0xffffffff00000000;
    return as_f64(bits & 0x7ff0000000000000 ? upper : bits & SIGN_64);
}
static inline u64 upper_result(f64 x)
{
    const u64 bits = as_u64(x), upper = bits & 0xffffffff00000000;
    const u64 number = bits & 0x7ff0000000000000 ? upper : bits & SIGN_64;
    return is_nan_64(x) ? 0x7fffffff00000000 : number;
}

/* Halves by way of floats. */
static inline u32 tangent_f16(u32 h)
{
    return f16_bits(tangent_32(f16_value(h)));
}
static inline u32 tangent_bf16(u32 h)
{
    return bf16_bits(tangent_32(bf16_value(h)));
}
static inline u32 power_f16(u32 h)
{
    return f16_bits(power_32(f16_value(h)));
}
static inline u32 power_ftz_bf16(u32 h)
{
    return flush_bf16(bf16_bits(power_32(bf16_value(flush_bf16(h)))));
}

#define OP_ROWS  "ptx/exec/ops_approx.inc"
#define OP_TABLE ptx_ops_approx
#include "ptx/exec/ops_expand.h"
