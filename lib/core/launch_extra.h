/* The attributes of a launch that leave its result as it is.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_LAUNCH_EXTRA_H
#define GPUL_CORE_LAUNCH_EXTRA_H

#include "core/kernel.h"
#include "core/launch_mistakes.h"

enum { GPUL__RAW_ATTRIBUTES = 16, GPUL__EXTRA_ATTRIBUTES = 8 + GPUL__RAW_ATTRIBUTES };

/* Adds what is wrong with them, or what the driver is too old for. */
void gpul__launch_extra_check(gpul__mistakes *mistakes, const gpul_device *device,
                              const gpul_launch_extra *extra);

/* Writes them as the driver takes them; at most GPUL__EXTRA_ATTRIBUTES.  They were checked. */
unsigned gpul__extra_attributes(CUlaunchAttribute *out, const gpul_launch_extra *extra);

#endif
