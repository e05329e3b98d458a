/* The version of the library that runs.  SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>

const char *gpul_version(void)
{
    return GPUL_VERSION;
}
