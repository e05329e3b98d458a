/* Making reports of launches.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_REPORT_H
#define GPUL_CPU_REPORT_H

#include "cpu/cpu.h"
#include "cpu/queue.h"

/* Takes `details` over.  NULL when memory is exhausted. */
gpul__cpu_report *gpul__cpu_report_new(CUresult result, const cpu_launch *launch, uint64_t number,
                                       CUstream stream, ptx_report *details);

/* Gives up a reference; needs the lock. */
void gpul__cpu_report_drop(gpul__cpu_report *report);

#endif
