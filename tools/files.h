/* Files as the contents of buffers: one request, one answer, whatever the format.  Not here: how a
 * format looks (npy.c, csv.c, images.c).  SPDX-License-Identifier: MIT */
#ifndef TOOLS_FILES_H
#define TOOLS_FILES_H

#include "spec.h"

/* What is wanted: the elements of one buffer. */
typedef struct file_request {
    const char *path; /* as written; "-" is stdin */
    span at;          /* the @FILE part, for messages */
    place declared;
    const char *name, *type_text; /* of the parameter */
    const layout *layout;         /* of one element of the parameter */
    const buffer_spec *spec;
} file_request;

/* What the file gives: elements of the request's layout, streamed from the file or held in memory. */
typedef struct file_content {
    shape shape;
    unsigned channels;      /* images; 0 otherwise */
    uint64_t width, height; /* images */
    int fd;                 /* -1: in memory */
    uint64_t offset;        /* of the first element in the file */
    unsigned char *memory;
    const char *remark; /* "transposed from Fortran order"; NULL: none */
} file_content;

bool file_load(file_content *out, const file_request *request);
bool file_content_read(const file_content *content, void *out, uint64_t offset, uint64_t size);
void file_content_free(file_content *content);

/* The readers; each adds its message and returns false when it cannot. */
bool read_npy(file_content *out, const file_request *request, const unsigned char *data,
              size_t size, int fd);
bool read_csv(file_content *out, const file_request *request, const unsigned char *data,
              size_t size, file_format format);
bool read_pnm(file_content *out, const file_request *request, const unsigned char *data,
              size_t size);
bool read_png(file_content *out, const file_request *request, const unsigned char *data,
              size_t size);
bool read_npz(file_content *out, const file_request *request);

/* An image of bytes or 16-bit values (host order), rows from the top, into the parameter's elements. */
typedef struct pixels {
    uint64_t width, height;
    unsigned channels;
    gpul_type type; /* U8, U16 or F32 */
    unsigned maximum;
    unsigned char *data;
} pixels;
bool image_to_content(file_content *out, const file_request *request, pixels *image);

/* A message about the request's file with its place and the parameter's declaration. */
message *file_fail(const file_request *request, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The path of a word's file: relative to the word's folder; NULL and a message when a directive reaches
 * outside its folder. */
const char *path_resolve(span at, const char *path);
extern bool paths_trusted; /* --trust */

/* The whole of a file or of stdin ("-"); false and *why (errno text) when it cannot be read.  Freed
 * with data_free. */
bool file_slurp(unsigned char **data, size_t *size, const char *path, const char **why);

/* Converts `count` scalars; norm maps integers of `from` to 0..1; swap: `from` has the other byte order. */
void convert_scalars(gpul_type to, void *out, gpul_type from, const void *in, uint64_t count,
                     bool norm, bool swap);

/* Writing: to a temporary name beside the path, renamed by output_close.  "-" is stdout. */
typedef struct output {
    FILE *stream;
    const char *path, *temporary;
} output;
bool output_open(output *out, const char *path, const char **why);
bool output_close(output *out, const char **why); /* false: nothing stands under the final name */
void output_abandon(output *out);
void outputs_remove_unfinished(void); /* from a signal handler, before the process ends */

#endif
