/* The values of special registers, and the filling of read-only slots.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/block.h"

bool ptx_special_is_clock(ptx_special special)
{
    return special == PTX_SPECIAL_CLOCK || special == PTX_SPECIAL_CLOCK_HI ||
           special == PTX_SPECIAL_CLOCK64 || special == PTX_SPECIAL_GLOBALTIMER ||
           special == PTX_SPECIAL_GLOBALTIMER_LO || special == PTX_SPECIAL_GLOBALTIMER_HI;
}

bool ptx_special_per_block(ptx_special special)
{
    switch (special) {
    case PTX_SPECIAL_CTAID_X:
    case PTX_SPECIAL_CTAID_Y:
    case PTX_SPECIAL_CTAID_Z:
    case PTX_SPECIAL_SMID:
    case PTX_SPECIAL_CLUSTERID_X:
    case PTX_SPECIAL_CLUSTERID_Y:
    case PTX_SPECIAL_CLUSTERID_Z:
    case PTX_SPECIAL_CLUSTER_CTAID_X:
    case PTX_SPECIAL_CLUSTER_CTAID_Y:
    case PTX_SPECIAL_CLUSTER_CTAID_Z:
    case PTX_SPECIAL_CLUSTER_CTARANK: return true;
    default: return false;
    }
}

uint64_t ptx_special_value(const warp *w, unsigned lane, ptx_special special)
{
    const block *b = w->block;
    const launch *l = b->launch;
    uint64_t ticks = b->worker->ticks + w->executed;
    const uint32_t *size = l->block_size;
    uint32_t thread = w->index * WARP_LANES + lane;
    uint32_t below = (1u << lane) - 1;
    uint32_t grid_blocks = b->position[0] + l->grid_size[0] * b->position[1];
    switch (special) {
    case PTX_SPECIAL_TID_X: return thread % size[0];
    case PTX_SPECIAL_TID_Y: return thread / size[0] % size[1];
    case PTX_SPECIAL_TID_Z: return thread / size[0] / size[1];
    case PTX_SPECIAL_NTID_X: return size[0];
    case PTX_SPECIAL_NTID_Y: return size[1];
    case PTX_SPECIAL_NTID_Z: return size[2];
    case PTX_SPECIAL_CTAID_X: return b->position[0];
    case PTX_SPECIAL_CTAID_Y: return b->position[1];
    case PTX_SPECIAL_CTAID_Z: return b->position[2];
    case PTX_SPECIAL_NCTAID_X: return l->grid_size[0];
    case PTX_SPECIAL_NCTAID_Y: return l->grid_size[1];
    case PTX_SPECIAL_NCTAID_Z: return l->grid_size[2];
    case PTX_SPECIAL_LANEID: return lane;
    case PTX_SPECIAL_WARPID: return w->index;
    case PTX_SPECIAL_NWARPID: return b->warp_count;
    case PTX_SPECIAL_SMID: return grid_blocks % l->engine->options.multiprocessors;
    case PTX_SPECIAL_NSMID: return l->engine->options.multiprocessors;
    case PTX_SPECIAL_GRIDID: return l->id;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER: return l->clustered;
    case PTX_SPECIAL_CLUSTERID_X: return b->cluster_index[0];
    case PTX_SPECIAL_CLUSTERID_Y: return b->cluster_index[1];
    case PTX_SPECIAL_CLUSTERID_Z: return b->cluster_index[2];
    case PTX_SPECIAL_NCLUSTERID_X: return l->cluster_grid[0];
    case PTX_SPECIAL_NCLUSTERID_Y: return l->cluster_grid[1];
    case PTX_SPECIAL_NCLUSTERID_Z: return l->cluster_grid[2];
    case PTX_SPECIAL_CLUSTER_CTAID_X: return b->cluster_at[0];
    case PTX_SPECIAL_CLUSTER_CTAID_Y: return b->cluster_at[1];
    case PTX_SPECIAL_CLUSTER_CTAID_Z: return b->cluster_at[2];
    case PTX_SPECIAL_CLUSTER_NCTAID_X: return l->cluster_size[0];
    case PTX_SPECIAL_CLUSTER_NCTAID_Y: return l->cluster_size[1];
    case PTX_SPECIAL_CLUSTER_NCTAID_Z: return l->cluster_size[2];
    case PTX_SPECIAL_CLUSTER_CTARANK: return b->cluster_rank;
    case PTX_SPECIAL_CLUSTER_NCTARANK: return l->cluster_blocks;
    case PTX_SPECIAL_LANEMASK_EQ: return below + 1;
    case PTX_SPECIAL_LANEMASK_LE: return below | (below + 1);
    case PTX_SPECIAL_LANEMASK_LT: return below;
    case PTX_SPECIAL_LANEMASK_GE: return (uint32_t)~below;
    case PTX_SPECIAL_LANEMASK_GT: return (uint32_t) ~(below | (below + 1));
    case PTX_SPECIAL_CLOCK: return (uint32_t)ticks;
    case PTX_SPECIAL_CLOCK_HI: return ticks >> 32;
    case PTX_SPECIAL_CLOCK64: return ticks;
    case PTX_SPECIAL_GLOBALTIMER: return l->started + ticks;
    case PTX_SPECIAL_GLOBALTIMER_LO: return (uint32_t)(l->started + ticks);
    case PTX_SPECIAL_GLOBALTIMER_HI: return (l->started + ticks) >> 32;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE: return l->shared_total - SHARED_RESERVED;
    case PTX_SPECIAL_AGGR_SMEM_SIZE: return l->shared_total;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE: return l->grid->dynamic_shared;
    case PTX_SPECIAL_RESERVED_SMEM_END:
    case PTX_SPECIAL_RESERVED_SMEM_CAP: return SHARED_RESERVED;
    case PTX_SPECIAL_ENVREG1: return l->workspace >> 32;
    case PTX_SPECIAL_ENVREG2: return (uint32_t)l->workspace;
    /* The reserved bytes begin at 0, performance counters stand still, and the other environment
     * registers belong to a driver that is not here. */
    default: return 0;
    }
}

