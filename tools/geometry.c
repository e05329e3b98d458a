/* How many threads, in what blocks: obeyed, computed or inferred, and checked before a launch.
 * SPDX-License-Identifier: MIT */
#include "plan.h"

static const char *dims_text(const uint64_t n[3])
{
    return mem_format("%llux%llux%llu", (unsigned long long)n[0], (unsigned long long)n[1],
                      (unsigned long long)n[2]);
}

/* ---- Threads ---- */

static bool counts(const argument *arg)
{
    return arg->kind == ARG_BUFFER && arg->buffer->direction != DIR_SCRATCH;
}

/* Do we know which indices the kernel reads? */
static bool knows_indices(const gpul_kernel_info *k)
{
    return k->types != GPUL_TYPES_NONE;
}

static unsigned kernel_rank(const gpul_kernel_info *k)
{
    return k->uses_z ? 3 : k->uses_y ? 2 : 1;
}

static bool cannot_infer(const step *s)
{
    const gpul_kernel_info *k = s->kernel;
    span at = { 0 };
    text lengths = { 0 };
    const char *first = NULL;
    const argument *number = NULL; /* 8 bytes of unknown type that may be meant as a buffer */
    uint64_t first_count = 0;
    size_t buffers = 0, scratch = 0;
    for (uint32_t i = 0; i < k->param_count; i++) {
        const argument *arg = &s->arguments[i];
        if (!number && arg->kind == ARG_VALUE && may_be_buffer(arg->param)) number = arg;
        scratch += arg->kind == ARG_BUFFER && !counts(arg);
        if (!counts(arg)) continue;
        if (!first) {
            first = arg->name;
            first_count = arg->buffer->count;
            at = arg->buffer->at;
        }
        text_format(&lengths, "%s%s", buffers ? " and " : "", shape_text(&arg->buffer->shape));
        buffers++;
    }
    message *m;
    if (!buffers)
        m = fail(CODE_LAUNCH_THREADS, "how many threads? '%s' has no buffer to tell it", k->name);
    else {
        m = fail(CODE_LAUNCH_THREADS, "how many threads? The buffers of '%s' differ in length",
                 k->name);
        place where = place_of(at);
        where.label = mem_format("%s elements", text_of(&lengths));
        if (at.word) message_at(m, where);
        else message_note(m, "%s", where.label);
    }
    if (buffers)
        message_note(
            m, "the grid is worked out from the buffers only when they all have the same length");
    if (buffers && !scratch) {
        uint64_t block = first_count < 256 ? first_count : 256,
                 grid = block ? (first_count + block - 1) / block : 1;
        if (grid > 1024) grid = 1024;
        message_hint(m,
                     "--over %s  (one thread for each element of %s)  or  --grid %llu --block %llu",
                     first, first, (unsigned long long)grid, (unsigned long long)block);
    } else if (!buffers && number) {
        message_note(m,
                     "the image does not tell the type of parameter %s: %s is taken for a number",
                     number->name, number->shown);
        message_hint(m, "%s=f32/%s  if it is a buffer of floats", number->name, number->shown);
    } else {
        message_hint(m, "--threads 1024  or  --grid 4 --block 256");
    }
    return false;
}

/* A colour image for a kernel that has a thread for each value, not for each pixel. */
static bool has_channels(const buffer *b, const gpul_kernel_info *k)
{
    if (b->channels < 2 || b->shape.rank != 3 || !knows_indices(k) || kernel_rank(k) != 2)
        return false;
    message *m = message_at_span(
        fail(CODE_FILE_SHAPE,
             "%s has %u channels, %u values a pixel, and '%s' works on one for each thread",
             b->spec.path, b->channels, b->channels, k->name),
        b->spec.source_span);
    message_note_at(m, b->declared, "declared here");
    message_hint(m, "%s=@%s,gray  makes one value a pixel", b->name, b->spec.path);
    return true;
}

