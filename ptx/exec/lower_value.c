/* Values: constants that are kept once, registers that always hold the same constant, operands.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/lower.h"

operand_kind lower_type_width(ptx_type type)
{
    uint32_t bits = ptx_type_bits(type);
    return type == PTX_PRED ? OPERAND_PREDICATE
           : bits == 64     ? OPERAND_64
           : bits == 128    ? OPERAND_128
                            : OPERAND_32;
}

uint32_t lower_type_size(ptx_type type)
{
    return type == PTX_PRED ? 1 : ptx_type_bits(type) / 8;
}

static operand_kind register_width(uint8_t bits)
{
    return bits == 1     ? OPERAND_PREDICATE
           : bits == 64  ? OPERAND_64
           : bits == 128 ? OPERAND_128
                         : OPERAND_32;
}

/* ------------------------------------------------------------------ constants */

static uint64_t hash_of(const const_slot *c)
{
    uint64_t key[3] = { c->bits, (uint64_t)(uintptr_t)c->variable,
                        c->kind | (uint64_t)c->width << 8 | (uint64_t)c->param_size << 16 |
                            (uint64_t)c->sign << 24 | (uint64_t)c->add_window << 25 };
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 3; k++) {
        h = (h ^ key[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static bool same_constant(const const_slot *a, const const_slot *b)
{
    return a->kind == b->kind && a->width == b->width && a->bits == b->bits &&
           a->param_size == b->param_size && a->sign == b->sign && a->add_window == b->add_window &&
           a->variable == b->variable;
}

static bool grow_table(lowering *l)
{
    size_t size = l->const_table_size ? l->const_table_size * 2 : 256;
    uint32_t *table = gpul__calloc(size, sizeof *table);
    if (!table) return false;
    for (size_t k = 0; k < l->const_count; k++) {
        size_t at = hash_of(&l->consts[k]) & (size - 1);
        while (table[at]) at = (at + 1) & (size - 1);
        table[at] = (uint32_t)k + 1;
    }
    gpul__free(l->const_table);
    l->const_table = table;
    l->const_table_size = size;
    return true;
}

value lower_constant(lowering *l, const const_slot *wanted)
{
    if (l->const_count * 2 >= l->const_table_size && !grow_table(l)) {
        l->failed = true;
        return NO_SLOT;
    }
    size_t at = hash_of(wanted) & (l->const_table_size - 1);
    for (; l->const_table[at]; at = (at + 1) & (l->const_table_size - 1))
        if (same_constant(&l->consts[l->const_table[at] - 1], wanted))
            return (l->const_table[at] - 1) | CONST_VALUE;
    if (!gpul__grow(&l->consts, &l->const_room, l->const_count, sizeof *l->consts)) {
        l->failed = true;
        return NO_SLOT;
    }
    l->consts[l->const_count] = *wanted;
    l->const_table[at] = (uint32_t)++l->const_count;
    return (value)(l->const_count - 1) | CONST_VALUE;
}

value lower_bits(lowering *l, operand_kind width, uint64_t bits)
{
    if (width == OPERAND_32) bits = (uint32_t)bits;
    if (width == OPERAND_PREDICATE) bits = bits != 0;
    return lower_constant(l, &(const_slot){ .kind = CONST_BITS, .width = width, .bits = bits });
}

bool lower_known_number(const lowering *l, value v, uint64_t *out)
{
    if (!is_const(v) || l->consts[v & ~CONST_VALUE].kind != CONST_BITS) return false;
    *out = l->consts[v & ~CONST_VALUE].bits;
    return true;
}

value lower_const_as(lowering *l, value v, operand_kind width)
{
    const_slot changed = l->consts[v & ~CONST_VALUE];
    if (changed.width == width) return v;
    changed.width = width;
    if (changed.kind == CONST_BITS) return lower_bits(l, width, changed.bits);
    return lower_constant(l, &changed);
}

value lower_temporary(lowering *l, operand_kind width)
{
    if (!gpul__grow(&l->values, &l->value_room, l->value_count, sizeof *l->values)) {
        l->failed = true;
        return NO_SLOT;
    }
    l->values[l->value_count] =
        (value_info){ .width = width, .alias = NO_SLOT, .friend = NO_SLOT, .slot = NO_SLOT };
    return (value)l->value_count++;
}

operand_kind lower_width(const lowering *l, value v)
{
    if (v == NO_SLOT) return OPERAND_NONE;
    return is_const(v) ? l->consts[v & ~CONST_VALUE].width : l->values[v].width;
}

/* ------------------------------------------------------------------ variables */

static bool among(const ptx_variable *v, const ptx_variable *list, uint32_t count)
{
    return v >= list && v < list + count;
}

value lower_variable(lowering *l, const ptx_variable *v, int64_t offset, bool generic,
                     operand_kind width)
{
    const ptx_function *f = l->function;
    const_slot c = { .width = width, .bits = (uint64_t)offset };
    if (among(v, f->params, f->param_count) && f->is_entry) {
        c.kind = CONST_BITS;
        c.bits += l->param_offsets[v - f->params] + (generic ? WINDOW_PARAM : 0);
    } else if (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM) {
        c.kind = CONST_LOCAL;
        c.add_window = generic;
        if (among(v, f->params, f->param_count)) c.bits += l->param_offsets[v - f->params];
        else if (among(v, f->results, f->result_count)) c.bits += l->result_offsets[v - f->results];
        else if (v->index < f->variable_count && f->variables[v->index] == v)
            c.bits += l->local_offsets[v->index];
        else lower_refuse(l, "a variable of another function is used");
    } else if (v->space == PTX_SPACE_SHARED) {
        c.kind = CONST_SHARED;
        c.variable = v;
        c.add_window = generic;
    } else {
        uint64_t address = 0;
        if (!ptx_program_variable_address(l->program, v, &address))
            lower_undefined(l, "uses", v->name);
        c.kind = CONST_BITS;
        c.bits += address;
    }
    if (c.kind == CONST_BITS) return lower_bits(l, width, c.bits);
    return lower_constant(l, &c);
}

/* ------------------------------------------------------------------ sources */

/* The bits of a literal in the format that is wanted; the checker has fitted all others. */
static uint64_t float_bits(const ptx_operand *o, uint32_t bits)
{
    uint64_t raw = o->value.bits;
    double wide;
    float narrow;
    if (o->width == bits || bits < 32 || o->width < 32) return raw;
    if (o->width == 64) {
        uint32_t out;
        memcpy(&wide, &raw, sizeof wide);
        narrow = (float)wide;
        memcpy(&out, &narrow, sizeof out);
        return out;
    }
    uint32_t in = (uint32_t)raw;
    memcpy(&narrow, &in, sizeof narrow);
    wide = (double)narrow;
    memcpy(&raw, &wide, sizeof raw);
    return raw;
}

static value function_address(lowering *l, const ptx_function *f, operand_kind width)
{
    size_t index = 0;
    if (!pointer_map_get(&l->program->code_map, f, &index)) {
        lower_undefined(l, "takes the address of", f->name);
        return lower_bits(l, width, 0);
    }
    return lower_bits(l, width, WINDOW_CODE + CODE_STEP * (index + 1));
}

static value special(lowering *l, ptx_special which, operand_kind width)
{
    if (which == PTX_SPECIAL_ENVREG1 || which == PTX_SPECIAL_ENVREG2)
        l->code->reads_workspace = true;
    if (!ptx_special_is_clock(which))
        return lower_constant(
            l, &(const_slot){ .kind = CONST_SPECIAL, .width = width, .bits = which });
    value t = lower_temporary(l, width);
    draft *d = lower_add_control(l, CONTROL_CLOCK);
    d->i.imm = which;
    d->i.size = width == OPERAND_64 ? 8 : 4;
    lower_set(d, FIELD_D, t, true);
    return t;
}

static value register_source(lowering *l, uint32_t index, operand_kind width)
{
    operand_kind has = l->values[index].width;
    value alias = l->values[index].alias;
    if (alias != NO_SLOT && has != OPERAND_128) {
        /* Through the register's own width, so that a narrower constant is cut the same way. */
        value v = lower_const_as(l, alias, has);
        if (has == width) return v;
        const const_slot *c = &l->consts[v & ~CONST_VALUE];
        if (c->kind == CONST_BITS) return lower_bits(l, width, c->bits);
        if (has == OPERAND_32) return lower_const_as(l, v, width);
        value t = lower_temporary(l, width);
        lower_add_named(l, "lower.narrow", t, v, NO_SLOT, NO_SLOT);
        return t;
    }
    if (has == width) return index;
    value t = lower_temporary(l, width);
    if (has == OPERAND_64 && width == OPERAND_32)
        lower_add_named(l, "lower.narrow", t, index, NO_SLOT, NO_SLOT);
    else if (has == OPERAND_32 && width == OPERAND_64)
        lower_add_named(l, "lower.widen.unsigned", t, index, NO_SLOT, NO_SLOT);
    else lower_refuse(l, "a register has a size that the instruction cannot use");
    return t;
}

value lower_source(lowering *l, const ptx_operand *o, operand_kind width)
{
    switch ((ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REGISTER:
        if (width == OPERAND_PREDICATE) return lower_predicate(l, o);
        return register_source(l, o->index, width);
    case PTX_OPERAND_INTEGER: return lower_bits(l, width, o->value.bits);
    case PTX_OPERAND_FLOAT:
        return lower_bits(l, width, float_bits(o, width == OPERAND_64 ? 64 : 32));
    case PTX_OPERAND_SPECIAL: return special(l, (ptx_special)o->index, width);
    case PTX_OPERAND_SYMBOL: return lower_variable(l, o->variable, o->value.offset, false, width);
    case PTX_OPERAND_FUNCTION: return function_address(l, o->function, width);
    default: lower_refuse(l, "an operand of this kind is not supported here");
    }
    return lower_bits(l, width, 0);
}

value lower_typed_source(lowering *l, const ptx_operand *o, ptx_type type)
{
    operand_kind width = lower_type_width(type);
    if (o->kind == PTX_OPERAND_FLOAT)
        return lower_bits(l, width, float_bits(o, ptx_type_bits(type)));
    return lower_source(l, o, width);
}

value lower_predicate(lowering *l, const ptx_operand *o)
{
    value v;
    if (o->kind == PTX_OPERAND_REGISTER) {
        if (l->values[o->index].width != OPERAND_PREDICATE) {
            lower_refuse(l, "a predicate is expected");
            return lower_bits(l, OPERAND_PREDICATE, 0);
        }
        v = l->values[o->index].alias != NO_SLOT ? l->values[o->index].alias : o->index;
    } else {
        v = lower_source(l, &(ptx_operand){ .kind = o->kind, .index = o->index, .value = o->value },
                         OPERAND_PREDICATE);
    }
    if (!o->negated) return v;
    value t = lower_temporary(l, OPERAND_PREDICATE);
    lower_add_named(l, "not.pred", t, v, NO_SLOT, NO_SLOT);
    return t;
}

/* ------------------------------------------------------------------ destinations */

destination lower_destination(lowering *l, const ptx_operand *o, operand_kind width, bool is_signed)
{
    destination d = { .reg = NO_SLOT, .is_signed = is_signed };
    if (o->kind != PTX_OPERAND_REGISTER) {
        if (o->kind != PTX_OPERAND_SINK)
            lower_refuse(l, "a destination of this kind is not supported");
        d.v = lower_temporary(l, width);
        return d;
    }
    if (l->values[o->index].width == width) {
        d.v = o->index;
        return d;
    }
    d.v = lower_temporary(l, width);
    d.reg = o->index;
    return d;
}

void lower_finish(lowering *l, destination d)
{
    if (d.reg == NO_SLOT || d.v == NO_SLOT) return;
    operand_kind from = lower_width(l, d.v), to = lower_width(l, d.reg);
    const char *name = from == OPERAND_32 && to == OPERAND_64
                           ? (d.is_signed ? "lower.widen.signed" : "lower.widen.unsigned")
                       : from == OPERAND_64 && to == OPERAND_32 ? "lower.narrow"
                                                                : NULL;
    if (name) lower_add_named(l, name, d.reg, d.v, NO_SLOT, NO_SLOT);
    else lower_refuse(l, "a register has a size that the instruction cannot use");
}

/* ------------------------------------------------------------------ registers that are constants */

bool lower_begin_values(lowering *l)
{
    const ptx_function *f = l->function;
    for (uint32_t k = 0; k < f->register_count; k++)
        lower_temporary(l, register_width(f->registers[k].bits));
    return !l->failed;
}

static void count_writes(lowering *l, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REGISTER) l->values[o->index].defs++;
    else if (o->kind == PTX_OPERAND_VECTOR)
        for (uint32_t k = 0; k < o->index; k++) count_writes(l, &o->items[k]);
    else if (o->kind == PTX_OPERAND_PAIR)
        for (uint32_t k = 0; k < 2; k++) count_writes(l, &o->items[k]);
}

static bool written_once(const lowering *l, const ptx_operand *o)
{
    return o->kind == PTX_OPERAND_REGISTER && l->values[o->index].defs == 1;
}

static void alias(lowering *l, uint32_t reg, value v)
{
    l->values[reg].alias = v;
}

/* ld.param of the kernel at a place known now. */
static void alias_parameters(lowering *l, const ptx_instruction *i)
{
    const ptx_function *f = l->function;
    const ptx_operand *to = &i->operands[0], *from = &i->operands[1];
    if (!f->is_entry || from->kind != PTX_OPERAND_ADDRESS || from->base != PTX_BASE_VARIABLE ||
        !among(from->variable, f->params, f->param_count))
        return;
    ptx_type type = i->modifiers.types[0];
    uint32_t bytes = ptx_type_bits(type) / 8;
    int64_t offset = from->value.offset;
    uint32_t count = to->kind == PTX_OPERAND_VECTOR ? to->index : 1;
    if (bytes > 8 || offset < 0 || (uint64_t)offset % (bytes * count) ||
        (uint64_t)offset + bytes * count > from->variable->size)
        return;
    for (uint32_t k = 0; k < count; k++) {
        const ptx_operand *one = to->kind == PTX_OPERAND_VECTOR ? &to->items[k] : to;
        if (!written_once(l, one)) continue;
        const_slot c = { .kind = CONST_PARAM,
                         .width = l->values[one->index].width,
                         .param_size = (uint8_t)bytes,
                         .sign = ptx_type_class_of(type) == PTX_CLASS_SIGNED,
                         .bits = l->param_offsets[from->variable - f->params] + (uint64_t)offset +
                                 bytes * k };
        if (c.width == OPERAND_32 || c.width == OPERAND_64)
            alias(l, one->index, lower_constant(l, &c));
    }
}

static void alias_move(lowering *l, const ptx_instruction *i)
{
    const ptx_operand *to = &i->operands[0], *from = &i->operands[1];
    if (!written_once(l, to)) return;
    operand_kind width = l->values[to->index].width;
    if (width != lower_type_width(i->modifiers.types[0]) || width == OPERAND_128) return;
    switch ((ptx_operand_kind)from->kind) {
    case PTX_OPERAND_SPECIAL:
        if (ptx_special_is_clock((ptx_special)from->index)) return;
        break;
    case PTX_OPERAND_REGISTER:
        if (from->negated || l->values[from->index].alias == NO_SLOT ||
            l->values[from->index].width != width)
            return;
        alias(l, to->index, l->values[from->index].alias);
        return;
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_FLOAT:
    case PTX_OPERAND_SYMBOL:
    case PTX_OPERAND_FUNCTION: break;
    default: return;
    }
    alias(l, to->index, lower_typed_source(l, from, i->modifiers.types[0]));
}

/* Conversions of addresses that are constants. */
static void alias_cvta(lowering *l, const ptx_instruction *i)
{
    const ptx_operand *to = &i->operands[0], *from = &i->operands[1];
    if (!written_once(l, to) || l->values[to->index].width != OPERAND_64) return;
    ptx_space space = i->modifiers.space;
    bool shared = space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CTA;
    bool to_space = i->modifiers.flags & PTX_FLAG_TO;
    if (from->kind == PTX_OPERAND_SYMBOL) {
        if (!to_space)
            alias(l, to->index,
                  lower_variable(l, from->variable, from->value.offset, true, OPERAND_64));
        return;
    }
    if (from->kind != PTX_OPERAND_REGISTER || l->values[from->index].alias == NO_SLOT ||
        l->values[from->index].width != OPERAND_64)
        return;
    value v = l->values[from->index].alias;
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST) {
        alias(l, to->index, v);
        return;
    }
    const_slot c = l->consts[v & ~CONST_VALUE];
    bool fits =
        (shared && c.kind == CONST_SHARED) || (space == PTX_SPACE_LOCAL && c.kind == CONST_LOCAL);
    if (!fits || c.add_window != to_space) return;
    c.add_window = !to_space;
    alias(l, to->index, lower_constant(l, &c));
}

void lower_find_aliases(lowering *l)
{
    const ptx_function *f = l->function;
    for (uint32_t k = 0; k < f->param_count; k++)
        if (f->params[k].register_index != PTX_NO_REGISTER)
            l->values[f->params[k].register_index].defs++;
    for (uint32_t k = 0; k < f->instruction_count; k++) {
        const ptx_instruction *i = &f->instructions[k];
        if (i->opcode == PTX_OP_CALL)
            for (uint32_t r = 0; r < i->call->result_count; r++)
                count_writes(l, &i->call->results[r]);
        else if (lower_has_destination(i)) count_writes(l, &i->operands[0]);
    }
    for (uint32_t k = 0; k < f->instruction_count && !l->failed; k++) {
        const ptx_instruction *i = &f->instructions[k];
        if (i->guard != PTX_NO_REGISTER) continue;
        l->now = i;
        if (i->opcode == PTX_OP_LD) {
            ptx_space space = i->modifiers.space;
            if (space == PTX_SPACE_PARAM || space == PTX_SPACE_PARAM_ENTRY) alias_parameters(l, i);
        } else if (i->opcode == PTX_OP_MOV && i->operand_count == 2) {
            alias_move(l, i);
        } else if (i->opcode == PTX_OP_CVTA) {
            alias_cvta(l, i);
        }
    }
}
