/* Results as files: -o NAME=FILE.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_OUTPUTS_H
#define TOOLS_OUTPUTS_H

#include "execute.h"

typedef struct result_file {
    buffer *buffer;
    const char *path;
    file_format format;
    bool norm, overwrite;
    span at;
    size_t step;
    output out;
    bool open;
} result_file;

typedef struct results {
    list_of(result_file) files;
} results;

/* Reads the -o of all steps and judges them before anything runs. */
bool results_bind(results *out, const plan *p);
bool results_use_stdout(const run_request *request);

/* Writes the files of a step under temporary names; results_keep renames them. */
bool results_write(results *r, size_t step);
bool results_keep(results *r);
void results_drop(results *r);

/* One buffer in a format; false and a message when it cannot be. */
bool write_buffer(FILE *to, const result_file *f);
bool image_format_fits(const result_file *f); /* a message when not */
bool write_image(FILE *to, const result_file *f);
bool write_png(FILE *to, const result_file *f, const pixels *image);
bool write_npz(FILE *to, const result_file *f);

#endif
