/* The masked handlers of rows that have no masked loop: run the loop for all lanes, then put back what
 * the idle lanes held.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/ops.h"

void ISA_NAME(ptx_blend_32)(warp *w, const insn *i)
{
    _Alignas(64) u32 old[WARP_LANES];
    u32 *d = OP_AT(u32, i->d);
    memcpy(old, d, sizeof old);
    i->run[1](w, i);
    OP_LANES d[l] = w->lane_mask[l] ? d[l] : old[l];
}

void ISA_NAME(ptx_blend_64)(warp *w, const insn *i)
{
    _Alignas(64) u64 old[WARP_LANES];
    u64 *d = OP_AT(u64, i->d);
    memcpy(old, d, sizeof old);
    i->run[1](w, i);
    OP_LANES d[l] = w->lane_mask[l] ? d[l] : old[l];
}
