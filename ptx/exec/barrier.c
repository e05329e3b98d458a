/* Barriers of a block and of a cluster.
 *
 * An aligned barrier is executed by whole warps: a part of a warp waits at the instruction until the
 * rest of the live lanes has come to the same one.  Lanes that stand at different barriers with
 * nothing left to run are a divergent barrier, which is reported.  A barrier over all threads is
 * released when only exited threads are missing; one with a count counts arrivals by warps, as if
 * all 32 lanes were there.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ptx/exec/check.h"

static const uint32_t *slot32(const frame *f, uint32_t slot)
{
    return (const uint32_t *)(const void *)(f->regs + slot);
}

static const barrier_info *info_of(const frame *f, const insn *i)
{
    return &f->code->barriers[i->extra];
}

/* ------------------------------------------------------------------ arriving */

typedef struct arrival {
    uint32_t number, expected;
    bool valid;
} arrival;

/* Whether all lanes give one number. */
static bool agree(const uint32_t *given, uint32_t lanes, uint32_t *out)
{
    *out = given[__builtin_ctz(lanes)];
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (given[__builtin_ctz(rest)] != *out) return false;
    return true;
}

/* Which barrier the lanes mean; all lanes must mean the same. */
static arrival read_operands(warp *w, const insn *i, const barrier_info *info)
{
    arrival a = { info->fixed_number, info->fixed_count, true };
    bool counted = info->count != NO_SLOT;
    if (!info->fixed &&
        (!agree(slot32(w->frame, info->number), w->mask, &a.number) ||
         (counted && !agree(slot32(w->frame, info->count), w->mask, &a.expected)))) {
        ptx_fault(w, i, w->mask, PTX_FAULT_BARRIER, NULL,
                  "lanes of one warp name different barriers or thread counts");
        return (arrival){ .valid = false };
    }
    if (a.number >= BARRIER_LIMIT) {
        ptx_fault(w, i, w->mask, PTX_FAULT_BARRIER, NULL, "there are only barriers 0 to 15");
        return (arrival){ .valid = false };
    }
    if (counted && (a.expected == 0 || a.expected % WARP_LANES)) {
        ptx_fault(w, i, w->mask, PTX_FAULT_BARRIER, NULL,
                  "the thread count is not a multiple of 32");
        return (arrival){ .valid = false };
    }
    named_barrier *n = &w->block->barriers[a.number];
    if (n->active && n->expected != a.expected) {
        char text[160];
        snprintf(text, sizeof text, "barrier %u was entered for %u threads and now for %u",
                 a.number, n->expected ? n->expected : w->block->launch->threads,
                 a.expected ? a.expected : w->block->launch->threads);
        ptx_fault(w, i, w->mask, PTX_FAULT_BARRIER, NULL, text);
        return (arrival){ .valid = false };
    }
    return a;
}

/* The active lanes arrive; with `wait` they are parked behind the instruction. */
static void arrive(warp *w, const insn *i, const barrier_info *info, arrival a, bool wait)
{
    block *b = w->block;
    named_barrier *n = &b->barriers[a.number];
    if (!n->active) {
        *n = (named_barrier){
            .active = true, .expected = a.expected, .first = i, .first_code = w->frame->code
        };
        b->active_barriers |= 1u << a.number;
    }
    uint32_t threads = (uint32_t)__builtin_popcount(w->mask);
    /* Once all live lanes of a warp are there, the missing ones count as well. */
    uint32_t here = w->mask;
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == SPLIT_BARRIER && w->splits[k].barrier == a.number)
            here |= w->splits[k].mask;
    if (a.expected != ALL_THREADS && here == w->live)
        threads += WARP_LANES - (uint32_t)__builtin_popcount(w->live);
    n->arrived += threads;
    if (info->mode == BARRIER_REDUCE) {
        uint32_t set = *slot32(w->frame, info->predicate) & w->mask;
        n->reduced_count += (uint32_t)__builtin_popcount(set);
        n->reduced_threads += (uint32_t)__builtin_popcount(w->mask);
    }
    if (wait)
        ptx_split_park(w, &(split){ .frame = w->frame,
                                    .pc = (uint32_t)(i - w->frame->code->insns),
                                    .mask = w->mask,
                                    .state = SPLIT_BARRIER,
                                    .barrier = (uint8_t)a.number });
}

static bool is_complete(const block *b, const named_barrier *n)
{
    return n->active && n->arrived >= (n->expected ? n->expected : b->live_threads);
}

