/* Loads and stores: how an access is described to the tables of handlers, which of the fields of an
 * instruction hold what, and the way from 32 addresses to host memory.
 *
 * Fields.  a: the address (a slot of 32 or 64-bit values); imm: the displacement; space: where, and
 * flags; size: MEMORY_SHAPE; extra: the instruction's cached range, of global and generic accesses.
 * A load of 1, 2 or 4 elements writes d, e, b, c; a store reads b, c, f, e.
 *
 * An indexed access has instead of an address its parts: a is a 32-bit index, target what it is
 * multiplied with, and the base is a read-only 64-bit slot: f of a load, d of a store.
 *
 * The 32 addresses of a warp are first looked at as a whole: most are contiguous or all the same, and
 * then checks and copies need no loop over lanes.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_MEMORY_H
#define PTX_EXEC_MEMORY_H

#include "ptx/exec/ir.h"

typedef enum memory_space {
    MEMORY_GLOBAL, /* also const: checked against the list of allocations */
    MEMORY_SHARED,
    MEMORY_LOCAL, /* also the parameters of device functions */
    MEMORY_PARAM, /* of the kernel, at addresses computed while it runs */
    MEMORY_GENERIC,
    MEMORY_SPACES
} memory_space;

/* Flags beside the space in insn.space. */
enum {
    SPACE_MASK = 15,
    SPACE_ADDRESS32 = 16, /* the address is a 32-bit slot */
    SPACE_INDEXED = 32,   /* the address has parts: an indexed access */
    SPACE_SIGNED = 64,    /* the index is extended by its sign */
};

typedef enum element {
    ELEMENT_U8,
    ELEMENT_S8,
    ELEMENT_U16,
    ELEMENT_S16,
    ELEMENT_32,
    ELEMENT_64,
    ELEMENTS
} element;

/* insn.size: the element, and log2 of the count above it. */
#define MEMORY_SHAPE(element, log_count) ((uint8_t)((element) | (log_count) << 4))
#define MEMORY_ELEMENT(shape)            ((element)((shape)&15))
#define MEMORY_COUNT(shape)              (1u << ((shape) >> 4))

static inline unsigned element_bytes(element e)
{
    return e <= ELEMENT_S8 ? 1 : e <= ELEMENT_S16 ? 2 : e == ELEMENT_32 ? 4 : 8;
}

typedef struct access_form {
    memory_space space;
    bool address32; /* the address register has 32 bits */
    bool uniform;   /* the address is a read-only slot with one value for all lanes */
    bool indexed;   /* of MEMORY_GLOBAL: base and index */
    uint8_t shape;
} access_form;

/* The columns of the tables of handlers for all lanes. */
typedef enum form_column {
    FORM_GLOBAL,
    FORM_INDEXED,
    FORM_GLOBAL_UNIFORM,
    FORM_SHARED,
    FORM_SHARED32,
    FORM_SHARED_UNIFORM,
    FORM_LOCAL,
    FORM_LOCAL32,
    FORM_LOCAL_UNIFORM,
    FORM_GENERIC,
    FORMS, /* also: there is none */
} form_column;

static inline form_column column_of(const access_form *form)
{
    switch (form->space) {
    case MEMORY_GLOBAL:
        return form->indexed ? FORM_INDEXED : form->uniform ? FORM_GLOBAL_UNIFORM : FORM_GLOBAL;
    case MEMORY_SHARED:
        return form->uniform ? FORM_SHARED_UNIFORM : form->address32 ? FORM_SHARED32 : FORM_SHARED;
    case MEMORY_LOCAL:
        return form->uniform ? FORM_LOCAL_UNIFORM : form->address32 ? FORM_LOCAL32 : FORM_LOCAL;
    case MEMORY_GENERIC: return FORM_GENERIC;
    default: return FORMS;
    }
}

typedef struct handler_pair {
    handler *masked, *full;
} handler_pair;

#endif
