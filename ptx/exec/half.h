/* The 16-bit formats as bits: from and to single precision.  f16 is binary16; bf16 is the upper half of a
 * float.  Branch-free, so that the loops vectorise.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_HALF_H
#define PTX_EXEC_HALF_H

#include "ptx/exec/number.h"

#define SIGN_16  0x8000u
#define NAN_F16  0x7fffu
#define NAN_BF16 0x7fffu

static inline bool is_nan_f16(u32 h)
{
    return (h & 0x7fff) > 0x7c00;
}
static inline bool is_nan_bf16(u32 h)
{
    return (h & 0x7fff) > 0x7f80;
}

/* Exact.  A subnormal half is an integer multiple of 2^-24. */
static inline f32 f16_value(u32 h)
{
    const u32 magnitude = h & 0x7fff, sign = (h & SIGN_16) << 16;
    const u32 normal = (magnitude << 13) + (112u << 23);
    const u32 small = as_u32((f32)(s32)magnitude * 0x1p-24f);
    const u32 top = normal + (112u << 23); /* infinity and NaN */
    return as_f32(sign | (magnitude < 0x400 ? small : magnitude >= 0x7c00 ? top : normal));
}

static inline f32 bf16_value(u32 h)
{
    return as_f32(h << 16);
}

/* To nearest even.  The places below the half's last one are 13 bits of the float, or more for results
 * below 2^-14, where adding 0.5 leaves the result in the sum's low bits. */
static inline u32 f16_bits(f32 x)
{
    const u32 bits = as_u32(x), sign = bits >> 16 & SIGN_16, magnitude = bits & ~SIGN_32;
    const u32 normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    const u32 small = as_u32(as_f32(magnitude) + 0.5f) - as_u32(0.5f);
    const u32 finite = magnitude < 0x38800000 ? small : normal;
    const u32 large = magnitude > 0x7f800000 ? NAN_F16 : 0x7c00;
    return magnitude > 0x7f800000 ? NAN_F16 : sign | (magnitude >= 0x477ff000 ? large : finite);
}

static inline u32 bf16_bits(f32 x)
{
    const u32 bits = as_u32(x);
    return is_nan_32(x) ? NAN_BF16 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* The other roundings: the nearest one taken back, or on, by one place where it lies on the wrong side.  NaNs
 * compare as neither. */
#define DIRECTED(format)                                                                           \
    static inline u32 format##_rn(f32 x)                                                           \
    {                                                                                              \
        return format##_bits(x);                                                                   \
    }                                                                                              \
    static inline u32 format##_rz(f32 x)                                                           \
    {                                                                                              \
        const u32 h = format##_bits(x);                                                            \
        const f32 y = format##_value(h);                                                           \
        return h - (x < 0 ? y < x : y > x);                                                        \
    }                                                                                              \
    static inline u32 format##_rm(f32 x)                                                           \
    {                                                                                              \
        const u32 h = format##_bits(x);                                                            \
        return format##_value(h) > x ? (h & SIGN_16 ? h + 1 : h - 1) : h;                          \
    }                                                                                              \
    static inline u32 format##_rp(f32 x)                                                           \
    {                                                                                              \
        const u32 h = format##_bits(x);                                                            \
        return format##_value(h) < x ? (h & SIGN_16 ? h - 1 : h + 1) : h;                          \
    }
DIRECTED(f16)
DIRECTED(bf16)
#undef DIRECTED

/* .ftz of what will be rounded to f16: what stays below the normal range when it is rounded to eleven places
 * becomes zero.  The last such value is 2^-14 less a little under half of the eleventh place. */
static inline f32 flush_to_f16(f32 x)
{
    const u32 bits = as_u32(x);
    return as_f32((bits & ~SIGN_32) < 0x387ff000 ? bits & SIGN_32 : bits);
}

static inline u32 flush_f16(u32 h)
{
    return h & 0x7c00 ? h : h & SIGN_16;
}
static inline u32 unit_f16(u32 h)
{
    return h & SIGN_16 || is_nan_f16(h) ? 0 : h < 0x3c00 ? h : 0x3c00;
}
static inline u32 positive_16(u32 h)
{
    return h & SIGN_16 ? 0 : h;
} /* of numbers and canonical NaNs */
static inline u32 flush_bf16(u32 h)
{
    return h & 0x7f80 ? h : h & SIGN_16;
}

#endif
