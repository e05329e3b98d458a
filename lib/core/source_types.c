/* Types as source spells them: parameters, members, and one normal spelling.
 * SPDX-License-Identifier: MIT */
#include "core/source_scan.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

static bool same(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

static bool in_words(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (same(word, length, words[i])) return true;
    return false;
}

bool gpul__is_type_word(const char *word, size_t length)
{
    static const char *const words[] = { "void",    "bool",  "char",     "short",    "int",
                                         "long",    "float", "double",   "signed",   "unsigned",
                                         "wchar_t", "auto",  "char16_t", "char32_t", "__int128" };
    return in_words(words, sizeof words / sizeof *words, word, length);
}

/* Words that say nothing about the type: left out of its spelling. */
static bool is_ignored(const char *word, size_t length)
{
    static const char *const words[] = {
        "__restrict__", "__restrict",   "restrict", "__grid_constant__",
        "register",     "static",       "mutable",  "typename",
        "struct",       "class",        "union",    "enum",
        "constexpr",    "inline",       "extern",   "__device__",
        "__constant__", "__volatile__", "typedef",
    };
    return in_words(words, sizeof words / sizeof *words, word, length);
}

static bool is_attribute(const gpul__tokens *tokens, size_t i)
{
    return gpul__token_is(tokens, i, "alignas") || gpul__token_is(tokens, i, "__align__") ||
           gpul__token_is(tokens, i, "__attribute__") || gpul__token_is(tokens, i, "__declspec") ||
           gpul__token_is(tokens, i, "__builtin_align__");
}

/* The token after what is left out at `i`; `i` itself when it belongs to the type. */
static size_t skip_ignored(const gpul__tokens *tokens, size_t i, size_t end)
{
    const gpul__token *token = &tokens->items[i];
    if (token->kind == GPUL__TOKEN_DIRECTIVE) return i + 1;
    if (is_attribute(tokens, i))
        return i + 1 < end && gpul__token_is(tokens, i + 1, "(")
                   ? gpul__after_group(tokens, i + 1, end)
                   : i + 1;
    if (gpul__token_is(tokens, i, "[") && i + 1 < end && gpul__token_is(tokens, i + 1, "["))
        return gpul__after_group(tokens, i, end);
    if (token->kind == GPUL__TOKEN_WORD && is_ignored(tokens->text + token->offset, token->length))
        return i + 1;
    return i;
}

const char *gpul__spell(gpul__arena *arena, const gpul__tokens *tokens, size_t first, size_t end,
                        size_t skip)
{
    gpul__str out = { 0 };
    for (size_t i = first; i < end; i++) {
        size_t after = skip_ignored(tokens, i, end);
        if (after > i) {
            i = after - 1;
            continue;
        }
        if (i == skip) continue;
        const gpul__token *token = &tokens->items[i];
        const char *text = tokens->text + token->offset;
        char c = *text, last = out.length ? out.text[out.length - 1] : 0;
        bool word = token->kind != GPUL__TOKEN_MARK;
        bool after_word = last && (isalnum((unsigned char)last) || last == '_' || last == '>' ||
                                   last == ')' || (unsigned char)last >= 0x80);
        bool blank = word ? after_word || last == ','
                          : ((c == '*' || c == '&') && after_word) ||
                                (c == '(' && after_word && last != ')');
        if (word && last == ']') blank = true;
        /* unsigned<blank>int, but a > b only between words. */
        if (c == '>' && !word) blank = false;
        if (blank) gpul__str_add(&out, " ");
        gpul__str_addn(&out, text, token->length);
    }
    const char *copy =
        out.failed ? NULL : gpul__arena_strndup(arena, gpul__str_text(&out), out.length);
    gpul__str_free(&out);
    return copy;
}

/* ---- Declarators ---- */

struct parts {
    size_t name;     /* GPUL__NO_TOKEN: unnamed */
    size_t type_end; /* the type's words end here, before * & and the name */
    size_t array;    /* the first [ behind the name; `end` when there is none */
};

/* Splits `const float *x[4]` into its parts. */
static struct parts split(const gpul__tokens *tokens, size_t first, size_t end)
{
    struct parts parts = { GPUL__NO_TOKEN, end, end };
    size_t words = 0, last = GPUL__NO_TOKEN;
    for (size_t i = first; i < end; i++) {
        size_t after = skip_ignored(tokens, i, end);
        if (after > i) {
            i = after - 1;
            continue;
        }
        const gpul__token *token = &tokens->items[i];
        const char *text = tokens->text + token->offset;
        if (token->kind == GPUL__TOKEN_WORD) {
            if (same(text, token->length, "const") || same(text, token->length, "volatile"))
                continue;
            bool qualified = (i > first && gpul__token_is(tokens, i - 1, "::")) ||
                             (i + 1 < end && gpul__token_is(tokens, i + 1, "::"));
            bool keyword = gpul__is_type_word(text, token->length);
            if (same(text, token->length, "decltype") && i + 1 < end) {
                i = gpul__after_group(tokens, i + 1, end) - 1;
                words++;
                continue;
            }
            if (!keyword && !qualified && words) last = i;
            if (!qualified || !(i > first && gpul__token_is(tokens, i - 1, "::"))) words++;
        } else if (gpul__token_is(tokens, i, "<")) {
            i = gpul__after_angles(tokens, i, end) - 1;
        } else if (gpul__token_is(tokens, i, "(")) {
            /* (*name)(...) or (*name)[n] */
            size_t close = gpul__after_group(tokens, i, end);
            for (size_t k = i + 1; k + 1 < close; k++)
                if (tokens->items[k].kind == GPUL__TOKEN_WORD &&
                    !is_ignored(tokens->text + tokens->items[k].offset, tokens->items[k].length) &&
                    !gpul__token_is(tokens, k, "const")) {
                    parts.name = k;
                    break;
                }
            return parts;
        } else if (gpul__token_is(tokens, i, "[")) {
            parts.array = i;
            break;
        } else if ((gpul__token_is(tokens, i, "*") || gpul__token_is(tokens, i, "&")) &&
                   parts.type_end == end) {
            parts.type_end = i;
        }
    }
    parts.name = last;
    if (parts.type_end > (last == GPUL__NO_TOKEN ? end : last))
        parts.type_end = last == GPUL__NO_TOKEN ? parts.array : last;
    return parts;
}

/* One declarator whose type words are [first, type_end) and whose rest is [from, end). */
static bool add(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                size_t first, size_t type_end, size_t from, size_t end, struct parts parts,
                bool is_param, gpul__declarator declarator)
{
    gpul__str type = { 0 };
    const char *words = gpul__spell(arena, tokens, first, type_end, GPUL__NO_TOKEN);
    const char *stars = from >= type_end && from < parts.array
                            ? gpul__spell(arena, tokens, from, parts.array, parts.name)
                            : "";
    const char *array =
        parts.array < end ? gpul__spell(arena, tokens, parts.array, end, GPUL__NO_TOKEN) : "";
    const char *name =
        parts.name == GPUL__NO_TOKEN ? "" : gpul__token_text(arena, tokens, parts.name);
    if (!words || !stars || !array || !name) return false;
    gpul__str_add(&type, words);
    if (*stars) gpul__str_printf(&type, " %s", stars);
    if (*array && is_param) {
        /* A parameter's outer dimension is a pointer. */
        const char *close = strchr(array, ']');
        bool more = close && close[1];
        gpul__str_add(&type, more ? " (*)" : *stars ? "*" : " *");
        if (more) gpul__str_add(&type, close + 1);
    } else {
        gpul__str_add(&type, array);
    }
    declarator.type =
        type.failed ? NULL : gpul__arena_strndup(arena, gpul__str_text(&type), type.length);
    gpul__str_free(&type);
    if (!declarator.type) return false;
    declarator.name = name;
    declarator.name_token = parts.name;
    if (!gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items)) return false;
    out->items[out->count++] = declarator;
    return true;
}

