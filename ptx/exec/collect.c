/* Where lanes wait for each other at a collective: a split parks until every live lane that its
 * member mask names has come to an instruction of the same kind with the same mask; then all of them
 * execute it together.  They may stand at different places of the code.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/check.h"
#include "ptx/exec/isa.h"

static const isa_variant *isa_of(const warp *w)
{
    return w->block->launch->program->isa;
}

static const uint32_t *slot32(const warp *w, uint32_t slot)
{
    return (const uint32_t *)(const void *)(w->regs + slot);
}

/* Runs the handler for some of the active lanes. */
static void execute(warp *w, const insn *i, uint32_t lanes)
{
    uint32_t mask = w->mask;
    ptx_check_meeting(w, lanes);
    w->mask = lanes;
    i->run[0](w, i);
    w->mask = mask;
}

static bool same_kind(const insn *i, const insn *j)
{
    return i->space == j->space && i->size == j->size;
}

static const insn *insn_of(const split *s)
{
    return &s->frame->code->insns[s->pc];
}

/* The parked splits that wait for `members` at an instruction like `i`, as bits of their indices. */
static uint32_t partners(const warp *w, const insn *i, uint32_t members, uint32_t *lanes)
{
    uint32_t found = 0;
    *lanes = 0;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const split *s = &w->splits[k];
        if (s->state != SPLIT_COLLECT || s->members != members || !same_kind(insn_of(s), i))
            continue;
        found |= 1u << k;
        *lanes |= s->mask;
    }
    return found;
}

static void warn_exited(warp *w, const insn *i, uint32_t members, uint32_t lanes)
{
    uint32_t exited = members & w->exists & ~w->live;
    if (exited) ptx_fault(w, i, lanes, PTX_FAULT_EXITED_LANES, NULL, NULL);
}

/* Executes a complete group of parked splits and makes them ready. */
static void complete(warp *w, uint32_t found, uint32_t group)
{
    union {
        uint32_t words[WARP_LANES];
        uint64_t doubles[WARP_LANES];
    } source = { { 0 } };
    uint8_t *regs = w->regs;
    frame *running = w->frame;
    ptx_check_meeting(w, group);
    for (uint32_t rest = found; rest; rest &= rest - 1) {
        const split *s = &w->splits[__builtin_ctz(rest)];
        const insn *i = insn_of(s);
        if (i->a == NO_SLOT) continue;
        const uint32_t *a = (const uint32_t *)(const void *)(s->frame->regs + i->a);
        collective_kind kind = i->space;
        if (kind >= COLLECTIVE_VOTE_ALL && kind <= COLLECTIVE_VOTE_BALLOT) {
            source.words[0] |= *a & s->mask;
            continue;
        }
        bool wide = i->size == 8 && (kind == COLLECTIVE_MATCH_ANY || kind == COLLECTIVE_MATCH_ALL);
        for (uint32_t lanes = s->mask; lanes; lanes &= lanes - 1) {
            int l = __builtin_ctz(lanes);
            if (wide) source.doubles[l] = ((const uint64_t *)(const void *)a)[l];
            else source.words[l] = a[l];
        }
    }
    for (uint32_t rest = found; rest; rest &= rest - 1) {
        split *s = &w->splits[__builtin_ctz(rest)];
        w->frame = s->frame;
        w->regs = s->frame->regs;
        warn_exited(w, insn_of(s), s->members, s->mask);
        isa_of(w)->collective(w, insn_of(s), &source, group, s->mask);
        s->state = SPLIT_READY;
        s->rotated = false;
        s->pc++;
    }
    w->regs = regs;
    w->frame = running;
    /* Splits that came to the same place become one. */
    for (uint32_t k = 0; k < w->split_count; k++)
        for (uint32_t j = w->split_count; j-- > k + 1;) {
            split *s = &w->splits[k], *t = &w->splits[j];
            if (s->state != SPLIT_READY || t->state != SPLIT_READY || s->pc != t->pc ||
                s->frame != t->frame)
                continue;
            s->mask |= t->mask;
            *t = w->splits[--w->split_count];
        }
}

collect_result ptx_collect(warp *w, const insn *i)
{
    const uint32_t *named = slot32(w, i->f);
    uint32_t first = named[__builtin_ctz(w->mask)];
    if ((first & w->live) == w->mask) {
        uint32_t differs = 0;
        for (uint32_t rest = w->mask; rest; rest &= rest - 1)
            differs |= named[__builtin_ctz(rest)] ^ first;
        if (!differs) {
            if (first & w->exists & ~w->live) warn_exited(w, i, first, w->mask);
            ptx_check_meeting(w, w->mask);
            i->run[0](w, i);
            return COLLECT_DONE;
        }
    }
    uint32_t executed = 0, left = w->mask, pc = (uint32_t)(i - w->frame->code->insns);
    while (left) {
        uint32_t members = named[__builtin_ctz(left)], lanes = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            if (named[l] == members) lanes |= 1u << l;
        }
        left &= ~lanes;
        if (lanes & ~members) {
            ptx_fault(w, i, lanes & ~members, PTX_FAULT_LANE_MASK, NULL, NULL);
            lanes &= members;
            if (!lanes) continue;
        }
        uint32_t waiting, found = partners(w, i, members, &waiting);
        if (!found && (members & w->live) == lanes) {
            warn_exited(w, i, members, lanes);
            execute(w, i, lanes);
            executed |= lanes;
            continue;
        }
        ptx_split_park(w, &(split){ .frame = w->frame,
                                    .pc = pc,
                                    .mask = lanes,
                                    .members = members,
                                    .state = SPLIT_COLLECT });
        w->mask &= ~lanes;
        if ((members & w->live) == (lanes | waiting))
            complete(w, found | 1u << (w->split_count - 1), lanes | waiting);
    }
    if (executed && executed == w->mask && !ptx_split_others_ready(w)) return COLLECT_DONE;
    ptx_split_add(w, w->frame, pc + 1, executed & w->live, false);
    return COLLECT_PARKED;
}

bool ptx_collect_settle(warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        const split *s = &w->splits[k];
        if (s->state != SPLIT_COLLECT) continue;
        uint32_t waiting, found = partners(w, insn_of(s), s->members, &waiting);
        if ((s->members & w->live) != waiting) continue;
        complete(w, found, waiting);
        return true;
    }
    return false;
}
