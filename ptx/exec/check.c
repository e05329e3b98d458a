/* The checkers' memory of one block, its time, and what orders accesses: barriers, collectives, fences
 * with atomic operations.  SPDX-License-Identifier: MIT */
#include "ptx/exec/check.h"

#include <string.h>

/* ------------------------------------------------------------------ making */

static uint32_t shift_of(uint32_t granule)
{
    return granule == 1 ? 0 : granule == 2 ? 1 : 2;
}

block_check *ptx_check_make(const launch *l)
{
    block_check *c = gpul__calloc(1, sizeof *c);
    if (!c) return NULL;
    c->checks = l->engine->options.checks;
    c->shift = shift_of(l->program->check_granule);
    c->granules = (l->shared_total + (1u << c->shift) - 1) >> c->shift;
    c->writer = gpul__calloc(c->granules + 1u, sizeof *c->writer);
    c->reader = gpul__calloc(c->granules + 1u, sizeof *c->reader);
    c->serials = gpul__calloc(l->program->check_count + 1u, sizeof *c->serials);
    c->warps = gpul__calloc(l->warps, sizeof *c->warps);
    c->warp_count = l->warps;
    c->sites = l->program->check_count;
    c->next = 1;
    if (c->writer && c->reader && c->serials && c->warps) return c;
    ptx_check_free(c);
    return NULL;
}

void ptx_check_free(block_check *c)
{
    if (!c) return;
    gpul__free(c->writer);
    gpul__free(c->reader);
    gpul__free(c->serials);
    gpul__free(c->warps);
    gpul__free(c->log);
    gpul__free(c->undefined);
    gpul__free(c);
}

/* ------------------------------------------------------------------ time */

static void start_epoch(block_check *c)
{
    c->epoch = c->log_base = c->next;
}

/* Begins to count anew.  What was written stays known as written; who did it is forgotten. */
static void count_anew(block_check *c)
{
    uint32_t begin = c->begin << TAG_SHIFT;
    for (uint32_t k = 0; k < c->granules; k++)
        c->writer[k] = c->writer[k] >= begin ? 1u << TAG_SHIFT : 0;
    memset(c->reader, 0, c->granules * sizeof *c->reader);
    memset(c->serials, 0, c->sites * sizeof *c->serials);
    memset(c->warps, 0, c->warp_count * sizeof *c->warps);
    c->begin = 1;
    c->next = 2;
    start_epoch(c);
}

uint32_t ptx_check_serial(warp *w, const insn *i)
{
    block_check *c = w->block->checker;
    if (c->next >= SERIAL_LIMIT) count_anew(c);
    size_t room = c->log_room;
    if (!gpul__grow(&c->log, &room, c->next - c->log_base, sizeof *c->log)) {
        /* Without memory the epoch's earlier accesses are forgotten. */
        count_anew(c);
        if (!c->log_room) {
            ptx_fault_launch(w->block->launch, PTX_FAULT_OUT_OF_MEMORY);
            return c->next;
        }
    }
    c->log_room = (uint32_t)room;
    c->log[c->next - c->log_base] = (check_site){ i, w->frame->code };
    return c->serials[i->extra] = c->next++;
}

void ptx_check_begin(block *b)
{
    block_check *c = b->checker;
    if (c->next > SERIAL_LIMIT / 2) {
        memset(c->writer, 0, c->granules * sizeof *c->writer);
        memset(c->reader, 0, c->granules * sizeof *c->reader);
        memset(c->serials, 0, c->sites * sizeof *c->serials);
        c->next = 1;
    }
    memset(c->warps, 0, c->warp_count * sizeof *c->warps);
    c->begin = c->next;
    c->fences = false;
    if (c->has_undefined) memset(c->undefined, 0, b->shared_size / 8 + 1);
    c->has_undefined = false;
    start_epoch(c);
}

void ptx_check_barrier(block *b)
{
    if (b->checker) start_epoch(b->checker);
}

void ptx_check_meeting(warp *w, uint32_t lanes)
{
    block_check *c = w->block->checker;
    if (!c) return;
    check_warp *own = &c->warps[w->index];
    own->fresh = c->next;
    if (lanes == w->live) {
        own->ordered = c->next;
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        own->lane_ordered[l] = c->next;
        own->members[l] = lanes;
    }
}

void ptx_check_fence(warp *w, const insn *i)
{
    (void)i;
    block_check *c = w->block->checker;
    if (!c) return;
    check_warp *own = &c->warps[w->index];
    c->fences = true;
    own->fresh = c->next;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1)
        own->fenced[__builtin_ctz(rest)] = c->next;
    if (w->block->launch->checker) ptx_check_block_fence(w->block);
}
