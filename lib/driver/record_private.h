/* Tests: what the files of the recording provider share.  SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_RECORD_PRIVATE_H
#define GPUL_DRIVER_RECORD_PRIVATE_H

#include "driver/record.h"
#include "driver/record_image.h"

/* Every entry, weak: those that no file defines are NULL in the table, as on a driver that lacks them. */
#define X(field, symbol, need, params, args, letters)                                              \
    CUresult gpul__record_##field params __attribute__((weak));
#include "driver/driver.def"
#undef X

/* ---- Objects ------------------------------------------------------------------------------- */

enum kind {
    CONTEXT,
    MODULE,
    FUNCTION,
    LIBRARY,
    LINK,
    MEMORY,
    HANDLE,
    POOL,
    STREAM,
    EVENT,
    GRAPH,
    NODE,
    EXEC,
    ARRAY,
    MIPMAP,
    TEXTURE,
    SURFACE,
    KINDS
};

/* The head of every object.  Handles are these pointers, and are looked up before they are followed. */
struct object {
    struct object *next;
    enum kind kind;
    struct context *context; /* NULL: of none */
};

struct context {
    struct object object;
    int device;
    unsigned flags;
    unsigned peers; /* a bit for each device that access is enabled to */
    bool primary;
    int retained;
    CUresult sticky;
    size_t limits[8];
    CUfunc_cache cache;
    unsigned long long id;
    unsigned multiprocessors; /* execution affinity; 0: none was asked for */
};

struct function {
    struct object object;
    struct module *module;
    const struct record_kernel *kernel;
    int attributes[16];
};

struct module {
    struct object object;
    struct library *library; /* NULL: loaded by itself */
    struct record_image image;
};

struct library {
    struct object object;
    struct record_image image;
    struct module *module; /* made when it is first asked for */
};

enum memory_kind { DEVICE, MANAGED, HOST, REGISTERED, RESERVED, GLOBAL };

struct memory {
    struct object object;
    enum memory_kind kind;
    int device;
    unsigned char *data;
    size_t size;
    void *base; /* what is freed; NULL: not ours */
    unsigned flags;
    bool mapped;       /* RESERVED: there is memory behind it */
    struct pool *pool; /* it came from this one */
};

struct pool {
    struct object object;
    int device;
    uint64_t threshold, used, high;
};

struct stream {
    struct object object;
    unsigned flags;
    int priority;
    unsigned long long id;
    struct graph *capture; /* the graph that is being captured into; NULL: none */
    bool capture_failed;
    struct node *last;
};

struct event {
    struct object object;
    unsigned flags;
    bool recorded;
    uint64_t time;
};

/* A piece of work: done at once in a stream, or kept in a graph. */
enum work_kind { NOTHING, KERNEL, COPY, FILL, CALL, CHILD, RECORD_EVENT, WAIT_EVENT };

struct work {
    enum work_kind kind;
    gpul__record_launch launch; /* KERNEL; its bytes are owned */
    struct function *function;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUhostFn call;
    void *data;
    struct graph *child;
    struct event *event;
};

struct node {
    struct object object;
    struct graph *graph;
    struct work work;
    struct node *origin; /* in an instantiated graph: the node it was made from */
    bool disabled;
};

struct graph {
    struct object object;
    struct node **nodes; /* in the order they were added, which respects the dependencies */
    size_t count;
    bool owned; /* a child or a capture in progress: not counted, freed with its owner */
};

struct exec {
    struct object object;
    struct graph *graph; /* its own copy */
};

/* ---- State (record.c) ---------------------------------------------------------------------- */

struct record_state {
    gpul__record_config config;
    int attributes[160];
    bool started;
    uint64_t used[16]; /* bytes of device memory given out, by device */
    unsigned long long next_id;
};
extern struct record_state gpul__record;

/* Takes the provider's one lock until the end of the block. */
struct guard {
    char unused;
};
struct guard gpul__record_lock(void);
void gpul__record_unlock(struct guard *guard);
#define LOCKED                                                                                     \
    struct guard guard __attribute__((cleanup(gpul__record_unlock), unused)) = gpul__record_lock()

/* What nearly every entry begins with: the lock, and the current context in `context` unless there is none, it is
 * destroyed or its work has faulted. */
CUresult gpul__record_enter(struct context **context);
#define ENTER                                                                                      \
    LOCKED;                                                                                        \
    struct context *context;                                                                       \
    CUresult entered = gpul__record_enter(&context);                                               \
    if (entered != CUDA_SUCCESS) return entered

#define REQUIRE(condition, result)                                                                 \
    do {                                                                                           \
        if (!(condition)) return result;                                                           \
    } while (0)

/* A new object, zeroed and alive; NULL when host memory is exhausted. */
void *gpul__record_new(enum kind kind, size_t size, struct context *context);
/* The object behind a handle; NULL when there is none of that kind alive. */
void *gpul__record_find(enum kind kind, const void *handle);
/* Takes an object off the list of the living and frees its head. */
void gpul__record_drop(void *object);
/* The next living object of a kind behind `after`, the first when that is NULL. */
void *gpul__record_next(enum kind kind, const void *after);

bool gpul__record_device(CUdevice device);

/* ---- Between the files --------------------------------------------------------------------- */

/* The memory that holds all of [address, address + size); NULL: no one piece does. */
struct memory *gpul__record_memory_at(CUdeviceptr address, size_t size);
void gpul__record_memory_free(struct memory *memory);
/* Makes a variable's memory known as an allocation of its own; NULL: out of memory. */
struct memory *gpul__record_memory_wrap(struct context *context, enum memory_kind kind, void *data,
                                        size_t size);
CUresult gpul__record_copy(const CUDA_MEMCPY3D *copy);
CUresult gpul__record_fill(const CUDA_MEMSET_NODE_PARAMS *fill);
void gpul__record_module_free(struct module *module);
void gpul__record_library_free(struct library *library);
void gpul__record_link_free(void *link);
struct function *gpul__record_function(CUfunction handle);
bool gpul__record_stream(CUstream handle, struct context *context, struct stream **stream);

/* Does the work, or puts it into the graph that the stream captures. */
CUresult gpul__record_submit(CUstream stream, struct context *context, struct work *work);
CUresult gpul__record_run(struct work *work, struct context *context, CUstream stream, bool graph);
void gpul__record_work_free(struct work *work);
struct node *gpul__record_add_node(struct graph *graph, struct work *work);
void gpul__record_graph_free(struct graph *graph);
void gpul__record_forget_jit(void);

/* Fills a launch from the arguments of an entry and checks it against kernel and device. */
CUresult gpul__record_make_launch(struct work *work, struct context *context, CUfunction function,
                                  const CUlaunchConfig *config, void **params, void **extra);

#endif
