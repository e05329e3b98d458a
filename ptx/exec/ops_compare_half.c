/* setp of halves and pairs of them, slct and testp.  SPDX-License-Identifier: MIT */
#include "ptx/exec/compares.h"

/* setp of a pair: d for the lower halves, e for the upper ones. */
#define PAIR(op, ftz, type, in, id)                                                                \
    static void setp_##op##_##type##x2##id##_full(warp *w, const insn *i)                          \
    {                                                                                              \
        _Alignas(64) u32 low[WARP_LANES], high[WARP_LANES];                                        \
        const u32 *as = OP_AT(u32, i->a), *bs = OP_AT(u32, i->b);                                  \
        OP_LANES                                                                                   \
        {                                                                                          \
            const u32 a = as[l], b = bs[l];                                                        \
            low[l] = LOW_HOLDS(op, in) ? 1u << l : 0;                                              \
            high[l] = HIGH_HOLDS(op, in) ? 1u << l : 0;                                            \
        }                                                                                          \
        u32 lower = 0, upper = 0;                                                                  \
        for (int l = 0; l < WARP_LANES; l++) {                                                     \
            lower |= low[l];                                                                       \
            upper |= high[l];                                                                      \
        }                                                                                          \
        u32 *d = OP_PREDICATE(i->d), *e = OP_PREDICATE(i->e);                                      \
        *d = (*d & ~w->mask) | (lower & w->mask);                                                  \
        *e = (*e & ~w->mask) | (upper & w->mask);                                                  \
    }                                                                                              \
    static handler *const setp_##op##_##type##x2##id##_some = setp_##op##_##type##x2##id##_full;
PAIR_COMPARISONS(PAIR)

/* testp: classes by the exponent and the rest. */
static inline bool is_finite_32(u32 x)
{
    return (x & 0x7f800000) != 0x7f800000;
}
static inline bool is_finite_64(u64 x)
{
    return (x << 1) < 0xffe0000000000000;
}
static inline bool is_subnormal_32(u32 x)
{
    return (x & 0x7f800000) == 0 && x << 9 != 0;
}
static inline bool is_subnormal_64(u64 x)
{
    return x << 1 >> 53 == 0 && x << 12 != 0;
}

#define OP_ROWS  "ptx/exec/ops_compare_half.inc"
#define OP_TABLE ptx_ops_compare_half
#include "ptx/exec/ops_expand.h"
