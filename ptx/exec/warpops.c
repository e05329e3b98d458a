/* What collectives compute, once all lanes that take part have come (collect.c sees to that).
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/collect.h"
#include "ptx/exec/isa.h"
#include "ptx/exec/ops.h"

#define FOR_LANES(lanes) for (u32 rest = (lanes); rest; rest &= rest - 1)

static inline void write_lanes(warp *w, u32 slot, u32 own, const u32 *values)
{
    if (slot == NO_SLOT) return;
    u32 *d = OP_AT(u32, slot);
    if (own == ALL_LANES) memcpy(d, values, 4 * WARP_LANES);
    else FOR_LANES(own) d[__builtin_ctz(rest)] = values[__builtin_ctz(rest)];
}

static inline void write_predicate(warp *w, u32 slot, u32 own, u32 values)
{
    if (slot == NO_SLOT) return;
    u32 *d = OP_PREDICATE(slot);
    *d = (*d & ~own) | (values & own);
}

/* ------------------------------------------------------------------ shfl */

static inline __attribute__((always_inline)) void shuffle(warp *w, const insn *i, const u32 *source,
                                                          u32 own, collective_kind kind)
{
    const u32 *b = OP_AT(u32, i->b), *c = OP_AT(u32, i->c);
    _Alignas(64) u32 from[WARP_LANES], inside[WARP_LANES], result[WARP_LANES];
    OP_LANES
    {
        s32 segment = (s32)(c[l] >> 8 & 31), clamp = (s32)(c[l] & 31), by = (s32)(b[l] & 31);
        s32 least = l & segment, most = least | (clamp & ~segment);
        s32 at = kind == COLLECTIVE_SHFL_UP     ? l - by
                 : kind == COLLECTIVE_SHFL_DOWN ? l + by
                 : kind == COLLECTIVE_SHFL_BFLY ? l ^ by
                                                : least | (by & ~segment);
        bool valid = kind == COLLECTIVE_SHFL_UP ? at >= most : at <= most;
        from[l] = (u32)(valid ? at : l);
        inside[l] = valid ? 1u << l : 0;
    }
    u32 valid = 0;
    for (int l = 0; l < WARP_LANES; l++) valid |= inside[l];
    for (int l = 0; l < WARP_LANES; l++) result[l] = source[from[l] & 31];
    write_lanes(w, i->d, own, result);
    write_predicate(w, i->e, own, valid);
}

/* ------------------------------------------------------------------ match, redux */

static void match(warp *w, const insn *i, const void *source, u32 group, u32 own, bool all)
{
    const u32 *words = source;
    const u64 *doubles = source;
    u32 result[WARP_LANES] = { 0 };
    for (u32 left = group; left;) {
        int first = __builtin_ctz(left);
        u32 same = 0;
        FOR_LANES(left)
        {
            int l = __builtin_ctz(rest);
            bool equal = i->size == 8 ? doubles[l] == doubles[first] : words[l] == words[first];
            if (equal) same |= 1u << l;
        }
        FOR_LANES(same) result[__builtin_ctz(rest)] = same;
        left &= ~same;
    }
    if (all) {
        bool one = result[__builtin_ctz(group)] == group;
        if (!one) memset(result, 0, sizeof result);
        write_predicate(w, i->e, own, one ? ALL_LANES : 0);
    }
    write_lanes(w, i->d, own, result);
}

static u32 reduce_float(const u32 *values, u32 group, u32 operation)
{
    bool minimum = (operation & 15) == REDUX_FMIN, any = false, nan = false;
    f32 best = 0;
    FOR_LANES(group)
    {
        u32 bits = values[__builtin_ctz(rest)];
        if (operation & REDUX_ABS) bits &= 0x7fffffffu;
        if ((bits & 0x7fffffffu) > 0x7f800000u) {
            nan = true;
            continue;
        }
        f32 value;
        memcpy(&value, &bits, sizeof value);
        u32 best_bits;
        memcpy(&best_bits, &best, sizeof best_bits);
        /* Minus zero is less than plus zero. */
        bool less = value < best || (value == best && bits >> 31 > best_bits >> 31);
        bool more = value > best || (value == best && bits >> 31 < best_bits >> 31);
        if (!any || (minimum ? less : more)) best = value;
        any = true;
    }
    u32 result;
    memcpy(&result, &best, sizeof result);
    return !any || (nan && (operation & REDUX_NAN)) ? 0x7fffffffu : result;
}

static u32 reduce(const u32 *values, u32 group, u32 operation)
{
    if ((operation & 15) >= REDUX_FMIN) return reduce_float(values, group, operation);
    u32 result = values[__builtin_ctz(group)];
    FOR_LANES(group & (group - 1))
    {
        u32 v = values[__builtin_ctz(rest)];
        switch (operation) {
        case REDUX_ADD: result += v; break;
        case REDUX_AND: result &= v; break;
        case REDUX_OR: result |= v; break;
        case REDUX_XOR: result ^= v; break;
        case REDUX_UMIN: result = v < result ? v : result; break;
        case REDUX_UMAX: result = v > result ? v : result; break;
        case REDUX_SMIN: result = (s32)v < (s32)result ? v : result; break;
        default: result = (s32)v > (s32)result ? v : result;
        }
    }
    return result;
}

static void write_same(warp *w, u32 slot, u32 own, u32 value)
{
    u32 values[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) values[l] = value;
    write_lanes(w, slot, own, values);
}

