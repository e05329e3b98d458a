/* Itanium mangling, read as far as kernels and variables need it.  SPDX-License-Identifier: MIT */
#include "core/signature_name.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A type is kept in two halves around the place of a name, as declarators are: `int (` and `)[4]`. */
struct type {
    const char *left, *right;
    bool is_pack; /* of a template parameter pack: left is the whole list */
};

enum { SUBSTITUTIONS = 128, ARGUMENTS = 64, DEPTH = 64 };

struct reader {
    const char *at, *end;
    gpul__arena *arena;
    struct type substitutions[SUBSTITUTIONS];
    size_t substitution_count;
    struct type arguments[ARGUMENTS]; /* of the template whose signature is read */
    size_t argument_count;
    int depth;
    bool failed, no_memory;
    /* Of the name that was read last. */
    bool ends_in_arguments;
    const char *without_arguments;
};

static const char *keep(struct reader *r, const char *format, const char *a, const char *b,
                        const char *c)
{
    char *text =
        gpul__arena_printf(r->arena, "%s%s%s%s", format, a ? a : "", b ? b : "", c ? c : "");
    if (!text) {
        r->no_memory = r->failed = true;
        return "";
    }
    return text;
}

static struct type fail(struct reader *r)
{
    r->failed = true;
    return (struct type){ "", "", false };
}

static bool take(struct reader *r, char c)
{
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return false;
    r->at += length;
    return true;
}

static void substitute(struct reader *r, struct type type)
{
    if (r->substitution_count < SUBSTITUTIONS) r->substitutions[r->substitution_count++] = type;
    else r->failed = true;
}

static const char *whole(struct reader *r, struct type type)
{
    return *type.right ? keep(r, type.left, type.right, NULL, NULL) : type.left;
}

static struct type read_type(struct reader *r);
static const char *read_arguments(struct reader *r, bool keep_them);

static const char *read_source_name(struct reader *r)
{
    size_t length = 0;
    while (r->at < r->end && isdigit((unsigned char)*r->at) && length < 100000)
        length = length * 10 + (size_t)(*r->at++ - '0');
    if (length == 0 || length > (size_t)(r->end - r->at)) {
        r->failed = true;
        return "";
    }
    const char *text = r->at;
    r->at += length;
    if (length > 11 && memcmp(text, "_GLOBAL__N_", 11) == 0) return "(anonymous namespace)";
    const char *copy = gpul__arena_strndup(r->arena, text, length);
    if (!copy) {
        r->no_memory = r->failed = true;
        return "";
    }
    return copy;
}

/* S_, S0_ ... and the names of the standard library. */
static struct type read_substitution(struct reader *r)
{
    if (take(r, 't')) {
        const char *name = keep(r, "std::", read_source_name(r), NULL, NULL);
        struct type type = { name, "", false };
        substitute(r, type);
        return type;
    }
    size_t index = 0;
    if (!take(r, '_')) {
        while (r->at < r->end && *r->at != '_') {
            char c = *r->at++;
            if (!isdigit((unsigned char)c) && !isupper((unsigned char)c)) return fail(r);
            index = index * 36 + (size_t)(isdigit((unsigned char)c) ? c - '0' : c - 'A' + 10);
            if (index > SUBSTITUTIONS) return fail(r);
        }
        if (!take(r, '_')) return fail(r);
        index++;
    }
    if (index >= r->substitution_count) return fail(r);
    return r->substitutions[index];
}

/* T_, T0_ ...: an argument of the template that is being read. */
static struct type read_parameter(struct reader *r)
{
    size_t index = 0;
    if (!take(r, '_')) {
        while (r->at < r->end && isdigit((unsigned char)*r->at) && index < ARGUMENTS)
            index = index * 10 + (size_t)(*r->at++ - '0');
        if (!take(r, '_')) return fail(r);
        index++;
    }
    if (index >= r->argument_count) return fail(r);
    return r->arguments[index];
}

static const char *last_part(const char *name)
{
    long depth = 0;
    const char *last = name;
    for (const char *c = name; *c; c++) {
        if (*c == '<' || *c == '(') depth++;
        if (*c == '>' || *c == ')') depth--;
        if (depth == 0 && c[0] == ':' && c[1] == ':') last = c + 2;
    }
    return last;
}

