/* One case of one file, from words to a plan that is ready to be launched: what run, check and bench
 * share.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

#include "compiling.h"
#include "execute.h"
#include "outputs.h"

typedef struct job {
    const source_file *source;
    const case_definition *definition; /* NULL: directives are ignored */
    run_request request;
    gpul_image *image;
    gpul_module *module; /* of an image file, until the run has it */
    plan plan;
    execution run;
    results results;
} job;

/* Gathers the request: args and case of the directives, then the command line's words. */
bool job_request(job *j, const source_file *source, const directives *d, const char *case_name,
                 const element_list *command_line, unsigned command);

/* Compiles (unless `image` is given, which is then borrowed), binds, loads and fixes the geometry. */
bool job_compile(job *j, session *s, const element_list *build);
/* Its two parts: the first can be done while the device is being opened. */
bool job_compile_image(job *j, session *s, const element_list *build);
bool job_load_image(job *j, session *s);
bool job_bind(job *j, const session *s);
bool job_load(job *j, session *s, bool strict);
void job_free(job *j);

#endif
