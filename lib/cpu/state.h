/* What the whole CPU device shares: one lock, the engine, the devices, and how an entry of the
 * driver table begins and ends.
 *
 * One lock guards everything that entries see: handles, contexts, streams, records of memory.  It is
 * never held while a kernel, a copy or a host function runs, nor while text is printed; whoever waits
 * for work waits on `changed`.  The engine and its memory live from the first context to the end of
 * the last one.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_STATE_H
#define GPUL_CPU_STATE_H

#include <gpulaunch/gpulaunch.h>

#include <pthread.h>
#include <stdatomic.h>

#include "cpu/limits.h"
#include "driver/driver.h"
#include "ptx/engine.h"

typedef struct cpu_context cpu_context;
typedef struct cpu_pool cpu_pool;

enum { CPU_MAX_DEVICES = 64, CPU_WARP = 32 };

/* The newest CUDA release whose PTX is taken, and the version that the driver names: 13.5. */
enum { CPU_PTX_MAJOR = 9, CPU_PTX_MINOR = 5, CPU_DRIVER_VERSION = 13050 };

typedef struct cpu_device {
    int ordinal;
    uint64_t memory_used;          /* bytes given out, variables of modules included */
    cpu_context *primary;          /* NULL while nobody retains it */
    unsigned primary_flags;        /* for the next time it becomes active */
    cpu_pool *default_pool, *pool; /* `pool`: the one cuMemAllocAsync takes from */
    cpu_pool *pools;               /* those that the user made */
} cpu_device;

typedef struct cpu_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an operation has ended */
    bool initialised;
    atomic_bool forked;
    gpul_cpu_opts options; /* as configured, zeros where the default holds */
    const cpu_limits *limits;
    unsigned device_count;
    cpu_device devices[CPU_MAX_DEVICES];
    uint64_t memory_total; /* of one device */
    size_t context_count;  /* live contexts; the engine runs while there are any */
    ptx_memory *memory;    /* NULL: the engine does not run */
    ptx_engine *engine;
    char isa_name[32]; /* of the engine, remembered for the devices' name */
    unsigned threads;
    uint64_t launches; /* that were ever queued */
} cpu_state;
extern cpu_state gpul__cpu;

/* The contexts that are current on a thread, the last one on top.  They are handles: one that another
 * thread destroyed is noticed when it is used. */
enum { CPU_INLINE_DEPTH = 8 };
typedef struct cpu_thread {
    size_t depth, capacity;
    CUcontext inline_stack[CPU_INLINE_DEPTH];
    CUcontext *spilled; /* levels beyond the inline ones */
    uint64_t launch;    /* number of the last launch this thread queued */
    CUstreamCaptureMode capture_mode;
    uint64_t number; /* identifies the thread; 0: not given yet */
} cpu_thread;
extern _Thread_local cpu_thread gpul__cpu_thread;

/* Takes the lock; without success it is not held.  NOT_INITIALIZED before cuInit and after a fork. */
CUresult gpul__cpu_enter(void);

/* The same with the current context, which has no fault. */
CUresult gpul__cpu_enter_context(cpu_context **out);

/* The current context, usable or not: 201 nothing is current, 709 it was destroyed. */
CUresult gpul__cpu_current(cpu_context **out);

/* Drops the lock and hands `result` through; the second one also delivers kernel printf, which is
 * what a synchronising call does. */
CUresult gpul__cpu_leave(CUresult result);
CUresult gpul__cpu_leave_synchronised(CUresult result);

/* Needs the lock.  Starts engine, memory and streams' workers when they do not run. */
CUresult gpul__cpu_start(void);
/* Needs the lock.  Ends them when the last context is gone. */
void gpul__cpu_stop_if_unused(void);

/* Needs the lock.  NULL when there is no such device. */
cpu_device *gpul__cpu_device_at(CUdevice ordinal);

uint64_t gpul__cpu_host_memory(void); /* bytes that this machine has */

/* print.c: text of running kernels.  Not under the lock. */
void gpul__cpu_print_take(void *limit, const char *text, size_t length); /* a ptx_print_hook */
void gpul__cpu_print_flush(void);

#endif
