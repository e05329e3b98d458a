/* Chaining: consecutive operations on floats of one basic block become one instruction with a list of
 * steps, see ops_chain.c.  Done when slots are known: a result that the next operation alone reads,
 * because another one overwrites its slot, is never stored.  SPDX-License-Identifier: MIT */
#include "ptx/exec/chain.h"

#include <string.h>

#include "ptx/exec/lower.h"

enum { LOOK_AHEAD = 64 }; /* drafts searched for a reader of a result */

/* The kinds of an operation by where the result before it is read. */
typedef struct chain_shape {
    const char *plain, *flushing; /* rows; NULL: none */
    uint8_t sources;
    uint8_t none, first, second,
        both;      /* second: the last source; CHAIN_END: there is no such step */
    bool commutes; /* the first two sources */
} chain_shape;

static const chain_shape shapes[] = {
    { "add.f32", "add.ftz.f32", 2, CHAIN_ADD_AB, CHAIN_ADD_XB, CHAIN_END, CHAIN_END, true },
    { "sub.f32", "sub.ftz.f32", 2, CHAIN_SUB_AB, CHAIN_SUB_XB, CHAIN_SUB_AX, CHAIN_END, false },
    { "mul.f32", "mul.ftz.f32", 2, CHAIN_MUL_AB, CHAIN_MUL_XB, CHAIN_END, CHAIN_MUL_XX, true },
    { "fma.rn.f32", "fma.rn.ftz.f32", 3, CHAIN_FMA_ABC, CHAIN_FMA_XBC, CHAIN_FMA_ABX, CHAIN_FMA_XXC,
      true },
    { "div.rn.f32", "div.rn.ftz.f32", 2, CHAIN_DIV_AB, CHAIN_DIV_XB, CHAIN_DIV_AX, CHAIN_END,
      false },
    { "div.full.f32", "div.full.ftz.f32", 2, CHAIN_DIV_AB, CHAIN_DIV_XB, CHAIN_DIV_AX, CHAIN_END,
      false },
    { "rcp.rn.f32", "rcp.rn.ftz.f32", 1, CHAIN_RCP_A, CHAIN_RCP_X, CHAIN_END, CHAIN_END, false },
    { "rcp.approx.f32", "rcp.approx.ftz.f32", 1, CHAIN_RCP_A, CHAIN_RCP_X, CHAIN_END, CHAIN_END,
      false },
    { "sqrt.rn.f32", "sqrt.rn.ftz.f32", 1, CHAIN_SQRT_A, CHAIN_SQRT_X, CHAIN_END, CHAIN_END,
      false },
    { "sqrt.approx.f32", "sqrt.approx.ftz.f32", 1, CHAIN_SQRT_A, CHAIN_SQRT_X, CHAIN_END, CHAIN_END,
      false },
    { "rsqrt.approx.f32", "rsqrt.approx.ftz.f32", 1, CHAIN_RSQRT_A, CHAIN_RSQRT_X, CHAIN_END,
      CHAIN_END, false },
    { "neg.f32", NULL, 1, CHAIN_NEG_A, CHAIN_NEG_X, CHAIN_END, CHAIN_END, false },
    { "abs.f32", NULL, 1, CHAIN_ABS_A, CHAIN_ABS_X, CHAIN_END, CHAIN_END, false },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct chaining {
    lowering *l;
    const op_entry *rows[2][SHAPES]; /* plain and flushing ones */
    const op_entry *handlers[2];
    uint32_t *drafts; /* of the stretch */
    uint8_t *shape;
    uint32_t count;
    bool flushing;
} chaining;

static uint32_t source(const chaining *c, uint32_t at, int n)
{
    const draft *d = &c->l->drafts[c->drafts[at]];
    return lower_slot(c->l, n == 0 ? d->i.a : n == 1 ? d->i.b : d->i.c);
}

static uint32_t target(const chaining *c, uint32_t at)
{
    return lower_slot(c->l, c->l->drafts[c->drafts[at]].i.d);
}

static uint32_t reads_of(const chaining *c, uint32_t at, uint32_t slot)
{
    uint32_t reads = 0;
    for (int n = 0; n < shapes[c->shape[at]].sources; n++) reads += source(c, at, n) == slot;
    return reads;
}

/* The step of an operation that finds the result of the one before in its registers, as far as there is
 * a kind for that.  Returns how many reads of that result are done so. */
static uint32_t make_step(const chaining *c, uint32_t at, chain_step *out)
{
    const chain_shape *shape = &shapes[c->shape[at]];
    uint32_t s[3] = { NO_SLOT, NO_SLOT, NO_SLOT }, last = shape->sources - 1u;
    for (uint32_t n = 0; n <= last; n++) s[n] = source(c, at, (int)n);
    *out = (chain_step){ shape->none, s[0], s[1], s[2], target(c, at) };
    if (!at) return 0;
    uint32_t before = target(c, at - 1);
    if (shape->both != CHAIN_END && s[0] == before && s[1] == before) {
        out->kind = shape->both;
        return 2;
    }
    if (shape->commutes && s[0] != before && s[1] == before) {
        out->a = s[1];
        out->b = s[0];
    }
    if (out->a == before) {
        out->kind = shape->first;
        return 1;
    }
    if (shape->second == CHAIN_END || s[last] != before) return 0;
    out->kind = shape->second;
    return 1;
}

static bool find_shape(const chaining *c, const draft *d, bool flushing, uint8_t *out)
{
    if (!c->handlers[flushing] || d->i.control != CONTROL_NONE || d->i.guard != NO_SLOT)
        return false;
    for (uint8_t k = 0; k < SHAPES; k++) {
        const op_entry *row = c->rows[flushing][k];
        if (!row || d->i.run[1] != row->full || d->i.run[0] != row->masked) continue;
        *out = k;
        return true;
    }
    return false;
}

typedef enum fate {
    FATE_UNREAD, /* nobody reads the result from its slot */
    FATE_KEPT,   /* only operations that treat all NaNs alike read it */
    FATE_STORED, /* others may read it */
} fate;

static bool draft_reads(const lowering *l, const draft *d, uint32_t slot)
{
    for (int f = 0; f < FIELDS; f++)
        if (d->uses >> f & 1 && lower_slot(l, *draft_field((draft *)d, f)) == slot) return true;
    for (uint32_t u = 0; u < d->list_uses; u++)
        if (lower_slot(l, l->lists[d->list + d->list_defs + u]) == slot) return true;
    return false;
}

static bool draft_overwrites(const lowering *l, const draft *d, uint32_t slot)
{
    if (d->i.guard != NO_SLOT) return false;
    for (int f = 0; f < FIELDS; f++)
        if (d->defs >> f & 1 && lower_slot(l, *draft_field((draft *)d, f)) == slot) return true;
    return false;
}

/* What becomes of a result that the operations of the stretch from `next` on have not overwritten:
 * the rest of its basic block is looked at. */
static fate fate_behind(const chaining *c, uint32_t slot, fate so_far)
{
    const lowering *l = c->l;
    uint32_t k = c->drafts[c->count - 1] + 1;
    for (uint32_t end = k + LOOK_AHEAD; k < l->draft_count && k < end; k++) {
        const draft *d = &l->drafts[k];
        if (d->leader) return FATE_STORED;
        if (lower_is_dropped(l, d)) continue;
        uint8_t shape;
        if (draft_reads(l, d, slot)) {
            if (!find_shape(c, d, false, &shape) && !find_shape(c, d, true, &shape))
                return FATE_STORED;
            so_far = FATE_KEPT;
        }
        if (draft_overwrites(l, d, slot)) return so_far;
    }
    return FATE_STORED;
}

static fate fate_of(const chaining *c, uint32_t at)
{
    uint32_t slot = target(c, at);
    fate result = FATE_UNREAD;
    for (uint32_t next = at + 1; next < c->count; next++) {
        if (next - at > LOOK_AHEAD) return FATE_STORED;
        uint32_t reads = reads_of(c, next, slot);
        chain_step ignored;
        if (next == at + 1) reads -= make_step(c, next, &ignored);
        if (reads) result = FATE_KEPT;
        if (target(c, next) == slot) return result;
    }
    return fate_behind(c, slot, result);
}

static void finish(chaining *c)
{
    lowering *l = c->l;
    if (c->count > 1) {
        chain_step *steps =
            gpul__arena_alloc(&l->program->arena, (c->count + 1) * sizeof(chain_step));
        if (!steps) {
            l->failed = true;
            return;
        }
        for (uint32_t k = 0; k < c->count; k++) {
            make_step(c, k, &steps[k]);
            steps[k].kind += (uint32_t)fate_of(c, k); /* in the order of the kinds */
            if (k) l->drafts[c->drafts[k]].removed = true;
        }
        steps[c->count] = (chain_step){ .kind = CHAIN_END };
        insn *i = &l->drafts[c->drafts[0]].i;
        const op_entry *handlers = c->handlers[c->flushing];
        i->run[0] = handlers->masked;
        i->run[1] = handlers->full;
        i->imm = (int64_t)(intptr_t)steps;
        l->drafts[c->drafts[0]].names = handlers->names;
    }
    c->count = 0;
}

static void look_at(chaining *c, uint32_t k)
{
    draft *d = &c->l->drafts[k];
    if (d->leader) finish(c);
    if (lower_is_dropped(c->l, d)) return;
    uint8_t shape = 0;
    bool flushing = c->flushing;
    bool found = find_shape(c, d, flushing, &shape);
    if (!found) {
        finish(c);
        flushing = !flushing;
        found = find_shape(c, d, flushing, &shape);
    }
    if (!found) return;
    c->flushing = flushing;
    c->drafts[c->count] = k;
    c->shape[c->count++] = shape;
}

bool lower_chain(lowering *l)
{
    chaining c = { .l = l };
    const isa_variant *isa = l->program->isa;
    c.handlers[0] = ptx_op_named(isa, "lower.chain", &l->failed);
    c.handlers[1] = ptx_op_named(isa, "lower.chain.ftz", &l->failed);
    for (uint32_t k = 0; k < SHAPES; k++) {
        c.rows[0][k] = ptx_op_named(isa, shapes[k].plain, &l->failed);
        if (shapes[k].flushing) c.rows[1][k] = ptx_op_named(isa, shapes[k].flushing, &l->failed);
    }
    c.drafts = gpul__malloc((l->draft_count + 1) * sizeof *c.drafts);
    c.shape = gpul__malloc(l->draft_count + 1);
    bool ok = c.drafts && c.shape && !l->failed;
    if (ok && (c.handlers[0] || c.handlers[1])) {
        for (uint32_t k = 0; k < l->draft_count && !l->failed; k++) look_at(&c, k);
        if (!l->failed) finish(&c);
        ok = !l->failed;
    }
    gpul__free(c.drafts);
    gpul__free(c.shape);
    return ok;
}
