/* Host code in a CUDA file: finding it, and setting it aside so that the kernels compile.  What no kernel
 * can reach is blanked, byte for byte, so that every line number stays.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SOURCE_HOST_H
#define GPUL_CORE_SOURCE_HOST_H

#include "core/source_scan.h"

typedef struct gpul__host_code {
    bool found;       /* something that NVRTC would refuse */
    const char *name; /* the most telling piece: "main", else the first one */
    size_t offset;    /* of that name */
    size_t name_length;
    const char **functions; /* names of what was set aside, in order; in the arena */
    size_t function_count;
    const char *
        *taken; /* functions and variables without annotation that kernels need: device code */
    size_t taken_count;
    const char **headers; /* names of includes that were set aside */
    size_t header_count;
    char *text; /* the source without them; owned; NULL when nothing was set aside */
} gpul__host_code;

/* Looks for host code.  `own` are headers that the caller gives, which are never host headers;
 * `default_device`: the caller asked for functions without annotation to be device functions.
 * False: out of memory. */
bool gpul__host_find(gpul__host_code *out, gpul__arena *arena, const gpul__source *source,
                     const gpul__scan *scan, const gpul_header *own, bool default_device);

/* Makes `text`: the source without what no kernel reaches.  `expressions` are roots beside the kernels.
 * False: out of memory. */
bool gpul__host_set_aside(gpul__host_code *host, gpul__arena *arena, const gpul__source *source,
                          const gpul__scan *scan, const char *const *expressions,
                          const gpul_header *own);
void gpul__host_free(gpul__host_code *host);

/* Whether a header belongs to the host's C or C++ library or to an API that is used by host code only:
 * it does not exist on the device. */
bool gpul__is_host_header(const char *name, size_t length);

#endif
