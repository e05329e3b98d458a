/* Copies and fills as work.  Needs the lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_COPY_H
#define GPUL_CPU_COPY_H

#include "cpu/queue.h"

/* Checks ranges, pitches and kinds of memory; without success there is no work. */
CUresult gpul__cpu_copy_check(cpu_work **out, const CUDA_MEMCPY3D *copy);
CUresult gpul__cpu_fill_check(cpu_work **out, const CUDA_MEMSET_NODE_PARAMS *fill);

#endif
