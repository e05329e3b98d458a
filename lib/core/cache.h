/* The compile cache's store: a private folder of checked, atomically published entries.  It never fails a
 * compile: what cannot be used is said in the log and done without.  What makes a key is cache_key.h, what
 * an image's entry holds is cache_image.c.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_CACHE_H
#define GPUL_CORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPUL__CACHE_KEY = 32 }; /* hexadecimal digits of a key */

/* The folder, made when it is missing: $GPULAUNCH_CACHE_DIR, else $XDG_CACHE_HOME/gpulaunch, else
 * ~/.cache/gpulaunch.  A file descriptor that the caller closes, or -1 with the reason in the log: a
 * folder that is a link, another user's, or open to others is not used. */
int gpul__cache_open(void);

/* The folder's path, whether it exists or not; freed with gpul__free; NULL when there is none. */
char *gpul__cache_path(void);

/* An entry's bytes, freed with gpul__free; NULL when there is none.  A damaged, truncated or foreign
 * entry is removed with a note. */
void *gpul__cache_read(int folder, const char *key, const char *kind, size_t *size);

/* Publishes an entry; another process sees all of it or nothing.  False, with a note, when the disk is
 * full or read-only. */
bool gpul__cache_write(int folder, const char *key, const char *kind, const void *data,
                       size_t size);

/* Removes the least recently used entries until at most `max_bytes` are left, entries older than
 * `max_age_s` seconds (0: any age may stay), and leftovers of processes that died while writing. */
struct gpul__cache_use {
    uint64_t entries, bytes;
};
void gpul__cache_prune(int folder, uint64_t max_bytes, uint64_t max_age_s,
                       struct gpul__cache_use *removed, struct gpul__cache_use *left);

#endif
