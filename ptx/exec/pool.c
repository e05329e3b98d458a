/* The engine and its pool of helping threads.  Whoever launches works on its own launch; the pool's
 * threads join launches that have more than one unit.  So a launch always gets on, even when all
 * helpers are busy with another one that waits for it.  SPDX-License-Identifier: MIT */
#include <sched.h>
#include <string.h>

#include "ptx/exec/engine.h"
#include "ptx/exec/isa.h"

/* ------------------------------------------------------------------ workers' state */

worker *ptx_engine_worker(ptx_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    worker *own = engine->spare_workers;
    if (own) engine->spare_workers = own->next;
    pthread_mutex_unlock(&engine->lock);
    return own ? own : gpul__calloc(1, sizeof *own);
}

void ptx_engine_return_worker(ptx_engine *engine, worker *own)
{
    pthread_mutex_lock(&engine->lock);
    own->next = engine->spare_workers;
    engine->spare_workers = own;
    pthread_mutex_unlock(&engine->lock);
}

/* ------------------------------------------------------------------ helping */

static launch *open_offer(ptx_engine *engine)
{
    for (launch *l = engine->offers; l; l = l->next_offer)
        if (atomic_load(&l->next_unit) < l->units && !atomic_load(&l->stop)) return l;
    return NULL;
}

static void help(ptx_engine *engine, launch *l)
{
    l->helpers++;
    pthread_mutex_unlock(&engine->lock);
    worker *own = ptx_engine_worker(engine);
    if (own) {
        ptx_launch_run(l, own);
        ptx_engine_return_worker(engine, own);
    }
    pthread_mutex_lock(&engine->lock);
    /* Without memory for a worker the launch goes on without this helper. */
    if (!--l->helpers) pthread_cond_broadcast(&l->left);
}

static void *helper(void *argument)
{
    ptx_engine *engine = argument;
    pthread_mutex_lock(&engine->lock);
    while (!engine->closing) {
        launch *l = open_offer(engine);
        if (l) help(engine, l);
        else pthread_cond_wait(&engine->work, &engine->lock);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

bool ptx_engine_offer(launch *l)
{
    ptx_engine *engine = l->engine;
    if (!engine->pool_count) return false;
    pthread_mutex_lock(&engine->lock);
    l->next_offer = engine->offers;
    engine->offers = l;
    pthread_cond_broadcast(&engine->work);
    pthread_mutex_unlock(&engine->lock);
    return true;
}

void ptx_engine_withdraw(launch *l)
{
    ptx_engine *engine = l->engine;
    pthread_mutex_lock(&engine->lock);
    launch **link = &engine->offers;
    while (*link != l) link = &(*link)->next_offer;
    *link = l->next_offer;
    while (l->helpers) pthread_cond_wait(&l->left, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
}

/* ------------------------------------------------------------------ the engine */

static uint32_t usable_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

static const isa_variant *choose(ptx_isa wanted)
{
    static const char *const names[] = { [PTX_ISA_AUTO] = NULL,
                                         [PTX_ISA_GENERIC] = "generic",
                                         [PTX_ISA_V2] = "v2",
                                         [PTX_ISA_V3] = "v3",
                                         [PTX_ISA_V4] = "v4" };
    if ((unsigned)wanted > PTX_ISA_V4) return NULL;
    for (const isa_variant *const *v = ptx_isa_variants; *v; v++)
        if ((!names[wanted] || !strcmp((*v)->name, names[wanted])) && ptx_isa_available(*v))
            return *v;
    return NULL;
}

static void stop_pool(ptx_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->closing = true;
    pthread_cond_broadcast(&engine->work);
    pthread_mutex_unlock(&engine->lock);
    for (uint32_t k = 0; k < engine->pool_count; k++) pthread_join(engine->pool[k], NULL);
}

void ptx_engine_destroy(ptx_engine *engine)
{
    if (!engine) return;
    stop_pool(engine);
    while (engine->spare_workers) {
        worker *own = engine->spare_workers;
        engine->spare_workers = own->next;
        gpul__free(own->ranges);
        gpul__free(own);
    }
    if (engine->c_locale) freelocale(engine->c_locale);
    pthread_cond_destroy(&engine->work);
    pthread_mutex_destroy(&engine->lock);
    gpul__free(engine->pool);
    gpul__free(engine);
}

ptx_status ptx_engine_create(ptx_engine **out, ptx_memory *memory,
                             const ptx_engine_options *options)
{
    *out = NULL;
    const isa_variant *isa = choose(options ? options->isa : PTX_ISA_AUTO);
    if (!isa) return PTX_INVALID;
    ptx_engine *e = gpul__calloc(1, sizeof *e);
    if (!e) return PTX_OUT_OF_MEMORY;
    if (options) e->options = *options;
    if (!e->options.compute_capability) e->options.compute_capability = 90;
    if (!e->options.multiprocessors) e->options.multiprocessors = 132;
    if (!e->options.max_resident_blocks) e->options.max_resident_blocks = 32;
    if (!e->options.max_shared) e->options.max_shared = 232448;
    e->memory = memory;
    e->isa = isa;
    e->threads = e->options.threads ? e->options.threads : usable_processors();
    if (e->threads > 1024) e->threads = 1024;
    e->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    e->pool = gpul__calloc(e->threads, sizeof *e->pool);
    bool ready = e->pool && e->c_locale && !pthread_mutex_init(&e->lock, NULL);
    if (ready && pthread_cond_init(&e->work, NULL)) {
        pthread_mutex_destroy(&e->lock);
        ready = false;
    }
    if (!ready) {
        if (e->c_locale) freelocale(e->c_locale);
        gpul__free(e->pool);
        gpul__free(e);
        return PTX_OUT_OF_MEMORY;
    }
    while (e->pool_count + 1 < e->threads) {
        if (pthread_create(&e->pool[e->pool_count], NULL, helper, e)) {
            ptx_engine_destroy(e);
            return PTX_OUT_OF_MEMORY;
        }
        e->pool_count++;
    }
    *out = e;
    return PTX_OK;
}

const char *ptx_engine_isa_name(const ptx_engine *engine)
{
    static const struct {
        const char *variant, *name;
    } names[] = { { "v2", "x86-64-v2" }, { "v3", "x86-64-v3" }, { "v4", "x86-64-v4" } };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k].variant, engine->isa->name)) return names[k].name;
    return engine->isa->name;
}

uint32_t ptx_engine_threads(const ptx_engine *engine)
{
    return engine->threads;
}

ptx_memory *ptx_engine_memory(const ptx_engine *engine)
{
    return engine->memory;
}
