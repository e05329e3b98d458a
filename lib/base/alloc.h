/* Memory for the library: every allocation goes through here, so that tests can make the n-th one
 * fail.  Not here: strings (str.h).  SPDX-License-Identifier: MIT */
#ifndef GPUL_BASE_ALLOC_H
#define GPUL_BASE_ALLOC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

void *gpul__malloc(size_t size);
void *gpul__calloc(size_t count, size_t size); /* NULL when count * size overflows */
void *gpul__realloc(void *old, size_t size);
void *gpul__aligned(size_t alignment, size_t size); /* rounds size up; free with gpul__free */
void gpul__free(void *memory);
char *gpul__strdup(const char *text);
char *gpul__strndup(const char *text, size_t length);

/* Grows `*items` (elements of `size` bytes) so that index `count` exists; doubles.  False when
 * memory is exhausted, and then nothing has changed. */
bool gpul__grow(void *items, size_t *capacity, size_t count, size_t size);

/* Tests: the n-th allocation from now fails, once (1 is the next); 0 turns it off.
 * gpul__alloc_live() counts what was given out and not yet freed. */
void gpul__alloc_fail_at(long n);
long gpul__alloc_live(void);

/* An arena: many small pieces that are freed at once.  All zero is empty. */
typedef struct gpul__arena {
    struct gpul__arena_chunk *chunks;
} gpul__arena;

void *gpul__arena_alloc(gpul__arena *arena, size_t size); /* zeroed, 16-byte aligned; NULL: none */
char *gpul__arena_strndup(gpul__arena *arena, const char *text, size_t length);
char *gpul__arena_printf(gpul__arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *gpul__arena_vprintf(gpul__arena *arena, const char *format, va_list args);
void gpul__arena_free(gpul__arena *arena);

#endif
