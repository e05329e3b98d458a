/* Arrays, the memory of textures and surfaces.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_TEXTURE_H
#define GPUL_CORE_TEXTURE_H

#include "core/device.h"

struct gpul_array {
    gpul__refs refs;
    gpul_device *device; /* a reference */
    CUarray handle;
    size_t width, height, depth; /* elements; height and depth 0 where there is none */
    size_t element;              /* bytes */
};

#endif
