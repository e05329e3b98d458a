/* The shared state: entering and leaving, starting and stopping the engine, options.
 * SPDX-License-Identifier: MIT */
#include "cpu/state.h"

#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"
#include "cpu/library.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_CAPABILITY = 90 };

cpu_state gpul__cpu = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
_Thread_local cpu_thread gpul__cpu_thread;

/* ---- options ---------------------------------------------------------------------------- */

uint64_t gpul__cpu_host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)1 << 31;
}

static void apply_options(void)
{
    const gpul_cpu_opts *options = &gpul__cpu.options;
    int capability = options->compute_capability;
    gpul__cpu.limits = gpul__cpu_limits_find(capability ? capability : DEFAULT_CAPABILITY);
    gpul__cpu.device_count = options->devices ? options->devices : 1;
    gpul__cpu.memory_total =
        options->memory_bytes ? options->memory_bytes : gpul__cpu_host_memory() / 2;
    for (int i = 0; i < CPU_MAX_DEVICES; i++) gpul__cpu.devices[i].ordinal = i;
}

/* What an environment variable asks for where the program says nothing. */
static void ask_environment(gpul_cpu_opts *wish)
{
    static const struct {
        const char *word;
        unsigned check;
    } words[] = { { "races", GPUL_CPU_CHECK_RACES },
                  { "init", GPUL_CPU_CHECK_INIT },
                  { "blocks", GPUL_CPU_CHECK_BLOCKS } };
    const char *list = getenv("GPULAUNCH_CPU_CHECKS"), *seed = getenv("GPULAUNCH_CPU_SEED");
    unsigned found = 0;
    for (size_t i = 0; list && i < sizeof words / sizeof *words; i++)
        if (strstr(list, words[i].word)) found |= words[i].check;
    if (!wish->checks) wish->checks = found;
    if (!wish->seed && seed) wish->seed = strtoull(seed, NULL, 10);
}

/* Moves `now` to `wish`; true when that changes something that is fixed. */
#define MOVE(now, wish) ((wish) != 0 && (now) != (wish) ? ((now) = (wish), true) : false)

gpul_status gpul__cpu_configure(const gpul_cpu_opts *opts)
{
    enum { MAX_THREADS = 1024 };
    if (opts && opts->compute_capability && !gpul__cpu_limits_find(opts->compute_capability))
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "the CPU device cannot stand for compute capability %d",
                          opts->compute_capability);
    if (opts && opts->devices > CPU_MAX_DEVICES)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "%u CPU devices are wished for, at most %d are possible", opts->devices,
                          CPU_MAX_DEVICES);
    if (opts && opts->threads > MAX_THREADS)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "%u threads are wished for, at most %d are possible", opts->threads,
                          MAX_THREADS);
    pthread_mutex_lock(&gpul__cpu.lock);
    gpul_cpu_opts asked = opts ? *opts : (gpul_cpu_opts){ 0 };
    ask_environment(&asked);
    const gpul_cpu_opts *wish = &asked;
    gpul_cpu_opts next = gpul__cpu.context_count ? gpul__cpu.options : *wish;
    bool changes = MOVE(next.threads, wish->threads);
    changes |= MOVE(next.devices, wish->devices);
    changes |= MOVE(next.compute_capability, wish->compute_capability);
    changes |= MOVE(next.memory_bytes, wish->memory_bytes);
    changes |= MOVE(next.checks, wish->checks);
    changes |= MOVE(next.seed, wish->seed);
    if (changes) {
        pthread_mutex_unlock(&gpul__cpu.lock);
        return gpul__fail(
            GPUL__ARGS_INVALID, (.call = "gpul_open"),
            "threads, devices, compute capability, memory, checks and seed of the CPU device "
            "cannot change while one is open");
    }
    if (wish->instruction_budget) next.instruction_budget = wish->instruction_budget;
    if (wish->print) {
        next.print = wish->print;
        next.print_user = wish->print_user;
    }
    gpul__cpu.options = next;
    apply_options();
    if (!gpul__cpu.engine) gpul__cpu.isa_name[0] = 0;
    pthread_mutex_unlock(&gpul__cpu.lock);
    return GPUL_OK;
}

/* ---- the engine ------------------------------------------------------------------------- */

