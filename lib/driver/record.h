/* Tests: a driver without a device.  Memory is the host's, streams run in order and at once, kernels do nothing but
 * leave a record of how they were launched, and every object is counted.  It answers misuse as an H200 with driver 580
 * does.  What it holds comes from plain malloc, so that the counts of base/alloc.h are the library's alone.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_RECORD_H
#define GPUL_DRIVER_RECORD_H

#include "driver/driver.h"

#include <stdbool.h>

typedef struct gpul__record_config {
    int devices;            /* 0: 1 */
    int compute_capability; /* 0: 90 */
    int driver_version;     /* 0: 13000 */
    uint64_t memory;        /* bytes of device memory; 0: those of an H200 */
    bool affinity;          /* contexts can have a share of the multiprocessors, as under MPS */
} gpul__record_config;

/* The table.  It starts like a fresh process after each reset. */
const gpul__driver *gpul__record_driver(void);

/* Forgets every object, launch and setting.  NULL: all defaults. */
void gpul__record_reset(const gpul__record_config *config);

/* What cuDeviceGetAttribute says from now on. */
void gpul__record_set_attribute(CUdevice_attribute attribute, int value);

/* The context's work faults: every call that waits, and from then on every call, answers `result`. */
void gpul__record_fault(CUresult result);

/* ---- What is alive ------------------------------------------------------------------------- */

typedef struct gpul__record_counts {
    int contexts, retained; /* made by cuCtxCreate; retained primary ones */
    int modules, libraries, links;
    int allocations, host_allocations, registrations, reservations, handles, pools;
    int streams, events, graphs, execs;
    int arrays, mipmaps, textures, surfaces; /* a mipmap's levels are arrays, too */
    int abandoned; /* objects that went only because their context was destroyed under them */
} gpul__record_counts;

gpul__record_counts gpul__record_live(void);

/* "2 streams, 1 module" of what is alive or was abandoned; "" when nothing is.  Static; one thread at a time. */
const char *gpul__record_leaks(void);

/* ---- Launches ------------------------------------------------------------------------------ */

typedef struct gpul__record_launch {
    char kernel[256];
    unsigned grid[3], block[3], shared;
    unsigned cluster[3]; /* 0: none was asked for */
    bool cooperative, from_graph;
    CUcontext context;
    CUstream stream;
    bool extra;            /* parameters came through `extra`, else through kernelParams */
    unsigned char *bytes;  /* the parameters, exactly as given */
    size_t size;           /* what the caller said */
    size_t signature_size; /* what the kernel's parameters take */
    unsigned attribute_count;
    CUlaunchAttribute attributes[16];
} gpul__record_launch;

size_t gpul__record_launches(void);
/* The launch of this number, 0 the oldest; from the end when negative, -1 the newest.  NULL: there is none. */
const gpul__record_launch *gpul__record_launch_at(long index);
void gpul__record_forget(void); /* the launches so far */

/* Called at each launch, in its place in the stream: plays the kernel.  It must not call the driver. */
void gpul__record_on_launch(void (*fn)(void *user, const gpul__record_launch *launch), void *user);

/* ---- Loading ------------------------------------------------------------------------------- */

/* The JIT options of the last load, decoded; -1 where an option was not given. */
typedef struct gpul__record_jit {
    int max_registers, threads_per_block, optimization_level;
    int target_from_context, target, fallback, cache_mode;
    int debug, line_info, verbose;
    long info_log_size, error_log_size; /* as given */
    bool info_log, error_log, wall_time;
    unsigned options; /* how many */
    bool ptx, cubin;  /* what was loaded */
} gpul__record_jit;

const gpul__record_jit *gpul__record_last_jit(void);

/* The next loads and links answer so, with these logs, instead of looking at the image; CUDA_SUCCESS with NULL logs ends it. */
void gpul__record_jit_answer(CUresult result, const char *info_log, const char *error_log);

#endif
