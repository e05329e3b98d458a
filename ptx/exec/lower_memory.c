/* Loads, stores, atomics, fences and conversions of addresses.  SPDX-License-Identifier: MIT */
#include "ptx/exec/check.h"
#include "ptx/exec/lower.h"

/* ------------------------------------------------------------------ addresses */

static memory_space space_of(const lowering *l, ptx_space space, const ptx_operand *address)
{
    const ptx_function *f = l->function;
    switch (space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST: return MEMORY_GLOBAL;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CTA:
    case PTX_SPACE_SHARED_CLUSTER: return MEMORY_SHARED;
    case PTX_SPACE_LOCAL: return MEMORY_LOCAL;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        if (!f->is_entry || space == PTX_SPACE_PARAM_FUNC) return MEMORY_LOCAL;
        /* In a kernel: its own parameters, or variables of calls that it makes. */
        if (address->base == PTX_BASE_VARIABLE)
            return address->variable >= f->params && address->variable < f->params + f->param_count
                       ? MEMORY_PARAM
                       : MEMORY_LOCAL;
        return MEMORY_PARAM;
    default: return MEMORY_GENERIC;
    }
}

typedef struct place {
    value base;
    int64_t offset;
    access_form form;
} place;

/* Constants have one value for all lanes, special registers apart. */
static bool is_uniform(const lowering *l, value v)
{
    return is_const(v) && l->consts[v & ~CONST_VALUE].kind != CONST_SPECIAL;
}

/* A generic address that is known to lie in one window. */
static void leave_generic(place *p, const const_slot *c)
{
    if (p->form.space != MEMORY_GENERIC) return;
    if (c->kind == CONST_SHARED && c->add_window) p->form.space = MEMORY_SHARED;
    else if (c->kind == CONST_LOCAL && c->add_window) p->form.space = MEMORY_LOCAL;
    else if (c->kind == CONST_BITS && c->bits < WINDOW_SHARED) p->form.space = MEMORY_GLOBAL;
}

static place find_place(lowering *l, const ptx_operand *o, ptx_space space)
{
    place p = { .base = NO_SLOT, .form.space = space_of(l, space, o) };
    bool generic = p.form.space == MEMORY_GENERIC;
    if (o->kind == PTX_OPERAND_ADDRESS) {
        p.offset = o->value.offset;
        if (o->base == PTX_BASE_VARIABLE)
            p.base = lower_variable(l, o->variable, 0, generic, OPERAND_64);
        else if (o->base == PTX_BASE_NONE) p.base = lower_bits(l, OPERAND_64, 0);
        else {
            p.base = l->values[o->index].alias;
            if (p.base == NO_SLOT) p.base = o->index;
        }
    } else {
        lower_refuse(l, "an address of this form is not supported");
        p.base = lower_bits(l, OPERAND_64, 0);
    }
    if (is_const(p.base)) {
        p.base = lower_const_as(l, p.base, OPERAND_64);
        if (!l->failed && generic) {
            const_slot c = l->consts[p.base & ~CONST_VALUE];
            leave_generic(&p, &c);
            if (c.add_window && p.form.space != MEMORY_GENERIC) {
                c.add_window = false;
                p.base = lower_constant(l, &c);
            }
        }
        p.form.uniform =
            is_uniform(l, p.base) && p.form.space != MEMORY_GENERIC && p.form.space != MEMORY_PARAM;
        return p;
    }
    operand_kind width = lower_width(l, p.base);
    bool narrow_allowed = p.form.space == MEMORY_SHARED || p.form.space == MEMORY_LOCAL ||
                          p.form.space == MEMORY_PARAM;
    if (width == OPERAND_32 && narrow_allowed) {
        p.form.address32 = true;
    } else if (width == OPERAND_32) {
        value wide = lower_temporary(l, OPERAND_64);
        lower_add_named(l, "lower.widen.unsigned", wide, p.base, NO_SLOT, NO_SLOT);
        p.base = wide;
    } else if (width != OPERAND_64) {
        lower_refuse(l, "a register of this size holds no address");
    }
    return p;
}

