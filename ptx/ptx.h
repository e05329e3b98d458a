/* The tree of a PTX module: what the parser makes, the checker annotates, the printer writes and the
 * engine lowers.  Everything in it lives in the module's arena and is freed with it.  How signatures
 * are read without a tree is in signature.h.  SPDX-License-Identifier: MIT */
#ifndef PTX_PTX_H
#define PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "ptx/diag.h"

/* The enumerations of words.def and opcodes.def.  Zero always means "not given". */
typedef enum ptx_type {
    PTX_NO_TYPE,
#define PTX_TYPE(id, text, bits, class) PTX_##id,
#include "ptx/words.def"
    PTX_TYPE_COUNT
} ptx_type;

typedef enum ptx_type_class {
    PTX_CLASS_NONE,
    PTX_CLASS_BITS,
    PTX_CLASS_UNSIGNED,
    PTX_CLASS_SIGNED,
    PTX_CLASS_FLOAT,
    PTX_CLASS_PREDICATE,
    PTX_CLASS_OPAQUE,
} ptx_type_class;

typedef enum ptx_space {
    PTX_SPACE_GENERIC,
#define PTX_SPACE(id, text) PTX_SPACE_##id,
#include "ptx/words.def"
    PTX_SPACE_COUNT
} ptx_space;

typedef enum ptx_rounding {
    PTX_ROUND_NONE,
#define PTX_ROUNDING(id, text) PTX_ROUND_##id,
#include "ptx/words.def"
    PTX_ROUND_COUNT
} ptx_rounding;

typedef enum ptx_compare {
    PTX_COMPARE_NONE,
#define PTX_COMPARE(id, text) PTX_COMPARE_##id,
#include "ptx/words.def"
    PTX_COMPARE_COUNT
} ptx_compare;

typedef enum ptx_operation {
    PTX_OPERATION_NONE,
#define PTX_OPERATION(id, text) PTX_OPERATION_##id,
#include "ptx/words.def"
    PTX_OPERATION_COUNT
} ptx_operation;

typedef enum ptx_mode {
    PTX_MODE_NONE,
#define PTX_MODE(id, text) PTX_MODE_##id,
#include "ptx/words.def"
    PTX_MODE_COUNT
} ptx_mode;

typedef enum ptx_scope {
    PTX_SCOPE_NONE,
#define PTX_SCOPE(id, text) PTX_SCOPE_##id,
#include "ptx/words.def"
    PTX_SCOPE_COUNT
} ptx_scope;

typedef enum ptx_semantics {
    PTX_SEMANTICS_NONE,
#define PTX_SEMANTICS(id, text) PTX_SEMANTICS_##id,
#include "ptx/words.def"
    PTX_SEMANTICS_COUNT
} ptx_semantics;

typedef enum ptx_cache {
    PTX_CACHE_NONE,
#define PTX_CACHE(id, text) PTX_CACHE_##id,
#include "ptx/words.def"
    PTX_CACHE_COUNT
} ptx_cache;

typedef enum ptx_eviction {
    PTX_EVICTION_NONE,
#define PTX_EVICTION(id, text) PTX_EVICTION_##id,
#include "ptx/words.def"
    PTX_EVICTION_COUNT
} ptx_eviction;

typedef enum ptx_prefetch {
    PTX_PREFETCH_NONE,
#define PTX_PREFETCH(id, text) PTX_PREFETCH_##id,
#include "ptx/words.def"
    PTX_PREFETCH_COUNT
} ptx_prefetch;

enum {
#define PTX_FLAG(id, text) PTX_FLAG_INDEX_##id,
#include "ptx/words.def"
    PTX_FLAG_COUNT
};

typedef enum ptx_flag {
#define PTX_FLAG(id, text) PTX_FLAG_##id = 1 << PTX_FLAG_INDEX_##id,
#include "ptx/words.def"
} ptx_flag;

typedef enum ptx_opcode {
    PTX_OP_NONE,
#define PTX_OPCODE(id, text, support) PTX_OP_##id,
#include "ptx/opcodes.def"
    PTX_OP_COUNT
} ptx_opcode;

/* The special registers; those with components have one entry per component. */
typedef enum ptx_special {
    PTX_SPECIAL_NONE,
#define PTX_SPECIAL(id, text, type) PTX_SPECIAL_##id,
#include "ptx/specials.def"
    PTX_SPECIAL_COUNT
} ptx_special;

