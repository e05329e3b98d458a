/* Arrays, the memory of textures and surfaces.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_TEXTURE_H
#define GPUL_CORE_TEXTURE_H

#include <gpulaunch/texture.h>

#include "core/device.h"

struct gpul_array {
    gpul__refs refs;
    gpul_device *device;     /* a reference */
    CUarray handle;          /* of a mipmap: its level 0 */
    CUmipmappedArray mipmap; /* NULL: it has one level */
    gpul_array *whole;       /* of a level: a reference to its mipmap; else NULL */
    unsigned channels, levels;
    bool layered;
    char *name;
    size_t width, height, depth; /* elements; height and depth 0 where there is none */
    size_t element;              /* bytes */
    gpul_type type;
    bool surface;
};

/* The driver's format of a channel and its bytes; false: textures have no such type. */
bool gpul__channel_format(CUarray_format *out, size_t *bytes, gpul_type type);

#endif
