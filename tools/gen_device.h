/* Contents that a device makes for itself: iota, rand, and fills of eight bytes.  The same bits as
 * content_read gives, which needs no host memory and no transfer.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_GEN_DEVICE_H
#define TOOLS_GEN_DEVICE_H

#include <gpulaunch/gpulaunch.h>

#include "content.h"

/* The two kernels on a device; compiled when they are first needed.  All zero before. */
typedef struct maker {
    gpul_module *module;
    const gpul_kernel *floats, *integers;
} maker;

bool maker_knows(const content *c); /* can the device make it? */
gpul_status maker_open(maker *m, gpul_device *device);
gpul_status maker_make(const maker *m, gpul_buffer *to,
                       const content *c); /* queued, not waited for */
void maker_free(maker *m);

#endif
