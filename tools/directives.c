/* Directives: `// gpulaunch: args x=1M` and its kin.  A directive fills its line, stands outside block
 * comments, and is a part of a command line.  SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <strings.h>

#include "source.h"
#include "values.h"

static const char *const kinds[] = { "build", "args", "case", "+", "then", "require", "fails" };
enum kind {
    KIND_BUILD,
    KIND_ARGS,
    KIND_CASE,
    KIND_MORE,
    KIND_THEN,
    KIND_REQUIRE,
    KIND_FAILS,
    KINDS
};

typedef struct reader {
    const source_file *source;
    directives *out;
    bool strict, good;
    word_list *last; /* what "+" continues */
} reader;

static place on_line(const reader *r, unsigned line, const char *from, const char *to)
{
    const char *source = source_line(r->source, line);
    unsigned column = (unsigned)utf8_length(source, (size_t)(from - source)) + 1;
    unsigned end = (unsigned)utf8_length(source, (size_t)(to - source)) + 1;
    return place_source(r->source->path, line, column, end, source);
}

static message *bad(reader *r, int code, place at, const char *sentence)
{
    r->good = false;
    return message_at(fail(code, "%s", sentence), at);
}

/* ---- Look-alikes ---- */

static bool is_kind(const char *name, size_t length)
{
    for (int i = 0; i < KINDS; i++)
        if (strlen(kinds[i]) == length && strncmp(kinds[i], name, length) == 0) return true;
    return false;
}

/* `gpu-launch:`, `Gpulaunch:`, `gpulaunch args`, `gpulaunch : x`. */
static bool looks_like_directive(const char *comment)
{
    const char *c = comment;
    if (strncasecmp(c, "gpulaunch", 9) == 0) c += 9;
    else if (strncasecmp(c, "gpu-launch", 10) == 0 || strncasecmp(c, "gpu_launch", 10) == 0 ||
             strncasecmp(c, "gpu launch", 10) == 0) {
        c += 10;
    } else if (strncasecmp(c, "gpulanch", 8) == 0 || strncasecmp(c, "gplaunch", 8) == 0) {
        c += 8;
        if (*c != ':') return false;
    } else {
        return false;
    }
    c += strspn(c, " \t");
    if (*c == ':') return true;
    size_t length = strcspn(c, " \t");
    return is_kind(c, length) || (length == 3 && strncmp(c, "run", 3) == 0) ||
           (length == 5 && strncmp(c, "check", 5) == 0);
}

/* ---- Words ---- */

static void check_require(reader *r, const word_list *words)
{
    static const char *const known[] = { "cc", "mem", "shared", "sms", "driver", "nvrtc", "coop" };
    for (size_t i = 0; i < words->count; i++) {
        const char *w = words->items[i]->text;
        size_t length = strcspn(w, "<>=");
        const char *name = mem_copy(w, length);
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= same_text(known[k], name);
        bool plain = same_text(name, "coop");
        if (found && (plain ? !w[length] : starts_with(w + length, ">=") && w[length + 2]))
            continue;
        message *m = bad(r, CODE_DIRECTIVE_WORD, place_word(words->items[i]),
                         mem_format("'%s' is nothing that can be required", w));
        message_hint(m, "cc>=8.0 mem>=2G shared>=96K sms>=100 driver>=12.4 nvrtc>=12.0 coop");
    }
}

static void read_fails(reader *r, case_definition *c, const word_list *words)
{
    uint64_t number = 0;
    const char *w = words->count ? words->items[0]->text : "";
    if (words->count != 1 || !starts_with(w, "GL") || strlen(w) != 6 ||
        value_count(&number, w + 2 + strspn(w + 2, "0"), strlen(w + 2 + strspn(w + 2, "0"))) !=
            VALUE_FINE) {
        message *m =
            bad(r, CODE_DIRECTIVE_SYNTAX, words->count ? place_word(words->items[0]) : (place){ 0 },
                "'fails' takes one code");
        message_hint(m, "// gpulaunch: fails GL0505");
        return;
    }
    c->fails = w;
    c->fails_code = (int)number;
    c->fails_at = span_of(words->items[0]);
}

static case_definition *last_case(reader *r)
{
    directives *d = r->out;
    if (!d->cases.count) {
        *list_add(&d->cases) = (case_definition){ .name = "default" };
        word_list *words = list_add(&d->cases.items[0].steps);
        memset(words, 0, sizeof *words);
        d->implicit = true;
    }
    return &d->cases.items[d->cases.count - 1];
}

static void new_case(reader *r, const word_list *words, place at)
{
    directives *d = r->out;
    if (!words->count) {
        message_hint(bad(r, CODE_DIRECTIVE_SYNTAX, at, "a case needs a name"),
                     "// gpulaunch: case small x=64:iota");
        return;
    }
    const word *name = words->items[0];
    if (strchr(name->text, '=') || name->text[0] == '-') {
        message_hint(
            bad(r, CODE_DIRECTIVE_SYNTAX, place_word(name), "the first word of a case is its name"),
            "// gpulaunch: case small %s", name->text);
        return;
    }
    for (size_t i = 0; i < d->cases.count && !d->implicit; i++) {
        if (!same_text(d->cases.items[i].name, name->text)) continue;
        message *m = bad(r, CODE_DIRECTIVE_CASE, place_word(name),
                         mem_format("case '%s' is there already", name->text));
        message_note_at(m, place_of(d->cases.items[i].name_at), "the first one");
        return;
    }
    if (d->implicit) { /* 'fails' or 'then' stood before the first case */
        bad(r, CODE_DIRECTIVE_SYNTAX, at, "the first case must stand above 'then' and 'fails'");
        return;
    }
    case_definition *c = list_add(&d->cases);
    *c = (case_definition){ .name = name->text, .name_at = span_of(name) };
    word_list *step = list_add(&c->steps);
    memset(step, 0, sizeof *step);
    for (size_t i = 1; i < words->count; i++) *list_add(step) = words->items[i];
    r->last = step;
}

