/* Executable graphs: a list of work in an order in which it can run, done by one operation.
 * SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/copy.h"
#include "cpu/entries.h"
#include "cpu/graph.h"
#include "cpu/handle.h"

#include "base/alloc.h"
#include "base/str.h"

#include <string.h>

static cpu_exec *execs;

/* ---- objects ---------------------------------------------------------------------------- */

static void forget_sequence(cpu_exec *exec)
{
    gpul__cpu_work_drop(exec->sequence);
    exec->sequence = NULL;
}

static void drop_items(cpu_exec *exec)
{
    for (size_t i = 0; i < exec->count; i++) gpul__cpu_work_drop(exec->items[i].work);
    gpul__free(exec->items);
    exec->items = NULL;
    exec->count = exec->capacity = 0;
}

static void destroy(cpu_exec *exec)
{
    drop_items(exec);
    forget_sequence(exec);
    gpul__cpu_op_drop(exec->latest);
    gpul__cpu_handle_drop(exec->handle);
    gpul__free(exec);
}

void gpul__cpu_execs_free_all(void)
{
    while (execs) {
        cpu_exec *exec = execs;
        execs = exec->next;
        destroy(exec);
    }
}

/* Adds the nodes of a graph, those of child graphs in their place, and mixes the shape. */
static CUresult flatten(cpu_exec *exec, cpu_graph *graph)
{
    uint32_t index = 0;
    for (cpu_graph_node *node = graph->nodes; node; node = node->next) {
        node->index = index++;
        unsigned long long facts[3] = { exec->shape, (unsigned)node->type, node->dependency_count };
        exec->shape = gpul__hash(facts, sizeof facts);
        for (size_t i = 0; i < node->dependency_count; i++) {
            unsigned long long edge[2] = { exec->shape, node->dependencies[i]->index };
            exec->shape = gpul__hash(edge, sizeof edge);
        }
        if (node->child) {
            CUresult result = flatten(exec, node->child);
            if (result) return result;
            continue;
        }
        if (!gpul__grow(&exec->items, &exec->capacity, exec->count, sizeof *exec->items))
            return CUDA_ERROR_OUT_OF_MEMORY;
        exec->items[exec->count++] = (cpu_exec_item){ .node = node->handle,
                                                      .type = node->type,
                                                      .work = gpul__cpu_work_keep(node->work) };
    }
    return CUDA_SUCCESS;
}

static CUresult make_sequence(cpu_exec *exec)
{
    if (exec->sequence) return CUDA_SUCCESS;
    cpu_work *work = gpul__cpu_work_new(WORK_GRAPH);
    cpu_work **items = work ? gpul__calloc(exec->count, sizeof(cpu_work *)) : NULL;
    if (!items) {
        gpul__cpu_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->sequence.items = items;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->items[i].work && !exec->items[i].disabled)
            items[work->sequence.count++] = gpul__cpu_work_keep(exec->items[i].work);
    exec->sequence = work;
    return CUDA_SUCCESS;
}

/* ---- making and launching --------------------------------------------------------------- */

