/* Integer arithmetic.  Everything that may overflow is computed in unsigned types.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/ops.h"

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

static inline s32 saturated(s64 x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (s32)x;
}

/* The lower 24 bits, zero- or sign-extended. */
static inline u64 unsigned_24(u32 x)
{
    return x & 0xffffff;
}
static inline s64 signed_24(u32 x)
{
    return (s32)(x << 8) >> 8;
}

/* Division by zero gives what an H200 gives: all ones, as quotient and as remainder
 * (recorded in tests/ptx_ops/h200.rec).  The one quotient that does not fit wraps
 * round.  Up to 32 bits a quotient of doubles (of floats up to 16) is right once it is cut: what is missing
 * to the next integer is at least the reciprocal of the dividend.  That vectorises. */
static inline f64 f64_of_u32(u32 x)
{
    return (f64)(s32)(x ^ 0x80000000) + 0x1p31;
}
static inline u32 divide_u32(u32 a, u32 b)
{
    const f64 q = f64_of_u32(a) / f64_of_u32(b == 0 ? 1 : b);
    const bool large = q >= 0x1p31;
    const u32 whole = (u32)(s32)(large ? q - 0x1p31 : q) ^ (large ? 0x80000000 : 0);
    return b == 0 ? ~0u : whole;
}
static inline s32 divide_s32(s32 a, s32 b)
{
    const bool wraps = a == INT32_MIN && b == -1;
    const s32 whole = (s32)((f64)a / (f64)(b == 0 || wraps ? 1 : b));
    return b == 0 ? -1 : whole;
}
static inline u16 divide_u16(u16 a, u16 b)
{
    return b == 0 ? UINT16_MAX : (u16)(s32)((f32)a / (f32)(b == 0 ? 1 : b));
}
static inline s16 divide_s16(s16 a, s16 b)
{
    return b == 0 ? -1 : (s16)(s32)((f32)a / (f32)(b == 0 ? 1 : b));
}
static inline u32 remainder_u32(u32 a, u32 b)
{
    return b == 0 ? ~0u : a - divide_u32(a, b) * b;
}
static inline s32 remainder_s32(s32 a, s32 b)
{
    return b == 0 ? -1 : (s32)((u32)a - (u32)divide_s32(a, b) * (u32)b);
}
static inline u16 remainder_u16(u16 a, u16 b)
{
    return (u16)remainder_s32(a, b);
}
static inline s16 remainder_s16(s16 a, s16 b)
{
    return (s16)remainder_s32(a, b);
}

static inline u64 divide_u64(u64 a, u64 b)
{
    return b == 0 ? ~0ull : a / b;
}
static inline u64 remainder_u64(u64 a, u64 b)
{
    return b == 0 ? ~0ull : a % b;
}
static inline s64 divide_s64(s64 a, s64 b)
{
    if (b == 0) return -1;
    return b == -1 ? (s64)(0 - (u64)a) : a / b;
}
static inline s64 remainder_s64(s64 a, s64 b)
{
    if (b == 0) return -1;
    return b == -1 ? 0 : a % b;
}

/* Two halves of a word at a time. */
static inline u32 halves(u32 high, u32 low)
{
    return high << 16 | (low & 0xffff);
}
static inline s32 upper(u32 x)
{
    return (s32)x >> 16;
}
static inline s32 lower(u32 x)
{
    return (s16)x;
}
static inline s32 least(s32 a, s32 b)
{
    return a < b ? a : b;
}
static inline s32 most(s32 a, s32 b)
{
    return a > b ? a : b;
}

/* Byte i of a word in the signedness of a type. */
static inline s32 byte_u32(u32 x, int i)
{
    return (u8)(x >> 8 * i);
}
static inline s32 byte_s32(u32 x, int i)
{
    return (s8)(x >> 8 * i);
}
static inline s32 half_u32(u32 x, int i)
{
    return (u16)(x >> 16 * i);
}
static inline s32 half_s32(u32 x, int i)
{
    return (s16)(x >> 16 * i);
}

static inline u32 distance_u32(u32 a, u32 b)
{
    return a < b ? b - a : a - b;
}
static inline u32 distance_s32(s32 a, s32 b)
{
    return a < b ? (u32)b - (u32)a : (u32)a - (u32)b;
}
static inline u64 distance_u64(u64 a, u64 b)
{
    return a < b ? b - a : a - b;
}
static inline u64 distance_s64(s64 a, s64 b)
{
    return a < b ? (u64)b - (u64)a : (u64)a - (u64)b;
}

#define OP_ROWS  "ptx/exec/ops_int.inc"
#define OP_TABLE ptx_ops_int
#include "ptx/exec/ops_expand.h"
