/* What is known of an image's kernels and variables, put together from all that there is: the source, the
 * compiler's answers to probes, mangled names, PTX and CUBIN.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SIGNATURE_H
#define GPUL_CORE_SIGNATURE_H

#include "core/compile_probe.h"
#include "core/cubin.h"
#include "core/image.h"
#include "core/signature_name.h"
#include "core/signature_types.h"
#include "core/source_files.h"
#include "ptx/signature.h"

/* Everything may be NULL but that PTX or CUBIN must be there. */
typedef struct gpul__signature_input {
    const gpul__files *files;
    const gpul__tokens *tokens;
    const gpul__scan *scan;
    const gpul__probe *probe;
    const ptx_signature *ptx;
    const gpul__cubin *cubin;
    char *const *lowered; /* symbols of the probe's expressions */
    size_t lowered_count;
} gpul__signature_input;

/* Fills the image's kernels and globals.  False: out of memory. */
bool gpul__signature_build(gpul_image *image, const gpul__signature_input *input);

/* The structs that the probe asked about, with their members, in image->arena. */
bool gpul__signature_structs(gpul__type_book *book, const gpul__probe *probe);

/* Sizes, alignments and offsets of PTX and CUBIN parameters, and their types as far as these tell. */
bool gpul__signature_variables(gpul_image *image, const gpul__signature_input *input,
                               const gpul__type_book *book);

#endif
