/* Graphs of work, their executable form, and recording a stream into one.  Everything here needs the
 * lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_GRAPH_H
#define GPUL_CPU_GRAPH_H

#include "cpu/queue.h"

typedef struct cpu_graph cpu_graph;
typedef struct cpu_exec cpu_exec;

struct cpu_graph_node {
    CUgraphNode handle;
    cpu_graph *graph;
    CUgraphNodeType type;
    cpu_work *work;       /* NULL of an empty node and of a child graph */
    cpu_graph *child;     /* a copy of its own */
    cpu_context *context; /* only compared; NULL: any */
    cpu_graph_node **dependencies;
    size_t dependency_count, dependency_capacity;
    void **param_pointers; /* of a kernel: into the work's parameters, made when asked for */
    uint32_t index;        /* among the nodes, while a walk numbers them */
    bool marked;           /* scratch of a walk */
    cpu_graph_node *walk;  /* the next one to look at */
    cpu_graph_node *next;
};

struct cpu_graph {
    CUgraph handle;               /* NULL for a child's own copy */
    cpu_graph_node *nodes, **end; /* in order of creation */
    size_t node_count;
    bool recording;  /* a stream still adds to it */
    cpu_graph *next; /* of all graphs */
};

/* One node of an executable graph, in an order in which they can run. */
typedef struct cpu_exec_item {
    CUgraphNode node;
    CUgraphNodeType type;
    cpu_work *work; /* NULL: nothing to do */
    bool disabled;
} cpu_exec_item;

struct cpu_exec {
    CUgraphExec handle;
    cpu_exec_item *items;
    size_t count, capacity;
    unsigned long long shape; /* of nodes and dependencies, to tell another topology */
    cpu_work *sequence;       /* what a launch does; NULL: to be made again */
    cpu_op *latest;           /* launches of one executable graph follow each other */
    cpu_exec *next;           /* of all */
};

cpu_graph *gpul__cpu_graph_new(void);
void gpul__cpu_graph_free(cpu_graph *graph);
void gpul__cpu_graphs_free_all(void); /* nothing runs any more */
void gpul__cpu_execs_free_all(void);

/* Adds a node that comes after `dependencies`; takes its own reference of `work` (may be NULL). */
CUresult gpul__cpu_node_new(cpu_graph_node **out, cpu_graph *graph, CUgraphNodeType type,
                            cpu_work *work, cpu_graph_node *const *dependencies, size_t count);

/* Work of a node's parameters. */
CUresult gpul__cpu_kernel_work(cpu_work **out, cpu_context *context,
                               const CUDA_KERNEL_NODE_PARAMS *params);
CUresult gpul__cpu_host_work(cpu_work **out, const CUDA_HOST_NODE_PARAMS *params);

/* ---- recording -------------------------------------------------------------------------- */

struct cpu_capture {
    uint64_t id;
    cpu_graph *graph;
    cpu_stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread;
    bool spoiled;
};

/* Queues work, or records it when the stream does that. */
CUresult gpul__cpu_issue(cpu_stream *stream, cpu_work *work);

/* Work that the caller waits for: refused while the stream records. */
CUresult gpul__cpu_issue_and_wait(cpu_stream *stream, cpu_work *work);

/* What a call does that no recording stream allows: true when `stream` records, or would have to wait
 * for one that does; that recording is then spoiled, and `*result` says how. */
bool gpul__cpu_capture_forbids(cpu_stream *stream, CUresult *result);

/* Spoils all recordings of a context; false when there are none. */
bool gpul__cpu_spoil_captures(cpu_context *context);

CUresult gpul__cpu_capture_record_event(cpu_stream *stream, cpu_event *event);
CUresult gpul__cpu_capture_wait_event(cpu_stream *stream, cpu_event *event);
void gpul__cpu_capture_forget_stream(cpu_stream *stream); /* it is about to be freed */

#endif
