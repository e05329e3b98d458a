/* Tests: what the recording provider reads of an image.  SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_RECORD_IMAGE_H
#define GPUL_DRIVER_RECORD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_param {
    size_t offset, size;
};

struct record_kernel {
    char name[256];
    struct record_param *params;
    size_t param_count;
    size_t param_bytes;   /* without tail padding */
    unsigned max_threads; /* of .maxntid or .reqntid; 0: not said */
    unsigned cluster[3];  /* of .reqnctapercluster; 0: not said */
    size_t shared;        /* static */
};

struct record_variable {
    char name[256];
    size_t size;
    unsigned char *data; /* its initial value */
};

struct record_image {
    bool ptx, cubin;
    int version; /* PTX ISA: 90 is 9.0 */
    int target;  /* 90 is sm_90 */
    struct record_kernel *kernels;
    size_t kernel_count;
    struct record_variable *variables;
    size_t variable_count;
};

/* Reads PTX text or a CUBIN; false when it is neither or memory ran out.  Freed with gpul__record_image_free. */
bool gpul__record_image_read(struct record_image *image, const void *bytes);
void gpul__record_image_free(struct record_image *image);

#endif
