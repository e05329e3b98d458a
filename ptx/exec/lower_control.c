/* Branches, calls and returns.  SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

/* ------------------------------------------------------------------ branches */

void lower_branch(lowering *l)
{
    const ptx_operand *to = &l->now->operands[0];
    if (to->kind != PTX_OPERAND_LABEL) {
        lower_refuse(l, "a branch of this form is not supported");
        return;
    }
    draft *d = lower_add(l);
    d->i.control = CONTROL_BRANCH;
    d->target = l->function->labels[to->index].instruction;
    d->ends_block = true;
}

void lower_indexed_branch(lowering *l)
{
    const ptx_instruction *i = l->now;
    if (i->operand_count < 2 || i->operands[1].kind != PTX_OPERAND_TABLE) {
        lower_refuse(l, "a branch of this form is not supported");
        return;
    }
    const ptx_table *table = &l->function->tables[i->operands[1].index];
    uint32_t *targets = gpul__arena_alloc(&l->program->arena, (table->count + 1) * sizeof *targets);
    if (!targets || !gpul__grow(&l->tables, &l->table_room, l->table_count, sizeof *l->tables)) {
        l->failed = true;
        return;
    }
    for (uint32_t k = 0; k < table->count; k++)
        targets[k] = l->function->labels[table->targets[k].index].instruction;
    value index = lower_source(l, &i->operands[0], OPERAND_32);
    draft *d = lower_add_control(l, CONTROL_INDEXED);
    d->i.extra = (uint32_t)l->table_count;
    lower_set(d, FIELD_A, index, false);
    l->tables[l->table_count++] = (target_table){ targets, table->count };
}

/* ------------------------------------------------------------------ lists of values */

void lower_add_to_list(lowering *l, value v)
{
    if (gpul__grow(&l->lists, &l->list_room, l->list_count, sizeof *l->lists))
        l->lists[l->list_count++] = v;
    else l->failed = true;
}

/* ------------------------------------------------------------------ calls */

/* One argument or result.  Values in slots go to the draft's list. */
static call_value describe(lowering *l, const ptx_operand *o, ptx_type formal_type)
{
    call_value v = { 0 };
    if (o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_PARAM) {
        const ptx_variable *p = o->variable;
        v.size = (uint32_t)p->size;
        value where = lower_variable(l, p, 0, false, OPERAND_64);
        if (!l->failed) v.outside = (uint32_t)l->consts[where & ~CONST_VALUE].bits;
        return v;
    }
    operand_kind width = lower_type_width(formal_type);
    v.width = (uint8_t)width;
    v.size = lower_type_size(formal_type);
    v.outside =
        width == OPERAND_PREDICATE ? lower_predicate(l, o) : lower_typed_source(l, o, formal_type);
    return v;
}

static const code *direct_callee(lowering *l, const ptx_function *f)
{
    size_t index;
    if (!pointer_map_get(&l->program->code_map, f, &index)) return NULL;
    return &l->program->codes[index];
}

static ptx_type formal_type(const ptx_variable *formals, uint32_t count, uint32_t k)
{
    return k < count ? (ptx_type)formals[k].type : PTX_B32;
}

void lower_call(lowering *l)
{
    const ptx_call *call = l->now->call;
    call_info info = { .pointer = NO_SLOT,
                       .argument_count = call->argument_count,
                       .result_count = call->result_count };
    const ptx_variable *params = NULL, *results = NULL;
    uint32_t param_count = 0, result_count = 0;
    if (call->callee.kind == PTX_OPERAND_FUNCTION) {
        const ptx_function *f = call->callee.function;
        info.callee = direct_callee(l, f);
        if (!info.callee) info.builtin = ptx_builtin_named(f->name);
        if (!info.callee && info.builtin == BUILTIN_NONE) {
            lower_undefined(l, "calls", f->name);
            return;
        }
        if (info.builtin == BUILTIN_PRINTF) l->code->prints = true;
        params = f->params;
        results = f->results;
        param_count = f->param_count;
        result_count = f->result_count;
    } else {
        info.pointer = lower_source(l, &call->callee, OPERAND_64);
        if (call->prototype) {
            const ptx_prototype *shape = &l->function->prototypes[call->prototype - 1];
            params = shape->params;
            results = shape->results;
            param_count = shape->param_count;
            result_count = shape->result_count;
        }
    }
    size_t bytes = sizeof(call_value);
    info.arguments = gpul__arena_alloc(&l->program->arena, bytes * (call->argument_count + 1));
    info.results = gpul__arena_alloc(&l->program->arena, bytes * (call->result_count + 1));
    if (!info.arguments || !info.results ||
        !gpul__grow(&l->calls, &l->call_room, l->call_count, sizeof *l->calls)) {
        l->failed = true;
        return;
    }
    for (uint32_t k = 0; k < call->argument_count; k++)
        info.arguments[k] = describe(l, &call->arguments[k], formal_type(params, param_count, k));
    for (uint32_t k = 0; k < call->result_count; k++) {
        const ptx_operand *o = &call->results[k];
        if (o->kind == PTX_OPERAND_REGISTER &&
            lower_type_width(formal_type(results, result_count, k)) != lower_width(l, o->index))
            lower_refuse(l, "a result register has another size than the function gives");
        if (o->kind == PTX_OPERAND_REGISTER) {
            ptx_type type = formal_type(results, result_count, k);
            info.results[k] = (call_value){ .size = lower_type_size(type),
                                            .outside = o->index,
                                            .width = (uint8_t)lower_type_width(type) };
        } else {
            info.results[k] = describe(l, o, formal_type(results, result_count, k));
        }
    }
    if (l->failed || l->refused) return;
    draft *d = lower_add_control(l, info.builtin ? CONTROL_SYSTEM : CONTROL_CALL);
    d->i.extra = (uint32_t)l->call_count;
    d->list = (uint32_t)l->list_count;
    for (uint32_t k = 0; k < info.result_count; k++)
        if (info.results[k].width != OPERAND_NONE) {
            lower_add_to_list(l, info.results[k].outside);
            d->list_defs++;
        }
    for (uint32_t k = 0; k < info.argument_count; k++)
        if (info.arguments[k].width != OPERAND_NONE) {
            lower_add_to_list(l, info.arguments[k].outside);
            d->list_uses++;
        }
    lower_set(d, FIELD_A, info.pointer, false);
    l->calls[l->call_count++] = info;
}

void lower_return(lowering *l)
{
    const ptx_function *f = l->function;
    draft *d = lower_add_control(l, f->is_entry ? CONTROL_EXIT : CONTROL_RETURN);
    d->list = (uint32_t)l->list_count;
    for (uint32_t k = 0; k < f->result_count; k++)
        if (f->results[k].register_index != PTX_NO_REGISTER) {
            lower_add_to_list(l, f->results[k].register_index);
            d->list_uses++;
        }
}
