/* Memory, contents and launches.  Not here: fences (fences.c), comparing (judge.c).
 * SPDX-License-Identifier: MIT */
#include "execute.h"

#include "fences.h"
#include "progress.h"
#include "show.h"
#include "timeline.h"
#include "values.h"

enum {
    FENCE = 4096,
    STAGING = 8 << 20,
    MADE_THERE = 32 << 20 /* bytes from which compiling a kernel (0.1 s) is faster than the host */
};

static device_buffer *of(const buffer *b)
{
    return b->device;
}

/* ---- Loading ---- */

bool load_image(gpul_module **out, const plan *p, const session *s)
{
    bool keep = !option_find(&p->request->compile, OPT_NO_CACHE);
    if (gpul_load(out, s->device, (gpul_image *)p->image, gpul_load_opts(.keep = keep))) {
        message *m = library_message(p);
        for (size_t i = 0; i < p->request->compile.count; i++) {
            const option_use *use = &p->request->compile.items[i].use;
            if (use->id == OPT_ARCH && m->at.kind == PLACE_NONE)
                message_at(m, place_of_option(use));
        }
        return false;
    }
    log_drain(p);
    return true;
}

bool execution_load(execution *x)
{
    plan *p = x->plan;
    if (!x->module && !load_image(&x->module, p, x->session)) return false;
    for (size_t i = 0; i < p->steps.count; i++) {
        step *s = p->steps.items[i];
        const char *name =
            s->kernel->symbol && *s->kernel->symbol ? s->kernel->symbol : s->kernel->name;
        if (gpul_module_kernel(&s->handle, x->module, name)) {
            library_message(p);
            return false;
        }
        s->kernel = gpul_kernel_describe(s->handle);
        for (uint32_t k = 0; k < s->kernel->param_count; k++)
            s->arguments[k].param = &s->kernel->params[k];
    }
    return true;
}

/* ---- Memory ---- */

static bool out_of_memory(const plan *p, uint64_t total, uint64_t free_bytes)
{
    message *m = fail(CODE_MEMORY_EXHAUSTED, "%s of buffers wanted, %s free", bytes_text(total),
                      bytes_text(free_bytes));
    for (size_t i = 0; i < p->buffers.count; i++) {
        const buffer *b = p->buffers.items[i];
        message_note(m, "%s: %s, %s of %s", b->name, bytes_text(b->bytes), shape_text(&b->shape),
                     b->layout->type_name);
    }
    message_hint(m, "smaller buffers");
    return false;
}

static bool allocate(execution *x, buffer *b)
{
    device_buffer *d = mem_alloc(sizeof *d);
    size_t align = b->spec.align > FENCE ? (size_t)b->spec.align : FENCE;
    d->before = d->after = x->guard ? align : 0;
    gpul_alloc_opts opts = { .name = b->name };
    if (gpul_alloc(&d->whole, x->session->device, d->before + b->bytes + d->after, &opts)) {
        library_message(x->plan);
        return false;
    }
    *list_add(&x->allocated) = d;
    b->device = d;
    if (!x->guard) {
        d->view = d->whole;
        return true;
    }
    if (gpul_view(&d->view, d->whole, d->before, b->bytes) || !fence_write(d, b->bytes)) {
        library_message(x->plan);
        return false;
    }
    return true;
}

bool execution_allocate(execution *x)
{
    plan *p = x->plan;
    uint64_t total = 0, free_bytes = 0, all = 0;
    for (size_t i = 0; i < p->buffers.count; i++)
        if (__builtin_add_overflow(total, p->buffers.items[i]->bytes, &total)) total = UINT64_MAX;
    if (gpul_device_memory(x->session->device, &free_bytes, &all) == GPUL_OK && free_bytes &&
        total > free_bytes)
        return out_of_memory(p, total, free_bytes);
    for (size_t i = 0; i < p->buffers.count; i++)
        if (!allocate(x, p->buffers.items[i])) return false;
    return true;
}

void execution_free(execution *x)
{
    for (size_t i = 0; i < x->allocated.count; i++) {
        device_buffer *d = x->allocated.items[i];
        if (d->view != d->whole) gpul_buffer_free(&d->view);
        gpul_buffer_free(&d->whole);
    }
    x->allocated.count = 0;
    for (size_t i = 0; i < x->plan->buffers.count; i++) x->plan->buffers.items[i]->device = NULL;
    maker_free(&x->maker);
    gpul_module_free(&x->module);
}

bool buffer_read(const buffer *b, void *out, uint64_t first, uint64_t count)
{
    size_t size = b->layout->size;
    return gpul_read(out, of(b)->view, first * size, count * size, NULL) == GPUL_OK;
}

bool buffer_poison(buffer *b, unsigned char pattern)
{
    return gpul_fill(of(b)->view, 0, b->bytes, &pattern, 1, NULL) == GPUL_OK;
}

