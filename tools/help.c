/* Help texts: the twelve lines, one page for each command made from the table of options, and topics.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "commands.h"
#include "topics.h"

void help_short(void)
{
    puts("gpulaunch: run CUDA kernels from the command line, on a GPU or on the CPU\n"
         "\n"
         "  gpulaunch run FILE.cu x=1M:rand y=1M n=x.len   compile, launch, show the outputs");
    for (size_t i = 1; i < command_count; i++) {
        static const char *const listed[] = { "check",   "bench",  "compile", "inspect",
                                              "devices", "doctor", "help" };
        bool shown = false;
        for (size_t k = 0; k < sizeof listed / sizeof *listed; k++)
            shown |= same_text(listed[k], command_rows[i].name);
        if (shown) printf("  gpulaunch %-36s %s\n", command_rows[i].usage, command_rows[i].summary);
    }
    puts("\n"
         "also cache, explain, new, completions; -h behind a command lists its options");
}

static void list_options(unsigned commands)
{
    const char *groups[32];
    size_t count = 0;
    const option_row *row;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        bool seen = false;
        for (size_t k = 0; k < count; k++) seen |= same_text(groups[k], row->group);
        if (!seen && (row->commands & commands) && !same_text(row->group, "every command"))
            groups[count++] = row->group;
    }
    groups[count++] = "every command";
    for (size_t g = 0; g < count; g++) {
        printf("\n%s\n", groups[g]);
        for (size_t i = 0; (row = option_row_at(i)); i++) {
            if (!same_text(row->group, groups[g]) || !(row->commands & commands) || !row->help)
                continue;
            const char *gap = *row->value_name && *row->value_name != '[' ? " " : "";
            const char *shown =
                mem_format("%s%s%s%s", row->letter ? mem_format("-%c, ", row->letter) : "    ",
                           option_shown(row), gap, row->value_name);
            if (strlen(shown) > 30) printf("  %s\n  %30s  %s\n", shown, "", row->help);
            else printf("  %-30s  %s\n", shown, row->help);
        }
    }
}

void help_command(const command_row *command)
{
    printf("gpulaunch %s\n  %s\n", command->usage, command->summary);
    const char *text_of_topic = topic_text(command->name);
    if (text_of_topic) printf("\n%s", text_of_topic);
    list_options(command->bit);
}

int cmd_help(element_list *elements)
{
    const word *name = take_word(elements);
    if (!no_more_words(elements)) return 0;
    if (!name) {
        help_short();
        puts(
            "\ntopics: gpulaunch help run|buffers|directives|compile-options|json|exit|environment");
        return 0;
    }
    for (size_t i = 0; i < command_count; i++)
        if (same_text(command_rows[i].name, name->text)) {
            help_command(&command_rows[i]);
            return 0;
        }
    const char *found = topic_text(name->text);
    if (found) {
        fputs(found, stdout);
        return 0;
    }
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; topic_name(i) && count < 32; i++) names[count++] = topic_name(i);
    for (size_t i = 0; i < command_count; i++) names[count++] = command_rows[i].name;
    message *m =
        message_at_span(fail(CODE_CLI_VALUE, "there is no topic '%s'", name->text), span_of(name));
    const char *near = nearest_name(name->text, names, count);
    if (near) message_hint(m, "gpulaunch help %s", near);
    else if (starts_with(name->text, "GL")) message_hint(m, "gpulaunch explain %s", name->text);
    else
        message_hint(
            m, "run, buffers, directives, compile-options, json, exit, environment, or a command");
    return 0;
}
