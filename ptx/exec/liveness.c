/* Where each value must be kept: live at the edges of blocks by iteration over bit sets, and exact
 * inside them.  Most values live inside one block only and have no bit.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

typedef uint64_t word;
enum { WORD_BITS = 64 };

typedef struct found_range {
    value v;
    live_range range;
} found_range;

typedef struct analysis {
    lowering *l;
    uint32_t *bit_of;   /* of each value: index of its bit + 1, or 0 */
    uint32_t *value_of; /* of each bit */
    uint32_t *end;      /* of each value that is live in a walk backwards; 0: it is not */
    uint32_t bits, words;
    word *live_in, *live_out, *killed; /* of each block */
    found_range *found;
    size_t found_count, found_room;
} analysis;

/* Calls `each` for the values that a draft reads, or writes. */
typedef void visit(analysis *a, value v, uint32_t at);

static void visit_one(analysis *a, value v, uint32_t at, visit *each)
{
    if (v != NO_SLOT && !is_const(v)) each(a, v, at);
}

static void visit_reads(analysis *a, draft *d, uint32_t at, visit *each)
{
    if (d->removed) return;
    for (int f = 0; f < FIELDS; f++)
        if (d->uses >> f & 1) visit_one(a, *draft_field(d, f), at, each);
    visit_one(a, d->i.guard, at, each);
    for (uint32_t k = 0; k < d->list_uses; k++)
        visit_one(a, a->l->lists[d->list + d->list_defs + k], at, each);
}

static void visit_writes(analysis *a, draft *d, uint32_t at, visit *each)
{
    if (d->removed) return;
    for (int f = 0; f < FIELDS; f++)
        if (d->defs >> f & 1) visit_one(a, *draft_field(d, f), at, each);
    for (uint32_t k = 0; k < d->list_defs; k++) visit_one(a, a->l->lists[d->list + k], at, each);
}

/* ------------------------------------------------------------------ which values cross blocks */

/* During the first pass `bit_of` is the block (+1) that wrote the value last. */
static void note_write(analysis *a, value v, uint32_t bb)
{
    a->bit_of[v] = bb + 1;
}

static void note_read(analysis *a, value v, uint32_t bb)
{
    if (a->bit_of[v] != bb + 1) a->value_of[v] = 1;
}

static void find_crossing(analysis *a)
{
    lowering *l = a->l;
    for (size_t b = 0; b < l->block_count; b++)
        for (uint32_t k = l->blocks[b].first; k < l->blocks[b].end; k++) {
            draft *d = &l->drafts[k];
            visit_reads(a, d, (uint32_t)b, note_read);
            /* A guarded write keeps the old value in other lanes. */
            if (d->i.guard != NO_SLOT) visit_writes(a, d, (uint32_t)b, note_read);
            visit_writes(a, d, (uint32_t)b, note_write);
        }
    for (uint32_t v = 0; v < l->value_count; v++) {
        bool crosses = a->value_of[v];
        a->bit_of[v] = crosses ? ++a->bits : 0;
        if (crosses) a->value_of[a->bits - 1] = v;
    }
    a->words = (a->bits + WORD_BITS - 1) / WORD_BITS;
}

/* ------------------------------------------------------------------ live at the edges */

static word *set_of(const analysis *a, word *sets, size_t bb)
{
    return sets + bb * a->words;
}

static bool has(const word *set, uint32_t bit)
{
    return set[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

static void put(word *set, uint32_t bit)
{
    set[bit / WORD_BITS] |= (word)1 << bit % WORD_BITS;
}

/* A read before any write in the block makes the value live at its start. */
static void expose(analysis *a, value v, uint32_t bb)
{
    if (a->bit_of[v] && !has(set_of(a, a->killed, bb), a->bit_of[v] - 1))
        put(set_of(a, a->live_in, bb), a->bit_of[v] - 1);
}

static void kill(analysis *a, value v, uint32_t bb)
{
    if (a->bit_of[v]) put(set_of(a, a->killed, bb), a->bit_of[v] - 1);
}

static void solve(analysis *a)
{
    lowering *l = a->l;
    for (size_t b = 0; b < l->block_count; b++)
        for (uint32_t k = l->blocks[b].first; k < l->blocks[b].end; k++) {
            draft *d = &l->drafts[k];
            visit_reads(a, d, (uint32_t)b, expose);
            if (d->i.guard == NO_SLOT) visit_writes(a, d, (uint32_t)b, kill);
        }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = l->block_count; b-- > 0;) {
            word *in = set_of(a, a->live_in, b), *out = set_of(a, a->live_out, b);
            const word *killed = set_of(a, a->killed, b);
            const basic_block *bb = &l->blocks[b];
            for (uint32_t s = 0; s < bb->successor_count; s++) {
                const word *next = set_of(a, a->live_in, l->edges[bb->successors + s]);
                for (uint32_t w = 0; w < a->words; w++) out[w] |= next[w];
            }
            for (uint32_t w = 0; w < a->words; w++) {
                word wanted = in[w] | (out[w] & ~killed[w]);
                changed |= wanted != in[w];
                in[w] = wanted;
            }
        }
    }
}

