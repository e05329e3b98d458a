/* From a line of the JIT's log to a located detail.  SPDX-License-Identifier: MIT */
#include "core/module_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* "ptxas application ptx input, line 30; error   : Not a name of any known instruction: 'rotate'" */
typedef struct complaint {
    gpul_severity severity;
    unsigned line; /* 0: none */
    const char *text;
    size_t length;
} complaint;

static const char *find_in(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word));
}

/* False for a line that complains about nothing. */
static bool read_complaint(complaint *out, const char *line, size_t length)
{
    static const struct {
        const char *word;
        gpul_severity severity;
    } kinds[] = { { "error ", GPUL_ERROR },
                  { "fatal ", GPUL_ERROR },
                  { "warning ", GPUL_WARNING } };
    *out = (complaint){ .text = line, .length = length };
    const char *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kind; i++) {
        kind = find_in(line, length, kinds[i].word);
        out->severity = kinds[i].severity;
    }
    if (!kind) return false;
    const char *number = find_in(line, (size_t)(kind - line), "line ");
    if (number) out->line = (unsigned)strtoul(number + 5, NULL, 10);
    const char *colon = find_in(kind, length - (size_t)(kind - line), ": ");
    if (colon) {
        out->text = colon + 2;
        out->length = length - (size_t)(out->text - line);
    }
    while (out->length && (out->text[out->length - 1] == ' ' || out->text[out->length - 1] == '\r'))
        out->length--;
    return out->length > 0;
}

/* The start of line `number` (from 1) of a text; NULL when it has fewer. */
static const char *line_at(const char *text, unsigned number)
{
    for (; number > 1 && text; number--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    return text && number ? text : NULL;
}

/* .file 1 "name" -> the name, in the arena. */
static const char *file_name(gpul__arena *arena, const char *ptx, unsigned wanted)
{
    for (const char *at = ptx; (at = strstr(at, ".file")); at++) {
        unsigned number;
        int used = 0;
        if (sscanf(at, ".file %u \"%n", &number, &used) != 1 || !used || number != wanted) continue;
        const char *end = strchr(at + used, '"');
        return end ? gpul__arena_strndup(arena, at + used, (size_t)(end - (at + used))) : NULL;
    }
    return NULL;
}

typedef struct location {
    unsigned file, line, column;
} location;

/* .loc 1 29 5 or .loc 2 4809 1, function_name LABEL, inlined_at 1 29 5: `around` is the latter place. */
static bool read_location(const char *line, location *own, location *around)
{
    char word[512]; /* the line alone: sscanf measures all that stands behind it */
    line += strspn(line, " \t");
    *around = (location){ 0 };
    if (strncmp(line, ".loc", 4) != 0) return false;
    size_t length = strcspn(line, "\n");
    if (length >= sizeof word) length = sizeof word - 1;
    memcpy(word, line, length);
    word[length] = 0;
    if (sscanf(word, ".loc %u %u %u", &own->file, &own->line, &own->column) != 3) return false;
    const char *inlined = strstr(word, "inlined_at ");
    if (inlined &&
        sscanf(inlined, "inlined_at %u %u %u", &around->file, &around->line, &around->column) != 3)
        *around = (location){ 0 };
    return true;
}

/* What the place that code was inlined at was inlined into itself: a .loc before says it. */
static void find_around(const char *ptx, const char *before, const location *place,
                        location *around)
{
    location own;
    for (const char *at = before; at > ptx; at--)
        if (at[-1] == '\n' && read_location(at, &own, around) && own.file == place->file &&
            own.line == place->line && own.column == place->column)
            return;
    *around = (location){ 0 };
}

/* The place in the file of the kernel: inlined code of other files is followed to where it is used. */
static void leave_inlined(const char *ptx, const char *at, location *place, location around)
{
    enum { DEEPEST = 32 };
    location chain[DEEPEST];
    unsigned depth = 0;
    chain[depth++] = *place;
    while (around.line && depth < DEEPEST) {
        chain[depth++] = around;
        find_around(ptx, at, &chain[depth - 1], &around);
    }
    unsigned innermost = 0;
    while (chain[innermost].file != chain[depth - 1].file) innermost++;
    *place = chain[innermost];
}

/* The .loc in force at a line: the last one before it inside the same function. */
static bool find_location(const char *ptx, const char *place, location *out)
{
    location around;
    for (const char *at = place; at > ptx; at--) {
        if (at[-1] != '\n') continue;
        if (read_location(at, out, &around)) {
            leave_inlined(ptx, at, out, around);
            return true;
        }
        const char *end = strchr(at, '\n');
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (at != place && (find_in(at, length, ".entry") || find_in(at, length, ".func")))
            return false;
    }
    return false;
}

static void add_detail(const complaint *c, const char *ptx, const char *name)
{
    gpul__arena arena = { 0 };
    gpul__str text = { 0 };
    gpul_detail detail = { .severity = c->severity };
    const char *place = ptx && c->line ? line_at(ptx, c->line) : NULL;
    location at;
    if (c->line) gpul__str_printf(&text, "PTX line %u: ", c->line);
    gpul__str_addn(&text, c->text, c->length);
    detail.text = gpul__str_text(&text);
    if (place) {
        const char *end = place + strcspn(place, "\r\n");
        const char *start = place + strspn(place, " \t");
        detail.source = gpul__arena_strndup(&arena, start, end > start ? (size_t)(end - start) : 0);
    }
    if (place && find_location(ptx, place, &at)) {
        detail.file = file_name(&arena, ptx, at.file);
        detail.line = at.line;
        detail.column = at.column;
    } else if (name) {
        detail.file = name;
        detail.line = c->line;
    }
    if (!text.failed) gpul__detail(&detail);
    gpul__str_free(&text);
    gpul__arena_free(&arena);
}

void gpul__log_details(const char *log, const char *ptx, const char *name)
{
    while (*log) {
        size_t length = strcspn(log, "\n");
        complaint c;
        /* The last line only says that the lines before it are why. */
        if (read_complaint(&c, log, length) && !find_in(log, length, "aborted due to errors"))
            add_detail(&c, ptx, name);
        log += length;
        if (*log) log++;
    }
}
