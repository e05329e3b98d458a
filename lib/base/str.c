/* The growing string and text helpers.  SPDX-License-Identifier: MIT */
#include "base/str.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool room(gpul__str *str, size_t more)
{
    if (str->failed || more > SIZE_MAX / 2 - str->length) {
        str->failed = true;
        return false;
    }
    size_t wanted = str->length + more + 1;
    if (wanted <= str->capacity) return true;
    size_t capacity = str->capacity ? str->capacity : 64;
    while (capacity < wanted) capacity *= 2;
    char *text = gpul__realloc(str->text, capacity);
    if (!text) {
        str->failed = true;
        return false;
    }
    str->text = text;
    str->capacity = capacity;
    return true;
}

void gpul__str_addn(gpul__str *str, const char *text, size_t length)
{
    if (!room(str, length)) return;
    if (length) memcpy(str->text + str->length, text, length);
    str->length += length;
    str->text[str->length] = 0;
}

void gpul__str_add(gpul__str *str, const char *text)
{
    gpul__str_addn(str, text, strlen(text));
}

void gpul__str_vprintf(gpul__str *str, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && room(str, (size_t)length)) {
        vsnprintf(str->text + str->length, (size_t)length + 1, format, again);
        str->length += (size_t)length;
    }
    va_end(again);
}

void gpul__str_printf(gpul__str *str, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    gpul__str_vprintf(str, format, args);
    va_end(args);
}

void gpul__str_free(gpul__str *str)
{
    gpul__free(str->text);
    *str = (gpul__str){ 0 };
}

const char *gpul__str_text(const gpul__str *str)
{
    return str->text ? str->text : "";
}

char *gpul__str_take(gpul__str *str)
{
    if (!str->text) gpul__str_addn(str, "", 0);
    char *text = str->text;
    if (str->failed) {
        gpul__free(text);
        text = NULL;
    }
    *str = (gpul__str){ 0 };
    return text;
}

bool gpul__starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool gpul__ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

size_t gpul__edit_distance(const char *a, const char *b, size_t limit)
{
    enum { LONGEST = 128 };
    size_t n = strlen(a), m = strlen(b);
    if (n >= LONGEST || m >= LONGEST || (n > m ? n - m : m - n) > limit) return limit + 1;
    size_t row[LONGEST];
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m] > limit ? limit + 1 : row[m];
}

unsigned long long gpul__hash(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}
