/* What a run, check or bench is asked to do: steps with their words and options, gathered from the
 * command line and the directives by strength.  Nothing here knows the kernel.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_REQUEST_H
#define TOOLS_REQUEST_H

#include "options.h"
#include "shape.h"
#include "source.h"

/* NAME=VALUE, or NAME.MEMBER=VALUE. */
typedef struct assignment {
    const char *name;   /* the whole left side */
    const char *base;   /* up to the first dot or bracket */
    const char *member; /* behind it; NULL */
    span name_at, value_at;
    int level; /* of strength: args 1, case 2, command line 3 */
    bool used;
} assignment;

typedef struct named_span {  /* --expect NAME=SPEC and the like */
    const char *name, *text; /* text: the right side; NULL when there was no '=' */
    span name_at, at;
    int level;
} named_span;
typedef list_of(named_span) named_list;

typedef struct dimensions {
    uint64_t n[3];
    unsigned rank; /* 0: not given */
    span at;
} dimensions;

typedef struct step_request {
    list_of(assignment) assignments;
    const char *kernel; /* NULL: the only one */
    span kernel_at;
    dimensions grid, block, threads, cluster;
    bool block_auto, cooperative;
    const char *over;
    span over_at;
    uint64_t shared;
    bool has_shared;
    span shared_at;
    uint64_t repeat; /* 1 when not given */
    const char *swap_a, *swap_b;
    span swap_at;
    named_list expects, expect_kernels, outs, prints, set_globals, get_globals;
    bool print_none;
} step_request;

typedef struct run_request {
    list_of(step_request) steps;
    element_list compile;  /* compile options, weakest first */
    const char *case_name; /* of the directives in use; NULL: none */
    list_of(const char *)
        references; /* kernels that some case of the file names in --expect-kernel */
    uint64_t seed;
    double timeout; /* seconds; 0: none */
    bool no_guard, guard, dry_run;
    const option_use *mismatches;
    size_t mismatch_limit;
} run_request;

/* Adds one level of words to the request: `first_step` is where they begin.  Messages when wrong. */
bool request_add(run_request *out, const element_list *elements, int level);

/* Words of a level: options and assignments are told apart and split at --then. */
bool request_add_words(run_request *out, const word_list *words, size_t step, int level,
                       unsigned commands);

bool option_allowed_in_file(const option_use *use); /* as a part of a directive */

void request_init(run_request *out);
bool request_finish(run_request *out); /* what no level may leave as it is */

const assignment *request_find(const step_request *step, const char *name);

/* The options that all commands share: quiet, verbose, errors, colour. */
typedef struct common_options {
    bool quiet, help, version;
    int verbose;
    bool json;
    const char *json_file; /* NULL: stdout */
} common_options;
extern common_options common;
bool common_read(const element_list *elements);

/* The whole number that is the value of an option; a message when it is none, or below `least`. */
bool option_read_count(uint64_t *out, const option_use *use, uint64_t least);
bool seconds_parse(double *out, const char *source); /* 2, 0.5s, 300ms, 2m */

#endif
