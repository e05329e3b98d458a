/* The checkers of shared and global memory: what they keep, and how the rest of the engine tells them
 * what happens.  With the checkers off there is no instruction of theirs in the code, and the
 * block's pointer is NULL.
 *
 * Time.  A block counts up: each instruction of a checker takes a number, its serial, when it runs
 * for the first time behind a barrier, or behind something that orders its warp (a collective, a
 * fence, an atomic operation).  So a tag whose serial is older than the barrier's needs no look, and
 * the serial names the instruction of every access that still matters.
 *
 * Tags.  Each granule of shared memory (the smallest access of the program, 4 bytes at most) has one
 * tag of its last writer and one of its readers: serial, two flags, thread.  A tag older than the
 * block says that nothing has been written.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_CHECK_H
#define PTX_EXEC_CHECK_H

#include "ptx/exec/block.h"
#include "ptx/exec/memory.h"

enum {
    TAG_THREAD = 0x3ff,
    TAG_MANY = 0x400,   /* of a reader: others have read as well; the thread is the last one */
    TAG_ATOMIC = 0x400, /* of a writer */
    TAG_STRONG = 0x800, /* atomic, volatile or relaxed: no race with its like in another warp */
    TAG_FLAGS = 0xfff,
    TAG_SHIFT = 12,
    SERIAL_LIMIT = (1 << 19) - 1, /* tags stay below 2^31 */
};

/* Flags of a checking instruction, in insn.flags. */
enum {
    CHECK_STRONG = 64,
    CHECK_USED = 128, /* it uses what it finds, as atomic operations do */
};

typedef struct check_site {
    const insn *insn;
    const code *code;
} check_site;

/* What orders the lanes of one warp. */
typedef struct check_warp {
    uint32_t fresh;   /* serials below are used up */
    uint32_t ordered; /* all live lanes met behind what has a serial below */
    uint32_t lane_ordered[WARP_LANES], members[WARP_LANES]; /* the last meeting of some lanes */
    uint32_t fenced[WARP_LANES];                            /* the lane's last fence */
    uint32_t released[WARP_LANES]; /* the fence in front of its last atomic or volatile write */
    uint32_t acquired[WARP_LANES]; /* its last atomic or volatile read */
    uint32_t any_released, any_acquired; /* by some lane: what other warps see */
} check_warp;

typedef struct block_check {
    uint32_t *writer, *reader; /* by granule */
    uint32_t granules, shift;  /* a granule has 1 << shift bytes */
    uint32_t next;             /* the first serial that is not used */
    uint32_t epoch;            /* the first serial behind the last barrier */
    uint32_t begin;            /* the first one of this block */
    uint32_t *serials;         /* of each instruction of a checker: its last one */
    check_site *log;           /* by serial, from log_base on */
    uint32_t log_base, log_room;
    check_warp *warps;
    uint8_t *undefined; /* of shared memory: a bit by byte that holds an undefined value */
    bool has_undefined;
    bool fences; /* this block has executed one: without it nothing is handed over */
    uint32_t warp_count, sites;
    uint32_t checks; /* PTX_CHECK_* */
} block_check;

uint32_t ptx_check_serial(warp *w, const insn *i); /* a new one */

/* Any access of the active lanes to shared memory, lane by lane. */
typedef enum check_action { CHECK_READS, CHECK_WRITES, CHECK_CHANGES } check_action;
void ptx_check_access(warp *w, const insn *i, const uint64_t *offsets, uint32_t lanes,
                      check_action action);
void ptx_check_fence(warp *w, const insn *i);
/* Uninitialised reads: other memory than shared. */
void ptx_check_written(warp *w, const insn *i, const uint64_t *addresses, uint32_t lanes,
                       memory_space space, check_action action);
/* A store of values that are undefined, or no longer so: bytes of shared memory. */
void ptx_check_store_undefined(block *b, uint64_t offset, uint32_t size, uint32_t bytes);
/* Global memory, between blocks. */
void ptx_check_global(warp *w, const insn *i, const uint64_t *addresses, uint32_t lanes,
                      check_action action);

/* Makes the checker of a block, or NULL when memory is exhausted. */
block_check *ptx_check_make(const launch *l);
void ptx_check_free(block_check *c);
void ptx_check_begin(block *b); /* another block starts in the same place */
void ptx_check_barrier(block *b);
/* The lanes meet: a collective, or bar.warp.sync. */
void ptx_check_meeting(warp *w, uint32_t lanes);

void ptx_check_block_fence(block *b);

struct launch_check *ptx_check_launch_make(const launch *l);
void ptx_check_launch_free(struct launch_check *c);

/* What a report calls it. */
static inline const char *check_verb(check_action action)
{
    static const char *const verbs[] = {
        [CHECK_READS] = "reads", [CHECK_WRITES] = "writes", [CHECK_CHANGES] = "atomically changes"
    };
    return verbs[action];
}

/* The bytes that one lane accesses. */
static inline uint32_t check_size(const insn *i, check_action action)
{
    return action == CHECK_CHANGES ? i->size
                                   : element_bytes(MEMORY_ELEMENT(i->size)) * MEMORY_COUNT(i->size);
}

/* The instruction's serial for this warp, as a tag without thread and flags. */
static inline uint32_t check_tag(warp *w, const insn *i)
{
    const block_check *c = w->block->checker;
    uint32_t serial = c->serials[i->extra], fresh = c->warps[w->index].fresh;
    if (fresh < c->epoch) fresh = c->epoch;
    if (serial < fresh) serial = ptx_check_serial(w, i);
    return serial << TAG_SHIFT;
}

#endif
