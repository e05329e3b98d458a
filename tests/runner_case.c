/* A program of tests whose ends are chosen by the command line, one letter each: p passes, f fails, s is skipped; S fails
 * the group's set-up, T its tear-down.  runner.py looks at what the runner makes of them.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

static const char *ends;

static void passes(void **state)
{
    (void)state;
}

static void fails(void **state)
{
    (void)state;
    assert_true(0);
}

static void is_skipped(void **state)
{
    (void)state;
    skip_because("letter %c", 's');
}

static int set_up(void **state)
{
    (void)state;
    return strchr(ends, 'S') ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return strchr(ends, 'T') ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[128];
    size_t count = 0;
    ends = argc > 1 ? argv[1] : "";
    for (const char *end = ends; *end && count < 128; end++) {
        struct CMUnitTest test = { .name = "case" };
        test.test_func = *end == 'p' ? passes : *end == 'f' ? fails : is_skipped;
        if (strchr("pfs", *end)) tests[count++] = test;
    }
    return gpul__run_tests("case", tests, count, set_up, tear_down);
}
