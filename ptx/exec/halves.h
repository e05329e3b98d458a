/* The halves of a register, all of its lanes at once: 32 values of f16 or bf16 in a slot, or 64 of a packed
 * type.  Conversions use what the processor has.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_HALVES_H
#define PTX_EXEC_HALVES_H

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "ptx/exec/half.h"

enum { ONE_EACH = WARP_LANES, TWO_EACH = 2 * WARP_LANES };

#if defined(__clang__)
#define HALF_LOOP(n) _Pragma("clang loop vectorize(assume_safety)") for (int k = 0; k < (n); k++)
#else
#define HALF_LOOP(n) _Pragma("GCC ivdep") for (int k = 0; k < (n); k++)
#endif

static inline void halves_take(u16 *restrict h, const u32 *slot, int n)
{
    if (n == TWO_EACH) memcpy(h, slot, TWO_EACH * sizeof *h);
    else HALF_LOOP(ONE_EACH) h[k] = (u16)slot[k];
}

static inline void halves_give(u32 *slot, const u16 *restrict h, int n)
{
    if (n == TWO_EACH) memcpy(slot, h, TWO_EACH * sizeof *h);
    else HALF_LOOP(ONE_EACH) slot[k] = h[k];
}

/* Where conversions take many instructions they are not repeated in every row. */
#if defined(__F16C__) || defined(__aarch64__)
#define HALVES_CONVERT static inline
#else
#define HALVES_CONVERT __attribute__((noinline)) static
#endif

/* Vectors are stored as wide as the loops around load them, or the loads would wait. */
HALVES_CONVERT void f16_widen(f32 *restrict x, const u16 *restrict h, int n)
{
#if defined(__AVX512F__)
    for (int k = 0; k < n; k += 16)
        _mm512_storeu_ps(x + k, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(h + k))));
#elif defined(__F16C__)
    for (int k = 0; k < n; k += 8)
        _mm256_storeu_ps(x + k, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(h + k))));
#elif defined(__aarch64__)
    const __fp16 *from = (const void *)h;
    HALF_LOOP(n) x[k] = (f32)from[k];
#else
    HALF_LOOP(n) x[k] = f16_value(h[k]);
#endif
}

/* To nearest even; NaNs become the canonical one. */
HALVES_CONVERT void f16_narrow(u16 *restrict h, const f32 *restrict x, int n)
{
#if defined(__AVX512F__)
    for (int k = 0; k < n; k += 32) {
        const __m256i low = _mm512_cvtps_ph(_mm512_loadu_ps(x + k), _MM_FROUND_TO_NEAREST_INT);
        const __m256i high =
            _mm512_cvtps_ph(_mm512_loadu_ps(x + k + 16), _MM_FROUND_TO_NEAREST_INT);
        _mm512_storeu_si512(h + k, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
    }
#elif defined(__F16C__)
    for (int k = 0; k < n; k += 16) {
        const __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(x + k), _MM_FROUND_TO_NEAREST_INT);
        const __m128i high = _mm256_cvtps_ph(_mm256_loadu_ps(x + k + 8), _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_si256((void *)(h + k),
                            _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
    }
#elif defined(__aarch64__)
    __fp16 *to = (void *)h;
    HALF_LOOP(n) to[k] = (__fp16)x[k];
#else
    HALF_LOOP(n) h[k] = (u16)f16_bits(x[k]);
#endif
    HALF_LOOP(n) h[k] = is_nan_f16(h[k]) ? NAN_F16 : h[k];
}

#endif
