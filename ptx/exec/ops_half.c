/* f16 and bf16, one at a time and in pairs.  Sums and products are formed in single or double precision,
 * exactly or rounded to odd, and rounded once to the half.  SPDX-License-Identifier: MIT */
#include "ptx/exec/half.h"

/* As odd_sum, of floats. */
static inline f32 odd_sum_32(f32 p, f32 c)
{
    const f32 sum = p + c, part = sum - p;
    const f32 error = (p - (sum - part)) + (c - part);
    const u32 bits = as_u32(sum);
    const bool inexact = error < 0 || error > 0, outwards = (error > 0) == (sum > 0);
    return as_f32(inexact && !(bits & 1) ? (outwards ? bits + 1 : bits - 1) : bits);
}

/* A sum of floats has twice the places and more, so rounding it again does no harm; neither do products
 * of f16, which are exact.  Products of bf16 may become subnormal floats. */
static inline u32 f16_add(u32 a, u32 b)
{
    return f16_bits(f16_value(a) + f16_value(b));
}
static inline u32 f16_sub(u32 a, u32 b)
{
    return f16_bits(f16_value(a) - f16_value(b));
}
static inline u32 f16_mul(u32 a, u32 b)
{
    return f16_bits(f16_value(a) * f16_value(b));
}
static inline u32 f16_fma(u32 a, u32 b, u32 c)
{
    return f16_bits(odd_sum_32(f16_value(a) * f16_value(b), f16_value(c)));
}
static inline u32 bf16_add(u32 a, u32 b)
{
    return bf16_bits(bf16_value(a) + bf16_value(b));
}
static inline u32 bf16_sub(u32 a, u32 b)
{
    return bf16_bits(bf16_value(a) - bf16_value(b));
}
static inline u32 bf16_mul(u32 a, u32 b)
{
    return bf16_bits(odd_32((f64)bf16_value(a) * bf16_value(b)));
}
static inline u32 bf16_fma(u32 a, u32 b, u32 c)
{
    return bf16_bits(odd_32(odd_sum((f64)bf16_value(a) * bf16_value(b), bf16_value(c))));
}

/* min and max on the bits: rank orders all numbers of both formats. */
static inline s32 rank_16(u32 h)
{
    const s32 bits = (s16)h;
    return bits ^ (bits >> 31 & 0x7fff);
}
#define CHOICES(format, nan)                                                                       \
    static inline u32 format##_min(u32 a, u32 b)                                                   \
    {                                                                                              \
        const u32 r = rank_16(a) < rank_16(b) ? a : b, s = is_nan_##format(a) ? b : r;             \
        const u32 t = is_nan_##format(b) ? a : s;                                                  \
        return is_nan_##format(t) ? nan : t & 0xffff;                                              \
    }                                                                                              \
    static inline u32 format##_max(u32 a, u32 b)                                                   \
    {                                                                                              \
        const u32 r = rank_16(a) > rank_16(b) ? a : b, s = is_nan_##format(a) ? b : r;             \
        const u32 t = is_nan_##format(b) ? a : s;                                                  \
        return is_nan_##format(t) ? nan : t & 0xffff;                                              \
    }                                                                                              \
    static inline u32 format##_min_nan(u32 a, u32 b)                                               \
    {                                                                                              \
        const u32 r = rank_16(a) < rank_16(b) ? a : b;                                             \
        return is_nan_##format(a) || is_nan_##format(b) ? nan : r & 0xffff;                        \
    }                                                                                              \
    static inline u32 format##_max_nan(u32 a, u32 b)                                               \
    {                                                                                              \
        const u32 r = rank_16(a) > rank_16(b) ? a : b;                                             \
        return is_nan_##format(a) || is_nan_##format(b) ? nan : r & 0xffff;                        \
    }                                                                                              \
    static inline u32 format##_signed_by(u32 h, u32 a, u32 b)                                      \
    {                                                                                              \
        return is_nan_##format(h) ? h : h | ((a ^ b) & SIGN_16);                                   \
    }
CHOICES(f16, NAN_F16)
CHOICES(bf16, NAN_BF16)

static inline u32 magnitude(u32 h)
{
    return h & 0x7fff;
}

#define OP_ROWS  "ptx/exec/ops_half.inc"
#define OP_TABLE ptx_ops_half
#include "ptx/exec/ops_expand.h"
