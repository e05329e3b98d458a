/* The hardware a compute capability stands for.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_LIMITS_H
#define GPUL_CPU_LIMITS_H

#include <stdbool.h>

typedef struct cpu_limits {
    int capability; /* 90 */
    int multiprocessors;
    int threads; /* resident in one multiprocessor */
    int blocks;
    int shared;       /* bytes of shared memory of one multiprocessor */
    int shared_block; /* bytes that one block can have by opt-in */
    int l2_bytes;
    int fp64_ratio; /* single precision is so many times faster */
    bool clusters;
    int max_param_bytes;
} cpu_limits;

enum {
    CPU_MAX_THREADS = 1024,
    CPU_MAX_BLOCK_Z = 64,
    CPU_MAX_GRID_X = 2147483647,
    CPU_MAX_GRID_YZ = 65535,
    CPU_SHARED_BLOCK = 49152, /* without opt-in */
    CPU_SHARED_RESERVED = 1024,
    CPU_REGISTERS = 65536,
    CPU_CONSTANT_BYTES = 65536,
    CPU_MAX_CLUSTER = 8, /* portable size */
    CPU_MAX_CLUSTER_NON_PORTABLE = 16,
};

/* NULL when no hardware has this capability. */
const cpu_limits *gpul__cpu_limits_find(int capability);

#endif
