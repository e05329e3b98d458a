/* Gives each value a slot: the first that is free wherever the value is live.  Values of a move
 * prefer one slot, which makes the move unnecessary.
 *
 * Values of 32 and of 64 bits never share storage.  Lanes run apart: while some wait with a value,
 * others may be where it is dead and its slot has another use, and they must not touch the bytes of
 * those that wait.  Of one width each lane has its own bytes; across widths it has not.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "ptx/exec/lower.h"

enum { WORD_SLOT = 4 * WARP_LANES, DOUBLE_SLOT = 8 * WARP_LANES };

/* Storage for values of one width: units, and the points at which each is taken. */
typedef struct lane_store {
    uint64_t **units; /* bitmaps */
    size_t count, room;
    size_t words; /* of each */
} lane_store;

typedef struct stores {
    lane_store predicates, words, doubles;
} stores;

static lane_store *store_for(stores *s, operand_kind width)
{
    return width == OPERAND_PREDICATE ? &s->predicates
           : width == OPERAND_32      ? &s->words
                                      : &s->doubles;
}

/* ------------------------------------------------------------------ bitmaps */

static uint64_t word_mask(uint32_t from, uint32_t to)
{
    uint64_t low = ~(uint64_t)0 << from;
    return to == 64 ? low : low & (((uint64_t)1 << to) - 1);
}

static bool is_free(const uint64_t *taken, live_range r)
{
    for (uint32_t w = r.start / 64; w <= (r.end - 1) / 64; w++) {
        uint32_t from = w == r.start / 64 ? r.start % 64 : 0;
        uint32_t to = w == (r.end - 1) / 64 ? (r.end - 1) % 64 + 1 : 64;
        if (taken[w] & word_mask(from, to)) return false;
    }
    return true;
}

static void mark(uint64_t *taken, live_range r)
{
    for (uint32_t w = r.start / 64; w <= (r.end - 1) / 64; w++) {
        uint32_t from = w == r.start / 64 ? r.start % 64 : 0;
        uint32_t to = w == (r.end - 1) / 64 ? (r.end - 1) % 64 + 1 : 64;
        taken[w] |= word_mask(from, to);
    }
}

static bool ensure_units(lane_store *s, size_t count)
{
    while (s->count < count) {
        if (!gpul__grow(&s->units, &s->room, s->count, sizeof *s->units)) return false;
        s->units[s->count] = gpul__calloc(s->words, sizeof(uint64_t));
        if (!s->units[s->count]) return false;
        s->count++;
    }
    return true;
}

static void free_store(lane_store *s)
{
    for (size_t k = 0; k < s->count; k++) gpul__free(s->units[k]);
    gpul__free(s->units);
}

/* ------------------------------------------------------------------ placing one value */

static bool fits(const lane_store *s, size_t first, size_t width, const live_range *ranges,
                 uint32_t count)
{
    for (size_t u = first; u < first + width; u++) {
        if (u >= s->count) return true;
        for (uint32_t k = 0; k < count; k++)
            if (!is_free(s->units[u], ranges[k])) return false;
    }
    return true;
}

/* Index of the first unit for a value that needs `width` of them; SIZE_MAX: no memory. */
static size_t place_value(lane_store *s, size_t width, size_t preferred, const live_range *ranges,
                          uint32_t count)
{
    size_t first = 0;
    if (preferred != SIZE_MAX && fits(s, preferred, width, ranges, count)) first = preferred;
    else
        while (!fits(s, first, width, ranges, count)) first++;
    if (!ensure_units(s, first + width)) return SIZE_MAX;
    for (size_t u = first; u < first + width; u++)
        for (uint32_t k = 0; k < count; k++) mark(s->units[u], ranges[k]);
    return first;
}

/* ------------------------------------------------------------------ all of them */

static void drop_unread_results(lowering *l)
{
    for (size_t k = 0; k < l->draft_count; k++) {
        draft *d = &l->drafts[k];
        if (!d->drops_result || d->i.d == NO_SLOT || l->values[d->i.d].reads) continue;
        d->i.d = NO_SLOT;
        d->defs &= (uint8_t) ~(1 << FIELD_D);
        d->i.flags &= (uint8_t)~INSN_POLLS;
    }
}

