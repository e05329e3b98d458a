/* Address fusing: base + index * scale, which compilers write as mul.wide and add in front of a
 * load or store, becomes part of the access.  That saves two instructions with 64-bit results, and
 * the index, with half the bytes, tells the pattern of the access as well.
 *
 * Only where the base is a read-only slot (a parameter or the address of a variable), everything is
 * in one basic block, the index has not changed in between, and nobody else wants the sum.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

#define NONE UINT32_MAX

typedef struct fusing {
    lowering *l;
    const op_entry *add, *multiply_signed, *multiply_unsigned;
    uint32_t *last_write; /* of each value: the draft in the running block, or NONE */
    uint32_t *product;    /* of each draft that adds a base: the draft that multiplies, or NONE */
    uint32_t *access_sum; /* of each access: the draft that adds, or NONE */
    uint32_t *fused;      /* of each draft that adds: how many accesses can take it in */
} fusing;

static void count_reads(lowering *l)
{
    for (size_t k = 0; k < l->draft_count; k++) {
        draft *d = &l->drafts[k];
        for (int f = 0; f < FIELDS; f++) {
            value v = *draft_field(d, f);
            if (d->uses >> f & 1 && !is_const(v)) l->values[v].reads++;
        }
        if (d->i.guard != NO_SLOT && !is_const(d->i.guard)) l->values[d->i.guard].reads++;
        for (uint32_t u = 0; u < d->list_uses; u++) {
            value v = l->lists[d->list + d->list_defs + u];
            if (!is_const(v)) l->values[v].reads++;
        }
    }
}

static bool is_row(const draft *d, const op_entry *row)
{
    return row && d->i.run[1] == row->full && d->i.run[0] == row->masked;
}

static bool has_one_value(const lowering *l, value v)
{
    return is_const(v) && l->consts[v & ~CONST_VALUE].kind != CONST_SPECIAL;
}

static bool is_product(const fusing *f, const draft *d)
{
    uint64_t scale;
    return (is_row(d, f->multiply_signed) || is_row(d, f->multiply_unsigned)) &&
           d->i.guard == NO_SLOT && lower_known_number(f->l, d->i.b, &scale) && scale > 0 &&
           scale < (1u << 31);
}

/* The draft of this block that wrote a value last, or NONE. */
static uint32_t writer(const fusing *f, value v)
{
    return v == NO_SLOT || is_const(v) ? NONE : f->last_write[v];
}

static void look_at_sum(fusing *f, uint32_t k)
{
    const draft *d = &f->l->drafts[k];
    if (!is_row(d, f->add) || d->i.guard != NO_SLOT) return;
    value other = has_one_value(f->l, d->i.a)   ? d->i.b
                  : has_one_value(f->l, d->i.b) ? d->i.a
                                                : NO_SLOT;
    uint32_t m = writer(f, other);
    if (m == NONE || !is_product(f, &f->l->drafts[m])) return;
    /* The index must still be what was multiplied. */
    value index = f->l->drafts[m].i.a;
    uint32_t changed = writer(f, index);
    if (changed == NONE || changed < m) f->product[k] = m;
}

static void look_at_access(fusing *f, uint32_t k)
{
    draft *d = &f->l->drafts[k];
    if (!d->is_access || (d->i.space & SPACE_MASK) != MEMORY_GLOBAL) return;
    uint32_t sum = writer(f, d->i.a);
    if (sum == NONE || f->product[sum] == NONE) return;
    uint32_t changed = writer(f, f->l->drafts[f->product[sum]].i.a);
    if (changed != NONE && changed > f->product[sum]) return;
    f->access_sum[k] = sum;
    f->fused[sum]++;
}

static void note_write(fusing *f, value v, uint32_t k)
{
    if (v != NO_SLOT && !is_const(v)) f->last_write[v] = k;
}

