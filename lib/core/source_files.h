/* The user's own headers beside a source: found by name as the compiler finds them, and read for what they
 * declare.  Headers of CUDA and of the standard library are not read.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SOURCE_FILES_H
#define GPUL_CORE_SOURCE_FILES_H

#include "core/source_scan.h"

/* One file's place in the text of all. */
typedef struct gpul__file {
    gpul__source source;
    size_t base; /* offset of its text in gpul__files.text */
} gpul__file;

/* The source first, then its headers.  `text` begins with the source's text, so that offsets into it are
 * offsets into the source too. */
typedef struct gpul__files {
    gpul__file *items;
    size_t count, capacity;
    const char *text;
    char *merged; /* owned; NULL while the source is alone */
} gpul__files;

typedef struct gpul__files_input {
    gpul__arena *arena;
    const gpul__source *source; /* stays the caller's */
    const char *folder;         /* of the source, "" when it has none */
    const char *const *include_dirs;
    const char *const *includes; /* read before the source */
    const gpul_header *headers;
    gpul__macros macros;
} gpul__files_input;

/* Reads, tokenizes and scans the source and its headers.  False: out of memory; files that cannot be read
 * are left to the compiler to complain about. */
bool gpul__files_read(gpul__files *out, gpul__tokens *tokens, gpul__scan *scan,
                      const gpul__files_input *input);
void gpul__files_free(gpul__files *files);

/* Where a token is. */
typedef struct gpul__place {
    const char *file;
    uint32_t line, column, end_column;
    const char *text; /* of the line; not NUL-terminated */
    size_t length;
} gpul__place;
gpul__place gpul__place_of(const gpul__files *files, const gpul__tokens *tokens, size_t first,
                           size_t end);

#endif