/* The next `,` or `;` outside groups and template arguments; `end` when there is none. */
static size_t next_comma(const gpul__tokens *tokens, size_t i, size_t end)
{
    while (i < end && !gpul__token_is(tokens, i, ",") && !gpul__token_is(tokens, i, ";")) {
        if (gpul__token_is(tokens, i, "(") || gpul__token_is(tokens, i, "[") ||
            gpul__token_is(tokens, i, "{"))
            i = gpul__after_group(tokens, i, end);
        else if (gpul__token_is(tokens, i, "<") && tokens->items[i - 1].kind == GPUL__TOKEN_WORD)
            i = gpul__after_angles(tokens, i, end);
        else i++;
    }
    return i;
}

static size_t before_default(const gpul__tokens *tokens, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (gpul__token_is(tokens, i, "=") || gpul__token_is(tokens, i, "{")) return i;
        if (gpul__token_is(tokens, i, "(") || gpul__token_is(tokens, i, "["))
            i = gpul__after_group(tokens, i, end) - 1;
        else if (gpul__token_is(tokens, i, "<")) i = gpul__after_angles(tokens, i, end) - 1;
    }
    return end;
}

bool gpul__scan_params(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                       const gpul__decl *function)
{
    *out = (gpul__declarators){ 0 };
    size_t end = function->params_end;
    for (size_t i = function->params; i < end;) {
        size_t stop = next_comma(tokens, i, end);
        for (size_t k = i; k < stop; k++)
            if (tokens->items[k].uncertain != tokens->items[function->first].uncertain ||
                tokens->items[k].kind == GPUL__TOKEN_DIRECTIVE)
                out->uncertain = true;
        size_t last = before_default(tokens, i, stop);
        bool nothing = last == i || (last == i + 1 && gpul__token_is(tokens, i, "void"));
        struct parts parts = split(tokens, i, last);
        size_t type_end = parts.type_end < last ? parts.type_end : parts.array;
        if (parts.name != GPUL__NO_TOKEN && parts.type_end == last) type_end = parts.name;
        /* Function and array pointers keep all but their name. */
        bool grouped = parts.name != GPUL__NO_TOKEN && parts.array == last && parts.name > i &&
                       parts.type_end == last && parts.name + 1 < last;
        if (grouped) type_end = last;
        if (!nothing) {
            gpul__declarator declarator = { .first = i, .end = last };
            bool ok;
            if (grouped) {
                const char *type = gpul__spell(arena, tokens, i, last, parts.name);
                const char *name = gpul__token_text(arena, tokens, parts.name);
                ok = type && name &&
                     gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items);
                declarator.type = type;
                declarator.name = name;
                declarator.name_token = parts.name;
                if (ok) out->items[out->count++] = declarator;
            } else {
                ok = add(out, arena, tokens, i, type_end, type_end, last, parts, true, declarator);
            }
            if (!ok) {
                gpul__free(out->items);
                *out = (gpul__declarators){ 0 };
                return false;
            }
        }
        i = stop + 1;
    }
    return true;
}

