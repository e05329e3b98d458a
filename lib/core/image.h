/* An image inside the library: its forms, what is known of its kernels, and which form a device gets.
 * Making one from source is compile.c, reading foreign bytes image_read.c.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_IMAGE_H
#define GPUL_CORE_IMAGE_H

#include <gpulaunch/gpulaunch.h>

#include "base/alloc.h"
#include "base/str.h"
#include "core/refcount.h"

/* "sm_90a": number 90, suffix 'a'; number 0 is unknown. */
typedef struct gpul__arch {
    int number;
    char suffix;     /* 'a', 'f' or 0 */
    bool is_virtual; /* compute_90: PTX only */
} gpul__arch;

/* False when the text is no architecture.  gpul__arch_text writes at most 24 bytes. */
bool gpul__arch_parse(gpul__arch *out, const char *text);
const char *gpul__arch_text(char out[24], gpul__arch arch);

/* Machine code for `arch` runs on a device of this compute capability: the same major number and no
 * newer minor one; with a suffix 'a' exactly the same, with 'f' the same family. */
bool gpul__arch_runs(gpul__arch arch, int compute_major, int compute_minor);

/* One member of a fatbin. */
typedef struct gpul__fat_entry {
    gpul_format format; /* PTX or CUBIN; AUTO for kinds that are neither */
    gpul__arch arch;
    bool compressed;
    const void *data; /* in the fatbin, as it is there */
    size_t size;
    int kind; /* as the fatbin has it */
} gpul__fat_entry;

struct gpul_image {
    gpul__refs refs;
    gpul__arena arena; /* everything below that is not said to be on its own */
    gpul_image_info info;
    char *ptx; /* own allocations, freed with the image; info points at them */
    void *cubin, *fatbin, *ltoir;
    void *linked; /* what the CPU device's linker made */
    size_t linked_size;
    gpul_image **
        parts; /* references: what it was linked or bundled of, whose descriptions of kernels it uses */
    size_t part_count;
    gpul__arch arch;       /* of the CUBIN, else of the PTX's .target */
    gpul__arch ptx_target; /* of the PTX's .target; number 0 when there is no PTX */
    gpul_kernel_info *kernels;
    size_t kernel_count;
    gpul_global_info *globals;
    size_t global_count;
    gpul_detail *diagnostics;
    size_t diagnostic_count;
    gpul__fat_entry *entries; /* of a fatbin */
    size_t entry_count;
};

/* An empty image with one reference; NULL when memory ran out. */
gpul_image *gpul__image_new(void);
void gpul__image_take(gpul_image *image);

/* Gives the kernels the types that its parts know of them. */
void gpul__image_describe_by_parts(gpul_image *image);

/* The form of an image that a device gets. */
typedef struct gpul__image_form {
    gpul_format format;
    const void *data;   /* PTX ends in NUL */
    size_t size;        /* PTX: without the NUL */
    const char *choice; /* one sentence; lives in the arena that was given */
} gpul__image_form;

/* Chooses (architecture.md, decision 7): the CUBIN when it runs on the device and the JIT is not asked
 * for, the PTX otherwise; the CPU device takes PTX only.  Refuses with both sides named: GL0603 (another
 * architecture), GL0602 (PTX newer than the driver), GL0606 (no PTX where PTX is needed). */
gpul_status gpul__image_choose(gpul__image_form *out, const gpul_image *image,
                               const gpul_device_info *device, bool wants_jit, gpul__arena *arena);

/* How a name that a user writes relates to a kernel or variable of an image. */
typedef enum gpul__match {
    GPUL__MATCH_NONE = 0,
    GPUL__MATCH_PLAIN, /* the last part of its name, or the name without its template arguments */
    GPUL__MATCH_NAME,  /* its whole name, blanks aside; also with a parameter list */
    GPUL__MATCH_SYMBOL /* the symbol itself */
} gpul__match;
gpul__match gpul__kernel_match(const gpul_kernel_info *kernel, const char *name);
gpul__match gpul__global_match(const gpul_global_info *global, const char *name);

/* The newest PTX ISA that a driver of CUDA `version` (13000) reads, as major * 10 + minor; 0: unknown. */
int gpul__ptx_of_driver(int version);

#endif
