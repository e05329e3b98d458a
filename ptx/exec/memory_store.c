/* Stores: handlers for all lanes by space, element and count, and one path that takes any set of
 * lanes.  Of several lanes that write to one address the highest wins.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/pattern.h"

#include "ptx/exec/isa.h"

/* Where the elements of a store come from. */
typedef struct sources {
    const u8 *slot[4];
} sources;

INLINE sources sources_of(const warp *w, const insn *i, int count)
{
    sources s = { { w->regs + i->b } };
    if (count > 1) s.slot[1] = w->regs + i->c;
    if (count > 2) {
        s.slot[2] = w->regs + i->f;
        s.slot[3] = w->regs + i->e;
    }
    return s;
}

#define WORDS(slot)   ((const u32 *)__builtin_assume_aligned(slot, 64))
#define DOUBLES(slot) ((const u64 *)__builtin_assume_aligned(slot, 64))

INLINE u64 take(const u8 *slot, element e, int lane)
{
    return e == ELEMENT_64 ? DOUBLES(slot)[lane] : WORDS(slot)[lane];
}

/* Relaxed, because another thread may read it at the same time. */
INLINE void drop(element e, u8 *at, u64 value)
{
    switch (element_bytes(e)) {
    case 1: __atomic_store_n(at, (u8)value, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((u16 *)(void *)at, (u16)value, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((u32 *)(void *)at, (u32)value, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((u64 *)(void *)at, value, __ATOMIC_RELAXED);
    }
}

/* All elements of one lane, written as a whole so that vectors of up to 16 bytes are not torn. */
INLINE void store_lane(sources s, element e, int count, int lane, u8 *at)
{
    if (count == 1) {
        drop(e, at, take(s.slot[0], e, lane));
        return;
    }
    u8 piece[32];
    unsigned bytes = element_bytes(e);
    for (int k = 0; k < count; k++) drop(e, piece + bytes * (unsigned)k, take(s.slot[k], e, lane));
    memcpy(at, piece, bytes * (unsigned)count);
}

INLINE void store_run(sources s, element e, int count, int first, int lanes, u8 *at)
{
    unsigned bytes = element_bytes(e);
    if (count == 1 && e == ELEMENT_32) {
        memcpy(at, WORDS(s.slot[0]) + first, 4 * (unsigned)lanes);
    } else if (count == 1 && e == ELEMENT_64) {
        memcpy(at, DOUBLES(s.slot[0]) + first, 8 * (unsigned)lanes);
    } else {
        INDEPENDENT
        for (int l = 0; l < lanes; l++)
            for (int k = 0; k < count; k++) {
                u8 *to = at + bytes * (unsigned)(count * l + k);
                if (e == ELEMENT_64) {
                    memcpy(to, DOUBLES(s.slot[k]) + first + l, 8);
                } else if (e == ELEMENT_32) {
                    memcpy(to, WORDS(s.slot[k]) + first + l, 4);
                } else if (bytes == 2) {
                    u16 half = (u16)WORDS(s.slot[k])[first + l];
                    memcpy(to, &half, 2);
                } else {
                    *to = (u8)WORDS(s.slot[k])[first + l];
                }
            }
    }
}

/* ------------------------------------------------------------------ any set of lanes */

static void each_lane(warp *w, const insn *i, u32 lanes, const u64 *host)
{
    int count = (int)MEMORY_COUNT(i->size);
    sources s = sources_of(w, i, count);
#define EACH(e)                                                                                    \
    case e:                                                                                        \
        for (u32 rest = lanes; rest; rest &= rest - 1) {                                           \
            int l = __builtin_ctz(rest);                                                           \
            store_lane(s, e, count, l, host_pointer(host[l]));                                     \
        }                                                                                          \
        break
    switch (MEMORY_ELEMENT(i->size)) {
    case ELEMENT_S8: EACH(ELEMENT_U8);
    case ELEMENT_S16: EACH(ELEMENT_U16); EACH(ELEMENT_32);
    default: EACH(ELEMENT_64);
    }
#undef EACH
}

static void local_lanes(warp *w, const insn *i, u32 lanes, const u64 *addresses)
{
    element e = MEMORY_ELEMENT(i->size);
    unsigned bytes = element_bytes(e), count = MEMORY_COUNT(i->size), size = bytes * count;
    sources s = sources_of(w, i, (int)count);
    for (u32 rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        u64 at = addresses[l];
        if (!local_valid(w, at, size)) {
            ptx_fault_address(w, i, 1u << l, MEMORY_LOCAL, size, "writes", addresses);
            continue;
        }
        for (unsigned k = 0; k < count; k++, at += bytes) {
            u32 *row = local_row(w, at) + l;
            u64 value = take(s.slot[k], e, l);
            if (bytes == 8) {
                row[0] = (u32)value;
                row[WARP_LANES] = (u32)(value >> 32);
            } else {
                drop(e, (u8 *)row + (at & 3), value);
            }
        }
    }
}

static void store_lanes(warp *w, const insn *i, memory_space space, u32 lanes, const u64 *addresses)
{
    if (space == MEMORY_LOCAL) {
        local_lanes(w, i, lanes, addresses);
        return;
    }
    u64 host[WARP_LANES];
    unsigned size = element_bytes(MEMORY_ELEMENT(i->size)) * MEMORY_COUNT(i->size);
    u32 good = ptx_resolve(w, i, space, addresses, lanes, size, true, "writes", host);
    each_lane(w, i, good, host);
}

static __attribute__((noinline)) void store_generic(warp *w, const insn *i)
{
    u64 a[WARP_LANES], offsets[WARP_LANES];
    addresses_of(w, i, 64, a);
    for (memory_space s = 0; s < MEMORY_SPACES; s++) {
        u32 lanes = ptx_lanes_in_space(a, w->mask, s, offsets);
        if (lanes) store_lanes(w, i, s, lanes, offsets);
    }
}

/* ------------------------------------------------------------------ handlers of some lanes */

#define STORE_SOME(name, space, bits)                                                              \
    static __attribute__((noinline)) void name(warp *w, const insn *i)                             \
    {                                                                                              \
        _Alignas(64) u64 a[WARP_LANES];                                                            \
        addresses_of(w, i, bits, a);                                                               \
        store_lanes(w, i, space, w->mask, a);                                                      \
    }
STORE_SOME(store_global_some, MEMORY_GLOBAL, 64)
STORE_SOME(store_indexed_some, MEMORY_GLOBAL, INDEXED_STORE)
STORE_SOME(store_shared_some, MEMORY_SHARED, 64)
STORE_SOME(store_shared32_some, MEMORY_SHARED, 32)
STORE_SOME(store_local_some, MEMORY_LOCAL, 64)
STORE_SOME(store_local32_some, MEMORY_LOCAL, 32)
STORE_SOME(store_param_some, MEMORY_PARAM, 64)
STORE_SOME(store_param32_some, MEMORY_PARAM, 32)

/* ------------------------------------------------------------------ handlers of all lanes */

INLINE void store_full(warp *w, const insn *i, memory_space space, int bits, unsigned size,
                       const parts *p, shared_handler *general)
{
    if (LIKELY(w->mask == ALL_LANES)) {
        pattern found = classify(w, i, bits, size);
        if (found == PATTERN_CONTIGUOUS) {
            u8 *at = locate(w, i, space, address_of(w, i, bits, 0), 32 * size, size, true);
            if (LIKELY(at != NULL)) {
                p->run(w, i, at);
                return;
            }
        } else if (found == PATTERN_HALVES) {
            u8 *at = locate(w, i, space, address_of(w, i, bits, 0), 16 * size, size, true);
            u8 *more =
                at ? locate(w, i, space, address_of(w, i, bits, 16), 16 * size, size, true) : NULL;
            if (LIKELY(more != NULL)) {
                p->run_halves(w, i, at, more);
                return;
            }
        }
    }
    general(w, i, size, p);
}

/* Local memory: lanes that use the same offset write whole rows. */
INLINE void local_rows(const warp *w, const insn *i, element e, int count, u64 at)
{
    unsigned bytes = element_bytes(e);
    sources s = sources_of(w, i, count);
    for (int k = 0; k < count; k++, at += bytes) {
        u32 *restrict row = local_row(w, at);
        const u64 *restrict doubles = DOUBLES(s.slot[k]);
        const u32 *restrict words = WORDS(s.slot[k]);
        unsigned shift = 8 * (at & 3);
        u32 part = (bytes == 1 ? 0xffu : 0xffffu) << shift;
        for (int l = 0; l < WARP_LANES; l++) {
            if (e == ELEMENT_64) {
                row[l] = (u32)doubles[l];
                row[WARP_LANES + l] = (u32)(doubles[l] >> 32);
            } else if (e == ELEMENT_32) {
                row[l] = words[l];
            } else {
                row[l] = (row[l] & ~part) | (words[l] << shift & part);
            }
        }
    }
}

/* One address for all lanes, known when the code was lowered: the highest lane's value stays. */
INLINE void store_uniform_full(warp *w, const insn *i, memory_space space, unsigned size,
                               const parts *p, handler *some)
{
    u64 address = address_of(w, i, 64, 0);
    if (space == MEMORY_LOCAL) {
        if (local_valid(w, address, size)) p->rows(w, i, address);
        else some(w, i);
        return;
    }
    u8 *at = LIKELY(w->mask != 0) ? locate(w, i, space, address, size, size, true) : NULL;
    if (LIKELY(at != NULL)) p->same(w, i, at);
    else some(w, i);
}

#define STORE_PARTS(how, suffix, e, count)                                                         \
    static void store_run_##suffix(warp *w, const insn *i, u8 *at)                                 \
    {                                                                                              \
        store_run(sources_of(w, i, count), e, count, 0, 32, at);                                   \
    }                                                                                              \
    static void store_run_halves_##suffix(warp *w, const insn *i, u8 *at, u8 *more)                \
    {                                                                                              \
        store_run(sources_of(w, i, count), e, count, 0, 16, at);                                   \
        store_run(sources_of(w, i, count), e, count, 16, 16, more);                                \
    }                                                                                              \
    static void store_same_##suffix(warp *w, const insn *i, u8 *at)                                \
    {                                                                                              \
        store_lane(sources_of(w, i, count), e, count, 31 - __builtin_clz(w->mask), at);            \
    }                                                                                              \
    static void store_rows_##suffix(warp *w, const insn *i, u64 at)                                \
    {                                                                                              \
        local_rows(w, i, e, count, at);                                                            \
    }                                                                                              \
    static void store_each_##suffix(warp *w, const insn *i, const u64 *addresses, u64 base)        \
    {                                                                                              \
        sources s = sources_of(w, i, count);                                                       \
        for (int l = 0; l < WARP_LANES; l++)                                                       \
            store_lane(s, e, count, l, host_pointer(base + addresses[l]));                         \
    }                                                                                              \
    static void store_each32_##suffix(warp *w, const insn *i, const u32 *offsets, u8 *base)        \
    {                                                                                              \
        sources s = sources_of(w, i, count);                                                       \
        for (int l = 0; l < WARP_LANES; l++) store_lane(s, e, count, l, base + offsets[l]);        \
    }                                                                                              \
    static const parts store_parts_##suffix = { store_run_##suffix,   store_run_halves_##suffix,   \
                                                store_same_##suffix,  NULL,                        \
                                                store_rows_##suffix,  store_each_##suffix,         \
                                                store_each32_##suffix };

#define STORE_ELEMENTS(row)                                                                        \
    row(OTHER, b8, ELEMENT_U8, 1) row(OTHER, b16, ELEMENT_U16, 1) row(COMMON, b32, ELEMENT_32, 1)  \
        row(COMMON, b64, ELEMENT_64, 1) row(OTHER, b32x2, ELEMENT_32, 2)                           \
            row(OTHER, b32x4, ELEMENT_32, 4) row(OTHER, b64x2, ELEMENT_64, 2)

#define ACCESS(name)    store_##name
#define ACCESS_INDEXED  INDEXED_STORE
#define ACCESS_ELEMENTS STORE_ELEMENTS
#define ACCESS_HANDLERS ISA_NAME(ptx_store_handlers)
#define ACCESS_WRITES   true
STORE_ELEMENTS(STORE_PARTS)
#include "ptx/exec/memory_forms.h"
