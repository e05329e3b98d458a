/* Contexts: making and ending them, the stack of each thread, primary contexts.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"

#include "cpu/entries.h"
#include "cpu/handle.h"
#include "cpu/report.h"

#include "base/alloc.h"

#include <string.h>

enum { KEPT_WARNINGS = 16 };

/* What cuCtxCreate accepts. */
static const unsigned known_flags =
    CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_SYNC_MEMOPS;

static bool flags_valid(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    return (flags & ~known_flags) == 0 &&
           (schedule == CU_CTX_SCHED_AUTO || schedule == CU_CTX_SCHED_SPIN ||
            schedule == CU_CTX_SCHED_YIELD || schedule == CU_CTX_SCHED_BLOCKING_SYNC);
}

/* ---- the objects ------------------------------------------------------------------------ */

CUresult gpul__cpu_context_new(cpu_context **out, cpu_device *device, unsigned flags)
{
    static uint64_t next_id = 1;
    CUresult result = gpul__cpu_start();
    if (result) return result;
    cpu_context *context = gpul__calloc(1, sizeof *context);
    CUcontext handle = context ? gpul__cpu_handle_new(CPU_CONTEXT, context) : NULL;
    if (!handle) goto no_memory;
    *context = (cpu_context){ .handle = handle, .device = device, .id = next_id++, .flags = flags };
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    context->legacy = gpul__cpu_stream_new(context, CU_STREAM_DEFAULT, 0);
    if (!context->legacy) goto no_memory;
    context->legacy->legacy = true;
    gpul__cpu.context_count++;
    *out = context;
    return CUDA_SUCCESS;

no_memory:
    gpul__cpu_handle_drop(handle);
    gpul__free(context);
    gpul__cpu_stop_if_unused();
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Ends what the context owns, but not the context. */
static void empty(cpu_context *context)
{
    while (context->modules) gpul__cpu_module_free(context->modules);
    while (context->events) gpul__cpu_event_free(context->events);
    for (cpu_stream *stream = context->streams, *next; stream; stream = next) {
        next = stream->next;
        if (stream != context->legacy) gpul__cpu_stream_free(stream);
    }
    while (context->regions) gpul__cpu_region_free(context->regions);
    gpul__cpu_report_drop(context->report);
    for (gpul__cpu_report *report = context->warnings, *next; report; report = next) {
        next = report->next;
        gpul__cpu_report_drop(report);
    }
    context->report = context->warnings = NULL;
    context->fault = CUDA_SUCCESS;
}

void gpul__cpu_context_end(CUcontext handle)
{
    cpu_context *context = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    if (!context || context->ending) return;
    context->ending = true;
    gpul__cpu_wait_context(context);
    empty(context);
    gpul__cpu_stream_free(context->legacy);
    if (context->primary) context->device->primary = NULL;
    gpul__cpu_handle_drop(handle);
    gpul__free(context);
    gpul__cpu.context_count--;
    gpul__cpu_stop_if_unused();
}

static void add_warning(cpu_context *context, gpul__cpu_report *report)
{
    size_t count = 0;
    gpul__cpu_report **end = &context->warnings;
    while (*end) {
        end = &(*end)->next;
        count++;
    }
    if (count < KEPT_WARNINGS) *end = report;
    else gpul__cpu_report_drop(report);
}

void gpul__cpu_context_fault(cpu_context *context, CUresult fault, gpul__cpu_report *report)
{
    if (!fault) {
        if (report) add_warning(context, report);
        return;
    }
    if (context->fault) { /* the first fault is the one that counts */
        gpul__cpu_report_drop(report);
        return;
    }
    context->fault = fault;
    context->report = report;
    gpul__cpu_cancel_context(context); /* what runs in other streams ends too */
}

/* ---- what is current on a thread -------------------------------------------------------- */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void free_spilled(void *spilled)
{
    gpul__free(spilled);
}
static void make_key(void)
{
    pthread_key_create(&thread_key, free_spilled);
}

static CUcontext *level(size_t depth)
{
    cpu_thread *thread = &gpul__cpu_thread;
    return depth < CPU_INLINE_DEPTH ? &thread->inline_stack[depth]
                                    : &thread->spilled[depth - CPU_INLINE_DEPTH];
}

static bool push(CUcontext handle)
{
    cpu_thread *thread = &gpul__cpu_thread;
    if (thread->depth >= CPU_INLINE_DEPTH) {
        pthread_once(&thread_once, make_key);
        if (!gpul__grow(&thread->spilled, &thread->capacity, thread->depth - CPU_INLINE_DEPTH,
                        sizeof *thread->spilled))
            return false;
        pthread_setspecific(thread_key, thread->spilled);
    }
    *level(thread->depth++) = handle;
    return true;
}

static CUcontext pop(void)
{
    cpu_thread *thread = &gpul__cpu_thread;
    CUcontext handle = *level(--thread->depth);
    if (thread->depth <= CPU_INLINE_DEPTH && thread->spilled) {
        gpul__free(thread->spilled);
        thread->spilled = NULL;
        thread->capacity = 0;
        pthread_setspecific(thread_key, NULL);
    }
    return handle;
}

CUresult gpul__cpu_current(cpu_context **out)
{
    size_t depth = gpul__cpu_thread.depth;
    if (depth == 0 || !*level(depth - 1)) return CUDA_ERROR_INVALID_CONTEXT;
    *out = gpul__cpu_handle_get(CPU_CONTEXT, *level(depth - 1));
    return *out ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult gpul__cpu_CtxPushCurrent(CUcontext handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!gpul__cpu_handle_get(CPU_CONTEXT, handle)) result = CUDA_ERROR_INVALID_CONTEXT;
    else if (!push(handle)) result = CUDA_ERROR_OUT_OF_MEMORY;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_CtxPopCurrent(CUcontext *out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (gpul__cpu_thread.depth == 0) return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    CUcontext handle = pop();
    if (out) *out = handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* NULL takes the top away; anything else replaces it, or begins the stack. */
CUresult gpul__cpu_CtxSetCurrent(CUcontext handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!handle) {
        if (gpul__cpu_thread.depth) pop();
    } else if (!gpul__cpu_handle_get(CPU_CONTEXT, handle)) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        if (gpul__cpu_thread.depth) pop();
        if (!push(handle)) result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_CtxGetCurrent(CUcontext *out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    size_t depth = gpul__cpu_thread.depth;
    *out = depth ? *level(depth - 1) : NULL;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- making and destroying -------------------------------------------------------------- */

CUresult gpul__cpu_CtxCreate(CUcontext *out, unsigned int flags, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_device *device = gpul__cpu_device_at(ordinal);
    if (!out || !flags_valid(flags)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    cpu_context *context;
    result = gpul__cpu_context_new(&context, device, flags);
    if (result) return gpul__cpu_leave(result);
    CUcontext handle = context->handle;
    if (!push(handle)) {
        gpul__cpu_context_end(handle);
        return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *out = handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_CtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned int flags,
                                CUdevice ordinal)
{
    if (params && (params->numExecAffinityParams || params->execAffinityParams))
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (params && params->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
    return gpul__cpu_CtxCreate(out, flags, ordinal);
}

CUresult gpul__cpu_CtxDestroy(CUcontext handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_context *context = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    if (!context || context->primary || context->ending)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    gpul__cpu_context_end(handle);
    size_t depth = gpul__cpu_thread.depth;
    if (depth && *level(depth - 1) == handle) pop();
    return gpul__cpu_leave_synchronised(CUDA_SUCCESS);
}

CUresult gpul__cpu_DevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_device *device = gpul__cpu_device_at(ordinal);
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    /* The last release may still be waiting for work. */
    while (device->primary && device->primary->ending)
        pthread_cond_wait(&gpul__cpu.changed, &gpul__cpu.lock);
    if (!device->primary) {
        cpu_context *context;
        result = gpul__cpu_context_new(&context, device, device->primary_flags);
        if (result) return gpul__cpu_leave(result);
        context->primary = true;
        device->primary = context;
    }
    device->primary->retained++;
    *out = device->primary->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DevicePrimaryCtxRelease(CUdevice ordinal)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_device *device = gpul__cpu_device_at(ordinal);
    if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    if (!device->primary || device->primary->ending)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (--device->primary->retained == 0) {
        gpul__cpu_context_end(device->primary->handle);
        pthread_cond_broadcast(&gpul__cpu.changed);
    }
    return gpul__cpu_leave_synchronised(CUDA_SUCCESS);
}

CUresult gpul__cpu_DevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_device *device = gpul__cpu_device_at(ordinal);
    if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    if (!flags_valid(flags)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    device->primary_flags = flags;
    if (device->primary) device->primary->flags = flags;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_DevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_device *device = gpul__cpu_device_at(ordinal);
    if (!device) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    if (!flags || !active) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    *active = device->primary != NULL;
    *flags = device->primary ? device->primary->flags : device->primary_flags;
    return gpul__cpu_leave(CUDA_SUCCESS);
}
