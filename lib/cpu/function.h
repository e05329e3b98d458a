/* What functions and kernels of libraries share.  Needs the lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_FUNCTION_H
#define GPUL_CPU_FUNCTION_H

#include "cpu/module.h"

CUresult gpul__cpu_function_get(const cpu_function *function, CUfunction_attribute attribute,
                                int *value);
CUresult gpul__cpu_function_set(cpu_function *function, CUfunction_attribute attribute, int value);
/* `size` may be NULL.  INVALID_VALUE past the last parameter. */
CUresult gpul__cpu_function_param(const cpu_function *function, size_t index, size_t *offset,
                                  size_t *size);

/* True: the kernel has an instruction that the CPU device lacks, and gpul__cpu_last_refusal says so. */
bool gpul__cpu_function_refused(const cpu_function *function);

#endif
