/* A compiled program: lowered functions, kernels with their shared layout, and the addresses of
 * variables.  Built by program.c, link.c and the lower_*.c files.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_PROGRAM_H
#define PTX_EXEC_PROGRAM_H

#include "ptx/engine.h"
#include "ptx/exec/ir.h"

/* Windows of generic addresses, beyond everything that a process can map. */
#define WINDOW_SHARED 0x0001000000000000u
#define WINDOW_LOCAL  0x0001000100000000u
#define WINDOW_PARAM  0x0001000200000000u
#define WINDOW_CODE   0x0001000300000000u
#define WINDOW_SIZE   0x0000000100000000u
enum { CODE_STEP = 16 };         /* distance between the addresses of two functions */
enum { FRAME_OVERHEAD = 16 };    /* bytes of local memory a call costs besides its variables */
enum { SHARED_RESERVED = 1024 }; /* bytes at the start of shared memory that belong to the system */

/* What fills a read-only slot. */
typedef enum const_kind {
    CONST_BITS,    /* bits */
    CONST_PARAM,   /* param_size bytes at `bits` of the kernel's parameters, extended if `sign` */
    CONST_SPECIAL, /* the special register `bits` */
    CONST_SHARED,  /* offset of a shared variable, plus bits */
    CONST_LOCAL,   /* offset in local memory: the frame's base plus bits */
} const_kind;

typedef struct const_slot {
    uint8_t kind;  /* const_kind */
    uint8_t width; /* operand_kind */
    uint8_t param_size;
    bool sign;
    bool add_window; /* of CONST_SHARED and CONST_LOCAL: the generic address */
    uint32_t slot;   /* byte offset among the frame's slots */
    uint64_t bits;
    const ptx_variable *variable; /* of CONST_SHARED */
} const_slot;

/* How the caller holds one argument or result of a call: as bytes of local memory of its frame, or in
 * a slot. */
typedef struct call_value {
    uint32_t size;
    uint32_t outside; /* offset in the frame's local memory, or a slot */
    uint8_t width;    /* operand_kind of a slot; OPERAND_NONE: in local memory */
} call_value;

typedef enum builtin {
    BUILTIN_NONE,
    BUILTIN_PRINTF,
    BUILTIN_ASSERT,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
} builtin;

typedef struct call_info {
    const struct code *callee; /* NULL: indirect, or a builtin */
    builtin builtin;
    uint32_t pointer; /* slot of an indirect callee */
    call_value *arguments, *results;
    uint32_t argument_count, result_count;
} call_info;

typedef struct barrier_info {
    uint8_t mode;      /* sync, arrive, reduce */
    uint8_t operation; /* ptx_operation of a reduction: AND OR POPC */
    bool aligned;
    bool fixed; /* number and count are constants */
    uint32_t fixed_number, fixed_count;
    uint32_t number, count, predicate, result; /* slots; NO_SLOT where there is none */
} barrier_info;
enum { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_REDUCE };

typedef struct target_table {
    uint32_t *targets;
    uint32_t count;
} target_table;

/* One parameter or result of a function, in its frame. */
typedef struct formal {
    uint32_t size, align;
    uint32_t where; /* offset in the frame's local memory, or a register slot */
    uint8_t width;  /* operand_kind of a register parameter; OPERAND_NONE: in local memory */
} formal;

