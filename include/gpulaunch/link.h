/* Linking: one image out of several, of PTX, CUBINs, fatbins, relocatable device code, host objects and
 * archives with device code, and LTO-IR.  SPDX-License-Identifier: MIT
 *
 * Code that is to be linked is compiled with the flag "-rdc=true" (relocatable: PTX and CUBIN) or "-dlto"
 * (LTO-IR, which is optimised as a whole when it is linked). */
#ifndef GPULAUNCH_LINK_H
#define GPULAUNCH_LINK_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gpul_linker {
    GPUL_LINKER_AUTO =
        0,              /* nvJitLink when there is LTO-IR or no device, else the driver's linker */
    GPUL_LINKER_DRIVER, /* cuLink; the CPU device has one too, for PTX */
    GPUL_LINKER_NVJITLINK /* the toolkit's library, from CUDA 12.3 on */
} gpul_linker;

/* Exactly one of image, data and path is set.  What it is, is told by content. */
typedef struct gpul_link_input {
    gpul_image *image; /* types of its kernels are known in the linked image too */
    const void *data;
    size_t size;
    const char *path;
    const char *name; /* in messages; NULL: the image's name, the path, or "input 1" */
} gpul_link_input;

typedef struct gpul_link_opts {
    gpul_linker linker;
    const char *name;          /* of the linked image, in messages; NULL: "linked" */
    const char *arch;          /* without a device: "sm_90" */
    const char *nvjitlink;     /* path of libnvJitLink; NULL: $GPULAUNCH_NVJITLINK, else searched */
    const char *const *flags;  /* to nvJitLink as they are, one each; ends with NULL */
    const gpul_load_opts *jit; /* level, max_registers, line_info, debug and verbose count */
} gpul_link_opts;
#define gpul_link_opts(...) GPUL_OPTIONS(gpul_link_opts, __VA_ARGS__)

/* Links `count` inputs for a device; `device` may be NULL when the options name an architecture.  The
 * linker's log is the image's log.  Fails with E_IMAGE and the linker's complaints as details, with
 * E_COMPILER when nvJitLink is needed and none is found. */
GPUL_API gpul_status gpul_link(gpul_image **out, gpul_device *device, const gpul_link_input *inputs,
                               size_t count, const gpul_link_opts *opts);

/* ---- Fatbins ------------------------------------------------------------------------------- */

/* Forms of one module for several architectures in one image, of which the driver takes the one that fits:
 * machine code for the device, else PTX.  gpul_image_save writes it as nvcc's fatbinary does, without
 * compression.  A CUBIN read from a file does not tell sm_90a from sm_90 and counts as sm_90.  The record that
 * fatbinary adds for sm_100 and later is not written. */
typedef struct gpul_fat_part {
    gpul_image *image;
    gpul_format
        format; /* PTX, CUBIN or, of an image that is one, FATBIN; AUTO: every form it has */
} gpul_fat_part;

/* What is known of the kernels in the parts is known of those in the fatbin.  Two CUBINs, or two PTX, of one architecture
 * are refused.  `name` is for messages; NULL: "fatbin". */
GPUL_API gpul_status gpul_fatbin(gpul_image **out, const gpul_fat_part *parts, size_t count,
                                 const char *name);

/* Compiles a text once for each of `archs`, which ends with NULL: "sm_80" gives machine code, "compute_90" gives
 * PTX; the options name neither .arch nor .device.  Log, diagnostics and facts of the compiler are those of the
 * first architecture. */
GPUL_API gpul_status gpul_compile_fatbin(gpul_image **out, const char *source, size_t length,
                                         const char *const *archs, const gpul_compile_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
