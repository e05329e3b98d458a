/* The walk over a function: plain operations, comparisons, moves; everything else is handed on.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

#include <string.h>

/* ------------------------------------------------------------------ drafts */

draft *lower_add(lowering *l)
{
    static _Thread_local draft spare;
    if (!gpul__grow(&l->drafts, &l->draft_room, l->draft_count, sizeof *l->drafts)) {
        l->failed = true;
        return &spare;
    }
    draft *d = &l->drafts[l->draft_count++];
    *d = (draft){ .origin = l->now, .target = NO_TARGET };
    d->i.d = d->i.e = d->i.a = d->i.b = d->i.c = d->i.f = NO_SLOT;
    d->i.guard = l->guard;
    if (l->guard_negated) d->i.flags |= INSN_GUARD_NEGATED;
    return d;
}

void lower_set(draft *d, int field, value v, bool written)
{
    *draft_field(d, field) = v;
    if (v == NO_SLOT) return;
    if (written) d->defs |= (uint8_t)(1 << field);
    else d->uses |= (uint8_t)(1 << field);
}

static void set_row(draft *d, const op_entry *row)
{
    d->i.run[0] = row->masked;
    d->i.run[1] = row->full;
    d->names = row->names;
}

draft *lower_add_named(lowering *l, const char *name, value to, value a, value b, value c)
{
    draft *d = lower_add(l);
    const op_entry *row = ptx_op_named(l->program->isa, name, &l->failed);
    if (!row) {
        if (!l->failed) lower_refuse(l, "the operation tables lack a row that lowering needs");
        return d;
    }
    set_row(d, row);
    lower_set(d, FIELD_D, to, true);
    lower_set(d, FIELD_A, a, false);
    lower_set(d, FIELD_B, b, false);
    lower_set(d, FIELD_C, c, false);
    d->apart = lower_width(l, to) != lower_width(l, a);
    return d;
}

draft *lower_add_control(lowering *l, control c)
{
    if (l->guard != NO_SLOT) {
        draft *around = lower_add(l);
        around->i.control = CONTROL_BRANCH;
        around->i.flags ^= INSN_GUARD_NEGATED;
        around->target = l->now_index + 1;
        around->ends_block = true;
    }
    draft *d = lower_add(l);
    d->i.guard = NO_SLOT;
    d->i.flags = 0;
    d->i.control = (uint8_t)c;
    d->ends_block = true;
    d->apart = true;
    return d;
}

static void refuse(lowering *l, ptx_severity severity, const char *reason)
{
    if (l->refused) return;
    l->refused = true;
    l->code->refusal = reason;
    ptx_diag diag = { .severity = severity, .text = reason, .function = l->function->name };
    char opcode[128] = "";
    if (l->now) {
        size_t length;
        const char *text = ptx_instruction_spelling(l->module, l->now, &length);
        if (length >= sizeof opcode) length = sizeof opcode - 1;
        memcpy(opcode, text, length);
        opcode[length] = 0;
        diag.opcode = opcode;
        diag.line = l->now->line;
        diag.column = 1;
        diag.width = 1;
    }
    ptx_diags_add(l->diags, &diag);
}

void lower_refuse(lowering *l, const char *reason)
{
    refuse(l, PTX_UNSUPPORTED, reason);
}

void lower_undefined(lowering *l, const char *use, const char *name)
{
    const char *reason =
        gpul__arena_printf(&l->program->arena, "it %s '%s', which is defined nowhere", use, name);
    if (reason) refuse(l, PTX_ERROR, reason);
    else l->failed = true;
}

/* ------------------------------------------------------------------ plain operations */

bool lower_has_destination(const ptx_instruction *i)
{
    switch ((ptx_opcode)i->opcode) {
    case PTX_OP_ST:
    case PTX_OP_RED:
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_PMEVENT:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_DISCARD:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_GRIDDEPCONTROL: return false;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return i->modifiers.mode == PTX_MODE_RED;
    default: return i->operand_count > 0;
    }
}

static bool is_signed_result(const ptx_instruction *i)
{
    return i->modifiers.type_count && ptx_type_class_of(i->modifiers.types[0]) == PTX_CLASS_SIGNED;
}

/* The type that a source literal takes: the last of the instruction's types for conversions, the
 * first otherwise. */
