/* Building graphs.  A node comes after nodes that are there already, so that the order of creation is
 * one in which they can run.  SPDX-License-Identifier: MIT */
#include "cpu/graph.h"

#include "cpu/context.h"
#include "cpu/copy.h"
#include "cpu/entries.h"
#include "cpu/handle.h"
#include "cpu/launch.h"

#include "base/alloc.h"
#include "base/file.h"

#include <string.h>

static cpu_graph *graphs;

/* ---- objects ---------------------------------------------------------------------------- */

static cpu_graph *new_graph(bool with_handle)
{
    cpu_graph *graph = gpul__calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->end = &graph->nodes;
    if (!with_handle) return graph;
    graph->handle = gpul__cpu_handle_new(CPU_GRAPH, graph);
    if (!graph->handle) {
        gpul__free(graph);
        return NULL;
    }
    graph->next = graphs;
    graphs = graph;
    return graph;
}

cpu_graph *gpul__cpu_graph_new(void)
{
    return new_graph(true);
}

static void free_node(cpu_graph_node *node)
{
    gpul__cpu_handle_drop(node->handle);
    gpul__cpu_work_drop(node->work);
    if (node->child) gpul__cpu_graph_free(node->child);
    gpul__free(node->dependencies);
    gpul__free(node->param_pointers);
    gpul__free(node);
}

void gpul__cpu_graph_free(cpu_graph *graph)
{
    for (cpu_graph_node *node = graph->nodes, *next; node; node = next) {
        next = node->next;
        free_node(node);
    }
    if (graph->handle) {
        cpu_graph **link = &graphs;
        while (*link != graph) link = &(*link)->next;
        *link = graph->next;
        gpul__cpu_handle_drop(graph->handle);
    }
    gpul__free(graph);
}

void gpul__cpu_graphs_free_all(void)
{
    while (graphs) gpul__cpu_graph_free(graphs);
}

