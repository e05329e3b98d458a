/* Words, spans, the shown command line, and the nearest name.  SPDX-License-Identifier: MIT */
#include "words.h"

#include <ctype.h>
#include <strings.h>

static struct {
    word *words;
    size_t count;
    const char *shown;
    size_t *starts; /* of each word in the shown line */
} line;

span span_of(const word *w)
{
    return (span){ w, 0, strlen(w->text) };
}

span span_from(const word *w, size_t start)
{
    return (span){ w, start, strlen(w->text) };
}

span span_part(const word *w, const char *from, const char *to)
{
    return (span){ w, (size_t)(from - w->text), (size_t)(to - w->text) };
}

static bool needs_quotes(const char *source)
{
    if (!*source) return true;
    for (const char *c = source; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_=+.,:/@%^", *c) && (unsigned char)*c < 128)
            return true;
    return false;
}

/* Adds the word; *column becomes the shown byte of source byte `at` when `at` is not beyond it. */
static void add_shown(text *out, const char *source, size_t at, size_t *column)
{
    bool quotes = needs_quotes(source);
    if (quotes) text_char(out, '\'');
    size_t i = 0;
    for (; source[i]; i++) {
        if (i == at && column) *column = out->length;
        if (source[i] == '\'') text_add(out, "'\\''");
        else text_char(out, source[i]);
    }
    if (i == at && column) *column = out->length;
    if (quotes) text_char(out, '\'');
}

const char *shell_quoted(const char *source)
{
    text out = { 0 };
    add_shown(&out, source, 0, NULL);
    return text_of(&out);
}

void words_init(int argc, char **argv)
{
    line.count = argc > 0 ? (size_t)argc : 0;
    line.words = mem_array(line.count, sizeof *line.words);
    line.starts = mem_array(line.count, sizeof *line.starts);
    text shown = { 0 };
    for (size_t i = 0; i < line.count; i++) {
        line.words[i] = (word){ .text = argv[i], .origin = WORD_COMMAND_LINE, .index = i };
        if (i) text_char(&shown, ' ');
        line.starts[i] = shown.length;
        add_shown(&shown, i ? argv[i] : "gpulaunch", 0, NULL);
    }
    line.shown = text_of(&shown);
}

const word *words_command_line(int index)
{
    return &line.words[index];
}

size_t words_count(void)
{
    return line.count;
}

const char *command_line_text(void)
{
    return line.shown ? line.shown : "gpulaunch";
}

size_t command_line_column(size_t index, size_t at)
{
    text piece = { 0 };
    size_t column = 0;
    add_shown(&piece, line.words[index].text, at, &column);
    return line.starts[index] + column;
}

bool words_split(word_list *out, const word *like, size_t start, size_t *bad)
{
    const char *line_text = like->line_text;
    size_t length = strlen(line_text), at = start;
    for (;;) {
        while (at < length && isspace((unsigned char)line_text[at])) at++;
        if (at >= length || line_text[at] == '#') return true;
        char *made = mem_alloc(length - at + 1);
        unsigned *offset = mem_array(length - at + 2, sizeof *offset);
        size_t count = 0;
        char quote = 0;
        size_t opened = 0;
        for (; at < length; at++) {
            char c = line_text[at];
            if (quote) {
                if (c == quote) {
                    quote = 0;
                    continue;
                }
            } else if (c == '"' || c == '\'') {
                quote = c;
                opened = at;
                continue;
            } else if (isspace((unsigned char)c)) {
                break;
            }
            offset[count] = (unsigned)at;
            made[count++] = c;
        }
        if (quote) {
            *bad = opened;
            return false;
        }
        offset[count] = count ? offset[count - 1] + 1 : (unsigned)at;
        word *w = mem_alloc(sizeof *w);
        *w = *like;
        w->text = made;
        w->origin = WORD_FILE;
        w->offset = offset;
        *list_add(out) = w;
    }
}

size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    size_t *row = mem_array(n + 1, sizeof *row);
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const char *nearest_name(const char *name, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = 3, length = strlen(name);
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(name, names[i]);
        if (strcasecmp(name, names[i]) == 0) distance = 0; /* A for a, N for n */
        if (distance < least && distance < length) {
            least = distance;
            best = names[i];
        }
    }
    return best;
}