/* A member declaration [i, stop) without its semicolon: one type, several declarators. */
static bool add_members(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                        size_t i, size_t stop, gpul__declarator like)
{
    size_t comma = next_comma(tokens, i, stop);
    size_t last = before_default(tokens, i, comma);
    size_t colon = i;
    while (colon < last && !gpul__token_is(tokens, colon, ":")) colon++;
    struct parts parts = split(tokens, i, colon);
    if (parts.name == GPUL__NO_TOKEN) {
        out->uncertain = true;
        return true;
    }
    bool grouped = false;
    for (size_t k = i; k < colon; k++) grouped |= gpul__token_is(tokens, k, "(");
    if (grouped) {
        /* A pointer to a function or an array. */
        like.first = i;
        like.end = last;
        like.name = gpul__token_text(arena, tokens, parts.name);
        like.type = gpul__spell(arena, tokens, i, last, parts.name);
        like.name_token = parts.name;
        if (!like.name || !like.type ||
            !gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items))
            return false;
        out->items[out->count++] = like;
        return true;
    }
    size_t type_end = parts.type_end < colon ? parts.type_end : parts.name;
    size_t from = type_end, type_first = i;
    for (;;) {
        gpul__declarator declarator = like;
        declarator.first = from == type_end ? i : from;
        declarator.end = last;
        declarator.is_bits = colon < last;
        if (!add(out, arena, tokens, type_first, type_end, from, colon, parts, false, declarator))
            return false;
        if (comma >= stop) return true;
        from = comma + 1;
        comma = next_comma(tokens, from, stop);
        last = before_default(tokens, from, comma);
        for (colon = from; colon < last && !gpul__token_is(tokens, colon, ":");) colon++;
        parts = (struct parts){ GPUL__NO_TOKEN, from, colon };
        for (size_t k = from; k < colon; k++) {
            if (tokens->items[k].kind == GPUL__TOKEN_WORD && parts.name == GPUL__NO_TOKEN &&
                skip_ignored(tokens, k, colon) == k && !gpul__token_is(tokens, k, "const"))
                parts.name = k;
            if (gpul__token_is(tokens, k, "[")) {
                parts.array = k;
                break;
            }
        }
        if (parts.name == GPUL__NO_TOKEN) {
            out->uncertain = true;
            return true;
        }
    }
}