CUresult gpul__cpu_node_new(cpu_graph_node **out, cpu_graph *graph, CUgraphNodeType type,
                            cpu_work *work, cpu_graph_node *const *dependencies, size_t count)
{
    cpu_graph_node *node = gpul__calloc(1, sizeof *node);
    if (!node) return CUDA_ERROR_OUT_OF_MEMORY;
    node->graph = graph;
    node->type = type;
    node->dependencies = gpul__calloc(count, sizeof(cpu_graph_node *));
    if (node->dependencies) node->handle = gpul__cpu_handle_new(CPU_NODE, node);
    if (!node->handle) {
        free_node(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (count) memcpy(node->dependencies, dependencies, count * sizeof(cpu_graph_node *));
    node->dependency_count = count;
    node->work = gpul__cpu_work_keep(work);
    *graph->end = node;
    graph->end = &node->next;
    graph->node_count++;
    *out = node;
    return CUDA_SUCCESS;
}

static CUresult copy_graph(cpu_graph **out, cpu_graph *original, bool with_handle);

static CUresult copy_node(cpu_graph *copy, const cpu_graph_node *node, cpu_graph_node **nodes)
{
    cpu_graph_node **before = gpul__calloc(node->dependency_count, sizeof(cpu_graph_node *));
    if (!before) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < node->dependency_count; i++)
        before[i] = nodes[node->dependencies[i]->index];
    cpu_graph_node *made;
    CUresult result =
        gpul__cpu_node_new(&made, copy, node->type, node->work, before, node->dependency_count);
    gpul__free(before);
    if (result) return result;
    made->context = node->context;
    nodes[node->index] = made;
    return node->child ? copy_graph(&made->child, node->child, false) : CUDA_SUCCESS;
}

static CUresult copy_graph(cpu_graph **out, cpu_graph *original, bool with_handle)
{
    cpu_graph *copy = new_graph(with_handle);
    cpu_graph_node **nodes = gpul__calloc(original->node_count, sizeof(cpu_graph_node *));
    CUresult result = copy && nodes ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    uint32_t index = 0;
    for (cpu_graph_node *node = original->nodes; node && !result; node = node->next) {
        node->index = index++;
        result = copy_node(copy, node, nodes);
    }
    gpul__free(nodes);
    if (result && copy) gpul__cpu_graph_free(copy);
    if (!result) *out = copy;
    return result;
}

/* ---- entering --------------------------------------------------------------------------- */

static CUresult enter_graph(CUgraph handle, cpu_graph **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_GRAPH, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
}

static CUresult enter_node(CUgraphNode handle, cpu_graph_node **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_NODE, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
}

/* Adds a node after nodes named by handle; takes the work over. */
static CUresult add_node(CUgraphNode *out, CUgraph graph_handle, const CUgraphNode *dependencies,
                         size_t count, CUgraphNodeType type, cpu_work *work, cpu_graph_node **made)
{
    cpu_graph *graph = gpul__cpu_handle_get(CPU_GRAPH, graph_handle);
    CUresult result = CUDA_SUCCESS;
    cpu_graph_node **before = NULL, *node;
    if (!out || !graph || (count && !dependencies)) result = CUDA_ERROR_INVALID_VALUE;
    if (!result) {
        before = gpul__calloc(count, sizeof(cpu_graph_node *));
        if (!before) result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < count && !result; i++) {
        before[i] = gpul__cpu_handle_get(CPU_NODE, dependencies[i]);
        if (!before[i] || before[i]->graph != graph) result = CUDA_ERROR_INVALID_VALUE;
        for (size_t j = 0; j < i && !result; j++)
            if (before[j] == before[i]) result = CUDA_ERROR_INVALID_VALUE;
    }
    if (!result) result = gpul__cpu_node_new(&node, graph, type, work, before, count);
    gpul__free(before);
    gpul__cpu_work_drop(work);
    if (result) return result;
    *out = node->handle;
    if (made) *made = node;
    return CUDA_SUCCESS;
}

/* ---- work of parameters ----------------------------------------------------------------- */

CUresult gpul__cpu_kernel_work(cpu_work **out, cpu_context *context,
                               const CUDA_KERNEL_NODE_PARAMS *params)
{
    cpu_function *function;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUfunction handle = params->func ? params->func : (CUfunction)params->kern;
    if (!params->func && params->ctx) {
        context = gpul__cpu_handle_get(CPU_CONTEXT, params->ctx);
        if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUresult result = gpul__cpu_function_find(&function, context, handle);
    if (result) return result;
    ptx_grid grid = { .grid = { params->gridDimX, params->gridDimY, params->gridDimZ },
                      .block = { params->blockDimX, params->blockDimY, params->blockDimZ },
                      .dynamic_shared = params->sharedMemBytes };
    return gpul__cpu_launch_check(out, function, &grid, params->kernelParams, params->extra);
}

CUresult gpul__cpu_host_work(cpu_work **out, const CUDA_HOST_NODE_PARAMS *params)
{
    if (!params || !params->fn) return CUDA_ERROR_INVALID_VALUE;
    cpu_work *work = gpul__cpu_work_new(WORK_HOST);
    if (!work) return CUDA_ERROR_OUT_OF_MEMORY;
    work->host = (cpu_host){ .function = params->fn, .user = params->userData };
    *out = work;
    return CUDA_SUCCESS;
}

/* ---- entries: graphs -------------------------------------------------------------------- */

CUresult gpul__cpu_GraphCreate(CUgraph *out, unsigned int flags)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || flags) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_graph *graph = gpul__cpu_graph_new();
    if (graph) *out = graph->handle;
    return gpul__cpu_leave(graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult gpul__cpu_GraphDestroy(CUgraph handle)
{
    cpu_graph *graph;
    CUresult result = enter_graph(handle, &graph);
    if (result) return result;
    if (graph->recording) return gpul__cpu_leave(CUDA_ERROR_ILLEGAL_STATE);
    gpul__cpu_graph_free(graph);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_GraphClone(CUgraph *out, CUgraph original)
{
    cpu_graph *graph, *copy;
    CUresult result = enter_graph(original, &graph);
    if (result) return result;
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    result = copy_graph(&copy, graph, true);
    if (!result) *out = copy->handle;
    return gpul__cpu_leave(result);
}

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots)
{
    cpu_graph *graph;
    CUresult result = enter_graph(handle, &graph);
    if (result) return result;
    if (!count) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    size_t found = 0, room = nodes ? *count : 0;
    for (cpu_graph_node *node = graph->nodes; node; node = node->next) {
        if (roots && node->dependency_count) continue;
        if (found < room) nodes[found] = node->handle;
        found++;
    }
    for (size_t i = found; i < room; i++) nodes[i] = NULL;
    if (!nodes || found < room) *count = found;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_GraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, false);
}

CUresult gpul__cpu_GraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, true);
}

