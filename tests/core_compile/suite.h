/* What the tests of compiling share: texts compiled with the real NVRTC, and assertions that show the
 * error record.  SPDX-License-Identifier: MIT */
#ifndef CORE_COMPILE_SUITE_H
#define CORE_COMPILE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "nvrtc/nvrtc.h"
#include "runner.h"

#define AT(architecture, ...)                                                                      \
    (&(gpul_compile_opts){ .arch = architecture, .no_cache = true, __VA_ARGS__ })
#define OPTS(...) AT("sm_90", __VA_ARGS__)
#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Skips where there is no compiler to test with. */
static inline void need_nvrtc(void)
{
    const gpul__nvrtc *nvrtc;
    if (gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ .arch = 90 }) == GPUL_OK) return;
    skip_because("no NVRTC: %s", gpul_last_error()->message);
}

static inline void show_error(void)
{
    const gpul_error *e = gpul_last_error();
    fprintf(stderr, "GL%04d %s\nhint: %s\n", e->code, e->message, e->hint ? e->hint : "");
    for (size_t i = 0; i < e->detail_count; i++)
        fprintf(stderr, "  %s:%u:%u: %s\n", e->details[i].file ? e->details[i].file : "",
                e->details[i].line, e->details[i].column, e->details[i].text);
}

static inline gpul_image *compiled(gpul_status status, gpul_image *image)
{
    if (status != GPUL_OK) show_error();
    assert_int_equal(status, GPUL_OK);
    assert_non_null(image);
    return image;
}

static inline gpul_image *compile_text(const char *text, const gpul_compile_opts *opts)
{
    gpul_image *image;
    gpul_status status = gpul_compile(&image, text, GPUL_TEXT, opts);
    return compiled(status, image);
}

static inline gpul_image *compile_case(const char *name, const gpul_compile_opts *opts)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("GPULAUNCH_TEST_CASES"), name);
    gpul_image *image;
    gpul_status status = gpul_compile_file(&image, path, opts);
    return compiled(status, image);
}

#define assert_text_has(text, part)                                                                \
    do {                                                                                           \
        const char *whole_ = (text), *part_ = (part);                                              \
        if (!whole_ || !strstr(whole_, part_)) {                                                   \
            fprintf(stderr, "'%s' is not in: %s\n", part_, whole_ ? whole_ : "(null)");            \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* A call that must fail with this code, and with this in its sentence. */
static inline const gpul_error *refused(gpul_status status, gpul_image *image, int code,
                                        const char *message)
{
    const gpul_error *e = gpul_last_error();
    if (status == GPUL_OK || e->code != code) show_error();
    assert_int_not_equal(status, GPUL_OK);
    assert_null(image);
    assert_int_equal(e->status, status);
    assert_int_equal(e->code, code);
    assert_text_has(e->message, message);
    return e;
}

static inline const gpul_error *refuse_text(const char *text, const gpul_compile_opts *opts,
                                            int code, const char *message)
{
    gpul_image *image;
    gpul_status status = gpul_compile(&image, text, GPUL_TEXT, opts);
    return refused(status, image, code, message);
}

static inline const gpul_error *refuse_case(const char *name, const gpul_compile_opts *opts,
                                            int code, const char *message)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("GPULAUNCH_TEST_CASES"), name);
    gpul_image *image;
    gpul_status status = gpul_compile_file(&image, path, opts);
    return refused(status, image, code, message);
}

static inline bool has_detail(const gpul_error *e, const char *part)
{
    for (size_t i = 0; i < e->detail_count; i++)
        if (strstr(e->details[i].text, part)) return true;
    return false;
}

static inline const gpul_kernel_info *kernel(const gpul_image *image, const char *name)
{
    for (size_t i = 0; i < gpul_image_kernel_count(image); i++)
        if (strcmp(gpul_image_kernel(image, i)->name, name) == 0)
            return gpul_image_kernel(image, i);
    fprintf(stderr, "no kernel '%s' among:\n", name);
    for (size_t i = 0; i < gpul_image_kernel_count(image); i++)
        fprintf(stderr, "  %s\n", gpul_image_kernel(image, i)->name);
    fail();
    return NULL;
}

static inline void assert_param(const gpul_kernel_info *info, uint32_t index, const char *name,
                                const char *type_name, gpul_type type, uint32_t size,
                                uint32_t offset)
{
    assert_true(index < info->param_count);
    const gpul_member *value = &info->params[index].value;
    assert_string_equal(value->name, name);
    assert_string_equal(value->type_name, type_name);
    assert_string_equal(gpul_type_name(value->type), gpul_type_name(type));
    assert_int_equal(value->size, size);
    assert_int_equal(value->offset, offset);
}

static inline void assert_member(const gpul_member *value, uint32_t index, const char *name,
                                 gpul_type type, uint32_t size, uint32_t offset, uint32_t count)
{
    assert_true(index < value->member_count);
    const gpul_member *member = &value->members[index];
    assert_string_equal(member->name, name);
    assert_string_equal(gpul_type_name(member->type), gpul_type_name(type));
    assert_int_equal(member->size, size);
    assert_int_equal(member->offset, offset);
    assert_int_equal(member->count, count);
}

#endif
