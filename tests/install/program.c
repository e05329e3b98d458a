/* A program of somebody else's that uses the installed library.  SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    printf("%s\n", gpul_version());
    return strcmp(gpul_version(), GPUL_VERSION) != 0;
}
