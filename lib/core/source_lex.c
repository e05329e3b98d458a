/* Tokens of CUDA source, and the conditions around them as far as they can be judged without a
 * preprocessor.  SPDX-License-Identifier: MIT */
#include "core/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct condition {
    gpul__known active; /* of the branch that is being read */
    gpul__known taken;  /* whether an earlier branch was */
};

enum { CONDITIONS = 64 };

struct lexer {
    gpul__tokens *out;
    const char *text, *at, *end;
    const gpul__macros *macros;
    struct condition conditions[CONDITIONS];
    size_t depth; /* may exceed CONDITIONS; the outer ones then decide */
    size_t first; /* token of this text */
    bool failed;
};

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}
static bool is_word(char c)
{
    return is_word_start(c) || isdigit((unsigned char)c);
}

static gpul__known negated(gpul__known a)
{
    return a == GPUL__KNOWN_MAYBE ? a : a == GPUL__KNOWN_YES ? GPUL__KNOWN_NO : GPUL__KNOWN_YES;
}

static gpul__known both(gpul__known a, gpul__known b)
{
    if (a == GPUL__KNOWN_NO || b == GPUL__KNOWN_NO) return GPUL__KNOWN_NO;
    return a == GPUL__KNOWN_YES ? b : a;
}

static gpul__known either(gpul__known a, gpul__known b)
{
    return negated(both(negated(a), negated(b)));
}

static gpul__known active(const struct lexer *lexer)
{
    gpul__known all = GPUL__KNOWN_YES;
    for (size_t i = 0; i < lexer->depth && i < CONDITIONS; i++)
        all = both(all, lexer->conditions[i].active);
    return all;
}

static void push(struct lexer *lexer, uint8_t kind, const char *start, const char *end)
{
    gpul__tokens *out = lexer->out;
    gpul__known here = kind == GPUL__TOKEN_END ? GPUL__KNOWN_YES : active(lexer);
    if (here == GPUL__KNOWN_NO) return;
    if (!gpul__grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items)) {
        lexer->failed = true;
        return;
    }
    out->items[out->count] = (gpul__token){ .kind = kind,
                                            .uncertain = here == GPUL__KNOWN_MAYBE,
                                            .length = (uint32_t)(end - start),
                                            .offset = (size_t)(start - lexer->text) };
    if (kind != GPUL__TOKEN_END) out->count++;
}

/* ---- Conditions ---- */

static bool same(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static bool in_list(const char *const *list, const char *word, size_t length)
{
    for (; list && *list; list++) {
        size_t name = strcspn(*list, "=(");
        if (name == length && memcmp(*list, word, length) == 0) return true;
    }
    return false;
}

/* What the text itself has defined so far is not followed: a macro that it defines is MAYBE. */
static bool defined_in_text(const struct lexer *lexer, const char *word, size_t length)
{
    const gpul__tokens *out = lexer->out;
    for (size_t i = 0; i < out->count; i++) {
        const gpul__token *token = &out->items[i];
        const char *rest;
        size_t left;
        if (token->kind == GPUL__TOKEN_DIRECTIVE &&
            gpul__directive_is(lexer->text, token, "define", &rest, &left) && left >= length &&
            memcmp(rest, word, length) == 0 && (left == length || !is_word(rest[length])))
            return true;
    }
    return false;
}

static bool includes_anything(const struct lexer *lexer)
{
    const gpul__tokens *out = lexer->out;
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].kind == GPUL__TOKEN_DIRECTIVE) {
            const char *rest;
            size_t left;
            if (gpul__directive_is(lexer->text, &out->items[i], "include", &rest, &left))
                return true;
        }
    return false;
}

static gpul__known is_defined(const struct lexer *lexer, const char *word, size_t length)
{
    static const char *const always[] = { "__CUDACC_RTC__", "__CUDACC__", "__cplusplus",
                                          "__GPULAUNCH__",  "__NVCC__",   "__CUDACC_VER_MAJOR__" };
    static const char *const never[] = { "__HIPCC__",         "__HIP_PLATFORM_AMD__",
                                         "_MSC_VER",          "_WIN32",
                                         "__clang__",         "__APPLE__",
                                         "__OPENCL_VERSION__" };
    if (in_list(lexer->macros->undefines, word, length)) return GPUL__KNOWN_NO;
    if (in_list(lexer->macros->defines, word, length)) return GPUL__KNOWN_YES;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (same(word, length, always[i]))
            return same(word, length, "__NVCC__") ? GPUL__KNOWN_MAYBE : GPUL__KNOWN_YES;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (same(word, length, never[i])) return GPUL__KNOWN_NO;
    if (defined_in_text(lexer, word, length)) return GPUL__KNOWN_MAYBE;
    /* Reserved names may be the compiler's; others can only come from a header. */
    if (word[0] == '_' || includes_anything(lexer)) return GPUL__KNOWN_MAYBE;
    return GPUL__KNOWN_NO;
}

