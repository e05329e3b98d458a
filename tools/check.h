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
    const char *file;    /* place of the first error; "" */
    unsigned line, column;
} check_result;

typedef enum check_format { CHECK_TEXT, CHECK_TAP, CHECK_JUNIT, CHECK_GITHUB } check_format;

typedef struct check_list {
    list_of(check_case) cases;
    check_result *results;
    check_format format;
    bool first_worker; /* none was started before */
} check_list;

/* In a worker process: runs cases from `first` on and writes a record for each to `to`; ends the process
 * after a fault that ends the device. */
_Noreturn void check_worker(const check_list *list, size_t first, const element_list *options,
                            int to);

/* Records over a pipe. */
bool record_write(int to, size_t index, const check_result *result);
bool record_read(int from, size_t *index, check_result *result); /* false: no more */

void report_begin(const check_list *list);
void report_case(const check_list *list, size_t index);
void report_end(const check_list *list);
void document_cases(const check_list *list);

#endif
