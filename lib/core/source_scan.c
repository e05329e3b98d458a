/* Declarations of CUDA source, from tokens.  SPDX-License-Identifier: MIT */
#include "core/source_scan.h"

#include <ctype.h>
#include <string.h>

struct scanner {
    gpul__scan *scan;
    const gpul__tokens *tokens;
    size_t depth; /* of classes and namespaces inside each other */
    uint32_t file;
    struct macro {
        size_t token; /* of its #define */
        const char *name;
        size_t length;
        bool is_global, is_device, is_host, is_constant;
    } * macros; /* those that hold execution spaces */
    size_t macro_count, macro_capacity;
    bool failed;
};

enum { DEPTH = 40 };

static bool is(const struct scanner *s, size_t i, const char *word)
{
    return gpul__token_is(s->tokens, i, word);
}

static bool is_word(const struct scanner *s, size_t i)
{
    return s->tokens->items[i].kind == GPUL__TOKEN_WORD;
}

const char *gpul__token_text(gpul__arena *arena, const gpul__tokens *tokens, size_t index)
{
    const gpul__token *token = &tokens->items[index];
    return gpul__arena_strndup(arena, tokens->text + token->offset, token->length);
}

size_t gpul__after_group(const gpul__tokens *tokens, size_t index, size_t end)
{
    size_t depth = 0;
    for (size_t i = index; i < end; i++) {
        const gpul__token *token = &tokens->items[i];
        if (token->kind != GPUL__TOKEN_MARK) continue;
        char c = tokens->text[token->offset];
        if (c == '(' || c == '[' || c == '{') depth++;
        if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i + 1;
    }
    return end;
}

size_t gpul__after_angles(const gpul__tokens *tokens, size_t index, size_t end)
{
    long depth = 0;
    for (size_t i = index; i < end; i++) {
        const gpul__token *token = &tokens->items[i];
        if (token->kind != GPUL__TOKEN_MARK) continue;
        char c = tokens->text[token->offset];
        if (c == '(' || c == '[' || c == '{') {
            i = gpul__after_group(tokens, i, end) - 1;
        } else if (c == '<') {
            depth += token->length;
        } else if (c == '>') {
            depth -= token->length;
            if (depth <= 0) return i + 1;
        } else if (c == ';') {
            return i;
        }
    }
    return end;
}

/* Attributes that take an argument in parentheses and stand among the specifiers. */
static bool takes_group(const struct scanner *s, size_t i)
{
    static const char *const words[] = {
        "__launch_bounds__",
        "__block_size__",
        "__cluster_dims__",
        "__maxnreg__",
        "__attribute__",
        "__declspec",
        "__align__",
        "alignas",
        "decltype",
        "noexcept",
        "explicit",
        "__builtin_align__",
        "asm",
        "__asm__",
    };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (is(s, i, words[w])) return true;
    return false;
}

static bool all_capitals(const struct scanner *s, size_t i)
{
    const gpul__token *token = &s->tokens->items[i];
    const char *text = s->tokens->text + token->offset;
    bool letters = false;
    for (uint32_t k = 0; k < token->length; k++) {
        if (islower((unsigned char)text[k])) return false;
        letters |= isupper((unsigned char)text[k]) != 0;
    }
    return letters && token->length > 1;
}

static void record(struct scanner *s, const gpul__decl *decl)
{
    gpul__scan *scan = s->scan;
    if (!gpul__grow(&scan->decls, &scan->capacity, scan->count, sizeof *scan->decls)) {
        s->failed = true;
        return;
    }
    scan->decls[scan->count] = *decl;
    scan->decls[scan->count++].file = s->file;
}

