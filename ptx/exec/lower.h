/* Lowering: from the parsed instructions of a function to decoded ones.  First each instruction
 * becomes drafts whose operands are values (registers, temporaries, constants); then liveness gives
 * values their slots, and drafts become instructions.
 *
 *     lower.c           the walk over a function, plain operations, moves
 *     lower_value.c     values, constants, operands
 *     lower_carry.c     carry chains
 *     lower_convert.c   conversions in steps
 *     lower_memory.c    loads, stores, atomics, address conversion
 *     lower_sync.c      barriers and collectives
 *     lower_control.c   branches, calls, returns
 *     flow.c, fuse.c, liveness.c, slots.c, chain.c, emit.c
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_LOWER_H
#define PTX_EXEC_LOWER_H

#include "ptx/exec/isa.h"
#include "ptx/exec/program.h"

/* An operand before it has a slot: an index into values, or with CONST_VALUE one into consts.
 * NO_SLOT: none. */
typedef uint32_t value;
#define CONST_VALUE 0x80000000u
static inline bool is_const(value v)
{
    return v != NO_SLOT && (v & CONST_VALUE);
}

typedef struct value_info {
    uint8_t width;  /* operand_kind */
    value alias;    /* the constant it always is, or NO_SLOT */
    uint32_t defs;  /* how often it is written, by instructions of the text */
    uint32_t reads; /* by drafts */
    value friend;   /* best in the same slot: the other side of a move; or NO_SLOT */
    uint32_t slot;
} value_info;

/* The value fields of an instruction, in order. */
enum { FIELD_D, FIELD_E, FIELD_A, FIELD_B, FIELD_C, FIELD_F, FIELDS };

#define NO_TARGET UINT32_MAX

typedef struct draft {
    insn i; /* d, e, a, b, c, f and guard are values */
    const ptx_instruction *origin;
    uint8_t defs, uses; /* which fields are written and read: bits by FIELD_* */
    bool apart;         /* destinations must not share a slot with any source */
    bool is_move;       /* of a to d, both of one width */
    const char *names;  /* of its row, or NULL */
    bool
        is_access; /* a load or store, of d or of b, or the check in front; not an atomic operation */
    bool checks;   /* the check in front of one */
    bool stores;
    bool drops_result; /* d may be NO_SLOT when nobody reads it */
    bool removed;      /* not needed any more, and not to be emitted */
    bool ends_block;   /* lanes may go elsewhere behind it */
    bool leader;
    uint32_t target; /* of a branch: index of a parsed instruction, or NO_TARGET */
    uint32_t list;   /* more values, in lowering->lists: written ones, then read ones */
    uint16_t list_defs, list_uses;
} draft;

typedef struct basic_block {
    uint32_t first, end; /* drafts */
    uint32_t successors; /* index into lowering->edges */
    uint32_t successor_count;
} basic_block;

typedef struct lowering {
    ptx_program *program;
    code *code;
    const ptx_function *function;
    const ptx_module *module;
    ptx_diags *diags;
    bool failed;  /* memory ran out */
    bool refused; /* the function cannot run; diags say why */

    const ptx_instruction *now; /* what is lowered, and its guard */
    uint32_t now_index;
    value guard;
    bool guard_negated;
    value carry; /* the carry flag, a predicate; NO_SLOT: not met yet */

    draft *drafts;
    size_t draft_count, draft_room;
    value_info *values;
    size_t value_count, value_room;
    const_slot *consts;
    size_t const_count, const_room;
    uint32_t *const_table; /* hash of consts: index + 1 */
    size_t const_table_size;
    value *lists;
    size_t list_count, list_room;
    uint32_t *first_draft; /* of each parsed instruction, and one more */
    call_info *calls;
    size_t call_count, call_room;
    barrier_info *barriers;
    size_t barrier_count, barrier_room;
    target_table *tables; /* targets are parsed instructions until emission */
    size_t table_count, table_room;
    uint32_t *local_offsets; /* of function->variables in local memory */
    uint32_t *param_offsets; /* of the parameters: in the buffer, or in local memory */
    uint32_t *result_offsets;

    basic_block *blocks;
    size_t block_count;
    uint32_t *edges;
    uint32_t slots_size; /* bytes given out so far */
} lowering;

/* ------------------------------------------------------------------ lower_value.c */

