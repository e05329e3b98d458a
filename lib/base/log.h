/* The process's log hook.  SPDX-License-Identifier: MIT */
#ifndef GPUL_BASE_LOG_H
#define GPUL_BASE_LOG_H

#include <stdatomic.h>

#include <gpulaunch/gpulaunch.h>

/* The level that is on, 0 when there is no hook: test it before building a message. */
extern atomic_int gpul__log_level;
#define gpul__log_on(level)                                                                        \
    (atomic_load_explicit(&gpul__log_level, memory_order_relaxed) >= (int)(level))

void gpul__log(gpul_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