static ptx_type source_type(const ptx_instruction *i, operand_kind width)
{
    for (int k = i->modifiers.type_count - 1; k >= 0; k--)
        if (lower_type_width(i->modifiers.types[k]) == width) return i->modifiers.types[k];
    return width == OPERAND_64 ? PTX_B64 : PTX_B32;
}

/* Fills the sources of a row from the operands behind the first `from`. */
static void set_sources(lowering *l, const op_entry *row, const ptx_instruction *i, uint32_t from,
                        value sources[4], int64_t *immediate)
{
    const uint8_t kinds[4] = { row->a, row->b, row->c, row->f };
    uint32_t at = from;
    for (int k = 0; k < 4; k++) {
        sources[k] = NO_SLOT;
        if (kinds[k] == OPERAND_NONE) continue;
        if (at >= i->operand_count) {
            lower_refuse(l, "it has fewer operands than the operation takes");
            return;
        }
        const ptx_operand *o = &i->operands[at++];
        if (kinds[k] == OPERAND_IMMEDIATE) {
            if (o->kind != PTX_OPERAND_INTEGER) lower_refuse(l, "an operand must be a constant");
            *immediate = (int64_t)o->value.bits;
        } else if (kinds[k] == OPERAND_PREDICATE) {
            sources[k] = lower_predicate(l, o);
        } else {
            sources[k] = o->kind == PTX_OPERAND_FLOAT
                             ? lower_typed_source(l, o, source_type(i, kinds[k]))
                             : lower_source(l, o, kinds[k]);
        }
    }
    if (at < i->operand_count) lower_refuse(l, "it has more operands than the operation takes");
}

static draft *add_row(lowering *l, const op_entry *row, value to, value second,
                      const value sources[4], int64_t immediate)
{
    draft *d = lower_add(l);
    set_row(d, row);
    d->i.imm = immediate;
    lower_set(d, FIELD_D, to, true);
    lower_set(d, FIELD_E, second, true);
    const uint8_t kinds[4] = { row->a, row->b, row->c, row->f };
    for (int k = 0; k < 4; k++) {
        lower_set(d, FIELD_A + k, sources[k], false);
        if (sources[k] != NO_SLOT && kinds[k] != row->d) d->apart = true;
    }
    if (second != NO_SLOT) d->apart = true;
    return d;
}

static void operation(lowering *l)
{
    const ptx_instruction *i = l->now;
    const op_entry *row = ptx_op_find(l->program->isa, i, &l->failed);
    if (!row) {
        if (l->failed) return;
        if (i->opcode == PTX_OP_CVT) lower_convert(l);
        else lower_refuse(l, "the CPU device does not run this form");
        return;
    }
    value sources[4];
    int64_t immediate = 0;
    set_sources(l, row, i, 1, sources, &immediate);
    if (l->refused || l->failed) return;
    const ptx_operand *to = &i->operands[0], *second = NULL;
    if (to->kind == PTX_OPERAND_PAIR) {
        second = &to->items[1];
        to = &to->items[0];
    }
    destination d = lower_destination(l, to, row->d, is_signed_result(i));
    destination e = { .v = NO_SLOT, .reg = NO_SLOT };
    if (row->e) {
        e = second ? lower_destination(l, second, row->e, false)
                   : (destination){ .v = lower_temporary(l, row->e), .reg = NO_SLOT };
    } else if (second) {
        lower_refuse(l, "the CPU device does not run this form with two destinations");
    }
    add_row(l, row, d.v, e.v, sources, immediate);
    lower_finish(l, d);
    lower_finish(l, e);
}

/* ------------------------------------------------------------------ comparisons */

