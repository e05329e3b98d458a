/* clock() is NVRTC's own.  SPDX-License-Identifier: MIT */
#pragma once
#ifndef NULL
#define NULL 0
#endif
