/* f16 and bf16, one at a time and in pairs.  Sums and products are formed in single precision, exactly or
 * rounded to odd, and rounded once to the half.  SPDX-License-Identifier: MIT */
#include "ptx/exec/half_rows.h"

/* As odd_sum, of floats. */
static inline f32 odd_sum_32(f32 p, f32 c)
{
    const f32 sum = p + c, part = sum - p;
    const f32 error = (p - (sum - part)) + (c - part);
    const u32 bits = as_u32(sum);
    const bool inexact = error < 0 || error > 0, outwards = (error > 0) == (sum > 0);
    return as_f32(inexact && !(bits & 1) ? (outwards ? bits + 1 : bits - 1) : bits);
}

/* min and max on the bits: rank orders all numbers of both formats.  Everything is 16 bits wide, so that twice
 * as many fit a vector. */
static inline s16 rank_16(u16 h)
{
    const s16 bits = (s16)h;
    return (s16)(bits ^ (s16)((u16)(bits >> 15) >> 1));
}
static inline u16 magnitude(u16 h)
{
    return h & 0x7fff;
}

#define CHOICES(format, infinity, nan)                                                             \
    static inline u16 format##_canonical(u16 h)                                                    \
    {                                                                                              \
        return magnitude(h) > infinity ? nan : h;                                                  \
    }                                                                                              \
    static inline u16 format##_chosen(u16 r, u16 a, u16 b)                                         \
    {                                                                                              \
        const u16 s = magnitude(a) > infinity ? b : r, t = magnitude(b) > infinity ? a : s;        \
        return magnitude(t) > infinity ? nan : t;                                                  \
    }                                                                                              \
    static inline u16 format##_min(u16 a, u16 b)                                                   \
    {                                                                                              \
        return format##_chosen(rank_16(a) < rank_16(b) ? a : b, a, b);                             \
    }                                                                                              \
    static inline u16 format##_max(u16 a, u16 b)                                                   \
    {                                                                                              \
        return format##_chosen(rank_16(a) > rank_16(b) ? a : b, a, b);                             \
    }                                                                                              \
    static inline u16 format##_min_nan(u16 a, u16 b)                                               \
    {                                                                                              \
        const u16 r = rank_16(a) < rank_16(b) ? a : b, s = magnitude(a) > infinity ? nan : r;      \
        return magnitude(b) > infinity ? nan : s;                                                  \
    }                                                                                              \
    static inline u16 format##_max_nan(u16 a, u16 b)                                               \
    {                                                                                              \
        const u16 r = rank_16(a) > rank_16(b) ? a : b, s = magnitude(a) > infinity ? nan : r;      \
        return magnitude(b) > infinity ? nan : s;                                                  \
    }                                                                                              \
    static inline u16 format##_signed_by(u16 h, u16 a, u16 b)                                      \
    {                                                                                              \
        const u16 sign = (a ^ b) & SIGN_16;                                                        \
        return magnitude(h) > infinity ? h : h | sign;                                             \
    }
CHOICES(f16, 0x7c00, NAN_F16)
CHOICES(bf16, 0x7f80, NAN_BF16)

/* Sources beyond those that a row has are read from its first one and not used. */
#define SOURCE_2(count) ((count) > 1 ? i->b : i->a)
#define SOURCE_3(count) ((count) > 2 ? i->c : i->a)

#define TAKE(format, to, at, n, before)                                                            \
    halves_take(h, OP_AT(u32, at), n);                                                             \
    HALF_LOOP(n) h[k] = (u16)before(h[k]);                                                         \
    format##_widen(to, h, n);
#define DEFINE_FLOATS(names, id, n, count, format, before, calculation, after)                     \
    static void id##_full(warp *w, const insn *i)                                                  \
    {                                                                                              \
        _Alignas(64) u16 h[n];                                                                     \
        _Alignas(64) f32 xs[n], ys[n], zs[n];                                                      \
        TAKE(format, xs, i->a, n, before)                                                          \
        TAKE(format, ys, SOURCE_2(count), n, before)                                               \
        if (count > 2) {                                                                           \
            TAKE(format, zs, SOURCE_3(count), n, before)                                           \
        }                                                                                          \
        HALF_LOOP(n)                                                                               \
        {                                                                                          \
            const f32 x = xs[k], y = ys[k], z = count > 2 ? zs[k] : 0;                             \
            (void)z;                                                                               \
            xs[k] = calculation;                                                                   \
        }                                                                                          \
        format##_narrow(h, xs, n);                                                                 \
        HALF_LOOP(n) h[k] = (u16)after(h[k]);                                                      \
        halves_give(OP_AT(u32, i->d), h, n);                                                       \
    }
