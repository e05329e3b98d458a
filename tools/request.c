/* Gathering a request.  SPDX-License-Identifier: MIT */
#include "request.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"
#include "values.h"

common_options common;

void request_init(run_request *out)
{
    *out = (run_request){ .seed = 1, .mismatch_limit = 5 };
}

static step_request *step_at(run_request *out, size_t index)
{
    while (out->steps.count <= index) *list_add(&out->steps) = (step_request){ .repeat = 1 };
    return &out->steps.items[index];
}

const assignment *request_find(const step_request *step, const char *name)
{
    for (size_t i = 0; i < step->assignments.count; i++)
        if (same_text(step->assignments.items[i].name, name)) return &step->assignments.items[i];
    return NULL;
}

/* ---- NAME=VALUE ---- */

/* The end of a name: letters, digits, dots and brackets. */
static size_t name_length(const char *source)
{
    size_t at = 0;
    while (isalnum((unsigned char)source[at]) || strchr("_.[]:", source[at] ? source[at] : ' '))
        at++;
    return at;
}

static bool add_assignment(step_request *step, const word *w, int level)
{
    size_t length = name_length(w->text);
    if (!length || w->text[length] != '=' || w->text[0] == '.') {
        message *m = message_at_span(fail(w->confined ? CODE_DIRECTIVE_WORD : CODE_ARGS_SYNTAX,
                                          "'%s' is neither an option nor NAME=VALUE", w->text),
                                     span_of(w));
        if (access(w->text, R_OK) == 0)
            message_hint(m, "a file is given to a parameter: NAME=@%s", w->text);
        else
            message_hint(
                m,
                "write NAME=VALUE with the name of a kernel parameter; gpulaunch inspect FILE lists them");
        return false;
    }
    assignment made = { .name = mem_copy(w->text, length),
                        .name_at = { w, 0, length },
                        .value_at = span_from(w, length + 1),
                        .level = level };
    size_t base = strcspn(made.name, ".[");
    made.base = mem_copy(made.name, base);
    if (made.name[base]) made.member = made.name + base + (made.name[base] == '.');
    size_t kept = 0;
    for (size_t i = 0; i < step->assignments.count; i++) {
        assignment *old = &step->assignments.items[i];
        bool same = same_text(old->name, made.name);
        bool inside =
            !made.member && same_text(old->base, made.base); /* b=... hides an older b.pos=... */
        if (same && old->level == level) {
            message *m = message_at_span(fail(CODE_ARGS_SYNTAX, "'%s' is given twice", made.name),
                                         span_of(w));
            message_note_at(m, place_of(span_of(old->name_at.word)), "the first one");
            return false;
        }
        if ((same || inside) && old->level < level) continue;
        step->assignments.items[kept++] = *old;
    }
    step->assignments.count = kept;
    *list_add(&step->assignments) = made;
    return true;
}

/* ---- Options with values ---- */

static bool value_fail(const option_use *use, const char *sentence, const char *hint)
{
    const word *w = use->name.word;
    message *m = message_at(fail(w->confined ? CODE_DIRECTIVE_WORD : CODE_CLI_VALUE, "%s: %s",
                                 option_shown(use->row), sentence),
                            place_of_option(use));
    if (hint) message_hint(m, "%s", hint);
    return false;
}

static bool read_dimensions(dimensions *out, const option_use *use, int code_zero)
{
    uint64_t n[3] = { 1, 1, 1 };
    unsigned rank;
    if (!triple_parse(n, &rank, use->text)) {
        bool by_x = strchr(use->text, 'x') != NULL;
        if (strpbrk(use->text, "eE"))
            return value_fail(use, mem_format("\"%s\" is not a count", use->text),
                              "write it out, 1000 for 1e3; K and M are powers of 1024");
        return value_fail(use, mem_format("\"%s\" is not X, X,Y or X,Y,Z", use->text),
                          by_x ? mem_format("%s has commas here; a shape of a buffer has x",
                                            option_shown(use->row))
                               : NULL);
    }
    for (unsigned i = 0; i < rank; i++)
        if (!n[i]) {
            message *m = message_at(
                fail(code_zero, "%s: dimension %c is zero", option_shown(use->row), "xyz"[i]),
                place_of_option(use));
            message_hint(m, "each dimension is at least 1");
            return false;
        }
    *out = (dimensions){ .rank = rank, .at = use->value };
    memcpy(out->n, n, sizeof n);
    return true;
}

bool option_read_count(uint64_t *out, const option_use *use, uint64_t least)
{
    if (*use->text && value_count(out, use->text, strlen(use->text)) == VALUE_FINE && *out >= least)
        return true;
    return value_fail(
        use, mem_format("\"%s\" is not a whole number%s", use->text, least ? " above 0" : ""),
        NULL);
}

/* A later level replaces what a weaker one said about the same name. */
static void add_named(named_list *list, named_span made)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!same_text(list->items[i].name, made.name) || list->items[i].level == made.level)
            list->items[kept++] = list->items[i];
    list->count = kept;
    *list_add(list) = made;
}

