/* Conversions between floating-point formats, and rounding to integral values within one.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/halves.h"
#include "ptx/exec/rounding.h"

#if defined(PTX_FLUSHES)
#define FTZ_SCOPE(mode) mode##_ftz
#define FTZ_NARROW(a)   ((f32)(a))
#else
#define FTZ_SCOPE(mode) mode
#define FTZ_NARROW(a)   flushed_32((f32)(a), (f32)((a)*0x1p64))
#endif

static inline u32 canonical_f16(u32 h)
{
    return is_nan_f16(h) ? NAN_F16 : h;
}
static inline u32 canonical_bf16(u32 h)
{
    return is_nan_bf16(h) ? NAN_BF16 : h;
}

/* The NaNs of doubles keep their sign and what fits of their payload. */
static inline u32 f16_kept(f64 x, u32 h)
{
    const u64 bits = as_u64(x);
    return is_nan_64(x) ? (u32)(bits >> 48 & SIGN_16) | 0x7e00 | (u32)(bits >> 42 & 0x3ff) : h;
}
static inline u32 bf16_kept(f64 x, u32 h)
{
    const u64 bits = as_u64(x);
    return is_nan_64(x) ? (u32)(bits >> 48 & SIGN_16) | 0x7fc0 | (u32)(bits >> 45 & 0x7f) : h;
}

/* .satfinite: infinity and what would overflow become the largest number. */
static inline u32 finite_f16(u32 h)
{
    return (h & 0x7fff) == 0x7c00 ? h - 1 : h;
}
static inline u32 finite_bf16(u32 h)
{
    return (h & 0x7fff) == 0x7f80 ? h - 1 : h;
}

/* tf32: a float whose lower 13 bits are zero. */
static inline u32 tf32_nan(f32 x, u32 bits)
{
    return (is_nan_32(x) ? NAN_32 : bits) & ~0x1fffu;
}
/* An H200 cuts the payload of a NaN here, so that 0x7f800001 becomes infinity, and .satfinite takes one place
 * off whatever has the topmost exponent. */
static inline u32 tf32_rna(f32 x)
{
    const u32 bits = as_u32(x);
    const bool finite = (bits & 0x7f800000) != 0x7f800000;
    return (bits + (finite ? 0x1000 : 0)) & ~0x1fffu;
}
static inline u32 lowered_tf32(u32 t)
{
    return (t & 0x7f800000) == 0x7f800000 ? t - 0x2000 : t;
}
static inline u32 tf32_rn(f32 x)
{
    return tf32_nan(x, as_u32(x) + 0xfff + (as_u32(x) >> 13 & 1));
}
static inline u32 tf32_rz(f32 x)
{
    return tf32_nan(x, as_u32(x));
}
static inline u32 finite_tf32(u32 t)
{
    return (t & ~SIGN_32) == 0x7f800000 ? t - 0x2000 : t;
}
static inline u32 positive_32(u32 t)
{
    return t & SIGN_32 ? 0 : t;
}

/* The eight-bit formats, to nearest even, with .satfinite.  Below the normal numbers a float added to the
 * value leaves it, rounded, in the low bits. */
static inline u32 eight_bits(f32 x, u32 shift, u32 bias, f32 magic, f32 least, u32 most)
{
    const u32 bits = as_u32(x), sign = bits >> 24 & 0x80, magnitude = bits & ~SIGN_32;
    const u32 half = (1u << (shift - 1)) - 1;
    const u32 normal = (magnitude + half + (magnitude >> shift & 1) - (bias << 23)) >> shift;
    const u32 small = as_u32(as_f32(magnitude) + magic) - as_u32(magic);
    const u32 finite = as_f32(magnitude) < least ? small : normal;
    return is_nan_32(x) ? 0x7f : sign | (magnitude >= 0x7f800000 || finite > most ? most : finite);
}
static inline u32 e4m3_of(f32 x)
{
    return eight_bits(x, 20, 120, 16384.0f, 0x1p-6f, 0x7e);
}
static inline u32 e5m2_of(f32 x)
{
    return eight_bits(x, 21, 112, 128.0f, 0x1p-14f, 0x7b);
}
static inline u32 positive_8(u32 b)
{
    return b & 0x80 ? 0 : b;
}
static inline u32 same(u32 x)
{
    return x;
}

/* Into f16 they are exact. */
static inline u32 f16_of_e5m2(u32 b)
{
    return canonical_f16(b << 8 & 0xff00);
}
static inline u32 f16_of_e4m3(u32 b)
{
    const u32 magnitude = b & 0x7f, sign = (b & 0x80) << 8;
    const u32 small = f16_bits((f32)(s32)magnitude * 0x1p-9f);
    const u32 number = magnitude < 8 ? small : (magnitude << 7) + (8 << 10);
    return magnitude == 0x7f ? NAN_F16 : sign | number;
}

/* The conversions that half-precision code is full of, with what the processor has for them. */
static void widen_full(warp *w, const insn *i)
{
    _Alignas(64) u16 h[WARP_LANES];
    _Alignas(64) f32 x[WARP_LANES];
    f32 *d = OP_AT(f32, i->d);
    halves_take(h, OP_AT(u32, i->a), ONE_EACH);
    f16_widen(x, h, ONE_EACH);
    OP_LANES d[l] = canonical_32(x[l]);
}

static void narrow_full(warp *w, const insn *i)
{
    _Alignas(64) u16 h[WARP_LANES];
    f16_narrow(h, OP_AT(f32, i->a), ONE_EACH);
    halves_give(OP_AT(u32, i->d), h, ONE_EACH);
}

static void narrow_pair_full(warp *w, const insn *i)
{
    _Alignas(64) u16 upper[WARP_LANES], lower[WARP_LANES];
    u32 *d = OP_AT(u32, i->d);
    f16_narrow(upper, OP_AT(f32, i->a), ONE_EACH);
    f16_narrow(lower, OP_AT(f32, i->b), ONE_EACH);
    OP_LANES d[l] = (u32)upper[l] << 16 | lower[l];
}

#define OP_ROWS  "ptx/exec/ops_cvt.inc"
#define OP_TABLE ptx_ops_cvt
#include "ptx/exec/ops_expand.h"
