/* Operations, their order, and the workers that do them.  SPDX-License-Identifier: MIT */
#include "cpu/queue.h"

#include "cpu/context.h"
#include "cpu/handle.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <signal.h>

/* Each worker can hold one kernel, copy or host function that does not end. */
enum { MAX_WORKERS = 16 };

static pthread_cond_t work_waits = PTHREAD_COND_INITIALIZER;
static pthread_t workers[MAX_WORKERS];
static unsigned worker_count, idle_count;
static bool stopping;
static cpu_stream *active; /* streams that are not empty */
static uint64_t next_number = 1;

/* ---- work ------------------------------------------------------------------------------- */

cpu_work *gpul__cpu_work_new(cpu_work_kind kind)
{
    cpu_work *work = gpul__calloc(1, sizeof *work);
    if (work) *work = (cpu_work){ .references = 1, .kind = kind };
    return work;
}

cpu_work *gpul__cpu_work_keep(cpu_work *work)
{
    if (work) work->references++;
    return work;
}

void gpul__cpu_work_drop(cpu_work *work)
{
    if (!work || --work->references) return;
    switch (work->kind) {
    case WORK_LAUNCH: gpul__free(work->launch.params); break;
    case WORK_COPY: gpul__free(work->copy.staged); break;
    case WORK_GRAPH:
        for (size_t i = 0; i < work->sequence.count; i++)
            gpul__cpu_work_drop(work->sequence.items[i]);
        gpul__free(work->sequence.items);
        break;
    default: break;
    }
    gpul__free(work);
}

/* ---- operations ------------------------------------------------------------------------- */

static void drop_waits(cpu_op *op)
{
    for (size_t i = 0; i < op->wait_count; i++) gpul__cpu_op_drop(op->waits[i]);
    gpul__free(op->waits);
    op->waits = NULL;
    op->wait_count = 0;
}

void gpul__cpu_op_drop(cpu_op *op)
{
    if (!op || --op->references) return;
    drop_waits(op);
    gpul__cpu_work_drop(op->work);
    gpul__free(op);
}

static bool ready(const cpu_op *op)
{
    if (op->started) return false;
    for (size_t i = 0; i < op->wait_count; i++)
        if (!op->waits[i]->done) return false;
    return true;
}

/* The head of a stream that can run: of the highest priority, and the oldest among those. */
static cpu_op *find_ready(void)
{
    cpu_op *best = NULL;
    for (cpu_stream *stream = active; stream; stream = stream->active) {
        cpu_op *op = stream->first;
        if (!ready(op)) continue;
        if (!best || stream->priority < best->stream->priority ||
            (stream->priority == best->stream->priority && op->number < best->number))
            best = op;
    }
    return best;
}

static void activate(cpu_stream *stream)
{
    stream->active = active;
    stream->active_before = NULL;
    if (active) active->active_before = stream;
    active = stream;
}

static void deactivate(cpu_stream *stream)
{
    if (stream->active) stream->active->active_before = stream->active_before;
    if (stream->active_before) stream->active_before->active = stream->active;
    else active = stream->active;
    stream->active = stream->active_before = NULL;
}

static void *work_on(void *unused);

/* Signals are the business of the program's own threads. */
static void start_worker(void)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&workers[worker_count], NULL, work_on, NULL) == 0) worker_count++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Lets another worker look when there is something to do; false when there is nobody to do it. */
static bool wake(void)
{
    if (!find_ready()) return true;
    if (idle_count) pthread_cond_signal(&work_waits);
    else if (worker_count < MAX_WORKERS && !stopping) start_worker();
    return worker_count > 0;
}

static void complete(cpu_op *op)
{
    cpu_stream *stream = op->stream;
    op->done = true;
    op->time = gpul__now();
    op->stream = NULL;
    drop_waits(op);
    stream->first = op->next;
    if (!stream->first) {
        stream->last = NULL;
        deactivate(stream);
        if (stream->released) gpul__cpu_stream_free(stream);
    }
    op->context->pending--;
    gpul__cpu_op_drop(op);
    pthread_cond_broadcast(&gpul__cpu.changed);
}

/* Gives the lock up while the work is done. */
static void perform(cpu_op *op)
{
    op->started = true;
    wake();
    const cpu_work *work = op->work;
    bool reports_faults = work->kind == WORK_HOST && work->host.callback;
    if (work->kind != WORK_NOTHING && (!op->context->fault || reports_faults)) {
        pthread_mutex_unlock(&gpul__cpu.lock);
        gpul__cpu_run(op);
        pthread_mutex_lock(&gpul__cpu.lock);
    }
    complete(op);
}

static void *work_on(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&gpul__cpu.lock);
    while (!stopping) {
        cpu_op *op = find_ready();
        if (op) {
            perform(op);
        } else {
            idle_count++;
            pthread_cond_wait(&work_waits, &gpul__cpu.lock);
            idle_count--;
        }
    }
    pthread_mutex_unlock(&gpul__cpu.lock);
    return NULL;
}

