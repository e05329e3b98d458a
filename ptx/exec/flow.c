/* Basic blocks of the drafts, and where each leads.  SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

static uint32_t draft_of(const lowering *l, uint32_t instruction)
{
    return l->first_draft[instruction];
}

static void mark_leaders(lowering *l)
{
    l->drafts[0].leader = true;
    for (size_t k = 0; k < l->draft_count; k++) {
        const draft *d = &l->drafts[k];
        if (d->ends_block && k + 1 < l->draft_count) l->drafts[k + 1].leader = true;
        if (d->target != NO_TARGET) l->drafts[draft_of(l, d->target)].leader = true;
    }
    for (size_t t = 0; t < l->table_count; t++)
        for (uint32_t k = 0; k < l->tables[t].count; k++)
            l->drafts[draft_of(l, l->tables[t].targets[k])].leader = true;
}

static bool goes_on(const draft *d)
{
    switch ((control)d->i.control) {
    case CONTROL_BRANCH: return d->i.guard != NO_SLOT;
    case CONTROL_INDEXED:
    case CONTROL_RETURN:
    case CONTROL_EXIT:
    case CONTROL_TRAP: return false;
    default: return true;
    }
}

static bool add_edge(lowering *l, size_t *count, size_t *room, uint32_t bb)
{
    if (!gpul__grow(&l->edges, room, *count, sizeof *l->edges)) return false;
    l->edges[(*count)++] = bb;
    return true;
}

bool lower_flow(lowering *l)
{
    mark_leaders(l);
    uint32_t *block_of = gpul__calloc(l->draft_count + 1, sizeof *block_of);
    size_t room = 0, edge_room = 0, edges = 0;
    bool ok = block_of != NULL;
    for (size_t k = 0; ok && k < l->draft_count; k++) {
        if (l->drafts[k].leader) {
            ok = gpul__grow(&l->blocks, &room, l->block_count, sizeof *l->blocks);
            if (ok) l->blocks[l->block_count++] = (basic_block){ .first = (uint32_t)k };
        }
        if (!ok) break;
        block_of[k] = (uint32_t)l->block_count - 1;
        l->blocks[l->block_count - 1].end = (uint32_t)k + 1;
    }
    for (size_t b = 0; ok && b < l->block_count; b++) {
        basic_block *bb = &l->blocks[b];
        const draft *last = &l->drafts[bb->end - 1];
        bb->successors = (uint32_t)edges;
        if (goes_on(last) && bb->end < l->draft_count)
            ok = add_edge(l, &edges, &edge_room, (uint32_t)b + 1);
        if (ok && last->target != NO_TARGET)
            ok = add_edge(l, &edges, &edge_room, block_of[draft_of(l, last->target)]);
        if (last->i.control == CONTROL_INDEXED) {
            const target_table *t = &l->tables[last->i.extra];
            for (uint32_t k = 0; ok && k < t->count; k++)
                ok = add_edge(l, &edges, &edge_room, block_of[draft_of(l, t->targets[k])]);
        }
        bb->successor_count = (uint32_t)edges - bb->successors;
    }
    gpul__free(block_of);
    return ok;
}
