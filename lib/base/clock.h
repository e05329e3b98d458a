/* The time that durations are measured with.  SPDX-License-Identifier: MIT */
#ifndef GPUL_BASE_CLOCK_H
#define GPUL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock that never goes back; never 0. */
static inline uint64_t gpul__now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
