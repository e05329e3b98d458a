/* Logic, shifts and bit fields.  Shift amounts above the width are clamped, not wrapped.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/ops.h"

static inline u32 left_32(u32 x, u32 n)
{
    return n > 31 ? 0 : x << (n & 31);
}
static inline u32 right_32(u32 x, u32 n)
{
    return n > 31 ? 0 : x >> (n & 31);
}
static inline s32 arithmetic_32(s32 x, u32 n)
{
    return x >> (n > 31 ? 31 : n);
}
static inline u64 left_64(u64 x, u32 n)
{
    return n > 63 ? 0 : x << (n & 63);
}
static inline u64 right_64(u64 x, u32 n)
{
    return n > 63 ? 0 : x >> (n & 63);
}
static inline s64 arithmetic_64(s64 x, u32 n)
{
    return x >> (n > 63 ? 63 : n);
}

static inline u32 reversed_32(u32 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

/* Counts by parallel sums: vectorises where there is no instruction for it. */
static inline u32 ones_32(u32 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}

static inline u32 zeros_32(u32 x)
{
    return x ? (u32)__builtin_clz(x) : 32;
}
static inline u32 zeros_64(u64 x)
{
    return x ? (u32)__builtin_clzll(x) : 64;
}

static inline u32 found_32(u32 x)
{
    return 31 - zeros_32(x);
} /* 0 gives all ones */
static inline u32 found_64(u64 x)
{
    return 63 - zeros_64(x);
}
static inline u32 amount(u32 found, u32 top)
{
    return found == ~0u ? ~0u : top - found;
}

static inline u32 field_32(u32 x, u32 pos, u32 len)
{
    return right_32(x, pos & 255) & ~left_32(~0u, len & 255);
}
/* The 64-bit forms take position and length whole, as an H200 does (recorded); the ISA (9.7.1.20) speaks of
 * their low 8 bits. */
static inline u64 field_64(u64 x, u32 pos, u32 len)
{
    return right_64(x, pos) & ~left_64(~0ull, len);
}
static inline s32 signed_field_32(s32 x, u32 pos, u32 len)
{
    pos &= 255;
    len &= 255;
    const u32 spare =
        len > 31 ? 0 : 32 - len; /* bits above the field once it stands at the bottom */
    const s32 low = arithmetic_32(x, pos);
    return len == 0 ? 0 : arithmetic_32((s32)left_32((u32)low, spare), spare);
}
static inline s64 signed_field_64(s64 x, u32 pos, u32 len)
{
    const u32 spare = len > 63 ? 0 : 64 - len;
    const s64 low = arithmetic_64(x, pos);
    return len == 0 ? 0 : arithmetic_64((s64)left_64((u64)low, spare), spare);
}
static inline u32 inserted_32(u32 a, u32 b, u32 pos, u32 len)
{
    const u32 mask = left_32(~left_32(~0u, len & 255), pos & 255);
    return (left_32(a, pos & 255) & mask) | (b & ~mask);
}
static inline u64 inserted_64(u64 a, u64 b, u32 pos, u32 len)
{
    const u64 mask = left_64(~left_64(~0ull, len), pos);
    return (left_64(a, pos) & mask) | (b & ~mask);
}

static inline u32 mask_clamp(u32 pos, u32 len)
{
    if (pos > 31) return 0;
    return left_32(len > 31 ? ~0u : ~left_32(~0u, len), pos);
}

static inline u32 extended(u32 x, u32 bits, u32 is_signed) /* bits: 0 to 31 */
{
    const u32 mask = ~0u << bits;
    const u32 sign = bits != 0 && is_signed ? x >> ((bits - 1) & 31) & 1 : 0;
    return (x & ~mask) | (sign ? mask : 0);
}

static inline u32 nth_set(u32 mask, u32 base, s32 offset)
{
    if (offset == 0) return right_32(mask, base) & 1 ? base : ~0u;
    s64 left = offset;
    for (s32 at = (s32)base; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
        if (mask >> at & 1) {
            left += offset > 0 ? -1 : 1;
            if (left == 0) return (u32)at;
        }
    return ~0u;
}

/* Eight minterms; the table's bit for (a, b, c) is number 4a + 2b + c. */
static inline u32 table_of(u32 a, u32 b, u32 c, u32 t)
{
    const u32 when_a_b = (t & 0x80 ? c : 0) | (t & 0x40 ? ~c : 0);
    const u32 when_a = (t & 0x20 ? c : 0) | (t & 0x10 ? ~c : 0);
    const u32 when_b = (t & 0x08 ? c : 0) | (t & 0x04 ? ~c : 0);
    const u32 when_none = (t & 0x02 ? c : 0) | (t & 0x01 ? ~c : 0);
    return (a & ((b & when_a_b) | (~b & when_a))) | (~a & ((b & when_b) | (~b & when_none)));
}

/* prmt: the byte that a selector of four bits asks for, out of b:a. */
static inline u32 selected(u32 a, u32 b, u32 selector)
{
    const u32 byte = (selector & 4 ? b : a) >> 8 * (selector & 3);
    const u32 sign = byte & 0x80 ? 0xff : 0;
    return selector & 8 ? sign : byte & 0xff;
}
static inline u32 permuted(u32 a, u32 b, u32 c)
{
    return selected(a, b, c) | selected(a, b, c >> 4) << 8 | selected(a, b, c >> 8) << 16 |
           selected(a, b, c >> 12) << 24;
}
/* The other modes as selectors of the general one, one table of four by the low bits of c. */
static inline u32 selectors(u32 c, u32 of_0, u32 of_1, u32 of_2, u32 of_3)
{
    c &= 3;
    return c == 0 ? of_0 : c == 1 ? of_1 : c == 2 ? of_2 : of_3;
}

#define OP_RARELY
#define OP_ROWS  "ptx/exec/ops_bits.inc"
#define OP_TABLE ptx_ops_bits
#include "ptx/exec/ops_expand.h"
