/* The file that a command works on: its text, its lines, and the directives in it.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include "messages.h"

typedef struct source_file {
    const char *path;   /* as written */
    const char *folder; /* with its slash; "" */
    const char *text;   /* as the compiler gets it; ends in NUL */
    size_t size;
    bool is_image; /* PTX, CUBIN or fatbin: not to be compiled */
    bool is_ptx;
    list_of(const char *) lines; /* without their ends */
} source_file;

/* Reads FILE ("-" is stdin); a message when it cannot. */
bool source_read(source_file *out, const word *file);
bool source_read_path(source_file *out, const char *path, place at);
const char *source_line(const source_file *source, unsigned line); /* NULL: there is none */

/* ---- Directives ---- */

typedef list_of(word_list) step_list;

typedef struct case_definition {
    const char *name;
    span name_at;
    step_list steps;
    word_list require;
    const char *fails; /* "GL0505"; NULL: is not expected to fail */
    int fails_code;
    span fails_at;
} case_definition;

typedef struct directives {
    word_list build, args, require;
    list_of(case_definition) cases; /* at least one after directives_read */
    bool any;                       /* the file has directives */
    bool implicit;                  /* the one case is made of args */
} directives;

/* Finds and reads the directives; `strict`: a comment that looks like one is an error (check).  Messages
 * for what is wrong; false then. */
bool directives_read(directives *out, const source_file *source, bool strict);
const case_definition *directives_case(const directives *d, const char *name);

#endif