/* The macros of the text that stand for execution spaces: #define KERNEL __global__ void. */
static void read_macros(struct scanner *s)
{
    for (size_t i = 0; i < s->tokens->count && !s->failed; i++) {
        const char *rest;
        size_t left;
        if (s->tokens->items[i].kind != GPUL__TOKEN_DIRECTIVE ||
            !gpul__directive_is(s->tokens->text, &s->tokens->items[i], "define", &rest, &left))
            continue;
        size_t length = 0;
        while (length < left && (isalnum((unsigned char)rest[length]) || rest[length] == '_'))
            length++;
        struct macro macro = {
            .token = i,
            .name = rest,
            .length = length,
            .is_global = memmem(rest + length, left - length, "__global__", 10) != NULL,
            .is_device = memmem(rest + length, left - length, "__device__", 10) != NULL,
            .is_host = memmem(rest + length, left - length, "__host__", 8) != NULL,
            .is_constant = memmem(rest + length, left - length, "__constant__", 12) != NULL,
        };
        if (!macro.is_global && !macro.is_device && !macro.is_host && !macro.is_constant) continue;
        if (!gpul__grow(&s->macros, &s->macro_capacity, s->macro_count, sizeof *s->macros))
            s->failed = true;
        else s->macros[s->macro_count++] = macro;
    }
}

static bool macro_specifier(const struct scanner *s, size_t i, gpul__decl *decl)
{
    for (size_t m = 0; m < s->macro_count; m++) {
        const struct macro *macro = &s->macros[m];
        const gpul__token *token = &s->tokens->items[i];
        if (token->length != macro->length ||
            memcmp(s->tokens->text + token->offset, macro->name, macro->length) != 0)
            continue;
        decl->is_global |= macro->is_global;
        decl->is_device |= macro->is_device;
        decl->is_host |= macro->is_host;
        decl->is_constant |= macro->is_constant;
        decl->has_type = true;
        return true;
    }
    return false;
}

/* A specifier before the name; the flags it sets. */
static void specifier(const struct scanner *s, size_t i, gpul__decl *decl)
{
    if (s->macro_count && macro_specifier(s, i, decl)) return;
    if (is(s, i, "__global__")) decl->is_global = true;
    else if (is(s, i, "__device__") || is(s, i, "__managed__")) decl->is_device = true;
    else if (is(s, i, "__host__")) decl->is_host = true;
    else if (is(s, i, "__constant__")) decl->is_constant = true;
    else if (is(s, i, "__shared__")) decl->is_device = true;
    else if (is(s, i, "constexpr")) decl->is_constexpr = true;
    else if (is(s, i, "static")) decl->is_static = true;
    else if (is(s, i, "const")) decl->is_const = true;
    else if (!is(s, i, "inline") && !is(s, i, "extern") && !is(s, i, "__forceinline__") &&
             !is(s, i, "__inline__") && !is(s, i, "__noinline__") && !is(s, i, "volatile"))
        decl->has_type = true;
}

static size_t after_semicolon(const struct scanner *s, size_t i, size_t end)
{
    while (i < end && !is(s, i, ";")) {
        bool opens = is(s, i, "(") || is(s, i, "[") || is(s, i, "{");
        i = opens ? gpul__after_group(s->tokens, i, end) : i + 1;
    }
    return i < end ? i + 1 : end;
}

/* After the parameters of what looks like a function: finds its body.  Returns the end of the
 * declaration, or GPUL__NO_TOKEN when it is no function after all. */
static size_t finish_function(const struct scanner *s, size_t i, size_t end, gpul__decl *decl)
{
    for (; i < end; i++) {
        if (is(s, i, ";")) return i + 1;
        if (is(s, i, "{")) {
            size_t after = gpul__after_group(s->tokens, i, end);
            decl->body = i + 1;
            decl->body_end = after > i + 1 ? after - 1 : after;
            decl->has_body = true;
            return after;
        }
        if (is(s, i, "=")) return after_semicolon(s, i, end);
        if (is(s, i, "const") || is(s, i, "noexcept") || is(s, i, "volatile") ||
            is(s, i, "override") || is(s, i, "final") || is(s, i, "&") || takes_group(s, i)) {
            if (i + 1 < end && is(s, i + 1, "(")) i = gpul__after_group(s->tokens, i + 1, end) - 1;
        } else if (is(s, i, "[")) {
            i = gpul__after_group(s->tokens, i, end) - 1;
        } else if (is(s, i, "->") || is(s, i, "requires")) {
            while (i + 1 < end && !is(s, i + 1, "{") && !is(s, i + 1, ";"))
                i = is(s, i + 1, "(") ? gpul__after_group(s->tokens, i + 1, end) - 1 : i + 1;
        } else if (is(s, i, ":") && !is(s, i + 1, ":")) {
            /* A constructor's initialisers: names with a group each. */
            for (i++; i < end; i++) {
                while (i < end && !is(s, i, "(") && !is(s, i, "{") && !is(s, i, ";")) i++;
                if (i >= end || is(s, i, ";")) break;
                i = gpul__after_group(s->tokens, i, end);
                if (i >= end || !is(s, i, ",")) break;
            }
            i--;
        } else {
            return GPUL__NO_TOKEN;
        }
    }
    return end;
}

