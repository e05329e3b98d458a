/* Shadows of registers: loads that make them, moves that carry them on, uses that are reported.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/shadow.h"

#include <string.h>

#include "ptx/exec/chain.h"
#include "ptx/exec/check.h"
#include "ptx/exec/memory_table.h"

#define FOR_LANES(lanes)                                                                           \
    for (uint32_t rest_ = (lanes), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true);         \
         rest_ &= rest_ - 1)

/* A load that gave an undefined value: what a report says of it. */
typedef struct source_load {
    const insn *insn;
    const code *code;
    memory_space space;
    uint32_t size;
    uint64_t addresses[WARP_LANES];
} source_load;

/* The loads of one warp, by number. */
struct watch {
    source_load **loads;
    size_t count, room;
};

enum { SLOT_UNIT = 64, NO_LOAD = 0 };

/* ------------------------------------------------------------------ shadows */

static void fail(const warp *w)
{
    ptx_fault_launch(w->block->launch, PTX_FAULT_OUT_OF_MEMORY);
}

static size_t shadow_size(const code *c)
{
    return c->regs_size + (c->regs_size / SLOT_UNIT + 1) * sizeof(uint32_t);
}

static uint8_t *make_shadow(warp *w)
{
    frame *f = w->frame;
    if (f->shadow) return f->shadow;
    f->shadow = gpul__aligned(64, (shadow_size(f->code) + 63) / 64 * 64);
    if (f->shadow) memset(f->shadow, 0, shadow_size(f->code));
    else fail(w);
    return f->shadow;
}

/* The number of the load whose value a slot holds. */
static uint32_t *load_of(const frame *f, uint32_t slot)
{
    return (uint32_t *)(void *)(f->shadow + f->code->regs_size) + slot / SLOT_UNIT;
}

static uint32_t width_bytes(uint8_t width)
{
    return width == OPERAND_32 ? 4 : width == OPERAND_64 ? 8 : width == OPERAND_128 ? 16 : 0;
}

/* The bits of one lane of a slot; of a 128-bit one both halves together. */
static uint64_t bits_of(const uint8_t *regs, uint32_t slot, uint8_t width, uint32_t l)
{
    const uint64_t *doubles = (const uint64_t *)(const void *)(regs + slot);
    switch (width) {
    case OPERAND_32: return ((const uint32_t *)(const void *)(regs + slot))[l];
    case OPERAND_64: return doubles[l];
    case OPERAND_128: return doubles[l] | doubles[WARP_LANES + l];
    default: return 0;
    }
}

static void set_bits(uint8_t *regs, uint32_t slot, uint8_t width, uint32_t l, uint64_t bits)
{
    uint64_t *doubles = (uint64_t *)(void *)(regs + slot);
    if (width == OPERAND_32) ((uint32_t *)(void *)(regs + slot))[l] = (uint32_t)bits;
    else if (width == OPERAND_64 || width == OPERAND_128) doubles[l] = bits;
    if (width == OPERAND_128) doubles[WARP_LANES + l] = bits;
}

static uint32_t undefined_lanes(const frame *f, uint32_t slot, uint8_t width, uint32_t lanes)
{
    uint32_t found = 0;
    if (slot == NO_SLOT || !width_bytes(width)) return 0;
    FOR_LANES(lanes) if (bits_of(f->shadow, slot, width, l)) found |= 1u << l;
    return found;
}

static void define(const frame *f, uint32_t slot, uint8_t width, uint32_t lanes)
{
    if (slot == NO_SLOT) return;
    FOR_LANES(lanes) set_bits(f->shadow, slot, width, l, 0);
}

void ptx_watch(warp *w)
{
    if (!w->watch && !(w->watch = gpul__calloc(1, sizeof *w->watch))) {
        fail(w);
        return;
    }
    w->watched = true;
}

void ptx_watch_end(warp *w)
{
    if (w->root->shadow) memset(w->root->shadow, 0, shadow_size(w->root->code));
    w->watched = false;
}

void ptx_watch_free(warp *w)
{
    gpul__free(w->root->shadow);
    gpul__free(w->local_marks);
    if (!w->watch) return;
    for (size_t k = 0; k < w->watch->count; k++) gpul__free(w->watch->loads[k]);
    gpul__free(w->watch->loads);
    gpul__free(w->watch);
}

/* ------------------------------------------------------------------ uses */

