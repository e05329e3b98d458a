/* gpulaunch completions: scripts for bash, zsh and fish.  The kernel's parameters come from `gpulaunch
 * inspect -q --json`, which is fast because it is cached.  SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "commands.h"

static const char sources[] = "zeros ones fill: iota rand randn perm @ null";

/* The options of a command as words. */
static const char *options_of(unsigned bit)
{
    text out = { 0 };
    const option_row *row;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (!(row->commands & bit) || !row->help) continue;
        text_format(&out, "%s%s", out.length ? " " : "", option_shown(row));
        if (row->letter) text_format(&out, " -%c", row->letter);
    }
    return text_of(&out);
}

static const char *names_of_commands(void)
{
    text out = { 0 };
    for (size_t i = 0; i < command_count; i++)
        text_format(&out, "%s%s", i ? " " : "", command_rows[i].name);
    return text_of(&out);
}

/* Prints the parameters' names of the first file among the words. */
static const char parameters[] =
    "    gpulaunch inspect -q --json \"$1\" 2>/dev/null |\n"
    "        tr '{' '\\n' | sed -n 's/^\"name\":\"\\([A-Za-z_][A-Za-z0-9_]*\\)\",\"type\":.*\"size\":.*\"pointer\":.*/\\1/p'\n";

static void bash(void)
{
    printf(
        "# bash completion of gpulaunch\n"
        "_gpulaunch_parameters() {\n%s}\n"
        "_gpulaunch() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} word file= command=${COMP_WORDS[1]} options\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return; fi\n"
        "    case $command in\n",
        parameters, names_of_commands());
    for (size_t i = 0; i < command_count; i++)
        printf("    %s) options='%s' ;;\n", command_rows[i].name, options_of(command_rows[i].bit));
    printf(
        "    esac\n"
        "    for word in \"${COMP_WORDS[@]:2}\"; do case $word in *.cu|*.ptx|*.cubin) file=$word; break ;; esac; done\n"
        "    if [ \"${COMP_WORDS[COMP_CWORD-1]}\" = = ] || [ \"$cur\" = = ]; then\n"
        "        COMPREPLY=($(compgen -W '%s' -- \"${cur#=}\")); return\n"
        "    fi\n"
        "    case $cur in\n"
        "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
        "    *) if [ -n \"$file\" ] && [ \"$file\" != \"$cur\" ]; then\n"
        "           COMPREPLY=($(compgen -S = -W \"$(_gpulaunch_parameters \"$file\")\" -- \"$cur\")); compopt -o nospace\n"
        "       else\n"
        "           COMPREPLY=($(compgen -f -X '!*.@(cu|ptx|cubin)' -- \"$cur\") $(compgen -d -- \"$cur\"))\n"
        "       fi ;;\n"
        "    esac\n"
        "}\n"
        "shopt -s extglob\n"
        "complete -F _gpulaunch gpulaunch\n",
        sources);
}

static void zsh(void)
{
    printf("#compdef gpulaunch\n"
           "_gpulaunch_parameters() {\n%s}\n"
           "_gpulaunch() {\n"
           "    local file= word\n"
           "    local -a options\n"
           "    if (( CURRENT == 2 )); then compadd -- %s; return; fi\n"
           "    case $words[2] in\n",
           parameters, names_of_commands());
    for (size_t i = 0; i < command_count; i++)
        printf("    %s) options=(%s) ;;\n", command_rows[i].name, options_of(command_rows[i].bit));
    printf(
        "    esac\n"
        "    for word in $words[3,-1]; do case $word in *.cu|*.ptx|*.cubin) file=$word; break ;; esac; done\n"
        "    if compset -P '*='; then compadd -S '' -- %s; return; fi\n"
        "    if [[ $PREFIX == -* ]]; then compadd -- $options; return; fi\n"
        "    if [[ -n $file && $file != $words[CURRENT] ]]; then\n"
        "        compadd -S = -- $(_gpulaunch_parameters $file)\n"
        "    else\n"
        "        _files -g '*.(cu|ptx|cubin)'\n"
        "    fi\n"
        "}\n"
        "compdef _gpulaunch gpulaunch\n",
        sources);
}

static void fish(void)
{
    printf(
        "# fish completion of gpulaunch\n"
        "function __gpulaunch_parameters\n"
        "    for word in (commandline -opc)[3..-1]\n"
        "        if string match -qr '\\.(cu|ptx|cubin)$' -- $word\n"
        "            gpulaunch inspect -q --json $word 2>/dev/null | tr '{' '\\n' | \\\n"
        "                sed -n 's/^\"name\":\"\\([A-Za-z_][A-Za-z0-9_]*\\)\",\"type\":.*\"size\":.*\"pointer\":.*/\\1=/p'\n"
        "            return\n"
        "        end\n"
        "    end\n"
        "end\n"
        "complete -c gpulaunch -f -n __fish_use_subcommand -a '%s'\n"
        "complete -c gpulaunch -n 'not __fish_use_subcommand' -a '(__gpulaunch_parameters)'\n",
        names_of_commands());
    const option_row *row;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (!row->help) continue;
        text commands = { 0 };
        for (size_t k = 0; k < command_count; k++)
            if (command_rows[k].bit & row->commands)
                text_format(&commands, " %s", command_rows[k].name);
        printf("complete -c gpulaunch -n '__fish_seen_subcommand_from%s' %s %s", text_of(&commands),
               strchr("-j", row->style) ? "-l"
               : strlen(row->name) > 1  ? "-o"
                                        : "-s",
               row->name);
        if (row->letter) printf(" -s %c", row->letter);
        if (row->value == '=') fputs(" -r", stdout);
        printf(" -d \"");
        for (const char *c = row->help; *c; c++) {
            if (strchr("\"$\\", *c)) putchar('\\');
            putchar(*c);
        }
        puts("\"");
    }
}

int cmd_completions(element_list *elements)
{
    const word *shell = take_word(elements);
    if (!no_more_words(elements)) return 0;
    if (shell && same_text(shell->text, "bash")) bash();
    else if (shell && same_text(shell->text, "zsh")) zsh();
    else if (shell && same_text(shell->text, "fish")) fish();
    else if (shell)
        message_at_span(fail(CODE_CLI_VALUE, "there are no completions for '%s'", shell->text),
                        span_of(shell));
    else
        message_hint(fail(CODE_CLI_VALUE, "'completions' needs the name of a shell"),
                     "gpulaunch completions bash");
    if (shell && messages_failed()) return messages_status();
    return 0;
}