const char *ptx_type_name(ptx_type type); /* "u32", without the dot; "" for none */
uint32_t ptx_type_bits(ptx_type type);    /* of its container: 8 to 128; 1 for pred and b1 */
ptx_type_class ptx_type_class_of(ptx_type type);
const char *ptx_opcode_name(ptx_opcode opcode);
bool ptx_opcode_runs(ptx_opcode opcode);     /* false: refused by the CPU device whatever follows */
const char *ptx_space_name(ptx_space space); /* "generic" for none */
const char *ptx_special_name(ptx_special special);
ptx_type ptx_special_type(ptx_special special);

/* ------------------------------------------------------------------ operands and instructions */

typedef struct ptx_module ptx_module;
typedef struct ptx_function ptx_function;
typedef struct ptx_variable ptx_variable;
typedef struct ptx_operand ptx_operand;

typedef enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REGISTER, /* index: into function->registers */
    PTX_OPERAND_INTEGER,  /* value.bits, after checking cut to the width of the operand's type */
    PTX_OPERAND_FLOAT,    /* value.bits: a binary32 or binary64, as `width` says (16: f16, bf16) */
    PTX_OPERAND_SPECIAL,  /* index: a ptx_special */
    PTX_OPERAND_SYMBOL,   /* the address of a variable, plus value.offset: `mov.u64 %rd1, a+8` */
    PTX_OPERAND_FUNCTION, /* the address of a function, or what a call calls */
    PTX_OPERAND_ADDRESS,  /* [base + value.offset]; base says what stands in the brackets */
    PTX_OPERAND_LABEL,    /* index: into function->labels */
    PTX_OPERAND_TABLE,    /* index: into function->tables, of brx.idx and of indirect calls */
    PTX_OPERAND_VECTOR,   /* { a, b, ... }: items, index of them */
    PTX_OPERAND_PAIR,     /* d|p: items, always two */
    PTX_OPERAND_LIST,     /* [a, {b, c}] of textures and bulk copies: items, index of them */
    PTX_OPERAND_SINK,     /* _ : the result is not wanted */
} ptx_operand_kind;

typedef enum ptx_base {
    PTX_BASE_NONE,     /* the offset is the whole address */
    PTX_BASE_REGISTER, /* index */
    PTX_BASE_VARIABLE, /* variable: also a parameter */
} ptx_base;

/* %r1.b2 and %r1.h1 of video instructions: a part of the register. */
typedef enum ptx_selector {
    PTX_SELECTOR_NONE,
    PTX_SELECTOR_B0,
    PTX_SELECTOR_B1,
    PTX_SELECTOR_B2,
    PTX_SELECTOR_B3,
    PTX_SELECTOR_H0,
    PTX_SELECTOR_H1,
} ptx_selector;

struct ptx_operand {
    uint8_t kind;  /* ptx_operand_kind */
    uint8_t base;  /* ptx_base of an ADDRESS */
    uint8_t width; /* of a FLOAT: the bits of its format; of a REGISTER: a ptx_selector */
    bool negated;  /* !%p */
    uint32_t index;
    union {
        uint64_t bits;
        int64_t offset;
    } value;
    union {
        ptx_operand *items;
        const ptx_variable *variable;
        const ptx_function *function;
    };
};

/* The words after the opcode, as a set: their order in the text does not matter, except among the
 * types, which are kept in order (`cvt.rn.f32.s32`: types[0] is f32). */
typedef struct ptx_modifiers {
    uint32_t flags; /* ptx_flag */
    uint8_t types[4], type_count;
    uint8_t rounding;                             /* ptx_rounding */
    uint8_t compare;                              /* ptx_compare */
    uint8_t operation;                            /* ptx_operation */
    uint8_t mode;                                 /* ptx_mode */
    uint8_t space;                                /* ptx_space */
    uint8_t scope;                                /* ptx_scope; membar.gl is GPU */
    uint8_t semantics;                            /* ptx_semantics */
    uint8_t vector;                               /* 0, 2, 4 or 8 */
    uint8_t cache, eviction, eviction2, prefetch; /* hints */
    uint8_t word_count;
    const char **words; /* what no field above holds, in order: instructions that are refused */
} ptx_modifiers;