static void report(warp *w, const insn *use, uint32_t number, uint32_t lanes)
{
    const source_load *load = w->watch->loads[number - 1];
    static const ptx_space spaces[] = { [MEMORY_GLOBAL] = PTX_SPACE_GLOBAL,
                                        [MEMORY_SHARED] = PTX_SPACE_SHARED,
                                        [MEMORY_LOCAL] = PTX_SPACE_LOCAL };
    earlier_access later = { .insn = use,
                             .code = w->frame->code,
                             .action = "uses",
                             .known = true,
                             .thread = w->index * WARP_LANES + (uint32_t)__builtin_ctz(lanes) };
    for (int d = 0; d < 3; d++) later.block[d] = w->block->position[d];
    fault_access access = { "reads",         load->size, spaces[load->space],
                            load->addresses, &later,     load->code };
    ptx_fault(w, load->insn, lanes, PTX_FAULT_UNINITIALISED, &access, NULL);
}

/* The lanes use the slot; what it holds counts as defined from now on. */
static void use(warp *w, const insn *i, uint32_t slot, uint8_t width, uint32_t lanes)
{
    const frame *f = w->frame;
    uint32_t bad = undefined_lanes(f, slot, width, lanes);
    if (!bad) return;
    uint32_t number = *load_of(f, slot);
    if (number != NO_LOAD) report(w, i, number, bad);
    define(f, slot, width, bad);
}

/* ------------------------------------------------------------------ moves */

typedef struct step {
    warp *w;
    const insn *i;
    const insn_flow *flow;
    uint32_t lanes;
} step;

static uint32_t slot_of(const insn *i, int field)
{
    const uint32_t slots[FLOW_FIELDS] = { i->d, i->e, i->a, i->b, i->c, i->f };
    return slots[field];
}

static void use_fields(const step *s, uint8_t fields)
{
    for (int k = 0; k < FLOW_FIELDS; k++)
        if (fields >> k & 1) use(s->w, s->i, slot_of(s->i, k), s->flow->width[k], s->lanes);
}

static void define_results(const step *s)
{
    for (int k = 0; k < FLOW_FIELDS; k++)
        if (s->flow->results >> k & 1)
            define(s->w->frame, slot_of(s->i, k), s->flow->width[k], s->lanes);
}

/* The first source with undefined bits, or -1. */
static int first_undefined(const step *s, uint8_t fields)
{
    for (int k = 0; k < FLOW_FIELDS; k++)
        if ((fields >> k & 1) &&
            undefined_lanes(s->w->frame, slot_of(s->i, k), s->flow->width[k], s->lanes))
            return k;
    return -1;
}

enum { WIDEST = 16 * WARP_LANES };

static size_t slot_bytes(uint8_t width)
{
    return width == OPERAND_PREDICATE ? sizeof(uint32_t) : width_bytes(width) * WARP_LANES;
}

static bool is_also_data(const step *s, int field)
{
    uint8_t data = s->flow->sources & (uint8_t)~s->flow->controls;
    for (int k = 0; k < FLOW_FIELDS; k++)
        if ((data >> k & 1) && slot_of(s->i, k) == slot_of(s->i, field)) return true;
    return false;
}

/* Lets the instruction itself move the bits, with the shadow for its registers and the true values where
 * they decide what goes where. */
static void move_bits(const step *s)
{
    warp *w = s->w;
    frame *f = w->frame;
    struct {
        uint8_t bytes[WIDEST];
    } kept[FLOW_FIELDS];
    uint32_t mask = w->mask, lane_mask[WARP_LANES];
    uint8_t controls = s->flow->controls & s->flow->sources;
    for (int k = 0; k < FLOW_FIELDS; k++) {
        if (!(controls >> k & 1)) continue;
        size_t size = slot_bytes(s->flow->width[k]);
        memcpy(kept[k].bytes, f->shadow + slot_of(s->i, k), size);
        memcpy(f->shadow + slot_of(s->i, k), w->regs + slot_of(s->i, k), size);
    }
    memcpy(lane_mask, w->lane_mask, sizeof lane_mask);
    for (uint32_t l = 0; l < WARP_LANES; l++) w->lane_mask[l] = s->lanes >> l & 1 ? ALL_LANES : 0;
    w->mask = s->lanes;
    w->regs = f->shadow;
    s->i->run[0](w, s->i);
    w->regs = f->regs;
    w->mask = mask;
    memcpy(w->lane_mask, lane_mask, sizeof lane_mask);
    for (int k = 0; k < FLOW_FIELDS; k++) {
        if (!(controls >> k & 1)) continue;
        uint32_t slot = slot_of(s->i, k);
        /* The result may have taken the control's place, in the lanes that ran. */
        uint32_t back = slot == s->i->d ? ~s->lanes : ALL_LANES;
        if (s->flow->width[k] == OPERAND_PREDICATE) memset(f->shadow + slot, 0, sizeof(uint32_t));
        else FOR_LANES(back)
        set_bits(f->shadow, slot, s->flow->width[k], l,
                 bits_of(kept[k].bytes, 0, s->flow->width[k], l));
    }
}

