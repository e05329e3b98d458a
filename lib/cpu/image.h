/* What bytes handed to the loader are.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_IMAGE_H
#define GPUL_CPU_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/cuda_abi.h"

/* PTX texts found in an image; they point into it. */
typedef struct cpu_text {
    const char *text;
    size_t length;
} cpu_text;

enum { CPU_MAX_TEXTS = 256 };

typedef struct cpu_image {
    size_t count;
    cpu_text *texts;  /* allocated */
    char reason[256]; /* of a refusal: one sentence, or "" */
} cpu_image;

/* Tells PTX text, a fat binary, a linked image and machine code apart.  `capability` chooses among the
 * PTX of a fat binary.  Refusals: INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY. */
CUresult gpul__cpu_image_open(cpu_image *out, const void *bytes, unsigned capability);
void gpul__cpu_image_close(cpu_image *image);

/* The bytes that cuLinkComplete hands out: texts after a header of our own; *size bytes from
 * gpul__malloc.  NULL when memory is exhausted. */
void *gpul__cpu_image_link(const cpu_text *texts, size_t count, size_t *size);

/* The .version of PTX text and its line; false when the text does not begin with one. */
bool gpul__cpu_ptx_version(const char *text, size_t length, unsigned *major, unsigned *minor,
                           unsigned *line);

#endif
