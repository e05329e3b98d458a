/* Units of work: building the blocks of a cluster (or one block), running them round by round, and
 * the worker that does so with several at once.  SPDX-License-Identifier: MIT */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "ptx/exec/check.h"
#include "ptx/exec/isa.h"
#include "ptx/exec/shadow.h"
#include "ptx/float_mode.h"

enum {
    FIRST_PATIENCE = 64, /* rounds a unit may spin before others get their turn */
    COOPERATIVE_PATIENCE = 2,
    IDLE_BEFORE_SLEEP = 64, /* fruitless turns of all units before the thread sleeps */
};

/* ------------------------------------------------------------------ memory of a unit */

static size_t align_size(size_t size)
{
    return (size + 63) / 64 * 64;
}

static void free_unit(unit *u)
{
    for (uint32_t k = 0; k < u->block_count; k++) {
        gpul__str_free(&u->blocks[k].printed);
        ptx_check_free(u->blocks[k].checker);
        for (uint32_t j = 0; j < u->blocks[k].warp_count; j++) {
            gpul__free(u->blocks[k].warps[j].local);
            ptx_watch_free(&u->blocks[k].warps[j]);
        }
    }
    gpul__free(u);
}

static unit *build_unit(worker *own)
{
    launch *l = own->launch;
    const code *c = l->kernel->code;
    size_t shared = align_size(l->shared_total), regs = align_size(c->regs_size);
    size_t per_warp = align_size(sizeof(warp)) + align_size(sizeof(frame)) + regs;
    size_t per_block = shared + per_warp * l->warps;
    size_t head = align_size(sizeof(unit)) + align_size(sizeof(block) * l->cluster_blocks);
    size_t size = head + per_block * l->cluster_blocks;
    uint8_t *at = gpul__aligned(64, size);
    if (!at) return NULL;
    memset(at, 0, size);
    unit *u = (unit *)(void *)at;
    u->blocks = (block *)(void *)(at + align_size(sizeof(unit)));
    u->block_count = l->cluster_blocks;
    at += head;
    for (uint32_t k = 0; k < u->block_count; k++) {
        block *b = &u->blocks[k];
        b->unit = u;
        b->worker = own;
        b->launch = l;
        b->params = l->params;
        b->shared = at;
        b->shared_size = l->shared_total;
        b->warps = (warp *)(void *)(at + shared);
        b->warp_count = l->warps;
        at += shared + align_size(sizeof(warp)) * l->warps;
        for (uint32_t j = 0; j < l->warps; j++) {
            warp *w = &b->warps[j];
            w->block = b;
            w->index = j;
            w->root = (frame *)(void *)at;
            at += align_size(sizeof(frame));
            *w->root = (frame){ .code = c, .jump = w->root, .regs = at };
            at += regs;
        }
    }
    for (uint32_t k = 0; k < u->block_count && own->launch->engine->options.checks; k++)
        if (!(u->blocks[k].checker = ptx_check_make(l))) {
            free_unit(u);
            return NULL;
        }
    return u;
}

/* ------------------------------------------------------------------ starting blocks */

static bool begin_warp(warp *w, bool fresh)
{
    const launch *l = w->block->launch;
    const code *c = l->kernel->code;
    uint32_t first = w->index * WARP_LANES, lanes = l->threads - first;
    w->exists = w->live = lanes >= WARP_LANES ? ALL_LANES : (1u << lanes) - 1;
    w->mask = 0;
    w->frame = w->root;
    w->regs = w->root->regs;
    w->frames = NULL;
    w->root->lanes = w->live;
    w->root->children = NULL;
    w->polled = false;
    w->cluster_lanes = 0;
    w->split_count = 0;
    ptx_watch_end(w);
    if (c->local_size && !ptx_local_reserve(w, c->local_size)) return false;
    ptx_local_forget(w, 0, c->local_size);
    if (fresh) ptx_fill_slots(c, w->regs, w, w->root);
    else ptx_fill_block_slots(c, w->regs, w);
    ptx_split_add(w, w->root, 0, w->live, false);
    return true;
}

/* ------------------------------------------------------------------ order */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The n-th of `count` things in an order that the seed gives: steps of one size around a circle. */
static uint64_t shuffled(uint64_t seed, uint64_t n, uint64_t count)
{
    if (!seed || count < 2 || count > UINT32_MAX) return n;
    uint64_t step = 1 + mix(seed) % (count - 1);
    while (common_divisor(step, count) != 1) step = step % (count - 1) + 1;
    uint64_t start = mix(seed + 1) % count;
    return (n * step + start) % count;
}

