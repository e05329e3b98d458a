/* Messages as text: excerpts with carets counted in characters, one-line forms for editors, JSON lines
 * and workflow annotations.  SPDX-License-Identifier: MIT */
#include "render.h"

enum { TAB = 4, WIDEST = 132 };

static const char *severity_word(severity s)
{
    return s == SEVERITY_ERROR ? "error" : s == SEVERITY_WARNING ? "warning" : "note";
}

static size_t byte_of_column(const char *source, unsigned column)
{
    size_t length = strlen(source), at = 0;
    for (unsigned i = 1; i < column && at < length; i++) at += utf8_step(source + at, length - at);
    return at;
}

static unsigned column_of_byte(const char *source, size_t byte)
{
    return (unsigned)utf8_length(source, byte) + 1;
}

bool place_in_file(const place *at, const char **file, unsigned *line, unsigned *column,
                   unsigned *end_column)
{
    if (at->kind == PLACE_SOURCE) {
        *file = at->file;
        *line = at->line;
        *column = at->column;
        *end_column = at->end_column;
        return true;
    }
    if (at->kind != PLACE_WORD || at->at.word->origin != WORD_FILE) return false;
    const word *w = at->at.word;
    *file = w->file;
    *line = w->line;
    *column = column_of_byte(w->line_text, w->offset[at->at.start]);
    *end_column = column_of_byte(w->line_text, w->offset[at->at.end]);
    return true;
}

unsigned place_byte_column(const place *at)
{
    if (at->kind == PLACE_SOURCE)
        return at->source && at->column ? (unsigned)byte_of_column(at->source, at->column) + 1
                                        : at->column;
    return at->kind == PLACE_WORD && at->at.word->origin == WORD_FILE
               ? at->at.word->offset[at->at.start] + 1
               : 0;
}

/* The line that a place shows, the bytes to mark, and its number (0: the command line). */
static const char *shown_line(const place *at, size_t *start, size_t *end, unsigned *number)
{
    if (at->kind == PLACE_SOURCE) {
        if (!at->source || !at->line) return NULL;
        *start = byte_of_column(at->source, at->column ? at->column : 1);
        *end =
            at->end_column > at->column ? byte_of_column(at->source, at->end_column) : *start + 1;
        if (!at->column) *end = *start;
        *number = at->line;
        return at->source;
    }
    if (at->kind != PLACE_WORD) return NULL;
    const word *w = at->at.word;
    if (w->origin == WORD_FILE) {
        *start = w->offset[at->at.start];
        *end = w->offset[at->at.end];
        *number = w->line;
        return w->line_text;
    }
    *start = command_line_column(w->index, at->at.start);
    *end = command_line_column(w->index, at->at.end);
    *number = 0;
    return command_line_text();
}

static void gutter(text *out, unsigned number)
{
    if (number) text_format(out, "%4u | ", number);
    else text_add(out, "     | ");
}

/* One source line, tabs expanded, and carets under bytes start to end; long lines show a part. */
static void render_excerpt(text *out, const place *at)
{
    size_t start, end;
    unsigned number;
    const char *line = shown_line(at, &start, &end, &number);
    if (!line) return;
    if (end <= start && at->column) end = start + 1;
    text shown = { 0 };
    size_t length = strlen(line), column = 0, mark = 0, mark_end = 0, bytes = 0;
    size_t *byte_at = mem_array(length * TAB + 2, sizeof *byte_at);
    for (size_t i = 0; i < length;) {
        if (i == start) mark = column;
        if (i == end) mark_end = column;
        size_t step = utf8_step(line + i, length - i);
        byte_at[column] = bytes;
        if (line[i] == '\t') {
            do {
                byte_at[column++] = shown.length;
                text_char(&shown, ' ');
            } while (column % TAB);
        } else {
            column++;
            if ((unsigned char)line[i] < 32) text_char(&shown, '?');
            else text_addn(&shown, line + i, step);
        }
        bytes = shown.length;
        i += step;
    }
    byte_at[column] = bytes;
    if (start >= length) mark = column + (start - length);
    if (end >= length) mark_end = column + (end > start ? (end - length) : 0);
    if (mark_end <= mark && end > start) mark_end = mark + 1;

    size_t from = 0, to = column;
    if (column > WIDEST) {
        if (mark > WIDEST / 2) from = mark - WIDEST / 3;
        if (to > from + WIDEST) to = from + WIDEST;
        if (mark_end > to) mark_end = to;
    }
    gutter(out, number);
    if (from) text_add(out, "...");
    text_addn(out, text_of(&shown) + byte_at[from], byte_at[to] - byte_at[from]);
    if (to < column) text_add(out, "...");
    text_char(out, '\n');
    if (mark_end <= mark) return;
    text_add(out, "     | ");
    text_repeat(out, ' ', mark - from + (from ? 3 : 0));
    text_char(out, '^');
    text_repeat(out, '~', mark_end - mark - 1);
    if (at->label) text_format(out, " %s", at->label);
    text_char(out, '\n');
}

static void add_place(text *out, const place *at, bool or_command)
{
    const char *file;
    unsigned line, column, end;
    if (place_in_file(at, &file, &line, &column, &end)) {
        text_add(out, file);
        if (line) text_format(out, ":%u", line);
        if (line && column) text_format(out, ":%u", column);
        text_add(out, ": ");
    } else if (or_command) {
        text_add(out, "gpulaunch: ");
    }
}

