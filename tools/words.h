/* Words: what was typed, be it on the command line, in a directive or in a file of arguments, and where.
 * A message points at a part of a word by a span.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_WORDS_H
#define TOOLS_WORDS_H

#include "mem.h"

typedef enum word_origin {
    WORD_COMMAND_LINE,
    WORD_FILE /* a directive or a line of --args-from */
} word_origin;

typedef struct word {
    const char *text;
    word_origin origin;
    size_t index;           /* command line: position in argv */
    const char *file;       /* file: its name, */
    const char *line_text;  /* the whole line, */
    unsigned line;          /* its number, */
    const unsigned *offset; /* and where in the line each byte of text (and its end) stands */
    const char *folder;     /* paths are relative to it; NULL: the current one */
    bool confined;          /* a directive: paths may not leave the folder, nothing is written */
} word;

typedef struct span {
    const word *word;
    size_t start, end; /* bytes of word->text */
} span;

typedef list_of(const word *) word_list;

span span_of(const word *w); /* the whole of it */
span span_from(const word *w, size_t start);
span span_part(const word *w, const char *from, const char *to); /* pointers into w->text */

/* The command line as the messages show it: argv with quotes where a shell would need them.
 * words_init keeps argv; command_line_column gives the byte of the shown line at which byte `at` of
 * word `index` stands. */
void words_init(int argc, char **argv);
const word *words_command_line(int index);
size_t words_count(void);
const char *command_line_text(void);
size_t command_line_column(size_t index, size_t at);

/* Splits the line of `like` (file, line, line_text, folder, confined) at blanks; "..." and '...' group; #
 * at a word's start begins a remark.  `start` is the byte of the line to begin at.  False, with the byte of the opening quote in *bad, when a quote is not
 * closed. */
bool words_split(word_list *out, const word *like, size_t start, size_t *bad);

/* A word as a shell wants it. */
const char *shell_quoted(const char *text);

/* The nearest of `count` names within two edits, or NULL. */
const char *nearest_name(const char *name, const char *const *names, size_t count);
size_t edit_distance(const char *a, const char *b);

#endif
