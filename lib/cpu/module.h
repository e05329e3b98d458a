/* Modules and their kernels.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_MODULE_H
#define GPUL_CPU_MODULE_H

#include "cpu/jit.h"
#include "cpu/memory.h"
#include "cpu/state.h"

typedef struct cpu_module cpu_module;

typedef struct cpu_function {
    CUfunction handle;
    cpu_module *module;
    const ptx_kernel *kernel;
    ptx_kernel_info info;
    int max_threads;        /* a block may have */
    int max_dynamic_shared; /* bytes; a cap that can be moved up to the device's limit */
    int carveout;
    int cluster[3]; /* required size set by attribute; zeros: what the kernel itself says */
    bool cluster_must_be_set;
    bool non_portable_cluster;
    int cluster_policy;
    uint32_t refused_line; /* info.refused: the line in the PTX of what cannot run; 0 unknown */
} cpu_function;

struct cpu_module {
    CUmodule handle;
    cpu_context *context;
    ptx_module **parsed;
    size_t parsed_count;
    ptx_program *program;
    cpu_function *functions;
    size_t function_count;
    unsigned ptx_target; /* the highest .target: 90 */
    uint64_t variable_bytes;
    CUlibrary library; /* it was loaded for; NULL: none */
    cpu_region region; /* the owner of its variables */
    cpu_module *next;  /* of the context */
};

/* Loads PTX text, or what cuLinkComplete made, into a context; the lock is given up while it is
 * compiled.  `jit` may be NULL. */
CUresult gpul__cpu_module_load(cpu_module **out, cpu_context *context, const void *image,
                               cpu_jit *jit);
/* Nothing of it may be running. */
void gpul__cpu_module_free(cpu_module *module);

cpu_function *gpul__cpu_module_function(cpu_module *module, const char *name);

/* The function behind a handle, which may be a kernel of a library: that gives the function of the
 * context, and the lock may be given up while the library is loaded into it. */
CUresult gpul__cpu_function_find(cpu_function **out, cpu_context *context, CUfunction handle);

/* Blocks that a multiprocessor holds at a time.  The CPU device has no register file, so that only
 * threads, blocks and shared memory count. */
int gpul__cpu_occupancy(const cpu_function *function, uint64_t block_threads,
                        uint64_t dynamic_shared);

#endif