struct expression {
    const struct lexer *lexer;
    const char *at, *end;
    int depth;
};

static void blanks(struct expression *e)
{
    for (;;) {
        while (e->at < e->end && (isspace((unsigned char)*e->at) || *e->at == '\\')) e->at++;
        if (e->end - e->at >= 2 && e->at[0] == '/' && e->at[1] == '/') e->at = e->end;
        else if (e->end - e->at >= 2 && e->at[0] == '/' && e->at[1] == '*') {
            const char *close = memmem(e->at + 2, (size_t)(e->end - e->at - 2), "*/", 2);
            e->at = close ? close + 2 : e->end;
        } else return;
    }
}

static bool take(struct expression *e, const char *mark)
{
    blanks(e);
    size_t length = strlen(mark);
    if ((size_t)(e->end - e->at) < length || memcmp(e->at, mark, length) != 0) return false;
    e->at += length;
    return true;
}

static gpul__known any_of(struct expression *e);

static gpul__known primary(struct expression *e)
{
    blanks(e);
    if (e->depth++ > 32) return GPUL__KNOWN_MAYBE;
    if (take(e, "!")) return negated(primary(e));
    if (take(e, "(")) {
        gpul__known inside = any_of(e);
        return take(e, ")") ? inside : GPUL__KNOWN_MAYBE;
    }
    if (e->at < e->end && isdigit((unsigned char)*e->at)) {
        char *after;
        long value = strtol(e->at, &after, 0);
        e->at = after;
        while (e->at < e->end && is_word(*e->at)) e->at++;
        return value ? GPUL__KNOWN_YES : GPUL__KNOWN_NO;
    }
    const char *word = e->at;
    while (e->at < e->end && is_word(*e->at)) e->at++;
    size_t length = (size_t)(e->at - word);
    if (length == 0) {
        e->at = e->end;
        return GPUL__KNOWN_MAYBE;
    }
    if (!same(word, length, "defined"))
        return is_defined(e->lexer, word, length) == GPUL__KNOWN_NO ? GPUL__KNOWN_NO
                                                                    : GPUL__KNOWN_MAYBE;
    bool bracket = take(e, "(");
    blanks(e);
    word = e->at;
    while (e->at < e->end && is_word(*e->at)) e->at++;
    gpul__known value = is_defined(e->lexer, word, (size_t)(e->at - word));
    if (bracket) take(e, ")");
    return value;
}

/* Comparisons and arithmetic are not worked out. */
static gpul__known operand(struct expression *e)
{
    gpul__known value = primary(e);
    blanks(e);
    if (e->at == e->end || *e->at == ')' ||
        (e->end - e->at > 1 && (memcmp(e->at, "&&", 2) == 0 || memcmp(e->at, "||", 2) == 0)))
        return value;
    int level = 0;
    while (e->at < e->end) {
        if (level == 0 && e->end - e->at > 1 &&
            (memcmp(e->at, "&&", 2) == 0 || memcmp(e->at, "||", 2) == 0))
            break;
        if (*e->at == '(') level++;
        if (*e->at == ')' && level-- == 0) break;
        e->at++;
    }
    return GPUL__KNOWN_MAYBE;
}

static gpul__known all_of(struct expression *e)
{
    gpul__known value = operand(e);
    while (take(e, "&&")) value = both(value, operand(e));
    return value;
}

static gpul__known any_of(struct expression *e)
{
    gpul__known value = all_of(e);
    while (take(e, "||")) value = either(value, all_of(e));
    return value;
}

static gpul__known judge(const struct lexer *lexer, const char *text, size_t length)
{
    struct expression e = { .lexer = lexer, .at = text, .end = text + length };
    return any_of(&e);
}