static bool has_range(memory_space s)
{
    return s == MEMORY_GLOBAL || s == MEMORY_GENERIC;
}

static draft *add_access(lowering *l, const place *p, int64_t more)
{
    draft *d = lower_add(l);
    d->i.imm = p->offset + more;
    d->i.space = p->form.space | (p->form.address32 ? SPACE_ADDRESS32 : 0);
    d->i.size = p->form.shape;
    d->apart = true;
    if (has_range(p->form.space)) d->i.extra = l->program->access_count++;
    lower_set(d, FIELD_A, p->base, false);
    return d;
}

/* ------------------------------------------------------------------ checkers */

/* In front of an access that a checker of this engine watches: the instruction that does, with the
 * fields of the access; else NULL.  `size` is that of an element. */
static draft *add_check(lowering *l, const char *row, const place *p, int64_t more, unsigned size,
                        uint32_t flags)
{
    uint32_t checks = l->program->engine->options.checks;
    memory_space s = p->form.space;
    bool shared = s == MEMORY_SHARED || s == MEMORY_GENERIC;
    bool global = s == MEMORY_GLOBAL || s == MEMORY_GENERIC;
    bool watched = (shared && (checks & PTX_CHECK_RACES)) ||
                   (s != MEMORY_PARAM && (checks & PTX_CHECK_INIT)) ||
                   (global && (checks & PTX_CHECK_BLOCKS));
    if (!watched) return NULL;
    uint32_t *granule = &l->program->check_granule;
    if (shared && (!*granule || size < *granule)) *granule = size < 4 ? size : 4;
    draft *d = lower_add_named(l, row, NO_SLOT, p->base, NO_SLOT, NO_SLOT);
    d->i.imm = p->offset + more;
    d->i.space = p->form.space | (p->form.address32 ? SPACE_ADDRESS32 : 0);
    d->i.size = p->form.shape;
    d->i.extra = l->program->check_count++;
    d->i.flags |= (uint8_t)flags;
    d->checks = true;
    return d;
}

