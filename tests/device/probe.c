/* Says why the device of $GPULAUNCH_DEVICE cannot be opened; silent and 0 when it can.
 * SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>
#include <stdio.h>

int main(void)
{
    gpul_device_info info;
    if (gpul_device_query(&info, NULL) == GPUL_OK) return 0;
    printf("%s\n", gpul_last_error()->message);
    return 1;
}
