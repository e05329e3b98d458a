/* Compiled images found again: what a compile depends on as a key, and the cache asked and filled.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_COMPILE_CACHE_H
#define GPUL_CORE_COMPILE_CACHE_H

#include "core/cache_miss.h"
#include "core/compile.h"

/* False when the compile cannot be found again, and *unknown says why: the caller wants no cache, or not every header that the
 * compiler may read is known.  The parts are freed by the caller in either case. */
bool gpul__compile_key(const gpul__compile *compile, gpul__recipe *out, const char **unknown);

/* Threads of this process that want one key compile once: the first goes on, the others wait here until it has ended, and then find
 * its image.  Each begin is followed by an end on the same thread; the turn lives in between. */
typedef struct gpul__compile_turn {
    const char *key;
    int process; /* a child of a fork does not wait for threads that it does not have */
    struct gpul__compile_turn *next;
} gpul__compile_turn;
void gpul__compile_begin(gpul__compile_turn *turn, const char *key);
void gpul__compile_end(gpul__compile_turn *turn);

/* The image of an earlier compile; NULL when there is none. */
gpul_image *gpul__compile_find(const char *key);

/* Why it was not there, one sentence; freed with gpul__free, NULL when memory ran out.  `unknown`: there is no key, for that reason. */
char *gpul__compile_miss(const gpul__recipe *recipe, const char *unknown);

/* Keeps an image for later, unless what it is made of changed meanwhile; what fails is only said in the log. */
void gpul__compile_keep(const gpul__compile *compile, const gpul__recipe *recipe,
                        const gpul_image *image);

#endif
