/* Counter-based random values: element i depends on seed, name and i only, on every machine.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_GEN_H
#define TOOLS_GEN_H

#include <stdint.h>

uint64_t gen_key(uint64_t seed, const char *name);
uint64_t gen_bits(uint64_t key, uint64_t index);
double gen_unit(uint64_t key, uint64_t index);                       /* 0 <= u < 1, 53 bits */
uint64_t gen_below(uint64_t key, uint64_t index, uint64_t limit);    /* 0: all 64 bits */
double gen_normal(uint64_t key, uint64_t index);                     /* mean 0, deviation 1 */
uint64_t gen_permuted(uint64_t key, uint64_t index, uint64_t count); /* of 0 ... count-1 */

#endif
