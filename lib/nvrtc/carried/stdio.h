/* printf is NVRTC's own; there are no streams on a device.  SPDX-License-Identifier: MIT */
#pragma once
#ifndef NULL
#define NULL 0
#endif
#define EOF    (-1)
#define BUFSIZ 8192