static void moves(const step *s)
{
    uint8_t controls = s->flow->controls & s->flow->sources;
    use_fields(s, controls);
    for (int k = 0; k < FLOW_FIELDS; k++)
        if ((controls >> k & 1) && is_also_data(s, k)) use_fields(s, s->flow->sources);
    int first = first_undefined(s, s->flow->sources & (uint8_t)~controls);
    if (first < 0) {
        define_results(s);
        return;
    }
    uint32_t load = *load_of(s->w->frame, slot_of(s->i, first));
    move_bits(s);
    *load_of(s->w->frame, s->i->d) = load;
}

/* and, or, xor and their kin, bit by bit. */
static void joins(const step *s)
{
    frame *f = s->w->frame;
    int first = first_undefined(s, s->flow->sources);
    if (s->flow->width[0] == OPERAND_PREDICATE || s->i->d == NO_SLOT) return;
    if (first < 0) {
        define_results(s);
        return;
    }
    uint8_t width = s->flow->width[0];
    uint32_t load = *load_of(f, slot_of(s->i, first));
    FOR_LANES(s->lanes)
    {
        uint64_t joined = 0, decides = 0;
        for (int k = 2; k < FLOW_FIELDS; k++) {
            if (!(s->flow->sources >> k & 1)) continue;
            uint64_t undefined = bits_of(f->shadow, slot_of(s->i, k), s->flow->width[k], l);
            uint64_t value = bits_of(f->regs, slot_of(s->i, k), s->flow->width[k], l);
            joined |= undefined;
            /* A defined 0 of an `and` or 1 of an `or` gives a defined bit. */
            if (s->flow->kind == FLOW_AND) decides |= ~undefined & ~value;
            if (s->flow->kind == FLOW_OR) decides |= ~undefined & value;
        }
        set_bits(f->shadow, s->i->d, width, l, joined & ~decides);
    }
    *load_of(f, s->i->d) = load;
}

/* The values that lanes pass on.  Where not all live lanes come together nothing is known of what
 * they get, and it counts as defined. */
static void shuffles(const step *s)
{
    warp *w = s->w;
    use_fields(s, s->flow->sources & (uint8_t) ~(1 << 2)); /* all but the value */
    bool together = s->lanes == w->live && s->i->d != NO_SLOT;
    uint32_t load = together ? *load_of(w->frame, s->i->a) : NO_LOAD;
    if (!together || first_undefined(s, s->flow->sources) < 0) {
        define_results(s);
        return;
    }
    move_bits(s);
    if (s->i->e != NO_SLOT) memset(w->frame->shadow + s->i->e, 0, sizeof(uint32_t));
    *load_of(w->frame, s->i->d) = load;
}

static void chain(const step *s)
{
    for (const chain_step *c = (const chain_step *)(intptr_t)s->i->imm; c->kind != CHAIN_END; c++) {
        use(s->w, s->i, c->a, OPERAND_32, s->lanes);
        use(s->w, s->i, c->b, OPERAND_32, s->lanes);
        use(s->w, s->i, c->c, OPERAND_32, s->lanes);
        define(s->w->frame, c->d, OPERAND_32, s->lanes);
    }
}

/* ------------------------------------------------------------------ memory */