static void look_at_block(fusing *f, const basic_block *b)
{
    lowering *l = f->l;
    for (uint32_t k = b->first; k < b->end; k++) {
        draft *d = &l->drafts[k];
        look_at_sum(f, k);
        look_at_access(f, k);
        for (int n = 0; n < FIELDS; n++)
            if (d->defs >> n & 1) note_write(f, *draft_field(d, n), k);
        for (uint32_t n = 0; n < d->list_defs; n++) note_write(f, l->lists[d->list + n], k);
    }
    for (uint32_t k = b->first; k < b->end; k++) {
        draft *d = &l->drafts[k];
        for (int n = 0; n < FIELDS; n++)
            if (d->defs >> n & 1) note_write(f, *draft_field(d, n), NONE);
        for (uint32_t n = 0; n < d->list_defs; n++) note_write(f, l->lists[d->list + n], NONE);
    }
}

static void drop_read(lowering *l, value v, uint32_t writer_draft)
{
    if (v == NO_SLOT || is_const(v)) return;
    if (--l->values[v].reads == 0 && writer_draft != NONE) l->drafts[writer_draft].removed = true;
}

static void fuse_access(fusing *f, uint32_t k)
{
    lowering *l = f->l;
    draft *d = &l->drafts[k];
    uint32_t sum = f->access_sum[k];
    const draft *s = &l->drafts[sum], *m = &l->drafts[f->product[sum]];
    uint64_t scale = 0;
    lower_known_number(l, m->i.b, &scale);
    access_form form = { .space = MEMORY_GLOBAL, .indexed = true, .shape = d->i.size };
    handler_pair pair = d->stores ? l->program->isa->store(&form) : l->program->isa->load(&form);
    if (!d->checks) {
        d->i.run[0] = pair.masked;
        d->i.run[1] = pair.full;
    }
    d->i.space |= SPACE_INDEXED;
    d->i.target = (uint32_t)scale;
    if (is_row(m, f->multiply_signed)) d->i.space |= SPACE_SIGNED;
    value index = m->i.a, base = has_one_value(l, s->i.a) ? s->i.a : s->i.b;
    drop_read(l, d->i.a, sum);
    if (s->removed) drop_read(l, m->i.d, f->product[sum]);
    lower_set(d, FIELD_A, index, false);
    lower_set(d, d->stores ? FIELD_D : FIELD_F, base, false);
    if (!is_const(index)) l->values[index].reads++;
}

/* Reads of a removed product's index are no longer counted; that only makes counts too high. */
bool lower_fuse(lowering *l)
{
    count_reads(l);
    fusing f = { .l = l };
    const isa_variant *isa = l->program->isa;
    f.add = ptx_op_named(isa, "add.s64", &l->failed);
    f.multiply_signed = ptx_op_named(isa, "mul.wide.s32", &l->failed);
    f.multiply_unsigned = ptx_op_named(isa, "mul.wide.u32", &l->failed);
    size_t bytes = (l->draft_count + 1) * sizeof(uint32_t);
    f.last_write = gpul__malloc((l->value_count + 1) * sizeof(uint32_t));
    f.product = gpul__malloc(bytes);
    f.access_sum = gpul__malloc(bytes);
    f.fused = gpul__calloc(l->draft_count + 1, sizeof(uint32_t));
    bool ok = f.last_write && f.product && f.access_sum && f.fused && !l->failed;
    if (ok) {
        for (size_t v = 0; v < l->value_count; v++) f.last_write[v] = NONE;
        for (size_t k = 0; k < l->draft_count; k++) f.product[k] = f.access_sum[k] = NONE;
        for (size_t b = 0; b < l->block_count; b++) look_at_block(&f, &l->blocks[b]);
        for (uint32_t k = 0; k < l->draft_count; k++) {
            uint32_t sum = f.access_sum[k];
            /* Only when the sum is not needed for anything else, here or in another block. */
            if (sum == NONE) continue;
            value v = l->drafts[sum].i.d;
            if (f.fused[sum] == l->values[v].reads) fuse_access(&f, k), f.fused[sum]--;
        }
    }
    gpul__free(f.last_write);
    gpul__free(f.product);
    gpul__free(f.access_sum);
    gpul__free(f.fused);
    return ok;
}
