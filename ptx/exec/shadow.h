/* Undefined values: the checker of uninitialised reads behind the load.  A load that finds bytes which
 * nothing has written is no error; using what it gave is.  So a warp in which that happened is
 * watched from then on: each frame gets a shadow of its registers, of which a bit is 1 where the bit of the
 * register is undefined, and the loop tells this file about every instruction before it runs.
 * Instructions that only move bits move the shadow's bits; stores make memory undefined; everything
 * else (arithmetic, comparisons, addresses, choices) is a use, which is reported once, and its
 * result counts as defined.  Warps without such a load run as without the checker.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_SHADOW_H
#define PTX_EXEC_SHADOW_H

#include "ptx/exec/memory.h"

typedef enum flow_kind {
    FLOW_USES, /* all sources; results are defined */
    FLOW_IGNORED,
    FLOW_MOVES, /* only bits, as `controls` say */
    FLOW_AND,
    FLOW_OR,
    FLOW_JOINS, /* an undefined bit of a source makes that bit of the result undefined */
    FLOW_LOADS,
    FLOW_STORES,
    FLOW_CHAINS,
    FLOW_SHUFFLES,
} flow_kind;

/* What the checker must know of an instruction beside its fields; fields in the order d e a b c f. */
enum { FLOW_FIELDS = 6 };
typedef struct insn_flow {
    uint8_t kind;               /* flow_kind */
    uint8_t sources;            /* bit by field */
    uint8_t results;            /* the same */
    uint8_t controls;           /* sources that decide where bits go */
    uint8_t width[FLOW_FIELDS]; /* operand_kind */
} insn_flow;

/* Of a row of the tables, by its names. */
void ptx_flow_of_row(const char *names, insn_flow *out);

/* From now on the warp is watched. */
void ptx_watch(warp *w);
/* What the instruction will do with undefined values when the lanes execute it. */
void ptx_watch_step(warp *w, const insn *i, uint32_t lanes);
/* A block begins in the place of another. */
void ptx_watch_end(warp *w);
void ptx_watch_free(warp *w);

/* Bytes of one lane's access that nothing has written, as bits.  `address` is that of the space. */
uint32_t ptx_undefined_bytes(const warp *w, memory_space space, int lane, uint64_t address,
                             uint32_t size);
/* A value that crosses a call, from a slot or from local memory to a slot or to local memory. */
typedef struct flow_place {
    frame *frame;
    uint32_t where; /* slot, or offset in the frame's local memory */
    uint8_t width;  /* operand_kind; OPERAND_NONE: local memory */
} flow_place;
void ptx_watch_copy(warp *w, flow_place to, flow_place from, uint32_t size, uint32_t lanes);
/* A frame starts anew. */
void ptx_watch_frame(warp *w, frame *f);
/* Room for the marks of `size` bytes a lane of local memory; false: no memory. */
bool ptx_local_make_marks(warp *w, uint32_t size);

/* The lane writes to local memory. */
void ptx_local_written(const warp *w, int lane, uint64_t offset, uint32_t size, bool written);
/* The part of local memory that a frame begins with holds nothing; by bytes of a lane. */
void ptx_local_forget(const warp *w, uint32_t from, uint32_t to);

#endif