static CUresult enter_exec(CUgraphExec handle, cpu_context **context, cpu_exec **out)
{
    CUresult result = gpul__cpu_enter_context(context);
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_EXEC, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_GraphInstantiate(CUgraphExec *out, CUgraph graph_handle,
                                    unsigned long long flags)
{
    const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                     CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_graph *graph = gpul__cpu_handle_get(CPU_GRAPH, graph_handle);
    if (!out || !graph) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    if (flags & ~known) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (graph->recording) return gpul__cpu_leave(CUDA_ERROR_ILLEGAL_STATE);
    cpu_exec *exec = gpul__calloc(1, sizeof *exec);
    if (!exec) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    exec->handle = gpul__cpu_handle_new(CPU_EXEC, exec);
    result = exec->handle ? flatten(exec, graph) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) result = make_sequence(exec);
    if (result) {
        destroy(exec);
        return gpul__cpu_leave(result);
    }
    exec->next = execs;
    execs = exec;
    *out = exec->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_GraphLaunch(CUgraphExec handle, CUstream stream_handle)
{
    cpu_context *context;
    cpu_exec *exec;
    CUresult result = enter_exec(handle, &context, &exec);
    if (result) return result;
    cpu_stream *stream;
    result = gpul__cpu_stream_any(context, stream_handle, &stream);
    if (!result) gpul__cpu_capture_forbids(stream, &result);
    if (!result) result = make_sequence(exec);
    if (result) return gpul__cpu_leave(result);
    gpul__cpu_thread.launch = ++gpul__cpu.launches;
    cpu_op *op;
    result = gpul__cpu_submit(stream, exec->sequence, &exec->latest, exec->latest != NULL, &op);
    if (!result) {
        gpul__cpu_op_drop(exec->latest);
        exec->latest = op;
    }
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphUpload(CUgraphExec handle, CUstream stream_handle)
{
    cpu_context *context;
    cpu_exec *exec;
    CUresult result = enter_exec(handle, &context, &exec);
    if (result) return result;
    cpu_stream *stream;
    return gpul__cpu_leave(gpul__cpu_stream_any(context, stream_handle, &stream));
}

/* A launch that is under way keeps its work. */
CUresult gpul__cpu_GraphExecDestroy(CUgraphExec handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_exec *exec = gpul__cpu_handle_get(CPU_EXEC, handle);
    if (!exec) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_exec **link = &execs;
    while (*link != exec) link = &(*link)->next;
    *link = exec->next;
    destroy(exec);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* ---- changing --------------------------------------------------------------------------- */

CUresult gpul__cpu_GraphExecUpdate(CUgraphExec handle, CUgraph graph_handle,
                                   CUgraphExecUpdateResultInfo *info)
{
    cpu_context *context;
    cpu_exec *exec;
    CUresult result = enter_exec(handle, &context, &exec);
    if (result) return result;
    cpu_graph *graph = gpul__cpu_handle_get(CPU_GRAPH, graph_handle);
    if (!graph || !info || graph->recording) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    *info = (CUgraphExecUpdateResultInfo){ .result = CU_GRAPH_EXEC_UPDATE_ERROR };
    cpu_exec next = { 0 };
    result = flatten(&next, graph);
    if (!result && (next.shape != exec->shape || next.count != exec->count)) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    if (result) {
        drop_items(&next);
        return gpul__cpu_leave(result);
    }
    /* The nodes by which parameters are set stay those of the first graph. */
    for (size_t i = 0; i < next.count; i++) {
        next.items[i].node = exec->items[i].node;
        next.items[i].disabled = exec->items[i].disabled;
    }
    drop_items(exec);
    exec->items = next.items;
    exec->count = next.count;
    exec->capacity = next.capacity;
    forget_sequence(exec);
    info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

static cpu_exec_item *find_item(cpu_exec *exec, CUgraphNode node)
{
    for (size_t i = 0; i < exec->count; i++)
        if (exec->items[i].node == node) return &exec->items[i];
    return NULL;
}

/* Takes the work over; launches that are under way keep the old one. */
static CUresult set_work(CUgraphExec handle, CUgraphNode node, CUgraphNodeType type, cpu_work *work)
{
    cpu_exec *exec = gpul__cpu_handle_get(CPU_EXEC, handle);
    cpu_exec_item *item = exec ? find_item(exec, node) : NULL;
    if (!item || item->type != type) {
        gpul__cpu_work_drop(work);
        return CUDA_ERROR_INVALID_VALUE;
    }
    gpul__cpu_work_drop(item->work);
    item->work = work;
    forget_sequence(exec);
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_GraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS *params)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_work *work;
    result = gpul__cpu_kernel_work(&work, context, params);
    if (!result) result = set_work(handle, node, CU_GRAPH_NODE_TYPE_KERNEL, work);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphExecMemcpyNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                                const CUDA_MEMCPY3D *copy, CUcontext context)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_work *work;
    if (!copy) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_handle_get(CPU_CONTEXT, context))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    result = gpul__cpu_copy_check(&work, copy);
    if (!result) result = set_work(handle, node, CU_GRAPH_NODE_TYPE_MEMCPY, work);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphExecMemsetNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS *fill,
                                                CUcontext context)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_work *work;
    if (!fill) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_handle_get(CPU_CONTEXT, context))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    result = gpul__cpu_fill_check(&work, fill);
    if (!result) result = set_work(handle, node, CU_GRAPH_NODE_TYPE_MEMSET, work);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphExecHostNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                              const CUDA_HOST_NODE_PARAMS *params)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_work *work;
    result = gpul__cpu_host_work(&work, params);
    if (!result) result = set_work(handle, node, CU_GRAPH_NODE_TYPE_HOST, work);
    return gpul__cpu_leave(result);
}

/* For kernels, copies and fills, as in the API. */
CUresult gpul__cpu_GraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int enabled)
{
    cpu_context *context;
    cpu_exec *exec;
    CUresult result = enter_exec(handle, &context, &exec);
    if (result) return result;
    cpu_exec_item *item = find_item(exec, node);
    if (!item ||
        (item->type != CU_GRAPH_NODE_TYPE_KERNEL && item->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
         item->type != CU_GRAPH_NODE_TYPE_MEMSET))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    item->disabled = !enabled;
    forget_sequence(exec);
    return gpul__cpu_leave(CUDA_SUCCESS);
}