static void scan_range(struct scanner *s, size_t i, size_t end, const char *scope, bool extern_c,
                       bool in_class);

/* struct, class or union from its keyword; records it when it has a body.  Returns the token after the
 * body, or after the name when there is none. */
static size_t scan_class(struct scanner *s, size_t i, size_t end, const gpul__decl *outer,
                         size_t *recorded)
{
    gpul__decl decl = *outer;
    decl.kind = GPUL__DECLARED_CLASS;
    decl.name = GPUL__NO_TOKEN;
    for (i++; i < end && !is(s, i, "{") && !is(s, i, ";") && !is(s, i, "(") && !is(s, i, "=");) {
        if (is(s, i, "[")) {
            i = gpul__after_group(s->tokens, i, end);
        } else if (takes_group(s, i) && i + 1 < end && is(s, i + 1, "(")) {
            i = gpul__after_group(s->tokens, i + 1, end);
        } else if (is(s, i, "<")) {
            decl.arguments = i + 1;
            i = gpul__after_angles(s->tokens, i, end);
            decl.arguments_end = i - 1;
        } else if (is(s, i, ":")) {
            decl.bases = i + 1;
            while (i < end && !is(s, i, "{") && !is(s, i, ";")) i++;
            decl.bases_end = i;
        } else {
            if (is_word(s, i) && !is(s, i, "final")) {
                /* `struct P x`: the second word is a variable, not the name. */
                if (decl.name != GPUL__NO_TOKEN && !is(s, i - 1, "::") &&
                    !all_capitals(s, decl.name))
                    return i;
                decl.name = i;
            } else if (is(s, i, "*") || is(s, i, "&") || is(s, i, ",") || is(s, i, ">")) {
                return i;
            }
            i++;
        }
    }
    if (i >= end || !is(s, i, "{")) return i;
    size_t after = gpul__after_group(s->tokens, i, end);
    decl.body = i + 1;
    decl.body_end = after > i + 1 ? after - 1 : after;
    decl.has_body = true;
    decl.end = after;
    *recorded = s->scan->count;
    record(s, &decl);
    const char *scope = decl.scope;
    if (decl.name != GPUL__NO_TOKEN) {
        char *inner = gpul__arena_printf(&s->scan->arena, "%s%.*s::", decl.scope,
                                         (int)s->tokens->items[decl.name].length,
                                         s->tokens->text + s->tokens->items[decl.name].offset);
        if (!inner) s->failed = true;
        else scope = inner;
    }
    if (!s->failed) scan_range(s, decl.body, decl.body_end, scope, false, true);
    return after;
}

