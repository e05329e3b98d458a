/* The runner around cmocka.  By itself cmocka exits 0 when every test was skipped and with the number of failures
 * otherwise, which Meson takes for a skip when it is 77.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdio.h>

static int skipped;
static CMFixtureFunction group_setup, group_teardown;
static int setup_failed, teardown_failed;

void gpul__skip(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("SKIP: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    skipped++;
    _skip(file, line);
}

static int run_setup(void **state)
{
    setup_failed = group_setup(state) != 0;
    return setup_failed ? -1 : 0;
}

static int run_teardown(void **state)
{
    teardown_failed = group_teardown(state) != 0;
    return teardown_failed ? -1 : 0;
}

int gpul__run_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                    CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
    setbuf(stdout, NULL);
    int failed = _cmocka_run_group_tests(name, tests, count, setup ? run_setup : NULL,
                                         teardown ? run_teardown : NULL);
    if (setup_failed) failed = (int)count;
    if (failed == 0 && teardown_failed) failed = 1;
    if (failed < 0 || count == 0) failed = 1;
    int passed = (int)count - failed - skipped;
    if (passed < 0) passed = 0;
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    if (failed) return 1;
    return passed == 0 ? 77 : 0;
}
