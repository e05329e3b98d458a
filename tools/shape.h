/* Shapes of buffers, fastest dimension first, and the layout of one element as a list of scalar leaves.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_SHAPE_H
#define TOOLS_SHAPE_H

#include <gpulaunch/gpulaunch.h>

#include "mem.h"

enum { MAX_RANK = 8 };

typedef struct shape {
    unsigned rank; /* 0: not known */
    uint64_t dim[MAX_RANK];
} shape;

shape shape_flat(uint64_t count);
uint64_t shape_count(const shape *s); /* elements; UINT64_MAX when that overflows */
bool shape_same(const shape *a, const shape *b);
const char *shape_text(const shape *s); /* "640x480" */

/* N, WxH or WxHxD with K M G.  False: it is none (*fault says why when it looked like one). */
bool shape_parse(shape *out, const char *source, size_t length, const char **fault);

/* Three values of --grid and its kin, at commas. */
bool triple_parse(uint64_t out[3], unsigned *given, const char *source);

/* Scalars at a fixed offset of an element: float4 is one leaf of 4, a struct one for each member. */
typedef struct leaf {
    const char *path; /* "" for the whole, "pos", "in.scale" */
    gpul_type type;   /* GPUL_POINTER and GPUL_OTHER leaves cannot be given or compared by value */
    size_t offset;
    uint32_t count;
    const char *type_name;
} leaf;

typedef struct layout {
    const char *type_name;
    size_t size, align;
    bool is_struct;
    list_of(leaf) leaves;
} layout;

layout *layout_of(const gpul_member *member); /* of one element of what the member is */
layout *layout_plain(gpul_type type, unsigned lanes);
const leaf *layout_leaf(const layout *l, const char *path);
bool layout_plain_type(const layout *l, gpul_type *type, uint32_t *lanes); /* one leaf only */
bool layout_same(const layout *a, const layout *b); /* offsets, types and counts; not names */
bool layout_readable(const layout *l);              /* every leaf is a number */

#endif
