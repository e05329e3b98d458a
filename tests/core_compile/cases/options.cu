// Values and paths with blanks, quotes and letters beyond ASCII (C08).  SPDX-License-Identifier: MIT
#include "beside it.h"
#include "local.h"

extern "C" __global__ void probe(int *out)
{
    const char t[] = TITLE;
    out[0] = (int)sizeof(TITLE);
    out[1] = 2 * SCALE;
    out[2] = FROM_HEADER + BESIDE;
    out[3] = t[0];
}
