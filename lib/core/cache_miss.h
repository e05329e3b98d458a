/* Why something was not in the cache: each key's parts are kept by the name of what they are about, and a key that finds nothing is
 * compared with the nearest of them.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_CACHE_MISS_H
#define GPUL_CORE_CACHE_MISS_H

#include "base/str.h"
#include "core/cache.h"

/* One key with its parts, as gpul__key records them. */
typedef struct gpul__recipe {
    const char *subject; /* the file's name, from the current folder */
    char key[GPUL__CACHE_KEY + 1];
    gpul__str parts;
} gpul__recipe;

/* One sentence: what is not as it was when the nearest key of this subject was kept.  out->failed: memory ran out. */
void gpul__miss_explain(gpul__str *out, int folder, const gpul__recipe *recipe);

/* Keeps the parts, beside those of at most seven earlier keys of the subject. */
void gpul__miss_keep(int folder, const gpul__recipe *recipe);

#endif
