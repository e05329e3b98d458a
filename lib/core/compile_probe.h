/* The compiler itself is asked for types: declarations that only have a deprecated alias in them are put
 * behind each kernel and struct of the source, and the warnings about them spell types, sizes and
 * offsets.  They make no code: PTX and CUBIN are the same byte for byte.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_COMPILE_PROBE_H
#define GPUL_CORE_COMPILE_PROBE_H

#include "base/str.h"
#include "core/compile_log.h"
#include "core/source_scan.h"

typedef enum gpul__probe_kind {
    GPUL__PROBE_KERNEL = 0, /* a kernel of the source */
    GPUL__PROBE_EXPRESSION, /* a name expression */
    GPUL__PROBE_SYMBOL,     /* an extern "C" kernel that only the PTX showed */
    GPUL__PROBE_STRUCT
} gpul__probe_kind;

/* One question, and its answer. */
typedef struct gpul__probe_item {
    gpul__probe_kind kind;
    const gpul__decl *decl;  /* NULL for expressions without one, and symbols */
    const char *name;        /* as it is written in the probe */
    gpul__declarators parts; /* parameters, or members that can be asked about */
    bool is_loose;           /* a struct with bases or alignas: gaps between members may be wide */
    bool answered;
    const char *type;   /* as the compiler prints it */
    const char **types; /* of parameters or members */
    size_t type_count;
    long long *numbers; /* kernels: a code for each parameter that needs one;
                           structs: size, align, then offset, size, align, code of each member */
    size_t number_count;
} gpul__probe_item;

typedef struct gpul__probe_insertion {
    size_t offset;
    const char *text;
} gpul__probe_insertion;

typedef struct gpul__probe {
    gpul__arena *arena;
    const gpul__tokens *tokens;
    const gpul__scan *scan;
    gpul__probe_item *items;
    size_t count, capacity;
    gpul__probe_insertion *insertions;
    size_t insertion_count, insertion_capacity;
    gpul__str header; /* text of GPUL__PROBE_HEADER */
    gpul__str tail;   /* goes behind the source */
} gpul__probe;

#define GPUL__PROBE_HEADER "gpulaunch_probe.h"
#define GPUL__PROBE_TAIL   "gpulaunch_probe.cu"

/* Writes the questions.  `structs`: also about struct members.  `expressions` may be NULL.
 * False: out of memory. */
bool gpul__probe_make(gpul__probe *out, gpul__arena *arena, const gpul__tokens *tokens,
                      const gpul__scan *scan, const char *const *expressions, bool structs);

/* Questions about extern "C" symbols only. */
bool gpul__probe_make_symbols(gpul__probe *out, gpul__arena *arena, const char *const *symbols,
                              size_t count);

/* The source with the questions in it; freed with gpul__free, NULL: out of memory. */
char *gpul__probe_source(const gpul__probe *probe, const char *text, size_t length);

/* Takes the answers out of the compiler's messages.  False: out of memory. */
bool gpul__probe_read(gpul__probe *probe, const gpul__log_list *list);

/* Whether a message is about a probe and none of the user's business. */
bool gpul__probe_is_own(const gpul__log_entry *entry);

void gpul__probe_free(gpul__probe *probe);

#endif
