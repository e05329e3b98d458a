/* The .npy format: its header, and writing.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_NPY_H
#define TOOLS_NPY_H

#include "files.h"

typedef struct npy_header {
    layout *layout; /* of one element as the file has it */
    bool swap;      /* big-endian */
    bool fortran;
    shape shape; /* fastest first, whatever the order in the file */
    bool scalar; /* shape () */
    size_t data_offset;
    const char *descr;      /* as written: '<f8' */
    const char *shape_text; /* as written: (480, 640) */
} npy_header;

/* `data` holds the head of a file of `size` bytes.  NULL, or what is wrong with it. */
const char *npy_parse(npy_header *out, const unsigned char *data, size_t available, uint64_t size);

/* The header for elements of `layout` in C order; the data follows it. */
const char *npy_header_text(const layout *l, const shape *s, size_t *length);

#endif
