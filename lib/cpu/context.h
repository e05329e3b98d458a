/* Contexts and what they own.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_CONTEXT_H
#define GPUL_CPU_CONTEXT_H

#include "cpu/cpu.h"
#include "cpu/memory.h"
#include "cpu/module.h"
#include "cpu/queue.h"

enum { CPU_LIMITS = 7 };

struct cpu_context {
    CUcontext handle;
    cpu_device *device;
    uint64_t id;
    bool primary;
    unsigned retained; /* of a primary context */
    unsigned flags;
    bool ending;                /* nothing new is queued */
    CUresult fault;             /* sticky: the answer of every call from now on */
    gpul__cpu_report *report;   /* of the fault */
    gpul__cpu_report *warnings; /* of launches that succeeded, the oldest first */
    size_t pending;             /* operations that are not done */
    size_t limits[CPU_LIMITS];
    CUfunc_cache cache;
    uint64_t peers; /* devices whose access was enabled */
    cpu_stream *legacy;
    cpu_stream *streams; /* all, the legacy one included */
    cpu_event *events;
    cpu_module *modules;
    cpu_region *regions; /* memory that ends with the context */
};

CUresult gpul__cpu_context_new(cpu_context **out, cpu_device *device, unsigned flags);
/* Waits for its work, then frees it and all it owns; the lock is given up while waiting. */
void gpul__cpu_context_end(CUcontext handle);

/* Makes a fault final; takes the report (may be NULL). */
void gpul__cpu_context_fault(cpu_context *context, CUresult fault, gpul__cpu_report *report);

#endif
