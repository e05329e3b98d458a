/* A buffer description: TYPE/SHAPE:SOURCE,MODIFIER...  Reading it; what it means for a parameter is
 * decided in bind.c.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_SPEC_H
#define TOOLS_SPEC_H

#include "messages.h"
#include "shape.h"

typedef enum source_kind {
    SOURCE_NONE, /* only a length */
    SOURCE_ZEROS,
    SOURCE_ONES,
    SOURCE_FILL,
    SOURCE_IOTA,
    SOURCE_RAND,
    SOURCE_RANDN,
    SOURCE_PERM,
    SOURCE_VALUES,
    SOURCE_FILE,
    SOURCE_STEP, /* %NAME */
    SOURCE_NOINIT,
    SOURCE_POISON,
    SOURCE_NULL
} source_kind;

typedef enum direction { DIR_DEFAULT, DIR_IN, DIR_OUT, DIR_INOUT, DIR_SCRATCH } direction;

typedef enum file_format {
    FORMAT_AUTO,
    FORMAT_RAW,
    FORMAT_NPY,
    FORMAT_NPZ,
    FORMAT_CSV,
    FORMAT_TSV,
    FORMAT_TEXT,
    FORMAT_PNM,
    FORMAT_PFM,
    FORMAT_PNG
} file_format;

typedef enum shape_kind { SHAPE_NONE, SHAPE_GIVEN, SHAPE_OF, SHAPE_LENGTH_OF } shape_kind;

typedef struct buffer_spec {
    span at;        /* the whole description */
    gpul_type type; /* TYPE/, else GPUL_TYPE_UNKNOWN */
    unsigned lanes;
    shape_kind shape_kind;
    shape shape;          /* GIVEN */
    const char *shape_of; /* OF, LENGTH_OF: the buffer's name */
    span shape_span;
    source_kind source;
    span source_span;
    list_of(span) values; /* VALUES; FILL: one an element's lane */
    span first, second;   /* iota START STEP, rand LO HI, randn MEAN SD; word NULL when left out */
    const char *path;     /* FILE; "-" is stdin */
    const char *step;     /* STEP: the name */
    direction direction;
    file_format format;
    bool cast, norm, gray, big_endian;
    uint64_t skip, align, seed, column;
    bool has_seed;
    const char *key;
} buffer_spec;

/* Whom a description is for: the messages need it.  `extra` may take modifiers of its own. */
typedef struct spec_context {
    const char *name;      /* "x" */
    const char *type_text; /* "const float *"; NULL: unknown */
    place declared;
    bool is_expectation;
    bool (*extra)(void *user, span modifier, bool *failed);
    void *user;
} spec_context;

bool spec_parse(buffer_spec *out, span value, const spec_context *context);
const char *spec_source_text(const buffer_spec *spec, uint64_t seed); /* "rand -1..1, seed 1" */
bool format_from_name(file_format *out, const char *name);            /* "npy" */
file_format format_of_path(const char *path);

#endif
