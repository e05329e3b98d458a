/* Tests: streams, events and graphs of the recording provider.  A stream does its work when it is asked for it, unless
 * it is captured: then the work becomes a node of a graph.  SPDX-License-Identifier: MIT */
#include "driver/record_private.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Streams -------------------------------------------------------------------------------- */

bool gpul__record_stream(CUstream handle, struct context *context, struct stream **stream)
{
    *stream = NULL;
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) return true;
    *stream = gpul__record_find(STREAM, handle);
    return *stream && (*stream)->object.context == context;
}

#define STREAM_ENTRY(handle)                                                                       \
    ENTER;                                                                                         \
    struct stream *stream;                                                                         \
    REQUIRE(gpul__record_stream(handle, context, &stream), CUDA_ERROR_INVALID_HANDLE)

CUresult gpul__record_StreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
    ENTER;
    REQUIRE(out && flags <= CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    struct stream *stream = gpul__record_new(STREAM, sizeof *stream, context);
    REQUIRE(stream, CUDA_ERROR_OUT_OF_MEMORY);
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    stream->id = ++gpul__record.next_id;
    *out = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamCreate(CUstream *out, unsigned flags)
{
    return gpul__record_StreamCreateWithPriority(out, flags, 0);
}

CUresult gpul__record_StreamDestroy(CUstream handle)
{
    ENTER;
    struct stream *stream = gpul__record_find(STREAM, handle);
    REQUIRE(stream, CUDA_ERROR_INVALID_HANDLE);
    if (stream->capture) gpul__record_graph_free(stream->capture);
    gpul__record_drop(stream);
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamSynchronize(CUstream handle)
{
    STREAM_ENTRY(handle);
    if (!stream || !stream->capture) return CUDA_SUCCESS;
    stream->capture_failed = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult gpul__record_StreamQuery(CUstream handle)
{
    return gpul__record_StreamSynchronize(handle);
}

CUresult gpul__record_StreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
    STREAM_ENTRY(handle);
    (void)flags;
    REQUIRE(gpul__record_find(EVENT, event), CUDA_ERROR_INVALID_HANDLE);
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamGetCtx(CUstream handle, CUcontext *out)
{
    LOCKED;
    struct stream *stream = gpul__record_find(STREAM, handle);
    REQUIRE(stream, CUDA_ERROR_INVALID_HANDLE);
    *out = (CUcontext)stream->object.context;
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamGetPriority(CUstream handle, int *priority)
{
    STREAM_ENTRY(handle);
    *priority = stream ? stream->priority : 0;
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamGetFlags(CUstream handle, unsigned *flags)
{
    STREAM_ENTRY(handle);
    *flags = stream ? stream->flags : CU_STREAM_DEFAULT;
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamGetId(CUstream handle, unsigned long long *id)
{
    STREAM_ENTRY(handle);
    *id = stream ? stream->id : 0;
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t length,
                                           unsigned flags)
{
    STREAM_ENTRY(handle);
    (void)flags;
    struct memory *memory = gpul__record_memory_at(address, length ? length : 1);
    return memory && memory->kind == MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_StreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                                         const CUstreamAttrValue *value)
{
    STREAM_ENTRY(handle);
    return value && attribute <= CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Events --------------------------------------------------------------------------------- */

#define EVENT_ENTRY(handle)                                                                        \
    ENTER;                                                                                         \
    struct event *event = gpul__record_find(EVENT, handle);                                        \
    REQUIRE(event, CUDA_ERROR_INVALID_HANDLE)

CUresult gpul__record_EventCreate(CUevent *out, unsigned flags)
{
    ENTER;
    REQUIRE(out && flags <= 7, CUDA_ERROR_INVALID_VALUE);
    struct event *event = gpul__record_new(EVENT, sizeof *event, context);
    REQUIRE(event, CUDA_ERROR_OUT_OF_MEMORY);
    event->flags = flags;
    *out = (CUevent)event;
    return CUDA_SUCCESS;
}

CUresult gpul__record_EventDestroy(CUevent handle)
{
    EVENT_ENTRY(handle);
    gpul__record_drop(event);
    return CUDA_SUCCESS;
}

CUresult gpul__record_EventRecord(CUevent handle, CUstream in)
{
    EVENT_ENTRY(handle);
    struct stream *stream;
    REQUIRE(gpul__record_stream(in, context, &stream), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(event->object.context == context, CUDA_ERROR_INVALID_HANDLE);
    if (stream && stream->capture) return CUDA_SUCCESS;
    event->recorded = true;
    event->time = gpul__now();
    return CUDA_SUCCESS;
}

CUresult gpul__record_EventQuery(CUevent handle)
{
    EVENT_ENTRY(handle);
    return CUDA_SUCCESS;
}

CUresult gpul__record_EventSynchronize(CUevent handle)
{
    return gpul__record_EventQuery(handle);
}

CUresult gpul__record_EventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    ENTER;
    struct event *from = gpul__record_find(EVENT, start), *to = gpul__record_find(EVENT, end);
    REQUIRE(milliseconds, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(from && to && from->recorded && to->recorded, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING), CUDA_ERROR_INVALID_HANDLE);
    *milliseconds = (float)((double)to->time - (double)from->time) / 1e6f;
    return CUDA_SUCCESS;
}

CUresult gpul__record_IpcGetEventHandle(CUipcEventHandle *handle, CUevent in)
{
    EVENT_ENTRY(in);
    REQUIRE(event->flags & CU_EVENT_INTERPROCESS, CUDA_ERROR_INVALID_VALUE);
    memset(handle, 0, sizeof *handle);
    memcpy(handle->reserved, &event, sizeof event);
    return CUDA_SUCCESS;
}

/* ---- Graphs --------------------------------------------------------------------------------- */

static struct graph *new_graph(bool owned)
{
    struct graph *graph = gpul__record_new(GRAPH, sizeof *graph, NULL);
    if (graph) graph->owned = owned;
    return graph;
}

void gpul__record_graph_free(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct node *node = graph->nodes[i];
        if (node->work.kind == CHILD) gpul__record_graph_free(node->work.child);
        gpul__record_work_free(&node->work);
        gpul__record_drop(node);
    }
    free(graph->nodes);
    gpul__record_drop(graph);
}

struct node *gpul__record_add_node(struct graph *graph, struct work *work)
{
    struct node **grown = realloc(graph->nodes, (graph->count + 1) * sizeof(struct node *));
    if (!grown) return NULL;
    graph->nodes = grown;
    struct node *node = gpul__record_new(NODE, sizeof *node, NULL);
    if (!node) return NULL;
    node->graph = graph;
    node->work = *work;
    graph->nodes[graph->count++] = node;
    return node;
}

/* A copy of work that owns what it points to. */
static bool copy_work(struct work *to, const struct work *from, bool exec);

static struct graph *copy_graph(const struct graph *from, bool exec)
{
    struct graph *to = new_graph(true);
    for (size_t i = 0; to && i < from->count; i++) {
        struct work work;
        struct node *node = NULL;
        if (copy_work(&work, &from->nodes[i]->work, exec)) {
            node = gpul__record_add_node(to, &work);
            if (!node) gpul__record_work_free(&work);
        }
        if (!node) {
            gpul__record_graph_free(to);
            return NULL;
        }
        node->origin = exec ? from->nodes[i] : NULL;
        node->disabled = from->nodes[i]->disabled;
    }
    return to;
}

static bool copy_work(struct work *to, const struct work *from, bool exec)
{
    *to = *from;
    if (from->kind == KERNEL) {
        to->launch.bytes = malloc(from->launch.size + 1);
        if (!to->launch.bytes) return false;
        memcpy(to->launch.bytes, from->launch.bytes, from->launch.size);
    }
    if (from->kind == CHILD) to->child = copy_graph(from->child, exec);
    return from->kind != CHILD || to->child;
}

#define GRAPH_ENTRY(handle)                                                                        \
    LOCKED;                                                                                        \
    struct graph *graph = gpul__record_find(GRAPH, handle);                                        \
    REQUIRE(graph, CUDA_ERROR_INVALID_VALUE)

CUresult gpul__record_GraphCreate(CUgraph *out, unsigned flags)
{
    LOCKED;
    REQUIRE(out && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *out = (CUgraph)new_graph(false);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult gpul__record_GraphDestroy(CUgraph handle)
{
    GRAPH_ENTRY(handle);
    gpul__record_graph_free(graph);
    return CUDA_SUCCESS;
}

CUresult gpul__record_GraphClone(CUgraph *out, CUgraph original)
{
    GRAPH_ENTRY(original);
    struct graph *copy = copy_graph(graph, false);
    REQUIRE(copy, CUDA_ERROR_OUT_OF_MEMORY);
    copy->owned = false;
    *out = (CUgraph)copy;
    return CUDA_SUCCESS;
}

/* Adds work behind nodes that are in the same graph; takes the work over. */
static CUresult add_work(CUgraphNode *out, CUgraph handle, const CUgraphNode *dependencies,
                         size_t count, struct work *work)
{
    struct graph *graph = gpul__record_find(GRAPH, handle);
    bool good = graph && (dependencies || count == 0);
    for (size_t i = 0; good && i < count; i++) {
        struct node *before = gpul__record_find(NODE, dependencies[i]);
        good = before && before->graph == graph;
    }
    struct node *node = good ? gpul__record_add_node(graph, work) : NULL;
    if (!node) {
        gpul__record_work_free(work);
        return good ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    }
    *out = (CUgraphNode)node;
    return CUDA_SUCCESS;
}

static CUresult kernel_work(struct work *work, struct context *context,
                            const CUDA_KERNEL_NODE_PARAMS *p)
{
    REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    CUlaunchConfig config = {
        p->gridDimX,  p->gridDimY,       p->gridDimZ, p->blockDimX, p->blockDimY,
        p->blockDimZ, p->sharedMemBytes, NULL,        NULL,         0
    };
    return gpul__record_make_launch(work, context, p->func, &config, p->kernelParams, p->extra);
}

CUresult gpul__record_GraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         const CUDA_KERNEL_NODE_PARAMS *params)
{
    ENTER;
    struct work work;
    CUresult result = kernel_work(&work, context, params);
    return result == CUDA_SUCCESS ? add_work(out, graph, dependencies, count, &work) : result;
}

CUresult gpul__record_GraphAddMemcpyNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         const CUDA_MEMCPY3D *copy, CUcontext in)
{
    LOCKED;
    REQUIRE(copy && gpul__record_find(CONTEXT, in), CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = COPY, .copy = *copy };
    return add_work(out, graph, dependencies, count, &work);
}

CUresult gpul__record_GraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext in)
{
    LOCKED;
    REQUIRE(fill && gpul__record_find(CONTEXT, in), CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = FILL, .fill = *fill };
    return add_work(out, graph, dependencies, count, &work);
}

CUresult gpul__record_GraphAddHostNode(CUgraphNode *out, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       const CUDA_HOST_NODE_PARAMS *params)
{
    LOCKED;
    REQUIRE(params && params->fn, CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = CALL, .call = params->fn, .data = params->userData };
    return add_work(out, graph, dependencies, count, &work);
}

CUresult gpul__record_GraphAddEmptyNode(CUgraphNode *out, CUgraph graph,
                                        const CUgraphNode *dependencies, size_t count)
{
    LOCKED;
    struct work work = { .kind = NOTHING };
    return add_work(out, graph, dependencies, count, &work);
}

CUresult gpul__record_GraphAddChildGraphNode(CUgraphNode *out, CUgraph handle,
                                             const CUgraphNode *dependencies, size_t count,
                                             CUgraph child)
{
    GRAPH_ENTRY(child);
    struct work work = { .kind = CHILD, .child = copy_graph(graph, false) };
    REQUIRE(work.child, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = add_work(out, handle, dependencies, count, &work);
    if (result != CUDA_SUCCESS) gpul__record_graph_free(work.child);
    return result;
}

static CUresult add_event(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                          size_t count, CUevent handle, enum work_kind kind)
{
    LOCKED;
    struct event *event = gpul__record_find(EVENT, handle);
    REQUIRE(event, CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = kind, .event = event };
    return add_work(out, graph, dependencies, count, &work);
}

CUresult gpul__record_GraphAddEventRecordNode(CUgraphNode *out, CUgraph graph,
                                              const CUgraphNode *dependencies, size_t count,
                                              CUevent event)
{
    return add_event(out, graph, dependencies, count, event, RECORD_EVENT);
}

CUresult gpul__record_GraphAddEventWaitNode(CUgraphNode *out, CUgraph graph,
                                            const CUgraphNode *dependencies, size_t count,
                                            CUevent event)
{
    return add_event(out, graph, dependencies, count, event, WAIT_EVENT);
}

CUresult gpul__record_GraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    GRAPH_ENTRY(handle);
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < graph->count ? (CUgraphNode)graph->nodes[i] : NULL;
    if (!nodes || *count > graph->count) *count = graph->count;
    return CUDA_SUCCESS;
}

CUresult gpul__record_GraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    static const CUgraphNodeType types[] = {
        [NOTHING] = CU_GRAPH_NODE_TYPE_EMPTY,
        [KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL,
        [COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
        [FILL] = CU_GRAPH_NODE_TYPE_MEMSET,
        [CALL] = CU_GRAPH_NODE_TYPE_HOST,
        [CHILD] = CU_GRAPH_NODE_TYPE_GRAPH,
        [RECORD_EVENT] = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        [WAIT_EVENT] = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
    };
    LOCKED;
    struct node *node = gpul__record_find(NODE, handle);
    REQUIRE(node, CUDA_ERROR_INVALID_VALUE);
    *type = types[node->work.kind];
    return CUDA_SUCCESS;
}

CUresult gpul__record_GraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                                  const CUkernelNodeAttrValue *value)
{
    LOCKED;
    struct node *node = gpul__record_find(NODE, handle);
    REQUIRE(node && node->work.kind == KERNEL && value, CUDA_ERROR_INVALID_VALUE);
    gpul__record_launch *launch = &node->work.launch;
    REQUIRE(launch->attribute_count < sizeof launch->attributes / sizeof *launch->attributes,
            CUDA_ERROR_INVALID_VALUE);
    launch->attributes[launch->attribute_count++] =
        (CUlaunchAttribute){ .id = attribute, .value = *value };
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) launch->cooperative = value->cooperative != 0;
    if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        memcpy(launch->cluster, &value->clusterDim, sizeof launch->cluster);
    return CUDA_SUCCESS;
}

/* ---- Instantiated graphs -------------------------------------------------------------------- */

#define EXEC_ENTRY(handle)                                                                         \
    LOCKED;                                                                                        \
    struct exec *exec = gpul__record_find(EXEC, handle);                                           \
    REQUIRE(exec, CUDA_ERROR_INVALID_VALUE)

CUresult gpul__record_GraphInstantiate(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
    GRAPH_ENTRY(handle);
    REQUIRE(out && flags <= 15, CUDA_ERROR_INVALID_VALUE);
    struct exec *exec = gpul__record_new(EXEC, sizeof *exec, NULL);
    REQUIRE(exec, CUDA_ERROR_OUT_OF_MEMORY);
    exec->graph = copy_graph(graph, true);
    if (!exec->graph) {
        gpul__record_drop(exec);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

CUresult gpul__record_GraphExecDestroy(CUgraphExec handle)
{
    EXEC_ENTRY(handle);
    gpul__record_graph_free(exec->graph);
    gpul__record_drop(exec);
    return CUDA_SUCCESS;
}

CUresult gpul__record_GraphUpload(CUgraphExec handle, CUstream in)
{
    STREAM_ENTRY(in);
    return gpul__record_find(EXEC, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_GraphLaunch(CUgraphExec handle, CUstream in)
{
    STREAM_ENTRY(in);
    struct exec *exec = gpul__record_find(EXEC, handle);
    REQUIRE(exec, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < exec->graph->count; i++) {
        struct node *node = exec->graph->nodes[i];
        CUresult result = CUDA_SUCCESS;
        if (node->disabled) continue;
        if (stream && stream->capture) {
            struct work work;
            REQUIRE(copy_work(&work, &node->work, false), CUDA_ERROR_OUT_OF_MEMORY);
            result = gpul__record_submit(in, context, &work);
        } else {
            result = gpul__record_run(&node->work, context, in, true);
        }
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

static struct node *node_of(struct graph *graph, CUgraphNode origin)
{
    for (size_t i = 0; i < graph->count; i++)
        if ((CUgraphNode)graph->nodes[i]->origin == origin) return graph->nodes[i];
    return NULL;
}

/* Puts new work into a node of the same kind; takes the work over. */
static CUresult replace_work(CUgraphExec handle, CUgraphNode origin, struct work *work)
{
    struct exec *exec = gpul__record_find(EXEC, handle);
    struct node *node = exec ? node_of(exec->graph, origin) : NULL;
    if (!node || node->work.kind != work->kind) {
        gpul__record_work_free(work);
        return CUDA_ERROR_INVALID_VALUE;
    }
    gpul__record_work_free(&node->work);
    node->work = *work;
    return CUDA_SUCCESS;
}

CUresult gpul__record_GraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_KERNEL_NODE_PARAMS *params)
{
    ENTER;
    struct work work;
    CUresult result = kernel_work(&work, context, params);
    return result == CUDA_SUCCESS ? replace_work(exec, node, &work) : result;
}

CUresult gpul__record_GraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_MEMCPY3D *copy, CUcontext in)
{
    LOCKED;
    REQUIRE(copy && gpul__record_find(CONTEXT, in), CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = COPY, .copy = *copy };
    return replace_work(exec, node, &work);
}

CUresult gpul__record_GraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_MEMSET_NODE_PARAMS *fill,
                                                   CUcontext in)
{
    LOCKED;
    REQUIRE(fill && gpul__record_find(CONTEXT, in), CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = FILL, .fill = *fill };
    return replace_work(exec, node, &work);
}

CUresult gpul__record_GraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                 const CUDA_HOST_NODE_PARAMS *params)
{
    LOCKED;
    REQUIRE(params && params->fn, CUDA_ERROR_INVALID_VALUE);
    struct work work = { .kind = CALL, .call = params->fn, .data = params->userData };
    return replace_work(exec, node, &work);
}

CUresult gpul__record_GraphNodeSetEnabled(CUgraphExec handle, CUgraphNode origin, unsigned enabled)
{
    EXEC_ENTRY(handle);
    struct node *node = node_of(exec->graph, origin);
    REQUIRE(node, CUDA_ERROR_INVALID_VALUE);
    node->disabled = !enabled;
    return CUDA_SUCCESS;
}

/* As on a device: the same kinds of nodes in the same order, kernels of the same function. */
CUresult gpul__record_GraphExecUpdate(CUgraphExec handle, CUgraph with,
                                      CUgraphExecUpdateResultInfo *info)
{
    EXEC_ENTRY(handle);
    struct graph *graph = gpul__record_find(GRAPH, with);
    REQUIRE(graph && info, CUDA_ERROR_INVALID_VALUE);
    *info = (CUgraphExecUpdateResultInfo){ .result = CU_GRAPH_EXEC_UPDATE_SUCCESS };
    if (graph->count != exec->graph->count)
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; !info->result && i < graph->count; i++)
        if (graph->nodes[i]->work.kind != exec->graph->nodes[i]->work.kind)
            info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    REQUIRE(!info->result, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    struct graph *copy = copy_graph(graph, true);
    REQUIRE(copy, CUDA_ERROR_OUT_OF_MEMORY);
    gpul__record_graph_free(exec->graph);
    exec->graph = copy;
    return CUDA_SUCCESS;
}

/* ---- Capture -------------------------------------------------------------------------------- */

CUresult gpul__record_StreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
    STREAM_ENTRY(handle);
    (void)mode;
    REQUIRE(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REQUIRE(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    stream->capture = new_graph(true);
    stream->capture_failed = false;
    return stream->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult gpul__record_StreamEndCapture(CUstream handle, CUgraph *out)
{
    STREAM_ENTRY(handle);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(stream && stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    struct graph *graph = stream->capture;
    stream->capture = NULL;
    *out = NULL;
    if (stream->capture_failed) {
        gpul__record_graph_free(graph);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    graph->owned = false;
    *out = (CUgraph)graph;
    return CUDA_SUCCESS;
}

static CUstreamCaptureStatus status_of(const struct stream *stream)
{
    if (!stream || !stream->capture) return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture_failed ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult gpul__record_StreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    STREAM_ENTRY(handle);
    *status = status_of(stream);
    return CUDA_SUCCESS;
}

CUresult gpul__record_StreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies, size_t *count)
{
    STREAM_ENTRY(handle);
    *status = status_of(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    struct graph *capture = stream->capture;
    if (id) *id = stream->id;
    if (graph) *graph = (CUgraph)capture;
    if (dependencies)
        *dependencies = capture->count
                            ? (const CUgraphNode *)(void *)&capture->nodes[capture->count - 1]
                            : NULL;
    if (count) *count = capture->count ? 1 : 0;
    return CUDA_SUCCESS;
}

CUresult gpul__record_ThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static _Thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    REQUIRE(mode, CUDA_ERROR_INVALID_VALUE);
    CUstreamCaptureMode old = current;
    current = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
