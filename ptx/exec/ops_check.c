/* Handlers of the checkers for whole warps: accesses to shared memory in the usual patterns are
 * looked at with a few vector compares; everything else goes lane by lane (check_access.c).
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/marks.h"
#include "ptx/exec/pattern.h"

#include "ptx/exec/check.h"
#include "ptx/exec/memory_table.h"

/* ------------------------------------------------------------------ tags in a row */

/* Signed compares, which every instruction set has for vectors; tags are below 2^31.  The thread of the
 * granule at k is `first + k / per`. */
#define TRUE_IF(condition) ((condition) ? -1 : 0)

/* Not 0: a closer look is needed. */
INLINE s32 doubtful_reads(const u32 *restrict writer, int lanes, int per, u32 first, s32 epoch,
                          s32 begin)
{
    s32 doubt = 0;
    for (int k = 0; k < lanes * per; k++) {
        s32 old = (s32)writer[k], other = (old ^ (s32)(first + (u32)(k / per))) & TAG_THREAD;
        doubt |= TRUE_IF(old < begin) | (TRUE_IF(old >= epoch) & other);
    }
    return doubt;
}

INLINE void mark_reads(u32 *restrict reader, int lanes, int per, u32 tag, u32 first, s32 epoch)
{
    INDEPENDENT
    for (int k = 0; k < lanes * per; k++) {
        s32 thread = (s32)(first + (u32)(k / per)), old = (s32)reader[k];
        s32 others = ((old ^ thread) & TAG_THREAD) | (old & TAG_MANY);
        s32 many = TRUE_IF(old >= epoch) & TRUE_IF(others != 0) & TAG_MANY;
        reader[k] = tag | (u32)thread | (u32)many;
    }
}

INLINE s32 doubtful_writes(const u32 *restrict writer, const u32 *restrict reader, int lanes,
                           int per, u32 first, s32 epoch)
{
    s32 doubt = 0;
    for (int k = 0; k < lanes * per; k++) {
        s32 thread = (s32)(first + (u32)(k / per)), wrote = (s32)writer[k], read = (s32)reader[k];
        doubt |= TRUE_IF(wrote >= epoch) & ((wrote ^ thread) & TAG_THREAD);
        doubt |= TRUE_IF(read >= epoch) & (((read ^ thread) & TAG_THREAD) | (read & TAG_MANY));
    }
    return doubt;
}

INLINE void mark_writes(u32 *restrict writer, int lanes, int per, u32 tag, u32 first)
{
    INDEPENDENT
    for (int k = 0; k < lanes * per; k++) writer[k] = tag | (first + (u32)(k / per));
}

/* ------------------------------------------------------------------ patterns */

INLINE unsigned size_of(const insn *i)
{
    return element_bytes(MEMORY_ELEMENT(i->size)) * MEMORY_COUNT(i->size);
}

/* Lanes `from` to `from + lanes` in a row of memory; false: something needs a closer look. */
INLINE bool row_reads(const warp *w, const block_check *c, u64 offset, int from, int lanes, int per,
                      u32 tag)
{
    u32 at = (u32)(offset >> c->shift), first = w->index * WARP_LANES + (u32)from;
    s32 epoch = (s32)(c->epoch << TAG_SHIFT);
    s32 begin = c->checks & PTX_CHECK_INIT ? (s32)(c->begin << TAG_SHIFT) : 0;
    if (doubtful_reads(c->writer + at, lanes, per, first, epoch, begin)) return false;
    mark_reads(c->reader + at, lanes, per, tag, first, epoch);
    return true;
}

INLINE bool row_writes(const warp *w, const block_check *c, u64 offset, int from, int lanes,
                       int per, u32 tag)
{
    u32 at = (u32)(offset >> c->shift), first = w->index * WARP_LANES + (u32)from;
    if (doubtful_writes(c->writer + at, c->reader + at, lanes, per, first,
                        (s32)(c->epoch << TAG_SHIFT)))
        return false;
    mark_writes(c->writer + at, lanes, per, tag, first);
    return true;
}

INLINE bool row(const warp *w, const block_check *c, u64 offset, int from, int lanes, unsigned per,
                u32 tag, bool writes)
{
#define ROW(n)                                                                                     \
    if (per == n)                                                                                  \
    return writes ? row_writes(w, c, offset, from, lanes, n, tag)                                  \
                  : row_reads(w, c, offset, from, lanes, n, tag)
    ROW(1);
    ROW(2);
    ROW(4);
#undef ROW
    return false;
}