static void find_friends(lowering *l)
{
    for (size_t k = 0; k < l->draft_count; k++) {
        const draft *d = &l->drafts[k];
        if (!d->is_move || lower_width(l, d->i.d) != lower_width(l, d->i.a)) continue;
        if (l->values[d->i.d].friend == NO_SLOT) l->values[d->i.d].friend = d->i.a;
        if (l->values[d->i.a].friend == NO_SLOT) l->values[d->i.a].friend = d->i.d;
    }
}

typedef struct order_entry {
    uint32_t start;
    value v;
} order_entry;

static int by_start(const void *a, const void *b)
{
    const order_entry *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

static bool place_all(lowering *l, const live_ranges *live, stores *s)
{
    order_entry *order = gpul__calloc(l->value_count + 1, sizeof *order);
    if (!order) return false;
    size_t count = 0;
    for (value v = 0; v < l->value_count; v++)
        if (live->count[v]) order[count++] = (order_entry){ live->ranges[live->first[v]].start, v };
    qsort(order, count, sizeof *order, by_start);
    bool ok = true;
    for (size_t k = 0; ok && k < count; k++) {
        value v = order[k].v;
        value_info *info = &l->values[v];
        size_t width = info->width == OPERAND_128 ? 2 : 1, preferred = SIZE_MAX;
        if (info->friend != NO_SLOT && l->values[info->friend].slot != NO_SLOT)
            preferred = l->values[info->friend].slot;
        size_t first = place_value(store_for(s, info->width), width, preferred,
                                   live->ranges + live->first[v], live->count[v]);
        ok = first != SIZE_MAX;
        info->slot = (uint32_t)first;
    }
    gpul__free(order);
    return ok;
}

static void mark_const(lowering *l, value v)
{
    if (is_const(v)) l->consts[v & ~CONST_VALUE].slot = 0;
}

/* Only constants that some draft reads get a slot. */
static void find_used_constants(lowering *l)
{
    for (size_t k = 0; k < l->const_count; k++) l->consts[k].slot = NO_SLOT;
    for (size_t k = 0; k < l->draft_count; k++) {
        draft *d = &l->drafts[k];
        if (d->removed) continue;
        for (int f = 0; f < FIELDS; f++)
            if (d->uses >> f & 1) mark_const(l, *draft_field(d, f));
        mark_const(l, d->i.guard);
        for (uint32_t u = 0; u < d->list_uses; u++)
            mark_const(l, l->lists[d->list + d->list_defs + u]);
    }
}

static uint32_t align_slot(uint32_t offset)
{
    return (offset + 63) & ~63u;
}

/* Predicates first, then constants, then the rest: byte offsets instead of units. */
static void set_offsets(lowering *l, const stores *s)
{
    uint32_t offset = 4 * (uint32_t)s->predicates.count;
    for (size_t k = 0; k < l->const_count; k++)
        if (l->consts[k].slot != NO_SLOT && l->consts[k].width == OPERAND_PREDICATE) {
            l->consts[k].slot = offset;
            offset += 4;
        }
    offset = align_slot(offset);
    for (size_t k = 0; k < l->const_count; k++)
        if (l->consts[k].slot != NO_SLOT && l->consts[k].width != OPERAND_PREDICATE) {
            l->consts[k].slot = offset;
            offset += l->consts[k].width == OPERAND_64 ? DOUBLE_SLOT : WORD_SLOT;
        }
    uint32_t doubles = offset + (uint32_t)s->words.count * WORD_SLOT;
    for (value v = 0; v < l->value_count; v++) {
        value_info *info = &l->values[v];
        if (info->slot == NO_SLOT) continue;
        if (info->width == OPERAND_PREDICATE) info->slot *= 4;
        else if (info->width == OPERAND_32) info->slot = offset + info->slot * WORD_SLOT;
        else info->slot = doubles + info->slot * DOUBLE_SLOT;
    }
    l->slots_size = align_slot(doubles + (uint32_t)s->doubles.count * DOUBLE_SLOT);
    l->code->peak_registers = (uint32_t)(s->words.count + 2 * s->doubles.count);
}

bool lower_slots(lowering *l)
{
    drop_unread_results(l);
    find_friends(l);
    live_ranges live;
    bool ok = lower_liveness(l, &live);
    size_t words = l->draft_count * 2 / 64 + 1;
    stores s = { { .words = words }, { .words = words }, { .words = words } };
    if (ok) ok = place_all(l, &live, &s);
    if (ok) {
        find_used_constants(l);
        set_offsets(l, &s);
    }
    free_store(&s.predicates);
    free_store(&s.words);
    free_store(&s.doubles);
    lower_liveness_free(&live);
    return ok;
}