static uint64_t address_in(const step *s, uint32_t l, bool stores)
{
    const insn *i = s->i;
    const uint8_t *regs = s->w->regs;
    if (i->space & SPACE_INDEXED) {
        uint64_t base = bits_of(regs, stores ? i->d : i->f, OPERAND_64, 0);
        uint32_t index = (uint32_t)bits_of(regs, i->a, OPERAND_32, l);
        uint64_t wide = i->space & SPACE_SIGNED ? (uint64_t)(int64_t)(int32_t)index : index;
        return base + (uint64_t)i->imm + wide * i->target;
    }
    if (i->space & SPACE_ADDRESS32)
        return (uint32_t)((uint32_t)bits_of(regs, i->a, OPERAND_32, l) + (uint32_t)i->imm);
    return bits_of(regs, i->a, OPERAND_64, l) + (uint64_t)i->imm;
}

/* The space a lane's access goes to; the address becomes that within it. */
static memory_space space_in(const insn *i, uint64_t *address)
{
    memory_space space = i->space & SPACE_MASK;
    if (space != MEMORY_GENERIC) return space;
    for (memory_space k = MEMORY_SHARED; k <= MEMORY_PARAM; k++) {
        uint64_t offset;
        if (!ptx_lanes_in_space(address, 1, k, &offset)) continue;
        *address = offset;
        return k;
    }
    return MEMORY_GLOBAL;
}

uint32_t ptx_undefined_bytes(const warp *w, memory_space space, int lane, uint64_t address,
                             uint32_t size)
{
    const block *b = w->block;
    const block_check *c = b->checker;
    uint32_t found = 0;
    if (space == MEMORY_GLOBAL) {
        const marks *m = ptx_memory_marks(b->launch->memory);
        uint64_t first;
        if (!marks_clip(m, address, size, &first)) return 0;
        for (uint32_t k = 0; k < size; k++)
            if (!marks_bit(m, first + k)) found |= 1u << k;
    } else if (space == MEMORY_SHARED) {
        if (address >= b->shared_size || size > b->shared_size - address) return 0;
        for (uint32_t k = 0; k < size; k++) {
            uint64_t at = address + k;
            if (c->writer[at >> c->shift] < c->begin << TAG_SHIFT) found |= 1u << k;
            if (c->has_undefined && c->undefined[at >> 3] >> (at & 7) & 1) found |= 1u << k;
        }
    } else if (space == MEMORY_LOCAL && w->local_marks) {
        if (address >= w->local_top || size > w->local_top - address) return 0;
        for (uint32_t k = 0; k < size; k++) {
            uint64_t at = address + k;
            uint8_t pair = w->local_marks[(at >> 2) * (WARP_LANES / 2) + (uint64_t)lane / 2];
            if (!(pair >> (4 * (lane & 1) + (int)(at & 3)) & 1)) found |= 1u << k;
        }
    }
    return found;
}

void ptx_local_written(const warp *w, int lane, uint64_t offset, uint32_t size, bool written)
{
    if (!w->local_marks || offset >= w->local_size || size > w->local_size - offset) return;
    for (uint32_t k = 0; k < size; k++) {
        uint64_t at = offset + k;
        uint8_t *pair = &w->local_marks[(at >> 2) * (WARP_LANES / 2) + (uint64_t)lane / 2];
        uint8_t bit = (uint8_t)(1u << (4 * (lane & 1) + (int)(at & 3)));
        *pair = written ? *pair | bit : *pair & (uint8_t)~bit;
    }
}

void ptx_local_forget(const warp *w, uint32_t from, uint32_t to)
{
    if (w->local_marks && to > from)
        memset(w->local_marks + (size_t)from / 4 * (WARP_LANES / 2), 0,
               (size_t)(to - from) / 4 * (WARP_LANES / 2));
}

/* The number of a load in its warp's list, with the addresses it has now. */
static uint32_t note_load(const step *s, memory_space space, uint32_t lanes,
                          const uint64_t *addresses)
{
    struct watch *all = s->w->watch;
    size_t k = 0;
    while (k < all->count && (all->loads[k]->insn != s->i || all->loads[k]->space != space)) k++;
    if (k == all->count) {
        source_load *load = gpul__calloc(1, sizeof *load);
        if (!load || !gpul__grow(&all->loads, &all->room, all->count, sizeof *all->loads)) {
            gpul__free(load);
            fail(s->w);
            return NO_LOAD;
        }
        *load =
            (source_load){ s->i, s->w->frame->code, space, check_size(s->i, CHECK_READS), { 0 } };
        all->loads[all->count++] = load;
    }
    FOR_LANES(lanes) all->loads[k]->addresses[l] = addresses[l];
    return (uint32_t)k + 1;
}