/* For fences of every scope: within a block they order what is handed over there. */
static void add_fence_check(lowering *l)
{
    if (!l->program->engine->options.checks) return;
    draft *d = lower_add_named(l, "lower.check.fence", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
    d->i.extra = l->program->check_count++;
}

static uint32_t strength(const ptx_modifiers *m)
{
    return m->semantics == PTX_SEMANTICS_RELAXED || m->semantics == PTX_SEMANTICS_ACQUIRE ||
                   m->semantics == PTX_SEMANTICS_RELEASE ||
                   m->semantics == PTX_SEMANTICS_VOLATILE || (m->flags & PTX_FLAG_MMIO)
               ? CHECK_STRONG
               : 0;
}

/* ------------------------------------------------------------------ loads and stores */

static element element_of(ptx_type type)
{
    bool is_signed = ptx_type_class_of(type) == PTX_CLASS_SIGNED;
    switch (ptx_type_bits(type)) {
    case 8: return is_signed ? ELEMENT_S8 : ELEMENT_U8;
    case 16: return is_signed ? ELEMENT_S16 : ELEMENT_U16;
    case 64: return ELEMENT_64;
    default: return ELEMENT_32;
    }
}

/* How many elements of a vector one access moves: 16 bytes at most. */
static uint32_t piece_of(uint32_t count, element e)
{
    uint32_t most = 16 / element_bytes(e);
    return count <= 4 && count <= most ? count : most < 4 ? most : 4;
}

static uint8_t log2_of(uint32_t count)
{
    return count == 4 ? 2 : count == 2 ? 1 : 0;
}

static bool may_poll(const ptx_modifiers *m)
{
    return m->semantics == PTX_SEMANTICS_RELAXED || m->semantics == PTX_SEMANTICS_ACQUIRE ||
           m->semantics == PTX_SEMANTICS_VOLATILE || (m->flags & PTX_FLAG_MMIO);
}

/* The elements of a vector operand, or the one value. */
static uint32_t items_of(lowering *l, const ptx_operand *o, const ptx_operand **items)
{
    uint32_t declared = l->now->modifiers.vector ? l->now->modifiers.vector : 1;
    *items = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    uint32_t count = o->kind == PTX_OPERAND_VECTOR ? o->index : 1;
    if (count != declared || (count & (count - 1)) || count > 8) {
        lower_refuse(l, "the vector operand does not fit the instruction");
        return 0;
    }
    return count;
}

static const int load_fields[4] = { FIELD_D, FIELD_E, FIELD_B, FIELD_C };
static const int store_fields[4] = { FIELD_B, FIELD_C, FIELD_F, FIELD_E };

void lower_load(lowering *l)
{
    const ptx_modifiers *m = &l->now->modifiers;
    ptx_type type = m->types[0];
    const ptx_operand *items;
    uint32_t count = items_of(l, &l->now->operands[0], &items);
    if (!count) return;
    if (ptx_type_bits(type) > 64 || type == PTX_PRED) {
        lower_refuse(l, "loads of this type are not supported");
        return;
    }
    element e = element_of(type);
    operand_kind width = e == ELEMENT_64 ? OPERAND_64 : OPERAND_32;
    bool is_signed = ptx_type_class_of(type) == PTX_CLASS_SIGNED;
    place p = find_place(l, &l->now->operands[1], m->space);
    uint32_t piece = piece_of(count, e);
    p.form.shape = MEMORY_SHAPE(e, log2_of(piece));
    handler_pair pair = l->program->isa->load(&p.form);
    destination to[8];
    for (uint32_t k = 0; k < count; k++) to[k] = lower_destination(l, &items[k], width, is_signed);
    /* The piece that overwrites the address comes last. */
    uint32_t last = 0;
    for (uint32_t k = 0; k < count; k++)
        if (to[k].v == p.base) last = k / piece;
    uint32_t pieces = count / piece;
    for (uint32_t n = 0; n < pieces; n++) {
        uint32_t which = pieces == 1 ? 0 : (last + 1 + n) % pieces;
        int64_t more = (int64_t)(which * piece * element_bytes(e));
        draft *check = add_check(l, "lower.check.load", &p, more, element_bytes(e), strength(m));
        if (check) check->is_access = true;
        if (check && (l->program->engine->options.checks & PTX_CHECK_INIT))
            check->i.flags |= INSN_MAY_WATCH;
        draft *d = add_access(l, &p, more);
        d->i.run[0] = pair.masked;
        d->i.run[1] = pair.full;
        d->is_access = true;
        if (may_poll(m)) d->i.flags |= INSN_POLLS;
        for (uint32_t k = 0; k < piece; k++)
            lower_set(d, load_fields[k], to[which * piece + k].v, true);
    }
    for (uint32_t k = 0; k < count; k++) lower_finish(l, to[k]);
    if (m->semantics == PTX_SEMANTICS_ACQUIRE)
        lower_add_named(l, "lower.fence", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
}

void lower_store(lowering *l)
{
    const ptx_modifiers *m = &l->now->modifiers;
    ptx_type type = m->types[0];
    const ptx_operand *items;
    uint32_t count = items_of(l, &l->now->operands[1], &items);
    if (!count) return;
    if (ptx_type_bits(type) > 64 || type == PTX_PRED) {
        lower_refuse(l, "stores of this type are not supported");
        return;
    }
    element e = element_of(type);
    operand_kind width = e == ELEMENT_64 ? OPERAND_64 : OPERAND_32;
    if (m->semantics == PTX_SEMANTICS_RELEASE) {
        add_fence_check(l);
        lower_add_named(l, "lower.fence", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
    }
    place p = find_place(l, &l->now->operands[0], m->space);
    uint32_t piece = piece_of(count, e);
    if (e == ELEMENT_S8) e = ELEMENT_U8;
    if (e == ELEMENT_S16) e = ELEMENT_U16;
    p.form.shape = MEMORY_SHAPE(e, log2_of(piece));
    handler_pair pair = l->program->isa->store(&p.form);
    value from[8];
    for (uint32_t k = 0; k < count; k++)
        from[k] = items[k].kind == PTX_OPERAND_SINK    ? lower_bits(l, width, 0)
                  : items[k].kind == PTX_OPERAND_FLOAT ? lower_typed_source(l, &items[k], type)
                                                       : lower_source(l, &items[k], width);
    for (uint32_t n = 0; n < count / piece; n++) {
        int64_t more = (int64_t)(n * piece * element_bytes(e));
        draft *check = add_check(l, "lower.check.store", &p, more, element_bytes(e), strength(m));
        if (check) check->is_access = check->stores = true;
        for (uint32_t k = 0; check && k < piece; k++)
            lower_set(check, store_fields[k], from[n * piece + k], false);
        draft *d = add_access(l, &p, more);
        d->i.run[0] = pair.masked;
        d->i.run[1] = pair.full;
        d->is_access = d->stores = true;
        for (uint32_t k = 0; k < piece; k++)
            lower_set(d, store_fields[k], from[n * piece + k], false);
    }
}

/* ------------------------------------------------------------------ atomics and fences */

/* One element of an atomic operation. */
static void atomic_element(lowering *l, const place *p, handler *h, int64_t more,
                           const ptx_operand *d, const ptx_operand *b, const ptx_operand *c)
{
    ptx_type type = l->now->modifiers.types[0];
    value first = lower_typed_source(l, b, type);
    value second = c ? lower_typed_source(l, c, type) : NO_SLOT;
    destination to = { .v = NO_SLOT, .reg = NO_SLOT };
    if (d && d->kind != PTX_OPERAND_SINK)
        to = lower_destination(l, d, lower_type_width(type),
                               ptx_type_class_of(type) == PTX_CLASS_SIGNED);
    /* An exchange does not care what was there. */
    uint32_t flags = l->now->modifiers.operation == PTX_OPERATION_EXCH ? 0 : CHECK_USED;
    draft *check =
        add_check(l, "lower.check.atomic", p, more, ptx_type_bits(type) / 8, CHECK_STRONG | flags);
    if (check) check->i.size = (uint8_t)(ptx_type_bits(type) / 8);
    draft *made = add_access(l, p, more);
    made->i.run[0] = made->i.run[1] = h;
    made->i.size = (uint8_t)(ptx_type_bits(type) / 8);
    /* Slots are given out without the destination, and without the flag, when nobody reads it. */
    if (to.v != NO_SLOT) made->i.flags |= INSN_POLLS;
    made->drops_result = true;
    lower_set(made, FIELD_B, first, false);
    lower_set(made, FIELD_C, second, false);
    lower_set(made, FIELD_D, to.v, true);
    lower_finish(l, to);
}

void lower_atomic(lowering *l)
{
    const ptx_instruction *i = l->now;
    const ptx_modifiers *m = &i->modifiers;
    bool returns = i->opcode == PTX_OP_ATOM;
    ptx_type type = m->types[0];
    ptx_operation operation = m->operation;
    handler *h = l->program->isa->atomic(operation, type);
    uint32_t at = returns ? 1 : 0, sources = operation == PTX_OPERATION_CAS ? 2 : 1;
    if (!h || i->operand_count < at + 1 + sources) {
        lower_refuse(l, "the CPU device does not run this form");
        return;
    }
    if (m->semantics == PTX_SEMANTICS_RELEASE || m->semantics == PTX_SEMANTICS_ACQ_REL) {
        add_fence_check(l);
        lower_add_named(l, "lower.fence", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
    }
    place p = find_place(l, &i->operands[at], m->space);
    const ptx_operand *d = returns ? &i->operands[0] : NULL, *b = &i->operands[at + 1];
    uint32_t count = b->kind == PTX_OPERAND_VECTOR ? b->index : 1;
    bool fits = count == (m->vector ? m->vector : 1u) &&
                (count == 1 || !d || (d->kind == PTX_OPERAND_VECTOR && d->index == count));
    if (!fits) {
        lower_refuse(l, "the vector operand does not fit the instruction");
        return;
    }
    /* Each element of a vector is changed by itself, as PTX has it. */
    for (uint32_t k = 0; k < count; k++)
        atomic_element(l, &p, h, (int64_t)(k * ptx_type_bits(type) / 8),
                       count > 1 && d ? &d->items[k] : d, count > 1 ? &b->items[k] : b,
                       sources == 2 ? &i->operands[at + 2] : NULL);
    if (m->semantics == PTX_SEMANTICS_ACQUIRE || m->semantics == PTX_SEMANTICS_ACQ_REL)
        lower_add_named(l, "lower.fence", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
}

void lower_fence(lowering *l)
{
    add_fence_check(l);
    /* One block is run by one thread: its own order is enough for it. */
    if (l->now->modifiers.scope == PTX_SCOPE_CTA) return;
    lower_add_named(l, "lower.fence.sc", NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT);
}

/* ------------------------------------------------------------------ addresses as values */

static uint64_t window_of(ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CTA:
    case PTX_SPACE_SHARED_CLUSTER: return WINDOW_SHARED;
    case PTX_SPACE_LOCAL: return WINDOW_LOCAL;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY: return WINDOW_PARAM;
    default: return 0;
    }
}

void lower_cvta(lowering *l)
{
    const ptx_instruction *i = l->now;
    const ptx_operand *from = &i->operands[1];
    bool to_space = i->modifiers.flags & PTX_FLAG_TO;
    uint64_t window = window_of(i->modifiers.space);
    if (i->modifiers.type_count && ptx_type_bits(i->modifiers.types[0]) != 64) {
        lower_refuse(l, "32-bit addresses are not supported");
        return;
    }
    /* Parameters of a function live in local memory here. */
    if (window == WINDOW_PARAM && !l->function->is_entry) window = WINDOW_LOCAL;
    destination to = lower_destination(l, &i->operands[0], OPERAND_64, false);
    if (from->kind == PTX_OPERAND_SYMBOL && !to_space) {
        value v = lower_variable(l, from->variable, from->value.offset, true, OPERAND_64);
        lower_add_named(l, "mov.b64", to.v, v, NO_SLOT, NO_SLOT);
    } else {
        value v = lower_source(l, from, OPERAND_64);
        if (!window) {
            draft *d = lower_add_named(l, "mov.b64", to.v, v, NO_SLOT, NO_SLOT);
            d->is_move = !is_const(v) && l->guard == NO_SLOT;
        } else {
            lower_add_named(l, "lower.add", to.v, v,
                            lower_bits(l, OPERAND_64, to_space ? 0 - window : window), NO_SLOT);
        }
    }
    lower_finish(l, to);
}

void lower_isspacep(lowering *l)
{
    const ptx_instruction *i = l->now;
    value address = lower_source(l, &i->operands[1], OPERAND_64);
    destination to = lower_destination(l, &i->operands[0], OPERAND_PREDICATE, false);
    uint64_t window = window_of(i->modifiers.space);
    if (window == WINDOW_PARAM && !l->function->is_entry) window = WINDOW_LOCAL;
    if (i->modifiers.space == PTX_SPACE_CONST) {
        /* The variables of one program that are constant lie in one allocation. */
        const ptx_program *p = l->program;
        value start = lower_temporary(l, OPERAND_PREDICATE),
              end = lower_temporary(l, OPERAND_PREDICATE);
        lower_add_named(l, "lower.from", start, address,
                        lower_bits(l, OPERAND_64, p->constant_start), NO_SLOT);
        lower_add_named(l, "lower.from", end, address, lower_bits(l, OPERAND_64, p->constant_end),
                        NO_SLOT);
        value before = lower_temporary(l, OPERAND_PREDICATE);
        lower_add_named(l, "not.pred", before, end, NO_SLOT, NO_SLOT);
        lower_add_named(l, "and.pred", to.v, start, before, NO_SLOT);
    } else if (window) {
        lower_add_named(l, "lower.inside", to.v, address, lower_bits(l, OPERAND_64, window),
                        NO_SLOT);
    } else {
        lower_add_named(l, "lower.outside", to.v, address, NO_SLOT, NO_SLOT);
    }
}
