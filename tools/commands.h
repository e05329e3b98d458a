/* The commands.  Each gets the elements behind its name and returns the exit status; messages are shown
 * by main.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "options.h"

typedef struct command_row {
    const char *name;
    unsigned bit;
    int (*run)(element_list *elements);
    const char *usage, *summary;
} command_row;
extern const command_row command_rows[];
extern const size_t command_count;

int cmd_run(element_list *elements);
int cmd_check(element_list *elements);
int cmd_bench(element_list *elements);
int cmd_compile(element_list *elements);
int cmd_inspect(element_list *elements);
int cmd_devices(element_list *elements);
int cmd_doctor(element_list *elements);
int cmd_cache(element_list *elements);
void cache_why(element_list *elements); /* the words behind "cache why" */
int cmd_explain(element_list *elements);
int cmd_new(element_list *elements);
int cmd_help(element_list *elements);
int cmd_completions(element_list *elements);

/* Takes the first plain word out of the elements; NULL when there is none. */
const word *take_word(element_list *elements);

/* A message that FILE is missing, or that a word is one too many. */
void need_file(const char *command);
bool no_more_words(const element_list *elements);

void help_short(void);
void help_command(const command_row *command);

#endif
