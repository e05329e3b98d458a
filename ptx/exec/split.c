/* Which lanes of a warp run next, how lanes leave, and the frames they leave behind.
 *
 * Splits are ordered as if called functions stood in place of their calls: first by the place in the
 * outermost frame, then in the next.  The first one runs; where two meet they become one.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/block.h"

/* The frame `depth` levels below the kernel out of which `f` was called, or f itself.  In steps that
 * double, for recursion may be deep. */
static const frame *ancestor(const frame *f, uint32_t depth)
{
    while (f->depth > depth) f = f->jump->depth >= depth ? f->jump : f->parent;
    return f;
}

/* Where a split stands in that frame: a called function stands at its call. */
static const frame *at_depth(const frame *f, uint32_t depth, uint32_t *pc)
{
    if (f->depth == depth) return f;
    f = ancestor(f, depth + 1);
    *pc = f->return_pc - 1;
    return f->parent;
}

/* Before, together (0) or after. */
static int order(const frame *f, uint32_t pc, const frame *g, uint32_t qc)
{
    if (f == g) return (pc > qc) - (pc < qc);
    uint32_t depth = f->depth < g->depth ? f->depth : g->depth;
    uint32_t p = pc, q = qc;
    const frame *a = at_depth(f, depth, &p), *b = at_depth(g, depth, &q);
    if (a != b) {
        /* Up to the two calls out of one frame. */
        while (a->parent != b->parent) {
            bool far = a->jump != b->jump;
            a = far ? a->jump : a->parent;
            b = far ? b->jump : b->parent;
        }
        p = a->return_pc - 1;
        q = b->return_pc - 1;
    }
    if (p != q) return p < q ? -1 : 1;
    /* One is about to make the call that the other is in: it goes first, to join. */
    return f->depth < g->depth ? -1 : 1;
}

static void remove_at(warp *w, uint32_t index)
{
    w->splits[index] = w->splits[--w->split_count];
}

static bool take_best(warp *w, bool rotated_too, split *out)
{
    uint32_t best = WARP_LANES;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const split *s = &w->splits[k];
        if (s->state != SPLIT_READY || (s->rotated && !rotated_too)) continue;
        if (best == WARP_LANES ||
            order(s->frame, s->pc, w->splits[best].frame, w->splits[best].pc) < 0)
            best = k;
    }
    if (best == WARP_LANES) return false;
    *out = w->splits[best];
    remove_at(w, best);
    return true;
}

bool ptx_split_take(warp *w, split *out, uint32_t *stop, bool *lowest)
{
    if (!take_best(w, false, out)) return false;
    *stop = UINT32_MAX;
    *lowest = true;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const split *s = &w->splits[k];
        if (s->state != SPLIT_READY) continue;
        if (order(s->frame, s->pc, out->frame, out->pc) < 0) *lowest = false;
        uint32_t pc = s->pc;
        const frame *f = s->frame;
        if (f->depth > out->frame->depth) {
            f = at_depth(f, out->frame->depth, &pc);
            pc++;
        }
        if (f == out->frame && pc > out->pc && pc < *stop) *stop = pc;
    }
    return true;
}

bool ptx_split_unrotate(warp *w)
{
    bool any = false;
    for (uint32_t k = 0; k < w->split_count; k++) {
        any |= w->splits[k].state == SPLIT_READY;
        w->splits[k].rotated = false;
    }
    return any;
}

void ptx_split_add(warp *w, frame *f, uint32_t pc, uint32_t mask, bool rotated)
{
    if (!mask) return;
    for (uint32_t k = 0; k < w->split_count; k++) {
        split *s = &w->splits[k];
        if (s->state == SPLIT_READY && s->pc == pc && s->frame == f) {
            s->mask |= mask;
            s->rotated = s->rotated && rotated;
            return;
        }
    }
    w->splits[w->split_count++] =
        (split){ .frame = f, .pc = pc, .mask = mask, .state = SPLIT_READY, .rotated = rotated };
}

void ptx_split_park(warp *w, const split *parked)
{
    w->splits[w->split_count++] = *parked;
}

bool ptx_split_others_ready(const warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == SPLIT_READY) return true;
    return false;
}

/* ------------------------------------------------------------------ lanes leave */

void ptx_frame_release(warp *w, frame *f)
{
    frame **link = &w->frames;
    while (*link && *link != f) link = &(*link)->next;
    if (*link) *link = f->next;
    for (frame **child = &f->parent->children; *child; child = &(*child)->sibling)
        if (*child == f) {
            *child = f->sibling;
            break;
        }
    worker *owner = w->block->worker;
    f->next = owner->free_frames[f->code->index];
    owner->free_frames[f->code->index] = f;
}

void ptx_exit_lanes(warp *w, uint32_t lanes)
{
    lanes &= w->live;
    w->live &= ~lanes;
    w->mask &= ~lanes;
    /* What runs on behind a fault must skip them. */
    for (int l = 0; w->mask && l < WARP_LANES; l++)
        if (lanes >> l & 1) w->lane_mask[l] = 0;
    w->block->live_threads -= (uint32_t)__builtin_popcount(lanes);
    /* A frame that somebody stands in is kept: the running one is freed when its split ends. */
    for (frame *f = w->frames, *next; f; f = next) {
        next = f->next;
        f->lanes &= ~lanes;
        if (!f->lanes && f != w->frame) ptx_frame_release(w, f);
    }
    for (uint32_t k = 0; k < w->split_count;) {
        w->splits[k].mask &= ~lanes;
        if (w->splits[k].mask) k++;
        else remove_at(w, k);
    }
}
