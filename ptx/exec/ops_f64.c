/* Double precision.  The two seeds that work on the upper words alone and the software rsqrt.approx.f64
 * are in ops_approx.c.  SPDX-License-Identifier: MIT */
#include "ptx/exec/number.h"
#include "ptx/exec/rounding.h"

#if PTX_HAVE_FMA
#define FUSED(mode, a, b, c) __builtin_fma(a, b, c)
#define FUSED_SCOPE(mode)    mode
#else
#include "ptx/exec/soft_fma.h"
#define MODE_rn              SOFT_RN
#define MODE_rz              SOFT_RZ
#define MODE_rm              SOFT_RM
#define MODE_rp              SOFT_RP
#define FUSED(mode, a, b, c) soft_fma_64(a, b, c, MODE_##mode)
#define FUSED_SCOPE(mode)    rn
#endif

static inline f64 lesser(f64 a, f64 b)
{
    const f64 r = rank_64(a) < rank_64(b) ? a : b, s = is_nan_64(a) ? b : r;
    return canonical_64(is_nan_64(b) ? a : s);
}

static inline f64 greater(f64 a, f64 b)
{
    const f64 r = rank_64(a) > rank_64(b) ? a : b, s = is_nan_64(a) ? b : r;
    return canonical_64(is_nan_64(b) ? a : s);
}

#define OP_ROWS  "ptx/exec/ops_f64.inc"
#define OP_TABLE ptx_ops_f64
#include "ptx/exec/ops_expand.h"