#define PTX_NO_REGISTER UINT32_MAX

typedef struct ptx_prototype ptx_prototype;

/* call (results), callee, (arguments), prototype or table; an indirect call has a register as its
 * callee.  Results and arguments are names of .param variables (SYMBOL), registers or immediates. */
typedef struct ptx_call {
    ptx_operand callee; /* FUNCTION or REGISTER */
    ptx_operand *results, *arguments;
    uint32_t result_count, argument_count;
    uint32_t prototype; /* of an indirect call: index into prototypes + 1, or 0 */
    uint32_t table;     /* of possible callees: index into tables + 1, or 0 */
} ptx_call;

typedef struct ptx_instruction {
    uint16_t opcode; /* ptx_opcode */
    bool guard_negated;
    bool refused; /* the CPU device does not run it */
    uint8_t operand_count;
    uint32_t guard; /* register, or PTX_NO_REGISTER */
    ptx_operand *operands;
    ptx_call *call; /* of PTX_OP_CALL only */
    ptx_modifiers modifiers;
    uint32_t line;     /* in the PTX text, from 1 */
    uint32_t location; /* index into module->locations + 1, or 0: the .loc in force */
    uint32_t text_offset, text_length; /* the statement in module->text, guard to semicolon */
    uint32_t scope;                    /* index into function->scopes */
} ptx_instruction;

/* ------------------------------------------------------------------ variables and functions */

typedef enum ptx_linkage {
    PTX_LINKAGE_NONE, /* private to the module */
    PTX_LINKAGE_EXTERN,
    PTX_LINKAGE_VISIBLE,
    PTX_LINKAGE_WEAK,
    PTX_LINKAGE_COMMON,
} ptx_linkage;

/* A place in the initialiser that holds an address: (symbol + addend), shifted right by `shift` bits
 * and cut to `width` bytes.  Exactly one of variable and function is set. */
typedef struct ptx_relocation {
    uint64_t offset;
    const ptx_variable *variable;
    const ptx_function *function;
    int64_t addend;
    uint8_t width; /* 1, 2, 4 or 8 bytes */
    uint8_t shift; /* of the mask forms 0xFF(s) to 0xFF00000000000000(s): 0, 8, ... 56 */
    bool masked;   /* it was given by a mask, also with shift 0 */
    bool generic;  /* generic(symbol): the generic address, else the one in its own space */
} ptx_relocation;

enum { PTX_MAX_DIMENSIONS = 8 };

/* A variable of the module, a variable inside a function, or a parameter. */
struct ptx_variable {
    const char *name;
    uint8_t space; /* ptx_space: CONST GLOBAL LOCAL SHARED PARAM, or REG for a register parameter */
    uint8_t type;  /* ptx_type of one element */
    uint8_t vector;         /* 0, 2 or 4 elements in a row are one */
    uint8_t linkage;        /* ptx_linkage */
    bool is_array, unsized; /* `a[]`: the outermost dimension is open (dynamic shared memory) */
    uint8_t dimension_count;
    uint64_t dimensions[PTX_MAX_DIMENSIONS];
    uint64_t size;  /* bytes in all; 0 when unsized */
    uint32_t align; /* bytes, a power of two; the natural one where none was given */
    bool align_given;
    /* `.param .u64 .ptr .global .align 16`: what a pointer parameter points to. */
    bool is_pointer;
    uint8_t pointee_space;  /* ptx_space */
    uint32_t pointee_align; /* 0: not given */
    bool managed;           /* .attribute(.managed) */
    /* The initialiser: data_size bytes, the rest of `size` is zero; NULL when there is none. */
    bool initialised;
    const uint8_t *data;
    uint64_t data_size;
    ptx_relocation *relocations;
    uint32_t relocation_count;
    uint32_t index; /* among the module's globals, the parameters, or function->variables */
    uint32_t register_index; /* of a REG parameter, else PTX_NO_REGISTER */
    uint32_t line, scope;
    bool listed;   /* of the module: among its globals already */
    uint32_t item; /* of the module: index in module->items + 1 */
};

