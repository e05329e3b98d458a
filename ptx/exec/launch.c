/* A launch from its checks to its report, and the counters that can end it.
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>

#include "ptx/exec/check.h"
#include "ptx/exec/engine.h"

enum { TICK = 1 << 12 }; /* warp instructions between two updates of the launch's sums */

/* ------------------------------------------------------------------ counting */

void ptx_launch_add(worker *own, uint64_t executed, uint64_t lanes, bool all)
{
    launch *l = own->launch;
    own->ticks += executed;
    executed = own->executed += executed;
    lanes = own->lanes_executed += lanes;
    if (executed < TICK && !all) return;
    own->executed = own->lanes_executed = 0;
    uint64_t sum =
        atomic_fetch_add_explicit(&l->executed, executed, memory_order_relaxed) + executed;
    atomic_fetch_add_explicit(&l->lanes_executed, lanes, memory_order_relaxed);
    if (sum > l->budget && !atomic_exchange(&l->report_positions, true))
        ptx_fault_launch(l, PTX_FAULT_BUDGET);
    if (atomic_load_explicit(&l->faulted, memory_order_relaxed) &&
        sum > atomic_load(&l->grace_end)) {
        atomic_store(&l->cut, true);
        atomic_store(&l->stop, true);
    }
    if (l->grid->cancel && atomic_load_explicit(l->grid->cancel, memory_order_relaxed) &&
        !atomic_exchange(&l->report_positions, true))
        ptx_fault_launch(l, PTX_FAULT_CANCELLED);
}

bool ptx_launch_tick(warp *w)
{
    launch *l = w->block->launch;
    if (w->executed >= TICK) {
        ptx_launch_add(w->block->worker, w->executed, w->lanes_executed, false);
        w->executed = w->lanes_executed = 0;
    }
    return atomic_load_explicit(&l->stop, memory_order_relaxed);
}

/* ------------------------------------------------------------------ checks */

static ptx_launch_status invalid(ptx_report *report, int result)
{
    report->result = result;
    return PTX_LAUNCH_INVALID;
}

static ptx_launch_status check_grid(launch *l, const ptx_grid *grid)
{
    static const uint64_t most_grid[3] = { 2147483647, 65535, 65535 };
    static const uint32_t most_block[3] = { 1024, 1024, 64 };
    const code *c = l->kernel->code;
    const ptx_function *f = c->source;
    const ptx_engine_options *limits = &l->engine->options;
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        if (!grid->grid[d] || grid->grid[d] > most_grid[d] || !grid->block[d] ||
            grid->block[d] > most_block[d])
            return invalid(l->report, 1);
        threads *= grid->block[d];
        l->grid_size[d] = grid->grid[d];
        l->block_size[d] = grid->block[d];
    }
    if (threads > 1024) return invalid(l->report, 1);
    if (f->has_reqntid && (f->reqntid[0] != grid->block[0] || f->reqntid[1] != grid->block[1] ||
                           f->reqntid[2] != grid->block[2]))
        return invalid(l->report, 1);
    if (f->has_maxntid && threads > (uint64_t)f->maxntid[0] * f->maxntid[1] * f->maxntid[2])
        return invalid(l->report, 701);
    uint64_t shared = (uint64_t)l->kernel->static_shared + grid->dynamic_shared;
    if (shared > limits->max_shared) return invalid(l->report, 1);
    l->threads = (uint32_t)threads;
    l->warps = (uint32_t)((threads + WARP_LANES - 1) / WARP_LANES);
    l->shared_total = l->kernel->shared_end + grid->dynamic_shared;
    return PTX_LAUNCH_OK;
}

static ptx_launch_status check_clusters(launch *l, const ptx_grid *grid)
{
    const ptx_function *f = l->kernel->code->source;
    uint64_t blocks = 1;
    l->units = 1;
    l->clustered = grid->cluster[0] || f->has_reqnctapercluster;
    for (int d = 0; d < 3; d++) {
        uint32_t size = grid->cluster[0]           ? grid->cluster[d]
                        : f->has_reqnctapercluster ? f->reqnctapercluster[d]
                                                   : 1;
        if (!size) size = 1;
        if (f->has_reqnctapercluster && f->reqnctapercluster[d] != size)
            return invalid(l->report, 1);
        if (grid->grid[d] % size) return invalid(l->report, 1);
        l->cluster_size[d] = size;
        l->cluster_grid[d] = grid->grid[d] / size;
        blocks *= size;
        l->units *= l->cluster_grid[d];
    }
    if (blocks > 16) return invalid(l->report, 912);
    l->cluster_blocks = (uint32_t)blocks;
    return PTX_LAUNCH_OK;
}