/* Contents that are one repeated pattern need no bytes from the host. */
static bool fill_on_device(buffer *b, const content *c, bool *done)
{
    gpul_type type;
    uint32_t lanes;
    *done = false;
    if (c->overlays.count || c->leaf) return true;
    if (c->spec->source == SOURCE_ZEROS || c->spec->source == SOURCE_NONE) {
        *done = true;
        return buffer_poison(b, 0);
    }
    if (c->spec->source != SOURCE_FILL && c->spec->source != SOURCE_ONES) return true;
    if (!layout_plain_type(b->layout, &type, &lanes) || type_size(type) > 4) return true;
    if (lanes > 1 && c->spec->source == SOURCE_FILL && c->spec->values.count > 1) return true;
    unsigned char element_bytes[64];
    if (b->layout->size > sizeof element_bytes || !content_read(c, element_bytes, 0, 1))
        return true;
    *done = true;
    return gpul_fill(of(b)->view, 0, b->bytes, element_bytes, type_size(type), NULL) == GPUL_OK;
}

/* A file that is already what the buffer is goes there by itself, without a copy of it here. */
static bool stream_file(buffer *b, const content *c, bool *done)
{
    if (c->overlays.count || c->leaf || c->spec->source != SOURCE_FILE || c->file.fd < 0)
        return true;
    *done = true;
    progress(mem_format("loading %s", c->spec->path));
    gpul_status status =
        gpul_write_file(of(b)->view, 0, c->file.fd, c->file.offset, b->count * b->layout->size);
    progress(NULL);
    return status == GPUL_OK;
}

/* Values of a large buffer that a GPU makes by itself; the first time its kernels are compiled.  Where they
 * cannot be, for want of NVRTC, the host makes the same bits. */
static bool make_on_device(execution *x, buffer *b, const content *c, bool *done)
{
    *done =
        x->session->info->backend == GPUL_BACKEND_CUDA && b->bytes >= MADE_THERE && maker_knows(c);
    if (*done && maker_open(&x->maker, x->session->device)) {
        inform(0, "%s is made on the host: %s", b->name, gpul_last_error()->message);
        *done = false;
    }
    return !*done || (maker_make(&x->maker, of(b)->view, c) == GPUL_OK &&
                      gpul_sync(x->session->device) == GPUL_OK);
}

bool buffer_write_content(execution *x, buffer *b, const content *c)
{
    bool done, good = fill_on_device(b, c, &done);
    if (good && !done) good = make_on_device(x, b, c, &done);
    if (good && !done) good = stream_file(b, c, &done);
    size_t size = b->layout->size;
    uint64_t piece = STAGING / size ? STAGING / size : 1;
    if (piece > b->count) piece = b->count;
    if (!done && good) {
        unsigned char *staging = data_alloc(piece * size);
        progress(mem_format("loading %s", c->spec->path ? c->spec->path : b->name));
        for (uint64_t first = 0; good && first < b->count; first += piece) {
            uint64_t count = b->count - first < piece ? b->count - first : piece;
            if (!content_read(c, staging, first, count)) {
                data_free(staging);
                message_at_span(fail(CODE_FILE_OPEN, "%s became shorter while it was read",
                                     c->spec->path ? c->spec->path : "a file"),
                                b->at);
                return false;
            }
            good = gpul_write(of(b)->view, first * size, staging, count * size, NULL) == GPUL_OK;
        }
        data_free(staging);
        progress(NULL);
    }
    if (!good) library_message(NULL);
    return good;
}

bool execution_fill(execution *x, size_t index)
{
    for (size_t i = 0; i < x->plan->buffers.count; i++) {
        buffer *b = x->plan->buffers.items[i];
        if (b->step != index) continue;
        if (b->content) {
            if (!buffer_write_content(x, b, b->content)) return false;
        } else if (b->direction != DIR_SCRATCH && b->spec.source != SOURCE_NOINIT &&
                   !buffer_poison(b, x->pattern)) {
            library_message(x->plan);
            return false;
        }
    }
    return true;
}

/* ---- Launches ---- */

static gpul_arg value_argument(const argument *arg, size_t size)
{
    gpul_type type = GPUL_TYPE_UNKNOWN;
    uint32_t lanes = 1;
    bool plain =
        layout_plain_type(arg->layout, &type, &lanes) && lanes == 1 && type_size(type) == size;
    if (!plain) return gpul_arg_bytes(arg->bytes, size);
    if (type_is_integer(type))
        return gpul_arg_make(GPUL_ARG_INT, type_is_signed(type), size,
                             (uint64_t)value_to_int(type, arg->bytes));
    uint64_t bits = 0;
    memcpy(&bits, arg->bytes, size);
    gpul_arg made = gpul_arg_make(GPUL_ARG_FLOAT, 1, size, bits);
    if (type == GPUL_BF16) made.format = GPUL_FORMAT_BFLOAT;
    return made;
}

