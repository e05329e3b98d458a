/* Loads: handlers for all lanes by space, element and count, and one path that takes any set of
 * lanes.  SPDX-License-Identifier: MIT */
#include "ptx/exec/pattern.h"

#include "ptx/exec/isa.h"

/* ------------------------------------------------------------------ results into slots */

/* Where the elements of a load go.  Taken once per instruction: a store into a slot could change
 * warp->regs for all the compiler knows. */
typedef struct targets {
    u8 *slot[4];
} targets;

INLINE targets targets_of(const warp *w, const insn *i, int count)
{
    targets t = { { w->regs + i->d } };
    if (count > 1) t.slot[1] = w->regs + i->e;
    if (count > 2) {
        t.slot[2] = w->regs + i->b;
        t.slot[3] = w->regs + i->c;
    }
    return t;
}

#define WORDS(slot)   ((u32 *)__builtin_assume_aligned(slot, 64))
#define DOUBLES(slot) ((u64 *)__builtin_assume_aligned(slot, 64))

/* One element of host memory, extended as its kind says.  Relaxed, because another thread may write
 * it at the same time. */
INLINE u64 fetch(element e, const u8 *at)
{
    switch (e) {
    case ELEMENT_U8: return __atomic_load_n(at, __ATOMIC_RELAXED);
    case ELEMENT_S8: return (u32)(s32)__atomic_load_n((const s8 *)at, __ATOMIC_RELAXED);
    case ELEMENT_U16: return __atomic_load_n((const u16 *)(const void *)at, __ATOMIC_RELAXED);
    case ELEMENT_S16:
        return (u32)(s32)__atomic_load_n((const s16 *)(const void *)at, __ATOMIC_RELAXED);
    case ELEMENT_32: return __atomic_load_n((const u32 *)(const void *)at, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const u64 *)(const void *)at, __ATOMIC_RELAXED);
    }
}

INLINE void put(u8 *slot, element e, int lane, u64 value)
{
    if (e == ELEMENT_64) DOUBLES(slot)[lane] = value;
    else WORDS(slot)[lane] = (u32)value;
}

/* All elements of one lane, taken as a whole so that vectors of up to 16 bytes are not torn. */
INLINE void load_lane(targets t, element e, int count, int lane, const u8 *at)
{
    if (count == 1) {
        put(t.slot[0], e, lane, fetch(e, at));
        return;
    }
    u8 piece[32];
    unsigned bytes = element_bytes(e);
    memcpy(piece, at, bytes * (unsigned)count);
    for (int k = 0; k < count; k++) put(t.slot[k], e, lane, fetch(e, piece + bytes * (unsigned)k));
}

/* `lanes` lanes from `first` on, from consecutive memory. */
INLINE void load_run(targets t, element e, int count, int first, int lanes, const u8 *at)
{
    unsigned bytes = element_bytes(e);
    for (int k = 0; k < count; k++) {
        const u8 *from = at + bytes * (unsigned)k;
        u64 *restrict doubles = DOUBLES(t.slot[k]) + first;
        u32 *restrict words = WORDS(t.slot[k]) + first;
        {
            INDEPENDENT
            for (int l = 0; l < lanes; l++) {
                const u8 *one = from + bytes * (unsigned)(count * l);
                u16 half;
                u64 wide;
                u32 word;
                if (e == ELEMENT_64) {
                    memcpy(&wide, one, 8);
                    doubles[l] = wide;
                } else if (e == ELEMENT_32) {
                    memcpy(&word, one, 4);
                    words[l] = word;
                } else if (e == ELEMENT_U16 || e == ELEMENT_S16) {
                    memcpy(&half, one, 2);
                    words[l] = e == ELEMENT_S16 ? (u32)(s32)(s16)half : half;
                } else {
                    words[l] = e == ELEMENT_S8 ? (u32)(s32)(s8)*one : *one;
                }
            }
        }
    }
}

