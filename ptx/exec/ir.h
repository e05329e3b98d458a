/* What the interpreter runs: decoded instructions, the register slots of a warp, and the contract
 * by which the operation tables (ops_*.c) are found.  Blocks, splits and frames are in warp.h.
 *
 * Slots.  A warp keeps its registers in one buffer, `warp->regs`.  An operand of an instruction is
 * the byte offset of a slot in it, aligned to 64:
 *     8, 16 and 32-bit values: 32 lanes of 4 bytes (128 bytes)
 *     64-bit values:           32 lanes of 8 bytes (256 bytes)
 *     128-bit values:          the low 64-bit slot and then the high one (512 bytes)
 *     predicates:              one uint32_t, bit l for lane l (4 bytes, aligned to 4)
 * Immediates, kernel parameters and special registers are slots too, filled before the code runs
 * and never written by it.  Who writes an 8 or 16-bit result extends it to 32 bits by the sign of
 * its type; who reads one must not rely on the upper bits.
 *
 * Lane l of a value of one width has bytes of its own; values of different widths never share
 * storage, because lanes may be at different places of the code.
 *
 * A destination slot is either apart from every source slot or, when it has the same width as the
 * source and the instruction has one destination, possibly that very slot.  So a handler that
 * computes lane l from lane l alone needs no copy of its sources.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_IR_H
#define PTX_EXEC_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

enum { WARP_LANES = 32 };
#define ALL_LANES 0xffffffffu

typedef struct insn insn;
typedef struct warp warp;
typedef struct block block;
typedef struct frame frame;

typedef void handler(warp *w, const insn *i);

/* What the loop has to do besides calling the handler. */
typedef enum control {
    CONTROL_NONE,    /* call the handler and go on */
    CONTROL_CHECKED, /* the same, but something in `flags` or a guard has to be looked at first */
    CONTROL_BRANCH,  /* to `target`; the only other one with a guard */
    CONTROL_INDEXED, /* brx.idx: `extra` is a table of targets, `a` the index */
    CONTROL_CALL,    /* `extra` is a call description */
    CONTROL_SYSTEM,  /* call of a function that the device provides: `extra` is the same */
    CONTROL_RETURN,
    CONTROL_EXIT,
    CONTROL_BARRIER, /* bar, barrier: `extra` is a barrier description */
    CONTROL_CLUSTER, /* barrier.cluster */
    CONTROL_COLLECT, /* shfl, vote, match, redux, elect, bar.warp.sync: see collect.h */
    CONTROL_CLOCK,   /* a special register that changes */
    CONTROL_PAUSE,   /* nanosleep: `a` is the time */
    CONTROL_TRAP,    /* size: 0 trap, 1 brkpt */
} control;

enum {
    INSN_GUARD_NEGATED = 1, /* runs where the guard is false */
    INSN_LEADER = 2,        /* first of a basic block: another split may wait here */
    INSN_POLLS = 4,         /* may wait for another thread's write: atomic, volatile, acquire */
    INSN_MAY_WATCH = 8,     /* a load's check: the warp may have to be watched behind it */
};

#define NO_SLOT 0xffffffffu

/* One decoded instruction: one cache line.  Positions in the source are kept apart, by index. */
struct insn {
    handler *run[2];     /* [0] honours warp->mask lane by lane; [1] may write all 32 lanes */
    uint32_t d, e;       /* destinations; e: the second one of setp p|q, shfl d|p, and so on */
    uint32_t a, b, c, f; /* sources, in the order of the text */
    int64_t imm;         /* displacement of an address; constant operand where the row says so */
    uint32_t guard;      /* predicate slot, or NO_SLOT */
    uint32_t target;     /* index of the instruction a branch goes to */
    uint32_t extra;      /* index into a table that depends on the instruction, see lower.h */
    uint8_t control, flags;
    uint8_t space, size; /* of a memory access: see memory.h */
};

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(struct insn) == 64, "an instruction fills one cache line");
#endif

