/* The names of a PTX text and what they are bound to, scope by scope.  Private to the front end.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_SYMBOLS_H
#define PTX_SYMBOLS_H

#include "ptx/lex.h"
#include "ptx/ptx.h"
#include "ptx/vocabulary.h"

typedef enum ptx_bound {
    PTX_BOUND_VARIABLE,
    PTX_BOUND_FUNCTION,
    PTX_BOUND_REGISTER, /* index: a register; of a vector register, its first component's */
    PTX_BOUND_SINGLE,   /* index: a group of one register that nobody mentioned yet */
    PTX_BOUND_RANGE,    /* index: a group `%r<n>`, bound to its prefix */
    PTX_BOUND_LABEL,
    PTX_BOUND_PROTOTYPE,
    PTX_BOUND_TABLE,
} ptx_bound;

typedef struct ptx_name ptx_name;
typedef struct ptx_binding ptx_binding;

struct ptx_binding {
    uint8_t kind; /* ptx_bound */
    uint32_t depth;
    uint32_t line;
    uint32_t count; /* of a RANGE: how many registers it has */
    union {
        uint32_t index;
        ptx_variable *variable;
        ptx_function *function;
    };
    ptx_name *name;
    ptx_binding *outer;   /* what the name means outside this scope */
    ptx_binding *sibling; /* the next binding of the same scope */
};

struct ptx_name {
    const char *text; /* NUL-terminated, in the module's arena */
    uint32_t length, hash;
    const ptx_word *word; /* when PTX itself knows the name, else NULL */
    ptx_name *prefix;     /* of %r17: %r, or NULL */
    uint32_t number;      /* and 17 */
    ptx_binding *binding; /* innermost; not RANGE */
    ptx_binding *range;   /* innermost RANGE of which this name is the prefix */
    uint32_t in_table;    /* a label of .debug_str: its number + 1 */
};

typedef struct ptx_symbols {
    gpul__arena *arena; /* the module's: names, bindings */
    ptx_name **slots;
    size_t slot_count, name_count;
    ptx_binding **scopes; /* the first binding of each open scope */
    size_t scope_capacity;
    uint32_t depth; /* of the innermost open scope; 0 is the module */
} ptx_symbols;

bool ptx_symbols_init(ptx_symbols *symbols, gpul__arena *arena);
void ptx_symbols_free(ptx_symbols *symbols);

/* The one record of a name; NULL when memory is exhausted. */
ptx_name *ptx_intern(ptx_symbols *symbols, const char *text, uint32_t length, uint32_t hash);

bool ptx_scope_open(ptx_symbols *symbols);
void ptx_scope_close(ptx_symbols *symbols); /* forgets its bindings */

/* Binds in the scope of `depth`, one of the open ones, not inside what the name is bound to.  NULL
 * when memory is exhausted. */
ptx_binding *ptx_bind(ptx_symbols *symbols, ptx_name *name, ptx_bound kind, uint32_t depth);

/* What a name means here: the innermost of its own binding and a range that contains it. */
ptx_binding *ptx_lookup(const ptx_name *name);

#endif