/* The same elements for `lanes` lanes. */
INLINE void load_same(targets t, element e, int count, int first, int lanes, const u8 *at)
{
    unsigned bytes = element_bytes(e);
    u8 piece[32];
    memcpy(piece, at, bytes * (unsigned)count);
    for (int k = 0; k < count; k++) {
        u64 value = count == 1 ? fetch(e, at) : fetch(e, piece + bytes * (unsigned)k);
        u64 *restrict doubles = DOUBLES(t.slot[k]) + first;
        u32 *restrict words = WORDS(t.slot[k]) + first;
        if (e == ELEMENT_64)
            for (int l = 0; l < lanes; l++) doubles[l] = value;
        else
            for (int l = 0; l < lanes; l++) words[l] = (u32)value;
    }
}

/* ------------------------------------------------------------------ any set of lanes */

static void each_lane(warp *w, const insn *i, u32 lanes, const u64 *host)
{
    int count = (int)MEMORY_COUNT(i->size);
    targets t = targets_of(w, i, count);
#define EACH(e)                                                                                    \
    case e:                                                                                        \
        for (u32 rest = lanes; rest; rest &= rest - 1) {                                           \
            int l = __builtin_ctz(rest);                                                           \
            load_lane(t, e, count, l, host_pointer(host[l]));                                      \
        }                                                                                          \
        break
    switch (MEMORY_ELEMENT(i->size)) {
        EACH(ELEMENT_U8);
        EACH(ELEMENT_S8);
        EACH(ELEMENT_U16);
        EACH(ELEMENT_S16);
        EACH(ELEMENT_32);
    default: EACH(ELEMENT_64);
    }
#undef EACH
}

static void local_lanes(warp *w, const insn *i, u32 lanes, const u64 *addresses)
{
    element e = MEMORY_ELEMENT(i->size);
    unsigned bytes = element_bytes(e), count = MEMORY_COUNT(i->size), size = bytes * count;
    targets t = targets_of(w, i, (int)count);
    for (u32 rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        u64 at = addresses[l];
        if (!local_valid(w, at, size)) {
            ptx_fault_address(w, i, 1u << l, MEMORY_LOCAL, size, "reads", addresses);
            continue;
        }
        for (unsigned k = 0; k < count; k++, at += bytes) {
            const u32 *row = local_row(w, at) + l;
            u64 value = bytes == 8 ? row[0] | (u64)row[WARP_LANES] << 32
                                   : fetch(e, (const u8 *)row + (at & 3));
            put(t.slot[k], e, l, value);
        }
    }
}

/* For the given lanes at the given addresses of one space. */
static void load_lanes(warp *w, const insn *i, memory_space space, u32 lanes, const u64 *addresses)
{
    if (space == MEMORY_LOCAL) {
        local_lanes(w, i, lanes, addresses);
        return;
    }
    u64 host[WARP_LANES];
    unsigned size = element_bytes(MEMORY_ELEMENT(i->size)) * MEMORY_COUNT(i->size);
    u32 good = ptx_resolve(w, i, space, addresses, lanes, size, false, "reads", host);
    each_lane(w, i, good, host);
}

static __attribute__((noinline)) void load_generic(warp *w, const insn *i)
{
    u64 a[WARP_LANES], offsets[WARP_LANES];
    addresses_of(w, i, 64, a);
    for (memory_space s = 0; s < MEMORY_SPACES; s++) {
        u32 lanes = ptx_lanes_in_space(a, w->mask, s, offsets);
        if (lanes) load_lanes(w, i, s, lanes, offsets);
    }
}

/* ------------------------------------------------------------------ handlers of some lanes */

#define LOAD_SOME(name, space, bits)                                                               \
    static __attribute__((noinline)) void name(warp *w, const insn *i)                             \
    {                                                                                              \
        _Alignas(64) u64 a[WARP_LANES];                                                            \
        addresses_of(w, i, bits, a);                                                               \
        load_lanes(w, i, space, w->mask, a);                                                       \
    }
