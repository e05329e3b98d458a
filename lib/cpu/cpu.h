/* The CPU device: a provider of the driver table that runs PTX through the engine of ptx/.  What the
 * table cannot say is here: options, what a fault was in full, why a module was refused.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_CPU_H
#define GPUL_CPU_CPU_H

#include <gpulaunch/gpulaunch.h>

#include "driver/driver.h"
#include "ptx/engine.h"

/* The table; never NULL, and no entry is NULL: what the device cannot do answers NOT_SUPPORTED. */
const gpul__driver *gpul__cpu_driver(void);

/* Takes options over.  Without a context they replace the old ones, and a zero is the default.  While
 * there are contexts a zero means "no wish": instruction budget and print hook can be changed and hold
 * from the next launch on, the other fields are fixed, and one that would change is refused with an
 * error record.  So are numbers that make no sense.  NULL is all zeros. */
gpul_status gpul__cpu_configure(const gpul_cpu_opts *opts);

/* What happened in a launch: a fault that ended it, or findings that did not. */
typedef struct gpul__cpu_report {
    CUresult result;     /* 700, 702, 710 ...; 0: the launch succeeded, with warnings */
    uint64_t launch;     /* see gpul__cpu_launch_number */
    CUfunction function; /* only to be compared: it may be gone */
    CUstream stream;
    uint32_t grid[3], block[3];
    uint32_t shared;    /* dynamic, bytes */
    ptx_report details; /* findings, where the threads stand, counts */
    char *text;         /* all of it as lines; never NULL */
    unsigned references;
    struct gpul__cpu_report *next;
} gpul__cpu_report;

/* The report of the fault that ended the context, NULL when there is none (no fault, a fault without
 * a kernel, or no memory).  It never changes, outlives the context and is freed by the caller. */
gpul__cpu_report *gpul__cpu_fault_report(CUcontext context);

/* The oldest warning of the context that nobody has taken yet, or NULL.  At most 16 are kept. */
gpul__cpu_report *gpul__cpu_take_warning(CUcontext context);
void gpul__cpu_report_free(gpul__cpu_report *report); /* accepts NULL */

/* Whether checkers are on, whose findings fail a wait and not a launch. */
bool gpul__cpu_checks(void);

/* Launches are numbered over the process, from 1: the number of this thread's latest one. */
uint64_t gpul__cpu_launch_number(void);

/* Ends what runs in the context, from any thread: its kernels stop with LAUNCH_TIMEOUT, and the report
 * says where their threads stood.  INVALID_CONTEXT when it is none. */
CUresult gpul__cpu_interrupt(CUcontext context);

/* Why the thread's last load was refused.  Valid until the thread's next load. */
typedef struct gpul__cpu_refusal {
    CUresult result;  /* 0: it was not refused */
    bool unsupported; /* correct PTX with an instruction that the CPU device does not run */
    uint32_t line;    /* in the PTX, from 1; 0 unknown */
    char kernel[256], opcode[96]; /* "" unknown; cut when longer */
    char sentence[512];
} gpul__cpu_refusal;
const gpul__cpu_refusal *gpul__cpu_last_refusal(void);

#endif