static void append(word_list *to, const word_list *words)
{
    for (size_t i = 0; i < words->count; i++) *list_add(to) = words->items[i];
}

/* ---- Lines ---- */

static void read_directive(reader *r, unsigned number, const char *line, const char *content)
{
    directives *d = r->out;
    d->any = true;
    word like = { .file = r->source->path,
                  .line_text = line,
                  .line = number,
                  .folder = r->source->folder,
                  .confined = true };
    word_list words = { 0 };
    size_t wrong;
    if (!words_split(&words, &like, (size_t)(content - line), &wrong)) {
        message_hint(bad(r, CODE_DIRECTIVE_SYNTAX,
                         on_line(r, number, line + wrong, line + wrong + 1),
                         "this quote is not closed"),
                     "close it on the same line; + continues a directive on the next one");
        return;
    }
    if (!words.count) {
        bad(r, CODE_DIRECTIVE_SYNTAX, on_line(r, number, content - 1, content),
            "an empty directive");
        return;
    }
    const word *first = words.items[0];
    int which = 0;
    while (which < KINDS && !same_text(kinds[which], first->text)) which++;
    words.items++;
    words.count--;
    switch (which) {
    case KIND_BUILD: append(r->last = &d->build, &words); break;
    case KIND_ARGS: append(r->last = &d->args, &words); break;
    case KIND_CASE: new_case(r, &words, place_word(first)); break;
    case KIND_THEN: {
        word_list *step = list_add(&last_case(r)->steps);
        memset(step, 0, sizeof *step);
        append(r->last = step, &words);
        break;
    }
    case KIND_REQUIRE:
        check_require(r, &words);
        append(r->last = d->cases.count ? &last_case(r)->require : &d->require, &words);
        break;
    case KIND_FAILS: read_fails(r, last_case(r), &words); break;
    case KIND_MORE:
        if (r->last) append(r->last, &words);
        else
            bad(r, CODE_DIRECTIVE_SYNTAX, place_word(first),
                "+ continues a directive, and there is none above");
        break;
    default: {
        message *m = bad(r, CODE_DIRECTIVE_KIND, place_word(first),
                         mem_format("'%s' is no kind of directive", first->text));
        const char *near = nearest_name(first->text, kinds, KINDS);
        if (near) message_hint(m, "// gpulaunch: %s ...", near);
        else if (strchr(first->text, '=') || first->text[0] == '-')
            message_hint(m, "// gpulaunch: args %s ...", first->text);
        else message_hint(m, "build, args, case, then, require, fails, or + to continue");
    }
    }
}

static void read_comment(reader *r, unsigned number, const char *line, const char *comment)
{
    const char *c = comment + strspn(comment, "/");
    c += strspn(c, " \t");
    if (starts_with(c, "gpulaunch:")) {
        read_directive(r, number, line, c + 10);
    } else if (looks_like_directive(c)) {
        const char *end = c + strcspn(c, ":");
        if (*end) end++;
        else end = c + strcspn(c, " \t");
        message *m =
            message_new(r->strict ? SEVERITY_ERROR : SEVERITY_WARNING, CODE_DIRECTIVE_LOOKALIKE,
                        "this looks like a directive, but is not one");
        message_at(m, on_line(r, number, c, end));
        message_hint(m, "// gpulaunch: args ...");
        if (r->strict) r->good = false;
    }
}

/* Whether a line leaves a block comment open, given whether one was open at its start. */
static bool inside_comment(const char *line, bool inside)
{
    char quote = 0;
    for (const char *c = line; *c; c++) {
        if (inside) {
            if (c[0] == '*' && c[1] == '/') {
                inside = false;
                c++;
            }
        } else if (quote) {
            if (*c == '\\' && c[1]) c++;
            else if (*c == quote) quote = 0;
        } else if (*c == '"' || *c == '\'') {
            quote = *c;
        } else if (c[0] == '/' && c[1] == '/') {
            break;
        } else if (c[0] == '/' && c[1] == '*') {
            inside = true;
            c++;
        }
    }
    return inside;
}

bool directives_read(directives *out, const source_file *source, bool strict)
{
    *out = (directives){ 0 };
    reader r = { .source = source, .out = out, .strict = strict, .good = true };
    bool inside = false;
    for (unsigned number = 1; number <= source->lines.count; number++) {
        const char *line = source_line(source, number), *start = line + strspn(line, " \t");
        if (!inside && starts_with(start, "//")) read_comment(&r, number, line, start);
        else inside = inside_comment(line, inside);
    }
    last_case(&r);
    return r.good;
}

const case_definition *directives_case(const directives *d, const char *name)
{
    if (!name) return &d->cases.items[0];
    for (size_t i = 0; i < d->cases.count; i++)
        if (same_text(d->cases.items[i].name, name)) return &d->cases.items[i];
    return NULL;
}