/* #ifndef X and #define X in the next line: the guard of a header that is read once. */
static bool is_guard(const struct lexer *lexer, const gpul__token *token, const char *word,
                     size_t length)
{
    const char *at = lexer->text + token->offset + token->length;
    while (at < lexer->end && isspace((unsigned char)*at)) at++;
    if (at == lexer->end || *at != '#') return false;
    const char *end = memchr(at, '\n', (size_t)(lexer->end - at));
    if (!end) end = lexer->end;
    gpul__token next = { .offset = (size_t)(at - lexer->text), .length = (uint32_t)(end - at) };
    const char *rest;
    size_t left;
    return gpul__directive_is(lexer->text, &next, "define", &rest, &left) && left >= length &&
           memcmp(rest, word, length) == 0 && (left == length || !is_word(rest[length]));
}

/* Follows #if and its kin; true when the directive was one of them. */
static bool condition(struct lexer *lexer, const gpul__token *token)
{
    const char *rest;
    size_t left;
    gpul__known value;
    if (gpul__directive_is(lexer->text, token, "ifdef", &rest, &left) ||
        gpul__directive_is(lexer->text, token, "ifndef", &rest, &left)) {
        size_t word = 0;
        while (word < left && is_word(rest[word])) word++;
        value = is_defined(lexer, rest, word);
        if (gpul__directive_is(lexer->text, token, "ifndef", &rest, &left))
            value = is_guard(lexer, token, rest, word) ? GPUL__KNOWN_YES : negated(value);
    } else if (gpul__directive_is(lexer->text, token, "if", &rest, &left)) {
        value = judge(lexer, rest, left);
    } else if (gpul__directive_is(lexer->text, token, "elif", &rest, &left) ||
               gpul__directive_is(lexer->text, token, "else", &rest, &left)) {
        if (lexer->depth == 0 || lexer->depth > CONDITIONS) return true;
        struct condition *top = &lexer->conditions[lexer->depth - 1];
        value = gpul__directive_is(lexer->text, token, "else", &rest, &left)
                    ? GPUL__KNOWN_YES
                    : judge(lexer, rest, left);
        top->active = both(negated(top->taken), value);
        top->taken = either(top->taken, top->active);
        return true;
    } else if (gpul__directive_is(lexer->text, token, "endif", &rest, &left)) {
        if (lexer->depth) lexer->depth--;
        return true;
    } else {
        return false;
    }
    if (lexer->depth < CONDITIONS)
        lexer->conditions[lexer->depth] = (struct condition){ value, value };
    lexer->depth++;
    return true;
}

/* ---- Tokens ---- */

static const char *after_quotes(const char *at, const char *end, char quote)
{
    for (at++; at < end && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at + 1 < end) at++;
    return at < end ? at + (*at == quote) : end;
}

/* R"tag( ... )tag": `at` is on the quote. */
static const char *after_raw_string(const char *at, const char *end)
{
    const char *tag = at + 1, *open = memchr(tag, '(', (size_t)(end - tag));
    if (!open || open - tag > 16) return after_quotes(at, end, '"');
    size_t length = (size_t)(open - tag);
    for (const char *c = open + 1; c < end; c++)
        if (*c == ')' && (size_t)(end - c) > length + 1 && memcmp(c + 1, tag, length) == 0 &&
            c[1 + length] == '"')
            return c + length + 2;
    return end;
}

static const char *after_directive(const char *at, const char *end)
{
    while (at < end && *at != '\n') {
        if (*at == '\\' && at + 1 < end) {
            at += at[1] == '\r' ? 3 : 2;
            if (at > end) at = end;
        } else if (at[0] == '/' && at + 1 < end && at[1] == '*') {
            const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
            at = close ? close + 2 : end;
        } else if (at[0] == '/' && at + 1 < end && at[1] == '/') {
            const char *line = memchr(at, '\n', (size_t)(end - at));
            return line ? line : end;
        } else {
            at++;
        }
    }
    return at;
}

static const char *after_mark(const char *at, const char *end)
{
    static const char *const marks[] = { "<<<", ">>>", "...", "::", "->" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(marks[i]);
        if ((size_t)(end - at) >= length && memcmp(at, marks[i], length) == 0) return at + length;
    }
    return at + 1;
}

