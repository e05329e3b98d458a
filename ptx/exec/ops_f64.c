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

/* Which NaN an operation passes on is left open by the ISA; this is what an H200 does.  The result of x86's
 * own instructions is right where one source at most is a NaN, those of other processors are not. */
/* The NaN of `first` before that of `second`. */
static inline f64 passed_2(f64 r, f64 first, f64 second)
{
#if !defined(__x86_64__)
    r = is_nan_64(second) ? quiet_64(second) : canonical_64(r);
#endif
    (void)second;
    return is_nan_64(first) ? quiet_64(first) : r;
}
static inline f64 passed_1(f64 r, f64 a)
{
#if !defined(__x86_64__)
    r = is_nan_64(a) ? quiet_64(a) : canonical_64(r);
#endif
    (void)a;
    return r;
}
static inline f64 passed_3(f64 r, f64 first, f64 second, f64 third)
{
#if !defined(__x86_64__) || !PTX_HAVE_FMA
    r = is_nan_64(third) ? quiet_64(third) : canonical_64(r);
#endif
    (void)third;
    const f64 s = is_nan_64(second) ? quiet_64(second) : r;
    return is_nan_64(first) ? quiet_64(first) : s;
}

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