/* `.reg .b32 %r<200>` or `.reg .b32 a`: only its type's width counts, the container is untyped. */
typedef struct ptx_register_group {
    const char *name; /* of a range `%r<200>` its prefix, else the whole name */
    bool is_range, is_param;
    uint8_t type;   /* ptx_type */
    uint8_t vector; /* 0, 2 or 4: `.reg .v4 .f32 v` is four registers v.x v.y v.z v.w */
    uint32_t count; /* of a range: 200 */
    uint32_t scope;
    uint32_t line;
} ptx_register_group;

/* Only registers that an instruction or a parameter mentions have an entry. */
typedef struct ptx_register {
    uint32_t group;  /* index into function->groups */
    uint32_t number; /* within it: %r17 has 17; of a vector also 4 * number + component */
    uint8_t type;    /* ptx_type of the declaration */
    uint8_t bits;    /* 1 (predicate), 8, 16, 32, 64 or 128 */
} ptx_register;

typedef struct ptx_label {
    const char *name;
    uint32_t instruction; /* may equal instruction_count: the end of the function */
    uint32_t scope;
    uint32_t line;
} ptx_label;

/* A pair of braces; scope 0 is the function's body. */
typedef struct ptx_scope_range {
    uint32_t parent;
    uint32_t first, end; /* instructions */
} ptx_scope_range;

/* `name: .callprototype (results) _ (parameters);` */
struct ptx_prototype {
    const char *name;
    ptx_variable *params, *results;
    uint32_t param_count, result_count;
    bool noreturn;
    uint32_t scope, line;
};

/* `name: .branchtargets a, b;` (labels) or `name: .calltargets f, g;` (functions). */
typedef struct ptx_table {
    const char *name;
    ptx_operand *targets; /* LABEL or FUNCTION */
    uint32_t count;
    bool of_functions;
    uint32_t scope, line;
} ptx_table;

typedef struct ptx_pragma {
    const char *text; /* without the quotes */
    bool in_header;   /* of a function: between its parameters and its body */
} ptx_pragma;

/* What stands in the text, in its order: of a module its items, of a body its statements. */
typedef enum ptx_statement_kind {
    PTX_STATEMENT_INSTRUCTION, /* of function->instructions; and so on */
    PTX_STATEMENT_REGISTERS,
    PTX_STATEMENT_VARIABLE,
    PTX_STATEMENT_LABEL,
    PTX_STATEMENT_OPEN, /* a scope */
    PTX_STATEMENT_CLOSE,
    PTX_STATEMENT_PROTOTYPE,
    PTX_STATEMENT_TABLE,
    PTX_STATEMENT_LOCATION, /* of module->locations; and so on */
    PTX_STATEMENT_FILE,
    PTX_STATEMENT_PRAGMA,
    PTX_STATEMENT_GLOBAL,
    PTX_STATEMENT_GLOBAL_DECLARATION, /* .extern, and the definition follows */
    PTX_STATEMENT_DECLARATION,        /* of a function */
    PTX_STATEMENT_DEFINITION,
    PTX_STATEMENT_ALIAS,
    PTX_STATEMENT_SECTION,
} ptx_statement_kind;

typedef struct ptx_statement {
    uint32_t kind, index;
} ptx_statement;

struct ptx_function {
    const char *name;
    ptx_module *module;
    bool is_entry, has_body, noreturn;
    bool is_declared; /* also without its body */
    uint8_t linkage;  /* ptx_linkage */
    /* Exactly as given; has_* says whether the directive was there.  Missing dimensions are 1. */
    bool has_maxntid, has_reqntid, has_reqnctapercluster, explicitcluster, blocksareclusters;
    uint32_t maxntid[3], reqntid[3], reqnctapercluster[3];
    uint32_t minnctapersm, maxnctapersm, maxnreg, maxclusterrank; /* 0: not given */
    ptx_variable *params, *results;
    uint32_t param_count, result_count;
    ptx_register_group *groups;
    ptx_register *registers;
    uint32_t group_count, register_count;
    ptx_variable **variables; /* .local .shared .param .global .const declared in the body */
    uint32_t variable_count;
    ptx_label *labels;
    uint32_t label_count;
    ptx_scope_range *scopes;
    uint32_t scope_count;
    ptx_prototype *prototypes;
    uint32_t prototype_count;
    ptx_table *tables;
    uint32_t table_count;
    ptx_pragma *pragmas;
    uint32_t pragma_count;
    ptx_instruction *instructions;
    uint32_t instruction_count;
    ptx_statement *statements; /* the body in the order of its text */
    uint32_t statement_count;
    /* The first instruction that the CPU device refuses, or NULL: never run such a function. */
    const ptx_instruction *unsupported;
    const char *unsupported_reason; /* "unsupported by the CPU device: mma.sync..." */
    uint32_t line;
    uint32_t index; /* in module->functions */
};