/* ------------------------------------------------------------------ ranges */

static void add_range(analysis *a, value v, uint32_t start, uint32_t end)
{
    if (!gpul__grow(&a->found, &a->found_room, a->found_count, sizeof *a->found)) {
        a->l->failed = true;
        return;
    }
    a->found[a->found_count++] = (found_range){ v, { start, end } };
}

/* Backwards through one draft: `end` is, for each live value, the point behind its last read. */
static void close_write(analysis *a, value v, uint32_t k)
{
    const draft *d = &a->l->drafts[k];
    uint32_t written = 2 * k + (d->apart ? 0 : 1);
    if (!a->end[v]) {
        add_range(a, v, written, 2 * k + 2);
    } else if (d->i.guard == NO_SLOT) {
        add_range(a, v, written, a->end[v]);
        a->end[v] = 0;
    }
}

static void open_read(analysis *a, value v, uint32_t k)
{
    if (!a->end[v]) a->end[v] = 2 * k + 1;
}

static void walk_block(analysis *a, size_t b)
{
    lowering *l = a->l;
    const basic_block *bb = &l->blocks[b];
    const word *in = set_of(a, a->live_in, b), *out = set_of(a, a->live_out, b);
    for (uint32_t bit = 0; bit < a->bits; bit++)
        if (has(out, bit)) a->end[a->value_of[bit]] = 2 * bb->end;
    for (uint32_t k = bb->end; k-- > bb->first;) {
        visit_writes(a, &l->drafts[k], k, close_write);
        visit_reads(a, &l->drafts[k], k, open_read);
    }
    for (uint32_t bit = 0; bit < a->bits; bit++)
        if (has(in, bit)) {
            value v = a->value_of[bit];
            add_range(a, v, 2 * bb->first, a->end[v]);
            a->end[v] = 0;
        }
}

/* Sorts what was found by value; ranges that touch become one. */
static bool sort_ranges(analysis *a, live_ranges *out)
{
    size_t values = a->l->value_count;
    out->first = gpul__calloc(values + 2, sizeof *out->first);
    out->count = gpul__calloc(values + 1, sizeof *out->count);
    out->ranges = gpul__calloc(a->found_count + 1, sizeof *out->ranges);
    if (!out->first || !out->count || !out->ranges) return false;
    for (size_t k = 0; k < a->found_count; k++) out->first[a->found[k].v + 1]++;
    for (size_t v = 0; v < values; v++) out->first[v + 1] += out->first[v];
    /* They were found from the end of the code to its start. */
    for (size_t k = a->found_count; k-- > 0;) {
        value v = a->found[k].v;
        live_range found = a->found[k].range;
        live_range *last = out->ranges + out->first[v] + out->count[v];
        if (out->count[v] && last[-1].end >= found.start) {
            if (last[-1].end < found.end) last[-1].end = found.end;
        } else {
            *last = found;
            out->count[v]++;
        }
    }
    return true;
}

void lower_liveness_free(live_ranges *ranges)
{
    gpul__free(ranges->ranges);
    gpul__free(ranges->first);
    gpul__free(ranges->count);
}

bool lower_liveness(lowering *l, live_ranges *out)
{
    analysis a = { .l = l };
    *out = (live_ranges){ 0 };
    a.bit_of = gpul__calloc(l->value_count + 1, sizeof *a.bit_of);
    a.value_of = gpul__calloc(l->value_count + 1, sizeof *a.value_of);
    a.end = gpul__calloc(l->value_count + 1, sizeof *a.end);
    bool ok = a.bit_of && a.value_of && a.end;
    if (ok) {
        find_crossing(&a);
        size_t words = l->block_count * a.words + 1;
        a.live_in = gpul__calloc(words, sizeof(word));
        a.live_out = gpul__calloc(words, sizeof(word));
        a.killed = gpul__calloc(words, sizeof(word));
        ok = a.live_in && a.live_out && a.killed;
    }
    if (ok) {
        solve(&a);
        for (size_t b = l->block_count; b-- > 0;) walk_block(&a, b);
        ok = !l->failed && sort_ranges(&a, out);
    }
    gpul__free(a.bit_of);
    gpul__free(a.value_of);
    gpul__free(a.end);
    gpul__free(a.live_in);
    gpul__free(a.live_out);
    gpul__free(a.killed);
    gpul__free(a.found);
    return ok;
}
