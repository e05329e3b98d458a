/* Single precision with defined rounding.  Results that are NaN are the one NaN of the hardware; the
 * approximate instructions are in ops_approx.c, rounding modes and modifiers that few kernels use in ops_f32_rare.c.  SPDX-License-Identifier: MIT */
#include "ptx/exec/f32.h"

#define OP_COMMON_ROWS
#define OP_ROWS  "ptx/exec/ops_f32.inc"
#define OP_TABLE ptx_ops_f32
#include "ptx/exec/ops_expand.h"
