/* The last step of lowering: drafts become instructions, values become slots, moves that have nothing
 * to do disappear.  SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"
#include "ptx/exec/shadow.h"

#include <string.h>

static void *copy(lowering *l, const void *from, size_t size)
{
    void *to = gpul__arena_alloc(&l->program->arena, size + 1);
    if (!to) l->failed = true;
    else if (size) memcpy(to, from, size);
    return to;
}

static void emit_one(const lowering *l, draft *d, bool leader, const uint32_t *place, insn *out)
{
    *out = d->i;
    out->d = lower_slot(l, d->i.d);
    out->e = lower_slot(l, d->i.e);
    out->a = lower_slot(l, d->i.a);
    out->b = lower_slot(l, d->i.b);
    out->c = lower_slot(l, d->i.c);
    out->f = lower_slot(l, d->i.f);
    out->guard = lower_slot(l, d->i.guard);
    if (d->target != NO_TARGET) out->target = place[l->first_draft[d->target]];
    if (leader) out->flags |= INSN_LEADER;
    if (out->control == CONTROL_NONE &&
        (out->guard != NO_SLOT || (out->flags & (INSN_LEADER | INSN_POLLS | INSN_MAY_WATCH))))
        out->control = CONTROL_CHECKED;
}

/* What the checker of undefined values wants to know of an instruction. */
static insn_flow flow_of(const lowering *l, draft *d)
{
    insn_flow flow = { .sources = d->uses, .results = d->defs };
    bool shuffles = !d->names && d->origin && d->origin->opcode == PTX_OP_SHFL;
    for (int k = 0; k < FIELDS; k++) {
        value v = *draft_field(d, k);
        if (v != NO_SLOT && ((d->uses | d->defs) >> k & 1)) flow.width[k] = lower_width(l, v);
    }
    if (d->is_access && !d->checks) flow.kind = d->stores ? FLOW_STORES : FLOW_LOADS;
    else if (d->names) ptx_flow_of_row(d->names, &flow);
    else if (shuffles && d->i.run[0]) {
        flow.kind = FLOW_SHUFFLES;
        flow.controls = 1 << FIELD_B | 1 << FIELD_C;
    }
    return flow;
}

static void place_call(const lowering *l, call_info *info)
{
    info->pointer = lower_slot(l, info->pointer);
    for (uint32_t k = 0; k < info->argument_count; k++)
        if (info->arguments[k].width != OPERAND_NONE)
            info->arguments[k].outside = lower_slot(l, info->arguments[k].outside);
    for (uint32_t k = 0; k < info->result_count; k++)
        if (info->results[k].width != OPERAND_NONE)
            info->results[k].outside = lower_slot(l, info->results[k].outside);
}

static void place_barrier(const lowering *l, barrier_info *info)
{
    info->number = lower_slot(l, info->number);
    info->count = lower_slot(l, info->count);
    info->predicate = lower_slot(l, info->predicate);
    info->result = lower_slot(l, info->result);
}

static formal *place_formals(lowering *l, const ptx_variable *list, uint32_t count,
                             const uint32_t *offsets)
{
    formal *out = gpul__arena_alloc(&l->program->arena, (count + 1) * sizeof *out);
    if (!out) {
        l->failed = true;
        return NULL;
    }
    for (uint32_t k = 0; k < count; k++) {
        const ptx_variable *v = &list[k];
        out[k] = (formal){ .size = (uint32_t)v->size, .align = v->align, .where = offsets[k] };
        if (v->register_index == PTX_NO_REGISTER) continue;
        out[k].width = l->values[v->register_index].width;
        out[k].where = lower_slot(l, v->register_index);
        out[k].size = lower_type_size((ptx_type)v->type);
    }
    return out;
}

static void emit_constants(lowering *l)
{
    code *c = l->code;
    size_t count = 0;
    for (size_t k = 0; k < l->const_count; k++) count += l->consts[k].slot != NO_SLOT;
    c->consts = gpul__arena_alloc(&l->program->arena, (count + 1) * sizeof *c->consts);
    if (!c->consts) {
        l->failed = true;
        return;
    }
    /* Those that change with every block come first. */
    for (int later = 0; later < 2; later++) {
        for (size_t k = 0; k < l->const_count; k++) {
            const const_slot *s = &l->consts[k];
            bool per_block =
                s->kind == CONST_SPECIAL && ptx_special_per_block((ptx_special)s->bits);
            if (s->slot != NO_SLOT && per_block == !later) c->consts[c->const_count++] = *s;
        }
        if (!later) c->block_const_count = c->const_count;
    }
}

bool lower_emit(lowering *l)
{
    code *c = l->code;
    uint32_t *place = gpul__calloc(l->draft_count + 1, sizeof *place);
    c->insns = gpul__arena_alloc(&l->program->arena, (l->draft_count + 1) * sizeof(insn) + 64);
    c->origin = gpul__arena_alloc(&l->program->arena, (l->draft_count + 1) * sizeof *c->origin);
    if (!place || !c->insns || !c->origin) {
        gpul__free(place);
        return false;
    }
    /* One instruction, one cache line. */
    c->insns = (insn *)(((uintptr_t)c->insns + 63) & ~(uintptr_t)63);
    insn_flow *flows = NULL;
    if (l->program->engine->options.checks & PTX_CHECK_INIT) {
        flows = gpul__arena_alloc(&l->program->arena, (l->draft_count + 1) * sizeof *flows);
        l->failed |= !flows;
    }
    c->flows = flows;
    uint32_t count = 0;
    for (size_t k = 0; k < l->draft_count; k++) {
        place[k] = count;
        count += !lower_is_dropped(l, &l->drafts[k]);
    }
    bool leader = false;
    for (size_t k = 0; k < l->draft_count; k++) {
        draft *d = &l->drafts[k];
        leader |= d->leader;
        if (lower_is_dropped(l, d)) continue;
        emit_one(l, d, leader, place, &c->insns[c->count]);
        if (flows) flows[c->count] = flow_of(l, d);
        c->origin[c->count++] = d->origin;
        leader = false;
    }
    for (size_t t = 0; t < l->table_count; t++)
        for (uint32_t k = 0; k < l->tables[t].count; k++)
            l->tables[t].targets[k] = place[l->first_draft[l->tables[t].targets[k]]];
    gpul__free(place);
    for (size_t k = 0; k < l->call_count; k++) place_call(l, &l->calls[k]);
    for (size_t k = 0; k < l->barrier_count; k++) place_barrier(l, &l->barriers[k]);
    c->calls = copy(l, l->calls, l->call_count * sizeof *l->calls);
    c->barriers = copy(l, l->barriers, l->barrier_count * sizeof *l->barriers);
    c->tables = copy(l, l->tables, l->table_count * sizeof *l->tables);
    c->call_count = (uint32_t)l->call_count;
    const ptx_function *f = l->function;
    if (!f->is_entry) {
        c->params = place_formals(l, f->params, f->param_count, l->param_offsets);
        c->results = place_formals(l, f->results, f->result_count, l->result_offsets);
    }
    emit_constants(l);
    c->regs_size = l->slots_size;
    return !l->failed;
}
