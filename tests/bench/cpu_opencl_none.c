/* Where OpenCL is not installed.  SPDX-License-Identifier: MIT */
#include "cpu_opencl.h"

double opencl_time(const char *name, int repeats)
{
    (void)name, (void)repeats;
    return 0;
}

const char *opencl_platform(void)
{
    return "none";
}
