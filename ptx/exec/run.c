/* The interpreter's loop: runs one warp until no split of it is ready, or until it has waited long
 * enough for something outside.
 *
 * Forward progress.  The lowest split runs first, so lanes that spin at a low place could keep those
 * that they wait for from running.  Therefore backward branches are counted: after some of them a
 * split that has looked at memory which others may change steps back behind the other splits of its
 * warp, and when all have, the other warps get their turn.  SPDX-License-Identifier: MIT */
#include "ptx/exec/isa.h"
#include "ptx/exec/ops.h"
#include "ptx/exec/shadow.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    FUEL = 64,      /* backward branches between two looks at the outside */
    PATIENCE = 256, /* such rounds that a split may run without polling while others are ready */
};

static inline void expand_mask(warp *w, u32 mask)
{
    u32 *out = w->lane_mask;
    OP_LANES
    {
        out[l] = mask >> l & 1 ? ALL_LANES : 0;
    }
}

static inline u32 guarded_lanes(const warp *w, const insn *i)
{
    if (i->guard == NO_SLOT) return w->mask;
    u32 holds = *(const u32 *)(const void *)(w->regs + i->guard);
    return w->mask & (i->flags & INSN_GUARD_NEGATED ? ~holds : holds);
}

/* Runs a plain instruction for the lanes whose guard holds. */
static inline void run_guarded(warp *w, const insn *i, bool full)
{
    u32 before = w->mask, lanes = guarded_lanes(w, i);
    if (lanes == before) {
        i->run[full](w, i);
        return;
    }
    if (!lanes) return;
    w->mask = lanes;
    expand_mask(w, lanes);
    i->run[0](w, i);
    /* A fault may have ended some of them. */
    w->mask = before & w->live;
    if (!full) expand_mask(w, w->mask);
}

static inline void count(warp *w, u64 instructions)
{
    w->executed += instructions;
    w->lanes_executed += instructions * (u64)__builtin_popcount(w->mask);
}

/* What an instruction that ends a stretch of code leads to. */
typedef enum next {
    NEXT_GOES_ON, /* with the instruction behind it, or at the target of the branch */
    NEXT_SPLIT,   /* the active lanes are in splits or gone */
    NEXT_STOPS,   /* the launch ends; the lanes are in splits */
} next;

/* Sends each lane of an indexed branch to its target. */
static next indexed_branch(warp *w, const insn *i)
{
    const code *c = w->frame->code;
    const target_table *table = &c->tables[i->extra];
    const u32 *index = OP_AT(u32, i->a);
    for (u32 left = w->mask; left;) {
        u32 value = index[__builtin_ctz(left)], same = 0;
        for (u32 rest = left; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            if (index[l] == value) same |= 1u << l;
        }
        left &= ~same;
        if (value < table->count) ptx_split_add(w, w->frame, table->targets[value], same, false);
        else ptx_fault(w, i, same, PTX_FAULT_INVALID_CALL, NULL, NULL);
    }
    return NEXT_SPLIT;
}

static next pause_lanes(warp *w, const insn *i, u32 pc)
{
    const u32 *times = OP_AT(u32, i->a);
    u32 longest = 0;
    for (u32 rest = w->mask; rest; rest &= rest - 1) {
        u32 time = times[__builtin_ctz(rest)];
        longest = time > longest ? time : longest;
    }
    w->block->worker->ticks += longest;
    w->polled = true;
    ptx_split_add(w, w->frame, pc + 1, w->mask, true);
    return ptx_launch_tick(w) ? NEXT_STOPS : NEXT_SPLIT;
}

/* Everything but plain instructions and branches. */
static __attribute__((noinline)) next control_instruction(warp *w, const insn *i, u32 pc)
{
    switch ((control)i->control) {
    case CONTROL_INDEXED: return indexed_branch(w, i);
    case CONTROL_CALL: ptx_enter_call(w, i); return NEXT_SPLIT;
    case CONTROL_RETURN:
        if (w->frame != w->root) {
            ptx_leave_call(w, i);
            return NEXT_SPLIT;
        }
        ptx_exit_lanes(w, w->mask);
        return NEXT_SPLIT;
    case CONTROL_EXIT: ptx_exit_lanes(w, w->mask); return NEXT_SPLIT;
    case CONTROL_SYSTEM: ptx_builtin_call(w, i); break;
    case CONTROL_BARRIER:
        if (ptx_barrier(w, i)) break;
        return NEXT_SPLIT;
    case CONTROL_CLUSTER:
        if (ptx_cluster_barrier(w, i)) break;
        return NEXT_SPLIT;
    case CONTROL_COLLECT:
        if (ptx_collect(w, i) == COLLECT_DONE) break;
        return NEXT_SPLIT;
    case CONTROL_CLOCK:
        w->polled = true;
        ptx_read_clock(w, i);
        break;
    case CONTROL_PAUSE: return pause_lanes(w, i, pc);
    case CONTROL_TRAP:
        ptx_fault(w, i, w->mask,
                  i->size ? PTX_FAULT_BREAKPOINT
                  : w->frame->code->reads_workspace && !w->block->launch->workspace
                      ? PTX_FAULT_GRID_SYNC
                      : PTX_FAULT_TRAP,
                  NULL, NULL);
        return NEXT_SPLIT;
    default: break;
    }
    return w->mask ? NEXT_GOES_ON : NEXT_SPLIT;
}