static bool read_named(named_list *list, const option_use *use, int level, char separator,
                       bool needed)
{
    span whole = use->value;
    const char *found = strchr(use->text, separator);
    if (!*use->text || found == use->text || (!found && needed))
        return value_fail(use, mem_format("\"%s\" is not %s", use->text, use->row->value_name),
                          NULL);
    named_span made = { .name =
                            found ? mem_copy(use->text, (size_t)(found - use->text)) : use->text,
                        .text = found ? found + 1 : NULL,
                        .name_at = whole,
                        .at = whole,
                        .level = level };
    if (found) {
        size_t cut = (size_t)(found - whole.word->text);
        made.name_at.end = cut;
        made.at.start = cut + 1;
    }
    add_named(list, made);
    return true;
}

static bool read_swap(step_request *step, const option_use *use)
{
    const char *comma = strchr(use->text, ',');
    if (!comma || comma == use->text || !comma[1] || strchr(comma + 1, ','))
        return value_fail(use, mem_format("\"%s\" is not A,B", use->text), "--swap cur,next");
    step->swap_a = mem_copy(use->text, (size_t)(comma - use->text));
    step->swap_b = comma + 1;
    step->swap_at = use->value;
    return true;
}

bool seconds_parse(double *out, const char *source)
{
    char *end;
    if (!isdigit((unsigned char)*source) && *source != '.') return false;
    *out = strtod(source, &end);
    if (same_text(end, "ms")) *out /= 1000;
    else if (same_text(end, "us")) *out /= 1e6;
    else if (same_text(end, "m") || same_text(end, "min")) *out *= 60;
    else if (*end && !same_text(end, "s")) return false;
    return *out >= 0 && *out < 1e9;
}

/* The three ways to say how many threads exclude each other; a stronger level clears a weaker one's. */
static bool claim_geometry(step_request *step, const option_use *use, int level)
{
    static const option_id ids[] = { OPT_GRID, OPT_THREADS, OPT_OVER };
    span old[] = { step->grid.at, step->threads.at, step->over_at };
    for (int i = 0; i < 3; i++) {
        if (!old[i].word || ids[i] == use->id) continue;
        bool weaker = old[i].word->confined && level == 3;
        if (!weaker) {
            message *m =
                message_at(fail(CODE_CLI_VALUE, "%s and %s say the same thing twice",
                                option_shown(option_row_of(ids[i])), option_shown(use->row)),
                           place_of_option(use));
            message_hint(m, "leave one of them out");
            return false;
        }
        if (ids[i] == OPT_GRID) step->grid = (dimensions){ 0 };
        else if (ids[i] == OPT_THREADS) step->threads = (dimensions){ 0 };
        else step->over = NULL, step->over_at = (span){ 0 };
    }
    return true;
}

static bool read_option(run_request *out, step_request *step, const option_use *use, int level)
{
    switch (use->id) {
    case OPT_KERNEL:
        step->kernel = use->text;
        step->kernel_at = use->value;
        return true;
    case OPT_GRID:
        return claim_geometry(step, use, level) &&
               read_dimensions(&step->grid, use, CODE_LAUNCH_ZERO);
    case OPT_THREADS:
        return claim_geometry(step, use, level) &&
               read_dimensions(&step->threads, use, CODE_LAUNCH_ZERO);
    case OPT_OVER:
        step->over = use->text;
        step->over_at = use->value;
        return claim_geometry(step, use, level);
    case OPT_BLOCK:
        step->block_auto = same_text(use->text, "auto");
        return step->block_auto || read_dimensions(&step->block, use, CODE_LAUNCH_ZERO);
    case OPT_CLUSTER: return read_dimensions(&step->cluster, use, CODE_LAUNCH_ZERO);
    case OPT_COOPERATIVE: return step->cooperative = true;
    case OPT_SHARED:
        step->shared_at = use->value;
        step->has_shared = true;
        return option_read_count(&step->shared, use, 0);
    case OPT_REPEAT: return option_read_count(&step->repeat, use, 1);
    case OPT_SWAP: return read_swap(step, use);
    case OPT_OUT: return read_named(&step->outs, use, level, '=', true);
    case OPT_PRINT:
        if (same_text(use->text, "none")) return step->print_none = true;
        return read_named(&step->prints, use, level, ':', false);
    case OPT_EXPECT: return read_named(&step->expects, use, level, '=', true);
    case OPT_EXPECT_KERNEL: return read_named(&step->expect_kernels, use, level, '=', true);
    case OPT_SET_GLOBAL: return read_named(&step->set_globals, use, level, '=', true);
    case OPT_GET_GLOBAL: return read_named(&step->get_globals, use, level, '=', false);
    case OPT_SEED: return option_read_count(&out->seed, use, 0);
    case OPT_TIMEOUT:
        if (seconds_parse(&out->timeout, use->text) && out->timeout > 0) return true;
        return value_fail(use, mem_format("\"%s\" is not a time", use->text), "--timeout 10");
    case OPT_NO_GUARD: return out->no_guard = true;
    case OPT_GUARD: return out->guard = true;
    case OPT_DRY_RUN: return out->dry_run = true;
    case OPT_MISMATCHES: {
        uint64_t limit = SIZE_MAX;
        if (!same_text(use->text, "all") && !option_read_count(&limit, use, 0)) return false;
        out->mismatch_limit = limit;
        return true;
    }
    default:
        if (same_text(use->row->group, "compiling"))
            *list_add(&out->compile) = (element){ .kind = ELEMENT_OPTION, .use = *use };
        return true;
    }
}

