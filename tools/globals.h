/* __device__ and __constant__ variables: --set-global and --get-global.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_GLOBALS_H
#define TOOLS_GLOBALS_H

#include "execute.h"

bool globals_bind(execution *x);                     /* reads and writes what is set */
bool globals_get(const execution *x, const step *s); /* after the step */

#endif
