/* From a line of PTX that the assembler names to the line of source that it came from.
 * SPDX-License-Identifier: MIT */
#include "core/compile.h"

#include <stdlib.h>
#include <string.h>

/* The n-th line, without blanks around it; NULL when the text is shorter. */
static const char *nth_line(const char *text, uint32_t n, size_t *length)
{
    for (uint32_t i = 1; text && i < n; i++) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    if (!text) return NULL;
    while (*text == ' ' || *text == '\t') text++;
    *length = strcspn(text, "\n");
    while (*length && (text[*length - 1] == ' ' || text[*length - 1] == '\t')) --*length;
    return text;
}

/* How often a line stands in the text before `stop`. */
static uint32_t count_before(const char *text, const char *stop, const char *line, size_t length)
{
    uint32_t count = 0;
    for (const char *at = text; at < stop;) {
        const char *end = strchr(at, '\n');
        if (!end) break;
        while (*at == ' ' || *at == '\t') at++;
        if ((size_t)(end - at) >= length && memcmp(at, line, length) == 0 && at < stop) count++;
        at = end + 1;
    }
    return count;
}

/* The .loc in force at the (n+1)-th line of that text, and the name of its .file. */
static bool find_location(const char *ptx, const char *line, size_t length, uint32_t n,
                          uint32_t *source_line, uint32_t *column, const char **file,
                          size_t *file_length)
{
    unsigned long number = 0;
    *source_line = 0;
    for (const char *at = ptx; *at;) {
        const char *end = strchr(at, '\n');
        if (!end) break;
        while (*at == ' ' || *at == '\t') at++;
        if (strncmp(at, ".loc", 4) == 0) {
            char *next;
            number = strtoul(at + 4, &next, 10);
            *source_line = (uint32_t)strtoul(next, &next, 10);
            *column = (uint32_t)strtoul(next, &next, 10);
        } else if ((size_t)(end - at) >= length && memcmp(at, line, length) == 0) {
            if (n == 0) break;
            n--;
        }
        at = end + 1;
    }
    if (!*source_line) return false;
    for (const char *at = ptx; (at = strstr(at, ".file")) != NULL; at += 5) {
        char *next;
        if (strtoul(at + 5, &next, 10) != number) continue;
        const char *open = strchr(next, '"'), *close = open ? strchr(open + 1, '"') : NULL;
        if (!close) return false;
        *file = open + 1;
        *file_length = (size_t)(close - open - 1);
        return true;
    }
    return false;
}

bool gpul__compile_place_ptx(gpul__compile *c, uint32_t line, gpul_detail *detail)
{
    gpul__run plain = { 0 }, located = { 0 };
    bool ok = gpul__compile_run(&plain, c, &(gpul__run_kind){ .ptx_only = true });
    size_t length;
    const char *text = ok && plain.ptx ? nth_line(plain.ptx, line, &length) : NULL;
    if (text && length) {
        detail->source = gpul__arena_strndup(&c->arena, text, length);
        detail->text = gpul__arena_printf(&c->arena, "%s (line %u of the PTX)", detail->text, line);
        ok = detail->source && detail->text &&
             gpul__compile_run(&located, c,
                               &(gpul__run_kind){ .ptx_only = true, .line_info = true });
        uint32_t n = count_before(plain.ptx, text, text, length), source_line, column;
        const char *file;
        size_t file_length;
        if (ok && located.ptx &&
            find_location(located.ptx, text, length, n, &source_line, &column, &file,
                          &file_length)) {
            detail->file = gpul__arena_strndup(&c->arena, file, file_length);
            detail->line = source_line;
            detail->column = column;
            /* The compiler writes the program's name as a whole path. */
            if (detail->file && gpul__ends(detail->file, c->source.name))
                detail->file = c->source.name;
            ok = detail->file != NULL;
        }
    }
    gpul__run_free(&plain);
    gpul__run_free(&located);
    return ok;
}
