/* Barriers and collectives.  SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

/* ------------------------------------------------------------------ barriers */

static void cluster_barrier(lowering *l)
{
    draft *d = lower_add_control(l, CONTROL_CLUSTER);
    d->i.size = l->now->modifiers.mode == PTX_MODE_WAIT ? CLUSTER_WAIT : CLUSTER_ARRIVE;
}

static void warp_barrier(lowering *l)
{
    value members = lower_source(l, &l->now->operands[0], OPERAND_32);
    draft *d = lower_add_control(l, CONTROL_COLLECT);
    d->i.space = COLLECTIVE_SYNC;
    d->i.run[0] = d->i.run[1] = l->program->isa->collective_handler(COLLECTIVE_SYNC, 0);
    lower_set(d, FIELD_F, members, false);
}

void lower_barrier(lowering *l)
{
    const ptx_instruction *i = l->now;
    const ptx_modifiers *m = &i->modifiers;
    if (m->scope == PTX_SCOPE_CLUSTER) {
        cluster_barrier(l);
        return;
    }
    if (m->flags & PTX_FLAG_WARP) {
        warp_barrier(l);
        return;
    }
    bool reduces = m->mode == PTX_MODE_RED;
    uint32_t at = reduces ? 1 : 0, end = i->operand_count - (reduces ? 1u : 0u);
    if (i->operand_count < at + 1 + (reduces ? 1u : 0u)) {
        lower_refuse(l, "it has fewer operands than the operation takes");
        return;
    }
    barrier_info info = { .mode = reduces                      ? BARRIER_REDUCE
                                  : m->mode == PTX_MODE_ARRIVE ? BARRIER_ARRIVE
                                                               : BARRIER_SYNC,
                          .operation = m->operation,
                          .aligned = i->opcode == PTX_OP_BAR || (m->flags & PTX_FLAG_ALIGNED),
                          .count = NO_SLOT,
                          .predicate = NO_SLOT,
                          .result = NO_SLOT };
    info.number = lower_source(l, &i->operands[at++], OPERAND_32);
    if (at < end) info.count = lower_source(l, &i->operands[at++], OPERAND_32);
    uint64_t number = 0, count = ALL_THREADS;
    info.fixed = lower_known_number(l, info.number, &number) &&
                 (info.count == NO_SLOT || lower_known_number(l, info.count, &count));
    info.fixed_number = (uint32_t)number;
    info.fixed_count = (uint32_t)count;
    destination to = { .v = NO_SLOT, .reg = NO_SLOT };
    if (reduces) {
        info.predicate = lower_predicate(l, &i->operands[i->operand_count - 1]);
        to = lower_destination(l, &i->operands[0],
                               m->operation == PTX_OPERATION_POPC ? OPERAND_32 : OPERAND_PREDICATE,
                               false);
        info.result = to.v;
    }
    if (!gpul__grow(&l->barriers, &l->barrier_room, l->barrier_count, sizeof *l->barriers)) {
        l->failed = true;
        return;
    }
    draft *d = lower_add_control(l, CONTROL_BARRIER);
    d->i.extra = (uint32_t)l->barrier_count;
    lower_set(d, FIELD_A, info.number, false);
    lower_set(d, FIELD_B, info.count, false);
    lower_set(d, FIELD_C, info.predicate, false);
    lower_set(d, FIELD_D, info.result, true);
    l->barriers[l->barrier_count++] = info;
    lower_finish(l, to);
}

/* ------------------------------------------------------------------ collectives */

static collective_kind shuffle_kind(ptx_mode mode)
{
    return mode == PTX_MODE_UP     ? COLLECTIVE_SHFL_UP
           : mode == PTX_MODE_DOWN ? COLLECTIVE_SHFL_DOWN
           : mode == PTX_MODE_BFLY ? COLLECTIVE_SHFL_BFLY
                                   : COLLECTIVE_SHFL_IDX;
}

static collective_kind vote_kind(ptx_mode mode)
{
    return mode == PTX_MODE_ALL        ? COLLECTIVE_VOTE_ALL
           : mode == PTX_MODE_ANY      ? COLLECTIVE_VOTE_ANY
           : mode == PTX_MODE_VOTE_UNI ? COLLECTIVE_VOTE_UNI
                                       : COLLECTIVE_VOTE_BALLOT;
}

