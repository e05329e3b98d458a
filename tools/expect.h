/* Expectations: what a buffer should hold, how near is near enough, and the comparison.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_EXPECT_H
#define TOOLS_EXPECT_H

#include "plan.h"

typedef struct tolerance {
    double atol, rtol;
    bool exact, nan_equal;
    bool has_ulp, has_rmse, said; /* said: atol, rtol or ulp was given */
    uint64_t ulp;
    double rmse;
    bool has_range;
    uint64_t range_from, range_to; /* elements; to is excluded */
    uint64_t fail;                 /* so many bad elements are tolerated */
} tolerance;

typedef struct expectation {
    buffer *buffer;
    const char *against; /* "saxpy_ref", "ref.npy", "fill 3.5" */
    place at;
    buffer_spec spec;
    content *content;               /* NULL: a kernel */
    const gpul_kernel_info *kernel; /* of --expect-kernel */
    tolerance tolerance;
    struct comparison *result;
    unsigned char *got, *wanted; /* kept when a second run is to be compared with */
    bool update;                 /* check --update: the file is written, not compared with */
    void **shadows;              /* of judge.c: the buffers that the expected kernel works on */
} expectation;

/* One wrong scalar. */
typedef struct mismatch {
    uint64_t index; /* of the element */
    const leaf *leaf;
    uint32_t lane;
    gpul_type type;
    unsigned char got[8], expected[8];
    double error, allowed;
    bool unset, unchanged;
} mismatch;

typedef struct bad_run {
    uint64_t start, length;
} bad_run;

typedef struct comparison {
    bool passed;
    size_t limit;              /* of first */
    uint64_t total, bad;       /* elements */
    uint64_t unset, unchanged; /* of the bad ones */
    uint64_t nans;             /* bad because of NaN */
    uint64_t scalars;          /* finite pairs */
    double largest_error, needed_atol, squares, rmse;
    uint64_t largest_ulp;
    mismatch worst;          /* error -1: none that is a number */
    list_of(mismatch) first; /* up to the limit */
    uint64_t first_bad, last_bad;
    uint64_t gaps;         /* runs of bad elements */
    list_of(bad_run) runs; /* the first of them */
} comparison;

bool bind_expectations(plan *p, step *s);
extern bool expectations_update; /* check --update */

/* Compares a range; call with increasing ranges, then compare_end.  `initial` and `second` (the same
 * elements with another fill pattern) may be NULL. */
void compare_begin(comparison *c, size_t limit);
void compare_range(comparison *c, const expectation *e, uint64_t first, uint64_t count,
                   const unsigned char *got, const unsigned char *expected,
                   const unsigned char *initial, const unsigned char *second);
void compare_end(comparison *c, const expectation *e);

const char *tolerance_text(const tolerance *t, gpul_type type);

/* The message of a failed comparison. */
void report_mismatch(const step *s, const expectation *e);

#endif
