/* The attributes of a launch: those of its geometry, and those that leave its result as it is.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_LAUNCH_EXTRA_H
#define GPUL_CORE_LAUNCH_EXTRA_H

#include "core/geometry.h"
#include "core/launch_mistakes.h"

enum {
    GPUL__RAW_ATTRIBUTES = 16,
    GPUL__EXTRA_ATTRIBUTES = 8 + GPUL__RAW_ATTRIBUTES,
    GPUL__LAUNCH_ATTRIBUTES = 2 + GPUL__EXTRA_ATTRIBUTES
};

/* Adds what is wrong with them, or what the driver is too old for. */
void gpul__launch_extra_check(gpul__mistakes *mistakes, const gpul_device *device,
                              const gpul_launch_extra *extra);

/* Writes all of a launch as the driver takes them; at most GPUL__LAUNCH_ATTRIBUTES.  They were checked;
 * `extra` may be NULL. */
unsigned gpul__launch_attributes(CUlaunchAttribute *out, const gpul__geometry *geometry,
                                 const gpul_launch_extra *extra);

#endif