/* The shape of the threads as the kernel's indices can run over it. */
static bool threads_from_shape(step *s, const buffer *b, uint64_t threads[3], unsigned *rank)
{
    const shape *shape_of_buffer = &b->shape;
    unsigned wanted = shape_of_buffer->rank,
             uses = knows_indices(s->kernel) ? kernel_rank(s->kernel) : 3;
    if (has_channels(b, s->kernel)) return false;
    threads[0] = threads[1] = threads[2] = 1;
    if (wanted <= uses) {
        for (unsigned i = 0; i < wanted; i++) threads[i] = shape_of_buffer->dim[i];
        *rank = wanted;
    } else {
        /* what is beyond the kernel's last index is joined to it */
        for (unsigned i = 0; i < wanted; i++)
            threads[i < uses ? i : uses - 1] *= shape_of_buffer->dim[i];
        *rank = uses;
        s->flattened = true;
    }
    return true;
}

static bool infer_threads(step *s, uint64_t threads[3], unsigned *rank)
{
    const buffer *first = NULL;
    bool same = true, same_count = true;
    text names = { 0 };
    size_t total = 0, done = 0;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        if (!counts(&s->arguments[i])) continue;
        const buffer *b = s->arguments[i].buffer;
        total++;
        if (!first) first = b;
        same &= shape_same(&b->shape, &first->shape);
        same_count &= b->count == first->count;
    }
    if (!first || !same_count) return cannot_infer(s);
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        if (!counts(&s->arguments[i])) continue;
        text_format(&names, "%s%s",
                    !done               ? ""
                    : done + 1 == total ? " and "
                                        : ", ",
                    s->arguments[i].name);
        done++;
    }
    s->grid_from = mem_format("one thread for each element of %s", text_of(&names));
    if (same) return threads_from_shape(s, first, threads, rank);
    buffer flat = *first;
    flat.shape = shape_flat(first->count);
    flat.channels = 0;
    return threads_from_shape(s, &flat, threads, rank);
}

/* ---- Block ---- */

static void default_block(const gpul_kernel_info *k, unsigned rank, uint64_t block[3])
{
    static const uint64_t usual[4][3] = { { 1, 1, 1 }, { 256, 1, 1 }, { 16, 16, 1 }, { 8, 8, 4 } };
    memcpy(block, usual[rank], sizeof usual[rank]);
    uint64_t bound = 0;
    if (k->bound_threads[0] > 0) {
        bound = 1;
        for (int i = 0; i < 3; i++)
            bound *= k->bound_threads[i] > 0 ? (uint64_t)k->bound_threads[i] : 1;
        bool shaped = k->bound_exact || k->bound_threads[1] > 1 || k->bound_threads[2] > 1;
        if (shaped || rank == 1) {
            for (int i = 0; i < 3; i++)
                block[i] = k->bound_threads[i] > 0 ? (uint64_t)k->bound_threads[i] : 1;
            return;
        }
    }
    if (!bound && k->max_threads > 0) bound = (uint64_t)k->max_threads;
    for (int i = 2; bound && block[0] * block[1] * block[2] > bound; i = i ? i - 1 : 2)
        if (block[i] > 1) block[i] /= 2;
}

static bool choose_block(step *s, unsigned rank)
{
    const step_request *r = s->request;
    if (r->block.rank) {
        memcpy(s->block, r->block.n, sizeof s->block);
        return true;
    }
    s->block_inferred = true;
    default_block(s->kernel, rank, s->block);
    if (!r->block_auto || !s->handle) return true;
    int suggested;
    if (gpul_kernel_suggest_block(&suggested, s->handle, r->shared) || suggested < 1) return true;
    s->block[0] = (uint64_t)suggested;
    s->block[1] = s->block[2] = 1;
    if (rank > 1 && suggested >= 32) {
        s->block[0] = 32;
        s->block[1] = (uint64_t)suggested / 32;
    }
    return true;
}

/* ---- Checks ---- */

static place block_place(const step *s)
{
    return s->request->block.at.word ? place_of(s->request->block.at) : (place){ 0 };
}