/* All of some lanes read one place. */
INLINE bool same_reads(const warp *w, const block_check *c, u64 offset, int last, unsigned per,
                       u32 tag)
{
    u32 at = (u32)(offset >> c->shift), thread = w->index * WARP_LANES + (u32)last;
    u32 epoch = c->epoch << TAG_SHIFT;
    u32 begin = c->checks & PTX_CHECK_INIT ? c->begin << TAG_SHIFT : 0;
    for (unsigned k = 0; k < per; k++)
        if (c->writer[at + k] < begin || c->writer[at + k] >= epoch) return false;
    for (unsigned k = 0; k < per; k++) c->reader[at + k] = tag | TAG_MANY | thread;
    return true;
}

/* Both halves of a warp read one row. */
INLINE bool shared_row(const warp *w, const block_check *c, u64 offset, unsigned per, u32 tag)
{
    u32 *restrict reader = c->reader + (offset >> c->shift);
    const u32 *restrict writer = c->writer + (offset >> c->shift);
    const u32 thread = w->index * WARP_LANES + 16;
    const s32 epoch = (s32)(c->epoch << TAG_SHIFT);
    const s32 begin = c->checks & PTX_CHECK_INIT ? (s32)(c->begin << TAG_SHIFT) : 0;
    s32 doubt = 0;
    if (per != 1) return false;
    for (int k = 0; k < 16; k++)
        doubt |= TRUE_IF((s32)writer[k] < begin) | TRUE_IF((s32)writer[k] >= epoch);
    if (doubt) return false;
    for (int k = 0; k < 16; k++) reader[k] = tag | TAG_MANY | (thread + (u32)k);
    return true;
}

INLINE bool inside(const block *b, u64 offset, unsigned size, unsigned align)
{
    return !(offset & (align - 1)) && offset < b->shared_size && size <= b->shared_size - offset;
}

/* A warp with all lanes, addresses in a pattern and nothing in doubt. */
INLINE bool whole_warp(warp *w, const insn *i, int bits, bool writes)
{
    const block *b = w->block;
    const block_check *c = b->checker;
    unsigned size = size_of(i), per = size >> c->shift;
    u32 tag = check_tag(w, i);
    u64 at = address_of(w, i, bits, 0), more = address_of(w, i, bits, 16);
    switch (classify(w, i, bits, size)) {
    case PATTERN_CONTIGUOUS:
        return inside(b, at, 32 * size, size) && row(w, c, at, 0, 32, per, tag, writes);
    case PATTERN_HALVES:
        /* Two that write to one place have to be told apart. */
        if (writes && at < more + 16 * size && more < at + 16 * size) return false;
        if (!inside(b, at, 16 * size, size) || !inside(b, more, 16 * size, size)) return false;
        if (at == more && shared_row(w, c, at, per, tag)) return true;
        /* Marking twice does no harm: the second look sees the same threads. */
        return row(w, c, at, 0, 16, per, tag, writes) && row(w, c, more, 16, 16, per, tag, writes);
    case PATTERN_BROADCAST:
        return !writes && inside(b, at, size, size) && same_reads(w, c, at, 31, per, tag);
    case PATTERN_BROADCAST_HALVES:
        return !writes && inside(b, at, size, size) && inside(b, more, size, size) &&
               same_reads(w, c, at, 15, per, tag) && same_reads(w, c, more, 31, per, tag);
    case PATTERN_GENERAL: break;
    }
    return false;
}

/* ------------------------------------------------------------------ handlers */

/* The usual access to global memory, one behind the other: all of it has been written, or is now.  False: it has to be
 * looked at lane by lane. */
INLINE bool is_one_row(const warp *w, const insn *i, const u64 *addresses, check_action action)
{
    const u64 size = check_size(i, action);
    u64 gaps = 0;
    for (int l = 0; l < WARP_LANES; l++) gaps |= addresses[l] ^ (addresses[0] + (u64)l * size);
    if (gaps || w->watched) return false;
    const marks *m = ptx_memory_marks(w->block->launch->memory);
    const u64 whole = (u64)WARP_LANES * size;
    if (marks_all(m, addresses[0], whole)) return true;
    if (action != CHECK_WRITES) return false;
    marks_set(m, addresses[0], whole, true);
    return true;
}