LOAD_SOME(load_global_some, MEMORY_GLOBAL, 64)
LOAD_SOME(load_indexed_some, MEMORY_GLOBAL, INDEXED_LOAD)
LOAD_SOME(load_shared_some, MEMORY_SHARED, 64)
LOAD_SOME(load_shared32_some, MEMORY_SHARED, 32)
LOAD_SOME(load_local_some, MEMORY_LOCAL, 64)
LOAD_SOME(load_local32_some, MEMORY_LOCAL, 32)
LOAD_SOME(load_param_some, MEMORY_PARAM, 64)
LOAD_SOME(load_param32_some, MEMORY_PARAM, 32)

/* ------------------------------------------------------------------ handlers of all lanes */

/* Threads of a warp often walk through memory in large steps, which no processor foresees: fetches
 * what the same instruction will want a few steps later. */
INLINE void fetch_ahead(warp *w, const insn *i, const u8 *host, u64 address, unsigned size)
{
    enum { STEPS = 4, LINE = 64 };
    range *r = &w->block->ranges[i->extra];
    uintptr_t later = (uintptr_t)host + STEPS * (address - r->last);
    r->last = address;
    for (unsigned at = 0; at < size && at < 4 * LINE; at += LINE)
        __builtin_prefetch((const void *)(later + at));
}

INLINE void load_full(warp *w, const insn *i, memory_space space, int bits, unsigned size,
                      const parts *p, shared_handler *general)
{
    u8 *at, *more;
    if (LIKELY(w->mask == ALL_LANES)) switch (classify(w, i, bits, size)) {
        case PATTERN_CONTIGUOUS:
            at = locate(w, i, space, address_of(w, i, bits, 0), 32 * size, size, false);
            if (UNLIKELY(!at)) break;
            if (space == MEMORY_GLOBAL) fetch_ahead(w, i, at, address_of(w, i, bits, 0), 32 * size);
            p->run(w, i, at);
            return;
        case PATTERN_BROADCAST:
            at = locate(w, i, space, address_of(w, i, bits, 0), size, size, false);
            if (UNLIKELY(!at)) break;
            p->same(w, i, at);
            return;
        case PATTERN_HALVES:
            at = locate(w, i, space, address_of(w, i, bits, 0), 16 * size, size, false);
            more = locate(w, i, space, address_of(w, i, bits, 16), 16 * size, size, false);
            if (UNLIKELY(!at || !more)) break;
            p->run_halves(w, i, at, more);
            return;
        case PATTERN_BROADCAST_HALVES:
            at = locate(w, i, space, address_of(w, i, bits, 0), size, size, false);
            more = locate(w, i, space, address_of(w, i, bits, 16), size, size, false);
            if (UNLIKELY(!at || !more)) break;
            p->same_halves(w, i, at, more);
            return;
        case PATTERN_GENERAL: break;
        }
    general(w, i, size, p);
}

/* Local memory: lanes that use the same offset read whole rows. */
INLINE void local_rows(const warp *w, const insn *i, element e, int count, u64 at)
{
    unsigned bytes = element_bytes(e);
    targets t = targets_of(w, i, count);
    for (int k = 0; k < count; k++, at += bytes) {
        const u32 *restrict row = local_row(w, at);
        unsigned shift = 8 * (at & 3);
        u64 *restrict doubles = DOUBLES(t.slot[k]);
        u32 *restrict words = WORDS(t.slot[k]);
        for (int l = 0; l < WARP_LANES; l++) {
            u32 v = row[l] >> shift;
            if (e == ELEMENT_64) doubles[l] = row[l] | (u64)row[WARP_LANES + l] << 32;
            else
                words[l] = e == ELEMENT_U8    ? (u8)v
                           : e == ELEMENT_S8  ? (u32)(s32)(s8)v
                           : e == ELEMENT_U16 ? (u16)v
                           : e == ELEMENT_S16 ? (u32)(s32)(s16)v
                                              : v;
        }
    }
}