#define DEFINE_BITS(names, id, n, count, result)                                                   \
    static void id##_full(warp *w, const insn *i)                                                  \
    {                                                                                              \
        _Alignas(64) u16 xs[n], ys[n];                                                             \
        halves_take(xs, OP_AT(u32, i->a), n);                                                      \
        halves_take(ys, OP_AT(u32, SOURCE_2(count)), n);                                           \
        HALF_LOOP(n)                                                                               \
        {                                                                                          \
            const u16 x = xs[k], y = ys[k];                                                        \
            (void)y;                                                                               \
            xs[k] = (u16)(result);                                                                 \
        }                                                                                          \
        halves_give(OP_AT(u32, i->d), xs, n);                                                      \
    }
HALF_ROWS(DEFINE_FLOATS, DEFINE_BITS)

/* bf16 is the upper half of a float, so it is taken out of its word and put back there without packing.  A sum
 * or a product of floats may be rounded again: the product is exact down to half of the smallest bf16. */
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
    return bf16_bits(bf16_value(a) * bf16_value(b));
}

/* The float that rounds to the fused sum.  Where the product is too small for a float only its sign counts. */
static inline f32 bf16_fused(f32 x, f32 y, f32 z)
{
    const f32 product = x * y;
    return z == 0 && x != 0 && y != 0 ? product : odd_sum_32(product, z);
}
static inline u32 upper_half(u32 h)
{
    return h & 0xffff0000;
}

static inline void bf16_fma(warp *w, const insn *i, bool two, bool relu)
{
    const u32 *as = OP_AT(u32, i->a), *bs = OP_AT(u32, i->b), *cs = OP_AT(u32, i->c);
    u32 *d = OP_AT(u32, i->d);
    _Alignas(64) u32 low[WARP_LANES], high[WARP_LANES];
    u32 too_large = 0;
    OP_LANES
    {
        const f32 x = bf16_value(as[l]), y = bf16_value(bs[l]), z = bf16_value(cs[l]);
        too_large |= (as_u32(x * y) & ~SIGN_32) == 0x7f800000;
        low[l] = bf16_bits(bf16_fused(x, y, z));
    }
    OP_LANES
    {
        const f32 x = as_f32(upper_half(as[l])), y = as_f32(upper_half(bs[l]));
        const f32 z = as_f32(upper_half(cs[l]));
        too_large |= (as_u32(x * y) & ~SIGN_32) == 0x7f800000;
        high[l] = bf16_bits(bf16_fused(x, y, z));
    }
    if (too_large) /* the addend may bring a product back: seldom enough to do it all again */
        OP_LANES
        {
            const u32 a = as[l], b = bs[l], c = cs[l];
            low[l] = bf16_bits(odd_32(odd_sum((f64)bf16_value(a) * bf16_value(b), bf16_value(c))));
            high[l] = bf16_bits(odd_32(odd_sum((f64)as_f32(upper_half(a)) * as_f32(upper_half(b)),
                                               as_f32(upper_half(c)))));
        }
    OP_LANES
    {
        const u32 lower = relu ? positive_16(low[l]) : low[l];
        const u32 upper = relu ? positive_16(high[l]) : high[l];
        d[l] = two ? lower | upper << 16 : lower;
    }
}
static void bf16_fma_full(warp *w, const insn *i)
{
    bf16_fma(w, i, false, false);
}
static void bf16_fma_relu_full(warp *w, const insn *i)
{
    bf16_fma(w, i, false, true);
}
static void bf16x2_fma_full(warp *w, const insn *i)
{
    bf16_fma(w, i, true, false);
}
static void bf16x2_fma_relu_full(warp *w, const insn *i)
{
    bf16_fma(w, i, true, true);
}

#define OP_ROWS  "ptx/exec/ops_half.inc"
#define OP_TABLE ptx_ops_half
#include "ptx/exec/ops_expand.h"
