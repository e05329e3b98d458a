/* Assertions that show the error record, for suites of the public API.  Include it after cmocka.h.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_ERROR_RECORD_H
#define TESTS_ERROR_RECORD_H

#include <stdbool.h>
#include <string.h>

#include <gpulaunch/gpulaunch.h>

static inline void show_error(const char *call)
{
    const gpul_error *e = gpul_last_error();
    fail_msg("%s: GL%04d %s (%s %d): %s\n%s", call, e->code, gpul_layer_text(e->layer),
             e->native_name ? e->native_name : "-", e->native, e->message, e->log);
}
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != GPUL_OK) show_error(#call);                                                  \
    } while (0)

/* Whether the record says this: in the sentence, the hint, the log or a detail. */
static inline bool said(const char *words)
{
    const gpul_error *e = gpul_last_error();
    if (strstr(e->message, words) || (e->hint && strstr(e->hint, words)) || strstr(e->log, words))
        return true;
    for (size_t i = 0; i < e->detail_count; i++)
        if (strstr(e->details[i].text, words)) return true;
    return false;
}

static inline void check_said(const char *call, const char *const *words)
{
    const gpul_error *e = gpul_last_error();
    for (; *words; words++)
        if (!said(*words))
            fail_msg("%s: \"%s\" is not said in: %s (%s)", call, *words, e->message,
                     e->hint ? e->hint : "no hint");
}

/* The call fails with this code, its status is the record's and the code's, and the record has all
 * these words. */
#define assert_code(call, expected, ...)                                                           \
    do {                                                                                           \
        gpul_status status_ = (call);                                                              \
        const gpul_error *e_ = gpul_last_error();                                                  \
        if (status_ == GPUL_OK) fail_msg("%s succeeded", #call);                                   \
        assert_int_equal(status_, e_->status);                                                     \
        if (e_->code != (expected))                                                                \
            fail_msg("%s: GL%04d instead of GL%04d: %s", #call, e_->code, (expected),              \
                     e_->message);                                                                 \
        assert_int_equal(e_->layer, gpul_code_find(expected)->layer);                              \
        check_said(#call, (const char *const[]){ __VA_ARGS__, NULL });                             \
    } while (0)

#endif
