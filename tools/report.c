/* The library's error record as messages of the command.  SPDX-License-Identifier: MIT */
#include "session.h"

static const char *line_of(const plan *p, const gpul_detail *d)
{
    if (d->source && *d->source) return d->source;
    if (!p || !p->source || !d->file || !same_text(d->file, p->source->path)) return NULL;
    return source_line(p->source, d->line);
}

static place place_of_detail(const plan *p, const gpul_detail *d)
{
    if (!d->file || !*d->file) return (place){ 0 };
    return place_source(d->file, d->line, d->column, d->end_column, line_of(p, d));
}

/* Remarks of the library to programmers, which say nothing to a user of the command. */
static bool for_programmers(const char *hint)
{
    return starts_with(hint, "free this device") ||
           starts_with(hint, "open the device with .checked") || strstr(hint, "gpul_") != NULL;
}

static void add_hints(message *m, const gpul_error *e)
{
    if (!e->hint || for_programmers(e->hint)) return;
    for (const char *line = e->hint; *line;) { /* several hints stand on lines of their own */
        size_t length = strcspn(line, "\n");
        message_hint(m, "%s", mem_copy(line, length));
        line += length + (line[length] != 0);
    }
}

static void add_native(message *m, const gpul_error *e)
{
    if (e->native_kind != GPUL_NATIVE_CUDA || !e->native_name || strstr(m->text, e->native_name))
        return;
    message_note(m, "the driver reported %s (%d)", e->native_name, e->native);
}

/* A compiler's mistakes are messages of their own, each at its place. */
static message *from_diagnostics(const plan *p, const gpul_error *e)
{
    message *first = NULL, *last = NULL;
    for (size_t i = 0; i < e->detail_count; i++) {
        const gpul_detail *d = &e->details[i];
        place at = place_of_detail(p, d);
        if (d->severity == GPUL_NOTE && last) {
            message_note_at(last, at, "%s", d->text);
            continue;
        }
        last = message_new(d->severity == GPUL_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING,
                           d->code ? d->code : e->code, "%s", d->text);
        message_at(last, at);
        if (!first) first = last;
    }
    return first;
}

message *library_message(const plan *p)
{
    const gpul_error *e = gpul_last_error();
    bool diagnostics = false;
    for (size_t i = 0; i < e->detail_count; i++)
        diagnostics |= e->layer == GPUL_LAYER_COMPILE && e->details[i].severity == GPUL_ERROR &&
                       e->details[i].file;
    if (diagnostics) {
        message *first = from_diagnostics(p, e);
        add_hints(first, e);
        return first;
    }
    message *m = fail(e->code ? e->code : CODE_INTERNAL, "%s", e->message);
    m->layer = gpul_layer_text(e->layer);
    for (size_t i = 0; i < e->detail_count; i++) {
        const gpul_detail *d = &e->details[i];
        place at = place_of_detail(p, d);
        bool said = strstr(e->message, d->text) != NULL;
        if (at.kind != PLACE_NONE && at.line && m->at.kind == PLACE_NONE &&
            d->severity == GPUL_ERROR) {
            message_at(m, at);
            if (said) continue;
        } else if (said && at.kind == PLACE_NONE) {
            continue;
        }
        message_note_at(m, at, "%s", d->text);
    }
    add_native(m, e);
    if (e->log && *e->log && (e->layer == GPUL_LAYER_LOAD || e->layer == GPUL_LAYER_IMAGE))
        message_note(m, "the driver's log: %s", e->log);
    add_hints(m, e);
    return m;
}