static uint64_t spread(uint32_t bytes, element e, uint32_t first)
{
    uint64_t bits = 0;
    uint32_t size = element_bytes(e);
    for (uint32_t k = 0; k < size; k++)
        if (bytes >> (first + k) & 1) bits |= (uint64_t)0xff << 8 * k;
    /* The sign is undefined as its bit is. */
    if (e == ELEMENT_S8) bits = (uint64_t)(int64_t)(int8_t)bits;
    if (e == ELEMENT_S16) bits = (uint64_t)(int64_t)(int16_t)bits;
    return bits;
}

static void loads(const step *s)
{
    warp *w = s->w;
    const insn *i = s->i;
    const uint32_t slots[4] = { i->d, i->e, i->b, i->c };
    uint32_t count = MEMORY_COUNT(i->size), size = check_size(i, CHECK_READS), found[MEMORY_SPACES];
    element e = MEMORY_ELEMENT(i->size);
    uint8_t width = e == ELEMENT_64 ? OPERAND_64 : OPERAND_32;
    uint32_t bytes[WARP_LANES] = { 0 };
    uint64_t addresses[WARP_LANES] = { 0 };
    memset(found, 0, sizeof found);
    if (w->frame->shadow) use(w, i, i->a, s->flow->width[2], s->lanes);
    FOR_LANES(s->lanes)
    {
        addresses[l] = address_in(s, l, false);
        memory_space space = space_in(i, &addresses[l]);
        bytes[l] = ptx_undefined_bytes(w, space, (int)l, addresses[l], size);
        if (bytes[l]) found[space] |= 1u << l;
    }
    uint32_t number = NO_LOAD;
    for (memory_space k = 0; k < MEMORY_SPACES; k++)
        if (found[k]) number = note_load(s, k, found[k], addresses);
    if (!w->frame->shadow && (number == NO_LOAD || !make_shadow(w))) return;
    for (uint32_t n = 0; n < count; n++) {
        if (slots[n] == NO_SLOT) continue;
        FOR_LANES(s->lanes)
        set_bits(w->frame->shadow, slots[n], width, l, spread(bytes[l], e, n * element_bytes(e)));
        if (number != NO_LOAD) *load_of(w->frame, slots[n]) = number;
    }
}

void ptx_check_store_undefined(block *b, uint64_t offset, uint32_t size, uint32_t bytes)
{
    block_check *c = b->checker;
    if (!bytes && !c->has_undefined) return;
    if (offset >= b->shared_size || size > b->shared_size - offset) return;
    if (!c->undefined && !(c->undefined = gpul__calloc(1, b->shared_size / 8 + 1))) {
        ptx_fault_launch(b->launch, PTX_FAULT_OUT_OF_MEMORY);
        return;
    }
    for (uint32_t k = 0; k < size; k++) {
        uint8_t bit = (uint8_t)(1u << ((offset + k) & 7));
        uint8_t *at = &c->undefined[(offset + k) >> 3];
        *at = bytes >> k & 1 ? *at | bit : *at & (uint8_t)~bit;
    }
    c->has_undefined |= bytes != 0;
}

/* The check in front of the store has noted all its bytes as written. */
static void stores(const step *s)
{
    warp *w = s->w;
    const insn *i = s->i;
    const uint32_t slots[4] = { i->b, i->c, i->f, i->e };
    uint32_t count = MEMORY_COUNT(i->size), part = element_bytes(MEMORY_ELEMENT(i->size));
    uint8_t width = part == 8 ? OPERAND_64 : OPERAND_32;
    use(w, i, i->a, s->flow->width[2], s->lanes);
    const marks *m = ptx_memory_marks(w->block->launch->memory);
    FOR_LANES(s->lanes)
    {
        uint32_t bytes = 0;
        for (uint32_t n = 0; n < count; n++) {
            uint64_t bits = bits_of(w->frame->shadow, slots[n], width, l);
            for (uint32_t k = 0; k < part; k++)
                if (bits >> 8 * k & 0xff) bytes |= 1u << (n * part + k);
        }
        if (!bytes) continue;
        uint64_t address = address_in(s, l, true);
        memory_space space = space_in(i, &address);
        if (space == MEMORY_SHARED)
            ptx_check_store_undefined(w->block, address, count * part, bytes);
        for (uint32_t k = 0; k < count * part; k++) {
            if (!(bytes >> k & 1)) continue;
            if (space == MEMORY_GLOBAL) marks_set(m, address + k, 1, false);
            if (space == MEMORY_LOCAL) ptx_local_written(w, (int)l, address + k, 1, false);
        }
    }
}

