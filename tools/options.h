/* The table of all options and the splitting of words into options and the rest.  What an option does is
 * its command's business.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include "messages.h"

enum command {
    CMD_RUN = 1 << 0,
    CMD_CHECK = 1 << 1,
    CMD_BENCH = 1 << 2,
    CMD_COMPILE = 1 << 3,
    CMD_INSPECT = 1 << 4,
    CMD_DEVICES = 1 << 5,
    CMD_DOCTOR = 1 << 6,
    CMD_CACHE = 1 << 7,
    CMD_EXPLAIN = 1 << 8,
    CMD_NEW = 1 << 9,
    CMD_HELP = 1 << 10,
    CMD_COMPLETIONS = 1 << 11,
    CMD_ALL = (1 << 12) - 1,
    CMD_LAUNCH = CMD_RUN | CMD_CHECK | CMD_BENCH,
    CMD_COMPILES = CMD_RUN | CMD_CHECK | CMD_BENCH | CMD_COMPILE | CMD_INSPECT | CMD_CACHE
};

typedef enum option_id {
#define X(id, ...) OPT_##id,
#include "options.def"
#undef X
    OPT_COUNT
} option_id;

typedef struct option_row {
    option_id id;
    const char *name; /* without dashes */
    char letter;      /* short form; 0: none */
    char value;       /* 0: none, '=': needed, '?': optional, only behind = */
    char
        style; /* '-': two dashes; 'j': the same, and the value may stick to the letter; 'n': nvcc's, one or
                   two; 's': nvcc's, value may stick to it */
    unsigned commands;
    const char *group, *value_name, *help; /* help NULL: not listed */
} option_row;

const option_row *option_row_of(option_id id);
const option_row *option_row_at(size_t index); /* NULL at the end */

typedef struct option_use {
    option_id id;
    const option_row *row;
    span name;        /* as written, with its dashes */
    span value;       /* word NULL: none */
    const char *text; /* of the value; "" */
} option_use;

typedef struct element {
    enum { ELEMENT_OPTION, ELEMENT_WORD, ELEMENT_THEN } kind;
    option_use use;
    const word *word;
} element;

typedef list_of(element) element_list;

/* Adds to `out`; a message for each word that is wrong.  `commands` are those whose options count. */
bool options_parse(element_list *out, const word *const *words, size_t count, unsigned commands);

/* "--grid" as a person types it. */
const char *option_shown(const option_row *row);

/* The place of an option with its value, for messages: the value when there is one. */
place place_of_option(const option_use *use);

/* The last use of an option, or NULL. */
const option_use *option_find(const element_list *elements, option_id id);

#endif
