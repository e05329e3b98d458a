/* A look at accesses to shared memory lane by lane: who raced with whom, who read what nobody wrote, and
 * which lanes stored different values to one place.  SPDX-License-Identifier: MIT */
#include "ptx/exec/check.h"
#include "ptx/exec/shadow.h"

typedef struct look {
    warp *w;
    const insn *i;
    block_check *c;
    const uint64_t *offsets;
    check_action action;
    uint32_t size, per; /* bytes and granules of one lane */
    uint32_t tag;       /* with flags, without a thread */
} look;

static uint32_t thread_of(const look *k, int lane)
{
    return k->w->index * WARP_LANES + (uint32_t)lane;
}

static void report(const look *k, int lane, ptx_fault_kind kind, const earlier_access *earlier)
{
    fault_access access = { check_verb(k->action), k->size, PTX_SPACE_SHARED, k->offsets, earlier };
    ptx_fault(k->w, k->i, 1u << lane, kind, &access, NULL);
}

/* ------------------------------------------------------------------ order */

/* The earlier thread released what it did before, and this one has looked since. */
static bool was_handed_over(const look *k, int lane, uint32_t other, uint32_t serial)
{
    const check_warp *own = &k->c->warps[k->w->index], *its = &k->c->warps[other / WARP_LANES];
    if (own == its)
        return serial < its->released[other % WARP_LANES] && serial < own->acquired[lane];
    return serial < its->any_released && serial < own->any_acquired;
}

static bool is_ordered(const look *k, int lane, uint32_t old)
{
    uint32_t serial = old >> TAG_SHIFT, other = old & TAG_THREAD;
    if (serial < k->c->epoch) return true;
    if (was_handed_over(k, lane, other, serial)) return true;
    if (other / WARP_LANES != k->w->index) return false;
    const check_warp *own = &k->c->warps[k->w->index];
    return serial < own->ordered ||
           (serial < own->lane_ordered[lane] && own->members[lane] >> (other % WARP_LANES) & 1);
}

static void compare(const look *k, int lane, uint32_t old, check_action earlier_action)
{
    uint32_t me = thread_of(k, lane), other = old & TAG_THREAD;
    bool reads = earlier_action == CHECK_READS;
    bool many = reads && (old & TAG_MANY);
    if (other == me && !many) return;
    if (is_ordered(k, lane, old)) return;
    bool in_warp = other / WARP_LANES == k->w->index;
    bool was_atomic = !reads && (old & TAG_ATOMIC), is_atomic = k->action == CHECK_CHANGES;
    /* Accesses that are meant to meet; lanes of one warp that count on going in step are not. */
    if ((old & TAG_STRONG) && (k->tag & TAG_STRONG) && (!in_warp || was_atomic || is_atomic))
        return;
    const check_site *site = &k->c->log[(old >> TAG_SHIFT) - k->c->log_base];
    earlier_access earlier = { .insn = site->insn,
                               .code = site->code,
                               .action = check_verb(was_atomic ? CHECK_CHANGES : earlier_action),
                               .known = other != me,
                               .thread = other };
    for (int d = 0; d < 3; d++) earlier.block[d] = k->w->block->position[d];
    report(k, lane, in_warp ? PTX_FAULT_WARP_RACE : PTX_FAULT_RACE, &earlier);
}

static bool is_inside(const look *k, int lane)
{
    uint64_t at = k->offsets[lane], end = k->w->block->shared_size;
    return !(at & (k->size - 1)) && at < end && k->size <= end - at;
}

/* A load that finds nothing written is no error yet: it depends on what becomes of the value. */
static void look_for_undefined(const look *k, int lane)
{
    bool loads = k->action == CHECK_READS, uses = k->i->flags & CHECK_USED;
    if (!(k->c->checks & PTX_CHECK_INIT) || (k->w->watched && loads) || (!loads && !uses)) return;
    if (!ptx_undefined_bytes(k->w, MEMORY_SHARED, lane, k->offsets[lane], k->size)) return;
    if (loads) ptx_watch(k->w);
    else report(k, lane, PTX_FAULT_UNINITIALISED, NULL);
}

