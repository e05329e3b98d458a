/* What the device suite shares: one device for a program, kernels from their checked-in PTX, and
 * assertions that show the error record.  Public API only.  SPDX-License-Identifier: MIT */
#ifndef DEVICE_SUITE_H
#define DEVICE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static gpul_device *device;

/* Opens the device once for a group; the CPU device and a GPU alike. */
static inline int open_device(void **state)
{
    (void)state;
    if (gpul_open(&device, NULL) == GPUL_OK) return 0;
    fprintf(stderr, "gpul_open: %s\n", gpul_last_error()->message);
    return -1;
}

static inline int close_device(void **state)
{
    (void)state;
    gpul_device_free(&device);
    return 0;
}

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != GPUL_OK) {                                                                   \
            const gpul_error *e_ = gpul_last_error();                                              \
            fail_msg("%s: GL%04d %s (%s %d): %s\n%s", #call, e_->code, gpul_layer_text(e_->layer), \
                     e_->native_name ? e_->native_name : "-", e_->native, e_->message, e_->log);   \
        }                                                                                          \
    } while (0)

/* The call fails with this code, its status is the record's, and the sentence has this in it. */
#define assert_code(call, code_, words)                                                            \
    do {                                                                                           \
        gpul_status status_ = (call);                                                              \
        const gpul_error *e_ = gpul_last_error();                                                  \
        if (status_ == GPUL_OK) fail_msg("%s succeeded", #call);                                   \
        assert_int_equal(status_, e_->status);                                                     \
        if (e_->code != (code_))                                                                   \
            fail_msg("%s: GL%04d instead of GL%04d: %s", #call, e_->code, (code_), e_->message);   \
        if (!said(words)) fail_msg("%s: \"%s\" is not said in: %s", #call, (words), e_->message);  \
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

static inline gpul_module *load_kernels(const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "ptx/kernels/%s.ptx", file);
    gpul_image *image;
    gpul_module *module;
    assert_ok(gpul_image_from_file(&image, path));
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    return module;
}

static inline const gpul_kernel *kernel_of(gpul_module *module, const char *name)
{
    const gpul_kernel *kernel;
    assert_ok(gpul_module_kernel(&kernel, module, name));
    return kernel;
}

static inline gpul_buffer *buffer_of(size_t size, const void *init)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, size, gpul_alloc_opts(.init = init)));
    return buffer;
}

static inline bool have_nvrtc(void)
{
    gpul_image *image;
    gpul_status status =
        gpul_compile(&image, "extern \"C\" __global__ void k() {}", GPUL_TEXT, NULL);
    gpul_image_free(&image);
    return status != GPUL_E_COMPILER;
}

#endif
