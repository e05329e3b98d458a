/* Work, and the streams it waits in.
 *
 * A piece of work (cpu_work) says what is to be done; it never changes after it was made, and graphs
 * and streams share it by counting.  An operation (cpu_op) is one time that work is done, in a stream.
 * Operations of a stream run in order; one that waits for another stream names the operations it
 * waits for.  Workers take whatever is ready, the oldest first.  Everything here needs the lock.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_QUEUE_H
#define GPUL_CPU_QUEUE_H

#include "cpu/state.h"

typedef struct cpu_op cpu_op;
typedef struct cpu_event cpu_event;
typedef struct cpu_work cpu_work;
typedef struct cpu_capture cpu_capture;
typedef struct cpu_graph_node cpu_graph_node;

typedef enum cpu_work_kind {
    WORK_NOTHING, /* a mark: waits and events */
    WORK_LAUNCH,
    WORK_COPY,
    WORK_FILL,
    WORK_HOST,
    WORK_FREE,
    WORK_WRITE_VALUE,
    WORK_WAIT_VALUE,
    WORK_GRAPH,  /* pieces of work one after the other */
    WORK_RECORD, /* inside a graph: an event */
    WORK_WAIT_EVENT,
} cpu_work_kind;

typedef struct cpu_launch {
    CUfunction function; /* looked up when it runs */
    ptx_grid grid;
    size_t param_size;
    unsigned char *params;
} cpu_launch;

/* One side of a copy: the first byte of the region. */
typedef struct cpu_side {
    bool device; /* `address` is looked up when the copy runs; else it is a host pointer */
    uint64_t address;
    size_t pitch, slice; /* bytes from row to row and from plane to plane */
} cpu_side;

typedef struct cpu_copy {
    cpu_side to, from;
    size_t width, height, depth; /* bytes, rows, planes */
    void *staged;                /* a copy of pageable source memory; owned */
} cpu_copy;

typedef struct cpu_fill {
    uint64_t address;
    uint32_t value;
    unsigned element;            /* 1, 2 or 4 bytes */
    size_t width, height, pitch; /* elements, rows, bytes */
} cpu_fill;

typedef struct cpu_host {
    CUhostFn function;
    CUstreamCallback callback; /* or this */
    CUstream stream;
    void *user;
} cpu_host;

typedef struct cpu_value {
    uint64_t address;
    uint32_t value;
    unsigned flags;
} cpu_value;

typedef struct cpu_sequence {
    size_t count;
    cpu_work **items;
} cpu_sequence;

struct cpu_work {
    unsigned references;
    cpu_work_kind kind;
    union {
        cpu_launch launch;
        cpu_copy copy;
        cpu_fill fill;
        cpu_host host;
        cpu_value value;
        cpu_sequence sequence;
        uint64_t address; /* WORK_FREE */
        CUevent event;    /* WORK_RECORD, WORK_WAIT_EVENT */
    };
};

/* A new piece of work with one reference, all zero; NULL when memory is exhausted. */
cpu_work *gpul__cpu_work_new(cpu_work_kind kind);
cpu_work *gpul__cpu_work_keep(cpu_work *work);
void gpul__cpu_work_drop(cpu_work *work);

struct cpu_op {
    unsigned references;
    bool started, done;
    uint64_t number; /* in the order of entry */
    uint64_t time;   /* when it was done, for events */
    uint64_t launch; /* its number, see gpul__cpu_launch_number */
    cpu_context *context;
    struct cpu_stream *stream; /* NULL once it is done */
    cpu_work *work;
    cpu_op **waits; /* what must be done first; each is a reference */
    size_t wait_count;
    atomic_bool cancel;
    cpu_op *next;
};

typedef struct cpu_stream {
    CUstream handle; /* CU_STREAM_LEGACY for the context's own */
    cpu_context *context;
    bool blocking; /* ordered against the legacy stream */
    bool legacy;
    bool released; /* destroyed by the user: goes away when it is empty */
    unsigned flags;
    int priority;
    uint64_t id;
    CUsynchronizationPolicy policy; /* as set; read back only */
    uint64_t thread;                /* of a per-thread stream, else 0 */
    cpu_op *first, *last;           /* queue of what is not done */
    cpu_op *latest;                 /* the newest operation, done or not; a reference */
    cpu_capture *capture;           /* records into a graph instead of running */
    cpu_graph_node **recorded;      /* the nodes that the next one comes after */
    size_t recorded_count, recorded_capacity;
    CUgraphNode *recorded_handles;             /* as cuStreamGetCaptureInfo lent them */
    struct cpu_stream *next;                   /* of the context */
    struct cpu_stream *active, *active_before; /* the list of those that are not empty */
} cpu_stream;

enum { CPU_LEAST_PRIORITY = 0, CPU_GREATEST_PRIORITY = -5 };

struct cpu_event {
    CUevent handle;
    cpu_context *context;
    unsigned flags;
    cpu_op *op;                /* the latest record; a reference; NULL: never recorded */
    uint64_t graph_time;       /* set by a graph's record node; newer than `op` when not 0 */
    uint64_t capture_id;       /* recorded in a recording stream; 0: it was not */
    cpu_graph_node **captured; /* the nodes it stands for then */
    size_t captured_count;
    cpu_event *next; /* of the context */
};

/* The stream behind a handle of the API in this context, or NULL: 0 and CU_STREAM_LEGACY are the
 * legacy stream, CU_STREAM_PER_THREAD the thread's own. */
cpu_stream *gpul__cpu_stream_find(cpu_context *context, CUstream handle);

/* The same for calls that also take a stream of another context: 400, or that context's fault. */
CUresult gpul__cpu_stream_any(cpu_context *context, CUstream handle, cpu_stream **out);

uint64_t gpul__cpu_thread_number(void); /* of the calling thread, from 1 */
cpu_stream *gpul__cpu_stream_new(cpu_context *context, unsigned flags, int priority);
void gpul__cpu_stream_free(cpu_stream *stream); /* it must be empty */
void gpul__cpu_event_free(cpu_event *event);
/* Marks the end of what is queued in the stream, which must be of the event's context. */
CUresult gpul__cpu_event_record(cpu_event *event, cpu_stream *stream);
void gpul__cpu_op_drop(cpu_op *op);

/* Queues work; takes its own reference.  It also waits for the operations of `after`.  `out` may be
 * NULL, else gets a reference to the operation.  The stream does not capture. */
CUresult gpul__cpu_submit(cpu_stream *stream, cpu_work *work, cpu_op *const *after, size_t count,
                          cpu_op **out);

/* Queues work and waits for it, in the calling thread when nothing stands before it. */
CUresult gpul__cpu_submit_and_wait(cpu_stream *stream, cpu_work *work);

/* Waits; the lock is given up meanwhile, so everything but `op` itself may be gone afterwards.  The
 * result is the fault of the operation's context. */
CUresult gpul__cpu_wait_op(cpu_op *op);
CUresult gpul__cpu_wait_stream(cpu_stream *stream);
CUresult gpul__cpu_wait_context(cpu_context *context);

bool gpul__cpu_stream_busy(const cpu_stream *stream);

/* Ends what runs in the context: kernels stop as cancelled, and nothing queued starts any more. */
void gpul__cpu_cancel_context(cpu_context *context);

void gpul__cpu_workers_stop(void); /* the lock is given up meanwhile */

/* Does the work, without the lock; a failure is the context's fault.  run.c */
void gpul__cpu_run(cpu_op *op);

#endif