static bool redux_kind(const ptx_modifiers *m, unsigned *out)
{
    bool is_float = m->types[0] == PTX_F32;
    bool is_signed = ptx_type_class_of(m->types[0]) == PTX_CLASS_SIGNED;
    switch ((ptx_operation)m->operation) {
    case PTX_OPERATION_ADD: *out = REDUX_ADD; return !is_float;
    case PTX_OPERATION_AND: *out = REDUX_AND; return !is_float;
    case PTX_OPERATION_OR: *out = REDUX_OR; return !is_float;
    case PTX_OPERATION_XOR: *out = REDUX_XOR; return !is_float;
    case PTX_OPERATION_MIN:
        *out = is_float ? REDUX_FMIN : is_signed ? REDUX_SMIN : REDUX_UMIN;
        break;
    case PTX_OPERATION_MAX:
        *out = is_float ? REDUX_FMAX : is_signed ? REDUX_SMAX : REDUX_UMAX;
        break;
    default: return false;
    }
    if (m->flags & PTX_FLAG_ABS) *out |= REDUX_ABS;
    if (m->flags & PTX_FLAG_NAN) *out |= REDUX_NAN;
    return true;
}

typedef struct shape {
    collective_kind kind;
    unsigned size;
    operand_kind result, second; /* OPERAND_NONE: there is none */
    operand_kind sources[3];
} shape;

static bool shape_of(const ptx_instruction *i, shape *s)
{
    const ptx_modifiers *m = &i->modifiers;
    switch ((ptx_opcode)i->opcode) {
    case PTX_OP_SHFL:
        *s = (shape){ shuffle_kind(m->mode),
                      4,
                      OPERAND_32,
                      OPERAND_PREDICATE,
                      { OPERAND_32, OPERAND_32, OPERAND_32 } };
        return true;
    case PTX_OP_VOTE:
        *s = (shape){
            vote_kind(m->mode), 0, OPERAND_PREDICATE, OPERAND_NONE, { OPERAND_PREDICATE }
        };
        if (s->kind == COLLECTIVE_VOTE_BALLOT) s->result = OPERAND_32;
        return true;
    case PTX_OP_MATCH:
        *s = (shape){ m->mode == PTX_MODE_ALL ? COLLECTIVE_MATCH_ALL : COLLECTIVE_MATCH_ANY,
                      ptx_type_bits(m->types[0]) / 8,
                      OPERAND_32,
                      m->mode == PTX_MODE_ALL ? OPERAND_PREDICATE : OPERAND_NONE,
                      { lower_type_width(m->types[0]) } };
        return true;
    case PTX_OP_REDUX:
        *s = (shape){ COLLECTIVE_REDUX, 0, OPERAND_32, OPERAND_NONE, { OPERAND_32 } };
        return redux_kind(m, &s->size);
    default:
        *s = (shape){ COLLECTIVE_ELECT, 0, OPERAND_32, OPERAND_PREDICATE, { OPERAND_NONE } };
        return true;
    }
}

void lower_collective(lowering *l)
{
    const ptx_instruction *i = l->now;
    shape s;
    if (!shape_of(i, &s)) {
        lower_refuse(l, "the CPU device does not run this form");
        return;
    }
    value sources[3] = { NO_SLOT, NO_SLOT, NO_SLOT };
    uint32_t at = 1;
    for (int k = 0; k < 3 && s.sources[k] != OPERAND_NONE; k++) {
        if (at >= i->operand_count) {
            lower_refuse(l, "it has fewer operands than the operation takes");
            return;
        }
        const ptx_operand *o = &i->operands[at++];
        sources[k] = s.sources[k] == OPERAND_PREDICATE ? lower_predicate(l, o)
                                                       : lower_source(l, o, s.sources[k]);
    }
    /* The forms without .sync, of old PTX, take the lanes that are active. */
    bool waits = i->modifiers.flags & PTX_FLAG_SYNC;
    value members = NO_SLOT;
    if (waits && at < i->operand_count) members = lower_source(l, &i->operands[at], OPERAND_32);
    const ptx_operand *first = &i->operands[0], *second = NULL;
    if (first->kind == PTX_OPERAND_PAIR) {
        second = &first->items[1];
        first = &first->items[0];
    }
    destination to = { .v = NO_SLOT, .reg = NO_SLOT }, also = to;
    if (first->kind != PTX_OPERAND_SINK) to = lower_destination(l, first, s.result, false);
    if (second && second->kind != PTX_OPERAND_SINK)
        also = lower_destination(l, second, s.second, false);
    draft *d = members != NO_SLOT ? lower_add_control(l, CONTROL_COLLECT) : lower_add(l);
    d->i.space = (uint8_t)s.kind;
    d->i.size = (uint8_t)s.size;
    d->i.run[0] = d->i.run[1] = l->program->isa->collective_handler(s.kind, s.size);
    d->apart = true;
    for (int k = 0; k < 3; k++) lower_set(d, FIELD_A + k, sources[k], false);
    lower_set(d, FIELD_F, members, false);
    lower_set(d, FIELD_D, to.v, true);
    lower_set(d, FIELD_E, also.v, true);
    lower_finish(l, to);
    lower_finish(l, also);
}
