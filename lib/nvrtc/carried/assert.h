/* assert is NVRTC's own.  SPDX-License-Identifier: MIT */
#pragma once
