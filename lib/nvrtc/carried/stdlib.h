/* malloc, free and abs are NVRTC's own.  SPDX-License-Identifier: MIT */
#pragma once
#ifndef NULL
#define NULL 0
#endif
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX     2147483647
#include <sys/types.h>
typedef struct {
    int quot, rem;
} div_t;
static __device__ inline div_t div(int a, int b)
{
    div_t result = { a / b, a % b };
    return result;
}
static __device__ inline void abort()
{
    __trap();
}
