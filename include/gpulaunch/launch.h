/* Launch attributes, occupancy and preferences of a kernel.  The launch itself, cooperative and cluster launches
 * are in gpulaunch.h.  SPDX-License-Identifier: MIT */
#ifndef GPULAUNCH_LAUNCH_H
#define GPULAUNCH_LAUNCH_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Attributes of one launch -------------------------------------------------------------- */

typedef enum gpul_cluster_policy {
    GPUL_CLUSTER_POLICY_DEFAULT = 0,
    GPUL_CLUSTER_SPREAD, /* blocks of a cluster on different multiprocessors */
    GPUL_CLUSTER_BALANCE
} gpul_cluster_policy;

typedef enum gpul_access {
    GPUL_ACCESS_NORMAL = 0,
    GPUL_ACCESS_STREAMING, /* is not likely to be read again: leaves the L2 cache first */
    GPUL_ACCESS_PERSISTING /* stays in the part of the L2 cache that is set aside */
} gpul_access;

/* What of L2 a range of a buffer gets in this launch.  `ratio` of the accesses are `hit`, the others `miss`.
 * Set GPUL_LIMIT_PERSISTING_L2 first; gpul_device_reset_persisting ends it. */
typedef struct gpul_access_window {
    const gpul_buffer *buffer; /* NULL: no window */
    size_t offset, size;       /* at most access_window_bytes of the device */
    float ratio;               /* 0 to 1 */
    gpul_access hit, miss;     /* miss: not PERSISTING */
} gpul_access_window;

/* The .extra of gpul_launch_opts; read until the launch returns, and all zero asks for nothing.  They need
 * cuLaunchKernelEx, which drivers have since CUDA 11.8, and are refused with GPUL_E_UNSUPPORTED on older ones:
 * no attribute is ever dropped without a word.  Results are the same with and without, but for `programmatic`,
 * which takes away the wait for the launch before.  The CPU device takes them and does nothing else, but has no
 * access windows (access_window_bytes is 0). */
struct gpul_launch_extra {
    bool programmatic; /* may begin before the launch before it in its stream has ended; the kernel
                        * waits where it needs to, by griddepcontrol or its intrinsic (9.0 and later) */
    bool has_priority;
    int priority;                       /* as of a stream: lower is sooner; for has_priority */
    gpul_cluster_policy cluster_policy; /* for clusters */
    gpul_schedule sync;   /* streams only: how a thread waits for the stream; AUTO: not said */
    bool remote_domain;   /* in the remote memory synchronisation domain (12.0) */
    bool has_domains;     /* domain_of says which number each domain is (12.0) */
    uint8_t domain_of[2]; /* of the default and of the remote domain */
    uint32_t preferred_cluster[3]; /* a larger cluster where it fits (12.8, 10.0 and later) */
    gpul_access_window window;
    const void *raw; /* an array of CUlaunchAttribute, passed on as it is, at most 16 */
    unsigned raw_count;
};
typedef struct gpul_launch_extra gpul_launch_extra;
#define gpul_launch_extra(...) (&(gpul_launch_extra){ __VA_ARGS__ })

/* The same for every later launch in a stream: sync, priority, domains and window, which other launches of the
 * stream's keep until it is called again.  The attributes that only launches have are refused. */
GPUL_API gpul_status gpul_stream_set(gpul_stream *stream, const gpul_launch_extra *attributes);

/* ---- Occupancy ----------------------------------------------------------------------------- */

/* The most blocks that a cluster of a launch with these options can have (their .cluster is not used), and how
 * many clusters of .cluster run at once on the whole device. */
GPUL_API gpul_status gpul_kernel_max_cluster(int *out, const gpul_kernel *kernel,
                                             const gpul_launch_opts *opts);
GPUL_API gpul_status gpul_kernel_active_clusters(int *out, const gpul_kernel *kernel,
                                                 const gpul_launch_opts *opts);

/* The dynamic shared memory that a block can have so that `blocks` of `block_threads` threads still fit on one
 * multiprocessor. */
GPUL_API gpul_status gpul_kernel_fitting_shared(size_t *out, const gpul_kernel *kernel,
                                                unsigned blocks, unsigned block_threads);

typedef struct gpul_suggest_opts {
    size_t shared;                    /* dynamic shared memory of a block ... */
    size_t (*shared_of)(int threads); /* ... or how much a block of so many threads needs */
    unsigned limit;                   /* no larger block than this; 0: none */
} gpul_suggest_opts;
#define gpul_suggest_opts(...) (&(gpul_suggest_opts){ __VA_ARGS__ })

/* The block that fills the device best, and the smallest grid that does so with it.  Either may be NULL. */
GPUL_API gpul_status gpul_kernel_suggest(int *block, int *grid, const gpul_kernel *kernel,
                                         const gpul_suggest_opts *opts);

/* ---- Preferences --------------------------------------------------------------------------- */

typedef enum gpul_cache {
    GPUL_CACHE_KEEP = 0, /* leave it as it is */
    GPUL_CACHE_NONE,     /* no preference */
    GPUL_CACHE_SHARED,
    GPUL_CACHE_L1,
    GPUL_CACHE_EQUAL
} gpul_cache;

enum {
    GPUL_CARVEOUT_KEEP = 0, /* leave it as it is */
    GPUL_CARVEOUT_MAX_L1 = -1,
    GPUL_CARVEOUT_DEFAULT = -2 /* the driver's choice */
};

typedef struct gpul_kernel_prefs {
    gpul_cache cache;
    int carveout; /* percent of the multiprocessor's memory as shared memory, 1 to 100, or a word above */
} gpul_kernel_prefs;
#define gpul_kernel_prefs(...) (&(gpul_kernel_prefs){ __VA_ARGS__ })

/* Holds for every later launch of the kernel, from any thread; a hint that changes no result. */
GPUL_API gpul_status gpul_kernel_prefer(const gpul_kernel *kernel, const gpul_kernel_prefs *prefs);

#ifdef __cplusplus
}
#endif
#endif
