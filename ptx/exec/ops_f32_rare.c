/* Single precision, the RARE rows.  SPDX-License-Identifier: MIT */
#include "ptx/exec/f32.h"

#define OP_RARE_ROWS
#define OP_ROWS  "ptx/exec/ops_f32.inc"
#define OP_TABLE ptx_ops_f32_rare
#include "ptx/exec/ops_expand.h"
