/* When nothing can run any more: divergent barriers inside a warp and deadlocks of a block.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "ptx/exec/block.h"

static const insn *insn_of(const split *s)
{
    return &s->frame->code->insns[s->pc];
}

static const ptx_instruction *origin_of(const split *s)
{
    return s->frame->code->origin[s->pc];
}

/* The line in the source, or in the PTX when there is no line information. */
static void describe_line(const split *s, char *out, size_t room)
{
    const ptx_instruction *origin = origin_of(s);
    if (!origin) {
        snprintf(out, room, "an unknown line");
        return;
    }
    if (origin->location) {
        const ptx_location *location =
            &s->frame->code->source->module->locations[origin->location - 1];
        snprintf(out, room, "line %u", location->line);
    } else {
        snprintf(out, room, "PTX line %u", origin->line);
    }
}

/* Reports a fault for all lanes of a parked split, as if it ran. */
static void fault_split(warp *w, const split *s, ptx_fault_kind kind, const char *detail)
{
    w->frame = s->frame;
    w->regs = s->frame->regs;
    ptx_fault(w, insn_of(s), s->mask, kind, NULL, detail);
    w->frame = w->root;
    w->regs = w->root->regs;
}

bool ptx_warp_stuck(warp *w)
{
    uint32_t aligned = 0;
    for (uint32_t k = 0; k < w->split_count; k++) {
        uint8_t state = w->splits[k].state;
        if (state == SPLIT_READY || state == SPLIT_BARRIER || state == SPLIT_CLUSTER) return false;
        aligned += state == SPLIT_ALIGNED;
    }
    if (!w->split_count) return false;
    /* Behind a first fault others wait in vain for the lanes it ended. */
    if (atomic_load(&w->block->launch->faulted)) {
        ptx_exit_lanes(w, w->live);
        return true;
    }
    split parked[WARP_LANES] = { { 0 } };
    uint32_t count = w->split_count;
    for (uint32_t k = 0; k < count; k++) parked[k] = w->splits[k];
    ptx_report_block_positions(w->block);
    /* The two first places, in order of the code. */
    const split *first = &parked[0], *second = NULL;
    for (uint32_t k = 1; k < count; k++)
        if (parked[k].pc < first->pc) first = &parked[k];
    for (uint32_t k = 0; k < count; k++)
        if (&parked[k] != first && (!second || parked[k].pc < second->pc)) second = &parked[k];
    char here[64], there[64] = "", text[256];
    describe_line(first, here, sizeof here);
    if (second) describe_line(second, there, sizeof there);
    if (second)
        snprintf(text, sizeof text, "%s: %d lanes of the warp wait at %s and %d at %s",
                 aligned ? "divergent barrier" : "lanes wait for each other for ever",
                 __builtin_popcount(first->mask), here, __builtin_popcount(second->mask), there);
    else
        snprintf(text, sizeof text, "%d lanes of the warp wait at %s for lanes that never come",
                 __builtin_popcount(first->mask), here);
    ptx_fault_kind kind = aligned ? PTX_FAULT_BARRIER : PTX_FAULT_DEADLOCK;
    split copy = *first;
    fault_split(w, &copy, kind, text);
    ptx_exit_lanes(w, w->live);
    return true;
}

void ptx_block_deadlock(block *b)
{
    bool faulted = atomic_load(&b->launch->faulted);
    if (!faulted) ptx_report_block_positions(b);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[k];
        if (faulted) ptx_exit_lanes(w, w->live);
        while (w->split_count) {
            split s = w->splits[0];
            char text[256] = "waits for ever";
            if (s.state == SPLIT_BARRIER) {
                const named_barrier *n = &b->barriers[s.barrier];
                snprintf(
                    text, sizeof text,
                    "waits for ever at barrier %u: %u of %u threads have come and no other can",
                    s.barrier, n->arrived, n->expected ? n->expected : b->live_threads);
            } else if (s.state == SPLIT_CLUSTER) {
                snprintf(text, sizeof text,
                         "waits for ever for threads of its cluster that never come");
            }
            fault_split(w, &s, PTX_FAULT_DEADLOCK, text);
        }
    }
}