static bool begin_unit(unit *u, const launch *l, uint64_t index, bool fresh)
{
    const uint32_t *clusters = l->cluster_grid, *size = l->cluster_size;
    uint32_t at[3] = { (uint32_t)(index % clusters[0]),
                       (uint32_t)(index / clusters[0] % clusters[1]),
                       (uint32_t)(index / clusters[0] / clusters[1]) };
    /* Shared memory that nobody wrote holds anything on hardware. */
    int poison = l->engine->options.seed ? ptx_poison(l->engine->options.seed) : 0;
    u->index = index;
    u->patience = l->workspace ? COOPERATIVE_PATIENCE : FIRST_PATIENCE;
    for (uint32_t k = 0; k < u->block_count; k++) {
        block *b = &u->blocks[k];
        b->cluster_rank = k;
        b->cluster_at[0] = k % size[0];
        b->cluster_at[1] = k / size[0] % size[1];
        b->cluster_at[2] = k / size[0] / size[1];
        for (int d = 0; d < 3; d++) {
            b->cluster_index[d] = at[d];
            b->position[d] = at[d] * size[d] + b->cluster_at[d];
        }
        b->ranges = b->worker->ranges;
        b->live_threads = l->threads;
        b->active_barriers = 0;
        memset(b->barriers, 0, sizeof b->barriers);
        b->done = false;
        b->printed.length = 0;
        memset(b->shared, poison, b->shared_size);
        if (b->checker) ptx_check_begin(b);
        for (uint32_t j = 0; j < b->warp_count; j++)
            if (!begin_warp(&b->warps[j], fresh)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ running */

typedef enum round {
    ROUND_DONE,     /* every thread has exited */
    ROUND_PROGRESS, /* something happened besides spinning */
    ROUND_SPINS,
    ROUND_STUCK, /* nothing is ready */
    ROUND_STOPS, /* the launch ends */
} round_result;

static bool has_ready(const warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == SPLIT_READY) return true;
    return false;
}

/* Each warp runs once, as long as it can. */
static round_result run_block(block *b)
{
    run_state (*run)(warp *) = b->launch->program->isa->run;
    bool progress = false, spins = false;
    uint64_t seed = b->launch->engine->options.seed;
    if (seed) seed = mix(seed + b->unit->index + ++b->rounds);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[shuffled(seed, k, b->warp_count)];
        if (!has_ready(w)) continue;
        run_state state = run(w);
        if (state == RUN_STOPS) return ROUND_STOPS;
        spins |= state == RUN_YIELDS;
        progress |= state == RUN_WAITS;
        if (state == RUN_WAITS) ptx_warp_stuck(w);
        /* A warp that comes to a barrier in every round never runs long enough to count itself. */
        if (ptx_launch_tick(w)) return ROUND_STOPS;
    }
    progress |= ptx_barrier_release(b);
    if (!b->live_threads) return ROUND_DONE;
    return progress ? ROUND_PROGRESS : spins ? ROUND_SPINS : ROUND_STUCK;
}

static void end_block(block *b)
{
    uint64_t executed = 0, lanes = 0;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[k];
        executed += w->executed;
        lanes += w->lanes_executed;
        w->executed = w->lanes_executed = 0;
    }
    ptx_launch_add(b->worker, executed, lanes, false);
    b->done = true;
}

static round_result run_unit(unit *u)
{
    bool all_done = true, progress = false, spins = false;
    for (uint32_t k = 0; k < u->block_count; k++) {
        block *b = &u->blocks[k];
        if (b->done) continue;
        round_result r = run_block(b);
        if (r == ROUND_STOPS) return ROUND_STOPS;
        if (r == ROUND_DONE) end_block(b);
        all_done &= r == ROUND_DONE;
        progress |= r == ROUND_PROGRESS || r == ROUND_DONE;
        spins |= r == ROUND_SPINS;
    }
    if (all_done) return ROUND_DONE;
    if (ptx_cluster_release(u) || progress) return ROUND_PROGRESS;
    if (spins) return ROUND_SPINS;
    for (uint32_t k = 0; k < u->block_count; k++)
        if (!u->blocks[k].done) ptx_block_deadlock(&u->blocks[k]);
    return ROUND_PROGRESS;
}

/* ------------------------------------------------------------------ the worker */

static void clear_ranges(worker *own)
{
    memset(own->ranges, 0xff, own->range_count * sizeof *own->ranges);
    own->generation = ptx_memory_generation(own->launch->memory);
}

