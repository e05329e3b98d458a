/* The handlers of chains: a stretch of single-precision operations whose results stay in vector
 * registers as far as the next operation alone wants them.  That saves most of the loads and stores
 * and the making of the one NaN, of which only stored results have need: operations that take a NaN
 * of any payload give a NaN.  Each operation is rounded as it is alone, so no result changes.
 *
 * Variants without fused multiply-add have no chains.  SPDX-License-Identifier: MIT */
#include "ptx/exec/chain.h"

#include "ptx/exec/number.h"
#include "ptx/exec/rounding.h"

/* All 32 lanes are EACH vector of `lanes`. */
#if defined(__AVX512F__) && defined(__FMA__)

#include <immintrin.h>
#define EACH(row, ...)       row(0, __VA_ARGS__) row(1, __VA_ARGS__)
#define LOAD(at)             _mm512_load_ps(at)
#define STORE(at, x)         _mm512_store_ps(at, x)
#define LOAD_CHOICE(at)      _mm512_load_si512(at)
#define CHOOSE(choice, x, y) _mm512_mask_blend_ps(_mm512_test_epi32_mask(choice, choice), y, x)
#define ALL_EQUAL(x)         _mm512_set1_ps(x)
#define BITWISE(operation, x, bits)                                                                \
    _mm512_castsi512_ps(                                                                           \
        _mm512_##operation##_si512(_mm512_castps_si512(x), _mm512_set1_epi32((int)(bits))))
#define CANONICAL(x)                                                                               \
    _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x, ALL_EQUAL(as_f32(NAN_32)))
#define FUSED(x, y, z) _mm512_fmadd_ps(x, y, z)
#define ROOT(x)        _mm512_sqrt_ps(x)
typedef __m512 lanes;
typedef __m512i choice;

#elif defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>
#define EACH(row, ...)                                                                             \
    row(0, __VA_ARGS__) row(1, __VA_ARGS__) row(2, __VA_ARGS__) row(3, __VA_ARGS__)
#define LOAD(at)                    _mm256_load_ps(at)
#define STORE(at, x)                _mm256_store_ps(at, x)
#define LOAD_CHOICE(at)             _mm256_load_ps((const f32 *)(const void *)(at))
#define CHOOSE(choice, x, y)        _mm256_blendv_ps(y, x, choice)
#define ALL_EQUAL(x)                _mm256_set1_ps(x)
#define BITWISE(operation, x, bits) _mm256_##operation##_ps(x, ALL_EQUAL(as_f32(bits)))
#define CANONICAL(x)                                                                               \
    _mm256_blendv_ps(x, ALL_EQUAL(as_f32(NAN_32)), _mm256_cmp_ps(x, x, _CMP_UNORD_Q))
#define FUSED(x, y, z) _mm256_fmadd_ps(x, y, z)
#define ROOT(x)        _mm256_sqrt_ps(x)
typedef __m256 lanes;
typedef __m256 choice;

#elif defined(__aarch64__)

#include <arm_neon.h>
#define EACH(row, ...)                                                                             \
    row(0, __VA_ARGS__) row(1, __VA_ARGS__) row(2, __VA_ARGS__) row(3, __VA_ARGS__)                \
        row(4, __VA_ARGS__) row(5, __VA_ARGS__) row(6, __VA_ARGS__) row(7, __VA_ARGS__)
