/* A driver that does not start, said in words.  SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_START_H
#define GPUL_DRIVER_START_H

#include "driver/driver.h"

/* Makes the error record for cuInit's answer: GL1002, GL1003, GL1004, GL1005 or GL1010, with what this machine shows
 * below `root` ("" for the machine itself) as details. */
gpul_status gpul__fail_start(const gpul__driver *driver, CUresult result, const char *root);

/* The same for a driver that starts and has no device. */
gpul_status gpul__fail_no_device(const gpul__driver *driver, CUresult result, const char *root);

#endif
