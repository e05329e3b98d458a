/* A kernel of a loaded module: what a launch needs at hand, precomputed, and all that is known of it.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_KERNEL_H
#define GPUL_CORE_KERNEL_H

#include "core/args.h"
#include "core/module.h"

/* What keeps a launch from taking the shortest way. */
enum {
    GPUL__KERNEL_EXACT_BLOCK = 1, /* .reqntid */
    GPUL__KERNEL_CLUSTER = 2,     /* compiled for clusters */
    GPUL__KERNEL_SHARED = 4,      /* has extern __shared__ memory, so none is a mistake */
    GPUL__KERNEL_PARAMETERS = 8,  /* more parameter bytes than the device takes */
    GPUL__KERNEL_GRID_SYNC = 16   /* must be launched cooperatively */
};

struct gpul_kernel {
    gpul_device *device; /* kept by the module */
    CUfunction function;
    const gpul__slot *slots;
    uint32_t slot_count, param_bytes;
    bool padded;     /* there are bytes between parameters: they are zeroed */
    uint8_t special; /* GPUL__KERNEL_* */
    uint32_t grid_limit[3], block_limit[3], max_threads;
    _Atomic(uint32_t) shared_allowed; /* dynamic shared memory that the driver accepts as it is */
    const char *kept_name;            /* lives as long as the device */

    uint32_t shared_limit;         /* dynamic shared memory that the opt-in can raise it to */
    _Atomic(uint64_t) cooperative; /* the last answer of the occupancy calculator, packed */
    gpul_kernel_info info;         /* strings and parameters are the image's */
    gpul_module *module;
    gpul_kernel *next; /* in the module's list */
};

/* Makes the kernel of a module.  Needs the module's lock and the context current. */
gpul_status gpul__kernel_new(gpul_kernel **out, gpul_module *module, const gpul_kernel_info *info,
                             CUfunction function);
void gpul__kernel_free(gpul_kernel *kernel);

#endif