static bool check_block(const plan *p, const step *s)
{
    const gpul_kernel_info *k = s->kernel;
    const gpul_device_info *d = p->device;
    uint64_t threads = s->block[0] * s->block[1] * s->block[2];
    for (int i = 0; i < 3; i++)
        if (s->block[i] > 1u << 20) threads = UINT64_MAX;
    uint64_t most = d->max_threads_per_block;
    const char *where = d->backend == GPUL_BACKEND_CPU
                            ? "the CPU device"
                            : mem_format("device %d, %s (sm_%d%d)", d->ordinal, d->name,
                                         d->compute_major, d->compute_minor);
    int axis = -1;
    unsigned allowed = 0; /* along that axis */
    for (int i = 0; i < 3; i++)
        if (d->max_block[i] && s->block[i] > d->max_block[i]) {
            axis = i;
            allowed = d->max_block[i];
        }
    if ((most && threads > most) || axis >= 0) {
        message *m;
        if (most && threads > most)
            m = fail(CODE_LAUNCH_LIMIT,
                     "block %s has %s threads; this device allows %llu in a block",
                     dims_text(s->block),
                     threads == UINT64_MAX ? "too many"
                                           : mem_format("%llu", (unsigned long long)threads),
                     (unsigned long long)most);
        else
            m = fail(CODE_LAUNCH_LIMIT, "block %s: %llu threads in %c; this device allows %u",
                     dims_text(s->block), (unsigned long long)s->block[axis], "xyz"[axis], allowed);
        message_at(m, block_place(s));
        message_note(m, "%s: at most %llu threads, %u x %u x %u", where, (unsigned long long)most,
                     d->max_block[0], d->max_block[1], d->max_block[2]);
        if (most && threads > most)
            message_hint(m, "--block %llu, or leave --block out (256)", (unsigned long long)most);
        else
            message_hint(m, "at most %u in %c: make --grid larger in %c instead",
                         d->max_block[axis], "xyz"[axis], "xyz"[axis]);
        return false;
    }
    bool bound_only =
        k->bound_exact &&
        (s->block[0] != (uint64_t)k->bound_threads[0] ||
         s->block[1] != (uint64_t)(k->bound_threads[1] > 0 ? k->bound_threads[1] : 1) ||
         s->block[2] != (uint64_t)(k->bound_threads[2] > 0 ? k->bound_threads[2] : 1));
    if (bound_only) {
        message *m =
            fail(CODE_LAUNCH_BOUNDS, "'%s' is compiled for blocks of exactly %dx%dx%d, not %s",
                 k->name, k->bound_threads[0], k->bound_threads[1] ? k->bound_threads[1] : 1,
                 k->bound_threads[2] ? k->bound_threads[2] : 1, dims_text(s->block));
        message_hint(message_at(m, block_place(s)), "leave --block out");
        return false;
    }
    if (k->max_threads <= 0 || threads <= (uint64_t)k->max_threads) return true;
    int bound = k->bound_threads[0] * (k->bound_threads[1] > 0 ? k->bound_threads[1] : 1) *
                (k->bound_threads[2] > 0 ? k->bound_threads[2] : 1);
    message *m;
    if (bound > 0 && bound <= k->max_threads) {
        m = fail(CODE_LAUNCH_BOUNDS, "'%s' has launch bounds of %d threads, and the block has %llu",
                 k->name, bound, (unsigned long long)threads);
        message_hint(message_at(m, block_place(s)), "--block %d, or a larger __launch_bounds__",
                     bound);
        return false;
    }
    m = fail(CODE_LAUNCH_REGISTERS,
             "'%s' cannot run with %llu threads in a block: it uses %d registers a thread", k->name,
             (unsigned long long)threads, k->registers);
    message_at(m, block_place(s));
    message_note(
        m, "%d x %llu = %llu registers; this device has %u for a block, so at most %d threads",
        k->registers, (unsigned long long)threads,
        (unsigned long long)threads * (unsigned)(k->registers > 0 ? k->registers : 0),
        d->registers_per_block, k->max_threads);
    message_note(
        m, "without this check the driver would answer CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)");
    message_hint(
        m,
        "--block %d, or compile with -maxrregcount=%llu, or put __launch_bounds__(%llu) on the kernel",
        k->max_threads,
        (unsigned long long)(threads ? d->registers_per_block / threads / 8 * 8 : 0),
        (unsigned long long)threads);
    return false;
}