/* A comparison without its boolean step, into one predicate, or two for packed halves. */
static bool compare(lowering *l, ptx_opcode opcode, const ptx_type *types, uint8_t type_count,
                    value *first, value *second)
{
    ptx_instruction plain = *l->now;
    plain.opcode = opcode;
    plain.modifiers.operation = PTX_OPERATION_NONE;
    plain.modifiers.type_count = type_count;
    for (uint8_t k = 0; k < type_count; k++) plain.modifiers.types[k] = types[k];
    bool has_step = l->now->modifiers.operation != PTX_OPERATION_NONE;
    if (has_step) plain.operand_count--;
    const op_entry *row = ptx_op_find(l->program->isa, &plain, &l->failed);
    if (!row) {
        if (!l->failed) lower_refuse(l, "the CPU device does not run this form");
        return false;
    }
    value sources[4];
    int64_t immediate = 0;
    set_sources(l, row, &plain, 1, sources, &immediate);
    *first = lower_temporary(l, OPERAND_PREDICATE);
    *second = row->e ? lower_temporary(l, OPERAND_PREDICATE) : NO_SLOT;
    add_row(l, row, *first, *second, sources, immediate);
    return !l->refused && !l->failed;
}

static const char *logic_name(ptx_operation operation)
{
    return operation == PTX_OPERATION_AND  ? "and.pred"
           : operation == PTX_OPERATION_OR ? "or.pred"
                                           : "xor.pred";
}

/* setp.cmp[.bool] p|q, a, b[, c]: p = (a cmp b) bool c, q = !(a cmp b) bool c. */
static void setp(lowering *l)
{
    const ptx_instruction *i = l->now;
    ptx_operation step = i->modifiers.operation;
    const ptx_operand *p = &i->operands[0], *q = NULL;
    if (p->kind == PTX_OPERAND_PAIR) {
        q = &p->items[1];
        p = &p->items[0];
    }
    value t, u;
    ptx_type types[1] = { i->modifiers.types[0] };
    if (!compare(l, PTX_OP_SETP, types, 1, &t, &u)) return;
    draft *compared = &l->drafts[l->draft_count - 1];
    destination to = lower_destination(l, p, OPERAND_PREDICATE, false);
    if (step == PTX_OPERATION_NONE && !q && u == NO_SLOT) {
        compared->i.d = to.v;
        return;
    }
    value c = step == PTX_OPERATION_NONE ? NO_SLOT
                                         : lower_predicate(l, &i->operands[i->operand_count - 1]);
    /* A destination may be the boolean operand too, so that it is written last. */
    value other = NO_SLOT;
    if (q) {
        other = lower_temporary(l, OPERAND_PREDICATE);
        value inverse = u;
        if (u == NO_SLOT) {
            inverse = lower_temporary(l, OPERAND_PREDICATE);
            lower_add_named(l, "not.pred", inverse, t, NO_SLOT, NO_SLOT);
        }
        if (c == NO_SLOT) other = inverse;
        else lower_add_named(l, logic_name(step), other, inverse, c, NO_SLOT);
    }
    if (c == NO_SLOT) lower_add_named(l, "mov.pred", to.v, t, NO_SLOT, NO_SLOT);
    else lower_add_named(l, logic_name(step), to.v, t, c, NO_SLOT);
    if (q) {
        destination second = lower_destination(l, q, OPERAND_PREDICATE, false);
        lower_add_named(l, "mov.pred", second.v, other, NO_SLOT, NO_SLOT);
    }
}

/* What `set` writes for true, in each half of packed types. */
static uint64_t true_bits(ptx_type type)
{
    switch (type) {
    case PTX_F32: return 0x3f800000u;
    case PTX_F16: return 0x3c00u;
    case PTX_F16X2: return 0x3c003c00u;
    case PTX_BF16: return 0x3f80u;
    case PTX_BF16X2: return 0x3f803f80u;
    case PTX_U16:
    case PTX_S16: return 0xffffu;
    default: return 0xffffffffu;
    }
}

