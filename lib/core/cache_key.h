/* What a cache entry depends on: everything is hashed, by name and content, into one key.  Headers are
 * found by a scan that gives up rather than miss one.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_CACHE_KEY_H
#define GPUL_CORE_CACHE_KEY_H

#include <gpulaunch/gpulaunch.h>

#include "core/cache.h"

#include "base/str.h"

/* A key in the making; 128 bits by two independent 64-bit hashes.  All zero is not valid: begin it. */
typedef struct gpul__key {
    uint64_t a, b;
    gpul__str *record;   /* a line for each part, for cache_miss.h; NULL: none is kept */
    const char *unknown; /* why gpul__key_headers gave up; a literal */
} gpul__key;

/* Labels that begin with a dot are left out of the record, as they follow from other parts. */
void gpul__key_begin(gpul__key *key, const char *purpose, gpul__str *record);
void gpul__key_bytes(gpul__key *key, const char *label, const void *data, size_t size);
void gpul__key_text(gpul__key *key, const char *label,
                    const char *text); /* NULL is its own value */
void gpul__key_number(gpul__key *key, const char *label, uint64_t number);
void gpul__key_list(gpul__key *key, const char *label,
                    const char *const *list); /* NULL-terminated */
void gpul__key_end(const gpul__key *key, char out[GPUL__CACHE_KEY + 1]);

/* Adds every header that `source` may read, directly or through another, to the key.  False, with key->unknown, when that
 * cannot be known: an include that is spelt by a macro, __has_include, or a header that is neither in
 * `own` nor found in `folders` (the compiler may have it built in).  `own` are headers given as text
 * (ends with a NULL name), found first for both forms of #include. */
bool gpul__key_headers(gpul__key *key, const char *source, size_t size, const char *source_folder,
                       const char *const *folders, const gpul_header *own);

#endif
