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

#include "error_record.h"
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
