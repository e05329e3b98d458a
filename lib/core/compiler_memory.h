/* What is known of compilers without opening them.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_COMPILER_MEMORY_H
#define GPUL_CORE_COMPILER_MEMORY_H

#include "nvrtc/nvrtc.h"

/* Versions and architectures of libraries, kept in the compile cache; an entry's key is the library's path and file, so that a
 * library that was replaced is not found. */
extern const gpul__nvrtc_memory gpul__compiler_memory;

#endif
