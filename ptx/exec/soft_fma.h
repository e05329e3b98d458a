/* Fused multiply-add where the processor has none.  Single precision goes by way of doubles and
 * vectorises; double precision is done in integers.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_SOFT_FMA_H
#define PTX_EXEC_SOFT_FMA_H

#include "ptx/exec/number.h"

/* The product of two floats is exact in a double. */
static inline f32 soft_fma_rn_32(f32 a, f32 b, f32 c)
{
    return (f32)odd_sum((f64)a * b, c);
}

/* For the other modes the nearest float is taken back by one place where it lies on the wrong side. */
static inline f32 soft_fma_rz_32(f32 a, f32 b, f32 c)
{
    const f64 exact = odd_sum((f64)a * b, c);
    const f32 near = (f32)exact;
    const bool outside = exact < 0 ? near < exact : near > exact;
    return as_f32(as_u32(near) - outside);
}

static inline f32 soft_fma_rm_32(f32 a, f32 b, f32 c)
{
    const f64 product = (f64)a * b, exact = odd_sum(product, c);
    const f32 near = (f32)exact;
    const u32 bits = as_u32(near), below = bits >> 31 ? bits + 1 : bits - 1;
    const u32 sign = ((u32)(as_u64(product) >> 32) | as_u32(c)) & SIGN_32; /* of an exact zero */
    return exact == 0 ? as_f32(sign) : near > exact ? as_f32(below) : near;
}

static inline f32 soft_fma_rp_32(f32 a, f32 b, f32 c)
{
    const f64 exact = odd_sum((f64)a * b, c);
    const f32 near = (f32)exact;
    const u32 bits = as_u32(near), above = bits >> 31 ? bits - 1 : bits + 1;
    return near < exact ? as_f32(above) : near;
}

__extension__ typedef unsigned __int128 soft_u128;

typedef enum soft_mode { SOFT_RN, SOFT_RZ, SOFT_RM, SOFT_RP } soft_mode;

typedef struct soft_number {
    u64 sign;     /* 0 or 1 */
    s32 exponent; /* of the last place of `digits` */
    u64 digits;
} soft_number;

static inline soft_number soft_unpack(f64 x)
{
    const u64 bits = as_u64(x), fraction = bits & 0xfffffffffffff;
    const s32 field = (s32)(bits >> 52 & 0x7ff);
    return (soft_number){ bits >> 63, (field ? field : 1) - 1075,
                          field ? fraction | 1ull << 52 : fraction };
}

static inline s32 soft_length(soft_u128 x)
{
    const u64 high = (u64)(x >> 64);
    return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((u64)x);
}

/* digits * 2^exponent to a double; bits that were lost before stand in the lowest one. */
static inline f64 soft_round(u64 sign, soft_u128 digits, s32 exponent, soft_mode mode)
{
    s32 drop = soft_length(digits) - 53;
    if (exponent + drop < -1074) drop = -1074 - exponent;
    u64 kept;
    if (drop <= 0) {
        kept = (u64)digits << -drop;
    } else {
        const soft_u128 all = drop > 126 ? 1 : digits; /* far below the last place: a trace of it */
        const s32 shift = drop > 126 ? 3 : drop;
        const soft_u128 low = all & (((soft_u128)1 << shift) - 1),
                        half = (soft_u128)1 << (shift - 1);
        kept = (u64)(all >> shift);
        const bool up = mode == SOFT_RN   ? low > half || (low == half && (kept & 1))
                        : mode == SOFT_RM ? low != 0 && sign
                        : mode == SOFT_RP ? low != 0 && !sign
                                          : false;
        kept += up;
    }
    exponent += drop;
    if (kept >> 53) {
        kept >>= 1;
        exponent++;
    }
    u64 bits = kept;
    if (kept >> 52) bits += (u64)(s64)(exponent + 1074) << 52;
    if (kept >> 52 && exponent + 1075 >= 0x7ff) {
        const bool to_infinity = mode == SOFT_RN || mode == (sign ? SOFT_RM : SOFT_RP);
        bits = 0x7ff0000000000000 - !to_infinity;
    }
    return as_f64(bits | sign << 63);
}

static inline f64 soft_fma_64(f64 a, f64 b, f64 c, soft_mode mode)
{
    const u64 top = 0x7ff0000000000000;
    /* Infinities and NaNs need no rounding; a product of finite factors is finite here. */
    if ((as_u64(a) & top) == top || (as_u64(b) & top) == top) return a * b + c;
    if ((as_u64(c) & top) == top) return c;
    const soft_number x = soft_unpack(a), y = soft_unpack(b), z = soft_unpack(c);
    if (x.digits == 0 || y.digits == 0 || z.digits == 0) {
        /* An exact product, or a product alone. */
        if (x.digits == 0 || y.digits == 0) {
            if (z.digits != 0) return c;
            const u64 sign = x.sign ^ y.sign;
            return as_f64((sign == z.sign ? sign : mode == SOFT_RM) << 63);
        }
        return soft_round(x.sign ^ y.sign, (soft_u128)x.digits * y.digits, x.exponent + y.exponent,
                          mode);
    }
    /* Both with the leading bit at place 124; then the smaller one shifted under the larger. */
    soft_u128 p = (soft_u128)x.digits * y.digits, q = z.digits;
    u64 p_sign = x.sign ^ y.sign, q_sign = z.sign;
    s32 p_shift = 125 - soft_length(p), q_shift = 125 - soft_length(q);
    s32 p_exponent = x.exponent + y.exponent - p_shift, q_exponent = z.exponent - q_shift;
    p <<= p_shift;
    q <<= q_shift;
    if (q_exponent > p_exponent || (q_exponent == p_exponent && q > p)) {
        const soft_u128 t = p;
        const u64 sign = p_sign;
        const s32 exponent = p_exponent;
        p = q, p_sign = q_sign, p_exponent = q_exponent;
        q = t, q_sign = sign, q_exponent = exponent;
    }
    const s32 distance = p_exponent - q_exponent;
    soft_u128 low = distance > 126 ? 1 : q >> distance;
    if (distance != 0 && distance <= 126 && low << distance != q) low |= 1;
    const soft_u128 sum = p_sign == q_sign ? p + low : p - low;
    if (sum == 0) return as_f64((u64)(mode == SOFT_RM) << 63);
    return soft_round(p_sign, sum, p_exponent, mode);
}

#endif