/* The alias of `typedef type name;` and `using name = type;`. */
static void scan_typedef(struct scanner *s, gpul__decl *decl, size_t class_end)
{
    size_t end = decl->end - 1, name = GPUL__NO_TOKEN;
    if (is(s, decl->first, "using")) {
        if (decl->first + 2 >= end || !is(s, decl->first + 2, "=")) {
            decl->kind = GPUL__DECLARED_USING;
            return;
        }
        name = decl->first + 1;
        decl->alias = gpul__spell(&s->scan->arena, s->tokens, decl->first + 3, end, GPUL__NO_TOKEN);
    } else {
        for (size_t i = decl->first + 1; i < end; i++) {
            if (i < class_end) continue;
            if (is(s, i, "<")) {
                i = gpul__after_angles(s->tokens, i, end) - 1;
                continue;
            }
            if (is(s, i, "[") || is(s, i, ",")) break;
            if (is(s, i, "(")) {
                /* typedef void (*name)(...): the name is inside. */
                if (i + 2 < end && is(s, i + 1, "*") && is_word(s, i + 2)) name = i + 2;
                break;
            }
            if (is_word(s, i)) name = i;
        }
        size_t from = decl->first + 1;
        if (class_end) {
            /* typedef struct [P] { ... } Q: Q is another name of the class. */
            decl->alias = "";
        } else {
            while (from < end && (is(s, from, "struct") || is(s, from, "class"))) from++;
            decl->alias = gpul__spell(&s->scan->arena, s->tokens, from, end, name);
        }
    }
    if (!decl->alias) s->failed = true;
    decl->name = name;
    decl->kind = GPUL__DECLARED_TYPE;
}

