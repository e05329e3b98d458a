/* Recording streams into graphs.  Each recording stream keeps the nodes that its next piece of work comes
 * after; an event hands such a set to another stream, which then records too.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

#include "base/alloc.h"

#include <string.h>

static uint64_t next_capture_id = 1;

static CUgraphNodeType node_type(cpu_work_kind kind)
{
    switch (kind) {
    case WORK_LAUNCH: return CU_GRAPH_NODE_TYPE_KERNEL;
    case WORK_COPY: return CU_GRAPH_NODE_TYPE_MEMCPY;
    case WORK_FILL: return CU_GRAPH_NODE_TYPE_MEMSET;
    case WORK_HOST: return CU_GRAPH_NODE_TYPE_HOST;
    default: return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

static CUresult set_recorded(cpu_stream *stream, cpu_graph_node *const *nodes, size_t count)
{
    cpu_graph_node **copy = gpul__calloc(count, sizeof(cpu_graph_node *));
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    if (count) memcpy(copy, nodes, count * sizeof *copy);
    gpul__free(stream->recorded);
    stream->recorded = copy;
    stream->recorded_count = count;
    stream->recorded_capacity = count;
    return CUDA_SUCCESS;
}

static CUresult record(cpu_stream *stream, cpu_work *work)
{
    cpu_capture *capture = stream->capture;
    if (capture->spoiled) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    cpu_graph_node *node;
    CUresult result = gpul__cpu_node_new(&node, capture->graph, node_type(work->kind), work,
                                         stream->recorded, stream->recorded_count);
    if (!result) node->context = stream->context;
    if (!result) result = set_recorded(stream, &node, 1);
    if (result) capture->spoiled = true;
    return result;
}

/* ---- the rest of the device, seen from a recording -------------------------------------- */

bool gpul__cpu_capture_forbids(cpu_stream *stream, CUresult *result)
{
    if (stream->capture) {
        stream->capture->spoiled = true;
        *result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        return true;
    }
    if (!stream->legacy) return false;
    for (cpu_stream *other = stream->context->streams; other; other = other->next)
        if (other->blocking && other->capture) {
            other->capture->spoiled = true;
            *result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            return true;
        }
    return false;
}

bool gpul__cpu_spoil_captures(cpu_context *context)
{
    bool found = false;
    for (cpu_stream *stream = context->streams; stream; stream = stream->next)
        if (stream->capture) found = stream->capture->spoiled = true;
    return found;
}

CUresult gpul__cpu_issue(cpu_stream *stream, cpu_work *work)
{
    CUresult result = CUDA_SUCCESS;
    if (stream->capture) return record(stream, work);
    if (gpul__cpu_capture_forbids(stream, &result)) return result;
    return gpul__cpu_submit(stream, work, NULL, 0, NULL);
}

CUresult gpul__cpu_issue_and_wait(cpu_stream *stream, cpu_work *work)
{
    CUresult result = CUDA_SUCCESS;
    if (gpul__cpu_capture_forbids(stream, &result)) return result;
    return gpul__cpu_submit_and_wait(stream, work);
}

/* ---- events ----------------------------------------------------------------------------- */

CUresult gpul__cpu_capture_record_event(cpu_stream *stream, cpu_event *event)
{
    if (stream->capture->spoiled) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    cpu_graph_node **copy = gpul__calloc(stream->recorded_count, sizeof(cpu_graph_node *));
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    if (stream->recorded_count)
        memcpy(copy, stream->recorded, stream->recorded_count * sizeof *copy);
    gpul__free(event->captured);
    event->captured = copy;
    event->captured_count = stream->recorded_count;
    event->capture_id = stream->capture->id;
    return CUDA_SUCCESS;
}

static cpu_capture *find_capture(cpu_context *context, uint64_t id)
{
    for (cpu_stream *stream = context->streams; stream; stream = stream->next)
        if (stream->capture && stream->capture->id == id) return stream->capture;
    return NULL;
}

