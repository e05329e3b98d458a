/* gpulaunch: the command.  Finds the command, reads the options that all share, and turns messages into
 * an exit status.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <gpulaunch/gpulaunch.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "document.h"
#include "progress.h"
#include "request.h"
#include "session.h"

const command_row command_rows[] = {
    { "run", CMD_RUN, cmd_run, "run FILE [NAME=VALUE]... [options]",
      "compile, launch, show the outputs" },
    { "check", CMD_CHECK, cmd_check, "check FILE|DIR... [options]",
      "run every case in the files, compare, report" },
    { "bench", CMD_BENCH, cmd_bench, "bench FILE [NAME=VALUE]... [options]",
      "measure; sweep; compare with an earlier result" },
    { "compile", CMD_COMPILE, cmd_compile, "compile FILE [-o OUT]", "CUBIN or PTX; no GPU needed" },
    { "inspect", CMD_INSPECT, cmd_inspect, "inspect FILE|CUBIN|PTX",
      "kernels, parameters, registers, shared memory" },
    { "devices", CMD_DEVICES, cmd_devices, "devices", "list GPUs and the CPU device" },
    { "doctor", CMD_DOCTOR, cmd_doctor, "doctor",
      "what is installed, what is missing, what to do" },
    { "cache", CMD_CACHE, cmd_cache, "cache dir|list|prune|clear|why FILE", "the compile cache" },
    { "explain", CMD_EXPLAIN, cmd_explain, "explain GL0703", "the long form of a message" },
    { "new", CMD_NEW, cmd_new, "new FILE.cu", "a commented starter file" },
    { "help", CMD_HELP, cmd_help, "help [TOPIC]",
      "run, buffers, directives, compile-options, json, exit, environment" },
    { "completions", CMD_COMPLETIONS, cmd_completions, "completions bash|zsh|fish",
      "print a completion script" },
};
const size_t command_count = sizeof command_rows / sizeof *command_rows;

static const command_row *command_named(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (same_text(command_rows[i].name, name)) return &command_rows[i];
    return NULL;
}

const word *take_word(element_list *elements)
{
    for (size_t i = 0; i < elements->count; i++) {
        if (elements->items[i].kind != ELEMENT_WORD) continue;
        const word *found = elements->items[i].word;
        memmove(&elements->items[i], &elements->items[i + 1],
                (elements->count - i - 1) * sizeof *elements->items);
        elements->count--;
        return found;
    }
    return NULL;
}

void need_file(const char *command)
{
    const command_row *row = command_named(command);
    message_hint(fail(CODE_CLI_FILE, "'%s' needs a file", command), "gpulaunch %s", row->usage);
}

bool no_more_words(const element_list *elements)
{
    for (size_t i = 0; i < elements->count; i++) {
        if (elements->items[i].kind != ELEMENT_WORD) continue;
        message_at_span(
            fail(CODE_CLI_FILE, "'%s' is one word too many", elements->items[i].word->text),
            span_of(elements->items[i].word));
        return false;
    }
    return true;
}

static void not_a_command(const word *w)
{
    const char *names[32], *given = w->text;
    for (size_t i = 0; i < command_count; i++) names[i] = command_rows[i].name;
    message *m =
        message_at_span(fail(CODE_CLI_COMMAND, "'%s' is not a command", given), span_of(w));
    const char *near = nearest_name(given, names, command_count);
    text rest = { 0 };
    for (size_t i = w->index + 1; i < words_count(); i++)
        text_format(&rest, " %s", shell_quoted(words_command_line((int)i)->text));
    bool file = ends_with(given, ".cu") || ends_with(given, ".ptx") || ends_with(given, ".cubin") ||
                access(given, R_OK) == 0;
    if (file) message_hint(m, "gpulaunch run %s%s", shell_quoted(given), text_of(&rest));
    else if (near) message_hint(m, "gpulaunch %s%s", near, text_of(&rest));
    else message_hint(m, "gpulaunch help  lists the commands");
}

static int finish(int status)
{
    if (!status && messages_failed()) status = messages_status();
    document_finish(status);
    if (fflush(stdout) || ferror(stdout)) {
        fail(CODE_FILE_WRITE, "standard output cannot be written: %s", strerror(errno));
        if (!status) status = EXIT_FILE;
    }
    messages_flush();
    mem_release();
    return status;
}

static int dispatch(int argc, char **argv)
{
    words_init(argc, argv);
    const word **words = mem_array((size_t)argc + 1, sizeof *words);
    size_t count = 0;
    const command_row *command = NULL;
    const word *first = NULL;
    for (int i = 1; i < argc; i++) { /* the command is the first word that is no option */
        const word *w = words_command_line(i);
        if (!first && w->text[0] != '-') {
            first = w;
            command = command_named(w->text);
            if (!command) break;
            continue;
        }
        words[count++] = w;
    }
    if (first && !command) {
        not_a_command(first);
        return 0;
    }
    element_list elements = { 0 };
    bool good = options_parse(&elements, words, count, command ? command->bit : CMD_HELP);
    good &= common_read(&elements);
    summary_stream = common.quiet ? NULL : stdout;
    log_start(common.verbose);
    progress_start(&elements);
    if (common.version) {
        printf("gpulaunch %s\n", gpul_version());
        return 0;
    }
    if (common.help) {
        if (command) help_command(command);
        else help_short();
        return 0;
    }
    if (!good) return 0;
    if (!command) {
        help_short();
        return EXIT_USAGE;
    }
    document_start(command->name, argc, argv);
    if (messages_failed()) return 0;
    return command->run(&elements);
}

int main(int argc, char **argv)
{
    interrupts_start();
    return finish(dispatch(argc, argv));
}