static bool check_grid(const plan *p, const step *s)
{
    const gpul_device_info *d = p->device;
    for (int i = 0; i < 3; i++) {
        if (!d->max_grid[i] || s->grid[i] <= d->max_grid[i]) continue;
        unsigned long long allowed = d->max_grid[i];
        message *m = fail(CODE_LAUNCH_LIMIT, "grid %s: %llu blocks in %c; this device allows %llu",
                          dims_text(s->grid), (unsigned long long)s->grid[i], "xyz"[i], allowed);
        if (s->request->grid.at.word) message_at_span(m, s->request->grid.at);
        message_note(m, "at most %llu x %llu x %llu blocks", (unsigned long long)d->max_grid[0],
                     (unsigned long long)d->max_grid[1], (unsigned long long)d->max_grid[2]);
        message_hint(
            m,
            "a larger --block, or let each thread work on several elements (a grid-stride loop)");
        return false;
    }
    return true;
}

static bool check_shared(const plan *p, const step *s)
{
    const gpul_kernel_info *k = s->kernel;
    const gpul_device_info *d = p->device;
    uint64_t dynamic = s->request->shared,
             fixed = k->shared_bytes > 0 ? (uint64_t)k->shared_bytes : 0;
    uint64_t threads = s->block[0] * s->block[1] * s->block[2];
    if (k->uses_dynamic_shared && !dynamic && !s->request->has_shared) {
        const char *name =
            k->dynamic_shared_name ? k->dynamic_shared_name : "an extern __shared__ array";
        message *m =
            k->dynamic_shared_name
                ? fail(CODE_LAUNCH_SHARED, "'%s' is dynamic shared memory, but --shared is 0", name)
                : fail(CODE_LAUNCH_SHARED, "'%s' uses dynamic shared memory, but --shared is 0",
                       k->name);
        message_at(m, place_of_kernel(p, k));
        uint64_t bytes = threads * 4;
        message_hint(m, "--shared %s  (%llu threads x sizeof(float))",
                     bytes % 1024 ? mem_format("%llu", (unsigned long long)bytes)
                                  : mem_format("%lluK", (unsigned long long)bytes / 1024),
                     (unsigned long long)threads);
        return false;
    }
    uint64_t most = d->shared_per_block_optin > d->shared_per_block ? d->shared_per_block_optin
                                                                    : d->shared_per_block;
    if (!most || dynamic + fixed <= most) return true;
    message *m =
        fail(CODE_LAUNCH_SHARED,
             "'%s' would need %llu bytes of shared memory in a block; this device has %llu",
             k->name, (unsigned long long)(dynamic + fixed), (unsigned long long)most);
    if (s->request->shared_at.word) message_at_span(m, s->request->shared_at);
    message_note(m, "%llu by --shared and %llu declared in the kernel", (unsigned long long)dynamic,
                 (unsigned long long)fixed);
    message_hint(m, "--shared %llu at most",
                 (unsigned long long)(most - (fixed < most ? fixed : most)));
    return false;
}

/* Where the kernel's text first uses the index of an axis; the kernel's name when that cannot be seen. */
static place place_of_axis(const plan *p, const gpul_kernel_info *k, char axis)
{
    place at = place_of_kernel(p, k);
    if (at.kind != PLACE_SOURCE || !p->source || !same_text(at.file, p->source->path)) return at;
    const char *words[] = { mem_format("threadIdx.%c", axis), mem_format("blockIdx.%c", axis) };
    for (unsigned line = at.line; line <= p->source->lines.count; line++) {
        const char *whole = source_line(p->source, line), *comment = strstr(whole, "//"),
                   *found = NULL;
        for (int i = 0; i < 2; i++) {
            const char *one = strstr(whole, words[i]);
            if (one && (!found || one < found)) found = one;
        }
        if (found && (!comment || found < comment)) {
            unsigned column = (unsigned)utf8_length(whole, (size_t)(found - whole)) + 1;
            unsigned wide = (unsigned)utf8_length(found, strcspn(found, ";"));
            return place_source(at.file, line, column, column + wide, whole);
        }
        if (*whole == '}') break; /* the kernel's end, as it is usually written */
    }
    return at;
}