static void look_at(const look *k, int lane)
{
    const block_check *c = k->c;
    uint32_t first = (uint32_t)(k->offsets[lane] >> c->shift);
    /* The bytes of one word mostly have one tag, and are one finding. */
    uint32_t wrote_before = 0, read_before = 0;
    for (uint32_t g = first; g < first + k->per; g++) {
        if (!(c->checks & PTX_CHECK_RACES)) continue;
        uint32_t wrote = c->writer[g], read = c->reader[g];
        if (wrote >= c->epoch << TAG_SHIFT && wrote != wrote_before)
            compare(k, lane, wrote, CHECK_WRITES);
        if (k->action != CHECK_READS && read >= c->epoch << TAG_SHIFT && read != read_before)
            compare(k, lane, read, CHECK_READS);
        wrote_before = wrote;
        read_before = read;
    }
}

static void mark(const look *k, int lane)
{
    block_check *c = k->c;
    uint32_t first = (uint32_t)(k->offsets[lane] >> c->shift), me = thread_of(k, lane);
    for (uint32_t g = first; g < first + k->per; g++) {
        /* A plain write that others may still race with is not forgotten for an atomic operation. */
        uint32_t wrote = c->writer[g];
        bool keeps =
            k->action == CHECK_CHANGES && wrote >= c->epoch << TAG_SHIFT && !(wrote & TAG_ATOMIC);
        if (k->action != CHECK_READS && !keeps) {
            c->writer[g] = k->tag | me | (k->action == CHECK_CHANGES ? TAG_ATOMIC : 0);
            continue;
        }
        uint32_t old = c->reader[g];
        bool many = old >= c->epoch << TAG_SHIFT && ((old & TAG_THREAD) != me || old & TAG_MANY) &&
                    !is_ordered(k, lane, old);
        c->reader[g] = k->tag | me | (many ? TAG_MANY : 0);
    }
}

/* ------------------------------------------------------------------ clashes */

static uint64_t stored(const look *k, uint32_t slot, int lane)
{
    const uint8_t *at = k->w->regs + slot;
    switch (element_bytes(MEMORY_ELEMENT(k->i->size))) {
    case 1: return ((const uint32_t *)(const void *)at)[lane] & 0xff;
    case 2: return ((const uint32_t *)(const void *)at)[lane] & 0xffff;
    case 4: return ((const uint32_t *)(const void *)at)[lane];
    default: return ((const uint64_t *)(const void *)at)[lane];
    }
}

/* Another lane has written to the same place by the same instruction. */
static void look_for_clash(const look *k, int lane)
{
    uint32_t now = k->c->writer[k->offsets[lane] >> k->c->shift], other = now & TAG_THREAD;
    if (other == thread_of(k, lane)) return;
    const uint32_t slots[4] = { k->i->b, k->i->c, k->i->f, k->i->e };
    bool differs = false;
    for (uint32_t n = 0; n < MEMORY_COUNT(k->i->size); n++)
        differs |= stored(k, slots[n], lane) != stored(k, slots[n], (int)(other % WARP_LANES));
    if (!differs) return;
    earlier_access earlier = { .insn = k->i,
                               .code = k->w->frame->code,
                               .action = check_verb(CHECK_WRITES),
                               .known = true,
                               .thread = other };
    for (int d = 0; d < 3; d++) earlier.block[d] = k->w->block->position[d];
    report(k, lane, PTX_FAULT_STORE_CLASH, &earlier);
}

/* ------------------------------------------------------------------ an access */

static void hand_over(const look *k, uint32_t lanes)
{
    check_warp *own = &k->c->warps[k->w->index];
    if (!k->c->fences) return;
    own->fresh = k->c->next;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (k->action != CHECK_READS) {
            own->released[l] = own->fenced[l];
            if (own->fenced[l] > own->any_released) own->any_released = own->fenced[l];
        }
        if (k->action != CHECK_WRITES) own->acquired[l] = own->any_acquired = k->c->next;
    }
}

