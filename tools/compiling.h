/* From FILE and nvcc's options to an image.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_COMPILING_H
#define TOOLS_COMPILING_H

#include "session.h"

typedef struct compile_job {
    const source_file *source;
    const element_list *options; /* compile options, weakest first */
    const session *session;      /* NULL: for no device */
    bool line_info;              /* unless the options say otherwise */
    bool cache_only;  /* no compile: NULL without a message is GL1203 in the library's last error */
    const char *arch; /* without a device and -arch; NULL: what the library chooses */
    const char *record; /* where the compiler names the headers that it reads; NULL: nowhere */
    list_of(const char *) expressions;
    list_of(const char *) more_defines; /* of a sweep */
} compile_job;

/* The image of the job; NULL and messages when it fails.  Warnings are made messages too. */
gpul_image *compile_source(compile_job *job);

/* Reads FILE and gathers its compile options into `all`: the build directives, then those of the command.
 * False with messages. */
bool compile_request(source_file *source, element_list *all, const element_list *elements,
                     const word *file);

/* Adds what -k and --expect-kernel ask of the compiler. */
void compile_expressions(compile_job *job, const run_request *request);

/* Reports what options are refused or ignored; false when one is refused. */
bool compile_options_check(const element_list *options);

#endif