static CUresult result_of(ptx_status status)
{
    switch (status) {
    case PTX_OK: return CUDA_SUCCESS;
    case PTX_OUT_OF_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult gpul__cpu_start(void)
{
    if (gpul__cpu.engine) return CUDA_SUCCESS;
    const cpu_limits *limits = gpul__cpu.limits;
    uint64_t capacity;
    if (__builtin_mul_overflow(gpul__cpu.memory_total, gpul__cpu.device_count, &capacity))
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t seed = gpul__cpu.options.seed;
    ptx_memory_options memory = { .capacity = capacity,
                                  .poison = seed != 0,
                                  .poison_byte = ptx_poison(seed),
                                  .track = gpul__cpu.options.checks & PTX_CHECK_INIT };
    ptx_engine_options engine = {
        .threads = gpul__cpu.options.threads,
        .compute_capability = (uint32_t)limits->capability,
        .multiprocessors = (uint32_t)limits->multiprocessors,
        .max_resident_blocks = (uint32_t)limits->blocks,
        .max_shared = (uint32_t)limits->shared_block,
        .checks = gpul__cpu.options.checks,
        .seed = seed,
    };
    ptx_status status = ptx_memory_create(&gpul__cpu.memory, &memory);
    if (status == PTX_OK) status = ptx_engine_create(&gpul__cpu.engine, gpul__cpu.memory, &engine);
    if (status != PTX_OK) {
        ptx_memory_destroy(gpul__cpu.memory);
        gpul__cpu.memory = NULL;
        gpul__cpu.engine = NULL;
        return result_of(status);
    }
    snprintf(gpul__cpu.isa_name, sizeof gpul__cpu.isa_name, "%s",
             ptx_engine_isa_name(gpul__cpu.engine));
    gpul__cpu.threads = ptx_engine_threads(gpul__cpu.engine);
    return CUDA_SUCCESS;
}

void gpul__cpu_stop_if_unused(void)
{
    if (gpul__cpu.context_count || !gpul__cpu.engine) return;
    gpul__cpu_workers_stop();
    if (gpul__cpu.context_count || !gpul__cpu.engine) return; /* another thread was faster */
    gpul__cpu_execs_free_all();
    gpul__cpu_graphs_free_all();
    gpul__cpu_libraries_free_all();
    gpul__cpu_links_free_all();
    for (int i = 0; i < CPU_MAX_DEVICES; i++) {
        cpu_device *device = &gpul__cpu.devices[i];
        for (cpu_pool *pool = device->pools, *next; pool; pool = next) {
            next = pool->next;
            gpul__cpu_pool_free(pool);
        }
        gpul__cpu_pool_free(device->default_pool);
        device->pool = device->default_pool = device->pools = NULL;
        device->memory_used = 0;
    }
    ptx_engine_destroy(gpul__cpu.engine);
    ptx_memory_destroy(gpul__cpu.memory);
    gpul__cpu.engine = NULL;
    gpul__cpu.memory = NULL;
    gpul__cpu_handle_clear();
}

cpu_device *gpul__cpu_device_at(CUdevice ordinal)
{
    return ordinal >= 0 && (unsigned)ordinal < gpul__cpu.device_count ? &gpul__cpu.devices[ordinal]
                                                                      : NULL;
}

/* ---- entering and leaving --------------------------------------------------------------- */

static void after_fork(void)
{
    atomic_store(&gpul__cpu.forked, true);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

CUresult gpul__cpu_Init(unsigned int flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load(&gpul__cpu.forked)) return CUDA_ERROR_NOT_INITIALIZED;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&gpul__cpu.lock);
    if (!gpul__cpu.limits) apply_options();
    gpul__cpu.initialised = true;
    pthread_mutex_unlock(&gpul__cpu.lock);
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_enter(void)
{
    /* In the child of a fork the lock may be held for ever by a thread that is not there. */
    if (atomic_load(&gpul__cpu.forked)) return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&gpul__cpu.lock);
    if (gpul__cpu.initialised) return CUDA_SUCCESS;
    pthread_mutex_unlock(&gpul__cpu.lock);
    return CUDA_ERROR_NOT_INITIALIZED;
}

CUresult gpul__cpu_enter_context(cpu_context **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    result = gpul__cpu_current(out);
    if (!result) result = (*out)->fault;
    if (result) pthread_mutex_unlock(&gpul__cpu.lock);
    return result;
}

CUresult gpul__cpu_leave(CUresult result)
{
    pthread_mutex_unlock(&gpul__cpu.lock);
    return result;
}

CUresult gpul__cpu_leave_synchronised(CUresult result)
{
    pthread_mutex_unlock(&gpul__cpu.lock);
    gpul__cpu_print_flush();
    return result;
}
