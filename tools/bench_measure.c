/* Measuring: device times between events, cold and hot.  SPDX-License-Identifier: MIT */
#include <time.h>

#include "bench.h"
#include "progress.h"

typedef struct measurement {
    execution *x;
    const bench_settings *settings;
    gpul_event *start, *end;
    gpul_buffer *flush;      /* as large as the cache twice; NULL: nothing to overwrite */
    gpul_arglist *args;      /* of each step, and of its exchanged form */
    gpul_buffer **originals; /* copies of the in-out buffers, by plan order */
    unsigned char flush_byte;
} measurement;

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static device_buffer *of(const buffer *b)
{
    return b->device;
}

static void exchange(step *s)
{
    argument *a = step_argument(s, s->request->swap_a), *b = step_argument(s, s->request->swap_b);
    void *kept = a->buffer->device;
    a->buffer->device = b->buffer->device;
    b->buffer->device = kept;
}

static bool start_measurement(measurement *m)
{
    plan *p = m->x->plan;
    gpul_device *device = m->x->session->device;
    bool good =
        gpul_event_new(&m->start, device) == GPUL_OK && gpul_event_new(&m->end, device) == GPUL_OK;
    if (good && m->x->session->info->l2_bytes) {
        gpul_alloc_opts opts = { .name = "cache flush" };
        good = gpul_alloc(&m->flush, device, (size_t)m->x->session->info->l2_bytes * 2, &opts) ==
               GPUL_OK;
    }
    m->originals = mem_array(p->buffers.count + 1, sizeof *m->originals);
    for (size_t i = 0; good && i < p->buffers.count; i++) {
        const buffer *b = p->buffers.items[i];
        if (b->direction != DIR_INOUT) continue;
        gpul_alloc_opts opts = { .name = mem_format("%s (as it was)", b->name) };
        good = gpul_alloc(&m->originals[i], device, b->bytes, &opts) == GPUL_OK &&
               gpul_copy(m->originals[i], 0, of(b)->view, 0, b->bytes, NULL) == GPUL_OK;
    }
    m->args = mem_array(2 * p->steps.count, sizeof *m->args);
    for (size_t i = 0; i < p->steps.count; i++) {
        step *s = p->steps.items[i];
        m->args[2 * i] = step_arglist(s, s->kernel);
        if (!s->request->swap_a) continue;
        exchange(s);
        m->args[2 * i + 1] = step_arglist(s, s->kernel);
        exchange(s);
    }
    return good;
}

static void end_measurement(measurement *m)
{
    gpul_event_free(&m->start);
    gpul_event_free(&m->end);
    gpul_buffer_free(&m->flush);
    for (size_t i = 0; m->originals && i < m->x->plan->buffers.count; i++)
        gpul_buffer_free(&m->originals[i]);
}

static bool restore(measurement *m)
{
    plan *p = m->x->plan;
    bool good = true;
    for (size_t i = 0; good && i < p->buffers.count; i++)
        if (m->originals[i])
            good = gpul_copy(of(p->buffers.items[i])->view, 0, m->originals[i], 0,
                             p->buffers.items[i]->bytes, NULL) == GPUL_OK;
    return good;
}

/* One launch of everything. */
static bool launch_all(measurement *m)
{
    plan *p = m->x->plan;
    bool good = true;
    for (size_t i = 0; good && i < p->steps.count; i++) {
        step *s = p->steps.items[i];
        for (uint64_t k = 0; good && k < s->request->repeat; k++)
            good = launch_step(s, m->args[2 * i + (s->request->swap_a ? k & 1 : 0)]);
    }
    return good;
}

