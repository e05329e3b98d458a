/* What a buffer begins with: any range of elements can be made at any time, so that large buffers need
 * no copy in host memory.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_CONTENT_H
#define TOOLS_CONTENT_H

#include "files.h"
#include "values.h"

/* Whom the content is for: names and places for messages and random keys. */
typedef struct content_owner {
    const char *name;      /* "b" or "b.pos": part of the random key */
    const char *type_text; /* "const float *" */
    place declared;
    uint64_t seed;
} content_owner;

typedef struct content {
    const layout *layout; /* of the whole element */
    const leaf *leaf;     /* only this leaf is written; NULL: all */
    uint64_t count;
    const buffer_spec *spec;
    content_owner owner;
    unsigned char *values; /* VALUES, FILL: scalars, by leaf for FILL */
    file_content file;
    double first, second; /* RAND, RANDN, IOTA of floats */
    int64_t from, step;   /* RAND, IOTA of integers */
    list_of(struct content *) overlays;
} content;

/* Reads what `spec` says for elements of `l`, or for its leaf only; messages and NULL when it does not
 * fit.  Values and files know their length (content->count); for the others it is content_resize. */
content *content_new(const buffer_spec *spec, const layout *l, const leaf *only,
                     const content_owner *owner);

/* Fixes the number of elements and checks that the source has them and that they fit the type. */
bool content_resize(content *c, uint64_t count);

/* The shape that the source itself has; rank 0 when it has none. */
shape content_shape(const content *c);

/* Elements first to first + count - 1 into `out`; false when a file fails. */
bool content_read(const content *c, void *out, uint64_t first, uint64_t count);
uint64_t content_key(const content *c); /* of its random values, by gen.h */
void content_free(content *c);

/* "'a' is float, but ..." for one value that does not fit. */
message *value_message(value_fault fault, span at, const char *name, const char *type_text,
                       gpul_type type, place declared);

#endif