/* Takes the next unit of the launch.  False: there is none, or no memory for it. */
static bool start_unit(worker *own)
{
    launch *l = own->launch;
    if (own->resident_count >= l->resident_limit) return false;
    if (!own->has_pending) {
        own->pending = atomic_fetch_add(&l->next_unit, 1);
        if (own->pending >= l->units) {
            atomic_fetch_sub(&l->next_unit, 1);
            return false;
        }
        own->has_pending = true;
    }
    bool fresh = !own->free_units;
    unit *u = fresh ? build_unit(own) : own->free_units;
    if (u && !fresh) own->free_units = u->next;
    if (own->generation != ptx_memory_generation(l->memory)) clear_ranges(own);
    if (!u || !begin_unit(u, l, shuffled(l->engine->options.seed, own->pending, l->units), fresh)) {
        if (u) free_unit(u);
        /* With others at work, try again when they are done. */
        if (!own->resident_count) ptx_fault_launch(l, PTX_FAULT_OUT_OF_MEMORY);
        return false;
    }
    own->has_pending = false;
    unit **last = &own->resident;
    while (*last) last = &(*last)->next;
    u->next = NULL;
    *last = u;
    own->resident_count++;
    return true;
}

static void rest_a_moment(uint32_t fruitless)
{
    if (fruitless < IDLE_BEFORE_SLEEP) {
        sched_yield();
        return;
    }
    struct timespec pause = { 0, 50000 };
    nanosleep(&pause, NULL);
}

/* Runs the first resident unit until it is done or has spun for long; then it goes to the end of the
 * line.  True: it got on. */
static bool take_turn(worker *own)
{
    launch *l = own->launch;
    unit *u = own->resident;
    bool got_on = false;
    for (uint32_t spun = 0; spun < u->patience;) {
        if (atomic_load_explicit(&l->stop, memory_order_relaxed)) return true;
        round_result r = run_unit(u);
        if (r == ROUND_STOPS) return true;
        if (r == ROUND_DONE) {
            own->resident = u->next;
            own->resident_count--;
            ptx_print_flush(l, u, true);
            u->next = own->free_units;
            own->free_units = u;
            return true;
        }
        if (r == ROUND_PROGRESS) {
            got_on = true;
            spun = 0;
        } else {
            spun++;
        }
        ptx_print_flush(l, u, false);
    }
    u->patience = 1;
    if (u->next) {
        own->resident = u->next;
        unit **last = &own->resident;
        while (*last) last = &(*last)->next;
        u->next = NULL;
        *last = u;
    }
    return got_on;
}

static void work(worker *own)
{
    launch *l = own->launch;
    uint32_t fruitless = 0, turns = 0;
    start_unit(own);
    while (own->resident && !atomic_load_explicit(&l->stop, memory_order_relaxed)) {
        uint32_t before = own->resident_count;
        bool got_on = take_turn(own);
        /* A unit that spins may wait for one that has not begun. */
        bool started =
            (!own->resident || (own->resident_count == before && !got_on)) && start_unit(own);
        if (got_on || started) {
            fruitless = turns = 0;
        } else if (++turns >= own->resident_count) {
            turns = 0;
            rest_a_moment(fruitless++);
        }
    }
}

static void end_worker(worker *own)
{
    launch *l = own->launch;
    for (unit *u = own->resident; u; u = u->next)
        for (uint32_t k = 0; k < u->block_count; k++) {
            block *b = &u->blocks[k];
            if (b->done) continue;
            /* Where the launch was stopped from outside, or by its budget. */
            if (atomic_load(&l->report_positions)) ptx_report_block_positions(b);
            for (uint32_t j = 0; j < b->warp_count; j++)
                ptx_exit_lanes(&b->warps[j], b->warps[j].live);
            end_block(b);
        }
    ptx_launch_add(own, 0, 0, true);
    while (own->resident || own->free_units) {
        unit **list = own->resident ? &own->resident : &own->free_units;
        unit *u = *list;
        *list = u->next;
        ptx_print_flush(l, u, true);
        free_unit(u);
    }
    for (size_t k = 0; own->free_frames && k < l->program->code_count; k++)
        while (own->free_frames[k]) {
            frame *f = own->free_frames[k];
            own->free_frames[k] = f->next;
            gpul__free(f->shadow);
            gpul__free(f);
        }
    gpul__free(own->free_frames);
}

void ptx_launch_run(launch *l, worker *own)
{
    own->launch = l;
    own->resident = own->free_units = NULL;
    own->resident_count = 0;
    own->has_pending = false;
    own->free_frames = gpul__calloc(l->program->code_count, sizeof *own->free_frames);
    size_t wanted = l->program->access_count + 1;
    if (wanted > own->range_count) {
        range *grown = gpul__realloc(own->ranges, wanted * sizeof *grown);
        if (grown) {
            own->ranges = grown;
            own->range_count = wanted;
            own->program = 0;
        }
    }
    if (!own->free_frames || wanted > own->range_count) {
        gpul__free(own->free_frames);
        ptx_fault_launch(l, PTX_FAULT_OUT_OF_MEMORY);
        return;
    }
    if (own->program != l->program->id || own->generation != ptx_memory_generation(l->memory))
        clear_ranges(own);
    own->program = l->program->id;
    const fenv_t callers = ptx_float_mode_enter();
    work(own);
    ptx_float_mode_leave(&callers);
    end_worker(own);
}