/* set.cmp[.bool].dtype.stype d, a, b[, c] */
static void set(lowering *l)
{
    const ptx_instruction *i = l->now;
    ptx_type to_type = i->modifiers.types[0], from_type = i->modifiers.types[1];
    value t, u;
    if (!compare(l, PTX_OP_SETP, &from_type, 1, &t, &u)) return;
    ptx_operation step = i->modifiers.operation;
    if (step != PTX_OPERATION_NONE) {
        value c = lower_predicate(l, &i->operands[i->operand_count - 1]);
        value with = lower_temporary(l, OPERAND_PREDICATE);
        lower_add_named(l, logic_name(step), with, t, c, NO_SLOT);
        t = with;
        if (u != NO_SLOT) {
            with = lower_temporary(l, OPERAND_PREDICATE);
            lower_add_named(l, logic_name(step), with, u, c, NO_SLOT);
            u = with;
        }
    }
    destination to = lower_destination(l, &i->operands[0], OPERAND_32, false);
    value zero = lower_bits(l, OPERAND_32, 0);
    uint64_t set_bits = true_bits(to_type);
    if (u == NO_SLOT) {
        lower_add_named(l, "selp.b32", to.v, lower_bits(l, OPERAND_32, set_bits), zero, t);
    } else {
        value low = lower_temporary(l, OPERAND_32);
        lower_add_named(l, "selp.b32", low, lower_bits(l, OPERAND_32, set_bits & 0xffff), zero, t);
        value high = lower_temporary(l, OPERAND_32);
        lower_add_named(l, "selp.b32", high, lower_bits(l, OPERAND_32, set_bits & 0xffff0000u),
                        zero, u);
        lower_add_named(l, "lower.or", to.v, low, high, NO_SLOT);
    }
    lower_finish(l, to);
}

/* ------------------------------------------------------------------ moves */

static void pack(lowering *l, const ptx_operand *to, const ptx_operand *from, uint32_t bits)
{
    uint32_t count = from->index;
    char name[] = "lower.pack.b00.0";
    uint32_t part = bits / count;
    name[12] = (char)('0' + part / 10);
    name[13] = (char)('0' + part % 10);
    name[15] = (char)('0' + count);
    operand_kind width = part == 64 ? OPERAND_64 : OPERAND_32;
    value parts[4] = { NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT };
    for (uint32_t k = 0; k < count && k < 4; k++)
        parts[k] = lower_source(l, &from->items[k], width);
    destination d = lower_destination(l, to,
                                      bits == 128  ? OPERAND_128
                                      : bits == 64 ? OPERAND_64
                                                   : OPERAND_32,
                                      false);
    draft *packed = lower_add_named(l, name, d.v, parts[0], parts[1], parts[2]);
    lower_set(packed, FIELD_F, parts[3], false);
    packed->apart = true;
    lower_finish(l, d);
}

static void unpack(lowering *l, const ptx_operand *to, const ptx_operand *from, uint32_t bits)
{
    uint32_t count = to->index, part = bits / count;
    value source = lower_source(l, from,
                                bits == 128  ? OPERAND_128
                                : bits == 64 ? OPERAND_64
                                             : OPERAND_32);
    for (uint32_t k = 0; k < count; k++) {
        if (to->items[k].kind == PTX_OPERAND_SINK) continue;
        char name[] = "lower.part.b00.000.0";
        name[12] = (char)('0' + part / 10);
        name[13] = (char)('0' + part % 10);
        name[15] = (char)('0' + bits / 100);
        name[16] = (char)('0' + bits / 10 % 10);
        name[17] = (char)('0' + bits % 10);
        name[19] = (char)('0' + k);
        destination d =
            lower_destination(l, &to->items[k], part == 64 ? OPERAND_64 : OPERAND_32, false);
        lower_add_named(l, name, d.v, source, NO_SLOT, NO_SLOT);
        lower_finish(l, d);
    }
}

static void move(lowering *l)
{
    const ptx_instruction *i = l->now;
    const ptx_operand *to = &i->operands[0], *from = &i->operands[1];
    ptx_type type = i->modifiers.types[0];
    operand_kind width = lower_type_width(type);
    if (to->kind == PTX_OPERAND_VECTOR && from->kind == PTX_OPERAND_VECTOR) {
        lower_refuse(l, "moves between vectors are not supported");
        return;
    }
    if (from->kind == PTX_OPERAND_VECTOR) {
        pack(l, to, from, ptx_type_bits(type));
        return;
    }
    if (to->kind == PTX_OPERAND_VECTOR) {
        unpack(l, to, from, ptx_type_bits(type));
        return;
    }
    value source =
        width == OPERAND_PREDICATE ? lower_predicate(l, from) : lower_typed_source(l, from, type);
    destination d = lower_destination(l, to, width, false);
    const char *name = width == OPERAND_PREDICATE ? "mov.pred"
                       : width == OPERAND_64      ? "mov.b64"
                       : width == OPERAND_128     ? "mov.b128"
                                                  : "mov.b32";
    draft *moved = lower_add_named(l, name, d.v, source, NO_SLOT, NO_SLOT);
    moved->is_move = !is_const(source) && l->guard == NO_SLOT;
    lower_finish(l, d);
}

