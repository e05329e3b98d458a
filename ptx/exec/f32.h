/* What the rows of ops_f32.inc are made of.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_F32_H
#define PTX_EXEC_F32_H

#include "ptx/exec/half.h"
#include "ptx/exec/rounding.h"

#if PTX_HAVE_FMA
#define FUSED(mode, a, b, c) __builtin_fmaf(a, b, c)
#define FUSED_SCOPE(mode)    mode
#else
#include "ptx/exec/soft_fma.h"
#define FUSED(mode, a, b, c) soft_fma_##mode##_32(a, b, c)
#define FUSED_SCOPE(mode)    rn
#endif

#if defined(PTX_FLUSHES)
#define FTZ_SCOPE(mode)   mode##_ftz
#define FTZ_1(calc, a)    calc(a)
#define FTZ_2(calc, a, b) calc(a, b)
#else
#define FTZ_SCOPE(mode) mode
#define FTZ_1(calc, a)  flushed_32(calc(flush_32(a)), SCALED_##calc(flush_32(a)))
#define FTZ_2(calc, a, b)                                                                          \
    flushed_32(calc(flush_32(a), flush_32(b)), SCALED_##calc(flush_32(a), flush_32(b)))
#endif
#if defined(PTX_FLUSHES) && PTX_HAVE_FMA
#define FTZ_FUSED_SCOPE(mode)    mode##_ftz
#define FTZ_FUSED(mode, a, b, c) FUSED(mode, a, b, c)
#else
#define FTZ_FUSED_SCOPE(mode) FUSED_SCOPE(mode)
#define FTZ_FUSED(mode, a, b, c)                                                                   \
    flushed_32(FUSED(mode, flush_32(a), flush_32(b), flush_32(c)),                                 \
               FUSED(mode, flush_32(a) * 0x1p64f, flush_32(b), flush_32(c) * 0x1p64f))
#endif

static inline f32 lesser(f32 a, f32 b)
{
    const f32 r = rank_32(a) < rank_32(b) ? a : b, s = is_nan_32(a) ? b : r;
    return canonical_32(is_nan_32(b) ? a : s);
}

static inline f32 greater(f32 a, f32 b)
{
    const f32 r = rank_32(a) > rank_32(b) ? a : b, s = is_nan_32(a) ? b : r;
    return canonical_32(is_nan_32(b) ? a : s);
}

/* .NaN: a NaN in either wins. */
static inline f32 lesser_nan(f32 a, f32 b)
{
    const f32 r = rank_32(a) < rank_32(b) ? a : b;
    return is_nan_32(a) || is_nan_32(b) ? as_f32(NAN_32) : r;
}

static inline f32 greater_nan(f32 a, f32 b)
{
    const f32 r = rank_32(a) > rank_32(b) ? a : b;
    return is_nan_32(a) || is_nan_32(b) ? as_f32(NAN_32) : r;
}

static inline f32 magnitude(f32 x)
{
    return as_f32(as_u32(x) & ~SIGN_32);
}
static inline f32 negative(f32 x)
{
    return as_f32(as_u32(x) ^ SIGN_32);
}

/* .xorsign: the sign of the product, on everything that is not NaN. */
static inline f32 signed_by(f32 x, f32 a, f32 b)
{
    return is_nan_32(x) ? x : as_f32(as_u32(x) | ((as_u32(a) ^ as_u32(b)) & SIGN_32));
}

#endif
