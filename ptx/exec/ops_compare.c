/* setp of integers and floats.  The comparisons themselves are in compares.h.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/compares.h"

#define OP_ROWS  "ptx/exec/ops_compare.inc"
#define OP_TABLE ptx_ops_compare
#include "ptx/exec/ops_expand.h"
