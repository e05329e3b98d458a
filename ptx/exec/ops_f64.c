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

/* Of two NaNs the second is passed on. */
static inline f64 chosen(f64 r, f64 a, f64 b)
{
    const f64 s = is_nan_64(a) ? b : r, t = is_nan_64(a) ? quiet_64(b) : a;
    return is_nan_64(b) ? t : s;
}
static inline f64 lesser(f64 a, f64 b)
{
    return chosen(rank_64(a) < rank_64(b) ? a : b, a, b);
}
static inline f64 greater(f64 a, f64 b)
{
    return chosen(rank_64(a) > rank_64(b) ? a : b, a, b);
}
/* neg and abs leave NaNs their sign. */
static inline f64 with_sign(f64 x, u64 bits)
{
    return is_nan_64(x) ? quiet_64(x) : as_f64(bits);
}

#define OP_ROWS  "ptx/exec/ops_f64.inc"
#define OP_TABLE ptx_ops_f64
#include "ptx/exec/ops_expand.h"