/* A split used up its fuel at a backward branch to `target`. */
static __attribute__((noinline)) next out_of_fuel(warp *w, u32 target, u32 *rounds)
{
    bool polled = w->polled;
    w->polled = false;
    if (ptx_launch_tick(w)) {
        ptx_split_add(w, w->frame, target, w->mask, false);
        return NEXT_STOPS;
    }
    bool others = ptx_split_others_ready(w);
    if (polled || (others && ++*rounds >= PATIENCE)) {
        *rounds = 0;
        ptx_split_add(w, w->frame, target, w->mask, true);
        return NEXT_SPLIT;
    }
    return NEXT_GOES_ON;
}

/* Makes a split the running one. */
static inline const insn *activate(warp *w, const split *now)
{
    frame *f = now->frame;
    w->frame = f;
    w->regs = f->regs;
    w->local_top = f->local_base + f->code->local_size;
    w->mask = now->mask;
    if (w->mask != w->live) expand_mask(w, w->mask);
    return f->code->insns + now->pc;
}

/* Runs the split until it parks, joins another one, or ends.  True: the launch stops.  `watched` is a
 * constant: every instruction is shown to the checker of undefined values first. */
static inline __attribute__((always_inline)) bool run_split_as(warp *w, const insn *i, u32 stop_pc,
                                                               bool lowest, u32 *fuel, u32 *rounds,
                                                               const bool watched)
{
    frame *const f = w->frame;
    const insn *const base = f->code->insns, *start = i;
    const insn *stop = base + (stop_pc < f->code->count ? stop_pc : f->code->count);
    bool full = w->mask == w->live;
    for (;;) {
        while (LIKELY(i->control == CONTROL_NONE)) {
            if (watched) ptx_watch_step(w, i, w->mask);
            i->run[full](w, i);
            i++;
        }
        if (UNLIKELY(i >= stop)) {
            /* Another split waits here. */
            count(w, (u64)(i - start));
            ptx_split_add(w, f, (u32)(i - base), w->mask, false);
            return false;
        }
        if (i->control == CONTROL_CHECKED) {
            if (i->flags & INSN_POLLS) w->polled = true;
            if (watched) ptx_watch_step(w, i, guarded_lanes(w, i));
            if (i->guard == NO_SLOT) i->run[full](w, i);
            else run_guarded(w, i, full);
            i++;
            if (!watched && UNLIKELY(w->watched)) {
                count(w, (u64)(i - start));
                ptx_split_add(w, f, (u32)(i - base), w->mask, false);
                return false;
            }
            continue;
        }
        if (UNLIKELY(!w->mask)) return false;
        if (LIKELY(i->control == CONTROL_BRANCH)) {
            const insn *target = base + i->target, *behind = i + 1;
            u32 taken = guarded_lanes(w, i), rest = w->mask & ~taken;
            bool back = target <= i;
            if (!taken) {
                i++;
                continue;
            }
            count(w, (u64)(behind - start));
            if (back && UNLIKELY(--*fuel == 0)) {
                *fuel = FUEL;
                w->mask = taken;
                next then = out_of_fuel(w, i->target, rounds);
                w->mask = taken | rest;
                if (then != NEXT_GOES_ON) {
                    ptx_split_add(w, f, (u32)(behind - base), rest, false);
                    return then == NEXT_STOPS;
                }
            }
            if (!rest && target < stop && (lowest || !back)) {
                i = start = target;
            } else if (rest && lowest) {
                /* Go on with the lower part; the other waits ahead. */
                const insn *ahead = back ? behind : target;
                ptx_split_add(w, f, (u32)(ahead - base), back ? rest : taken, false);
                w->mask = back ? taken : rest;
                expand_mask(w, w->mask);
                full = false;
                i = start = back ? target : behind;
                if (ahead < stop) stop = ahead;
            } else {
                ptx_split_add(w, f, i->target, taken, false);
                ptx_split_add(w, f, (u32)(behind - base), rest, false);
                return false;
            }
            continue;
        }
        count(w, (u64)(i + 1 - start));
        start = i + 1;
        if (watched) ptx_watch_step(w, i, w->mask);
        next then = control_instruction(w, i, (u32)(i - base));
        if (then != NEXT_GOES_ON) return then == NEXT_STOPS;
        full = w->mask == w->live;
        if (!full) expand_mask(w, w->mask);
        i++;
    }
}

static bool run_split(warp *w, const insn *i, u32 stop_pc, bool lowest, u32 *fuel, u32 *rounds)
{
    return run_split_as(w, i, stop_pc, lowest, fuel, rounds, false);
}

static __attribute__((noinline)) bool run_watched(warp *w, const insn *i, u32 stop_pc, bool lowest,
                                                  u32 *fuel, u32 *rounds)
{
    return run_split_as(w, i, stop_pc, lowest, fuel, rounds, true);
}

run_state ISA_NAME(ptx_run)(warp *w)
{
    u32 rounds = 0, fuel = FUEL;
    run_state result = RUN_WAITS;
    bool stops = false;
    while (!stops) {
        split now;
        u32 stop_pc;
        bool lowest;
        if (!ptx_split_take(w, &now, &stop_pc, &lowest)) {
            if (ptx_collect_settle(w) || ptx_barrier_settle(w)) continue;
            if (ptx_split_unrotate(w)) result = RUN_YIELDS;
            break;
        }
        stops = w->watched ? run_watched(w, activate(w, &now), stop_pc, lowest, &fuel, &rounds)
                           : run_split(w, activate(w, &now), stop_pc, lowest, &fuel, &rounds);
        if (w->frame != w->root && !w->frame->lanes) ptx_frame_release(w, w->frame);
        w->frame = w->root;
        w->regs = w->root->regs;
    }
    w->mask = 0;
    return stops ? RUN_STOPS : result;
}
