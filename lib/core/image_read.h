/* What reading images and compiling share.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_IMAGE_READ_H
#define GPUL_CORE_IMAGE_READ_H

#include "core/image.h"
#include "ptx/signature.h"

/* Version and target of the PTX; NULL is nothing. */
void gpul__image_set_ptx_facts(gpul_image *image, const ptx_signature *ptx);

#endif