static void next(struct lexer *lexer, bool *line_start)
{
    const char *at = lexer->at, *end = lexer->end;
    char c = *at, following = at + 1 < end ? at[1] : 0;
    bool first = *line_start;
    if (c == '\n') {
        *line_start = true;
        lexer->at++;
        return;
    }
    if (isspace((unsigned char)c) || (c == '\\' && (following == '\n' || following == '\r'))) {
        lexer->at += c == '\\' ? 2 : 1;
        return;
    }
    if (c == '/' && following == '/') {
        /* A backslash at the line's end carries the comment on. */
        while (at < end && *at != '\n') at += *at == '\\' && at + 1 < end ? 2 : 1;
        lexer->at = at < end ? at : end;
        return;
    }
    if (c == '/' && following == '*') {
        const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
        lexer->at = close ? close + 2 : end;
        return;
    }
    *line_start = false;
    if (c == '#' && first) {
        const char *stop = after_directive(at, end);
        gpul__token token = { .kind = GPUL__TOKEN_DIRECTIVE,
                              .length = (uint32_t)(stop - at),
                              .offset = (size_t)(at - lexer->text) };
        if (!condition(lexer, &token)) push(lexer, GPUL__TOKEN_DIRECTIVE, at, stop);
        lexer->at = stop;
        return;
    }
    const char *stop;
    uint8_t kind;
    if (is_word_start(c)) {
        for (stop = at; stop < end && is_word(*stop);) stop++;
        kind = GPUL__TOKEN_WORD;
        size_t length = (size_t)(stop - at);
        if (stop < end && *stop == '"' && length <= 3 && strchr("uUL8R", c)) {
            stop = stop[-1] == 'R' ? after_raw_string(stop, end) : after_quotes(stop, end, '"');
            kind = GPUL__TOKEN_STRING;
        }
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)following))) {
        for (stop = at + 1; stop < end; stop++)
            if (!is_word(*stop) && *stop != '.' && *stop != '\'' &&
                !((*stop == '+' || *stop == '-') && strchr("eEpP", stop[-1])))
                break;
        kind = GPUL__TOKEN_NUMBER;
    } else if (c == '"') {
        stop = after_quotes(at, end, '"');
        kind = GPUL__TOKEN_STRING;
    } else if (c == '\'') {
        stop = after_quotes(at, end, '\'');
        kind = GPUL__TOKEN_CHARACTER;
    } else {
        stop = after_mark(at, end);
        kind = GPUL__TOKEN_MARK;
    }
    push(lexer, kind, at, stop);
    lexer->at = stop;
}

bool gpul__tokenize_part(gpul__tokens *tokens, const char *text, size_t offset, size_t length,
                         const gpul__macros *macros)
{
    struct lexer lexer = { .out = tokens,
                           .text = text,
                           .at = text + offset,
                           .end = text + offset + length,
                           .macros = macros };
    tokens->text = text;
    lexer.first = tokens->count;
    bool line_start = true;
    while (lexer.at < lexer.end && !lexer.failed) next(&lexer, &line_start);
    push(&lexer, GPUL__TOKEN_END, lexer.end, lexer.end);
    if (lexer.failed) gpul__tokens_free(tokens);
    return !lexer.failed;
}

bool gpul__tokenize(gpul__tokens *out, const char *text, size_t length, const gpul__macros *macros)
{
    *out = (gpul__tokens){ 0 };
    return gpul__tokenize_part(out, text, 0, length, macros);
}

void gpul__tokens_free(gpul__tokens *tokens)
{
    gpul__free(tokens->items);
    *tokens = (gpul__tokens){ 0 };
}

bool gpul__directive_is(const char *text, const gpul__token *token, const char *word,
                        const char **rest, size_t *rest_length)
{
    const char *at = text + token->offset, *end = at + token->length;
    size_t length = strlen(word);
    for (at++; at < end && (*at == ' ' || *at == '\t');) at++;
    if ((size_t)(end - at) < length || memcmp(at, word, length) != 0 ||
        (at + length < end && is_word(at[length])))
        return false;
    for (at += length; at < end && (*at == ' ' || *at == '\t');) at++;
    *rest = at;
    *rest_length = (size_t)(end - at);
    return true;
}

size_t gpul__include_of(const char *text, const gpul__token *token, const char **name, bool *quoted)
{
    const char *rest;
    size_t left;
    if (token->kind != GPUL__TOKEN_DIRECTIVE ||
        !gpul__directive_is(text, token, "include", &rest, &left) || left < 3 ||
        (*rest != '"' && *rest != '<'))
        return 0;
    *quoted = *rest == '"';
    const char *close = memchr(rest + 1, *quoted ? '"' : '>', left - 1);
    if (!close) return 0;
    *name = rest + 1;
    return (size_t)(close - rest - 1);
}
