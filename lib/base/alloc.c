/* Counted allocation and the arena.  SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long countdown; /* 0: no failure planned */
static atomic_long live;

static bool refused(void)
{
    if (atomic_load_explicit(&countdown, memory_order_relaxed) == 0) return false;
    return atomic_fetch_sub(&countdown, 1) == 1;
}

void gpul__alloc_fail_at(long n)
{
    atomic_store(&countdown, n);
}

long gpul__alloc_live(void)
{
    return atomic_load(&live);
}

static void *counted(void *memory)
{
    if (memory) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return memory;
}

void *gpul__malloc(size_t size)
{
    return refused() ? NULL : counted(malloc(size ? size : 1));
}

void *gpul__calloc(size_t count, size_t size)
{
    if ((size && count > SIZE_MAX / size) || refused()) return NULL;
    return counted(calloc(count ? count : 1, size ? size : 1));
}

void *gpul__realloc(void *old, size_t size)
{
    if (refused()) return NULL;
    void *memory = realloc(old, size ? size : 1);
    return old ? memory : counted(memory);
}

void *gpul__aligned(size_t alignment, size_t size)
{
    if (size > SIZE_MAX - alignment || refused()) return NULL;
    return counted(aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment));
}

void gpul__free(void *memory)
{
    if (memory) atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(memory);
}

char *gpul__strndup(const char *text, size_t length)
{
    char *copy = gpul__malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *gpul__strdup(const char *text)
{
    return gpul__strndup(text, strlen(text));
}

bool gpul__grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) return true;
    if (count > PTRDIFF_MAX / size / 4) return false;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    while (wanted <= count) wanted *= 2;
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    grown = gpul__realloc(old, wanted * size);
    if (!grown) return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

struct gpul__arena_chunk {
    struct gpul__arena_chunk *next;
    size_t used, size;
};

enum { CHUNK_HEAD = (sizeof(struct gpul__arena_chunk) + 15) / 16 * 16, CHUNK_SIZE = 4096 };

void *gpul__arena_alloc(gpul__arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + 15) / 16 * 16;
    struct gpul__arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        /* Each chunk doubles the last, so a large arena has few of them. */
        size_t room = chunk ? chunk->size * 2 : CHUNK_SIZE;
        if (room > (size_t)1 << 22) room = (size_t)1 << 22;
        if (room < size) room = size;
        chunk = gpul__calloc(1, CHUNK_HEAD + room);
        if (!chunk) return NULL;
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *piece = (char *)chunk + CHUNK_HEAD + chunk->used;
    chunk->used += size;
    return piece;
}

char *gpul__arena_strndup(gpul__arena *arena, const char *text, size_t length)
{
    char *copy = gpul__arena_alloc(arena, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

char *gpul__arena_vprintf(gpul__arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : gpul__arena_alloc(arena, (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *gpul__arena_printf(gpul__arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = gpul__arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void gpul__arena_free(gpul__arena *arena)
{
    while (arena->chunks) {
        struct gpul__arena_chunk *next = arena->chunks->next;
        gpul__free(arena->chunks);
        arena->chunks = next;
    }
}
