/* Macros for the rows of the operation tables: each row makes a handler for all lanes, one for some
 * lanes, and the table entry.  A file of operations looks like ops_core.c:
 *
 *     #include "ptx/exec/ops.h"
 *     static inline u32 helper(u32 a) { ... }          helpers first
 *     #define OP_ROWS "ptx/exec/ops_core.inc"        the rows, one macro each
 *     #define OP_TABLE ptx_ops_core
 *     #include "ptx/exec/ops_expand.h"                  makes functions and table out of them
 *
 * Rows (expressions see the sources of lane l as a, b, c, f of the given types):
 *     OP1(names, fn, D, A, expression)
 *     OP2(names, fn, D, A, B, expression)
 *     OP3(names, fn, D, A, B, C, expression)
 *     OP4(names, fn, D, A, B, C, F, expression)
 *     OP2I, OP3I: as OP2, OP3 and one constant more in the text, seen as `imm` (lop3's table)
 *     COMPARE(names, fn, A, B, condition)               one predicate: setp
 *     TEST(names, fn, A, condition)                     one predicate of one source: testp
 *     SELECT(names, fn, D, A, B, expression)            the third source is a predicate, seen as
 *                                                       `p` (0 or 1): selp
 *     RARE1, RARE2, RARE3: as OP1, OP2, OP3, but without a masked loop of their own: under a mask the
 *                                                       loop for all lanes runs (it is insn.run[1])
 *                                                       and the idle lanes are put back after it
 *     OP1_IN ... COMPARE_IN(scope, names, ...)          the same, the loop between
 *                                                       OP_ENTER_<scope> and OP_LEAVE_<scope>, for
 *                                                       instance to set rounding or flush modes
 * Types: u8 s8 u16 s16 u32 s32 f32 in 32-bit slots, u64 s64 f64 in 64-bit slots.  Half-precision
 * bits are u16 or u32.  Results are converted to D, and D extends into the slot by its sign.
 *
 * The loops are marked free of dependences between lanes: a row must not look at other lanes.
 * The whole folder is compiled with -fno-strict-aliasing and -ffp-contract=off.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_OPS_H
#define PTX_EXEC_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include "ptx/exec/ir.h"
#include "ptx/exec/warp.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* The masked handlers of RARE rows, in ops_blend.c: for results of 32 and of 64 bits. */
handler ISA_NAME(ptx_blend_32), ISA_NAME(ptx_blend_64);

/* How a type lies in its slot. */
#define OP_SLOT_u8  u32
#define OP_SLOT_s8  u32
#define OP_SLOT_u16 u32
#define OP_SLOT_s16 u32
#define OP_SLOT_u32 u32
#define OP_SLOT_s32 s32
#define OP_SLOT_u64 u64
#define OP_SLOT_s64 s64
#define OP_SLOT_f32 f32
#define OP_SLOT_f64 f64

#define OP_KIND_u8  OPERAND_32
#define OP_KIND_s8  OPERAND_32
#define OP_KIND_u16 OPERAND_32
#define OP_KIND_s16 OPERAND_32
#define OP_KIND_u32 OPERAND_32
#define OP_KIND_s32 OPERAND_32
#define OP_KIND_f32 OPERAND_32
#define OP_KIND_u64 OPERAND_64
#define OP_KIND_s64 OPERAND_64
#define OP_KIND_f64 OPERAND_64

#define OP_BLEND_u8  ISA_NAME(ptx_blend_32)
#define OP_BLEND_s8  ISA_NAME(ptx_blend_32)
#define OP_BLEND_u16 ISA_NAME(ptx_blend_32)
#define OP_BLEND_s16 ISA_NAME(ptx_blend_32)
#define OP_BLEND_u32 ISA_NAME(ptx_blend_32)
#define OP_BLEND_s32 ISA_NAME(ptx_blend_32)
#define OP_BLEND_f32 ISA_NAME(ptx_blend_32)
#define OP_BLEND_u64 ISA_NAME(ptx_blend_64)
#define OP_BLEND_s64 ISA_NAME(ptx_blend_64)
#define OP_BLEND_f64 ISA_NAME(ptx_blend_64)

/* In front of a loop whose rounds do not depend on each other. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define OP_LANES INDEPENDENT for (int l = 0; l < WARP_LANES; l++)

/* A slot of the running frame, as an array of 32 values. */
#define OP_AT(T, offset) ((OP_SLOT_##T *)__builtin_assume_aligned(w->regs + (offset), 64))
/* A predicate slot. */
#define OP_PREDICATE(offset) ((u32 *)(void *)(w->regs + (offset)))

#define OP_ENTER_plain
#define OP_LEAVE_plain

#endif
