/* A sequence: its steps, and the graph that they were made into.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SEQUENCE_H
#define GPUL_CORE_SEQUENCE_H

#include "core/kept_launch.h"

typedef enum gpul__step_kind {
    GPUL__STEP_LAUNCH,
    GPUL__STEP_WRITE,
    GPUL__STEP_READ,
    GPUL__STEP_COPY,
    GPUL__STEP_FILL
} gpul__step_kind;

typedef struct gpul__step {
    gpul__step_kind kind;
    bool changed; /* since the graph was made */
    char *name;   /* NULL: none */
    CUgraphNode node;
    gpul__kept_launch *launch;
    gpul_buffer *to, *from; /* references */
    size_t to_offset, from_offset, size;
    void *host; /* read from or written to */
    unsigned char pattern[4];
    size_t pattern_size;
} gpul__step;

struct gpul_sequence {
    gpul_device *device; /* a reference */
    gpul__step *steps;
    size_t count, capacity;
    size_t built;    /* steps that the graph has */
    size_t changed;  /* how many of those were changed */
    bool captured;   /* has no steps of its own */
    bool one_by_one; /* how it was last played */
    size_t refused;  /* the driver made no graph of so many steps; 0: it did */
    CUgraph graph;
    CUgraphExec exec;  /* NULL: to be made */
    const char *label; /* for the ring of launches; kept by the device */
};

/* A new one, empty; NULL: no memory. */
gpul_sequence *gpul__sequence_new(gpul_device *device);

/* Makes the graph of all steps, or brings it up to date; sequence_graph.c.  With the context current.
 * *entry is what refused; NULL: out of host memory. */
CUresult gpul__sequence_build(gpul_sequence *sequence, const char **entry);
void gpul__sequence_drop_graph(gpul_sequence *sequence);

/* Whether the driver has all that it needs. */
bool gpul__sequence_can_build(const gpul_sequence *sequence);

#endif
