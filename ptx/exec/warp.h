/* A warp and what it stands on: frames of called functions and splits (groups of lanes that run
 * together).  Handlers use only WARP_HANDLER_PART of it.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_WARP_H
#define PTX_EXEC_WARP_H

#include "ptx/exec/ir.h"

struct warp {
    WARP_HANDLER_PART;
};

#endif