static void activemask(lowering *l)
{
    destination d = lower_destination(l, &l->now->operands[0], OPERAND_32, false);
    lower_add_named(l, "lower.activemask", d.v, NO_SLOT, NO_SLOT, NO_SLOT);
    lower_finish(l, d);
}

static void pause_or_trap(lowering *l)
{
    if (l->now->opcode == PTX_OP_NANOSLEEP) {
        value time = lower_source(l, &l->now->operands[0], OPERAND_32);
        draft *d = lower_add_control(l, CONTROL_PAUSE);
        lower_set(d, FIELD_A, time, false);
    } else {
        draft *d = lower_add_control(l, CONTROL_TRAP);
        d->i.size = l->now->opcode == PTX_OP_BRKPT;
    }
}

/* ------------------------------------------------------------------ the walk */

static bool is_aliased(const lowering *l)
{
    const ptx_instruction *i = l->now;
    if (i->guard != PTX_NO_REGISTER || !lower_has_destination(i)) return false;
    if (i->opcode != PTX_OP_MOV && i->opcode != PTX_OP_LD && i->opcode != PTX_OP_CVTA) return false;
    const ptx_operand *to = &i->operands[0];
    if (to->kind == PTX_OPERAND_REGISTER) return l->values[to->index].alias != NO_SLOT;
    if (to->kind != PTX_OPERAND_VECTOR || i->opcode != PTX_OP_LD) return false;
    for (uint32_t k = 0; k < to->index; k++)
        if (to->items[k].kind != PTX_OPERAND_REGISTER ||
            l->values[to->items[k].index].alias == NO_SLOT)
            return false;
    return true;
}

static void instruction(lowering *l)
{
    switch ((ptx_opcode)l->now->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU: lower_load(l); break;
    case PTX_OP_ST: lower_store(l); break;
    case PTX_OP_ATOM:
    case PTX_OP_RED: lower_atomic(l); break;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE: lower_fence(l); break;
    case PTX_OP_CVTA: lower_cvta(l); break;
    case PTX_OP_ISSPACEP: lower_isspacep(l); break;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: lower_barrier(l); break;
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT: lower_collective(l); break;
    case PTX_OP_ACTIVEMASK: activemask(l); break;
    case PTX_OP_BRA: lower_branch(l); break;
    case PTX_OP_BRX: lower_indexed_branch(l); break;
    case PTX_OP_CALL: lower_call(l); break;
    case PTX_OP_RET: lower_return(l); break;
    case PTX_OP_EXIT: lower_add_control(l, CONTROL_EXIT); break;
    case PTX_OP_NANOSLEEP:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT: pause_or_trap(l); break;
    case PTX_OP_SETP: setp(l); break;
    case PTX_OP_SET: set(l); break;
    case PTX_OP_MOV: move(l); break;
    /* Hints, and waiting for what happens in order here anyway. */
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_DISCARD:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_PMEVENT:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_GRIDDEPCONTROL: break;
    default:
        if (lower_is_carry(l->now)) lower_carry(l);
        else operation(l);
    }
}

static uint32_t align_to(uint64_t offset, uint32_t align)
{
    if (!align) align = 1;
    return (uint32_t)((offset + align - 1) / align * align);
}

/* Places parameters and local variables: of the kernel in the parameter buffer and in local memory,
 * of other functions all in local memory. */
