/* What the handlers of memory access in all variants share (access.c).
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_MEMORY_TABLE_H
#define PTX_EXEC_MEMORY_TABLE_H

#include "ptx/exec/block.h"
#include "ptx/exec/memory.h"

/* Where each lane's access of `size` bytes lies in host memory, for spaces other than local.  The
 * lanes that may not are reported and ended; returns those that may. */
uint32_t ptx_resolve(warp *w, const insn *i, memory_space space, const uint64_t *addresses,
                     uint32_t lanes, uint32_t size, bool writes, const char *action,
                     uint64_t *host);

/* Of the given lanes, those whose generic address falls into the space; `offsets` gets the addresses
 * within it.  MEMORY_GENERIC holds none. */
uint32_t ptx_lanes_in_space(const uint64_t *addresses, uint32_t lanes, memory_space space,
                            uint64_t *offsets);

/* Reports that an access is invalid, and ends the lanes.  `addresses` are those of the space. */
void ptx_fault_address(warp *w, const insn *i, uint32_t lanes, memory_space space, uint32_t size,
                       const char *action, const uint64_t *addresses);

#endif