void ptx_read_clock(warp *w, const insn *i)
{
    uint64_t value = ptx_special_value(w, 0, (ptx_special)i->imm);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (i->size == 8) ((uint64_t *)(void *)(w->regs + i->d))[l] = value;
        else ((uint32_t *)(void *)(w->regs + i->d))[l] = (uint32_t)value;
    }
}

/* ------------------------------------------------------------------ read-only slots */

static uint64_t parameter(const warp *w, const const_slot *s)
{
    uint64_t value = 0;
    memcpy(&value, w->block->params + s->bits, s->param_size);
    if (!s->sign) return value;
    unsigned unused = 64 - 8u * s->param_size;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

static uint64_t shared_offset(const warp *w, const const_slot *s)
{
    const ptx_kernel *k = w->block->launch->kernel;
    for (uint32_t n = 0; n < k->shared_count; n++)
        if (k->shared[n].variable == s->variable) return k->shared[n].offset + s->bits;
    return s->bits;
}

static bool differs_by_lane(const const_slot *s)
{
    if (s->kind != CONST_SPECIAL) return false;
    ptx_special which = (ptx_special)s->bits;
    return (which >= PTX_SPECIAL_TID_X && which <= PTX_SPECIAL_TID_Z) ||
           which == PTX_SPECIAL_LANEID ||
           (which >= PTX_SPECIAL_LANEMASK_EQ && which <= PTX_SPECIAL_LANEMASK_GT);
}

static void fill_same(void *at, operand_kind width, uint64_t value)
{
    uint64_t *doubles = at;
    uint32_t *words = at;
    if (width == OPERAND_64)
        for (unsigned l = 0; l < WARP_LANES; l++) doubles[l] = value;
    else if (width == OPERAND_32)
        for (unsigned l = 0; l < WARP_LANES; l++) words[l] = (uint32_t)value;
    else *words = value & 1 ? ALL_LANES : 0;
}

static void fill(const const_slot *s, uint8_t *regs, const warp *w, const frame *f)
{
    void *at = regs + s->slot;
    if (differs_by_lane(s)) {
        for (unsigned l = 0; l < WARP_LANES; l++) {
            uint64_t value = ptx_special_value(w, l, (ptx_special)s->bits);
            if (s->width == OPERAND_64) ((uint64_t *)at)[l] = value;
            else ((uint32_t *)at)[l] = (uint32_t)value;
        }
        return;
    }
    uint64_t value = s->kind == CONST_BITS      ? s->bits
                     : s->kind == CONST_PARAM   ? parameter(w, s)
                     : s->kind == CONST_SHARED  ? shared_offset(w, s)
                     : s->kind == CONST_SPECIAL ? ptx_special_value(w, 0, (ptx_special)s->bits)
                                                : f->local_base + s->bits;
    if (s->add_window) value += s->kind == CONST_SHARED ? WINDOW_SHARED : WINDOW_LOCAL;
    fill_same(at, s->width, value);
}

void ptx_fill_slots(const code *c, uint8_t *regs, const warp *w, const frame *f)
{
    for (uint32_t k = 0; k < c->const_count; k++) fill(&c->consts[k], regs, w, f);
}

void ptx_fill_block_slots(const code *c, uint8_t *regs, const warp *w)
{
    for (uint32_t k = 0; k < c->block_const_count; k++) fill(&c->consts[k], regs, w, w->root);
}