CUresult gpul__cpu_GraphDebugDotPrint(CUgraph handle, const char *path, unsigned int flags)
{
    static const char *const names[] = { "kernel", "memcpy", "memset",     "host",
                                         "graph",  "empty",  "wait event", "record event" };
    cpu_graph *graph;
    (void)flags; /* there is one form */
    CUresult result = enter_graph(handle, &graph);
    if (result) return result;
    if (!path) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    gpul__str text = { 0 };
    gpul__str_add(&text, "digraph graph_1 {\n");
    uint32_t index = 0;
    for (cpu_graph_node *node = graph->nodes; node; node = node->next) {
        node->index = index++;
        const cpu_function *function =
            node->type == CU_GRAPH_NODE_TYPE_KERNEL
                ? gpul__cpu_handle_get(CPU_FUNCTION, node->work->launch.function)
                : NULL;
        gpul__str_printf(&text, "  n%u [label=\"%s%s%s\"]\n", node->index, names[node->type],
                         function ? " " : "", function ? function->info.name : "");
        for (size_t i = 0; i < node->dependency_count; i++)
            gpul__str_printf(&text, "  n%u -> n%u\n", node->dependencies[i]->index, node->index);
    }
    gpul__str_add(&text, "}\n");
    if (text.failed) result = CUDA_ERROR_OUT_OF_MEMORY;
    else if (gpul__file_write(path, text.text, text.length)) result = CUDA_ERROR_OPERATING_SYSTEM;
    gpul__str_free(&text);
    return gpul__cpu_leave(result);
}

/* ---- entries: nodes --------------------------------------------------------------------- */

CUresult gpul__cpu_GraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS *params)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_work *work;
    cpu_graph_node *node;
    result = gpul__cpu_kernel_work(&work, context, params);
    if (!result)
        result = add_node(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_KERNEL, work, &node);
    if (!result) node->context = context;
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *params)
{
    cpu_graph_node *node;
    CUresult result = enter_node(handle, &node);
    if (result) return result;
    if (!params || node->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    const cpu_launch *launch = &node->work->launch;
    const cpu_function *function = gpul__cpu_handle_get(CPU_FUNCTION, launch->function);
    if (!function) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    uint32_t count = function->info.param_count;
    void **pointers = gpul__calloc(count, sizeof *pointers);
    if (!pointers) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    for (uint32_t i = 0; i < count; i++) {
        ptx_param_info param;
        if (ptx_kernel_param(function->kernel, i, &param))
            pointers[i] = launch->params + param.offset;
    }
    gpul__free(node->param_pointers);
    node->param_pointers = pointers;
    const ptx_grid *grid = &launch->grid;
    *params = (CUDA_KERNEL_NODE_PARAMS){ .func = launch->function,
                                         .gridDimX = grid->grid[0],
                                         .gridDimY = grid->grid[1],
                                         .gridDimZ = grid->grid[2],
                                         .blockDimX = grid->block[0],
                                         .blockDimY = grid->block[1],
                                         .blockDimZ = grid->block[2],
                                         .sharedMemBytes = grid->dynamic_shared,
                                         .kernelParams = pointers,
                                         .ctx = function->module->context->handle };
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* Replaces a node's work, which executable graphs made before keep. */
static void replace(cpu_graph_node *node, cpu_work *work)
{
    gpul__cpu_work_drop(node->work);
    node->work = work;
}

CUresult gpul__cpu_GraphKernelNodeSetParams(CUgraphNode handle,
                                            const CUDA_KERNEL_NODE_PARAMS *params)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_graph_node *node = gpul__cpu_handle_get(CPU_NODE, handle);
    cpu_work *work;
    if (!node || node->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    result = gpul__cpu_kernel_work(&work, context, params);
    if (!result) replace(node, work);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                               const CUkernelNodeAttrValue *value)
{
    cpu_graph_node *node;
    CUresult result = enter_node(handle, &node);
    if (result) return result;
    if (!value || node->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    const cpu_launch *launch = &node->work->launch;
    const cpu_function *function = gpul__cpu_handle_get(CPU_FUNCTION, launch->function);
    if (!function) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    ptx_grid grid = launch->grid;
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: grid.cooperative = value->cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        grid.cluster[0] = value->clusterDim.x;
        grid.cluster[1] = value->clusterDim.y;
        grid.cluster[2] = value->clusterDim.z;
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: break; /* hints */
    default: return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    size_t size = launch->param_size;
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, launch->params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                      &size, CU_LAUNCH_PARAM_END };
    cpu_work *work;
    result = gpul__cpu_launch_check(&work, function, &grid, NULL, extra);
    if (!result) replace(node, work);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphAddMemcpyNode(CUgraphNode *out, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_MEMCPY3D *copy, CUcontext context_handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_work *work;
    if (!copy) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_handle_get(CPU_CONTEXT, context_handle))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    result = gpul__cpu_copy_check(&work, copy);
    if (!result)
        result = add_node(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMCPY, work, NULL);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context_handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_work *work;
    if (!fill) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gpul__cpu_handle_get(CPU_CONTEXT, context_handle))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_CONTEXT);
    result = gpul__cpu_fill_check(&work, fill);
    if (!result)
        result = add_node(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMSET, work, NULL);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphAddHostNode(CUgraphNode *out, CUgraph graph,
                                    const CUgraphNode *dependencies, size_t count,
                                    const CUDA_HOST_NODE_PARAMS *params)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_work *work;
    result = gpul__cpu_host_work(&work, params);
    if (!result)
        result = add_node(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_HOST, work, NULL);
    return gpul__cpu_leave(result);
}

