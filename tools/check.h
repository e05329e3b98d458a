/* check: cases, their results, and the reports.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include "options.h"
#include "source.h"

typedef enum case_status { CASE_PASS, CASE_FAIL, CASE_SKIP } case_status;

/* One case to be run; a file whose directives are wrong is one case with its failure. */
typedef struct check_case {
    const source_file *source;
    const directives *directives;
    const char *name;
    bool broken; /* the file's directives cannot be read: nothing to run */
} check_case;

typedef struct check_result {
    case_status status;
    int code; /* of the first error; 0 */
    double milliseconds;
    const char *summary; /* "GL0901 out differs in 1 of 307200", or why it was skipped */
    const char *details; /* the messages in full */
    const char
        *spoken; /* what the worker wrote to stderr beside it; NULL: nothing, or shown already */
    bool last;   /* the worker ends with this case: the device may be lost */
    const char *file; /* place of the first error; "" */
    unsigned line, column;
} check_result;

typedef enum check_format { CHECK_TEXT, CHECK_TAP, CHECK_JUNIT, CHECK_GITHUB } check_format;

typedef struct check_list {
    list_of(check_case) cases;
    check_result *results;
    check_format format;
    bool first_worker; /* none was started before */
    int turn; /* a file that is locked by who launches on a GPU; -1: one case at a time anyway */
} check_list;

enum { CHECK_MOST_JOBS = 256 }; /* two descriptors each, of the usual 1024 */

/* Runs all cases, at most `jobs` at the same time, and reports each in the order of the list; after an interrupt
 * those that did not end are reported as skipped.  False: no worker could be started. */
bool check_all(check_list *list, size_t jobs, const element_list *options);

/* In a worker process: runs the cases whose numbers come from the parent and answers each with a record;
 * ends when the parent has no more, or after a fault that ends the device. */
_Noreturn void check_worker(const check_list *list, const element_list *options, int parent);

/* Over the socket between the two; false: the other side has gone. */
bool index_send(int to, size_t index);
bool index_read(int from, size_t *index);
bool record_write(int to, const check_result *result);
bool record_read(int from, check_result *result);

void report_begin(const check_list *list);
void report_case(const check_list *list, size_t index);
void report_end(const check_list *list);
void document_cases(const check_list *list);

#endif
