/* Moves, selections, and what lowering adds between the instructions of the text.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/ops.h"
#include "ptx/exec/program.h"

/* Predicates are masks already: the active lanes change, whichever handler runs. */
#define PREDICATE_LOGIC(name, expression)                                                          \
    static void name##_some(warp *w, const insn *i)                                                \
    {                                                                                              \
        u32 a = *OP_PREDICATE(i->a), b = *OP_PREDICATE(i->b == NO_SLOT ? i->a : i->b);             \
        u32 *d = OP_PREDICATE(i->d);                                                               \
        (void)b;                                                                                   \
        *d = (*d & ~w->mask) | ((expression)&w->mask);                                             \
    }                                                                                              \
    static void name##_full(warp *w, const insn *i)                                                \
    {                                                                                              \
        name##_some(w, i);                                                                         \
    }
PREDICATE_LOGIC(move_predicate, a)
PREDICATE_LOGIC(not_predicate, ~a)
PREDICATE_LOGIC(and_predicate, a &b)
PREDICATE_LOGIC(or_predicate, a | b)
PREDICATE_LOGIC(xor_predicate, a ^ b)

/* 128-bit values: the low halves of all lanes and then the high ones. */
enum { HALF = 8 * WARP_LANES };

static void move_lanes(warp *w, u32 to, u32 from)
{
    const u64 *a = OP_AT(u64, from);
    u64 *d = OP_AT(u64, to);
    for (u32 rest = w->mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = a[__builtin_ctz(rest)];
}

#define WIDE(name, statements)                                                                     \
    static void name##_some(warp *w, const insn *i)                                                \
    {                                                                                              \
        statements                                                                                 \
    }                                                                                              \
    static void name##_full(warp *w, const insn *i)                                                \
    {                                                                                              \
        name##_some(w, i);                                                                         \
    }
WIDE(move_128, move_lanes(w, i->d, i->a); move_lanes(w, i->d + HALF, i->a + HALF);)
WIDE(pack_64_2, move_lanes(w, i->d, i->a); move_lanes(w, i->d + HALF, i->b);)
WIDE(part_64_0, move_lanes(w, i->d, i->a);)
WIDE(part_64_1, move_lanes(w, i->d, i->a + HALF);)

WIDE(active_lanes, u32 *d = OP_AT(u32, i->d);
     for (u32 rest = w->mask; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = w->mask;)
WIDE(nothing, (void)w; (void)i;)
WIDE(fence, (void)w; (void)i; __atomic_thread_fence(__ATOMIC_ACQ_REL);)
WIDE(fence_all, (void)w; (void)i; __atomic_thread_fence(__ATOMIC_SEQ_CST);)

#define OP_ROWS  "ptx/exec/ops_core.inc"
#define OP_TABLE ptx_ops_core
#include "ptx/exec/ops_expand.h"
