/* The table of compute capabilities.  Multiprocessor counts are those of one usual product of each
 * capability.  SPDX-License-Identifier: MIT */
#include "cpu/limits.h"

#include <stddef.h>

// clang-format off
static const cpu_limits rows[] = {
    /* cap  MPs  threads blocks shared  block   L2         fp64  clusters params */
    {  75,  40,  1024,   16,     65536,  65536,   4194304,  32,  false,    4096 },
    {  80, 108,  2048,   32,    167936, 166912,  41943040,   2,  false,   32764 },
    {  86,  84,  1536,   16,    102400, 101376,   6291456,  64,  false,   32764 },
    {  87,  16,  1536,   16,    167936, 166912,   4194304,  64,  false,   32764 },
    {  88,  16,  1536,   16,    102400, 101376,   4194304,  64,  false,   32764 },
    {  89, 142,  1536,   24,    102400, 101376, 100663296,  64,  false,   32764 },
    {  90, 132,  2048,   32,    233472, 232448,  62914560,   2,  true,    32764 },
    { 100, 148,  2048,   32,    233472, 232448, 132644864,   2,  true,    32764 },
    { 103, 148,  2048,   32,    233472, 232448, 132644864,  64,  true,    32764 },
    { 110,  20,  1536,   24,    233472, 232448,  33554432,  64,  true,    32764 },
    { 120, 170,  1536,   24,    102400, 101376, 100663296,  64,  true,    32764 },
    { 121,  48,  1536,   24,    102400, 101376,  25165824,  64,  true,    32764 },
};
// clang-format on

const cpu_limits *gpul__cpu_limits_find(int capability)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].capability == capability) return &rows[i];
    return NULL;
}
