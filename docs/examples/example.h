/* What the examples share: a check with file and line, and where the kernels lie.
 * SPDX-License-Identifier: MIT */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KERNELS
#define KERNELS "ptx/kernels/"
#endif

/* Ends the program with the whole story when a call fails. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != GPUL_OK) example_fail(__FILE__, __LINE__);                                   \
    } while (0)

static inline void example_fail(const char *file, int line)
{
    const gpul_error *e = gpul_last_error();
    fprintf(stderr, "%s:%d: GL%04d %s: %s\n", file, line, e->code, gpul_layer_text(e->layer),
            e->message);
    for (size_t i = 0; i < e->detail_count; i++)
        fprintf(stderr, "  %s:%u: %s\n", e->details[i].file ? e->details[i].file : "-",
                e->details[i].line, e->details[i].text);
    if (e->hint) fprintf(stderr, "  hint: %s\n", e->hint);
    exit(1);
}

/* What is not here is said, and the test counts as skipped. */
static inline void example_skip(const char *why)
{
    printf("SKIP: %s\n", why);
    exit(77);
}

/* A module of a source text.  There is none without a compiler, without the toolkit's headers, and on a
 * device that cannot run it. */
static inline gpul_module *example_module(gpul_device *device, const char *source)
{
    gpul_image *image;
    gpul_module *module;
    gpul_status status =
        gpul_compile(&image, source, GPUL_TEXT, gpul_compile_opts(.device = device));
    if (status == GPUL_E_COMPILER || gpul_last_error()->code == 506)
        example_skip(gpul_last_error()->message);
    CHECK(status);
    status = gpul_load(&module, device, image, NULL);
    if (status == GPUL_E_UNSUPPORTED) example_skip(gpul_last_error()->message);
    CHECK(status);
    gpul_image_free(&image);
    return module;
}

static inline bool example_on_gpu(gpul_device *device)
{
    return gpul_device_describe(device)->backend == GPUL_BACKEND_CUDA;
}

#endif