gpul_arglist step_arglist(const step *s, const gpul_kernel_info *kernel)
{
    gpul_arg *items = mem_array(kernel->param_count + 1, sizeof *items);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const argument *arg =
            kernel == s->kernel ? &s->arguments[i] : step_argument(s, param_name(kernel, i));
        const gpul_param *param = &kernel->params[i];
        if (arg->kind == ARG_BUFFER) items[i] = gpul_arg_buffer(of(arg->buffer)->view);
        else if (arg->kind == ARG_NULL) items[i] = gpul_null;
        else items[i] = value_argument(arg, param->value.size);
    }
    return (gpul_arglist){ kernel->param_count, items };
}

bool launch_step(const step *s, gpul_arglist args)
{
    gpul_launch_opts opts = { .shared = s->request->shared,
                              .cooperative = s->request->cooperative };
    memcpy(opts.grid, s->grid, sizeof opts.grid);
    memcpy(opts.block, s->block, sizeof opts.block);
    for (unsigned i = 0; i < 3 && s->request->cluster.rank; i++)
        opts.cluster[i] = (uint32_t)s->request->cluster.n[i];
    return gpul_launch(s->handle, &opts, args) == GPUL_OK;
}

/* A failing launch or wait, with the words that are to blame. */
static bool launch_failed(execution *x, const step *s, bool too_long)
{
    message *m = library_message(x->plan);
    if (m->at.kind == PLACE_NONE) {
        span at = { 0 };
        if (m->code == CODE_LAUNCH_LIMIT || m->code == CODE_LAUNCH_REGISTERS ||
            m->code == CODE_LAUNCH_BOUNDS)
            at = s->request->block.at.word ? s->request->block.at : s->request->grid.at;
        else if (m->code == CODE_LAUNCH_SHARED) at = s->request->shared_at;
        else if (m->code == CODE_LAUNCH_CLUSTER) at = s->request->cluster.at;
        else if (m->code == CODE_LAUNCH_COOPERATIVE) at = s->request->grid.at;
        if (at.word) message_at_span(m, at);
    }
    if (m->code / 100 == 8) fault_notes(m, s);
    if (m->code == CODE_EXECUTE_TIMEOUT && too_long) {
        m->text =
            mem_format("'%s' has not ended after %g s", s->kernel->name, x->plan->request->timeout);
        message_hint(m, "a larger --timeout, or look for a loop that does not end");
    }
    return false;
}

static void swap_buffers(step *s)
{
    argument *a = step_argument(s, s->request->swap_a), *b = step_argument(s, s->request->swap_b);
    void *kept = a->buffer->device;
    a->buffer->device = b->buffer->device;
    b->buffer->device = kept;
}

bool execution_run_step(execution *x, size_t index)
{
    step *s = x->plan->steps.items[index];
    gpul_event *start = NULL, *end = NULL;
    bool swap = s->request->swap_a != NULL;
    bool timed = gpul_event_new(&start, x->session->device) == GPUL_OK &&
                 gpul_event_new(&end, x->session->device) == GPUL_OK;
    gpul_arglist args[2];
    args[0] = step_arglist(s, s->kernel);
    if (swap) {
        swap_buffers(s);
        args[1] = step_arglist(s, s->kernel);
        swap_buffers(s);
    }
    progress(mem_format("running %s", s->kernel->name));
    capture_begin(x->session);
    if (x->plan->request->timeout > 0)
        limit_time(x->plan->request->timeout, s->kernel->name, x->session->device);
    bool good = !timed || gpul_event_record(start, NULL) == GPUL_OK;
    for (uint64_t i = 0; good && i < s->request->repeat; i++) {
        good = launch_step(s, args[swap ? i & 1 : 0]);
        if (good && swap) swap_buffers(s);
    }
    if (good && timed) good = gpul_event_record(end, NULL) == GPUL_OK;
    if (good) good = gpul_sync(x->session->device) == GPUL_OK;
    if (!good && findings_suppressed(x->plan)) good = gpul_sync(x->session->device) == GPUL_OK;
    bool too_long = limit_time(0, "", NULL);
    progress(NULL);
    capture_end(x->session, x->silent ? NULL : printf_stream());
    float milliseconds = 0;
    if (good && timed) good = gpul_event_elapsed(&milliseconds, start, end) == GPUL_OK;
    if (good && x->times_ns) x->times_ns[index] = (double)milliseconds * 1e6;
    if (good) timeline_device(s->kernel->name, (double)milliseconds * 1e6);
    if (!good) launch_failed(x, s, too_long);
    log_drain(x->plan);
    gpul_event_free(&start);
    gpul_event_free(&end);
    return good && (!x->guard || fences_verify(x->plan, s));
}
