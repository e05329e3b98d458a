/* A launch that is kept to be done again: checked and packed once, with references to all that it uses.  Prepared
 * launches and the steps of sequences are made of it.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_KEPT_LAUNCH_H
#define GPUL_CORE_KEPT_LAUNCH_H

#include "core/geometry.h"

typedef struct gpul__kept_launch {
    const gpul_kernel *kernel; /* its module is a reference */
    gpul_launch_opts opts;     /* .stream, and .extra with its buffer, are references of ours */
    gpul__geometry geometry;
    bool plain;                /* nothing but grid, block and shared memory was asked for */
    unsigned char *parameters; /* packed, as the kernel takes them */
    void **addresses;          /* of each of them, as the driver takes them */
    gpul_arg *args; /* buffers are references; the bytes of structs are in `parameters` */
} gpul__kept_launch;

/* Checks what gpul_launch checks, in the same words. */
gpul_status gpul__kept_launch_new(gpul__kept_launch **out, const gpul_kernel *kernel,
                                  const gpul_launch_opts *opts, gpul_arglist args,
                                  const char *call);
void gpul__kept_launch_free(gpul__kept_launch *launch); /* accepts NULL */

/* Replaces an argument that fits; else says why not and leaves it. */
gpul_status gpul__kept_launch_set(gpul__kept_launch *launch, size_t index, const gpul_arg *arg,
                                  const char *call);

/* The place of the parameter of that name. */
gpul_status gpul__kept_launch_find(size_t *out, const gpul__kept_launch *launch, const char *name,
                                   const char *call);

static inline gpul_arglist gpul__kept_launch_args(const gpul__kept_launch *launch)
{
    return (gpul_arglist){ launch->kernel->slot_count, launch->args };
}

/* As a node of a graph takes it. */
CUDA_KERNEL_NODE_PARAMS gpul__kept_launch_node(const gpul__kept_launch *launch);

#endif
