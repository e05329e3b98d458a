/* The tables of one instruction set variant.  A new file of operations is listed here.  Those of PTX_REST
 * are compiled for fewer variants: meson.build says which one stands in.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/isa.h"

#define REST_NAME(name) ISA_PASTE(name, PTX_REST)

extern const op_table ISA_NAME(ptx_ops_core), ISA_NAME(ptx_ops_int), ISA_NAME(ptx_ops_compare),
    ISA_NAME(ptx_ops_f32), ISA_NAME(ptx_ops_f64), ISA_NAME(ptx_ops_approx), ISA_NAME(ptx_ops_chain),
    ISA_NAME(ptx_ops_check);
extern const op_table REST_NAME(ptx_ops_bits), REST_NAME(ptx_ops_compare_half),
    REST_NAME(ptx_ops_f32_rare), REST_NAME(ptx_ops_half), REST_NAME(ptx_ops_cvt),
    REST_NAME(ptx_ops_cvt_int);

static const op_table *const tables[] = {
    &ISA_NAME(ptx_ops_core),          &ISA_NAME(ptx_ops_int),       &ISA_NAME(ptx_ops_compare),
    &ISA_NAME(ptx_ops_f32),           &ISA_NAME(ptx_ops_f64),       &ISA_NAME(ptx_ops_approx),
    &ISA_NAME(ptx_ops_chain),         &ISA_NAME(ptx_ops_check),     &REST_NAME(ptx_ops_bits),
    &REST_NAME(ptx_ops_compare_half), &REST_NAME(ptx_ops_f32_rare), &REST_NAME(ptx_ops_half),
    &REST_NAME(ptx_ops_cvt),          &REST_NAME(ptx_ops_cvt_int),  NULL,
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
