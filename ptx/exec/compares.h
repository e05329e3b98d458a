/* All comparisons: NUMBER_COMPARISONS(X) and HALF_COMPARISONS(X) are lists of
 *     X(id, T, condition, kind, ...)
 * where NAMES_kind(before, after, ...) are the names, for instance NAMES_EQUAL("setp.", ".", "eq", "16") is
 * "setp.eq.b16 setp.eq.u16 setp.eq.s16".  Values of lane l are a and b of type T.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_COMPARES_H
#define PTX_EXEC_COMPARES_H

#include "ptx/exec/half.h"

// clang-format off
#define NAMES_EQUAL(p, q, op, width)                                                               \
    p op q "b" width " " p op q "u" width " " p op q "s" width
#define NAMES_UNSIGNED(p, q, op, other, width) p op q "u" width " " p other q "u" width
#define NAMES_SIGNED(p, q, op, width)          p op q "s" width
#define NAMES_FLOAT(p, q, op, ftz, type)       p op ftz q type

#define INTEGER_COMPARISONS(X, W, U, S)                                                            \
    X(eq_##W, U, a == b, EQUAL, "eq", #W)                                                          \
    X(ne_##W, U, a != b, EQUAL, "ne", #W)                                                          \
    X(lo_##W, U, a < b, UNSIGNED, "lt", "lo", #W)                                                  \
    X(ls_##W, U, a <= b, UNSIGNED, "le", "ls", #W)                                                 \
    X(hi_##W, U, a > b, UNSIGNED, "gt", "hi", #W)                                                  \
    X(hs_##W, U, a >= b, UNSIGNED, "ge", "hs", #W)                                                 \
    X(lt_##W, S, a < b, SIGNED, "lt", #W)                                                          \
    X(le_##W, S, a <= b, SIGNED, "le", #W)                                                         \
    X(gt_##W, S, a > b, SIGNED, "gt", #W)                                                          \
    X(ge_##W, S, a >= b, SIGNED, "ge", #W)

/* Conditions on floating-point values; the second seven hold for NaNs as well. */
#define WHEN_eq(x, y)  ((x) == (y))
#define WHEN_ne(x, y)  ((x) < (y) || (x) > (y))
#define WHEN_lt(x, y)  ((x) < (y))
#define WHEN_le(x, y)  ((x) <= (y))
#define WHEN_gt(x, y)  ((x) > (y))
#define WHEN_ge(x, y)  ((x) >= (y))
#define WHEN_num(x, y) ((x) == (x) && (y) == (y))
#define WHEN_equ(x, y) (!((x) < (y) || (x) > (y)))
#define WHEN_neu(x, y) ((x) != (y))
#define WHEN_ltu(x, y) (!((x) >= (y)))
#define WHEN_leu(x, y) (!((x) > (y)))
#define WHEN_gtu(x, y) (!((x) <= (y)))
#define WHEN_geu(x, y) (!((x) < (y)))
#define WHEN_nan(x, y) ((x) != (x) || (y) != (y))
#define FLOAT_CONDITIONS(X, ...)                                                                   \
    X(eq, __VA_ARGS__) X(ne, __VA_ARGS__) X(lt, __VA_ARGS__) X(le, __VA_ARGS__)                    \
    X(gt, __VA_ARGS__) X(ge, __VA_ARGS__) X(num, __VA_ARGS__) X(equ, __VA_ARGS__)                  \
    X(neu, __VA_ARGS__) X(ltu, __VA_ARGS__) X(leu, __VA_ARGS__) X(gtu, __VA_ARGS__)                \
    X(geu, __VA_ARGS__) X(nan, __VA_ARGS__)

/* `in` makes a value that can be compared out of the bits or the float of a slot. */
#define FLOAT_COMPARISON(op, X, T, id, type, ftz, in)                                              \
    X(op##_##id, T, WHEN_##op(in(a), in(b)), FLOAT, #op, ftz, type)
#define AS_IT_IS(x)          (x)
#define FLUSHED_F16_VALUE(x) f16_value(flush_f16(x))

#define INTEGER_COMPARISONS_ALL(X)                                                                 \
    INTEGER_COMPARISONS(X, 16, u16, s16)                                                           \
    INTEGER_COMPARISONS(X, 32, u32, s32)                                                           \
    INTEGER_COMPARISONS(X, 64, u64, s64)
#define F32_COMPARISONS(X)      FLOAT_CONDITIONS(FLOAT_COMPARISON, X, f32, f32, "f32", "", AS_IT_IS)
#define F32_FTZ_COMPARISONS(X)                                                                     \
    FLOAT_CONDITIONS(FLOAT_COMPARISON, X, f32, f32_ftz, "f32", ".ftz", flush_32)
#define F64_COMPARISONS(X)      FLOAT_CONDITIONS(FLOAT_COMPARISON, X, f64, f64, "f64", "", AS_IT_IS)
#define F16_COMPARISONS(X)      FLOAT_CONDITIONS(FLOAT_COMPARISON, X, u16, f16, "f16", "", f16_value)
#define F16_FTZ_COMPARISONS(X)                                                                     \
    FLOAT_CONDITIONS(FLOAT_COMPARISON, X, u16, f16_ftz, "f16", ".ftz", FLUSHED_F16_VALUE)
#define BF16_COMPARISONS(X)                                                                        \
    FLOAT_CONDITIONS(FLOAT_COMPARISON, X, u16, bf16, "bf16", "", bf16_value)
#define NUMBER_COMPARISONS(X)                                                                      \
    INTEGER_COMPARISONS_ALL(X) F32_COMPARISONS(X) F32_FTZ_COMPARISONS(X) F64_COMPARISONS(X)
#define HALF_COMPARISONS(X) F16_COMPARISONS(X) F16_FTZ_COMPARISONS(X) BF16_COMPARISONS(X)

/* The same on both halves of a word: X(op, ftz, type, in), the id being op and type. */
#define PAIR_COMPARISONS(X)                                                                        \
    FLOAT_CONDITIONS(X, "", f16, f16_value, )                                                      \
    FLOAT_CONDITIONS(X, ".ftz", f16, FLUSHED_F16_VALUE, _ftz)                                      \
    FLOAT_CONDITIONS(X, "", bf16, bf16_value, )
#define LOW_HOLDS(op, in)  WHEN_##op(in(a & 0xffff), in(b & 0xffff))
#define HIGH_HOLDS(op, in) WHEN_##op(in(a >> 16), in(b >> 16))
// clang-format on

#endif
