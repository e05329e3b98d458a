/* Events: the objects and the entries about them.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

#include "base/alloc.h"

void gpul__cpu_event_free(cpu_event *event)
{
    cpu_event **link = &event->context->events;
    while (*link != event) link = &(*link)->next;
    *link = event->next;
    gpul__cpu_handle_drop(event->handle);
    gpul__cpu_op_drop(event->op);
    gpul__free(event->captured);
    gpul__free(event);
}

CUresult gpul__cpu_EventCreate(CUevent *out, unsigned int flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || (flags & ~known)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (flags & CU_EVENT_INTERPROCESS) return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    cpu_event *event = gpul__calloc(1, sizeof *event);
    CUevent handle = event ? gpul__cpu_handle_new(CPU_EVENT, event) : NULL;
    if (!handle) {
        gpul__free(event);
        return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *event = (cpu_event){
        .handle = handle, .context = context, .flags = flags, .next = context->events
    };
    context->events = event;
    *out = handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* Enters with an event, which may be another context's. */
static CUresult enter_event(CUevent handle, cpu_event **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_EVENT, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult gpul__cpu_EventDestroy(CUevent handle)
{
    cpu_event *event;
    CUresult result = enter_event(handle, &event);
    if (result) return result;
    gpul__cpu_event_free(event);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_event_record(cpu_event *event, cpu_stream *stream)
{
    if (stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) return gpul__cpu_capture_record_event(stream, event);
    cpu_work *mark = gpul__cpu_work_new(WORK_NOTHING);
    if (!mark) return CUDA_ERROR_OUT_OF_MEMORY;
    cpu_op *op;
    CUresult result = gpul__cpu_submit(stream, mark, NULL, 0, &op);
    gpul__cpu_work_drop(mark);
    if (result) return result;
    gpul__cpu_op_drop(event->op);
    event->op = op;
    event->graph_time = 0;
    event->capture_id = 0;
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_EventRecord(CUevent handle, CUstream stream_handle)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_event *event = gpul__cpu_handle_get(CPU_EVENT, handle);
    cpu_stream *stream;
    result =
        event ? gpul__cpu_stream_any(context, stream_handle, &stream) : CUDA_ERROR_INVALID_HANDLE;
    if (!result) result = gpul__cpu_event_record(event, stream);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_EventQuery(CUevent handle)
{
    cpu_event *event;
    CUresult result = enter_event(handle, &event);
    if (result) return result;
    if (event->capture_id) return gpul__cpu_leave(CUDA_ERROR_CAPTURED_EVENT);
    if (event->op && !event->op->done) return gpul__cpu_leave(CUDA_ERROR_NOT_READY);
    return gpul__cpu_leave_synchronised(CUDA_SUCCESS);
}

CUresult gpul__cpu_EventSynchronize(CUevent handle)
{
    cpu_event *event;
    CUresult result = enter_event(handle, &event);
    if (result) return result;
    if (event->capture_id) return gpul__cpu_leave(CUDA_ERROR_CAPTURED_EVENT);
    if (event->op && !event->op->done) result = gpul__cpu_wait_op(event->op);
    return gpul__cpu_leave_synchronised(result);
}

CUresult gpul__cpu_EventElapsedTime(float *out, CUevent start_handle, CUevent end_handle)
{
    cpu_event *start, *end;
    CUresult result = enter_event(start_handle, &start);
    if (result) return result;
    end = gpul__cpu_handle_get(CPU_EVENT, end_handle);
    if (!end) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    const cpu_event *both[2] = { start, end };
    uint64_t times[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        const cpu_event *event = both[i];
        if (event->capture_id) return gpul__cpu_leave(CUDA_ERROR_CAPTURED_EVENT);
        if ((event->flags & CU_EVENT_DISABLE_TIMING) || (!event->op && !event->graph_time))
            return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
        if (!event->graph_time && !event->op->done) result = CUDA_ERROR_NOT_READY;
        times[i] = event->graph_time ? event->graph_time : event->op->time;
    }
    if (!result) *out = (float)((double)(int64_t)(times[1] - times[0]) * 1e-6);
    return gpul__cpu_leave(result);
}
