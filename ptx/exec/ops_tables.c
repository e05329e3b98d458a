/* The tables of one instruction set variant.  A new file of operations is listed here.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/isa.h"

extern const op_table ISA_NAME(ptx_ops_core), ISA_NAME(ptx_ops_int), ISA_NAME(ptx_ops_bits),
    ISA_NAME(ptx_ops_compare), ISA_NAME(ptx_ops_f32), ISA_NAME(ptx_ops_f64), ISA_NAME(ptx_ops_half),
    ISA_NAME(ptx_ops_cvt), ISA_NAME(ptx_ops_cvt_int), ISA_NAME(ptx_ops_approx),
    ISA_NAME(ptx_ops_chain), ISA_NAME(ptx_ops_check);

static const op_table *const tables[] = {
    &ISA_NAME(ptx_ops_core),
    &ISA_NAME(ptx_ops_int),
    &ISA_NAME(ptx_ops_bits),
    &ISA_NAME(ptx_ops_compare),
    &ISA_NAME(ptx_ops_f32),
    &ISA_NAME(ptx_ops_f64),
    &ISA_NAME(ptx_ops_half),
    &ISA_NAME(ptx_ops_cvt),
    &ISA_NAME(ptx_ops_cvt_int),
    &ISA_NAME(ptx_ops_approx),
    &ISA_NAME(ptx_ops_chain),
    &ISA_NAME(ptx_ops_check),
    NULL,
};

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
extern const isa_variant ISA_NAME(ptx_isa);
const isa_variant ISA_NAME(ptx_isa) = {
    .name = TEXT(PTX_ISA),
    .tables = tables,
    .load = ISA_NAME(ptx_load_handlers),
    .store = ISA_NAME(ptx_store_handlers),
    .atomic = ISA_NAME(ptx_atomic_handler),
    .collective_handler = ISA_NAME(ptx_collective_handler),
    .collective = ISA_NAME(ptx_collective),
    .run = ISA_NAME(ptx_run),
};
