/* Moves, selections, and what lowering adds between the instructions of the text.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/ops.h"

#define OP_ROWS  "ptx/exec/ops_core.inc"
#define OP_TABLE ptx_ops_core
#include "ptx/exec/ops_expand.h"
