/* A growing string whose failures are remembered instead of checked at each step, and small text
 * helpers.  SPDX-License-Identifier: MIT */
#ifndef GPUL_BASE_STR_H
#define GPUL_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty string.  After memory ran out `failed` is true, and the text is what fitted. */
typedef struct gpul__str {
    char *text; /* NULL while empty; else ends in NUL */
    size_t length, capacity;
    bool failed;
} gpul__str;

void gpul__str_add(gpul__str *str, const char *text);
void gpul__str_addn(gpul__str *str, const char *text, size_t length);
void gpul__str_printf(gpul__str *str, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gpul__str_vprintf(gpul__str *str, const char *format, va_list args);
void gpul__str_free(gpul__str *str);
const char *gpul__str_text(const gpul__str *str); /* never NULL */
char *gpul__str_take(gpul__str *str);             /* hands the text over; NULL when it had failed */

bool gpul__starts(const char *text, const char *prefix);
bool gpul__ends(const char *text, const char *suffix);

/* The number of edits between two names, at most `limit` + 1 (Levenshtein). */
size_t gpul__edit_distance(const char *a, const char *b, size_t limit);

/* 64-bit FNV-1a, for tables and fingerprints that need not resist an attacker. */
unsigned long long gpul__hash(const void *data, size_t length);

#endif
