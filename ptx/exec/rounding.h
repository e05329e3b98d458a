/* Rounding modes around the loop of a row: the scopes rn, rz, rm and rp of ops.h, and rn_ftz to rp_ftz,
 * which also flush subnormal sources and results, where the processor decides what is subnormal as the GPU
 * does (PTX_FLUSHES): after rounding to 24 places, the exponent being free.  The instructions that
 * set the mode also keep the compiler from moving loads and stores across, and what is computed lies
 * between a load and a store.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_ROUNDING_H
#define PTX_EXEC_ROUNDING_H

#include "ptx/exec/ops.h"

#if defined(__x86_64__)

#define PTX_FLUSHES 1
enum { ROUND_FTZ = 0x8040, ROUND_RM = 0x2000, ROUND_RP = 0x4000, ROUND_RZ = 0x6000 };
typedef u32 rounding;

static inline rounding rounding_set(u32 mode)
{
    rounding old, new;
    __asm__ volatile("stmxcsr %0" : "=m"(old)::"memory");
    new = (old & ~0x6000u) | mode;
    __asm__ volatile("ldmxcsr %0" ::"m"(new) : "memory");
    return old;
}

static inline void rounding_restore(rounding old)
{
    __asm__ volatile("ldmxcsr %0" ::"m"(old) : "memory");
}

#elif defined(__aarch64__)

enum { ROUND_RP = 1 << 22, ROUND_RM = 2 << 22, ROUND_RZ = 3 << 22 };
typedef u64 rounding;

static inline rounding rounding_set(u64 mode)
{
    rounding old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"((old & ~(3ull << 22)) | mode) : "memory");
    return old;
}

static inline void rounding_restore(rounding old)
{
    __asm__ volatile("msr fpcr, %0" ::"r"(old) : "memory");
}

#else

#include <fenv.h>

enum { ROUND_RM = FE_DOWNWARD, ROUND_RP = FE_UPWARD, ROUND_RZ = FE_TOWARDZERO };
typedef int rounding;

static inline rounding rounding_set(int mode)
{
    rounding old = fegetround();
    fesetround(mode);
    __asm__ volatile("" ::: "memory");
    return old;
}

static inline void rounding_restore(rounding old)
{
    __asm__ volatile("" ::: "memory");
    fesetround(old);
}

#endif

#if defined(PTX_FLUSHES)
#define OP_ENTER_rn_ftz const rounding mode_ = rounding_set(ROUND_FTZ);
#define OP_LEAVE_rn_ftz rounding_restore(mode_);
#define OP_ENTER_rz_ftz const rounding mode_ = rounding_set(ROUND_FTZ | ROUND_RZ);
#define OP_LEAVE_rz_ftz rounding_restore(mode_);
#define OP_ENTER_rm_ftz const rounding mode_ = rounding_set(ROUND_FTZ | ROUND_RM);
#define OP_LEAVE_rm_ftz rounding_restore(mode_);
#define OP_ENTER_rp_ftz const rounding mode_ = rounding_set(ROUND_FTZ | ROUND_RP);
#define OP_LEAVE_rp_ftz rounding_restore(mode_);
#endif

#define OP_ENTER_rn
#define OP_LEAVE_rn
#define OP_ENTER_rz const rounding mode_ = rounding_set(ROUND_RZ);
#define OP_LEAVE_rz rounding_restore(mode_);
#define OP_ENTER_rm const rounding mode_ = rounding_set(ROUND_RM);
#define OP_LEAVE_rm rounding_restore(mode_);
#define OP_ENTER_rp const rounding mode_ = rounding_set(ROUND_RP);
#define OP_LEAVE_rp rounding_restore(mode_);

#endif
