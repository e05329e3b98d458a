/* Conversions that have an integer on one side or on both.  SPDX-License-Identifier: MIT */
#include "ptx/exec/half.h"
#include "ptx/exec/rounding.h"

/* ---- between integers ---- */

#define MIN_u8  0
#define MAX_u8  UINT8_MAX
#define MIN_u16 0
#define MAX_u16 UINT16_MAX
#define MIN_u32 0
#define MAX_u32 UINT32_MAX
#define MIN_u64 0
#define MAX_u64 INT64_MAX /* of what a signed source can hold */
#define MIN_s8  INT8_MIN
#define MAX_s8  INT8_MAX
#define MIN_s16 INT16_MIN
#define MAX_s16 INT16_MAX
#define MIN_s32 INT32_MIN
#define MAX_s32 INT32_MAX
#define MIN_s64 INT64_MIN
#define MAX_s64 INT64_MAX

static inline s64 between(s64 x, s64 least, s64 most)
{
    return x < least ? least : x > most ? most : x;
}
static inline u64 at_most(u64 x, u64 most)
{
    return x > most ? most : x;
}

/* ---- from floating point, once rounded to an integral value ---- */

/* Values outside the type give its nearest end.  A NaN gives 0 where neither type has 64 bits, else the top
 * bit alone. */
static inline s32 s32_of_f32(f32 x)
{
    const s32 inside = (s32)(x < 0x1p31f && x > -0x1p31f ? x : 0);
    return x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : inside;
}
static inline u32 u32_of_f32(f32 x)
{
    const f32 in_range = x > 0 && x < 0x1p32f ? x : 0;
    const f32 low = in_range >= 0x1p31f ? in_range - 0x1p31f : in_range;
    const u32 inside = (u32)(s32)low ^ (in_range >= 0x1p31f ? SIGN_32 : 0);
    return x >= 0x1p32f ? UINT32_MAX : inside;
}
static inline s64 s64_of_f32(f32 x)
{
    const s64 inside = (s64)(x < 0x1p63f && x > -0x1p63f ? x : 0);
    return x >= 0x1p63f ? INT64_MAX : x > -0x1p63f ? inside : INT64_MIN;
}
static inline u64 u64_of_f32(f32 x)
{
    const f32 in_range = x > 0 && x < 0x1p64f ? x : 0;
    const f32 low = in_range >= 0x1p63f ? in_range - 0x1p63f : in_range;
    const u64 inside = (u64)(s64)low ^ (in_range >= 0x1p63f ? SIGN_64 : 0);
    return is_nan_32(x) ? SIGN_64 : x >= 0x1p64f ? UINT64_MAX : inside;
}
static inline s32 s32_of_f64(f64 x)
{
    const s32 inside = (s32)(x < 0x1p31 && x > -0x1p31 ? x : 0);
    return x >= 0x1p31 ? INT32_MAX : x > -0x1p31 ? inside : INT32_MIN;
}
static inline u32 u32_of_f64(f64 x)
{
    const u32 inside = (u32)(s64)(x > 0 && x < 0x1p32 ? x : 0);
    return is_nan_64(x) ? SIGN_32 : x >= 0x1p32 ? UINT32_MAX : inside;
}
static inline s64 s64_of_f64(f64 x)
{
    const s64 inside = (s64)(x < 0x1p63 && x > -0x1p63 ? x : 0);
    return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? inside : INT64_MIN;
}
static inline u64 u64_of_f64(f64 x)
{
    const f64 in_range = x > 0 && x < 0x1p64 ? x : 0;
    const f64 low = in_range >= 0x1p63 ? in_range - 0x1p63 : in_range;
    const u64 inside = (u64)(s64)low ^ (in_range >= 0x1p63 ? SIGN_64 : 0);
    return is_nan_64(x) ? SIGN_64 : x >= 0x1p64 ? UINT64_MAX : inside;
}

static inline s32 within(s32 x, s32 least, s32 most)
{
    return x < least ? least : x > most ? most : x;
}
static inline u16 u16_of_f64(f64 x)
{
    return is_nan_64(x) ? 0x8000 : (u16)within(s32_of_f64(x), 0, UINT16_MAX);
}
static inline s16 s16_of_f64(f64 x)
{
    return (s16)within(s32_of_f64(x), INT16_MIN, INT16_MAX);
}
static inline u8 u8_of_f64(f64 x)
{
    return is_nan_64(x) ? 0x80 : (u8)within(s32_of_f64(x), 0, UINT8_MAX);
}
static inline s8 s8_of_f64(f64 x)
{
    return (s8)within(s32_of_f64(x), INT8_MIN, INT8_MAX);
}

/* ---- to the halves ---- */

/* An integer as a float that rounds to a half as the integer itself would: exact up to 24 bits, and beyond
 * them odd in its last place. */
static inline f32 odd_of_s64(s64 x)
{
    const bool negative = x < 0;
    const u64 magnitude = negative ? 0 - (u64)x : (u64)x;
    const u64 top = magnitude >> 32 ? (magnitude >> 24) | ((magnitude & 0xffffff) != 0) : magnitude;
    const f32 y = odd_32((f64)(s64)top) * (magnitude >> 32 ? 0x1p24f : 1.0f);
    return negative ? -y : y;
}
static inline f32 odd_of_u64(u64 x)
{
    const u64 top = x >> 32 ? (x >> 24) | ((x & 0xffffff) != 0) : x;
    return odd_32((f64)(s64)top) * (x >> 32 ? 0x1p24f : 1.0f);
}
static inline f32 odd_of_s32(s32 x)
{
    return odd_32((f64)x);
}
static inline f32 odd_of_u32(u32 x)
{
    return odd_32((f64)(s64)x);
}

#define OP_RARELY
#define OP_ROWS  "ptx/exec/ops_cvt_int.inc"
#define OP_TABLE ptx_ops_cvt_int
#include "ptx/exec/ops_expand.h"