/* N [cv] prefix... E */
static const char *read_nested(struct reader *r, bool keep_arguments)
{
    const char *name = "";
    while (r->at < r->end && strchr("rVK", *r->at)) r->at++;
    while (!r->failed && !take(r, 'E')) {
        if (r->at == r->end) {
            r->failed = true;
        } else if (take(r, 'S')) {
            name = whole(r, read_substitution(r));
            continue;
        } else if (*r->at == 'T') {
            r->at++;
            name = whole(r, read_parameter(r));
        } else if (*r->at == 'I') {
            const char *base = name, *list = read_arguments(r, keep_arguments);
            name = keep(r, name, list, NULL, NULL);
            r->ends_in_arguments = true;
            r->without_arguments = base;
        } else if (take_word(r, "C1") || take_word(r, "C2") || take_word(r, "D1")) {
            name = keep(r, name, "::", last_part(name), NULL);
        } else {
            take(r, 'L');
            r->ends_in_arguments = false;
            const char *part = read_source_name(r);
            /* What the compiler puts around variables that are private to one file. */
            if (!gpul__starts(part, "_INTERNAL_"))
                name = *name ? keep(r, name, "::", part, NULL) : part;
        }
        if (r->at < r->end && *r->at != 'E') substitute(r, (struct type){ name, "", false });
    }
    return name;
}

/* <name>; with `keep_arguments` its template arguments are what T_ means from now on. */
static const char *read_name(struct reader *r, bool keep_arguments)
{
    r->ends_in_arguments = false;
    r->without_arguments = NULL;
    if (take(r, 'N')) return read_nested(r, keep_arguments);
    const char *name;
    bool substituted = false;
    if (take(r, 'S')) {
        if (r->at < r->end && *r->at == 't') {
            r->at++;
            name = keep(r, "std::", read_source_name(r), NULL, NULL);
        } else {
            name = whole(r, read_substitution(r));
            substituted = true;
        }
    } else {
        take(r, 'L');
        name = read_source_name(r);
    }
    if (r->at < r->end && *r->at == 'I' && !r->failed) {
        if (!substituted) substitute(r, (struct type){ name, "", false });
        const char *base = name, *list = read_arguments(r, keep_arguments);
        name = keep(r, name, list, NULL, NULL);
        r->ends_in_arguments = true;
        r->without_arguments = base;
    }
    return name;
}

/* L type value E */
static const char *read_literal(struct reader *r)
{
    if (take_word(r, "_Z")) {
        const char *name = read_name(r, false);
        while (r->at < r->end && *r->at != 'E') r->at++;
        take(r, 'E');
        return keep(r, "&", name, NULL, NULL);
    }
    char code = r->at < r->end ? *r->at : 0;
    struct type type = read_type(r);
    const char *value = r->at;
    while (r->at < r->end && *r->at != 'E') r->at++;
    char *text = gpul__arena_strndup(r->arena, value, (size_t)(r->at - value));
    if (!text) {
        r->no_memory = r->failed = true;
        return "";
    }
    if (!take(r, 'E')) r->failed = true;
    if (*text == 'n') *text = '-';
    if (code == 'b') return strcmp(text, "0") == 0 ? "false" : "true";
    static const struct {
        char code;
        const char *suffix;
    } suffixes[] = { { 'i', "" },   { 'j', "U" },  { 'l', "L" },
                     { 'm', "UL" }, { 'x', "LL" }, { 'y', "ULL" } };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (suffixes[i].code == code) return keep(r, text, suffixes[i].suffix, NULL, NULL);
    return keep(r, "(", whole(r, type), ")", text);
}

/* I arguments E, as "<a, b>". */
static const char *read_arguments(struct reader *r, bool keep_them)
{
    gpul__str list = { 0 };
    struct type kept[ARGUMENTS];
    size_t count = 0;
    if (!take(r, 'I')) r->failed = true;
    gpul__str_add(&list, "<");
    bool first = true;
    while (!r->failed && !take(r, 'E')) {
        struct type argument = { "", "", false };
        if (r->at == r->end) {
            r->failed = true;
        } else if (take(r, 'L')) {
            argument.left = read_literal(r);
        } else if (take(r, 'J')) {
            gpul__str pack = { 0 };
            while (!r->failed && !take(r, 'E')) {
                if (r->at == r->end) r->failed = true;
                const char *item = take(r, 'L') ? read_literal(r) : whole(r, read_type(r));
                if (pack.length) gpul__str_add(&pack, ", ");
                gpul__str_add(&pack, item);
            }
            argument.left = keep(r, gpul__str_text(&pack), NULL, NULL, NULL);
            argument.is_pack = true;
            gpul__str_free(&pack);
        } else if (*r->at == 'X') {
            r->failed = true;
        } else {
            argument = read_type(r);
        }
        const char *text = whole(r, argument);
        if (*text || !argument.is_pack) {
            if (!first) gpul__str_add(&list, ", ");
            gpul__str_add(&list, text);
            first = false;
        }
        if (count < ARGUMENTS) kept[count++] = argument;
    }
    gpul__str_add(&list, ">");
    const char *text = keep(r, gpul__str_text(&list), NULL, NULL, NULL);
    if (list.failed) r->no_memory = r->failed = true;
    gpul__str_free(&list);
    if (keep_them) {
        memcpy(r->arguments, kept, count * sizeof *kept);
        r->argument_count = count;
    }
    return text;
}