CUresult gpul__cpu_capture_wait_event(cpu_stream *stream, cpu_event *event)
{
    cpu_capture *capture =
        event->capture_id ? find_capture(event->context, event->capture_id) : NULL;
    if (stream->capture && stream->capture->spoiled) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!capture) { /* recorded outside, or in a recording that has ended */
        if (!stream->capture) return CUDA_ERROR_CAPTURED_EVENT;
        stream->capture->spoiled = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (stream->legacy) {
        capture->spoiled = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!stream->capture) {
        CUresult result = set_recorded(stream, event->captured, event->captured_count);
        if (!result) stream->capture = capture;
        return result;
    }
    if (stream->capture != capture) {
        stream->capture->spoiled = capture->spoiled = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    for (size_t i = 0; i < event->captured_count; i++) {
        bool known = false;
        for (size_t j = 0; j < stream->recorded_count; j++)
            known |= stream->recorded[j] == event->captured[i];
        if (known) continue;
        if (!gpul__grow(&stream->recorded, &stream->recorded_capacity, stream->recorded_count,
                        sizeof *stream->recorded))
            return CUDA_ERROR_OUT_OF_MEMORY;
        stream->recorded[stream->recorded_count++] = event->captured[i];
    }
    return CUDA_SUCCESS;
}

/* ---- beginning and ending --------------------------------------------------------------- */

static void leave_capture(cpu_stream *stream)
{
    stream->capture = NULL;
    gpul__free(stream->recorded);
    gpul__free(stream->recorded_handles);
    stream->recorded = NULL;
    stream->recorded_handles = NULL;
    stream->recorded_count = stream->recorded_capacity = 0;
}

static void end_capture(cpu_capture *capture)
{
    cpu_context *context = capture->origin->context;
    for (cpu_stream *stream = context->streams; stream; stream = stream->next)
        if (stream->capture == capture) leave_capture(stream);
    gpul__free(capture);
}

void gpul__cpu_capture_forget_stream(cpu_stream *stream)
{
    cpu_capture *capture = stream->capture;
    if (!capture) return;
    if (capture->origin == stream) {
        gpul__cpu_graph_free(capture->graph);
        end_capture(capture);
    } else {
        capture->spoiled = true;
        leave_capture(stream);
    }
}

static CUresult enter_stream(CUstream handle, cpu_stream **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    result = gpul__cpu_stream_any(context, handle, out);
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

CUresult gpul__cpu_StreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (stream->legacy) return gpul__cpu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (stream->capture) return gpul__cpu_leave(CUDA_ERROR_ILLEGAL_STATE);
    cpu_capture *capture = gpul__calloc(1, sizeof *capture);
    cpu_graph *graph = capture ? gpul__cpu_graph_new() : NULL;
    if (!graph) {
        gpul__free(capture);
        return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *capture = (cpu_capture){ .id = next_capture_id++,
                              .graph = graph,
                              .origin = stream,
                              .mode = mode,
                              .thread = gpul__cpu_thread_number() };
    graph->recording = true;
    stream->capture = capture;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* Whether all that other streams recorded is waited for by the stream where it began. */
static bool joined(const cpu_capture *capture)
{
    cpu_graph_node *walk = NULL;
    for (cpu_graph_node *node = capture->graph->nodes; node; node = node->next)
        node->marked = false;
    for (size_t i = 0; i < capture->origin->recorded_count; i++) {
        cpu_graph_node *node = capture->origin->recorded[i];
        if (node->marked) continue;
        node->marked = true;
        node->walk = walk;
        walk = node;
    }
    while (walk) {
        cpu_graph_node *node = walk;
        walk = node->walk;
        for (size_t i = 0; i < node->dependency_count; i++) {
            cpu_graph_node *before = node->dependencies[i];
            if (before->marked) continue;
            before->marked = true;
            before->walk = walk;
            walk = before;
        }
    }
    const cpu_stream *stream = capture->origin->context->streams;
    for (; stream; stream = stream->next) {
        if (stream->capture != capture) continue;
        for (size_t i = 0; i < stream->recorded_count; i++)
            if (!stream->recorded[i]->marked) return false;
    }
    return true;
}

CUresult gpul__cpu_StreamEndCapture(CUstream handle, CUgraph *out)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_capture *capture = stream->capture;
    *out = NULL;
    if (!capture) return gpul__cpu_leave(CUDA_ERROR_ILLEGAL_STATE);
    if (capture->origin != stream) return gpul__cpu_leave(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != gpul__cpu_thread_number())
        return gpul__cpu_leave(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    if (capture->spoiled) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!joined(capture)) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    capture->graph->recording = false;
    if (result) gpul__cpu_graph_free(capture->graph);
    else *out = capture->graph->handle;
    end_capture(capture);
    return gpul__cpu_leave(result);
}

/* ---- facts ------------------------------------------------------------------------------ */

static CUstreamCaptureStatus status_of(const cpu_stream *stream)
{
    return !stream->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
           : stream->capture->spoiled ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult gpul__cpu_StreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (status) *status = status_of(stream);
    return gpul__cpu_leave(status ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* The list is the stream's, and good until the next call for it. */
static CUresult lend_handles(cpu_stream *stream, const CUgraphNode **out)
{
    CUgraphNode *handles = gpul__calloc(stream->recorded_count, sizeof *handles);
    if (!handles) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < stream->recorded_count; i++) handles[i] = stream->recorded[i]->handle;
    gpul__free(stream->recorded_handles);
    *out = stream->recorded_handles = handles;
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_StreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status,
                                        cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies, size_t *count)
{
    cpu_stream *stream;
    CUresult result = enter_stream(handle, &stream);
    if (result) return result;
    if (!status) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    *status = status_of(stream);
    if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id) *id = stream->capture->id;
        if (graph) *graph = stream->capture->graph->handle;
        if (dependencies) result = lend_handles(stream, dependencies);
        if (count) *count = stream->recorded_count;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_ThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    CUstreamCaptureMode old = gpul__cpu_thread.capture_mode;
    gpul__cpu_thread.capture_mode = *mode;
    *mode = old;
    return gpul__cpu_leave(CUDA_SUCCESS);
}