static bool add_elements(run_request *out, const element_list *elements, size_t step, int level)
{
    bool good = true;
    step_at(out, step);
    for (size_t i = 0; i < elements->count; i++) {
        const element *e = &elements->items[i];
        if (e->kind == ELEMENT_THEN) step_at(out, ++step);
        else if (e->kind == ELEMENT_WORD)
            good &= add_assignment(step_at(out, step), e->word, level);
        else good &= read_option(out, step_at(out, step), &e->use, level);
    }
    return good;
}

bool request_add(run_request *out, const element_list *elements, int level)
{
    return add_elements(out, elements, 0, level);
}

/* What belongs to the person at the prompt, and not to the file. */
bool option_allowed_in_file(const option_use *use)
{
    static const option_id own[] = { OPT_CASE,      OPT_NO_DIRECTIVES, OPT_TRUST,
                                     OPT_DEVICE,    OPT_REQUIRE_GPU,   OPT_SANITIZE,
                                     OPT_DRY_RUN,   OPT_SAVE_CASE,     OPT_SAVE_DIRECTIVE,
                                     OPT_ARGS_FROM, OPT_TRACE,         OPT_SUPPRESSIONS };
    if (same_text(use->row->group, "every command") || same_text(use->row->group, "measuring"))
        return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (use->id == own[i]) return false;
    return true;
}

bool request_add_words(run_request *out, const word_list *words, size_t step, int level,
                       unsigned commands)
{
    element_list elements = { 0 };
    bool good = options_parse(&elements, words->items, words->count, commands);
    for (size_t i = 0; i < elements.count; i++) {
        const element *e = &elements.items[i];
        if (e->kind != ELEMENT_OPTION || !e->use.name.word->confined) continue;
        if (!option_allowed_in_file(&e->use)) {
            message *m = message_at(fail(CODE_DIRECTIVE_WORD, "%s has no meaning in a directive",
                                         option_shown(e->use.row)),
                                    place_of(e->use.name));
            message_hint(m, "give it on the command line");
            good = false;
        }
        if (e->use.id != OPT_OUT || paths_trusted) continue;
        message *m =
            message_at(fail(CODE_DIRECTIVE_TRUST, "a directive may not write files, and -o would"),
                       place_of_option(&e->use));
        message_hint(m, "give -o on the command line, or --trust when you trust the source file");
        good = false;
    }
    return add_elements(out, &elements, step, level) && good;
}

bool request_finish(run_request *out)
{
    bool good = true;
    for (size_t i = 0; i < out->steps.count; i++) {
        const step_request *s = &out->steps.items[i];
        if (!s->swap_a || s->repeat > 1) continue;
        message *m = message_at_span(
            fail(CODE_CLI_VALUE,
                 "--swap exchanges buffers between launches, and there is one launch"),
            s->swap_at);
        message_hint(m, "--repeat N");
        good = false;
    }
    return good;
}

/* ---- Options of every command ---- */

bool common_read(const element_list *elements)
{
    bool good = true;
    const char *color = "auto";
    for (size_t i = 0; i < elements->count; i++) {
        if (elements->items[i].kind != ELEMENT_OPTION) continue;
        const option_use *use = &elements->items[i].use;
        static const char *const styles[] = { "full", "short", "json", "github" };
        switch (use->id) {
        case OPT_HELP: common.help = true; break;
        case OPT_VERSION: common.version = true; break;
        case OPT_QUIET: common.quiet = message_style.quiet = true; break;
        case OPT_VERBOSE: common.verbose++; break;
        case OPT_JSON:
            common.json = true;
            common.json_file = *use->text && !same_text(use->text, "-") ? use->text : NULL;
            break;
        case OPT_ERRORS: {
            int style = 0;
            while (style < 4 && !same_text(styles[style], use->text)) style++;
            if (style < 4) message_style.style = (errors_style)style;
            else
                good = value_fail(
                    use, mem_format("\"%s\" is not full, short, json or github", use->text), NULL);
            break;
        }
        case OPT_PROGRESS:
            if (!same_text(use->text, "auto") && !same_text(use->text, "never"))
                good = value_fail(use, mem_format("\"%s\" is not auto or never", use->text), NULL);
            break;
        case OPT_COLOR:
            color = use->text;
            if (!same_text(color, "auto") && !same_text(color, "always") &&
                !same_text(color, "never"))
                good =
                    value_fail(use, mem_format("\"%s\" is not auto, always or never", color), NULL);
            break;
        default: break;
        }
    }
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    if (same_text(color, "auto"))
        message_style.color =
            (force && *force && !same_text(force, "0")) ||
            (isatty(STDERR_FILENO) && !(no && *no) && term && !same_text(term, "dumb"));
    else message_style.color = same_text(color, "always");
    return good;
}
