/* A compiled image as the bytes of a cache entry, and back.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_CACHE_IMAGE_H
#define GPUL_CORE_CACHE_IMAGE_H

#include "core/image.h"

/* Appends the image to `out`; out->failed says that memory ran out. */
void gpul__image_pack(gpul__str *out, const gpul_image *image);

/* The image that was packed, marked as from the cache; NULL when the bytes are no such image or memory
 * ran out. */
gpul_image *gpul__image_unpack(const void *data, size_t size);

#endif