static const char *builtin(char code)
{
    static const char *const names[26] = {
        ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
        ['b' - 'a'] = "bool",        ['c' - 'a'] = "char",
        ['a' - 'a'] = "signed char", ['h' - 'a'] = "unsigned char",
        ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
        ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
        ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
        ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
        ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
        ['f' - 'a'] = "float",       ['d' - 'a'] = "double",
        ['e' - 'a'] = "long double", ['g' - 'a'] = "__float128",
        ['z' - 'a'] = "...",
    };
    return code >= 'a' && code <= 'z' ? names[code - 'a'] : NULL;
}

static bool ends_open(const char *left) /* "int (" : stands before a star */
{
    size_t length = strlen(left);
    return length &&
           (left[length - 1] == '*' || left[length - 1] == '&' || left[length - 1] == '(');
}

static struct type pointer_to(struct reader *r, struct type inner, const char *mark)
{
    struct type type = inner;
    bool grouped = *inner.right && (inner.right[0] == '[' || inner.right[0] == '(');
    if (grouped) {
        type.left = keep(r, inner.left, " (", mark, NULL);
        type.right = keep(r, ")", inner.right, NULL, NULL);
    } else {
        type.left = keep(r, inner.left, ends_open(inner.left) ? "" : " ", mark, NULL);
    }
    type.is_pack = false;
    return type;
}

static struct type qualify(struct reader *r, struct type inner, const char *word)
{
    /* Of a pointer the word stands behind, of anything else before. */
    if (ends_open(inner.left)) {
        inner.left = keep(r, inner.left, word, NULL, NULL);
    } else {
        inner.left = keep(r, word, " ", inner.left, NULL);
    }
    return inner;
}

static struct type read_function_type(struct reader *r)
{
    take(r, 'Y');
    struct type result = read_type(r);
    gpul__str list = { 0 };
    gpul__str_add(&list, "(");
    bool first = true;
    while (!r->failed && !take(r, 'E')) {
        if (r->at == r->end) {
            r->failed = true;
            break;
        }
        const char *text = whole(r, read_type(r));
        if (first && strcmp(text, "void") == 0) continue;
        if (!first) gpul__str_add(&list, ", ");
        gpul__str_add(&list, text);
        first = false;
    }
    gpul__str_add(&list, ")");
    struct type type = { whole(r, result), keep(r, gpul__str_text(&list), NULL, NULL, NULL),
                         false };
    gpul__str_free(&list);
    return type;
}