/* The part of a warp that handlers see; the rest is in warp.h and begins with this. */
#define WARP_HANDLER_PART                                                                          \
    uint8_t *regs; /* slots of the frame that runs */                                              \
    uint32_t mask; /* active lanes; never 0 while a handler runs */                                \
    uint32_t live; /* lanes that exist and have not exited */                                      \
    block *block;                                                                                  \
    frame *frame;                                                                                  \
    _Alignas(64) uint32_t lane_mask[WARP_LANES] /* all ones where active; for run[0] only */

struct warp_handler_part {
    WARP_HANDLER_PART;
};

/* How an operand of an operation is held. */
typedef enum operand_kind {
    OPERAND_NONE,
    OPERAND_32,        /* 8, 16 or 32 bits in a 128-byte slot */
    OPERAND_64,        /* 64 bits in a 256-byte slot */
    OPERAND_128,       /* two 64-bit slots */
    OPERAND_PREDICATE, /* mask of lanes */
    OPERAND_IMMEDIATE, /* a constant of the text, put into insn.imm */
} operand_kind;

/* One row of an operation table.
 *
 * `names` are the instructions this row runs, separated by blanks, each written as PTX writes it:
 * "add.s32 add.u32", "fma.rn.ftz.sat.f32", "cvt.rzi.s32.f32", "setp.lt.u32".  Modifiers may stand
 * in any order, types come in the order of the text.  Words that do not change the result (.uni,
 * .aligned) are left out.  Two rows with one name are an error that the tests find.
 *
 * The operands are taken in the order of the text: destinations d (and e after `|`), then a, b, c,
 * f.  Lowering takes care of: guards; negated predicate sources; registers wider than the type;
 * `setp` and `set` with a boolean step (.and .or .xor) and with two destinations, which are split
 * into the plain compare to one predicate (the only form that rows have), predicate logic and
 * a selection; logic and moves of predicates; packing and unpacking moves; all of ld, st, atom,
 * red, shfl, vote, match, redux, control flow.  Rows are needed for all the rest. */
typedef struct op_entry {
    const char *names;
    handler *masked, *full;
    uint8_t d, e, a, b, c, f; /* operand_kind */
} op_entry;

typedef struct op_table {
    const op_entry *rows;
    size_t count;
} op_table;

/* The files of operations and of memory access are compiled once per instruction set, with PTX_ISA
 * defined as generic, v2, v3 or v4 (x86-64 levels); a name of external linkage in them is wrapped in
 * ISA_NAME.  Each ops_*.c defines `const op_table ISA_NAME(ptx_ops_<subject>)`, which is listed
 * in ops_tables.c. */
#define ISA_PASTE_(name, isa) name##_##isa
#define ISA_PASTE(name, isa)  ISA_PASTE_(name, isa)
#define ISA_NAME(name)        ISA_PASTE(name, PTX_ISA)

/* One compiled variant: see isa.h. */
typedef struct isa_variant isa_variant;
extern const isa_variant *const ptx_isa_variants[]; /* best first; ends in NULL */
bool ptx_isa_available(const isa_variant *isa);     /* on this processor */

/* The row for a parsed instruction, or NULL.  The index over all rows is built on first use;
 * `failed` becomes true when memory for it is exhausted. */
const op_entry *ptx_op_find(const isa_variant *isa, const ptx_instruction *instruction,
                            bool *failed);

/* The same by name, for tests and for the instructions that lowering makes itself. */
const op_entry *ptx_op_named(const isa_variant *isa, const char *name, bool *failed);

/* The spelling under which rows are kept: opcode, then all other modifiers sorted, then the types
 * in order.  False when `room` is too small. */
bool ptx_op_canonical(char *out, size_t room, const char *name, size_t length);
/* The name of which two rows have the same spelling, or NULL; for tests. */
const char *ptx_op_duplicate(const isa_variant *isa);

#endif