static void head(text *out, const message *m, bool color)
{
    if (color) text_add(out, "\033[1m");
    add_place(out, &m->at, true);
    if (color) text_add(out, m->severity == SEVERITY_ERROR ? "\033[31m" : "\033[33m");
    text_add(out, severity_word(m->severity));
    if (m->code) text_format(out, "[GL%04d]", m->code);
    if (color) text_add(out, "\033[39m");
    text_add(out, ": ");
    if (m->code) text_format(out, "%s: ", m->layer);
    text_add(out, m->text);
    if (color) text_add(out, "\033[0m");
    text_char(out, '\n');
}

static void render_full(text *out, const message *m, bool color)
{
    head(out, m, color);
    render_excerpt(out, &m->at);
    for (size_t i = 0; i < m->items.count; i++) {
        const message_item *item = &m->items.items[i];
        if (item->kind == ITEM_BLOCK) {
            text_add(out, item->text);
            text_char(out, '\n');
            continue;
        }
        if (item->kind == ITEM_HINT) {
            text_add(out, color ? "\033[32mhint:\033[0m " : "hint: ");
        } else {
            add_place(out, &item->at, false);
            text_add(out, "note: ");
        }
        text_add(out, item->text);
        text_char(out, '\n');
        if (item->kind == ITEM_NOTE) render_excerpt(out, &item->at);
    }
}

void add_json_string(text *out, const char *source)
{
    size_t length = strlen(source);
    text_char(out, '"');
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)source[i];
        size_t step = utf8_step(source + i, length - i);
        if (c == '"' || c == '\\') text_format(out, "\\%c", c);
        else if (c == '\n') text_add(out, "\\n");
        else if (c < 32 || c == 127) text_format(out, "\\u%04x", c);
        else if (c >= 128 && step == 1) text_add(out, "\\ufffd");
        else text_addn(out, source + i, step);
        i += step;
    }
    text_char(out, '"');
}

/* Notes that have a place of their own. */
static void add_related(text *out, const message *m)
{
    bool any = false;
    for (size_t i = 0; i < m->items.count; i++) {
        const message_item *item = &m->items.items[i];
        const char *file;
        unsigned line, column, end;
        if (!place_in_file(&item->at, &file, &line, &column, &end)) continue;
        text_add(out, any ? ",{\"file\":" : ",\"related\":[{\"file\":");
        add_json_string(out, file);
        text_format(out, ",\"line\":%u,\"column\":%u,\"text\":", line, column);
        add_json_string(out, item->text);
        text_char(out, '}');
        any = true;
    }
    if (any) text_char(out, ']');
}

static void render_json_line(text *out, const message *m)
{
    text_format(out, "{\"severity\":\"%s\",", severity_word(m->severity));
    if (m->code) text_format(out, "\"code\":\"GL%04d\",\"layer\":\"%s\",", m->code, m->layer);
    text_add(out, "\"text\":");
    add_json_string(out, m->text);
    const char *file;
    unsigned line, column, end;
    if (place_in_file(&m->at, &file, &line, &column, &end)) {
        text_add(out, ",\"file\":");
        add_json_string(out, file);
        text_format(out, ",\"line\":%u,\"column\":%u,\"end_column\":%u", line, column, end);
    }
    static const char *const names[] = { "notes", "hints" };
    for (int kind = ITEM_NOTE; kind <= ITEM_HINT; kind++) {
        text_format(out, ",\"%s\":[", names[kind]);
        bool first = true;
        for (size_t i = 0; i < m->items.count; i++) {
            if ((int)m->items.items[i].kind != kind) continue;
            if (!first) text_char(out, ',');
            first = false;
            add_json_string(out, m->items.items[i].text);
        }
        text_char(out, ']');
    }
    add_related(out, m);
    text_add(out, "}\n");
}

static void add_annotation_text(text *out, const char *source, bool property)
{
    for (; *source; source++) {
        if (*source == '%') text_add(out, "%25");
        else if (*source == '\n') text_add(out, "%0A");
        else if (*source == '\r') text_add(out, "%0D");
        else if (property && *source == ':') text_add(out, "%3A");
        else if (property && *source == ',') text_add(out, "%2C");
        else text_char(out, *source);
    }
}

static void render_github(text *out, const message *m)
{
    text_format(out, "::%s ", m->severity == SEVERITY_NOTE ? "notice" : severity_word(m->severity));
    const char *file;
    unsigned line, column, end;
    if (place_in_file(&m->at, &file, &line, &column, &end)) {
        text_add(out, "file=");
        add_annotation_text(out, file, true);
        if (line) text_format(out, ",line=%u", line);
        if (line && column) text_format(out, ",col=%u", column);
        text_char(out, ',');
    }
    if (m->code) text_format(out, "title=GL%04d", m->code);
    else text_add(out, "title=gpulaunch");
    text_add(out, "::");
    add_annotation_text(out, m->text, false);
    for (size_t i = 0; i < m->items.count; i++) {
        text_add(out, m->items.items[i].kind == ITEM_HINT ? "%0Ahint: " : "%0A");
        add_annotation_text(out, m->items.items[i].text, false);
        if (place_in_file(&m->items.items[i].at, &file, &line, &column, &end) && line)
            add_annotation_text(out, mem_format(" (%s:%u)", file, line), false);
    }
    text_char(out, '\n');
}

void render_message(text *out, const message *m, errors_style style, bool color)
{
    switch (style) {
    case ERRORS_FULL: render_full(out, m, color); break;
    case ERRORS_SHORT: head(out, m, color); break;
    case ERRORS_JSON: render_json_line(out, m); break;
    case ERRORS_GITHUB: render_github(out, m); break;
    }
}
