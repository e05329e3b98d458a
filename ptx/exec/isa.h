/* What one compiled variant of the handlers offers: operation tables, memory access, collectives and
 * the loop itself.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_ISA_H
#define PTX_EXEC_ISA_H

#include "ptx/exec/block.h"
#include "ptx/exec/collect.h"
#include "ptx/exec/memory_table.h"

struct isa_variant {
    const char *name;              /* "v3" */
    const op_table *const *tables; /* ends in NULL */
    handler_pair (*load)(const access_form *form);
    handler_pair (*store)(const access_form *form);
    handler *(*atomic)(ptx_operation operation, ptx_type type); /* NULL: none such */
    handler *(*collective_handler)(collective_kind kind, unsigned size);
    collective *collective;
    run_state (*run)(warp *w);
};

#ifdef PTX_ISA
/* The members, as they are called in this variant. */
handler_pair ISA_NAME(ptx_load_handlers)(const access_form *form);
handler_pair ISA_NAME(ptx_store_handlers)(const access_form *form);
handler *ISA_NAME(ptx_atomic_handler)(ptx_operation operation, ptx_type type);
handler *ISA_NAME(ptx_collective_handler)(collective_kind kind, unsigned size);
void ISA_NAME(ptx_collective)(warp *w, const insn *i, const void *source, uint32_t group,
                              uint32_t own);
run_state ISA_NAME(ptx_run)(warp *w);
#endif

#endif