/* One declaration from token i; returns the token after it. */
static size_t scan_declaration(struct scanner *s, size_t i, size_t end, const char *scope,
                               bool extern_c, bool in_class)
{
    gpul__decl decl = { .first = i,
                        .name = GPUL__NO_TOKEN,
                        .scope = scope,
                        .is_extern_c = extern_c,
                        .is_class_member = in_class,
                        .uncertain = s->tokens->items[i].uncertain };
    bool is_typedef = false;
    size_t class_end = 0, class_index = SIZE_MAX, named_before_angles = GPUL__NO_TOKEN;

    if (is(s, i, "using") || is(s, i, "static_assert") || is(s, i, "asm") || is(s, i, "friend") ||
        is(s, i, "namespace")) {
        decl.end = after_semicolon(s, i, end);
        if (is(s, i, "using")) scan_typedef(s, &decl, 0);
        record(s, &decl);
        return decl.end;
    }
    while (i < end && is(s, i, "template")) {
        if (i + 1 < end && is(s, i + 1, "<")) {
            decl.is_template = true;
            decl.template_first = i + 2;
            i = gpul__after_angles(s->tokens, i + 1, end);
            decl.template_end = i - 1;
            /* template <> is a specialisation: it is written out in full. */
            if (decl.template_first == decl.template_end) decl.is_template = false;
        } else {
            decl.is_instantiation = true;
            i++;
        }
    }
    if (i < end && is(s, i, "typedef")) {
        is_typedef = true;
        i++;
    }
    if (i < end && is(s, i, "using") && decl.is_template) {
        decl.end = after_semicolon(s, i, end);
        decl.kind = GPUL__DECLARED_TYPE;
        decl.name = i + 1 < end && is_word(s, i + 1) ? i + 1 : GPUL__NO_TOKEN;
        decl.alias = "";
        record(s, &decl);
        return decl.end;
    }

    while (i < end) {
        if (is(s, i, ";")) {
            i++;
            break;
        }
        if (s->tokens->items[i].kind == GPUL__TOKEN_DIRECTIVE) {
            i++;
        } else if (!is_typedef && is(s, i, "extern") && i + 1 < end &&
                   s->tokens->items[i + 1].kind == GPUL__TOKEN_STRING) {
            decl.is_extern_c = true;
            i += 2;
        } else if ((is(s, i, "struct") || is(s, i, "class") || is(s, i, "union")) && !class_end) {
            size_t recorded = SIZE_MAX;
            size_t after = scan_class(s, i, end, &decl, &recorded);
            decl.has_type = true;
            if (recorded != SIZE_MAX) {
                class_index = recorded;
                class_end = after;
            }
            i = after > i ? after : i + 1;
        } else if (is(s, i, "enum")) {
            decl.kind = GPUL__DECLARED_ENUM;
            decl.has_type = true;
            for (i++; i < end && !is(s, i, "{") && !is(s, i, ";") && !is(s, i, "(");) {
                if (is_word(s, i) && !is(s, i, "class") && !is(s, i, "struct") &&
                    decl.name == GPUL__NO_TOKEN)
                    decl.name = i;
                i++;
            }
            if (i < end && is(s, i, "{")) {
                size_t after = gpul__after_group(s->tokens, i, end);
                decl.has_body = true;
                decl.body = i + 1;
                decl.body_end = after > i + 1 ? after - 1 : after;
                i = after;
            } else {
                decl.kind = GPUL__DECLARED_OTHER;
            }
        } else if (takes_group(s, i) && i + 1 < end && is(s, i + 1, "(")) {
            if (is(s, i, "decltype")) decl.has_type = true;
            i = gpul__after_group(s->tokens, i + 1, end);
        } else if (is(s, i, "operator")) {
            decl.name = i++;
            decl.has_type = true;
            while (i < end && !is(s, i, "(") && !is(s, i, ";")) i++;
            if (i + 1 < end && is(s, i, "(") && is(s, i + 1, ")") && i + 2 < end &&
                is(s, i + 2, "("))
                i += 2;
        } else if (is(s, i, "<")) {
            size_t after = gpul__after_angles(s->tokens, i, end);
            if (i > decl.first && is_word(s, i - 1) && after < end && is(s, after, "(")) {
                named_before_angles = i - 1;
                decl.arguments = i + 1;
                decl.arguments_end = after - 1;
            }
            i = after > i ? after : i + 1;
        } else if (is(s, i, "(") && !is_typedef) {
            size_t after = gpul__after_group(s->tokens, i, end);
            size_t name = named_before_angles;
            if (name == GPUL__NO_TOKEN && i > decl.first && is_word(s, i - 1)) name = i - 1;
            if (decl.name != GPUL__NO_TOKEN && is(s, decl.name, "operator")) name = decl.name;
            gpul__decl function = decl;
            function.kind = GPUL__DECLARED_FUNCTION;
            function.params = i + 1;
            function.params_end = after > i + 1 ? after - 1 : after;
            size_t stop = name == GPUL__NO_TOKEN ? name : finish_function(s, after, end, &function);
            if (stop != GPUL__NO_TOKEN) {
                function.name = name;
                function.end = stop;
                /* The word before the parentheses was counted as a type. */
                function.has_type = false;
                for (size_t k = decl.first; k < name; k++) {
                    if (takes_group(s, k) && is(s, k + 1, "(")) {
                        k = gpul__after_group(s->tokens, k + 1, end) - 1;
                        continue;
                    }
                    if (is(s, k, "template") && is(s, k + 1, "<")) {
                        k = gpul__after_angles(s->tokens, k + 1, end) - 1;
                        continue;
                    }
                    if (is_word(s, k)) specifier(s, k, &function);
                    if (is_word(s, k) && all_capitals(s, k)) function.has_macro = true;
                }
                if (!function.has_type && !in_class) function.kind = GPUL__DECLARED_OTHER;
                record(s, &function);
                return stop;
            }
            /* DEFINE_KERNEL(add, +) without a semicolon: what follows is a declaration of its own. */
            if (i == decl.first + 1 && name == decl.first && !in_class) {
                decl.end = after;
                decl.name = GPUL__NO_TOKEN;
                record(s, &decl);
                return after;
            }
            i = after;
        } else if (is(s, i, "(") || is(s, i, "[")) {
            i = gpul__after_group(s->tokens, i, end);
        } else if (is(s, i, "=") || is(s, i, "{")) {
            i = after_semicolon(s, i, end);
            break;
        } else {
            if (is_word(s, i)) {
                specifier(s, i, &decl);
                if (all_capitals(s, i) && i + 1 < end && is_word(s, i + 1)) decl.has_macro = true;
                if (decl.kind == GPUL__DECLARED_OTHER) decl.name = i;
            }
            i++;
        }
    }
    decl.end = i;
    if (is_typedef) {
        gpul__decl *inner = class_index < s->scan->count ? &s->scan->decls[class_index] : NULL;
        if (inner) inner->end = i;
        scan_typedef(s, &decl, class_end);
        if (inner && inner->name == GPUL__NO_TOKEN) {
            inner->name = decl.name;
        } else {
            if (inner) decl.alias = gpul__token_text(&s->scan->arena, s->tokens, inner->name);
            if (inner && !decl.alias) s->failed = true;
            record(s, &decl);
        }
    } else if (class_index != SIZE_MAX) {
        /* The class's own declaration reaches to its semicolon. */
        if (class_index < s->scan->count) s->scan->decls[class_index].end = i;
    } else if (decl.kind != GPUL__DECLARED_ENUM && decl.has_type && decl.name != GPUL__NO_TOKEN) {
        decl.kind = GPUL__DECLARED_VARIABLE;
        record(s, &decl);
    } else {
        record(s, &decl);
    }
    return i;
}

