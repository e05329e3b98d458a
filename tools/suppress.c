/* Reading suppressions and matching findings with them.  SPDX-License-Identifier: MIT
 *
 * A line is KIND KERNEL FILE:LINE VARIABLE; behind the kind, * stands for any text and ? for any character, and what is
 * left out at the end is any.  '#' begins a comment. */
#include "suppress.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4, KIND = 0, KERNEL, PLACE, VARIABLE };

static const struct {
    const char *word, *sentence;
} kinds[] = {
    { "race", "race in shared memory" },       { "warp-race", "race inside a warp" },
    { "block-race", "race between blocks" },   { "clash", "different values stored to one place" },
    { "uninitialised", "uninitialised read" }, { "*", NULL }
};

typedef struct suppression {
    const char *sentence; /* of the kind; NULL: any */
    char *fields[FIELDS]; /* patterns */
    unsigned line;
    size_t covered;
} suppression;

static struct {
    const char *path;
    suppression *items; /* malloc'd: findings come at any time of the process */
    size_t count, capacity;
} known;

static bool read_line(char *source, unsigned line)
{
    suppression s = { .line = line };
    char *rest = NULL, *field = strtok_r(source, " \t\r\n", &rest);
    size_t fields = 0;
    if (!field) return true;
    for (; field && fields < FIELDS; field = strtok_r(NULL, " \t\r\n", &rest))
        s.fields[fields++] = field;
    place at = place_source(known.path, line, 0, 0, NULL);
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && !same_text(kinds[kind].word, s.fields[KIND]))
        kind++;
    if (kind == sizeof kinds / sizeof *kinds) {
        message_hint(
            message_at(fail(CODE_FILE_FORMAT, "there is no kind of finding '%s'", s.fields[KIND]),
                       at),
            "race, warp-race, block-race, clash, uninitialised or *");
        return false;
    }
    if (field) {
        message_hint(message_at(fail(CODE_FILE_FORMAT, "'%s' is one field too many", field), at),
                     "KIND KERNEL FILE:LINE VARIABLE");
        return false;
    }
    s.sentence = kinds[kind].sentence;
    for (size_t k = 1; k < FIELDS; k++) s.fields[k] = strdup(k < fields ? s.fields[k] : "*");
    if (known.count == known.capacity) {
        known.capacity = known.capacity ? 2 * known.capacity : 8;
        known.items = realloc(known.items, known.capacity * sizeof *known.items);
    }
    if (!known.items || !s.fields[KERNEL] || !s.fields[PLACE] || !s.fields[VARIABLE]) {
        fail(CODE_INTERNAL, "out of memory");
        return false;
    }
    known.items[known.count++] = s;
    return true;
}

bool suppressions_read(const option_use *use)
{
    known.path = use->text;
    FILE *file = fopen(use->text, "r");
    if (!file) {
        message_at(fail(CODE_FILE_OPEN, "%s cannot be read: %s", use->text, strerror(errno)),
                   place_of_option(use));
        return false;
    }
    char *source = NULL;
    size_t room = 0;
    bool good = true;
    for (unsigned line = 1; getline(&source, &room, file) >= 0; line++) {
        source[strcspn(source, "#")] = 0;
        good &= read_line(source, line);
    }
    if (ferror(file)) {
        message_at(fail(CODE_FILE_OPEN, "%s cannot be read to its end", use->text),
                   place_of_option(use));
        good = false;
    }
    free(source);
    fclose(file);
    return good;
}

/* What stands between quotes behind `from`; "" when there is nothing. */
static const char *quoted(const char *from)
{
    const char *open = from ? strchr(from, '\'') : NULL,
               *close = open ? strchr(open + 1, '\'') : NULL;
    return close ? mem_copy(open + 1, (size_t)(close - open - 1)) : "";
}

bool suppression_covers(const char *sentence, const char *file, unsigned line, bool count)
{
    const char *kind = strstr(sentence, "': ");
    const char *kernel = quoted(sentence), *base = file ? strrchr(file, '/') : NULL;
    const char *variable = quoted(kind ? kind + 3 : NULL);
    const char *whole = mem_format("%s:%u", file ? file : "", line),
               *short_place = base ? mem_format("%s:%u", base + 1, line) : whole;
    for (size_t i = 0; kind && i < known.count; i++) {
        suppression *s = &known.items[i];
        if ((s->sentence && !starts_with(kind + 3, s->sentence)) ||
            fnmatch(s->fields[KERNEL], kernel, 0) ||
            (fnmatch(s->fields[PLACE], whole, 0) && fnmatch(s->fields[PLACE], short_place, 0)) ||
            fnmatch(s->fields[VARIABLE], variable, 0))
            continue;
        s->covered += count;
        return true;
    }
    return false;
}

void suppressions_tell(void)
{
    size_t all = 0;
    for (size_t i = 0; i < known.count; i++) all += known.items[i].covered;
    if (known.path && all)
        inform(0, "%zu finding%s not shown, as %s says", all, all == 1 ? "" : "s", known.path);
    for (size_t i = 0; i < known.count; i++)
        if (!known.items[i].covered)
            message_at(inform(0, "this suppression covered nothing"),
                       place_source(known.path, known.items[i].line, 0, 0, NULL));
}