/* How many units may be resident at once: what the hardware would hold, within bounds of memory. */
static void set_resident_limit(launch *l)
{
    const ptx_engine_options *o = &l->engine->options;
    uint64_t by_threads = 2048 / l->threads;
    uint64_t per_processor =
        by_threads < o->max_resident_blocks ? by_threads : o->max_resident_blocks;
    if (!per_processor) per_processor = 1;
    l->resident_limit = per_processor * o->multiprocessors / l->cluster_blocks;
    if (!l->resident_limit) l->resident_limit = 1;
}

static bool make_workspace(launch *l)
{
    ptx_allocation request = { .size = 64, .kind = PTX_MEMORY_GLOBAL, .name = "grid workspace" };
    if (ptx_memory_alloc(l->memory, &request, 64, &l->workspace) != PTX_OK) return false;
    uint32_t *words = ptx_memory_host(l->memory, l->workspace, 64);
    memset(words, 0, 64);
    words[0] = 64;
    return true;
}

/* ------------------------------------------------------------------ the launch */

static void run_everywhere(launch *l)
{
    worker *own = ptx_engine_worker(l->engine);
    if (!own) {
        ptx_fault_launch(l, PTX_FAULT_OUT_OF_MEMORY);
        return;
    }
    bool offered = l->units > 1 && ptx_engine_offer(l);
    ptx_launch_run(l, own);
    if (offered) ptx_engine_withdraw(l);
    ptx_engine_return_worker(l->engine, own);
}

static uint64_t wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static ptx_launch_status prepare(launch *l, const void *params, size_t size)
{
    const ptx_kernel *kernel = l->kernel;
    l->params = gpul__calloc(1, kernel->param_size + 16);
    if (!l->params) return PTX_LAUNCH_OUT_OF_MEMORY;
    if (size) memcpy(l->params, params, size);
    uint32_t stack = l->grid->stack_size ? l->grid->stack_size : 1024;
    uint32_t chain = kernel->local - kernel->code->local_size;
    if (stack < chain) stack = chain;
    l->stack_limit = kernel->code->local_size + stack;
    l->budget = l->grid->instruction_budget ? l->grid->instruction_budget : UINT64_MAX;
    l->started = wall_clock();
    set_resident_limit(l);
    if (l->grid->cooperative && l->units > l->resident_limit) return invalid(l->report, 720);
    if (l->grid->cooperative && !make_workspace(l)) return PTX_LAUNCH_OUT_OF_MEMORY;
    if (l->engine->options.checks & PTX_CHECK_BLOCKS && !(l->checker = ptx_check_launch_make(l)))
        return PTX_LAUNCH_OUT_OF_MEMORY;
    return PTX_LAUNCH_OK;
}

ptx_launch_status ptx_launch(const ptx_kernel *kernel, const ptx_grid *grid, const void *params,
                             size_t size, ptx_report *report)
{
    static atomic_uint_fast64_t ids;
    ptx_program *program = kernel->program;
    *report = (ptx_report){ .kernel = kernel->code->source->name };
    launch l = { .engine = program->engine,
                 .memory = program->engine->memory,
                 .kernel = kernel,
                 .program = program,
                 .grid = grid,
                 .report = report };
    if (kernel->refusal) return PTX_LAUNCH_REFUSED;
    if (size > kernel->param_size) return invalid(report, 701);
    ptx_launch_status status = check_grid(&l, grid);
    if (status == PTX_LAUNCH_OK) status = check_clusters(&l, grid);
    if (status != PTX_LAUNCH_OK) return status;
    status = prepare(&l, params, size);
    l.id = atomic_fetch_add(&ids, 1) + 1;
    if (status == PTX_LAUNCH_OK &&
        (pthread_mutex_init(&l.lock, NULL) || pthread_cond_init(&l.left, NULL)))
        status = PTX_LAUNCH_OUT_OF_MEMORY;
    if (status == PTX_LAUNCH_OK) {
        run_everywhere(&l);
        ptx_print_rest(&l);
        ptx_report_finish(&l);
        report->warp_instructions = atomic_load(&l.executed);
        report->thread_instructions = atomic_load(&l.lanes_executed);
        pthread_cond_destroy(&l.left);
        pthread_mutex_destroy(&l.lock);
        if (report->result) status = PTX_LAUNCH_FAULT;
    }
    if (l.workspace) ptx_memory_free(l.memory, l.workspace);
    ptx_check_launch_free(l.checker);
    gpul__free(l.finding_at);
    gpul__free(l.params);
    return status;
}