static bool lay_out(lowering *l)
{
    const ptx_function *f = l->function;
    code *c = l->code;
    uint64_t local = 0, buffer = 0;
    l->local_offsets = gpul__calloc(f->variable_count + 1u, sizeof(uint32_t));
    l->param_offsets = gpul__calloc(f->param_count + 1u, sizeof(uint32_t));
    l->result_offsets = gpul__calloc(f->result_count + 1u, sizeof(uint32_t));
    if (!l->local_offsets || !l->param_offsets || !l->result_offsets) return false;
    for (uint32_t k = 0; k < f->param_count; k++) {
        const ptx_variable *v = &f->params[k];
        if (v->space == PTX_SPACE_REG) continue;
        uint64_t *end = f->is_entry ? &buffer : &local;
        l->param_offsets[k] = align_to(*end, v->align);
        *end = l->param_offsets[k] + v->size;
    }
    for (uint32_t k = 0; k < f->result_count; k++) {
        const ptx_variable *v = &f->results[k];
        if (v->space == PTX_SPACE_REG) continue;
        l->result_offsets[k] = align_to(local, v->align);
        local = l->result_offsets[k] + v->size;
    }
    for (uint32_t k = 0; k < f->variable_count; k++) {
        const ptx_variable *v = f->variables[k];
        if (v->space != PTX_SPACE_LOCAL && v->space != PTX_SPACE_PARAM) continue;
        l->local_offsets[k] = align_to(local, v->align);
        local = l->local_offsets[k] + v->size;
        if (local > (1u << 24)) break;
    }
    if (local > (1u << 24) || buffer > (1u << 20)) {
        lower_refuse(l, "its local variables or parameters are larger than the device allows");
        return true;
    }
    c->local_size = align_to(local, 16);
    return true;
}

static void free_lowering(lowering *l)
{
    gpul__free(l->drafts);
    gpul__free(l->values);
    gpul__free(l->consts);
    gpul__free(l->const_table);
    gpul__free(l->lists);
    gpul__free(l->first_draft);
    gpul__free(l->calls);
    gpul__free(l->barriers);
    gpul__free(l->tables);
    gpul__free(l->local_offsets);
    gpul__free(l->param_offsets);
    gpul__free(l->result_offsets);
    gpul__free(l->blocks);
    gpul__free(l->edges);
}

/* Parameters in registers are there from the start. */
static void arriving_registers(lowering *l)
{
    const ptx_function *f = l->function;
    uint32_t start = (uint32_t)l->list_count;
    for (uint32_t k = 0; k < f->param_count; k++)
        if (f->params[k].register_index != PTX_NO_REGISTER)
            lower_add_to_list(l, f->params[k].register_index);
    if (l->list_count == start) return;
    draft *d = lower_add_named(l, "lower.nothing", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
    d->list = start;
    d->list_defs = (uint16_t)(l->list_count - start);
}

static void walk(lowering *l)
{
    const ptx_function *f = l->function;
    l->now = NULL;
    arriving_registers(l);
    for (uint32_t k = 0; k < f->instruction_count && !l->failed && !l->refused; k++) {
        l->now = &f->instructions[k];
        l->now_index = k;
        l->first_draft[k] = (uint32_t)l->draft_count;
        if (is_aliased(l)) continue;
        l->guard = NO_SLOT;
        l->guard_negated = l->now->guard_negated;
        if (l->now->guard != PTX_NO_REGISTER) {
            value g = l->values[l->now->guard].alias;
            l->guard = g == NO_SLOT ? l->now->guard : g;
        }
        instruction(l);
    }
    l->guard = NO_SLOT;
    l->guard_negated = false;
    l->now_index = f->instruction_count;
    l->first_draft[f->instruction_count] = (uint32_t)l->draft_count;
    /* Whoever runs past the end returns. */
    l->now = f->instruction_count ? &f->instructions[f->instruction_count - 1] : NULL;
    lower_return(l);
}

bool lower_function(ptx_program *program, code *c, ptx_diags *diags)
{
    lowering l = { .program = program,
                   .code = c,
                   .function = c->source,
                   .module = c->source->module,
                   .diags = diags,
                   .guard = NO_SLOT,
                   .carry = NO_SLOT };
    if (c->source->unsupported) {
        c->refusal = c->source->unsupported_reason;
        return true;
    }
    l.first_draft = gpul__calloc(c->source->instruction_count + 1u, sizeof *l.first_draft);
    bool ok = l.first_draft && lay_out(&l) && lower_begin_values(&l);
    if (ok) {
        lower_find_aliases(&l);
        walk(&l);
        ok = !l.failed;
    }
    if (ok && !l.refused) {
        ok = lower_flow(&l) && lower_fuse(&l) && lower_slots(&l) && lower_chain(&l) &&
             lower_emit(&l);
        c->lowered = ok;
    }
    free_lowering(&l);
    return ok;
}
