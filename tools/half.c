/* Conversions of the two 16-bit float formats, rounded once.  SPDX-License-Identifier: MIT */
#include "half.h"

#include "gen_core.h"

uint16_t half_from_double(double value)
{
    return gen_narrow(value, 10, -14, 15);
}
double half_to_double(uint16_t bits)
{
    return gen_widen(bits, 10, -14, 15);
}
uint16_t bfloat_from_double(double value)
{
    return gen_narrow(value, 7, -126, 127);
}
double bfloat_to_double(uint16_t bits)
{
    return gen_widen(bits, 7, -126, 127);
}