/* After the names and groups behind the colon of a constructor. */
static size_t after_initialisers(const gpul__tokens *tokens, size_t i, size_t end)
{
    for (;; i++) {
        while (i < end && !gpul__token_is(tokens, i, "(") && !gpul__token_is(tokens, i, "{") &&
               !gpul__token_is(tokens, i, ";"))
            i++;
        if (i >= end || gpul__token_is(tokens, i, ";")) return i;
        i = gpul__after_group(tokens, i, end);
        if (i >= end || !gpul__token_is(tokens, i, ",")) return i;
    }
}

enum { DEPTH = 16 };

/* What one declaration in a class is. */
struct member_shape {
    size_t start, stop;    /* without its semicolon */
    size_t body, body_end; /* of a struct or enum that is defined in it; 0: none */
    bool is_data;          /* no method, type alias or static member */
    bool is_enum;
};

static struct member_shape shape_of(const gpul__tokens *tokens, size_t i, size_t end)
{
    static const char *const others[] = { "using",         "typedef", "template", "friend",
                                          "static_assert", "static",  "constexpr" };
    struct member_shape shape = { .start = i, .is_data = true };
    bool is_class = false, is_value = false, is_pointer = false, is_method = false;
    for (size_t w = 0; w < sizeof others / sizeof *others; w++)
        if (gpul__token_is(tokens, i, others[w])) shape.is_data = false;
    shape.is_enum = gpul__token_is(tokens, i, "enum");
    for (; i < end && !gpul__token_is(tokens, i, ";"); i++) {
        if (gpul__token_is(tokens, i, "struct") || gpul__token_is(tokens, i, "union") ||
            gpul__token_is(tokens, i, "class"))
            is_class = true;
        if (gpul__token_is(tokens, i, "static") || gpul__token_is(tokens, i, "operator"))
            shape.is_data = false;
        if (gpul__token_is(tokens, i, "=")) is_value = true;
        if (gpul__token_is(tokens, i, "<")) {
            i = gpul__after_angles(tokens, i, end) - 1;
        } else if (is_attribute(tokens, i) && i + 1 < end && gpul__token_is(tokens, i + 1, "(")) {
            i = gpul__after_group(tokens, i + 1, end) - 1;
        } else if (gpul__token_is(tokens, i, "(")) {
            is_pointer |= !is_method && i + 1 < end && gpul__token_is(tokens, i + 1, "*");
            is_method |= !is_value && !is_pointer;
            i = gpul__after_group(tokens, i, end) - 1;
        } else if (is_method && gpul__token_is(tokens, i, ":")) {
            i = after_initialisers(tokens, i + 1, end) - 1;
        } else if (gpul__token_is(tokens, i, "[")) {
            i = gpul__after_group(tokens, i, end) - 1;
        } else if (gpul__token_is(tokens, i, "{")) {
            size_t after = gpul__after_group(tokens, i, end);
            if ((is_class || shape.is_enum) && !shape.body && !is_value) {
                shape.body = i + 1;
                shape.body_end = after > i + 1 ? after - 1 : after;
            }
            i = after - 1;
            if (is_method && !is_value) { /* its body ends it */
                i++;
                break;
            }
        }
    }
    shape.stop = i;
    shape.is_data &= !is_method;
    return shape;
}

