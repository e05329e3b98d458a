/* Reading the compiler's log.  SPDX-License-Identifier: MIT */
#include "core/compile_log.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    gpul__log_list *out;
    gpul__arena *arena;
    const char *log, *at;
    const gpul__source *source;
    bool failed;
};

static const char *line_end(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end : at + strlen(at);
}

static const char *keep(struct reader *r, const char *text, size_t length)
{
    while (length && isspace((unsigned char)text[length - 1])) length--;
    char *copy = gpul__arena_strndup(r->arena, text, length);
    if (!copy) r->failed = true;
    return copy;
}

static gpul__log_entry *add(struct reader *r, gpul__log_entry entry)
{
    gpul__log_list *out = r->out;
    if (!gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items)) {
        r->failed = true;
        return NULL;
    }
    out->items[out->count] = entry;
    return &out->items[out->count++];
}

/* "error: ", "warning #177-D: ", "catastrophic error: " ...: returns the text behind it, or NULL. */
static const char *severity_of(const char *at, const char *end, gpul__log_entry *entry)
{
    static const struct {
        const char *word;
        gpul_severity severity;
        bool catastrophic;
    } words[] = { { "error", GPUL_ERROR, false },
                  { "catastrophic error", GPUL_ERROR, true },
                  { "internal error", GPUL_ERROR, true },
                  { "command-line error", GPUL_ERROR, true },
                  { "warning", GPUL_WARNING, false },
                  { "remark", GPUL_NOTE, false },
                  { "note", GPUL_NOTE, false } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(end - at) <= length || memcmp(at, words[i].word, length) != 0) continue;
        const char *next = at + length;
        if (*next == ' ' && next + 1 < end && next[1] == '#') {
            entry->number = atoi(next + 2);
            while (next < end && *next != ':') next++;
        }
        while (next < end && *next == ' ') next++;
        if (next >= end || *next != ':') continue;
        entry->severity = words[i].severity;
        entry->is_catastrophic = words[i].catastrophic;
        entry->is_note_of_previous = words[i].severity == GPUL_NOTE && words[i].word[0] == 'n';
        for (next++; next < end && *next == ' ';) next++;
        return next;
    }
    return NULL;
}

/* "FILE(12): error: text".  The file may hold parentheses and colons, so the mark "): " is looked for. */
static bool read_compiler(struct reader *r, const char *end, gpul__log_entry *entry)
{
    for (const char *mark = r->at; mark + 2 < end; mark++) {
        if (mark[0] != ')' || mark[1] != ':' || mark[2] != ' ') continue;
        const char *open = mark;
        while (open > r->at && isdigit((unsigned char)open[-1])) open--;
        if (open == mark || open == r->at || open[-1] != '(') continue;
        const char *text = severity_of(mark + 3, end, entry);
        if (!text) continue;
        entry->origin = GPUL__LOG_COMPILER;
        entry->file = keep(r, r->at, (size_t)(open - 1 - r->at));
        entry->line = (uint32_t)strtoul(open, NULL, 10);
        entry->text = keep(r, text, (size_t)(end - text));
        return true;
    }
    return false;
}

static bool read_assembler(struct reader *r, const char *end, gpul__log_entry *entry)
{
    if (!gpul__starts(r->at, "ptxas")) return false;
    entry->origin = GPUL__LOG_ASSEMBLER;
    entry->severity = GPUL_NOTE;
    const char *colon = memchr(r->at, ':', (size_t)(end - r->at));
    const char *text = colon ? colon + 1 : r->at;
    const char *head_end = colon ? colon : end;
    const char *line = memmem(r->at, (size_t)(head_end - r->at), "line ", 5);
    if (line) entry->line = (uint32_t)strtoul(line + 5, NULL, 10);
    if (memmem(r->at, (size_t)(head_end - r->at), "error", 5) ||
        memmem(r->at, (size_t)(head_end - r->at), "fatal", 5))
        entry->severity = GPUL_ERROR;
    else if (memmem(r->at, (size_t)(head_end - r->at), "warning", 7))
        entry->severity = GPUL_WARNING;
    while (text < end && *text == ' ') text++;
    entry->text = keep(r, text, (size_t)(end - text));
    return true;
}

static bool read_tool(struct reader *r, const char *end, gpul__log_entry *entry)
{
    if (!gpul__starts(r->at, "nvrtc: ")) return false;
    const char *text = severity_of(r->at + 7, end, entry);
    if (!text) return false;
    entry->origin = GPUL__LOG_TOOL;
    entry->text = keep(r, text, (size_t)(end - text));
    return true;
}

static bool is_caret_line(const char *at, const char *end)
{
    bool caret = false;
    for (; at < end; at++) {
        if (*at == '^') caret = true;
        else if (*at != ' ' && *at != '\t' && *at != '~' && *at != '\r') return false;
    }
    return caret;
}

