/* Splitting words into options and the rest.  SPDX-License-Identifier: MIT */
#include "options.h"

static const option_row rows[] = {
#define X(id, name, letter, value, style, commands, group, value_name, help)                       \
    { OPT_##id, name, letter, value, style, commands, group, value_name, help },
#include "options.def"
#undef X
};

const option_row *option_row_of(option_id id)
{
    return &rows[id];
}

const option_row *option_row_at(size_t index)
{
    return index < OPT_COUNT ? &rows[index] : NULL;
}

const char *option_shown(const option_row *row)
{
    return mem_format("%s%s", strchr("-j", row->style) ? "--" : "-", row->name);
}

place place_of_option(const option_use *use)
{
    return place_of(use->value.word ? use->value : use->name);
}

const option_use *option_find(const element_list *elements, option_id id)
{
    const option_use *found = NULL;
    for (size_t i = 0; i < elements->count; i++)
        if (elements->items[i].kind == ELEMENT_OPTION && elements->items[i].use.id == id)
            found = &elements->items[i].use;
    return found;
}

/* The row of an option word, and where its attached value begins (0: none). */
static const option_row *match(const char *source, unsigned commands, size_t *value_at)
{
    bool two = source[1] == '-';
    const char *name = source + (two ? 2 : 1), *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    *value_at = equals ? (size_t)(equals - source) + 1 : 0;
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const option_row *row = &rows[i];
        if (!(row->commands & commands)) continue;
        bool dashes = two || row->style == 'n' || row->style == 's';
        if (dashes && strlen(row->name) == length && strncmp(row->name, name, length) == 0)
            return row;
        if (!two && row->letter && length == 1 && *name == row->letter) return row;
    }
    for (size_t i = 0; i < OPT_COUNT; i++) { /* -DNAME, -Idir, -j4 */
        const option_row *row = &rows[i];
        if (!strchr("sj", row->style) || two || !(row->commands & commands)) continue;
        const char letter[] = { row->letter, 0 }, *stem = row->style == 's' ? row->name : letter;
        if (starts_with(name, stem) && name[strlen(stem)]) {
            *value_at = 1 + strlen(stem);
            return row;
        }
    }
    return NULL;
}

static void unknown(const word *w, unsigned commands)
{
    size_t length = strcspn(w->text, "=");
    const char *given = mem_copy(w->text, length), *names[OPT_COUNT];
    message *m;
    if (w->confined)
        m = fail(CODE_DIRECTIVE_WORD, "unknown option '%s' in a gpulaunch directive", given);
    else m = fail(CODE_CLI_OPTION, "unknown option '%s'", given);
    message_at_span(m, (span){ w, 0, length });
    size_t count = 0, value_at;
    for (size_t i = 0; i < OPT_COUNT; i++)
        if (rows[i].commands & commands) names[count++] = option_shown(&rows[i]);
    const char *near = nearest_name(given, names, count);
    if (near) {
        message_hint(m, "%s%s", near, w->text + length);
    } else if (match(w->text, CMD_ALL, &value_at)) {
        message_note(m, "it is an option of another command");
        message_hint(m, "gpulaunch help");
    } else {
        message_hint(m, "-h lists the options; behind -- a word may begin with -");
    }
}

/* nvcc's words are -MD -MF FILE. */
static bool behind_md(const word *next)
{
    size_t ignored;
    const option_row *row = next->text[0] == '-' ? match(next->text, CMD_COMPILE, &ignored) : NULL;
    return row && row->id == OPT_MF;
}

bool options_parse(element_list *out, const word *const *words, size_t count, unsigned commands)
{
    bool good = true, ended = false;
    for (size_t i = 0; i < count; i++) {
        const word *w = words[i];
        if (!ended && same_text(w->text, "--")) {
            ended = true;
            continue;
        }
        if (ended || w->text[0] != '-' || !w->text[1]) {
            *list_add(out) = (element){ .kind = ELEMENT_WORD, .word = w };
            continue;
        }
        if (w->text[1] == 'v' &&
            strspn(w->text + 1, "v") == strlen(w->text + 1)) { /* -v -vv -vvv */
            option_use use = {
                .id = OPT_VERBOSE, .row = &rows[OPT_VERBOSE], .name = span_of(w), .text = ""
            };
            for (const char *v = w->text + 1; *v; v++)
                *list_add(out) = (element){ .kind = ELEMENT_OPTION, .use = use };
            continue;
        }
        size_t value_at;
        const option_row *row = match(w->text, commands, &value_at);
        if (!row) {
            unknown(w, commands);
            good = false;
            continue;
        }
        option_use use = { .id = row->id, .row = row, .text = "" };
        use.name =
            (span){ w, 0, value_at ? value_at - (w->text[value_at - 1] == '=') : strlen(w->text) };
        if (value_at && !row->value) {
            message *m = message_at_span(fail(w->confined ? CODE_DIRECTIVE_WORD : CODE_CLI_VALUE,
                                              "%s takes no value", option_shown(row)),
                                         span_from(w, value_at));
            message_hint(m, "%s", option_shown(row));
            good = false;
            continue;
        }
        if (value_at) {
            use.value = span_from(w, value_at);
        } else if (row->id == OPT_MD && i + 1 < count && behind_md(words[i + 1])) {
            use.value = (span){ 0 }; /* -MF has it */
        } else if (row->value == '=') {
            size_t ignored;
            bool last = i + 1 == count;
            if (last || (strchr("-j", row->style) && starts_with(words[i + 1]->text, "--") &&
                         match(words[i + 1]->text, commands, &ignored))) {
                message *m =
                    message_at_span(fail(w->confined ? CODE_DIRECTIVE_WORD : CODE_CLI_VALUE,
                                         "%s needs a value", option_shown(row)),
                                    span_of(w));
                message_hint(m, "%s %s", option_shown(row),
                             *row->value_name ? row->value_name : "VALUE");
                good = false;
                continue;
            }
            use.value = span_of(words[++i]);
        }
        if (use.value.word) use.text = use.value.word->text + use.value.start;
        *list_add(out) =
            (element){ .kind = row->id == OPT_THEN ? ELEMENT_THEN : ELEMENT_OPTION, .use = use };
    }
    return good;
}
