/* What the PTX front end has to say about a text: a list of messages with their place, and two ways
 * to write them (with the source line and a caret; and as the driver's JIT error log reads).
 * SPDX-License-Identifier: MIT */
#ifndef PTX_DIAG_H
#define PTX_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"

typedef enum ptx_severity {
    PTX_WARNING,
    PTX_UNSUPPORTED, /* correct PTX that the CPU device does not run: the module was parsed */
    PTX_ERROR,
} ptx_severity;

typedef struct ptx_diag {
    ptx_severity severity;
    uint32_t line, column; /* from 1; 0 when the message has no place */
    uint32_t width;        /* how many characters the caret underlines, at least 1 */
    const char *text;      /* one sentence without its place */
    const char *function;  /* the kernel or function around it, or NULL */
    const char *opcode;    /* the instruction with its modifiers, or NULL */
    const char *source;    /* the source line, shortened when it is very long, or NULL */
} ptx_diag;

/* All zero is an empty list.  At most PTX_DIAG_LIMIT messages are kept, but all are counted. */
enum { PTX_DIAG_LIMIT = 64 };

typedef struct ptx_diags {
    gpul__arena arena;
    ptx_diag *items;
    size_t count, capacity;
    size_t errors, unsupported, warnings; /* all that were reported, kept or not */
    bool failed;                          /* memory ran out while reporting */
} ptx_diags;

/* Copies all texts, so that the list outlives the module and the source. */
void ptx_diags_add(ptx_diags *diags, const ptx_diag *diag);
/* Brings the messages from `first` on into the order of their lines. */
void ptx_diags_sort(ptx_diags *diags, size_t first);
void ptx_diags_free(ptx_diags *diags);

/* "line 12, column 5: error: ... (kernel `k`, instruction `mul.f32`)", the source line, a caret. */
void ptx_diag_render(const ptx_diag *diag, gpul__str *out);
/* As the driver writes its error log: "ptxas application ptx input, line 12; error   : ..." for each
 * message, and "ptxas fatal   : Ptx assembly aborted due to errors" when there was one. */
void ptx_diags_render_log(const ptx_diags *diags, gpul__str *out);

#endif
