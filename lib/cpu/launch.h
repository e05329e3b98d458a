/* Launches as work.  Needs the lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_LAUNCH_H
#define GPUL_CPU_LAUNCH_H

#include "cpu/module.h"
#include "cpu/queue.h"

/* Checks geometry, memory and parameters as the hardware would, and copies the parameters; without
 * success there is no work. */
CUresult gpul__cpu_launch_check(cpu_work **out, const cpu_function *function, const ptx_grid *grid,
                                void **params, void **extra);

#endif
