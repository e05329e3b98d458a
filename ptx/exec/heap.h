/* Device memory as the engine sees it: look-ups that kernels need, beside the public part in
 * ptx/engine.h.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_HEAP_H
#define PTX_EXEC_HEAP_H

#include "ptx/engine.h"
#include "ptx/exec/marks.h"

/* Device addresses lo <= a < hi are at the host address a + bias.  Empty: lo is the largest value. */
typedef struct range {
    uint64_t lo, hi, bias;
    uint64_t last; /* where the instruction that uses this range loaded last, to guess ahead */
} range;

/* True when [address, address + size) lies in one live allocation that may be read or, with
 * `writes`, written; `out` becomes that allocation's range. */
bool ptx_memory_lookup(ptx_memory *memory, uint64_t address, uint64_t size, bool writes,
                       range *out);

/* Why the look-up failed, and the allocation that is hit or nearest, if there is one. */
ptx_fault_kind ptx_memory_explain(ptx_memory *memory, uint64_t address, uint64_t size,
                                  ptx_allocation *nearest, bool *has_nearest);

/* Which bytes have been written; valid as long as the memory. */
const marks *ptx_memory_marks(const ptx_memory *memory);

/* Changes whenever something that was accessible may be so no longer. */
uint64_t ptx_memory_generation(const ptx_memory *memory);

/* malloc in a kernel: 0 when `limit` bytes or the memory are used up. */
uint64_t ptx_memory_heap_alloc(ptx_memory *memory, uint64_t size, uint64_t limit);

#endif
