/* A warp and what it stands on: frames of called functions, and splits, the groups of lanes that
 * run together.  Handlers use only WARP_HANDLER_PART of it.  Each live lane of a warp is in exactly
 * one split.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_WARP_H
#define PTX_EXEC_WARP_H

#include "ptx/exec/ir.h"

struct code;
struct call_info;

/* The registers of one activation of a function.  Lanes that call from the same place in the same
 * frame share it.  The kernel itself is the root. */
struct frame {
    const struct code *code;
    frame *parent;
    frame *jump; /* some frame further out; the kernel's is its own */
    const struct call_info *call;
    uint8_t *shadow;     /* which bits of regs are undefined, see shadow.h; NULL: none */
    frame *next;         /* in the warp's list of active frames, or in a list of free ones */
    frame *children;     /* frames that were called from this one */
    frame *sibling;      /* the parent's next child */
    uint8_t *regs;       /* 64-aligned, code->regs_size bytes */
    uint32_t return_pc;  /* in the parent's code */
    uint32_t depth;      /* 0: the kernel */
    uint32_t lanes;      /* that stand in it or in a frame below */
    uint32_t local_base; /* where its local variables begin in each lane's local memory */
};

typedef enum split_state {
    SPLIT_READY,
    SPLIT_COLLECT, /* at a collective, until the members it names have come */
    SPLIT_ALIGNED, /* at an aligned barrier with a part of the warp only */
    SPLIT_BARRIER, /* arrived at the barrier `barrier`; its pc is still that of the instruction */
    SPLIT_CLUSTER, /* waits for the cluster's barrier */
} split_state;

typedef struct split {
    frame *frame;
    uint32_t pc;
    uint32_t mask;
    uint32_t members; /* of SPLIT_COLLECT */
    uint8_t state, barrier;
    bool rotated; /* was put back because it spun: others go first */
} split;

struct warp {
    WARP_HANDLER_PART;
    uint32_t exists; /* lanes with a thread */
    uint32_t index;  /* in its block */
    split splits[WARP_LANES];
    uint32_t split_count;
    bool polled; /* ran an instruction that may wait for another thread, since last asked */
    uint32_t cluster_lanes; /* arrived in the running phase of the cluster's barrier */
    frame *root;            /* of the kernel */
    frame *frames;          /* active ones besides the root */
    uint8_t *local;         /* 32-lane words: byte b of lane l is at (b/4)*128 + 4*l + b%4 */
    uint32_t local_size;    /* bytes a lane that are there */
    uint32_t local_top;     /* bytes a lane that the running frame may use */
    uint8_t *local_marks; /* bytes that were written: 4 bits a lane for each word; NULL: not kept */
    struct watch *watch;  /* see shadow.c */
    bool watched;         /* undefined values are about */
    uint64_t executed;    /* warp instructions not yet added to the launch's sum */
    uint64_t lanes_executed; /* the same by lanes */
};

#endif