CUresult gpul__cpu_GraphAddEmptyNode(CUgraphNode *out, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    return gpul__cpu_leave(
        add_node(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EMPTY, NULL, NULL));
}

CUresult gpul__cpu_GraphAddChildGraphNode(CUgraphNode *out, CUgraph graph_handle,
                                          const CUgraphNode *dependencies, size_t count,
                                          CUgraph child_handle)
{
    cpu_graph *child, *copy;
    CUresult result = enter_graph(child_handle, &child);
    if (result) return result;
    if (child_handle == graph_handle) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    result = copy_graph(&copy, child, false);
    if (result) return gpul__cpu_leave(result);
    cpu_graph_node *node;
    result =
        add_node(out, graph_handle, dependencies, count, CU_GRAPH_NODE_TYPE_GRAPH, NULL, &node);
    if (result) gpul__cpu_graph_free(copy);
    else node->child = copy;
    return gpul__cpu_leave(result);
}

static CUresult add_event_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, CUevent event, CUgraphNodeType type,
                               cpu_work_kind kind)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (!gpul__cpu_handle_get(CPU_EVENT, event)) return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    cpu_work *work = gpul__cpu_work_new(kind);
    if (!work) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    work->event = event;
    return gpul__cpu_leave(add_node(out, graph, dependencies, count, type, work, NULL));
}

CUresult gpul__cpu_GraphAddEventRecordNode(CUgraphNode *out, CUgraph graph,
                                           const CUgraphNode *dependencies, size_t count,
                                           CUevent event)
{
    return add_event_node(out, graph, dependencies, count, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                          WORK_RECORD);
}

CUresult gpul__cpu_GraphAddEventWaitNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         CUevent event)
{
    return add_event_node(out, graph, dependencies, count, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                          WORK_WAIT_EVENT);
}

CUresult gpul__cpu_GraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    cpu_graph_node *node;
    CUresult result = enter_node(handle, &node);
    if (result) return result;
    if (type) *type = node->type;
    return gpul__cpu_leave(type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_GraphDestroyNode(CUgraphNode handle)
{
    cpu_graph_node *node;
    CUresult result = enter_node(handle, &node);
    if (result) return result;
    cpu_graph *graph = node->graph;
    if (graph->recording) return gpul__cpu_leave(CUDA_ERROR_ILLEGAL_STATE);
    for (cpu_graph_node *other = graph->nodes; other; other = other->next) {
        size_t kept = 0;
        for (size_t i = 0; i < other->dependency_count; i++)
            if (other->dependencies[i] != node)
                other->dependencies[kept++] = other->dependencies[i];
        other->dependency_count = kept;
    }
    cpu_graph_node **link = &graph->nodes;
    while (*link != node) link = &(*link)->next;
    *link = node->next;
    if (graph->end == &node->next) graph->end = link;
    graph->node_count--;
    free_node(node);
    return gpul__cpu_leave(CUDA_SUCCESS);
}
