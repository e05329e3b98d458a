/* binary16 and bfloat16 by their bits.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_HALF_H
#define TOOLS_HALF_H

#include <stdint.h>

uint16_t half_from_double(double value); /* rounds to nearest, ties to even */
double half_to_double(uint16_t bits);
uint16_t bfloat_from_double(double value);
double bfloat_to_double(uint16_t bits);

#endif