static void scan_range(struct scanner *s, size_t i, size_t end, const char *scope, bool extern_c,
                       bool in_class)
{
    if (s->depth == DEPTH) return;
    s->depth++;
    while (i < end && !s->failed) {
        if (s->tokens->items[i].kind == GPUL__TOKEN_DIRECTIVE || is(s, i, ";") || is(s, i, "}")) {
            i++;
            continue;
        }
        if (in_class && (is(s, i, "public") || is(s, i, "private") || is(s, i, "protected")) &&
            i + 1 < end && is(s, i + 1, ":")) {
            i += 2;
            continue;
        }
        size_t j = is(s, i, "inline") && i + 1 < end && is(s, i + 1, "namespace") ? i + 1 : i;
        if (is(s, j, "namespace")) {
            size_t open = j + 1;
            while (open < end && !is(s, open, "{") && !is(s, open, ";") && !is(s, open, "="))
                open++;
            if (open < end && is(s, open, "{")) {
                const char *name =
                    gpul__spell(&s->scan->arena, s->tokens, j + 1, open, GPUL__NO_TOKEN);
                const char *inner = name
                                        ? gpul__arena_printf(&s->scan->arena, "%s%s::", scope,
                                                             *name ? name : "(anonymous namespace)")
                                        : NULL;
                size_t after = gpul__after_group(s->tokens, open, end);
                if (!inner) s->failed = true;
                else
                    scan_range(s, open + 1, after > open + 1 ? after - 1 : after, inner, extern_c,
                               false);
                i = after;
                continue;
            }
        }
        if (is(s, i, "extern") && i + 2 < end &&
            s->tokens->items[i + 1].kind == GPUL__TOKEN_STRING && is(s, i + 2, "{")) {
            size_t after = gpul__after_group(s->tokens, i + 2, end);
            scan_range(s, i + 3, after > i + 3 ? after - 1 : after, scope, true, false);
            i = after;
            continue;
        }
        size_t after = scan_declaration(s, i, end, scope, extern_c, in_class);
        i = after > i ? after : i + 1;
    }
    s->depth--;
}

void gpul__scan_begin(gpul__scan *out, const gpul__tokens *tokens)
{
    *out = (gpul__scan){ .tokens = tokens };
}

bool gpul__scan_part(gpul__scan *scan, size_t first, size_t end, uint32_t file)
{
    struct scanner s = { .scan = scan, .tokens = scan->tokens, .file = file };
    for (size_t i = first; i < end && !scan->has_launches; i++)
        scan->has_launches = gpul__token_is(scan->tokens, i, "<<<");
    read_macros(&s);
    if (!s.failed) scan_range(&s, first, end, "", false, false);
    gpul__free(s.macros);
    return !s.failed;
}

void gpul__scan_free(gpul__scan *scan)
{
    gpul__free(scan->decls);
    gpul__arena_free(&scan->arena);
    *scan = (gpul__scan){ 0 };
}

const gpul__decl *gpul__scan_type(const gpul__scan *scan, const char *name, size_t *from)
{
    for (size_t i = *from; i < scan->count; i++) {
        const gpul__decl *decl = &scan->decls[i];
        bool is_type = (decl->kind == GPUL__DECLARED_CLASS && decl->has_body) ||
                       decl->kind == GPUL__DECLARED_TYPE || decl->kind == GPUL__DECLARED_ENUM;
        if (is_type && decl->name != GPUL__NO_TOKEN &&
            gpul__token_is(scan->tokens, decl->name, name)) {
            *from = i + 1;
            return decl;
        }
    }
    return NULL;
}
