/* The floating-point environment under which PTX is read and run: rounding to nearest, subnormals kept,
 * no traps.  The program that calls may have another one in its thread, which new threads inherit.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_FLOAT_MODE_H
#define PTX_FLOAT_MODE_H

#include <fenv.h>

static inline fenv_t ptx_float_mode_enter(void)
{
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    return callers;
}

/* Puts back the caller's, without what was raised in between. */
static inline void ptx_float_mode_leave(const fenv_t *callers)
{
    fesetenv(callers);
}

#endif
