/* Headers for NVRTC, which has none of its own: small ones that the library carries, the include
 * folders of toolkits and wheels, and those that NVRTC 13.3 and later hold inside.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_NVRTC_HEADERS_H
#define GPUL_NVRTC_HEADERS_H

#include "nvrtc/nvrtc.h"

typedef struct gpul__carried_header {
    const char *name; /* as it is included: "stdint.h", "sys/types.h" */
    const char *text;
} gpul__carried_header;

/* Sorted by name. */
extern const gpul__carried_header gpul__carried[];
extern const size_t gpul__carried_count;
const gpul__carried_header *gpul__carried_find(const char *name);

/* Whether a carried header only stands in for one that toolkits have: left out when a folder that was
 * found has the real one.  cuda.h is not among them: the toolkit's own cannot be compiled by NVRTC. */
bool gpul__carried_is_stand_in(const char *name);

/* Include folders in order: that of NVRTC's own toolkit or wheel, CUDA_PATH, CUDA_HOME, wheels, usual
 * toolkits; the first place that has CUDA's headers, with its folder of the C++ core libraries. */
typedef struct gpul__include_folders {
    const char *folders[4];
    size_t count;
} gpul__include_folders;

/* False: out of memory.  The strings live in the arena. */
bool gpul__include_folders_find(gpul__include_folders *out, const gpul__nvrtc *nvrtc,
                                gpul__arena *arena);

/* Installs the headers that NVRTC holds inside (13.3 and later) into the user's cache and adds the two
 * folders.  Leaves `out` alone when there are none or they cannot be installed; *why then says so. */
bool gpul__include_folders_bundled(gpul__include_folders *out, const gpul__nvrtc *nvrtc,
                                   gpul__arena *arena, const char **why);

#endif