/* The name behind struct or enum, "" when there is none. */
static const char *tag_of(gpul__arena *arena, const gpul__tokens *tokens,
                          const struct member_shape *shape)
{
    for (size_t k = shape->start; k + 1 < shape->body && !gpul__token_is(tokens, k, ":"); k++)
        if (tokens->items[k].kind == GPUL__TOKEN_WORD && skip_ignored(tokens, k, shape->body) == k)
            return gpul__token_text(arena, tokens, k);
    return "";
}

/* struct { ... } a, b[2]: members whose type is defined in place. */
static bool add_defined(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                        const struct member_shape *shape, const char *type, gpul__declarator like)
{
    for (size_t from = shape->body_end + 1; from < shape->stop;) {
        size_t comma = next_comma(tokens, from, shape->stop);
        const char *array = gpul__spell(arena, tokens, from + 1,
                                        before_default(tokens, from + 1, comma), GPUL__NO_TOKEN);
        like.first = from;
        like.end = comma;
        like.name_token = from;
        like.name = gpul__token_text(arena, tokens, from);
        like.type = array ? gpul__arena_printf(arena, "%s%s", type, array) : NULL;
        if (!like.name || !like.type ||
            !gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items))
            return false;
        if (tokens->items[from].kind == GPUL__TOKEN_WORD) out->items[out->count++] = like;
        else out->uncertain = true;
        from = comma + 1;
    }
    return true;
}

static bool scan_members(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                         size_t first, size_t end, bool hidden, int depth)
{
    if (depth == DEPTH) {
        out->uncertain = true;
        return true;
    }
    for (size_t i = first; i < end;) {
        if (tokens->items[i].kind == GPUL__TOKEN_DIRECTIVE || gpul__token_is(tokens, i, ";")) {
            i++;
            continue;
        }
        if (tokens->items[i].uncertain) out->uncertain = true;
        if (i + 1 < end && gpul__token_is(tokens, i + 1, ":") &&
            (gpul__token_is(tokens, i, "public") || gpul__token_is(tokens, i, "private") ||
             gpul__token_is(tokens, i, "protected"))) {
            hidden = !gpul__token_is(tokens, i, "public");
            i += 2;
            continue;
        }
        struct member_shape shape = shape_of(tokens, i, end);
        gpul__declarator like = { .is_hidden = hidden };
        i = shape.stop > i ? shape.stop : i + 1;
        if (!shape.is_data) continue;
        bool ok;
        if (!shape.body) {
            ok = add_members(out, arena, tokens, shape.start, shape.stop, like);
        } else {
            const char *tag = tag_of(arena, tokens, &shape);
            bool alone = shape.body_end + 1 >= shape.stop;
            ok = tag != NULL;
            if (ok && shape.is_enum) {
                ok = alone || add_defined(out, arena, tokens, &shape, *tag ? tag : "int", like);
            } else if (ok && alone) {
                /* Anonymous: its members are the outer one's.  A named one is only a type. */
                ok = *tag || scan_members(out, arena, tokens, shape.body, shape.body_end, hidden,
                                          depth + 1);
            } else if (ok) {
                like.nested = shape.body;
                like.nested_end = shape.body_end;
                ok = add_defined(out, arena, tokens, &shape, *tag ? tag : "struct", like);
            }
        }
        if (!ok) return false;
    }
    return true;
}

bool gpul__scan_members(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                        size_t first, size_t end, bool hidden)
{
    return scan_members(out, arena, tokens, first, end, hidden, 0);
}