/* One address for all lanes, known when the code was lowered. */
INLINE void load_uniform_full(warp *w, const insn *i, memory_space space, unsigned size,
                              const parts *p, handler *some)
{
    u64 address = address_of(w, i, 64, 0);
    if (space == MEMORY_LOCAL) {
        if (local_valid(w, address, size)) p->rows(w, i, address);
        else some(w, i);
        return;
    }
    u8 *at = LIKELY(w->mask != 0) ? locate(w, i, space, address, size, size, false) : NULL;
    if (LIKELY(at != NULL)) p->same(w, i, at);
    else some(w, i);
}

#define LOAD_PARTS(how, suffix, e, count)                                                          \
    static void load_run_##suffix(warp *w, const insn *i, u8 *at)                                  \
    {                                                                                              \
        load_run(targets_of(w, i, count), e, count, 0, 32, at);                                    \
    }                                                                                              \
    static void load_run_halves_##suffix(warp *w, const insn *i, u8 *at, u8 *more)                 \
    {                                                                                              \
        load_run(targets_of(w, i, count), e, count, 0, 16, at);                                    \
        load_run(targets_of(w, i, count), e, count, 16, 16, more);                                 \
    }                                                                                              \
    static void load_same_##suffix(warp *w, const insn *i, u8 *at)                                 \
    {                                                                                              \
        load_same(targets_of(w, i, count), e, count, 0, 32, at);                                   \
    }                                                                                              \
    static void load_same_halves_##suffix(warp *w, const insn *i, u8 *at, u8 *more)                \
    {                                                                                              \
        load_same(targets_of(w, i, count), e, count, 0, 16, at);                                   \
        load_same(targets_of(w, i, count), e, count, 16, 16, more);                                \
    }                                                                                              \
    static void load_rows_##suffix(warp *w, const insn *i, u64 at)                                 \
    {                                                                                              \
        local_rows(w, i, e, count, at);                                                            \
    }                                                                                              \
    static void load_each_##suffix(warp *w, const insn *i, const u64 *addresses, u64 base)         \
    {                                                                                              \
        targets t = targets_of(w, i, count);                                                       \
        for (int l = 0; l < WARP_LANES; l++)                                                       \
            load_lane(t, e, count, l, host_pointer(base + addresses[l]));                          \
    }                                                                                              \
    static void load_each32_##suffix(warp *w, const insn *i, const u32 *offsets, u8 *base)         \
    {                                                                                              \
        targets t = targets_of(w, i, count);                                                       \
        for (int l = 0; l < WARP_LANES; l++) load_lane(t, e, count, l, base + offsets[l]);         \
    }                                                                                              \
    static const parts load_parts_##suffix = { load_run_##suffix,   load_run_halves_##suffix,      \
                                               load_same_##suffix,  load_same_halves_##suffix,     \
                                               load_rows_##suffix,  load_each_##suffix,            \
                                               load_each32_##suffix };

#define LOAD_ELEMENTS(row)                                                                         \
    row(OTHER, u8, ELEMENT_U8, 1) row(OTHER, s8, ELEMENT_S8, 1) row(OTHER, u16, ELEMENT_U16, 1)    \
        row(OTHER, s16, ELEMENT_S16, 1) row(COMMON, b32, ELEMENT_32, 1)                            \
            row(COMMON, b64, ELEMENT_64, 1) row(OTHER, b32x2, ELEMENT_32, 2)                       \
                row(COMMON, b32x4, ELEMENT_32, 4) row(OTHER, b64x2, ELEMENT_64, 2)

#define ACCESS(name)    load_##name
#define ACCESS_INDEXED  INDEXED_LOAD
#define ACCESS_ELEMENTS LOAD_ELEMENTS
#define ACCESS_HANDLERS ISA_NAME(ptx_load_handlers)
#define ACCESS_WRITES   false
LOAD_ELEMENTS(LOAD_PARTS)
#include "ptx/exec/memory_forms.h"