value lower_constant(lowering *l, const const_slot *wanted);
value lower_bits(lowering *l, operand_kind width, uint64_t bits);
value lower_temporary(lowering *l, operand_kind width);
operand_kind lower_width(const lowering *l, value v);
/* The number of a constant slot, when it is known now. */
bool lower_known_number(const lowering *l, value v, uint64_t *out);
/* The same constant with another width. */
value lower_const_as(lowering *l, value v, operand_kind width);
/* An operand as a source of the given width; may add drafts. */
value lower_source(lowering *l, const ptx_operand *operand, operand_kind width);
/* As a source of one type: floating-point literals become its bits. */
value lower_typed_source(lowering *l, const ptx_operand *operand, ptx_type type);
/* A predicate source, negated if the operand is. */
value lower_predicate(lowering *l, const ptx_operand *operand);
/* A destination.  When the register is of another width, a temporary that `lower_finish` copies. */
typedef struct destination {
    value v, reg;
    bool is_signed;
} destination;
destination lower_destination(lowering *l, const ptx_operand *operand, operand_kind width,
                              bool is_signed);
void lower_finish(lowering *l, destination d);
operand_kind lower_type_width(ptx_type type);
uint32_t lower_type_size(ptx_type type); /* bytes; 1 for a predicate */
/* Address of a variable, in its own space or generic. */
value lower_variable(lowering *l, const ptx_variable *variable, int64_t offset, bool generic,
                     operand_kind width);
/* How the values of the registers begin: their widths. */
bool lower_begin_values(lowering *l);
void lower_find_aliases(lowering *l);

/* ------------------------------------------------------------------ lower.c */

bool lower_function(ptx_program *program, code *c, ptx_diags *diags);
/* Adds a draft for the instruction that is lowered; never NULL (a spare one after a failure). */
draft *lower_add(lowering *l);
/* A draft of a named row with up to one destination and three sources. */
draft *lower_add_named(lowering *l, const char *name, value d, value a, value b, value c);
void lower_refuse(lowering *l, const char *reason);
/* Refuses because of a symbol that no device could find; `use` is what the instruction does with it. */
void lower_undefined(lowering *l, const char *use, const char *name);
void lower_set(draft *d, int field, value v, bool written);
/* Control instructions have no guard: a branch around them in front. */
draft *lower_add_control(lowering *l, control c);
bool lower_has_destination(const ptx_instruction *instruction);

/* ------------------------------------------------------------------ the others */

void lower_load(lowering *l);
void lower_store(lowering *l);
void lower_atomic(lowering *l);
void lower_fence(lowering *l);
void lower_convert(lowering *l); /* lower_convert.c: a cvt without a row */
void lower_cvta(lowering *l);
void lower_isspacep(lowering *l);
void lower_barrier(lowering *l);
void lower_collective(lowering *l);
void lower_branch(lowering *l);
void lower_indexed_branch(lowering *l);
void lower_call(lowering *l);
void lower_return(lowering *l);

void lower_add_to_list(lowering *l, value v);

bool lower_flow(lowering *l);  /* basic blocks and leaders */
bool lower_fuse(lowering *l);  /* addresses into the accesses that use them */
bool lower_slots(lowering *l); /* a slot for each value and constant */
bool lower_chain(lowering *l); /* consecutive operations on floats into one instruction */
bool lower_emit(lowering *l);

/* ------------------------------------------------------------------ lower_carry.c */

bool lower_is_carry(const ptx_instruction *instruction); /* writes or reads the carry flag */
void lower_carry(lowering *l);

/* ------------------------------------------------------------------ liveness.c */

/* Stretches of the code where a value must be kept, in points: draft k is read at 2k and written at
 * 2k + 1. */
typedef struct live_range {
    uint32_t start, end; /* end is not part of it */
} live_range;

typedef struct live_ranges {
    live_range *ranges; /* of one value after the other, sorted */
    uint32_t *first;    /* of each value: index of its first range */
    uint32_t *count;    /* and how many it has */
} live_ranges;
bool lower_liveness(lowering *l, live_ranges *out);
void lower_liveness_free(live_ranges *ranges);

/* The values a draft reads and writes, the guard and the list included. */
enum { DRAFT_VALUES = 7 };
static inline uint32_t *draft_field(draft *d, int field)
{
    switch (field) {
    case FIELD_D: return &d->i.d;
    case FIELD_E: return &d->i.e;
    case FIELD_A: return &d->i.a;
    case FIELD_B: return &d->i.b;
    case FIELD_C: return &d->i.c;
    default: return &d->i.f;
    }
}

/* Once slots are given. */
static inline uint32_t lower_slot(const lowering *l, value v)
{
    if (v == NO_SLOT) return NO_SLOT;
    return is_const(v) ? l->consts[v & ~CONST_VALUE].slot : l->values[v].slot;
}

/* A draft that makes no instruction. */
static inline bool lower_is_dropped(const lowering *l, const draft *d)
{
    if (d->removed) return true;
    return d->is_move && lower_width(l, d->i.d) == lower_width(l, d->i.a) &&
           lower_slot(l, d->i.d) == lower_slot(l, d->i.a);
}

#endif
