/* Memory of the command: small pieces live until the process ends, so nothing is freed one by one;
 * large data is taken and given back by name.  When memory is exhausted the command says so and ends
 * with the status of that failure.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_MEM_H
#define TOOLS_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

void *mem_alloc(size_t size); /* zeroed; never NULL */
void *mem_array(size_t count, size_t size);
char *mem_copy(const char *text, size_t length); /* NUL is added */
char *mem_dup(const char *text);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *format, va_list args);
void mem_release(void); /* everything of mem_alloc; at the end of main */

/* Large data: zeroed, freed with data_free. */
void *data_alloc(size_t size);
void data_free(void *data);

/* A growing list: struct { T *items; size_t count, capacity; }, all zero when empty. */
#define list_of(T)                                                                                 \
    struct {                                                                                       \
        T *items;                                                                                  \
        size_t count, capacity;                                                                    \
    }
#define list_add(list)                                                                             \
    (mem_grow(&(list)->items, &(list)->capacity, (list)->count, sizeof *(list)->items),            \
     &(list)->items[(list)->count++])
void mem_grow(void *items, size_t *capacity, size_t count, size_t size);

/* A growing text; all zero is empty. */
typedef struct text {
    char *data; /* NULL while empty */
    size_t length, capacity;
} text;
void text_add(text *t, const char *more);
void text_addn(text *t, const char *more, size_t length);
void text_char(text *t, char c);
void text_repeat(text *t, char c, size_t count);
void text_format(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *text_of(const text *t); /* never NULL */

/* Characters (not bytes) of UTF-8 text; bytes that are no UTF-8 count one each. */
size_t utf8_length(const char *text, size_t bytes);
size_t utf8_step(const char *text, size_t bytes); /* bytes of the first character; 0 at the end */

bool starts_with(const char *text, const char *prefix);
bool ends_with(const char *text, const char *suffix);
#define same_text(a, b) (strcmp((a), (b)) == 0)

#endif
