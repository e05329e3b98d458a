/* set: a comparison into a value that is all ones, or 1.0, or zero.  The comparisons are in compares.h; each
 * makes one mask of lanes, out of which the handlers of all destination types are put together.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/compares.h"

#define LANES_WHERE(id, T, condition, kind, ...)                                                   \
    __attribute__((noinline)) static u32 where_##id(const warp *w, const insn *i)                  \
    {                                                                                              \
        _Alignas(64) u32 bits[WARP_LANES];                                                         \
        const OP_SLOT_##T *as = OP_AT(T, i->a), *bs = OP_AT(T, i->b);                              \
        OP_LANES                                                                                   \
        {                                                                                          \
            const T a = (T)as[l], b = (T)bs[l];                                                    \
            bits[l] = (condition) ? 1u << l : 0;                                                   \
        }                                                                                          \
        u32 lanes = 0;                                                                             \
        for (int l = 0; l < WARP_LANES; l++) lanes |= bits[l];                                     \
        return lanes;                                                                              \
    }
COMPARISONS(LANES_WHERE)

/* Writes `value` into the lanes of `where` and zero into the others of `mask`. */
__attribute__((noinline)) static void put(warp *w, const insn *i, u32 where, u32 mask, u32 value)
{
    u32 *d = OP_AT(u32, i->d);
    OP_LANES
    {
        const u32 x = where >> l & 1 ? value : 0;
        d[l] = mask >> l & 1 ? x : d[l];
    }
}

#define ONES    0xffffffffu
#define ONES_16 0xffffu
#define F32_1   0x3f800000u
#define F16_1   0x3c00u
#define BF16_1  0x3f80u

#define SET_AS(id, as, value)                                                                      \
    static void set_##as##_##id##_full(warp *w, const insn *i)                                     \
    {                                                                                              \
        put(w, i, where_##id(w, i), ALL_LANES, value);                                             \
    }                                                                                              \
    static void set_##as##_##id##_some(warp *w, const insn *i)                                     \
    {                                                                                              \
        put(w, i, where_##id(w, i), w->mask, value);                                               \
    }
#define SET_INT(id, ...)  SET_AS(id, int, ONES)
#define SET_16(id, ...)   SET_AS(id, int16, ONES_16)
#define SET_F32(id, ...)  SET_AS(id, f32, F32_1)
#define SET_F16(id, ...)  SET_AS(id, f16, F16_1)
#define SET_BF16(id, ...) SET_AS(id, bf16, BF16_1)

/* Which comparisons have which destinations: X for integers of 32 and of 16 bits, f32, f16, bf16. */
// clang-format off
#define SETS(INT, INT16, F32, F16, BF16)                                                           \
    INTEGER_COMPARISONS_ALL(INT) INTEGER_COMPARISONS_ALL(F32)                                      \
    INTEGER_COMPARISONS_ALL(F16) INTEGER_COMPARISONS_ALL(BF16)                                     \
    F32_COMPARISONS(INT) F32_COMPARISONS(F32) F32_COMPARISONS(F16) F32_COMPARISONS(BF16)           \
    F32_FTZ_COMPARISONS(INT) F32_FTZ_COMPARISONS(F32) F32_FTZ_COMPARISONS(F16)                     \
    F64_COMPARISONS(INT) F64_COMPARISONS(F32) F64_COMPARISONS(F16) F64_COMPARISONS(BF16)           \
    F16_COMPARISONS(INT) F16_COMPARISONS(INT16) F16_COMPARISONS(F16) F16_COMPARISONS(BF16)         \
    F16_FTZ_COMPARISONS(INT) F16_FTZ_COMPARISONS(INT16) F16_FTZ_COMPARISONS(F16)                   \
    BF16_COMPARISONS(INT) BF16_COMPARISONS(INT16) BF16_COMPARISONS(BF16)
// clang-format on
SETS(SET_INT, SET_16, SET_F32, SET_F16, SET_BF16)

#define OP_ROWS  "ptx/exec/ops_set.inc"
#define OP_TABLE ptx_ops_set
#include "ptx/exec/ops_expand.h"
