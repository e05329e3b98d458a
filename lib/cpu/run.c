/* Doing work: kernels through the engine, copies, fills, host functions.  Runs without the lock.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/graph.h"
#include "cpu/handle.h"
#include "cpu/report.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>
#include <time.h>

static void note(cpu_op *op, CUresult result, gpul__cpu_report *report)
{
    pthread_mutex_lock(&gpul__cpu.lock);
    gpul__cpu_context_fault(op->context, result, report);
    pthread_mutex_unlock(&gpul__cpu.lock);
}

/* ---- kernels ---------------------------------------------------------------------------- */

static void run_launch(cpu_op *op, const cpu_launch *launch)
{
    pthread_mutex_lock(&gpul__cpu.lock);
    const cpu_context *context = op->context;
    const cpu_function *function = gpul__cpu_handle_get(CPU_FUNCTION, launch->function);
    const ptx_kernel *kernel = function ? function->kernel : NULL;
    ptx_grid grid = launch->grid;
    grid.instruction_budget = gpul__cpu.options.instruction_budget;
    grid.stack_size = (uint32_t)context->limits[CU_LIMIT_STACK_SIZE];
    grid.heap_size = context->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    grid.print = gpul__cpu_print_take;
    grid.print_user = (void *)(uintptr_t)context->limits[CU_LIMIT_PRINTF_FIFO_SIZE];
    grid.cancel = &op->cancel;
    CUstream stream = op->stream->handle;
    pthread_mutex_unlock(&gpul__cpu.lock);
    if (!kernel) {
        note(op, CUDA_ERROR_INVALID_HANDLE, NULL);
        return;
    }
    ptx_report details = { 0 };
    ptx_launch_status status =
        ptx_launch(kernel, &grid, launch->params, launch->param_size, &details);
    CUresult result = CUDA_SUCCESS;
    switch (status) {
    case PTX_LAUNCH_OK: break;
    case PTX_LAUNCH_FAULT:
    case PTX_LAUNCH_INVALID: result = (CUresult)details.result; break;
    case PTX_LAUNCH_REFUSED: result = CUDA_ERROR_ILLEGAL_INSTRUCTION; break;
    case PTX_LAUNCH_OUT_OF_MEMORY: result = CUDA_ERROR_OUT_OF_MEMORY; break;
    }
    if (!result && !details.finding_count) {
        ptx_report_free(&details);
        return;
    }
    gpul__cpu_report *report = gpul__cpu_report_new(result, launch, op->launch, stream, &details);
    note(op, result, report);
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Bytes from the first one of the region to the one after its last. */
static uint64_t span(const cpu_side *side, size_t width, size_t height, size_t depth)
{
    return (uint64_t)side->slice * (depth - 1) + (uint64_t)side->pitch * (height - 1) + width;
}

static unsigned char *host_view(const cpu_side *side, const cpu_copy *copy)
{
    if (!side->device) return (unsigned char *)(uintptr_t)side->address;
    return ptx_memory_host(gpul__cpu.memory, side->address,
                           span(side, copy->width, copy->height, copy->depth));
}

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

static bool aligned(const void *address, size_t size)
{
    return (uintptr_t)address % size == 0;
}

/* A single word is written at once: a kernel that runs meanwhile may wait for it. */
static void copy_row(unsigned char *to, const unsigned char *from, size_t width)
{
    if (width == 4 && aligned(to, 4) && aligned(from, 4))
        __atomic_store_n((word32 *)to, __atomic_load_n((const word32 *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELEASE);
    else if (width == 8 && aligned(to, 8) && aligned(from, 8))
        __atomic_store_n((word64 *)to, __atomic_load_n((const word64 *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELEASE);
    else memmove(to, from, width);
}

static void fill_row(unsigned char *to, const cpu_fill *fill)
{
    uint16_t half = (uint16_t)fill->value;
    if (fill->element == 1) memset(to, (int)fill->value, fill->width);
    else if (fill->element == 2)
        for (size_t i = 0; i < fill->width; i++) memcpy(to + 2 * i, &half, 2);
    else if (fill->width == 1) __atomic_store_n((word32 *)to, fill->value, __ATOMIC_RELEASE);
    else
        for (size_t i = 0; i < fill->width; i++) memcpy(to + 4 * i, &fill->value, 4);
}

/* For the checker of uninitialised reads. */
static void note_copy(const cpu_copy *copy)
{
    if (!copy->to.device) return;
    for (size_t plane = 0; plane < copy->depth; plane++)
        for (size_t row = 0; row < copy->height; row++) {
            uint64_t to = copy->to.address + plane * copy->to.slice + row * copy->to.pitch;
            uint64_t from = copy->from.address + plane * copy->from.slice + row * copy->from.pitch;
            if (copy->staged || !copy->from.device)
                ptx_memory_note_write(gpul__cpu.memory, to, copy->width);
            else ptx_memory_note_copy(gpul__cpu.memory, to, from, copy->width);
        }
}

static CUresult run_copy(const cpu_copy *copy)
{
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0) return CUDA_SUCCESS;
    unsigned char *to = host_view(&copy->to, copy);
    const unsigned char *from = copy->staged ? copy->staged : host_view(&copy->from, copy);
    if (!to || !from) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t plane = 0; plane < copy->depth; plane++)
        for (size_t row = 0; row < copy->height; row++)
            copy_row(to + plane * copy->to.slice + row * copy->to.pitch,
                     from + plane * copy->from.slice + row * copy->from.pitch, copy->width);
    note_copy(copy);
    return CUDA_SUCCESS;
}

static CUresult run_fill(const cpu_fill *fill)
{
    if (fill->width == 0 || fill->height == 0) return CUDA_SUCCESS;
    uint64_t bytes = (uint64_t)fill->width * fill->element;
    unsigned char *to = ptx_memory_host(gpul__cpu.memory, fill->address,
                                        (uint64_t)fill->pitch * (fill->height - 1) + bytes);
    if (!to) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t row = 0; row < fill->height; row++) {
        fill_row(to + row * fill->pitch, fill);
        ptx_memory_note_write(gpul__cpu.memory, fill->address + row * fill->pitch, bytes);
    }
    return CUDA_SUCCESS;
}

static bool value_reached(uint32_t now, const cpu_value *value)
{
    switch (value->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return (int32_t)(now - value->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value->value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value->value) != 0;
    default: return ~(now | value->value) != 0;
    }
}

/* A word that a kernel or the host changes meanwhile. */
static CUresult run_wait_value(cpu_op *op, const cpu_value *value)
{
    for (;;) {
        uint32_t *word = ptx_memory_host(gpul__cpu.memory, value->address, sizeof *word);
        if (!word) return CUDA_ERROR_ILLEGAL_ADDRESS;
        if (value_reached(__atomic_load_n(word, __ATOMIC_ACQUIRE), value)) return CUDA_SUCCESS;
        if (atomic_load(&op->cancel)) return CUDA_ERROR_LAUNCH_TIMEOUT;
        nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
    }
}

static CUresult run_write_value(const cpu_value *value)
{
    uint32_t *word = ptx_memory_host(gpul__cpu.memory, value->address, sizeof *word);
    if (!word) return CUDA_ERROR_ILLEGAL_ADDRESS;
    __atomic_store_n(word, value->value, __ATOMIC_RELEASE);
    ptx_memory_note_write(gpul__cpu.memory, value->address, sizeof *word);
    return CUDA_SUCCESS;
}

/* ---- the rest --------------------------------------------------------------------------- */

static void run_host(cpu_op *op, const cpu_host *host)
{
    if (host->callback) {
        pthread_mutex_lock(&gpul__cpu.lock);
        CUresult state = op->context->fault;
        pthread_mutex_unlock(&gpul__cpu.lock);
        host->callback(host->stream, state, host->user);
    } else {
        host->function(host->user);
    }
}

static void run_record(CUevent handle)
{
    pthread_mutex_lock(&gpul__cpu.lock);
    cpu_event *event = gpul__cpu_handle_get(CPU_EVENT, handle);
    if (event) event->graph_time = gpul__now();
    pthread_mutex_unlock(&gpul__cpu.lock);
}

static void run_wait_event(cpu_op *op, CUevent handle)
{
    pthread_mutex_lock(&gpul__cpu.lock);
    cpu_event *event = gpul__cpu_handle_get(CPU_EVENT, handle);
    cpu_op *before = event ? event->op : NULL;
    if (before) {
        before->references++;
        while (!before->done && !atomic_load(&op->cancel))
            pthread_cond_wait(&gpul__cpu.changed, &gpul__cpu.lock);
        gpul__cpu_op_drop(before);
    }
    pthread_mutex_unlock(&gpul__cpu.lock);
}

static void run_free(uint64_t address)
{
    pthread_mutex_lock(&gpul__cpu.lock);
    cpu_region *region = gpul__cpu_region_at(address);
    if (region) gpul__cpu_region_free(region);
    pthread_mutex_unlock(&gpul__cpu.lock);
}

static bool has_fault(cpu_op *op)
{
    pthread_mutex_lock(&gpul__cpu.lock);
    bool result = op->context->fault != CUDA_SUCCESS;
    pthread_mutex_unlock(&gpul__cpu.lock);
    return result;
}

static void run_work(cpu_op *op, const cpu_work *work)
{
    CUresult result = CUDA_SUCCESS;
    switch (work->kind) {
    case WORK_NOTHING: break;
    case WORK_LAUNCH: run_launch(op, &work->launch); break;
    case WORK_COPY: result = run_copy(&work->copy); break;
    case WORK_FILL: result = run_fill(&work->fill); break;
    case WORK_HOST: run_host(op, &work->host); break;
    case WORK_FREE: run_free(work->address); break;
    case WORK_WRITE_VALUE: result = run_write_value(&work->value); break;
    case WORK_WAIT_VALUE: result = run_wait_value(op, &work->value); break;
    case WORK_RECORD: run_record(work->event); break;
    case WORK_WAIT_EVENT: run_wait_event(op, work->event); break;
    case WORK_GRAPH:
        for (size_t i = 0; i < work->sequence.count && !has_fault(op); i++)
            run_work(op, work->sequence.items[i]);
        break;
    }
    if (result) note(op, result, NULL);
}

void gpul__cpu_run(cpu_op *op)
{
    run_work(op, op->work);
}