/* ------------------------------------------------------------------ all of them */

static inline __attribute__((always_inline)) void
compute(warp *w, const insn *i, const void *source, u32 group, u32 own, collective_kind kind)
{
    u32 votes;
    switch (kind) {
    case COLLECTIVE_SHFL_UP:
    case COLLECTIVE_SHFL_DOWN:
    case COLLECTIVE_SHFL_BFLY:
    case COLLECTIVE_SHFL_IDX: shuffle(w, i, source, own, kind); break;
    case COLLECTIVE_VOTE_ALL:
    case COLLECTIVE_VOTE_ANY:
    case COLLECTIVE_VOTE_UNI:
    case COLLECTIVE_VOTE_BALLOT:
        votes = *(const u32 *)source & group;
        if (kind == COLLECTIVE_VOTE_BALLOT) write_same(w, i->d, own, votes);
        else
            write_predicate(w, i->d, own,
                            kind == COLLECTIVE_VOTE_ALL   ? (votes == group ? ALL_LANES : 0)
                            : kind == COLLECTIVE_VOTE_ANY ? (votes ? ALL_LANES : 0)
                            : !votes || votes == group    ? ALL_LANES
                                                          : 0);
        break;
    case COLLECTIVE_MATCH_ANY: match(w, i, source, group, own, false); break;
    case COLLECTIVE_MATCH_ALL: match(w, i, source, group, own, true); break;
    case COLLECTIVE_REDUX: write_same(w, i->d, own, reduce(source, group, i->size)); break;
    case COLLECTIVE_ELECT:
        write_same(w, i->d, own, (u32)__builtin_ctz(group));
        write_predicate(w, i->e, own, group & -group);
        break;
    default: break;
    }
}

void ISA_NAME(ptx_collective)(warp *w, const insn *i, const void *source, u32 group, u32 own)
{
    compute(w, i, source, group, own, (collective_kind)i->space);
}

/* The common case: the active lanes are the whole group.  The values of a shuffle are copied, for the
 * destination may be their slot. */
#define HANDLER(name, kind, wide)                                                                  \
    static void name(warp *w, const insn *i)                                                       \
    {                                                                                              \
        if (wide) {                                                                                \
            compute(w, i, OP_AT(u64, i->a), w->mask, w->mask, kind);                               \
        } else {                                                                                   \
            _Alignas(64) u32 values[WARP_LANES];                                                   \
            memcpy(values, OP_AT(u32, i->a), sizeof values);                                       \
            compute(w, i, values, w->mask, w->mask, kind);                                         \
        }                                                                                          \
    }
#define PREDICATE_HANDLER(name, kind)                                                              \
    static void name(warp *w, const insn *i)                                                       \
    {                                                                                              \
        u32 votes = *OP_PREDICATE(i->a);                                                           \
        compute(w, i, &votes, w->mask, w->mask, kind);                                             \
    }
#define BARE_HANDLER(name, kind)                                                                   \
    static void name(warp *w, const insn *i)                                                       \
    {                                                                                              \
        compute(w, i, NULL, w->mask, w->mask, kind);                                               \
    }

HANDLER(shfl_up, COLLECTIVE_SHFL_UP, false)
HANDLER(shfl_down, COLLECTIVE_SHFL_DOWN, false)
HANDLER(shfl_bfly, COLLECTIVE_SHFL_BFLY, false)
HANDLER(shfl_idx, COLLECTIVE_SHFL_IDX, false)
PREDICATE_HANDLER(vote_all, COLLECTIVE_VOTE_ALL)
PREDICATE_HANDLER(vote_any, COLLECTIVE_VOTE_ANY)
PREDICATE_HANDLER(vote_uni, COLLECTIVE_VOTE_UNI)
PREDICATE_HANDLER(vote_ballot, COLLECTIVE_VOTE_BALLOT)
HANDLER(match_any_32, COLLECTIVE_MATCH_ANY, false)
HANDLER(match_any_64, COLLECTIVE_MATCH_ANY, true)
HANDLER(match_all_32, COLLECTIVE_MATCH_ALL, false)
HANDLER(match_all_64, COLLECTIVE_MATCH_ALL, true)
HANDLER(redux, COLLECTIVE_REDUX, false)
BARE_HANDLER(elect, COLLECTIVE_ELECT)
BARE_HANDLER(sync_warp, COLLECTIVE_SYNC)

handler *ISA_NAME(ptx_collective_handler)(collective_kind kind, unsigned size)
{
    switch (kind) {
    case COLLECTIVE_SHFL_UP: return shfl_up;
    case COLLECTIVE_SHFL_DOWN: return shfl_down;
    case COLLECTIVE_SHFL_BFLY: return shfl_bfly;
    case COLLECTIVE_SHFL_IDX: return shfl_idx;
    case COLLECTIVE_VOTE_ALL: return vote_all;
    case COLLECTIVE_VOTE_ANY: return vote_any;
    case COLLECTIVE_VOTE_UNI: return vote_uni;
    case COLLECTIVE_VOTE_BALLOT: return vote_ballot;
    case COLLECTIVE_MATCH_ANY: return size == 8 ? match_any_64 : match_any_32;
    case COLLECTIVE_MATCH_ALL: return size == 8 ? match_all_64 : match_all_32;
    case COLLECTIVE_REDUX: return redux;
    case COLLECTIVE_ELECT: return elect;
    default: return sync_warp;
    }
}