static struct type read_type_inner(struct reader *r)
{
    char c = *r->at;
    struct type type = { "", "", false };
    const char *name = builtin(c);
    if (name) {
        r->at++;
        type.left = name;
        return type;
    }
    switch (c) {
    case 'P':
        r->at++;
        type = pointer_to(r, read_type(r), "*");
        break;
    case 'R':
        r->at++;
        type = pointer_to(r, read_type(r), "&");
        break;
    case 'O':
        r->at++;
        type = pointer_to(r, read_type(r), "&&");
        break;
    case 'K':
        r->at++;
        type = qualify(r, read_type(r), "const");
        break;
    case 'V':
        r->at++;
        if (take(r, 'K')) type = qualify(r, read_type(r), "const volatile");
        else type = qualify(r, read_type(r), "volatile");
        break;
    case 'r':
        r->at++;
        type = read_type(r);
        break;
    case 'A': {
        r->at++;
        const char *count = r->at;
        while (r->at < r->end && isdigit((unsigned char)*r->at)) r->at++;
        char *digits = gpul__arena_strndup(r->arena, count, (size_t)(r->at - count));
        if (!digits || !take(r, '_')) return fail(r);
        struct type inner = read_type(r);
        type.left = inner.left;
        type.right = keep(r, "[", digits, "]", inner.right);
        break;
    }
    case 'F':
        r->at++;
        type = read_function_type(r);
        break;
    case 'M': {
        r->at++;
        const char *of = whole(r, read_type(r));
        type = pointer_to(r, read_type(r), keep(r, of, "::*", NULL, NULL));
        break;
    }
    case 'T':
        r->at++;
        type = read_parameter(r);
        break;
    case 'D':
        r->at++;
        if (take(r, 'n')) return (struct type){ "std::nullptr_t", "", false };
        if (take(r, 'h')) return (struct type){ "half", "", false };
        if (take(r, 'i')) return (struct type){ "char32_t", "", false };
        if (take(r, 's')) return (struct type){ "char16_t", "", false };
        if (take(r, 'p')) return read_type(r);
        return fail(r);
    case 'S':
        if (r->at + 1 < r->end && r->at[1] != 't') {
            r->at++;
            type = read_substitution(r);
            if (r->at < r->end && *r->at == 'I') {
                type.left = keep(r, type.left, read_arguments(r, false), NULL, NULL);
                break;
            }
            return type;
        }
        type.left = read_name(r, false);
        break;
    default:
        if (!isdigit((unsigned char)c) && c != 'N') return fail(r);
        type.left = read_name(r, false);
        break;
    }
    if (!r->failed) substitute(r, type);
    return type;
}

static struct type read_type(struct reader *r)
{
    if (r->failed || r->at >= r->end || r->depth == DEPTH) return fail(r);
    r->depth++;
    struct type type = read_type_inner(r);
    r->depth--;
    return type;
}

static bool read_params(struct reader *r, gpul__demangled *out)
{
    size_t capacity = 0;
    const char **params = NULL;
    while (!r->failed && r->at < r->end && *r->at != '.' && *r->at != '@') {
        struct type type = read_type(r);
        const char *text = whole(r, type);
        if (out->param_count == 0 && strcmp(text, "void") == 0 && r->at == r->end) break;
        if (type.is_pack && !*text) continue;
        if (!gpul__grow(&params, &capacity, out->param_count, sizeof *params)) {
            r->no_memory = r->failed = true;
            break;
        }
        params[out->param_count++] = text;
    }
    if (!r->failed && out->param_count) {
        out->params = gpul__arena_alloc(r->arena, out->param_count * sizeof *params);
        if (out->params) memcpy(out->params, params, out->param_count * sizeof *params);
        else r->no_memory = r->failed = true;
    }
    gpul__free(params);
    return !r->failed;
}

bool gpul__demangle(gpul__demangled *out, gpul__arena *arena, const char *symbol)
{
    *out = (gpul__demangled){ .name = symbol, .base = symbol, .is_function = true };
    if (!gpul__starts(symbol, "_Z")) return true;
    struct reader *r = gpul__calloc(1, sizeof *r);
    if (!r) return false;
    r->at = symbol + 2;
    r->end = symbol + strlen(symbol);
    r->arena = arena;
    gpul__demangled read = { .is_mangled = true };
    read.name = read_name(r, true);
    read.is_template = r->ends_in_arguments;
    read.base = read.is_template && r->without_arguments ? r->without_arguments : read.name;
    read.is_function = r->at < r->end;
    if (!r->failed && read.is_function) {
        /* The type of a template's result comes first. */
        if (read.is_template) read_type(r);
        read_params(r, &read);
    }
    bool no_memory = r->no_memory;
    if (!r->failed) *out = read;
    gpul__free(r);
    return !no_memory;
}

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

bool gpul__same_name(const char *a, const char *b)
{
    a = skip_blanks(a);
    b = skip_blanks(b);
    while (*a && *b) {
        if (*a != *b) return false;
        bool word = is_word(*a);
        const char *next_a = skip_blanks(a + 1), *next_b = skip_blanks(b + 1);
        /* A blank counts only between words: "unsigned int" is not "unsignedint". */
        bool apart_a = next_a > a + 1 && word && is_word(*next_a);
        bool apart_b = next_b > b + 1 && word && is_word(*next_b);
        if (apart_a != apart_b) return false;
        a = next_a;
        b = next_b;
    }
    return *a == *b;
}
