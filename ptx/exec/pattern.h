/* From the 32 addresses of a warp to host memory; included by the handlers of loads, stores and
 * atomics, which are compiled once per instruction set.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_PATTERN_H
#define PTX_EXEC_PATTERN_H

#include <string.h>

#include "ptx/exec/block.h"
#include "ptx/exec/memory.h"
#include "ptx/exec/ops.h"

#define INLINE      static inline __attribute__((always_inline))
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef enum pattern {
    PATTERN_GENERAL,
    PATTERN_CONTIGUOUS,       /* lane l is at first + l * step */
    PATTERN_BROADCAST,        /* all the same */
    PATTERN_HALVES,           /* two contiguous runs of 16 lanes */
    PATTERN_BROADCAST_HALVES, /* two addresses, for 16 lanes each */
} pattern;

/* `step` is a constant in every use.  Both halves are looked at together, with one reduction. */
#define PATTERN_FUNCTIONS(T)                                                                       \
    INLINE bool steady_##T(const T *a, T step)                                                     \
    {                                                                                              \
        T differs = 0, first = a[0], second = a[16];                                               \
        for (int l = 0; l < 16; l++) {                                                             \
            T along = (T)(step * (T)l);                                                            \
            differs |= (a[l] ^ (T)(first + along)) | (a[16 + l] ^ (T)(second + along));            \
        }                                                                                          \
        return !differs;                                                                           \
    }                                                                                              \
    INLINE pattern classify_##T(const T *a, T step)                                                \
    {                                                                                              \
        T found = (T)(a[1] - a[0]);                                                                \
        if (found == step) {                                                                       \
            if (!steady_##T(a, step)) return PATTERN_GENERAL;                                      \
            return (T)(a[16] - a[0]) == (T)(step * 16) ? PATTERN_CONTIGUOUS : PATTERN_HALVES;      \
        }                                                                                          \
        if (found == 0 && steady_##T(a, 0))                                                        \
            return a[16] == a[0] ? PATTERN_BROADCAST : PATTERN_BROADCAST_HALVES;                   \
        return PATTERN_GENERAL;                                                                    \
    }
PATTERN_FUNCTIONS(u32)
PATTERN_FUNCTIONS(u64)

/* How the address of an instruction is held: bits of the slot, or the two indexed forms.  A constant
 * wherever it is used. */
enum { INDEXED_LOAD = 96, INDEXED_STORE = 97 };

INLINE u64 base_of(const warp *w, const insn *i, int bits)
{
    return OP_AT(u64, bits == INDEXED_LOAD ? i->f : i->d)[0] + (u64)i->imm;
}

INLINE u64 scaled(const insn *i, u32 index)
{
    return (i->space & SPACE_SIGNED ? (u64)(s64)(s32)index : index) * i->target;
}

/* Indices that go up one by one, without a wrap, and are multiplied with the size of the access. */
INLINE pattern classify_indices(const insn *i, const u32 *a, unsigned step)
{
    pattern p = classify_u32(a, 1);
    if (p != PATTERN_CONTIGUOUS && p != PATTERN_HALVES) return p;
    bool wraps = a[15] < a[0] || a[31] < a[16] || (s32)a[15] < (s32)a[0] ||
                 (s32)a[31] < (s32)a[16] ||
                 (p == PATTERN_CONTIGUOUS && (a[31] < a[0] || (s32)a[31] < (s32)a[0]));
    return wraps || i->target != step ? PATTERN_GENERAL : p;
}

INLINE pattern classify(const warp *w, const insn *i, int bits, unsigned step)
{
    if (bits > 64) return classify_indices(i, OP_AT(u32, i->a), step);
    if (bits == 32) return classify_u32((const u32 *)OP_AT(u32, i->a), step);
    return classify_u64((const u64 *)OP_AT(u64, i->a), step);
}

INLINE u64 address_of(const warp *w, const insn *i, int bits, int lane)
{
    if (bits > 64) return base_of(w, i, bits) + scaled(i, OP_AT(u32, i->a)[lane]);
    if (bits == 32) return (u32)(OP_AT(u32, i->a)[lane] + (u32)i->imm);
    return OP_AT(u64, i->a)[lane] + (u64)i->imm;
}

INLINE void addresses_of(const warp *w, const insn *i, int bits, u64 *out)
{
    if (bits > 64) {
        const u32 *a = OP_AT(u32, i->a);
        const u64 base = base_of(w, i, bits), scale = i->target;
        if (i->space & SPACE_SIGNED) {
            OP_LANES
            {
                out[l] = base + (u64)((s64)(s32)a[l] * (s64)scale);
            }
        } else {
            OP_LANES
            {
                out[l] = base + a[l] * scale;
            }
        }
    } else if (bits == 32) {
        const u32 *a = OP_AT(u32, i->a);
        OP_LANES
        {
            out[l] = (u32)(a[l] + (u32)i->imm);
        }
    } else {
        const u64 *a = OP_AT(u64, i->a);
        OP_LANES
        {
            out[l] = a[l] + (u64)i->imm;
        }
    }
}

/* The range of allocations last seen by this instruction, or a new one that holds the access. */
static __attribute__((noinline, unused)) bool refill(warp *w, const insn *i, u64 address, u64 size,
                                                     bool writes)
{
    range found;
    if (!ptx_memory_lookup(w->block->launch->memory, address, size, writes, &found)) return false;
    w->block->ranges[i->extra] = found;
    return true;
}

INLINE u8 *host_pointer(u64 address)
{
    return (u8 *)(uintptr_t)address;
}

INLINE bool within(const range *r, u64 address, u64 size)
{
    return address >= r->lo && address <= r->hi - size;
}

/* Host memory of `size` bytes from `address` on, aligned to `align`; NULL: not all of it is valid. */
INLINE u8 *locate(warp *w, const insn *i, memory_space space, u64 address, unsigned size,
                  unsigned align, bool writes)
{
    if (UNLIKELY(address & (align - 1))) return NULL;
    if (space == MEMORY_SHARED) {
        const block *b = w->block;
        return LIKELY(address < b->shared_size && size <= b->shared_size - address)
                   ? b->shared + address
                   : NULL;
    }
    const range *r = &w->block->ranges[i->extra];
    if (LIKELY(within(r, address, size)) || refill(w, i, address, size, writes))
        return host_pointer(address + r->bias);
    return NULL;
}

/* What to add to all 32 general addresses; false: they are not all valid within one allocation, or
 * not aligned.  Signed, for which there is a vector compare; valid addresses are below 2^63. */
INLINE bool locate_all(warp *w, const insn *i, memory_space space, const u64 *addresses,
                       unsigned size, bool writes, u64 *base)
{
    s64 low = INT64_MAX, high = INT64_MIN, all = 0;
    for (int l = 0; l < WARP_LANES; l++) {
        s64 at = (s64)addresses[l];
        low = at < low ? at : low;
        high = at > high ? at : high;
        all |= at;
    }
    if (UNLIKELY(all & (size - 1)) || UNLIKELY(low < 0)) return false;
    if (space == MEMORY_SHARED) {
        const block *b = w->block;
        *base = (u64)(uintptr_t)b->shared;
        return LIKELY(high < b->shared_size && size <= b->shared_size - high);
    }
    const range *r = &w->block->ranges[i->extra];
    if (UNLIKELY((u64)low < r->lo || (u64)high > r->hi - size))
        if (!refill(w, i, (u64)low, (u64)(high - low) + size, writes)) return false;
    *base = r->bias;
    return true;
}

/* The same for 32-bit addresses of shared memory. */
INLINE bool locate_all32(const warp *w, const u32 *offsets, unsigned size)
{
    const block *b = w->block;
    u32 high = 0, all = 0;
    for (int l = 0; l < WARP_LANES; l++) {
        high = offsets[l] > high ? offsets[l] : high;
        all |= offsets[l];
    }
    return LIKELY(!(all & (size - 1)) && high < b->shared_size && size <= b->shared_size - high);
}

/* What is done once the addresses are known: functions for one element and count. */
typedef struct parts {
    void (*run)(warp *w, const insn *i, u8 *at); /* lane l + 1 follows lane l in memory */
    void (*run_halves)(warp *w, const insn *i, u8 *at, u8 *more); /* by 16 lanes */
    void (*same)(warp *w, const insn *i, u8 *at);                 /* one place for all lanes */
    void (*same_halves)(warp *w, const insn *i, u8 *at, u8 *more);
    void (*rows)(warp *w, const insn *i, u64 at); /* one offset in the local memory of all lanes */
    void (*each)(warp *w, const insn *i, const u64 *addresses, u64 base);
    void (*each32)(warp *w, const insn *i, const u32 *offsets, u8 *base);
} parts;

/* Handlers of the elements of most kernels hold their parts; all others share one, which calls them. */
typedef void shared_handler(warp *w, const insn *i, unsigned size, const parts *p);
#define OWN    static __attribute__((flatten)) void
#define SHARED static __attribute__((noinline, noclone)) void

/* Addresses without a pattern; kept out of the fast handlers, which need no stack.  `some` takes what
 * is not valid for all lanes. */
INLINE void without_pattern(warp *w, const insn *i, memory_space space, int bits, unsigned size,
                            bool writes, const parts *p, handler *some)
{
    if (UNLIKELY(w->mask != ALL_LANES)) {
        some(w, i);
    } else if (bits == 32) {
        _Alignas(64) u32 offsets[WARP_LANES];
        const u32 *a = OP_AT(u32, i->a);
        OP_LANES
        {
            offsets[l] = a[l] + (u32)i->imm;
        }
        if (LIKELY(locate_all32(w, offsets, size))) p->each32(w, i, offsets, w->block->shared);
        else some(w, i);
    } else {
        _Alignas(64) u64 a[WARP_LANES];
        u64 base;
        addresses_of(w, i, bits, a);
        if (LIKELY(locate_all(w, i, space, a, size, writes, &base))) p->each(w, i, a, base);
        else some(w, i);
    }
}

/* True when no address of the warp is in a window. */
INLINE bool all_global(const warp *w, const insn *i)
{
    const u64 *a = OP_AT(u64, i->a);
    u64 all = 0;
    for (int l = 0; l < WARP_LANES; l++) all |= a[l] + (u64)i->imm;
    return all < WINDOW_SHARED;
}

/* Word `offset / 4` of local memory: 32 words, one for each lane. */
INLINE u32 *local_row(const warp *w, u64 offset)
{
    return (u32 *)(void *)(w->local + (offset >> 2) * (4 * WARP_LANES));
}

INLINE bool local_valid(const warp *w, u64 offset, unsigned size)
{
    return LIKELY(!(offset & (size - 1)) && offset < w->local_top && size <= w->local_top - offset);
}

#endif