void gpul__cpu_workers_stop(void)
{
    stopping = true;
    pthread_cond_broadcast(&work_waits);
    while (worker_count) {
        pthread_t worker = workers[--worker_count];
        pthread_mutex_unlock(&gpul__cpu.lock);
        pthread_join(worker, NULL);
        pthread_mutex_lock(&gpul__cpu.lock);
    }
    stopping = false;
}

/* ---- queueing --------------------------------------------------------------------------- */

static void add_wait(cpu_op *op, cpu_op *first)
{
    if (first->done) return;
    first->references++;
    op->waits[op->wait_count++] = first;
}

static CUresult enqueue(cpu_stream *stream, cpu_work *work, cpu_op *const *after, size_t count,
                        cpu_op **out)
{
    cpu_context *context = stream->context;
    if (context->fault) return context->fault;
    if (context->ending) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    size_t most = count + 1;
    if (stream->legacy)
        for (cpu_stream *other = context->streams; other; other = other->next) most++;
    cpu_op *op = gpul__calloc(1, sizeof *op);
    cpu_op **waits = gpul__calloc(most, sizeof *waits);
    if (!op || !waits) {
        gpul__free(op);
        gpul__free(waits);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *op = (cpu_op){ .references = 1,
                    .number = next_number++,
                    .launch = gpul__cpu_thread.launch,
                    .context = context,
                    .stream = stream,
                    .work = gpul__cpu_work_keep(work),
                    .waits = waits };
    for (size_t i = 0; i < count; i++) add_wait(op, after[i]);
    if (stream->legacy) {
        for (cpu_stream *other = context->streams; other; other = other->next)
            if (other != stream && other->blocking && other->last) add_wait(op, other->last);
    } else if (stream->blocking && context->legacy->last) {
        add_wait(op, context->legacy->last);
    }
    if (stream->last) {
        stream->last->next = op;
    } else {
        stream->first = op;
        activate(stream);
    }
    stream->last = op;
    context->pending++;
    gpul__cpu_op_drop(stream->latest);
    op->references++;
    stream->latest = op;
    if (out) {
        op->references++;
        *out = op;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_submit(cpu_stream *stream, cpu_work *work, cpu_op *const *after, size_t count,
                          cpu_op **out)
{
    CUresult result = enqueue(stream, work, after, count, out);
    if (result) return result;
    /* Without a single worker (the system refuses threads) the caller does the work. */
    if (!wake())
        for (cpu_op *op; (op = find_ready()) != NULL;) perform(op);
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_submit_and_wait(cpu_stream *stream, cpu_work *work)
{
    cpu_op *op;
    CUresult result = enqueue(stream, work, NULL, 0, &op);
    if (result) return result;
    result = gpul__cpu_wait_op(op);
    gpul__cpu_op_drop(op);
    return result;
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* What the waiting thread may do itself: everything but the user's functions. */
static bool can_help(const cpu_op *op)
{
    return op && ready(op) && op->work->kind != WORK_HOST && op->work->kind != WORK_WAIT_VALUE;
}

CUresult gpul__cpu_wait_op(cpu_op *op)
{
    CUcontext handle = op->context->handle;
    op->references++;
    /* What became ready by this thread's own work has nobody who looks for it: a worker is told before this
     * thread sleeps or leaves. */
    bool helped = false;
    while (!op->done) {
        cpu_op *head = op->stream->first;
        if (can_help(head)) {
            perform(head);
            helped = true;
            continue;
        }
        if (helped) wake();
        helped = false;
        pthread_cond_wait(&gpul__cpu.changed, &gpul__cpu.lock);
    }
    if (helped) wake();
    gpul__cpu_op_drop(op);
    cpu_context *context = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    return context ? context->fault : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool gpul__cpu_stream_busy(const cpu_stream *stream)
{
    return stream->first != NULL;
}

CUresult gpul__cpu_wait_stream(cpu_stream *stream)
{
    return stream->last ? gpul__cpu_wait_op(stream->last) : stream->context->fault;
}

CUresult gpul__cpu_wait_context(cpu_context *context)
{
    CUcontext handle = context->handle;
    while ((context = gpul__cpu_handle_get(CPU_CONTEXT, handle)) != NULL && context->pending) {
        cpu_stream *stream = active;
        while (stream && stream->context != context) stream = stream->active;
        if (stream) gpul__cpu_wait_op(stream->last);
        else pthread_cond_wait(&gpul__cpu.changed, &gpul__cpu.lock); /* a module is being loaded */
    }
    return context ? context->fault : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void gpul__cpu_cancel_context(cpu_context *context)
{
    for (cpu_stream *stream = active; stream; stream = stream->active)
        if (stream->context == context) atomic_store(&stream->first->cancel, true);
    pthread_cond_broadcast(&gpul__cpu.changed);
}
