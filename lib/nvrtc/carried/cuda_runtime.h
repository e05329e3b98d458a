/* What this header declares for device code is NVRTC's own.  SPDX-License-Identifier: MIT */
#pragma once
