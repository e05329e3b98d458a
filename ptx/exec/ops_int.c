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

/* Division by zero gives all ones and the dividend as the remainder; the one quotient that does not
 * fit wraps round. */
#define DIVISION(U, S)                                                                             \
    static inline U divide_##U(U a, U b)                                                           \
    {                                                                                              \
        return b == 0 ? (U)-1 : (U)(a / (b + (U)(b == 0)));                                        \
    }                                                                                              \
    static inline U remainder_##U(U a, U b)                                                        \
    {                                                                                              \
        return b == 0 ? a : (U)(a % (b + (U)(b == 0)));                                            \
    }                                                                                              \
    static inline S divide_##S(S a, S b)                                                           \
    {                                                                                              \
        if (b == 0) return -1;                                                                     \
        return b == -1 ? (S)(0 - (U)a) : (S)(a / b);                                               \
    }                                                                                              \
    static inline S remainder_##S(S a, S b)                                                        \
    {                                                                                              \
        if (b == 0) return a;                                                                      \
        return b == -1 ? 0 : (S)(a % b);                                                           \
    }
DIVISION(u16, s16)
DIVISION(u32, s32)
DIVISION(u64, s64)

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
