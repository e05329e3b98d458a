/* Gathering messages.  SPDX-License-Identifier: MIT */
#include "messages.h"

#include "render.h"

message_settings message_style;

static list_of(message *) made;

place place_of(span at)
{
    return (place){ .kind = PLACE_WORD, .at = at };
}

place place_word(const word *w)
{
    return place_of(span_of(w));
}

place place_source(const char *file, unsigned line, unsigned column, unsigned end_column,
                   const char *source)
{
    /* copies: the library's strings may be gone before the message is shown */
    return (place){ .kind = file && *file ? PLACE_SOURCE : PLACE_NONE,
                    .file = file ? mem_dup(file) : NULL,
                    .source = source ? mem_dup(source) : NULL,
                    .line = line,
                    .column = column,
                    .end_column = end_column };
}

message *message_new(severity level, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message *m = mem_alloc(sizeof *m);
    m->severity = level;
    m->code = code;
    m->layer = layer_of(code);
    m->text = mem_vformat(format, args);
    va_end(args);
    *list_add(&made) = m;
    return m;
}

message *message_at(message *m, place at)
{
    m->at = at;
    return m;
}

message *message_at_span(message *m, span at)
{
    return message_at(m, place_of(at));
}

/* Facts stand before advice, whenever they are found. */
static void add_note(message *m, message_item note)
{
    size_t at = m->items.count;
    *list_add(&m->items) = note;
    for (; at && m->items.items[at - 1].kind == ITEM_HINT; at--)
        m->items.items[at] = m->items.items[at - 1];
    m->items.items[at] = note;
}

void message_note(message *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(m, (message_item){ .kind = ITEM_NOTE, .text = mem_vformat(format, args) });
    va_end(args);
}

void message_note_at(message *m, place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(m, (message_item){ .kind = ITEM_NOTE, .text = mem_vformat(format, args), .at = at });
    va_end(args);
}

void message_hint(message *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *list_add(&m->items) = (message_item){ .kind = ITEM_HINT, .text = mem_vformat(format, args) };
    va_end(args);
}

void message_block(message *m, const char *lines)
{
    *list_add(&m->items) = (message_item){ .kind = ITEM_BLOCK, .text = mem_dup(lines) };
}

size_t messages_count(void)
{
    return made.count;
}

const message *messages_at(size_t index)
{
    return made.items[index];
}

size_t messages_errors(void)
{
    size_t errors = 0;
    for (size_t i = 0; i < made.count; i++) errors += made.items[i]->severity == SEVERITY_ERROR;
    return errors;
}

bool messages_failed(void)
{
    return messages_errors() > 0;
}

int messages_status(void)
{
    for (size_t i = 0; i < made.count; i++)
        if (made.items[i]->severity == SEVERITY_ERROR) return exit_status_of(made.items[i]->code);
    return EXIT_OK;
}

void messages_flush(void)
{
    if (message_style.held) return;
    if (message_style.before_show) message_style.before_show();
    for (size_t i = 0; i < made.count; i++) {
        message *m = made.items[i];
        if (m->shown) continue;
        m->shown = true;
        if (message_style.quiet && m->severity != SEVERITY_ERROR && !m->requested) continue;
        text out = { 0 };
        render_message(&out, m, message_style.style, message_style.color);
        fflush(stdout);
        fwrite(text_of(&out), 1, out.length, stderr);
    }
    fflush(stderr);
}

void messages_restart(void)
{
    memset(&made, 0, sizeof made);
}

const char *message_rendered(const message *m)
{
    text out = { 0 };
    render_message(&out, m, ERRORS_FULL, false);
    return text_of(&out);
}

const char *with_article(const char *noun)
{
    return mem_format("%s %s", *noun && strchr("aeiou", *noun) ? "an" : "a", noun);
}