/* A lowered function. */
typedef struct code {
    const ptx_function *source;
    struct ptx_program *program;
    uint32_t index; /* in the program: its address is WINDOW_CODE + CODE_STEP * (index + 1) */
    insn *insns;
    uint32_t count;
    const struct insn_flow *flows;  /* of each instruction, for undefined values; or NULL */
    const ptx_instruction **origin; /* of each instruction; NULL entries at the end */
    const_slot *consts;
    uint32_t const_count;
    uint32_t block_const_count; /* the first so many change from block to block */
    call_info *calls;
    barrier_info *barriers;
    target_table *tables;
    uint32_t call_count, barrier_count, table_count;
    uint32_t regs_size;  /* bytes of slots, a multiple of 64 */
    uint32_t local_size; /* bytes a lane of local and parameter variables, a multiple of 16 */
    uint32_t peak_registers;
    formal *params, *results; /* of device functions */
    bool lowered;
    bool reads_workspace; /* of a cooperative launch */
    bool prints;          /* calls vprintf */
    /* For reachability: what it mentions. */
    struct code **callees;
    const ptx_variable **shared;
    uint32_t callee_count, shared_count;
    bool calls_anything; /* indirectly, without a table of targets */
    bool address_taken;
    const char *refusal; /* why it cannot run, or NULL */
} code;

typedef struct shared_symbol {
    const ptx_variable *variable;
    uint32_t offset;
} shared_symbol;

struct ptx_kernel {
    code *code;
    ptx_program *program;
    shared_symbol *shared;
    uint32_t shared_count;
    uint32_t static_shared; /* bytes of declared variables */
    uint32_t shared_end;    /* where dynamic shared memory begins, SHARED_RESERVED included */
    uint32_t param_size;    /* of the parameter buffer */
    uint32_t *param_offsets;
    uint32_t local; /* bytes a lane of the deepest chain of direct calls */
    bool recursive; /* or with indirect calls: `local` is no bound */
    bool reads_workspace, prints;
    uint32_t registers; /* most 32-bit values that live at once in a function it reaches */
    const char *refusal;
};

typedef struct program_global {
    const ptx_variable *variable;
    const ptx_module *module;
    uint64_t address;
    void *managed; /* host memory of a managed variable, else NULL */
} program_global;

struct pointer_map_entry {
    const void *key;
    size_t value;
};
/* From pointers into the tree to numbers. */
typedef struct pointer_map {
    struct pointer_map_entry *entries;
    size_t count, room;
} pointer_map;
bool pointer_map_put(pointer_map *map, const void *key, size_t value);
bool pointer_map_get(const pointer_map *map, const void *key, size_t *value);
void pointer_map_free(pointer_map *map);

struct ptx_program {
    ptx_engine *engine;
    gpul__arena arena;
    const isa_variant *isa;
    ptx_module *const *modules; /* in the arena */
    size_t module_count;
    program_global *globals;
    size_t global_count;
    code *codes;
    size_t code_count;
    ptx_kernel *kernels;
    size_t kernel_count;
    pointer_map global_map; /* ptx_variable (also extern ones) to index in globals */
    pointer_map code_map;   /* ptx_function (also declarations and aliases) to index in codes */
    uint32_t access_count;  /* instructions that have a cached range */
    uint32_t check_count;   /* instructions of the checkers */
    uint32_t check_granule; /* smallest access to shared memory that they watch, in bytes */
    uint32_t constant_size;
    uint64_t constant_start, constant_end; /* where the .const variables are */
    uint64_t id;                           /* unique in the process */
};

/* ------------------------------------------------------------------ link.c */

/* Gives functions their numbers and variables their memory; PTX_INVALID: diags say why. */
ptx_status ptx_link(ptx_program *program, uint64_t owner, ptx_diags *diags);
void ptx_unlink(ptx_program *program);
/* The address of a global or const variable; false when it is undefined. */
bool ptx_program_variable_address(const ptx_program *program, const ptx_variable *variable,
                                  uint64_t *address);
/* The definition behind an .extern shared variable, or the variable itself. */
const ptx_variable *ptx_program_shared_definition(const ptx_program *program,
                                                  const ptx_variable *variable);

/* ------------------------------------------------------------------ reach.c */

/* What each function calls and which shared variables it mentions; false: no memory. */
bool ptx_find_mentions(ptx_program *program);
/* Makes the kernels: their shared layout, local memory and refusals. */
bool ptx_make_kernels(ptx_program *program);

builtin ptx_builtin_named(const char *name);

#endif