static __attribute__((noinline)) void by_lanes(warp *w, const insn *i, check_action action)
{
    _Alignas(64) u64 addresses[WARP_LANES];
    u64 offsets[WARP_LANES];
    memory_space space = i->space & SPACE_MASK;
    if (i->space & SPACE_INDEXED)
        addresses_of(w, i, action == CHECK_WRITES ? INDEXED_STORE : INDEXED_LOAD, addresses);
    else if (i->space & SPACE_ADDRESS32) addresses_of(w, i, 32, addresses);
    else addresses_of(w, i, 64, addresses);
    if (space == MEMORY_SHARED) {
        ptx_check_access(w, i, addresses, w->mask, action);
        return;
    }
    bool init = w->block->checker->checks & PTX_CHECK_INIT;
    u32 others = w->mask;
    if (space == MEMORY_GENERIC) {
        u32 shared = ptx_lanes_in_space(addresses, w->mask, MEMORY_SHARED, offsets);
        if (shared) ptx_check_access(w, i, offsets, shared, action);
        u32 local = ptx_lanes_in_space(addresses, w->mask, MEMORY_LOCAL, offsets);
        if (local && init) ptx_check_written(w, i, offsets, local, MEMORY_LOCAL, action);
        others &= ~(shared | local);
    }
    if (!others) return;
    bool row =
        init && others == ALL_LANES && space != MEMORY_LOCAL && is_one_row(w, i, addresses, action);
    if (init && !row)
        ptx_check_written(w, i, addresses, others,
                          space == MEMORY_LOCAL ? MEMORY_LOCAL : MEMORY_GLOBAL, action);
    if (w->block->launch->checker && space != MEMORY_LOCAL)
        ptx_check_global(w, i, addresses, others, action);
}

static __attribute__((noinline)) void check_load_some(warp *w, const insn *i)
{
    by_lanes(w, i, CHECK_READS);
}

static __attribute__((noinline)) void check_store_some(warp *w, const insn *i)
{
    by_lanes(w, i, CHECK_WRITES);
}

static void check_atomic_some(warp *w, const insn *i)
{
    by_lanes(w, i, CHECK_CHANGES);
}

/* One granule for each lane, and whoever has touched it since the barrier did so atomically. */
INLINE bool atomics_only(warp *w, const insn *i, int bits)
{
    const block *b = w->block;
    block_check *c = b->checker;
    _Alignas(64) u64 a[WARP_LANES];
    const u32 size = i->size, epoch = c->epoch << TAG_SHIFT;
    const u32 begin =
        (i->flags & CHECK_USED) && (c->checks & PTX_CHECK_INIT) ? c->begin << TAG_SHIFT : 0;
    u64 outside = 0;
    u32 doubt = 0;
    addresses_of(w, i, bits, a);
    for (int l = 0; l < WARP_LANES; l++)
        outside |= (a[l] & (size - 1)) | (u64)(a[l] >= b->shared_size);
    if (outside) return false;
    for (int l = 0; l < WARP_LANES; l++) {
        u32 wrote = c->writer[a[l] >> c->shift], read = c->reader[a[l] >> c->shift];
        doubt |=
            (wrote < begin) | (u32)((wrote >= epoch) & !(wrote & TAG_ATOMIC)) | (read >= epoch);
    }
    if (doubt) return false;
    u32 tag = check_tag(w, i) | TAG_STRONG | TAG_ATOMIC | w->index * WARP_LANES;
    for (int l = 0; l < WARP_LANES; l++) c->writer[a[l] >> c->shift] = tag + (u32)l;
    return true;
}

static void check_atomic_full(warp *w, const insn *i)
{
    const block_check *c = w->block->checker;
    if (w->mask == ALL_LANES && (i->space & SPACE_MASK) == MEMORY_SHARED && !c->fences &&
        !c->has_undefined && i->size == 1u << c->shift &&
        (i->space & SPACE_ADDRESS32 ? atomics_only(w, i, 32) : atomics_only(w, i, 64)))
        return;
    by_lanes(w, i, CHECK_CHANGES);
}

static void check_fence_some(warp *w, const insn *i)
{
    ptx_check_fence(w, i);
}

static void check_fence_full(warp *w, const insn *i)
{
    ptx_check_fence(w, i);
}

/* Without volatile accesses, which hand data over, and nothing but a barrier that orders lanes. */
INLINE bool is_plain_shared(const warp *w, const insn *i)
{
    const block_check *c = w->block->checker;
    return w->mask == ALL_LANES && (i->space & SPACE_MASK) == MEMORY_SHARED &&
           !(i->flags & CHECK_STRONG) && !c->has_undefined && c->warps[w->index].fresh <= c->epoch;
}

static void check_load_full(warp *w, const insn *i)
{
    if (LIKELY(is_plain_shared(w, i)) &&
        (i->space & SPACE_ADDRESS32 ? whole_warp(w, i, 32, false) : whole_warp(w, i, 64, false)))
        return;
    check_load_some(w, i);
}

static void check_store_full(warp *w, const insn *i)
{
    if (LIKELY(is_plain_shared(w, i)) &&
        (i->space & SPACE_ADDRESS32 ? whole_warp(w, i, 32, true) : whole_warp(w, i, 64, true)))
        return;
    check_store_some(w, i);
}

#define OP_ROWS  "ptx/exec/ops_check.inc"
#define OP_TABLE ptx_ops_check
#include "ptx/exec/ops_expand.h"