/* ------------------------------------------------------------------ the module */

typedef struct ptx_file {
    uint32_t number;
    const char *name;
    bool has_time;
    uint64_t time, size;
} ptx_file;

/* One .loc: file, line, column, and for inlined code the place it was inlined at. */
typedef struct ptx_location {
    uint32_t file, line, column; /* file: a .file number */
    uint32_t inlined_at;         /* index into locations + 1, or 0 */
    const char *function_label;  /* of inlined code: a label in .debug_str, or NULL */
    uint64_t function_offset;
    const char *function; /* the mangled name that label stands for, or NULL */
} ptx_location;

typedef struct ptx_alias {
    const char *name;
    ptx_function *target;
    ptx_function *function; /* the declaration that bears the alias's name */
    uint32_t line;
} ptx_alias;

/* .section and its braces, which hold DWARF: kept as text. */
typedef struct ptx_section {
    const char *name;
    const char *text; /* what stands between the braces; not NUL-terminated */
    size_t length;
} ptx_section;

struct ptx_module {
    gpul__arena arena;
    const char *text; /* a copy of the source, NUL-terminated */
    size_t length;
    uint32_t version_major, version_minor;
    const char *target;         /* "sm_90a", the first .target word */
    const char *target_options; /* the others, comma separated, or "" */
    uint32_t target_sm;         /* 90 */
    char target_suffix;         /* 'a', 'f' or 0 */
    bool debug_target;          /* .target ..., debug */
    uint32_t address_size;      /* 32 or 64 */
    ptx_variable **globals; /* module scope: .global .const .shared, in order of first appearance */
    ptx_function **functions; /* entries and functions, declared or defined */
    ptx_alias *aliases;
    ptx_file *files;
    ptx_location *locations;
    ptx_section *sections;
    ptx_pragma *pragmas;
    uint32_t global_count, function_count, alias_count, file_count, location_count, section_count,
        pragma_count;
    ptx_statement *items; /* the module in the order of its text */
    uint32_t item_count;
    bool has_unsupported; /* some function has */
};

typedef enum ptx_status {
    PTX_OK,
    PTX_INVALID,         /* the text is not correct PTX: diags say why */
    PTX_VERSION_TOO_NEW, /* .version is newer than this front end knows */
    PTX_OUT_OF_MEMORY,
} ptx_status;

/* The newest PTX ISA version that is accepted. */
enum { PTX_NEWEST_MAJOR = 9, PTX_NEWEST_MINOR = 9 };

/* Parses, resolves and checks a module.  `diags` collects errors, and for each function the first
 * instruction of each kind that the CPU device does not run (severity PTX_UNSUPPORTED, and then the
 * status is still PTX_OK: see ptx_function.unsupported).  On failure *out is NULL. */
ptx_status ptx_parse(ptx_module **out, const char *text, size_t length, ptx_diags *diags);
void ptx_module_free(ptx_module *module); /* accepts NULL */

ptx_function *ptx_find_function(const ptx_module *module, const char *name); /* or NULL */
ptx_variable *ptx_find_global(const ptx_module *module, const char *name);   /* or NULL */

/* The opcode with its modifiers as the text spells it ("ld.global.nc.f32"): pointer into the text. */
const char *ptx_instruction_spelling(const ptx_module *module, const ptx_instruction *instruction,
                                     size_t *length);
/* The name of a register as the text spells it ("%r17"), written into `buffer`. */
const char *ptx_register_name(const ptx_function *function, uint32_t index, char *buffer,
                              size_t size);

/* Writes the module as PTX that parses back to the same tree. */
void ptx_print_module(const ptx_module *module, gpul__str *out);
void ptx_print_instruction(const ptx_function *function, const ptx_instruction *instruction,
                           gpul__str *out);

#endif
