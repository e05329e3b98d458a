/* --trace: the run as a timeline in the Chrome trace format.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_TIMELINE_H
#define TOOLS_TIMELINE_H

#include <gpulaunch/gpulaunch.h>

#include "options.h"

void timeline_start(void);
bool timeline_on(void);

/* A phase of the command on the host's row; phases do not overlap: the next one ends the last. */
void timeline_phase(const char *name); /* NULL: no phase */

/* Microseconds of some clock; and a phase that began then, ended now, and ran beside the others. */
double timeline_now(void);
void timeline_beside(const char *name, double start);

/* The time of each phase so far, a line each. */
void timeline_show(FILE *to);

/* A driver call, from the library's trace: "cuMemAlloc(...) = CUDA_SUCCESS, 1234 ns". */
void timeline_call(const char *line);

/* Device time that ended now. */
void timeline_device(const char *name, double nanoseconds);

bool timeline_write(const option_use *use);

#endif
