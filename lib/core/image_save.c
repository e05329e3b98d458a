/* Writing one form of an image to a file.  SPDX-License-Identifier: MIT */
#include "core/image.h"

#include "base/error.h"
#include "base/file.h"

#include <string.h>

static const char *name_of(gpul_format format)
{
    return format == GPUL_IMAGE_PTX ? "PTX" : format == GPUL_IMAGE_CUBIN ? "CUBIN" : "fatbin";
}

static gpul_format by_ending(const char *path)
{
    if (gpul__ends(path, ".ptx")) return GPUL_IMAGE_PTX;
    if (gpul__ends(path, ".cubin")) return GPUL_IMAGE_CUBIN;
    if (gpul__ends(path, ".fatbin")) return GPUL_IMAGE_FATBIN;
    return GPUL_IMAGE_AUTO;
}

gpul_status gpul_image_save(const gpul_image *image, const char *path, gpul_format format)
{
    if (!image) return gpul__fail(GPUL__ARGS_NULL, (0), "image is NULL");
    if (!path) return gpul__fail(GPUL__ARGS_NULL, (0), "path is NULL");
    if (format < GPUL_IMAGE_AUTO || format > GPUL_IMAGE_FATBIN)
        return gpul__fail(GPUL__ARGS_INVALID, (0), "%d is no format of images", (int)format);
    if (format == GPUL_IMAGE_AUTO) format = by_ending(path);
    if (format == GPUL_IMAGE_AUTO)
        format = image->cubin ? GPUL_IMAGE_CUBIN : image->ptx ? GPUL_IMAGE_PTX : GPUL_IMAGE_FATBIN;
    const void *data = format == GPUL_IMAGE_PTX     ? image->info.ptx
                       : format == GPUL_IMAGE_CUBIN ? image->info.cubin
                                                    : image->info.fatbin;
    size_t size = format == GPUL_IMAGE_PTX     ? image->info.ptx_size
                  : format == GPUL_IMAGE_CUBIN ? image->info.cubin_size
                                               : image->info.fatbin_size;
    if (data) return gpul__file_write(path, data, size);
    gpul__fail(GPUL__IMAGE_FORM, (0), "%s cannot be written as %s: it has %s%s%s only",
               image->info.name, name_of(format), image->ptx ? "PTX" : "",
               image->ptx && image->cubin ? " and " : "",
               image->cubin    ? "CUBIN"
               : image->fatbin ? "a fatbin"
                               : "");
    if (format == GPUL_IMAGE_CUBIN && image->info.nvrtc_major)
        return gpul__hint("compile for a real architecture (sm_%d): compute_ gives PTX only",
                          image->arch.number ? image->arch.number : 90);
    return gpul__hint("save it as %s", name_of(image->ptx     ? GPUL_IMAGE_PTX
                                               : image->cubin ? GPUL_IMAGE_CUBIN
                                                              : GPUL_IMAGE_FATBIN));
}