#define FOR_LANES(lanes)                                                                           \
    for (uint32_t rest_ = (lanes), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true);         \
         rest_ &= rest_ - 1)

void ptx_check_access(warp *w, const insn *i, const uint64_t *offsets, uint32_t lanes,
                      check_action action)
{
    block_check *c = w->block->checker;
    if (!c) return;
    look k = { .w = w, .i = i, .c = c, .offsets = offsets, .action = action };
    k.size = check_size(i, action);
    k.per = k.size >> c->shift;
    bool strong = action == CHECK_CHANGES || (i->flags & CHECK_STRONG);
    k.tag = check_tag(w, i) | (strong ? TAG_STRONG : 0);
    uint32_t valid = 0;
    FOR_LANES(lanes) if (is_inside(&k, (int)l)) valid |= 1u << l;
    if (strong && action != CHECK_WRITES) hand_over(&k, valid);
    FOR_LANES(valid) look_for_undefined(&k, (int)l);
    FOR_LANES(valid) look_at(&k, (int)l);
    FOR_LANES(valid) mark(&k, (int)l);
    if (c->has_undefined && action != CHECK_READS)
        FOR_LANES(valid) ptx_check_store_undefined(w->block, offsets[l], k.size, 0);
    if (action == CHECK_WRITES && (valid & (valid - 1)) && (c->checks & PTX_CHECK_RACES))
        FOR_LANES(valid) look_for_clash(&k, (int)l);
    if (strong && action == CHECK_WRITES) hand_over(&k, valid);
}

/* ------------------------------------------------------------------ global and local memory */

static bool is_reported(const warp *w, const insn *i, memory_space space, int lane,
                        const uint64_t *addresses, uint32_t size)
{
    return (i->flags & CHECK_USED) && ptx_undefined_bytes(w, space, lane, addresses[lane], size);
}

/* The usual accesses of a warp, seen as one stretch: true when all of it has been written, or when a store that has no
 * gaps has marked it. */
static bool is_one_stretch(const marks *m, const uint64_t *addresses, uint32_t lanes, uint32_t size,
                           check_action action)
{
    enum { LONGEST = 4096 };
    uint64_t low = UINT64_MAX, high = 0, gaps = 0;
    if (lanes == ALL_LANES) {
        for (int l = 0; l < WARP_LANES; l++) {
            low = addresses[l] < low ? addresses[l] : low;
            high = addresses[l] > high ? addresses[l] : high;
            gaps |= addresses[l] ^ (addresses[0] + (uint64_t)l * size);
        }
    } else {
        gaps = 1;
        FOR_LANES(lanes)
        {
            low = addresses[l] < low ? addresses[l] : low;
            high = addresses[l] > high ? addresses[l] : high;
        }
    }
    if (high - low > LONGEST - size) return false;
    if (marks_all(m, low, high - low + size)) return true;
    if (action != CHECK_WRITES || gaps) return false;
    marks_set(m, low, (uint64_t)WARP_LANES * size, true);
    return true;
}

void ptx_check_written(warp *w, const insn *i, const uint64_t *addresses, uint32_t lanes,
                       memory_space space, check_action action)
{
    uint32_t size = check_size(i, action);
    const marks *m = ptx_memory_marks(w->block->launch->memory);
    if (space == MEMORY_GLOBAL && !w->watched && is_one_stretch(m, addresses, lanes, size, action))
        return;
    fault_access access = { check_verb(action), size, PTX_SPACE_GLOBAL, addresses, NULL, NULL };
    FOR_LANES(lanes)
    {
        if (action == CHECK_READS) {
            if (!w->watched && ptx_undefined_bytes(w, space, (int)l, addresses[l], size))
                ptx_watch(w);
            continue;
        }
        if (action == CHECK_CHANGES && is_reported(w, i, space, (int)l, addresses, size))
            ptx_fault(w, i, 1u << l, PTX_FAULT_UNINITIALISED, &access, NULL);
        if (space == MEMORY_GLOBAL) marks_set(m, addresses[l], size, true);
        else ptx_local_written(w, (int)l, addresses[l], size, true);
    }
}