/* How many bytes the word, number or mark at `at` has. */
static size_t length_at(const char *at, const char *end)
{
    const char *stop = at;
    while (stop < end &&
           (isalnum((unsigned char)*stop) || *stop == '_' || (unsigned char)*stop >= 0x80))
        stop++;
    return stop > at ? (size_t)(stop - at) : at < end;
}

static void place(gpul__log_entry *entry, size_t byte)
{
    size_t length = strlen(entry->source);
    if (byte > length) byte = length;
    entry->byte_column = (uint32_t)byte + 1;
    entry->column = gpul__characters(entry->source, byte) + 1;
    size_t width = length_at(entry->source + byte, entry->source + length);
    entry->end_column = entry->column + gpul__characters(entry->source + byte, width);
}

/* Compilers without a caret name what they mean in quotes: where does the line have it? */
static void place_by_name(gpul__log_entry *entry)
{
    const char *quote = strchr(entry->text, '"');
    const char *close = quote ? strchr(quote + 1, '"') : NULL;
    if (!close || close == quote + 1) return;
    const char *name = quote + 1;
    /* "demo::k" stands in the source as its last part. */
    for (const char *c = name; c + 1 < close; c++)
        if (c[0] == ':' && c[1] == ':') name = c + 2;
    size_t length = length_at(name, close);
    const char *source = entry->source;
    for (const char *at = source; *at; at++) {
        if (strncmp(at, name, length) != 0) continue;
        bool starts = at == source || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool ends = !(isalnum((unsigned char)at[length]) || at[length] == '_');
        if (starts && ends) {
            place(entry, (size_t)(at - source));
            return;
        }
    }
}

static void line_from_source(struct reader *r, gpul__log_entry *entry)
{
    if (!r->source || !entry->file || strcmp(entry->file, r->source->name) != 0) return;
    size_t length;
    const char *text = gpul__source_line_text(r->source, entry->line, &length);
    if (text) entry->source = keep(r, text, length);
}

/* What follows a message: more text, the echoed line, the caret, where it was instantiated. */
static void read_tail(struct reader *r, gpul__log_entry *entry)
{
    gpul__str more = { 0 };
    const char *echo = NULL;
    size_t echo_length = 0;
    while (*r->at && *r->at != '\n') {
        const char *end = line_end(r->at);
        const char *next = *end ? line_end(end + 1) : end;
        /* Compilers before 12 write where something was declared as a line of its own. */
        bool is_place = memmem(r->at, (size_t)(end - r->at), "): here", 7) != NULL;
        if (*r->at != ' ' && *r->at != '\t' && !is_place) break;
        if (!echo && *end && is_caret_line(end + 1, next)) {
            echo = r->at + 2;
            echo_length = (size_t)(end - r->at) >= 2 ? (size_t)(end - r->at) - 2 : 0;
            const char *caret = memchr(end + 1, '^', (size_t)(next - end - 1));
            size_t byte = (size_t)(caret - end - 1) >= 2 ? (size_t)(caret - end - 1) - 2 : 0;
            entry->source = keep(r, echo, echo_length);
            if (entry->source) place(entry, byte);
            r->at = *next ? next + 1 : next;
            continue;
        }
        const char *text = r->at;
        while (text < end && *text == ' ') text++;
        if (more.length) gpul__str_add(&more, "\n");
        gpul__str_addn(&more, text, (size_t)(end - text));
        r->at = *end ? end + 1 : end;
    }
    if (more.length) entry->more = keep(r, more.text, more.length);
    if (more.failed) r->failed = true;
    gpul__str_free(&more);
    if (!entry->source) {
        line_from_source(r, entry);
        if (entry->source && entry->text) place_by_name(entry);
    }
}

bool gpul__log_read(gpul__log_list *out, gpul__arena *arena, const char *log,
                    const gpul__source *source)
{
    struct reader reader = { .out = out, .arena = arena, .log = log, .at = log, .source = source };
    struct reader *r = &reader;
    while (*r->at && !r->failed) {
        const char *start = r->at, *end = line_end(r->at);
        if (end == start) {
            r->at++;
            continue;
        }
        gpul__log_entry entry = { .origin = GPUL__LOG_REST, .severity = GPUL_NOTE };
        bool known = read_compiler(r, end, &entry) || read_assembler(r, end, &entry) ||
                     read_tool(r, end, &entry);
        if (!known) entry.text = keep(r, start, (size_t)(end - start));
        r->at = *end ? end + 1 : end;
        if (known && entry.origin == GPUL__LOG_COMPILER && !r->failed) read_tail(r, &entry);
        entry.first = (size_t)(start - log);
        entry.end = (size_t)(r->at - log);
        if (!r->failed) add(r, entry);
    }
    if (r->failed) {
        gpul__free(out->items);
        *out = (gpul__log_list){ 0 };
    }
    return !r->failed;
}