/* ------------------------------------------------------------------ calls */

/* Undefined bytes of what one lane passes, as bits of a value of up to 8 bytes. */
static uint64_t passed_bits(const warp *w, const flow_place *from, uint32_t size, uint32_t l)
{
    if (from->width != OPERAND_NONE)
        return from->frame->shadow ? bits_of(from->frame->shadow, from->where, from->width, l) : 0;
    uint64_t at = from->frame->local_base + (uint64_t)from->where;
    uint32_t bytes = ptx_undefined_bytes(w, MEMORY_LOCAL, (int)l, at, size < 8 ? size : 8);
    uint64_t bits = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (bytes >> k & 1) bits |= (uint64_t)0xff << 8 * k;
    return bits;
}

/* What a register gets out of undefined memory counts as defined: no load can be named. */
void ptx_watch_copy(warp *w, flow_place to, flow_place from, uint32_t size, uint32_t lanes)
{
    uint32_t target = to.frame->local_base + to.where, source = from.frame->local_base + from.where;
    if (to.width == OPERAND_NONE && from.width == OPERAND_NONE) {
        FOR_LANES(lanes)
        for (uint32_t k = 0; k < size; k++)
            ptx_local_written(w, (int)l, target + k, 1,
                              !ptx_undefined_bytes(w, MEMORY_LOCAL, (int)l, source + k, 1));
        return;
    }
    bool in_slots = to.width != OPERAND_NONE && from.width != OPERAND_NONE;
    bool carries = in_slots && from.frame->shadow && from.width == to.width &&
                   undefined_lanes(from.frame, from.where, from.width, lanes);
    if (carries) {
        frame *running = w->frame;
        w->frame = to.frame;
        carries = make_shadow(w) != NULL;
        w->frame = running;
    }
    if (carries) *load_of(to.frame, to.where) = *load_of(from.frame, from.where);
    FOR_LANES(lanes)
    {
        uint64_t bits = passed_bits(w, &from, size, l);
        if (to.width != OPERAND_NONE) {
            if (to.frame->shadow)
                set_bits(to.frame->shadow, to.where, to.width, l, carries ? bits : 0);
            continue;
        }
        for (uint32_t k = 0; k < size; k++)
            ptx_local_written(w, (int)l, target + k, 1, k >= 8 || !(bits >> 8 * k & 0xff));
    }
}

void ptx_watch_frame(warp *w, frame *f)
{
    if (f->shadow) memset(f->shadow, 0, shadow_size(f->code));
    ptx_local_forget(w, f->local_base, f->local_base + f->code->local_size);
}

bool ptx_local_make_marks(warp *w, uint32_t size)
{
    if (!(w->block->launch->engine->options.checks & PTX_CHECK_INIT)) return true;
    size_t bytes = (size_t)size / 4 * (WARP_LANES / 2), before = 0;
    uint8_t *grown = gpul__calloc(bytes, 1);
    if (!grown) return false;
    if (w->local_marks) before = (size_t)w->local_size / 4 * (WARP_LANES / 2);
    if (before) memcpy(grown, w->local_marks, before);
    gpul__free(w->local_marks);
    w->local_marks = grown;
    return true;
}

/* ------------------------------------------------------------------ a step */

void ptx_watch_step(warp *w, const insn *i, uint32_t lanes)
{
    const code *c = w->frame->code;
    if (!lanes || !c->flows) return;
    step s = { w, i, &c->flows[i - c->insns], lanes };
    if (s.flow->kind == FLOW_LOADS) {
        loads(&s);
        return;
    }
    if (!w->frame->shadow) return;
    switch ((flow_kind)s.flow->kind) {
    case FLOW_USES:
        use_fields(&s, s.flow->sources);
        define_results(&s);
        break;
    case FLOW_MOVES: moves(&s); break;
    case FLOW_AND:
    case FLOW_OR:
    case FLOW_JOINS: joins(&s); break;
    case FLOW_STORES: stores(&s); break;
    case FLOW_CHAINS: chain(&s); break;
    case FLOW_SHUFFLES: shuffles(&s); break;
    default: break;
    }
}
