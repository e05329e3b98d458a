/* The open device of the command, what the library says while it works, kernel printf, time limits and
 * interruption.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include <gpulaunch/gpulaunch.h>
#include <stdio.h>

#include "options.h"
#include "plan.h"

typedef struct session {
    gpul_device *device;
    const gpul_device_info *info;
} session;

/* Opens what -d, $GPULAUNCH_DEVICE or auto say; a message when that fails. */
bool session_open(session *out, const option_use *device, bool require_gpu);
/* The same; `meanwhile` is called with the chosen device, not open yet, while the driver makes its context. */
bool session_open_meanwhile(session *out, const option_use *device, bool require_gpu,
                            void (*meanwhile)(void *user, session *s), void *user);
void session_close(session *s);
const char *device_shown(const gpul_device_info *info); /* "0 NVIDIA H200", "cpu CPU device" */
const char *arch_shown(const gpul_device_info *info);   /* "sm_90" */

/* The library's log: warnings become notes; more with -v.  Drained after each stage. */
void log_start(int verbose);
void log_drain(const plan *p); /* NULL: nothing runs yet */

/* The library's last error as messages.  `p` (or NULL) has the source whose lines are shown. */
message *library_message(const plan *p);
/* A line of the log that tells a finding of the CPU device, as a warning at its place; false: it is none. */
bool finding_message(const plan *p, const char *line);
/* Whether the last error is that of checkers and each of its errors is suppressed: then nothing is wrong. */
bool findings_suppressed(const plan *p);

/* Kernel printf between begin and end goes to `to` (NULL: nowhere), whichever device runs. */
void capture_begin(const session *s);
void capture_end(const session *s, FILE *to);

/* When `seconds` have passed, what runs on the CPU device is ended and the waiting call fails; a kernel of a
 * GPU cannot be, so the process ends with 124.  Zero turns the limit off; true: it had been reached. */
bool limit_time(double seconds, const char *what, gpul_device *device);
void interrupts_start(void); /* Ctrl-C: leftovers are removed, exit 130 */
extern volatile int interrupted;
void interrupts_quiet(void);     /* in a worker: ends without a word, its parent reports */
void interrupts_hold(bool hold); /* bench: finish the point, then stop */

/* Where words for people go: stdout, or stderr when stdout carries data; NULL: nowhere (-q). */
extern FILE *summary_stream;
FILE *printf_stream(void);

#endif
