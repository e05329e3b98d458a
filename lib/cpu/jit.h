/* JIT options of the API.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_JIT_H
#define GPUL_CPU_JIT_H

#include "base/str.h"
#include "cpu/state.h"

/* The options decoded, and what is to be written back.  The values that the JIT of a GPU needs and this
 * device does not (optimisation level, cache mode ...) are checked and have no effect. */
struct cpu_jit {
    unsigned count;
    CUjit_option *options;
    void **values;
    unsigned max_registers;     /* 0: no wish */
    unsigned threads_per_block; /* 0: no wish */
    unsigned target;            /* 90; 0: the device's */
    bool verbose;
    size_t info_room, error_room; /* of the caller's buffers */
    gpul__str info, error;        /* the logs in full */
    uint64_t start;
};
typedef struct cpu_jit cpu_jit;

/* INVALID_VALUE for an option that does not exist or a value that it cannot have. */
CUresult gpul__cpu_jit_begin(cpu_jit *jit, unsigned count, CUjit_option *options, void **values);

/* Writes logs, used sizes and the wall time back; more than once is possible. */
void gpul__cpu_jit_write(cpu_jit *jit);

/* The same, and frees the logs. */
void gpul__cpu_jit_end(cpu_jit *jit);

#endif
