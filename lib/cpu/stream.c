/* Streams: the objects and the entries about them.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

#include "base/alloc.h"

#include <string.h>

/* ---- objects ---------------------------------------------------------------------------- */

cpu_stream *gpul__cpu_stream_new(cpu_context *context, unsigned flags, int priority)
{
    static uint64_t next_id = 1;
    cpu_stream *stream = gpul__calloc(1, sizeof *stream);
    CUstream handle = stream ? gpul__cpu_handle_new(CPU_STREAM, stream) : NULL;
    if (!handle) {
        gpul__free(stream);
        return NULL;
    }
    *stream = (cpu_stream){ .handle = handle,
                            .context = context,
                            .blocking = !(flags & CU_STREAM_NON_BLOCKING),
                            .flags = flags,
                            .priority = priority,
                            .policy = CU_SYNC_POLICY_AUTO,
                            .id = next_id++,
                            .next = context->streams };
    context->streams = stream;
    return stream;
}

void gpul__cpu_stream_free(cpu_stream *stream)
{
    gpul__cpu_capture_forget_stream(stream);
    cpu_stream **link = &stream->context->streams;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
    gpul__cpu_handle_drop(stream->handle);
    gpul__cpu_op_drop(stream->latest);
    gpul__free(stream);
}

uint64_t gpul__cpu_thread_number(void)
{
    static uint64_t next = 1;
    if (!gpul__cpu_thread.number) gpul__cpu_thread.number = next++;
    return gpul__cpu_thread.number;
}

/* A thread's own default stream, made when it is first used. */
static cpu_stream *stream_of_thread(cpu_context *context)
{
    uint64_t thread = gpul__cpu_thread_number();
    for (cpu_stream *stream = context->streams; stream; stream = stream->next)
        if (stream->thread == thread) return stream;
    cpu_stream *stream = gpul__cpu_stream_new(context, CU_STREAM_DEFAULT, 0);
    if (stream) stream->thread = thread;
    return stream;
}

cpu_stream *gpul__cpu_stream_find(cpu_context *context, CUstream handle)
{
    if (!handle || handle == CU_STREAM_LEGACY) return context->legacy;
    if (handle == CU_STREAM_PER_THREAD) return stream_of_thread(context);
    cpu_stream *stream = gpul__cpu_handle_get(CPU_STREAM, handle);
    return stream && stream->context == context && !stream->released ? stream : NULL;
}

CUresult gpul__cpu_stream_any(cpu_context *context, CUstream handle, cpu_stream **out)
{
    cpu_stream *stream = gpul__cpu_handle_get(CPU_STREAM, handle);
    if (!stream) stream = gpul__cpu_stream_find(context, handle);
    if (!stream || stream->released) return CUDA_ERROR_INVALID_HANDLE;
    *out = stream;
    return stream->context->fault;
}

/* Enters with a stream, which may be another context's. */
static CUresult enter_stream(CUstream handle, cpu_stream **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    result = gpul__cpu_stream_any(context, handle, out);
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

/* ---- making and destroying -------------------------------------------------------------- */

CUresult gpul__cpu_StreamCreateWithPriority(CUstream *out, unsigned int flags, int priority)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (priority > CPU_LEAST_PRIORITY) priority = CPU_LEAST_PRIORITY;
    if (priority < CPU_GREATEST_PRIORITY) priority = CPU_GREATEST_PRIORITY;
    cpu_stream *stream = gpul__cpu_stream_new(context, flags, priority);
    if (!stream) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *out = stream->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_StreamCreate(CUstream *out, unsigned int flags)
{
    return gpul__cpu_StreamCreateWithPriority(out, flags, 0);
}

/* Does not wait: what is queued still runs. */
CUresult gpul__cpu_StreamDestroy(CUstream handle)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (stream->legacy || stream->thread) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    if (gpul__cpu_stream_busy(stream)) {
        gpul__cpu_capture_forget_stream(stream);
        stream->released = true;
    } else {
        gpul__cpu_stream_free(stream);
    }
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- waiting ---------------------------------------------------------------------------- */

CUresult gpul__cpu_StreamSynchronize(CUstream handle)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (gpul__cpu_capture_forbids(stream, &result)) return gpul__cpu_leave(result);
    /* The legacy stream stands for all that is ordered against it. */
    if (stream->legacy) {
        cpu_work *mark = gpul__cpu_work_new(WORK_NOTHING);
        if (!mark) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
        result = gpul__cpu_submit_and_wait(stream, mark);
        gpul__cpu_work_drop(mark);
    } else {
        result = gpul__cpu_wait_stream(stream);
    }
    return gpul__cpu_leave_synchronised(result);
}

CUresult gpul__cpu_StreamQuery(CUstream handle)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (gpul__cpu_capture_forbids(stream, &result)) return gpul__cpu_leave(result);
    bool busy = gpul__cpu_stream_busy(stream);
    if (stream->legacy)
        for (cpu_stream *other = stream->context->streams; other; other = other->next)
            busy |= other->blocking && gpul__cpu_stream_busy(other);
    return busy ? gpul__cpu_leave(CUDA_ERROR_NOT_READY)
                : gpul__cpu_leave_synchronised(CUDA_SUCCESS);
}

