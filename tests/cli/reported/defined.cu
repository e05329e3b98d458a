// Definitions with blanks and quotes, and a header in a folder with a blank and an umlaut.  SPDX-License-Identifier: MIT
#include "answer.h"

extern "C" __global__ void probe(int *out)
{
    const char text[] = NAME;
    out[0] = (int)sizeof NAME;
    out[1] = 3 * SUM;
    out[2] = ANSWER;
    out[3] = text[1];
}
