/* Running all steps and judging them: expectations by content and by kernel, and the second run that
 * shows what was never written.  SPDX-License-Identifier: MIT */
#include "execute.h"
#include "timeline.h"

enum { PIECE = 8 << 20 };
#define KEEP_MOST ((uint64_t)1 << 30) /* bytes kept on the host for the second comparison */

/* ---- The expected kernel ---- */

/* Copies of the step's buffers as they are now: what the expected kernel will work on. */
static bool shadow_take(const execution *x, const step *s, device_buffer **shadows)
{
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        if (arg->kind != ARG_BUFFER) continue;
        for (uint32_t k = 0; k < i && !shadows[i]; k++) /* the same buffer given twice */
            if (s->arguments[k].kind == ARG_BUFFER && s->arguments[k].buffer == arg->buffer)
                shadows[i] = shadows[k];
        if (shadows[i]) continue;
        device_buffer *d = mem_alloc(sizeof *d);
        const device_buffer *from = arg->buffer->device;
        gpul_alloc_opts opts = { .name = mem_format("%s (expected)", arg->buffer->name) };
        shadows[i] = d;
        if (gpul_alloc(&d->whole, x->session->device, arg->buffer->bytes, &opts) ||
            gpul_copy(d->whole, 0, from->view, 0, arg->buffer->bytes, NULL)) {
            library_message(x->plan);
            return false;
        }
        d->view = d->whole;
    }
    return true;
}

static void shadow_free(const step *s, device_buffer **shadows)
{
    for (uint32_t i = 0; shadows && i < s->kernel->param_count; i++)
        if (shadows[i]) gpul_buffer_free(&shadows[i]->whole); /* sets it to NULL: twice is once */
}

static void exchange(step *s, device_buffer **shadows)
{
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        if (!shadows[i]) continue;
        bool twice = false;
        for (uint32_t k = 0; k < i; k++) twice |= shadows[k] == shadows[i];
        if (twice) continue;
        void *kept = s->arguments[i].buffer->device;
        s->arguments[i].buffer->device = shadows[i];
        /* the real one is kept where the shadow was, so that a second exchange undoes this one */
        for (uint32_t k = s->kernel->param_count; k-- > i;)
            if (k != i && shadows[k] == shadows[i]) shadows[k] = kept;
        shadows[i] = kept;
    }
}

/* Runs the expected kernel on the shadows, which stand in for the buffers meanwhile. */
static bool run_expected(execution *x, step *s, const expectation *e)
{
    step other = *s;
    const char *name =
        e->kernel->symbol && *e->kernel->symbol ? e->kernel->symbol : e->kernel->name;
    bool good = gpul_module_kernel(&other.handle, x->module, name) == GPUL_OK;
    if (good) {
        other.kernel = gpul_kernel_describe(other.handle);
        gpul_arg *items = mem_array(other.kernel->param_count + 1, sizeof *items);
        gpul_arglist own = step_arglist(s, s->kernel);
        for (uint32_t i = 0; i < other.kernel->param_count; i++)
            items[i] = own.items[step_argument(s, param_name(other.kernel, i)) - s->arguments];
        capture_begin(x->session);
        good = launch_step(&other, (gpul_arglist){ other.kernel->param_count, items }) &&
               gpul_sync(x->session->device) == GPUL_OK;
        capture_end(x->session, NULL);
    }
    if (!good)
        message_note(library_message(x->plan), "in '%s', the kernel that %s is compared with",
                     e->kernel->name, e->buffer->name);
    return good;
}

/* ---- Comparing ---- */

typedef struct pieces {
    unsigned char *got, *expected, *initial;
} pieces;

static bool has_initial(const step *s, const buffer *b)
{
    return b->content && b->step == s->index && s->request->repeat == 1 &&
           b->direction == DIR_INOUT;
}

static bool fetch_expected(const expectation *e, const device_buffer *shadow, unsigned char *out,
                           uint64_t first, uint64_t count)
{
    size_t size = e->buffer->layout->size;
    if (e->content) {
        if (content_read(e->content, out, first, count)) return true;
        message_at(fail(CODE_FILE_OPEN, "%s became shorter while it was read", e->against), e->at);
        return false;
    }
    if (gpul_read(out, shadow->view, first * size, count * size, NULL) == GPUL_OK) return true;
    library_message(NULL);
    return false;
}

/* Compares what the device holds now; keeps both sides when a second run may follow. */
static bool compare_first(const execution *x, const step *s, expectation *e,
                          const device_buffer *shadow)
{
    const buffer *b = e->buffer;
    size_t size = b->layout->size;
    uint64_t total = e->content ? e->content->count : b->count,
             piece = PIECE / size ? PIECE / size : 1;
    bool keep = !x->silent && b->direction == DIR_OUT && b->bytes <= KEEP_MOST, good = true;
    if (keep || piece > total) piece = total;
    pieces p = { data_alloc(piece * size), data_alloc(piece * size),
                 has_initial(s, b) ? data_alloc(piece * size) : NULL };
    comparison *c = mem_alloc(sizeof *c);
    compare_begin(c, x->plan->request->mismatch_limit);
    for (uint64_t first = 0; good && first < total; first += piece) {
        uint64_t count = total - first < piece ? total - first : piece;
        if (!buffer_read(b, p.got, first, count)) {
            library_message(x->plan);
            good = false;
            break;
        }
        good = fetch_expected(e, shadow, p.expected, first, count);
        if (good && p.initial) good = content_read(b->content, p.initial, first, count);
        if (good) compare_range(c, e, first, count, p.got, p.expected, p.initial, NULL);
    }
    compare_end(c, e);
    e->result = c;
    data_free(p.initial);
    if (good && keep && (x->always_twice || !c->passed)) {
        e->got = p.got;
        e->wanted = p.expected;
    } else {
        data_free(p.got);
        data_free(p.expected);
    }
    return good;
}