CUresult gpul__cpu_StreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    cpu_event *event = gpul__cpu_handle_get(CPU_EVENT, event_handle);
    if (!event) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    if (flags > 1) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (event->capture_id || stream->capture)
        return gpul__cpu_leave(gpul__cpu_capture_wait_event(stream, event));
    if (!event->op || event->op->done) return gpul__cpu_leave(CUDA_SUCCESS);
    cpu_work *mark = gpul__cpu_work_new(WORK_NOTHING);
    if (!mark) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    result = gpul__cpu_submit(stream, mark, &event->op, 1, NULL);
    gpul__cpu_work_drop(mark);
    return gpul__cpu_leave(result);
}

/* ---- host functions --------------------------------------------------------------------- */

static CUresult issue_host(cpu_stream *stream, cpu_host host)
{
    cpu_work *work = gpul__cpu_work_new(WORK_HOST);
    if (!work) return CUDA_ERROR_OUT_OF_MEMORY;
    work->host = host;
    CUresult result = gpul__cpu_issue(stream, work);
    gpul__cpu_work_drop(work);
    return result;
}

CUresult gpul__cpu_LaunchHostFunc(CUstream handle, CUhostFn function, void *user)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (!function) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave(issue_host(stream, (cpu_host){ .function = function, .user = user }));
}

CUresult gpul__cpu_StreamAddCallback(CUstream handle, CUstreamCallback callback, void *user,
                                     unsigned int flags)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (!callback || flags) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (stream->capture) return gpul__cpu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return gpul__cpu_leave(
        issue_host(stream, (cpu_host){ .callback = callback, .stream = handle, .user = user }));
}

/* ---- words in memory -------------------------------------------------------------------- */

static CUresult issue_value(CUstream handle, cpu_work_kind kind, cpu_value value)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (value.address % 4 || !gpul__cpu_range_valid(value.address, 4))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (stream->capture) return gpul__cpu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    cpu_work *work = gpul__cpu_work_new(kind);
    if (!work) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    work->value = value;
    result = gpul__cpu_submit(stream, work, NULL, 0, NULL);
    gpul__cpu_work_drop(work);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_StreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned int flags)
{
    if (flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
    return issue_value(stream, WORK_WAIT_VALUE, (cpu_value){ address, value, flags });
}

CUresult gpul__cpu_StreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned int flags)
{
    enum { NO_MEMORY_BARRIER = 1 };
    if (flags & ~(unsigned)NO_MEMORY_BARRIER) return CUDA_ERROR_INVALID_VALUE;
    return issue_value(stream, WORK_WRITE_VALUE, (cpu_value){ address, value, flags });
}

/* ---- facts ------------------------------------------------------------------------------ */

CUresult gpul__cpu_StreamGetCtx(CUstream handle, CUcontext *out)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (out) *out = stream->context->handle;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_StreamGetPriority(CUstream handle, int *priority)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (priority) *priority = stream->priority;
    return gpul__cpu_leave(priority ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_StreamGetFlags(CUstream handle, unsigned int *flags)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (flags) *flags = stream->flags;
    return gpul__cpu_leave(flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_StreamGetId(CUstream handle, unsigned long long *id)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (id) *id = stream->id;
    return gpul__cpu_leave(id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Managed memory is everybody's here, so that attaching it to a stream is checked and done. */
CUresult gpul__cpu_StreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t length,
                                        unsigned int flags)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    ptx_allocation allocation;
    if (!gpul__cpu_region_find(address, &allocation) || allocation.kind != PTX_MEMORY_MANAGED ||
        (length && length != allocation.size) ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
         flags != CU_MEM_ATTACH_SINGLE))
        result = CUDA_ERROR_INVALID_VALUE;
    return gpul__cpu_leave(result);
}

/* Hints that change no result are accepted and read back as their defaults. */
CUresult gpul__cpu_StreamGetAttribute(CUstream handle, CUstreamAttrID attribute,
                                      CUstreamAttrValue *value)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    memset(value, 0, sizeof *value);
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: value->syncPolicy = stream->policy; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = stream->priority; break;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: break;
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_StreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                                      const CUstreamAttrValue *value)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (value->syncPolicy < CU_SYNC_POLICY_AUTO ||
            value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            result = CUDA_ERROR_INVALID_VALUE;
        else stream->policy = value->syncPolicy;
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        if (value->priority > CPU_LEAST_PRIORITY || value->priority < CPU_GREATEST_PRIORITY)
            result = CUDA_ERROR_INVALID_VALUE;
        else stream->priority = value->priority;
        break;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: break;
    default: result = CUDA_ERROR_INVALID_VALUE;
    }
    return gpul__cpu_leave(result);
}
