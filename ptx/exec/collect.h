/* Instructions that the lanes named in a mask execute together: shfl, vote, match, redux, elect and
 * bar.warp.sync.
 *
 * Fields: d, e destinations (NO_SLOT where there is none); a the value or predicate; b and c of shfl
 * the lane and the clamp; f the member mask; space the collective_kind; size a variant of it.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_COLLECT_H
#define PTX_EXEC_COLLECT_H

#include "ptx/exec/ir.h"

typedef enum collective_kind {
    COLLECTIVE_SHFL_UP,
    COLLECTIVE_SHFL_DOWN,
    COLLECTIVE_SHFL_BFLY,
    COLLECTIVE_SHFL_IDX,
    COLLECTIVE_VOTE_ALL, /* d a predicate */
    COLLECTIVE_VOTE_ANY,
    COLLECTIVE_VOTE_UNI,
    COLLECTIVE_VOTE_BALLOT, /* d 32 bits */
    COLLECTIVE_MATCH_ANY,   /* size: bytes of the value */
    COLLECTIVE_MATCH_ALL,
    COLLECTIVE_REDUX, /* size: redux_operation */
    COLLECTIVE_ELECT,
    COLLECTIVE_SYNC, /* bar.warp.sync: nothing but the meeting */
    COLLECTIVE_KINDS
} collective_kind;

typedef enum redux_operation {
    REDUX_ADD,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR,
    REDUX_UMIN,
    REDUX_UMAX,
    REDUX_SMIN,
    REDUX_SMAX,
    REDUX_FMIN, /* f32; REDUX_ABS and REDUX_NAN may be added */
    REDUX_FMAX,
} redux_operation;
enum { REDUX_ABS = 16, REDUX_NAN = 32 };

/* Computes for the lanes `own` what they get when `group` executes together.  `source` has the
 * values of the whole group: 32 words, 32 doublewords, or one mask, as the kind wants. */
typedef void collective(warp *w, const insn *i, const void *source, uint32_t group, uint32_t own);

#endif
