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

enum { GPUL__KERNEL_SHAPES = 4, GPUL__QUICK_PARAMETERS = 256 };

struct gpul_kernel {
    gpul_device *device; /* kept by the module */
    CUfunction function;
    const gpul__slot *slots;
    uint32_t slot_count, param_bytes;
    bool padded;     /* there are bytes between parameters: they are zeroed */
    bool quick;      /* its arguments can be packed by gpul__args_pack_quickly */
    uint8_t special; /* GPUL__KERNEL_* */
    uint32_t grid_limit[3], block_limit[3], max_threads;
    _Atomic(uint32_t) shared_allowed; /* dynamic shared memory that the driver accepts as it is */
    const char *kept_name;            /* lives as long as the device */
    _Atomic(const struct gpul__shape *) shapes[GPUL__KERNEL_SHAPES]; /* see launch_shape.h */
    _Atomic(uint64_t) last_key;    /* of the options of the last launch that was checked */
    _Atomic(uint32_t) shape_count; /* that were made so far */

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
