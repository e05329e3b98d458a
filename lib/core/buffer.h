/* Device memory of known size.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_BUFFER_H
#define GPUL_CORE_BUFFER_H

#include "base/str.h"
#include "core/device.h"

struct gpul_buffer {
    gpul_device *device; /* a reference */
    CUdeviceptr address;
    size_t size;
    gpul_type type; /* of its elements; GPUL_TYPE_UNKNOWN: any */
    gpul__refs refs;
    gpul_buffer *parent; /* a reference; NULL when it owns its memory */
    char *name;
    gpul_buffer *next, **link; /* owners only: in the device's list, under its lock */
};

/* "buffer 'x'", or "a buffer" when it has no name. */
void gpul__buffer_title(gpul__str *out, const gpul_buffer *buffer);

/* GL0804: what was asked for, what is free, what there is, and the largest live buffers.  Needs the
 * device's context current. */
gpul_status gpul__fail_exhausted(gpul_device *device, CUresult result, const char *entry,
                                 uint64_t asked, const char *name);

#endif
