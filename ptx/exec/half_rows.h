/* The arithmetic of f16, and min and max of bf16, as a list, for one value a lane and for two.  HALF_ROWS has entries
 *     FLOATS(names, id, n, count, format, before, calculation, after)   computed in single precision
 *     BITS(names, id, n, count, format, result)                         computed on the bits
 * of `count` sources x, y, z; `before` is what is done to the bits of a source, `after` what is done to those
 * of the result.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_HALF_ROWS_H
#define PTX_EXEC_HALF_ROWS_H

#include "ptx/exec/halves.h"

// clang-format off
#define AS_IT_IS(h)         (h)
#define TWO_NAMES(op, rest) op rest " " op ".rn" rest

/* A sum of floats has twice the places and more, so rounding it again does no harm; neither do products, which
 * are exact. */
#define SUMS(FLOATS, t, n, mods, id, before, result, after)                                        \
    FLOATS(TWO_NAMES("add", mods "." #t), t##_add##id, n, 2, f16, before, result(x + y), after)    \
    FLOATS(TWO_NAMES("sub", mods "." #t), t##_sub##id, n, 2, f16, before, result(x - y), after)    \
    FLOATS(TWO_NAMES("mul", mods "." #t), t##_mul##id, n, 2, f16, before, result(x * y), after)    \
    FLOATS("fma.rn" mods "." #t, t##_fma##id, n, 3, f16, before,                                   \
           result(odd_sum_32(x * y, z)), after)
#define EXTREMES(BITS, t, n, format, mods, id, in)                                                 \
    BITS("min" mods "." #t, t##_min##id, n, 2, format##_min(in(x), in(y)))                         \
    BITS("max" mods "." #t, t##_max##id, n, 2, format##_max(in(x), in(y)))                         \
    BITS("min" mods ".NaN." #t, t##_min_nan##id, n, 2, format##_min_nan(in(x), in(y)))             \
    BITS("max" mods ".NaN." #t, t##_max_nan##id, n, 2, format##_max_nan(in(x), in(y)))             \
    BITS("min" mods ".xorsign.abs." #t, t##_min_xorsign##id, n, 2,                                 \
         format##_signed_by(format##_min(magnitude(in(x)), magnitude(in(y))), x, y))               \
    BITS("max" mods ".xorsign.abs." #t, t##_max_xorsign##id, n, 2,                                 \
         format##_signed_by(format##_max(magnitude(in(x)), magnitude(in(y))), x, y))               \
    BITS("min" mods ".NaN.xorsign.abs." #t, t##_min_nan_xorsign##id, n, 2,                         \
         format##_signed_by(format##_min_nan(magnitude(in(x)), magnitude(in(y))), x, y))           \
    BITS("max" mods ".NaN.xorsign.abs." #t, t##_max_nan_xorsign##id, n, 2,                         \
         format##_signed_by(format##_max_nan(magnitude(in(x)), magnitude(in(y))), x, y))
#define F16_ROWS(FLOATS, BITS, t, n)                                                               \
    SUMS(FLOATS, t, n, "", , AS_IT_IS, AS_IT_IS, AS_IT_IS)                                         \
    SUMS(FLOATS, t, n, ".ftz", _ftz, flush_f16, flush_to_f16, AS_IT_IS)                            \
    SUMS(FLOATS, t, n, ".sat", _sat, AS_IT_IS, AS_IT_IS, unit_f16)                                 \
    SUMS(FLOATS, t, n, ".ftz.sat", _ftz_sat, flush_f16, flush_to_f16, unit_f16)                    \
    FLOATS("fma.rn.relu." #t, t##_fma_relu, n, 3, f16, AS_IT_IS, odd_sum_32(x * y, z), positive_16) \
    FLOATS("fma.rn.ftz.relu." #t, t##_fma_ftz_relu, n, 3, f16, flush_f16,                          \
           flush_to_f16(odd_sum_32(x * y, z)), positive_16)                                        \
    SIGNS(BITS, t, n, f16)                                                                         \
    BITS("neg.ftz." #t, t##_neg_ftz, n, 1, f16_canonical(flush_f16(x) ^ SIGN_16))                                 \
    BITS("abs.ftz." #t, t##_abs_ftz, n, 1, f16_canonical(magnitude(flush_f16(x))))                  \
    EXTREMES(BITS, t, n, f16, "", , AS_IT_IS)                                                      \
    EXTREMES(BITS, t, n, f16, ".ftz", _ftz, flush_f16)
#define SIGNS(BITS, t, n, format)                                                                  \
    BITS("neg." #t, t##_neg, n, 1, format##_canonical(x ^ SIGN_16))                                \
    BITS("abs." #t, t##_abs, n, 1, format##_canonical(magnitude(x)))
#define BF16_ROWS(BITS, t, n)                                                                      \
    SIGNS(BITS, t, n, bf16) EXTREMES(BITS, t, n, bf16, "", , AS_IT_IS)
#define HALF_ROWS(FLOATS, BITS)                                                                    \
    F16_ROWS(FLOATS, BITS, f16, ONE_EACH) F16_ROWS(FLOATS, BITS, f16x2, TWO_EACH)                  \
    BF16_ROWS(BITS, bf16, ONE_EACH) BF16_ROWS(BITS, bf16x2, TWO_EACH)
// clang-format on

#endif