static bool compare_second(const execution *x, expectation *e)
{
    const buffer *b = e->buffer;
    uint64_t total = e->content ? e->content->count : b->count;
    unsigned char *second = data_alloc(b->bytes);
    bool good = buffer_read(b, second, 0, total);
    if (good) {
        compare_begin(e->result, x->plan->request->mismatch_limit);
        compare_range(e->result, e, 0, total, e->got, e->wanted, NULL, second);
        compare_end(e->result, e);
    } else {
        library_message(x->plan);
    }
    data_free(second);
    return good;
}

/* Is this the first expectation of the step that needs its kernel? */
static bool first_of_kernel(const step *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (s->expectations.items[i]->kernel == s->expectations.items[index]->kernel) return false;
    return true;
}

static bool judge_step(execution *x, step *s)
{
    for (size_t i = 0; i < s->expectations.count; i++) {
        expectation *e = s->expectations.items[i];
        if (e->update) continue;
        if (x->silent) {
            if (e->got && !compare_second(x, e)) return false;
            continue;
        }
        device_buffer *shadow = NULL, **shadows = (device_buffer **)e->shadows;
        if (e->kernel) {
            if (first_of_kernel(s, i)) {
                exchange(s, shadows);
                bool good = run_expected(x, s, e);
                exchange(s, shadows);
                if (!good) return false;
            }
            for (uint32_t k = 0; k < s->kernel->param_count; k++)
                if (s->arguments[k].kind == ARG_BUFFER && s->arguments[k].buffer == e->buffer)
                    shadow = shadows[k];
        }
        if (!compare_first(x, s, e, shadow)) return false;
    }
    return true;
}

/* ---- All steps ---- */

static bool take_shadows(const execution *x, step *s)
{
    for (size_t i = 0; i < s->expectations.count; i++) {
        expectation *e = s->expectations.items[i];
        if (!e->kernel) continue;
        for (size_t k = 0; k < i && !e->shadows; k++)
            if (s->expectations.items[k]->kernel == e->kernel)
                e->shadows = s->expectations.items[k]->shadows;
        if (e->shadows) continue;
        e->shadows = mem_array(s->kernel->param_count + 1, sizeof *e->shadows);
        if (!shadow_take(x, s, (device_buffer **)e->shadows)) return false;
    }
    return true;
}

static void free_shadows(step *s)
{
    for (size_t i = 0; i < s->expectations.count; i++) {
        shadow_free(s, (device_buffer **)s->expectations.items[i]->shadows);
        s->expectations.items[i]->shadows = NULL;
    }
}

static bool run_step(execution *x, size_t index)
{
    step *s = x->plan->steps.items[index];
    if (x->before_step && !x->silent) x->before_step(x->user, x, index);
    timeline_phase("fill buffers");
    bool good = execution_fill(x, index) && (x->silent || take_shadows(x, s));
    timeline_phase("launch and wait");
    good = good && execution_run_step(x, index);
    timeline_phase("compare");
    good = good && judge_step(x, s);
    timeline_phase("results");
    free_shadows(s);
    if (good && x->after_step && !x->silent) x->after_step(x->user, x, index);
    return good;
}

static bool second_needed(const execution *x)
{
    for (size_t i = 0; i < x->plan->steps.count; i++)
        for (size_t k = 0; k < x->plan->steps.items[i]->expectations.count; k++)
            if (x->plan->steps.items[i]->expectations.items[k]->got) return true;
    return false;
}

bool execution_run(execution *x)
{
    size_t steps = x->plan->steps.count;
    bool good = true;
    x->pattern = POISON_FIRST;
    for (size_t i = 0; good && i < steps; i++) good = run_step(x, i);
    if (good && second_needed(x)) {
        double *times = x->times_ns;
        x->times_ns = NULL;
        x->silent = true;
        x->pattern = POISON_SECOND;
        for (size_t i = 0; good && i < steps; i++) good = run_step(x, i);
        x->silent = false;
        x->times_ns = times;
    }
    for (size_t i = 0; i < steps; i++)
        for (size_t k = 0; k < x->plan->steps.items[i]->expectations.count; k++) {
            expectation *e = x->plan->steps.items[i]->expectations.items[k];
            data_free(e->got);
            data_free(e->wanted);
            e->got = e->wanted = NULL;
        }
    return good;
}

bool execution_passed(const execution *x)
{
    for (size_t i = 0; i < x->plan->steps.count; i++)
        for (size_t k = 0; k < x->plan->steps.items[i]->expectations.count; k++) {
            const comparison *c = x->plan->steps.items[i]->expectations.items[k]->result;
            if (c && !c->passed) return false;
        }
    return true;
}