#define LOAD(at)             vld1q_f32(at)
#define STORE(at, x)         vst1q_f32(at, x)
#define LOAD_CHOICE(at)      vld1q_u32(at)
#define CHOOSE(choice, x, y) vbslq_f32(choice, x, y)
#define ALL_EQUAL(x)         vdupq_n_f32(x)
#define BITWISE(operation, x, bits)                                                                \
    vreinterpretq_f32_u32(WITH_##operation(vreinterpretq_u32_f32(x), vdupq_n_u32(bits)))
#define WITH_and(x, y) vandq_u32(x, y)
#define WITH_xor(x, y) veorq_u32(x, y)
#define CANONICAL(x)   vbslq_f32(vceqq_f32(x, x), x, ALL_EQUAL(as_f32(NAN_32)))
#define FUSED(x, y, z) vfmaq_f32(z, x, y)
#define ROOT(x)        vsqrtq_f32(x)
typedef float32x4_t lanes;
typedef uint32x4_t choice;

#endif

#if defined(EACH)

#define SUM(x, y)        ((x) + (y))
#define DIFFERENCE(x, y) ((x) - (y))
#define PRODUCT(x, y)    ((x) * (y))
#define QUOTIENT(x, y)   ((x) / (y))
#define INVERSE(x)       (ALL_EQUAL(1.0f) / (x))
#define NEGATIVE(x)      BITWISE(xor, x, SIGN_32)
#define MAGNITUDE(x)     BITWISE(and, x, ~SIGN_32)

/* Vector number `part` of a slot, and what the rows call the sources. */
#define PART(slot) ((f32 *)(void *)(regs + (slot)) + part * (sizeof(lanes) / sizeof(f32)))
#define A          LOAD(PART(s->a))
#define B          LOAD(PART(s->b))
#define C          LOAD(PART(s->c))
#define X          x[part]

#define IN_PART(number, statement)                                                                 \
    {                                                                                              \
        enum { part = number };                                                                    \
        statement;                                                                                 \
    }

/* Each step jumps to the next one itself. */
#define GO_ON               goto *places[(++s)->kind];
#define PLACES(name, value) &&CHAIN_##name, &&CHAIN_##name##_KEPT, &&CHAIN_##name##_STORED,
#define STEPS(name, value)                                                                         \
    CHAIN_##name : EACH(IN_PART, X = value) GO_ON;                                                 \
    CHAIN_##name##_KEPT : EACH(IN_PART, X = value) EACH(IN_PART, STORE_RESULT(X)) GO_ON;           \
    CHAIN_##name##_STORED : EACH(IN_PART, X = value) EACH(IN_PART, STORE_RESULT(CANONICAL(X)))     \
                                GO_ON;

#define CHAIN_HANDLER(name)                                                                        \
    static void name(warp *w, const insn *i)                                                       \
    {                                                                                              \
        static const void *const places[] = { CHAIN_KINDS(PLACES) && CHAIN_END };                  \
        u8 *const regs = w->regs;                                                                  \
        const chain_step *s = (const chain_step *)(intptr_t)i->imm;                                \
        lanes x[WARP_LANES * sizeof(f32) / sizeof(lanes)];                                         \
        EACH(IN_PART, X = ALL_EQUAL(0.0f))                                                         \
        goto *places[s->kind];                                                                     \
        CHAIN_KINDS(STEPS)                                                                         \
    CHAIN_END:;                                                                                    \
    }

/* Places are addresses of labels, an extension that all supported compilers have. */
#pragma GCC diagnostic ignored "-Wpedantic"

#define STORE_RESULT(result) STORE(PART(s->d), result)
CHAIN_HANDLER(chain_full)
#undef STORE_RESULT

#define STORE_RESULT(result)                                                                       \
    STORE(PART(s->d), CHOOSE(LOAD_CHOICE(w->lane_mask + part * (sizeof(lanes) / sizeof(f32))),     \
                             result, LOAD(PART(s->d))))
CHAIN_HANDLER(chain_some)
#undef STORE_RESULT

#if defined(PTX_FLUSHES)
static void chain_ftz_full(warp *w, const insn *i)
{
    const rounding before = rounding_set(ROUND_FTZ);
    chain_full(w, i);
    rounding_restore(before);
}

static void chain_ftz_some(warp *w, const insn *i)
{
    const rounding before = rounding_set(ROUND_FTZ);
    chain_some(w, i);
    rounding_restore(before);
}
#endif

#endif

static const op_entry rows_[] = {
#if defined(EACH)
    { "lower.chain", chain_some, chain_full, 0, 0, 0, 0, 0, 0 },
#if defined(PTX_FLUSHES)
    { "lower.chain.ftz", chain_ftz_some, chain_ftz_full, 0, 0, 0, 0, 0, 0 },
#endif
#endif
    { "lower.chain.none", NULL, NULL, 0, 0, 0, 0, 0, 0 },
};
const op_table ISA_NAME(ptx_ops_chain);
const op_table ISA_NAME(ptx_ops_chain) = { rows_, sizeof rows_ / sizeof rows_[0] };
