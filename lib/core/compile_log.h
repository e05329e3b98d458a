/* What NVRTC and ptxas said, line by line, as located messages.  Which of them is the cause, and which
 * of our codes it gets, is compile_explain.h.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_COMPILE_LOG_H
#define GPUL_CORE_COMPILE_LOG_H

#include <gpulaunch/gpulaunch.h>

#include "base/alloc.h"
#include "core/source.h"

typedef enum gpul__log_origin {
    GPUL__LOG_COMPILER = 0, /* FILE(LINE): error: ... */
    GPUL__LOG_TOOL,         /* nvrtc: error: ... */
    GPUL__LOG_ASSEMBLER,    /* ptxas error   : ... */
    GPUL__LOG_REST          /* counts, remarks about suppressing */
} gpul__log_origin;

typedef struct gpul__log_entry {
    gpul__log_origin origin;
    gpul_severity severity;
    bool is_catastrophic, is_note_of_previous;
    int number;                  /* of a warning: 177 */
    const char *file;            /* NULL: none */
    uint32_t line;               /* of the PTX for the assembler's */
    uint32_t byte_column;        /* 1-based, from the caret; 0: there was none */
    uint32_t column, end_column; /* in characters, of the whole source line */
    const char *text;            /* the message, one line */
    const char *more;            /* further lines of it, joined by '\n'; NULL: none */
    const char *source;          /* the line it points at */
    size_t first, end;           /* of the log's bytes */
} gpul__log_entry;

typedef struct gpul__log_list {
    gpul__log_entry *items;
    size_t count, capacity;
} gpul__log_list;

/* Strings live in the arena.  `source` gives line texts and the names in it columns where the compiler
 * (before 12) draws no caret.  False: out of memory. */
bool gpul__log_read(gpul__log_list *out, gpul__arena *arena, const char *log,
                    const gpul__source *source);

#endif
