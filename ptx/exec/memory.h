/* Loads and stores: how an access is described to the tables of handlers, which of the fields of an
 * instruction hold what, and the way from 32 addresses to host memory.
 *
 * Fields.  a: the address (a slot of 32 or 64-bit values); imm: the displacement; space: where;
 * size: bytes of one element, with MEMORY_SIGNED for a load that extends by sign; flags of count
 * in `e`..., see below; extra: the instruction's cached range, of global and generic accesses.
 * A load of 1, 2 or 4 elements writes d, e, b, c; a store reads b, c, f, e.
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
    uint8_t shape;
} access_form;

typedef struct handler_pair {
    handler *masked, *full;
} handler_pair;

#endif
