/* What every cmocka program ends in: a runner whose exit status hides neither a failure nor a skip, and whose last line
 * says how many tests passed, failed and were skipped.  Include it after cmocka.h.  SPDX-License-Identifier: MIT */
#ifndef GPUL_TESTS_RUNNER_H
#define GPUL_TESTS_RUNNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Skips the test that calls it and says why; a bare skip() is counted, but says only where. */
#define skip_because(...) gpul__skip(__FILE__, __LINE__, __VA_ARGS__)
#undef skip
#define skip() gpul__skip(__FILE__, __LINE__, "%s:%d", __FILE__, __LINE__)
void gpul__skip(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs the tests; 0 when some passed and none failed, 77 when all were skipped, else 1. */
#define gpul_run_tests(name, tests, setup, teardown)                                               \
    gpul__run_tests(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)
int gpul__run_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                    CMFixtureFunction setup, CMFixtureFunction teardown);

/* GPUL_TEST_MAIN("name of the group", cmocka_unit_test(first), cmocka_unit_test(second)) */
#define GPUL_TEST_MAIN(name, ...)                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = { __VA_ARGS__ };                                         \
        return gpul_run_tests(name, tests, NULL, NULL);                                            \
    }                                                                                              \
    int main(void)

#endif