static void warn_flat(const plan *p, const step *s, bool strict)
{
    const gpul_kernel_info *k = s->kernel;
    int axis = k->uses_y && s->grid[1] * s->block[1] == 1   ? 1
               : k->uses_z && s->grid[2] * s->block[2] == 1 ? 2
                                                            : 0;
    if (!axis) return;
    unsigned said = s->request->grid.rank > s->request->block.rank ? s->request->grid.rank
                                                                   : s->request->block.rank;
    if (s->request->threads.rank > said) said = s->request->threads.rank;
    if (said > (unsigned)axis) return;                           /* y = 1 was written */
    if (s->request->grid.rank && s->request->block.rank) return; /* nothing was inferred */
    message *m = message_new(strict ? SEVERITY_ERROR : SEVERITY_WARNING, CODE_LAUNCH_FLAT,
                             "'%s' uses the %c index, but the launch is %s-dimensional (%s of %s)",
                             k->name, "xyz"[axis], axis == 1 ? "one" : "two", dims_text(s->grid),
                             dims_text(s->block));
    message_at(m, place_of_axis(p, k, "xyz"[axis]));
    message_note(m, "every thread will see %c = 0, so only the first %s is computed", "xyz"[axis],
                 axis == 1 ? "row" : "plane");
    for (uint32_t i = 0; i < k->param_count; i++) {
        if (!counts(&s->arguments[i]) || s->arguments[i].buffer->shape.rank > 1) continue;
        message_note(
            m,
            "'%s' was given as a flat length; a shape lets gpulaunch choose a %s-dimensional launch",
            s->arguments[i].name, axis == 1 ? "two" : "three");
        break;
    }
    message_hint(m, "give the buffers a shape such as 640x480, or --threads 640,480");
}

bool geometry_channels(const step *s)
{
    if (s->request->grid.rank || s->request->threads.rank || s->request->over) return true;
    for (uint32_t i = 0; i < s->kernel->param_count; i++)
        if (counts(&s->arguments[i]) && has_channels(s->arguments[i].buffer, s->kernel))
            return false;
    return true;
}

/* ---- All of it ---- */

static bool step_geometry(plan *p, step *s)
{
    const step_request *r = s->request;
    uint64_t threads[3] = { 1, 1, 1 };
    unsigned rank = 1;
    if (r->grid.rank) {
        memcpy(s->grid, r->grid.n, sizeof s->grid);
        rank = r->grid.rank > r->block.rank ? r->grid.rank : r->block.rank;
        if (!choose_block(s, rank)) return false;
    } else {
        if (r->threads.rank) {
            memcpy(threads, r->threads.n, sizeof threads);
            rank = r->threads.rank;
        } else if (r->over) {
            buffer *b = plan_buffer(p, s, r->over);
            if (!b) {
                message *m = message_at_span(
                    fail(CODE_ARGS_REFERENCE, "--over: there is no buffer '%s'", r->over),
                    r->over_at);
                message_hint(m, "the name of a pointer parameter of '%s'", s->kernel->name);
                return false;
            }
            if (!threads_from_shape(s, b, threads, &rank)) return false;
            s->grid_from = mem_format("one thread for each element of %s", b->name);
        } else if (!infer_threads(s, threads, &rank)) {
            return false;
        }
        if (!choose_block(s, rank)) return false;
        for (int i = 0; i < 3; i++) s->grid[i] = (threads[i] + s->block[i] - 1) / s->block[i];
    }
    if (!p->device) return true;
    bool good = check_block(p, s);
    good &= check_grid(p, s);
    return check_shared(p, s) && good;
}

bool plan_geometry(plan *p, bool strict)
{
    bool good = true;
    for (size_t i = 0; i < p->steps.count; i++) {
        size_t before = messages_errors();
        good &= step_geometry(p, p->steps.items[i]);
        if (messages_errors() == before) warn_flat(p, p->steps.items[i], strict);
        good &= messages_errors() == before;
    }
    return good;
}
