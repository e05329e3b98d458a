/* The process-long arena, large data, growing lists and texts.  SPDX-License-Identifier: MIT */
#include "mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "codes.h"

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
} chunk;

static chunk *chunks;

static _Noreturn void exhausted(size_t size)
{
    fprintf(stderr, "gpulaunch: error[GL0812]: memory: out of host memory (%zu bytes wanted)\n",
            size);
    exit(exit_status_of(CODE_MEMORY_HOST));
}

void *mem_alloc(size_t size)
{
    if (size > SIZE_MAX / 2) exhausted(size);
    size = (size + 15) / 16 * 16;
    if (!chunks || chunks->size - chunks->used < size) {
        size_t wanted = size > 32768 ? size : 65536;
        chunk *fresh = calloc(1, sizeof *fresh + wanted);
        if (!fresh) exhausted(size);
        fresh->size = wanted;
        if (chunks && size > 32768) { /* a big piece does not end the small pieces' chunk */
            fresh->used = size;
            fresh->next = chunks->next;
            chunks->next = fresh;
            return fresh->bytes;
        }
        fresh->next = chunks;
        chunks = fresh;
    }
    void *piece = chunks->bytes + chunks->used;
    chunks->used += size;
    return piece;
}

void *mem_array(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 2 / size) exhausted(SIZE_MAX);
    return mem_alloc(count * size);
}

void mem_release(void)
{
    while (chunks) {
        chunk *next = chunks->next;
        free(chunks);
        chunks = next;
    }
}

char *mem_copy(const char *source, size_t length)
{
    char *copy = mem_alloc(length + 1);
    if (length) memcpy(copy, source, length);
    return copy;
}

char *mem_dup(const char *source)
{
    return mem_copy(source, strlen(source));
}

char *mem_vformat(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *made = mem_alloc((size_t)(length < 0 ? 0 : length) + 1);
    if (length >= 0) vsnprintf(made, (size_t)length + 1, format, again);
    va_end(again);
    return made;
}

char *mem_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *made = mem_vformat(format, args);
    va_end(args);
    return made;
}

void *data_alloc(size_t size)
{
    void *data = calloc(1, size ? size : 1);
    if (!data) exhausted(size);
    return data;
}

void data_free(void *data)
{
    free(data);
}

void mem_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) return;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    while (wanted <= count) wanted *= 2;
    void *old;
    memcpy(&old, items, sizeof old);
    void *fresh = mem_array(wanted, size);
    if (count) memcpy(fresh, old, count * size);
    memcpy(items, &fresh, sizeof fresh);
    *capacity = wanted;
}

void text_addn(text *t, const char *more, size_t length)
{
    if (t->length + length + 1 > t->capacity) {
        size_t wanted = t->capacity ? t->capacity : 64;
        while (wanted < t->length + length + 1) wanted *= 2;
        char *fresh = mem_alloc(wanted);
        if (t->length) memcpy(fresh, t->data, t->length);
        t->data = fresh;
        t->capacity = wanted;
    }
    if (length) memcpy(t->data + t->length, more, length);
    t->length += length;
    t->data[t->length] = 0;
}

void text_add(text *t, const char *more)
{
    text_addn(t, more, strlen(more));
}

void text_char(text *t, char c)
{
    text_addn(t, &c, 1);
}

void text_repeat(text *t, char c, size_t count)
{
    while (count--) text_char(t, c);
}

void text_format(text *t, const char *format, ...)
{
    char piece[128]; /* enough for a number, so that printing many takes no memory */
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (length < 0) return;
    if ((size_t)length < sizeof piece) {
        text_addn(t, piece, (size_t)length);
        return;
    }
    va_start(args, format);
    text_add(t, mem_vformat(format, args));
    va_end(args);
}

const char *text_of(const text *t)
{
    return t->data ? t->data : "";
}

size_t utf8_step(const char *source, size_t bytes)
{
    if (!bytes) return 0;
    unsigned char c = (unsigned char)source[0];
    size_t wanted = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
    if (c >= 0xf5 || wanted > bytes) return 1;
    for (size_t i = 1; i < wanted; i++)
        if (((unsigned char)source[i] & 0xc0) != 0x80) return 1;
    return wanted;
}

size_t utf8_length(const char *source, size_t bytes)
{
    size_t count = 0;
    for (size_t at = 0; at < bytes; count++) at += utf8_step(source + at, bytes - at);
    return count;
}

bool starts_with(const char *source, const char *prefix)
{
    return strncmp(source, prefix, strlen(prefix)) == 0;
}

bool ends_with(const char *source, const char *suffix)
{
    size_t length = strlen(source), tail = strlen(suffix);
    return length >= tail && same_text(source + length - tail, suffix);
}