static void deliver(const split *s, const named_barrier *n)
{
    const insn *i = &s->frame->code->insns[s->pc];
    const barrier_info *info = info_of(s->frame, i);
    if (info->mode != BARRIER_REDUCE) return;
    uint32_t *result = (uint32_t *)(void *)(s->frame->regs + info->result);
    if (info->operation == PTX_OPERATION_POPC) {
        for (uint32_t rest = s->mask; rest; rest &= rest - 1)
            result[__builtin_ctz(rest)] = n->reduced_count;
        return;
    }
    bool holds = info->operation == PTX_OPERATION_AND ? n->reduced_count == n->reduced_threads
                                                      : n->reduced_count > 0;
    *result = holds ? *result | s->mask : *result & ~s->mask;
}

static void release(block *b, uint32_t number)
{
    named_barrier *n = &b->barriers[number];
    ptx_check_barrier(b);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[k];
        for (uint32_t j = 0; j < w->split_count;) {
            split s = w->splits[j];
            if (s.state != SPLIT_BARRIER || s.barrier != number) {
                j++;
                continue;
            }
            deliver(&s, n);
            w->splits[j] = w->splits[--w->split_count];
            ptx_split_add(w, s.frame, s.pc + 1, s.mask, false);
            j = 0;
        }
    }
    n->active = false;
    b->active_barriers &= ~(1u << number);
}

bool ptx_barrier_release(block *b)
{
    bool any = false;
    for (uint32_t rest = b->active_barriers; rest; rest &= rest - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(rest);
        if (!is_complete(b, &b->barriers[number])) continue;
        release(b, number);
        any = true;
    }
    return any;
}

bool ptx_barrier(warp *w, const insn *i)
{
    const barrier_info *info = info_of(w->frame, i);
    uint32_t pc = (uint32_t)(i - w->frame->code->insns);
    if (info->aligned && w->mask != w->live) {
        for (uint32_t k = 0; k < w->split_count; k++) {
            split *s = &w->splits[k];
            if (s->state != SPLIT_ALIGNED || s->pc != pc || s->frame != w->frame) continue;
            s->mask |= w->mask;
            ptx_barrier_settle(w);
            return false;
        }
        ptx_split_park(
            w, &(split){ .frame = w->frame, .pc = pc, .mask = w->mask, .state = SPLIT_ALIGNED });
        return false;
    }
    arrival a = read_operands(w, i, info);
    if (!a.valid) return false;
    bool wait = info->mode != BARRIER_ARRIVE;
    arrive(w, i, info, a, wait);
    if (!wait) {
        ptx_barrier_release(w->block);
        return true;
    }
    return false;
}

bool ptx_barrier_settle(warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        split s = w->splits[k];
        if (s.state != SPLIT_ALIGNED || s.mask != w->live) continue;
        w->splits[k] = w->splits[--w->split_count];
        const insn *i = &s.frame->code->insns[s.pc];
        frame *running = w->frame;
        uint8_t *regs = w->regs;
        uint32_t mask = w->mask;
        w->frame = s.frame;
        w->regs = s.frame->regs;
        w->mask = s.mask;
        if (ptx_barrier(w, i)) ptx_split_add(w, s.frame, s.pc + 1, s.mask, false);
        w->frame = running;
        w->regs = regs;
        w->mask = mask & w->live;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ clusters */

/* Every live thread of the cluster has arrived: the phase ends, and who waits for it goes on. */
bool ptx_cluster_release(unit *u)
{
    bool arrived = false;
    for (uint32_t k = 0; k < u->block_count; k++)
        for (uint32_t j = 0; j < u->blocks[k].warp_count; j++) {
            const warp *w = &u->blocks[k].warps[j];
            if (w->live & ~w->cluster_lanes) return false;
            arrived |= w->cluster_lanes != 0;
        }
    if (!arrived) return false;
    for (uint32_t k = 0; k < u->block_count; k++) ptx_check_barrier(&u->blocks[k]);
    for (uint32_t k = 0; k < u->block_count; k++)
        for (uint32_t j = 0; j < u->blocks[k].warp_count; j++) {
            warp *w = &u->blocks[k].warps[j];
            w->cluster_lanes = 0;
            for (uint32_t s = 0; s < w->split_count;) {
                split waiting = w->splits[s];
                if (waiting.state != SPLIT_CLUSTER) {
                    s++;
                    continue;
                }
                w->splits[s] = w->splits[--w->split_count];
                ptx_split_add(w, waiting.frame, waiting.pc + 1, waiting.mask, false);
                s = 0;
            }
        }
    return true;
}

bool ptx_cluster_barrier(warp *w, const insn *i)
{
    if (i->size == CLUSTER_ARRIVE) {
        w->cluster_lanes |= w->mask;
        ptx_cluster_release(w->block->unit);
        return true;
    }
    /* The phase in which these lanes arrived may be over already. */
    if (!(w->mask & w->cluster_lanes)) return true;
    ptx_split_park(w, &(split){ .frame = w->frame,
                                .pc = (uint32_t)(i - w->frame->code->insns),
                                .mask = w->mask,
                                .state = SPLIT_CLUSTER });
    return false;
}
