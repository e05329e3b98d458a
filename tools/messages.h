/* Messages: what went wrong, where, and what to type next.  They are gathered by stage and shown
 * together by messages_flush, in the style that --errors asks for.  Not here: how they look (render.c).
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_MESSAGES_H
#define TOOLS_MESSAGES_H

#include <stdio.h>

#include "codes.h"
#include "words.h"

typedef enum severity { SEVERITY_ERROR = 1, SEVERITY_WARNING, SEVERITY_NOTE } severity;

typedef struct place {
    enum { PLACE_NONE, PLACE_WORD, PLACE_SOURCE } kind;
    span at;                           /* WORD */
    const char *file;                  /* SOURCE */
    const char *source;                /* the line; NULL: no excerpt */
    unsigned line, column, end_column; /* characters, 1-based; 0 unknown */
    const char *label;                 /* behind the carets; NULL: none */
} place;

place place_of(span at);
place place_word(const word *w);
place place_source(const char *file, unsigned line, unsigned column, unsigned end_column,
                   const char *source);

typedef struct message_item {
    enum { ITEM_NOTE, ITEM_HINT, ITEM_BLOCK } kind;
    const char *text;
    place at;
} message_item;

typedef struct message {
    severity severity;
    int code;
    const char *layer;
    const char *text;
    place at;
    list_of(message_item) items;
    bool requested; /* somebody asked for such warnings: --quiet shows it too */
    bool shown;
} message;

message *message_new(severity level, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define fail(code, ...)   message_new(SEVERITY_ERROR, code, __VA_ARGS__)
#define warn(code, ...)   message_new(SEVERITY_WARNING, code, __VA_ARGS__)
#define inform(code, ...) message_new(SEVERITY_NOTE, code, __VA_ARGS__) /* code 0: none is shown */

message *message_at(message *m, place at);
message *message_at_span(message *m, span at);
void message_note(message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_note_at(message *m, place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void message_hint(message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_block(message *m, const char *lines); /* shown as it is, without the last newline */

size_t messages_count(void);
const message *messages_at(size_t index);
bool messages_failed(void); /* an error was made */
size_t messages_errors(void);
int messages_status(void);   /* of the first error; 0 */
void messages_flush(void);   /* shows what was not shown yet */
void messages_restart(void); /* forgets all: the next case of a check */

const char *with_article(const char *noun); /* "a float", "an int" */

/* Renders one message as --errors=full does, without colour: for reports. */
const char *message_rendered(const message *m);

typedef enum errors_style { ERRORS_FULL, ERRORS_SHORT, ERRORS_JSON, ERRORS_GITHUB } errors_style;
typedef struct message_settings {
    errors_style style;
    bool color, quiet;
    bool held;                 /* gathered only: messages_flush shows nothing */
    void (*before_show)(void); /* wipes the progress line; NULL: nothing to wipe */
} message_settings;
extern message_settings message_style;

#endif
