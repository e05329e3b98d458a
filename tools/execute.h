/* A plan on a device: memory with fences, contents, launches, what comes back.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_EXECUTE_H
#define TOOLS_EXECUTE_H

#include "expect.h"
#include "gen_device.h"
#include "session.h"

typedef struct device_buffer {
    gpul_buffer *whole, *view; /* the same when there are no fences */
    size_t before, after;      /* bytes of fence */
} device_buffer;

typedef struct execution {
    plan *plan;
    session *session;
    gpul_module *module;
    bool guard;
    unsigned char pattern; /* of poison */
    bool silent;           /* a second run: no printf, no hooks */
    bool always_twice;     /* look for unwritten elements although the check passed */
    void (*before_step)(void *user, struct execution *x, size_t step);
    void (*after_step)(void *user, struct execution *x,
                       size_t step); /* results are there to be read */
    void *user;
    maker maker;      /* of large contents, on a GPU */
    double *times_ns; /* of each step, the whole group of launches */
    list_of(device_buffer *) allocated;
} execution;

enum { POISON_FIRST = 0xa5, POISON_SECOND = 0x5a };

/* Loads the image and gives every step its handle and its kernel's facts on this device. */
bool load_image(gpul_module **out, const plan *p, const session *s);
bool execution_load(execution *x); /* loads the image unless x->module is there */

/* Memory for all buffers; contents; the two may be repeated for another run of the same plan. */
bool execution_allocate(execution *x);
bool execution_fill(execution *x, size_t step); /* the buffers that this step made */

/* One step: its launches, waited for, fences verified, its time kept. */
bool execution_run_step(execution *x, size_t step);

/* All steps, expectations compared after each, twice when something may not have been written; false:
 * something failed (a check that did not pass is no failure: see expectation.result). */
bool execution_run(execution *x);
bool execution_passed(const execution *x);

bool buffer_read(const buffer *b, void *out, uint64_t first, uint64_t count);
bool buffer_write_content(execution *x, buffer *b, const content *c);
bool buffer_poison(buffer *b, unsigned char pattern);
void execution_free(execution *x);

/* The argument list of a step; items and bytes live in the arena. */
gpul_arglist step_arglist(const step *s, const gpul_kernel_info *kernel);

/* Queues a launch of the step; no waiting. */
bool launch_step(const step *s, gpul_arglist args);

#endif