/* The device time of `launches` in nanoseconds, of one of them. */
static bool sample(measurement *m, uint64_t launches, double *ns)
{
    float milliseconds;
    bool good = gpul_event_record(m->start, NULL) == GPUL_OK;
    for (uint64_t i = 0; good && i < launches; i++) good = launch_all(m);
    good = good && gpul_event_record(m->end, NULL) == GPUL_OK &&
           gpul_sync(m->x->session->device) == GPUL_OK &&
           gpul_event_elapsed(&milliseconds, m->start, m->end) == GPUL_OK;
    if (good) *ns = (double)milliseconds * 1e6 / (double)launches;
    return good;
}

static bool cold_sample(measurement *m, double *ns)
{
    if (!restore(m)) return false;
    m->flush_byte++;
    if (m->flush && gpul_fill(m->flush, 0, gpul_buffer_size(m->flush), &m->flush_byte, 1, NULL))
        return false;
    if (gpul_sync(m->x->session->device)) return false;
    return sample(m, 1, ns);
}

/* So many launches that a sample lasts 200 us or more: events have a resolution of about half one. */
static bool choose_batch(measurement *m, uint64_t *batch)
{
    double ns;
    *batch = 1;
    if (m->settings->restore) return true;
    for (int i = 0; i < 20; i++) {
        if (!sample(m, *batch, &ns)) return false;
        if (ns * (double)*batch >= 200e3) return true;
        *batch *= 2;
    }
    return true;
}

static bool enough(const measurement *m, series *s, double elapsed)
{
    const bench_settings *b = m->settings;
    if (b->samples) return s->count >= b->samples;
    if (interrupted || elapsed > b->max_time) return true;
    if (s->count < b->min_samples || elapsed < b->min_time) return false;
    if (s->count % 10) return false;
    series_summarise(s);
    return s->precision < 0.01;
}

static bool measure_series(measurement *m, series *s, bool cold)
{
    size_t capacity = 0;
    double started, ns;
    s->batch = 1;
    if (!cold && !choose_batch(m, &s->batch)) return false;
    for (uint64_t i = 0; i < m->settings->warmup; i++)
        if (cold ? !cold_sample(m, &ns) : !sample(m, s->batch, &ns)) return false;
    started = now_seconds();
    do {
        bool good = cold ? cold_sample(m, &ns)
                         : (!m->settings->restore || restore(m)) && sample(m, s->batch, &ns);
        if (!good) return false;
        mem_grow(&s->ns, &capacity, s->count, sizeof *s->ns);
        s->ns[s->count++] = ns;
    } while (!enough(m, s, now_seconds() - started));
    series_summarise(s);
    return true;
}

/* Each input is read once, each output written once. */
static uint64_t bytes_moved(const plan *p)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->steps.count; i++) {
        const step *s = p->steps.items[i];
        for (uint32_t k = 0; k < s->kernel->param_count; k++) {
            const argument *arg = &s->arguments[k];
            if (arg->kind != ARG_BUFFER || arg->buffer->direction == DIR_SCRATCH) continue;
            bool both = arg->buffer->direction == DIR_INOUT && !arg->param->is_const;
            bytes += arg->buffer->bytes * (both ? 2 : 1) * s->request->repeat;
        }
    }
    return bytes;
}

bool measure_point(execution *x, const bench_settings *settings, point *out)
{
    measurement m = { .x = x, .settings = settings };
    const step *first = x->plan->steps.items[0];
    out->bytes = settings->bytes ? settings->bytes : bytes_moved(x->plan);
    out->kernel = first->kernel->name;
    memcpy(out->grid, first->grid, sizeof out->grid);
    memcpy(out->block, first->block, sizeof out->block);
    progress(mem_format("bench %s %s", x->plan->source->path, point_name(out)));
    capture_begin(x->session);
    bool good = start_measurement(&m);
    if (good && settings->cold) good = measure_series(&m, &out->cold, true);
    if (good && settings->hot && !(interrupted && out->cold.count))
        good = measure_series(&m, &out->hot, false);
    if (good) good = restore(&m);
    capture_end(x->session, NULL);
    end_measurement(&m);
    progress(NULL);
    if (!good) library_message(x->plan);
    return good;
}
