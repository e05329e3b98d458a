/* Writing the questions to the compiler and reading its answers.  SPDX-License-Identifier: MIT */
#include "core/compile_probe.h"
#include "core/signature_types.h"

#include <stdlib.h>
#include <string.h>

static const char *const head =
    "#pragma once\n"
    "namespace std {}\n"
    "#if __CUDACC_VER_MAJOR__ > 11 || __CUDACC_VER_MINOR__ > 4\n"
    "#pragma nv_diag_warning 1444\n"
    "#endif\n"
    "namespace __gpul {\n"
    "template <int K, class F, int... N> using ask __attribute__((deprecated(\"gpulaunch\"))) = int;\n"
    "template <int K, class... T> using types __attribute__((deprecated(\"gpulaunch\"))) = int;\n";

static const char *const codes = "__device__ char (&c(const volatile void *))[1];\n"
#define X(code, name, element, lanes, align)                                                       \
    "__device__ char (&c(const volatile " #name " *))[" #code "];\n"
    GPUL__TYPE_CODES(X)
#undef X
    ;

static gpul__probe_item *add_item(gpul__probe *probe, gpul__probe_item item)
{
    if (!gpul__grow(&probe->items, &probe->capacity, probe->count, sizeof *probe->items)) {
        gpul__free(item.parts.items);
        return NULL;
    }
    probe->items[probe->count] = item;
    return &probe->items[probe->count++];
}

static bool insert(gpul__probe *probe, size_t offset, gpul__str *text)
{
    const char *copy =
        text->failed ? NULL : gpul__arena_strndup(probe->arena, gpul__str_text(text), text->length);
    gpul__str_free(text);
    if (!copy || !gpul__grow(&probe->insertions, &probe->insertion_capacity, probe->insertion_count,
                             sizeof *probe->insertions))
        return false;
    /* Kept in the order of the text; probes come nearly sorted. */
    size_t i = probe->insertion_count++;
    for (; i > 0 && probe->insertions[i - 1].offset > offset; i--)
        probe->insertions[i] = probe->insertions[i - 1];
    probe->insertions[i] = (gpul__probe_insertion){ offset, copy };
    return true;
}

static size_t end_offset(const gpul__probe *probe, size_t end_token)
{
    const gpul__token *last = &probe->tokens->items[end_token - 1];
    return last->offset + last->length;
}

/* ---- Which structs are asked about ---- */

/* Words of the source that kernels' parameters name, directly or through members and typedefs. */
struct words {
    gpul__arena *arena;
    const char **items;
    size_t count, capacity;
};

static bool add_word(struct words *words, const char *text, size_t length)
{
    for (size_t i = 0; i < words->count; i++)
        if (strlen(words->items[i]) == length && memcmp(words->items[i], text, length) == 0)
            return true;
    const char *copy = gpul__arena_strndup(words->arena, text, length);
    if (!copy || !gpul__grow(&words->items, &words->capacity, words->count, sizeof *words->items))
        return false;
    words->items[words->count++] = copy;
    return true;
}

static bool add_words(struct words *words, const gpul__tokens *tokens, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (tokens->items[i].kind == GPUL__TOKEN_WORD &&
            !gpul__is_type_word(tokens->text + tokens->items[i].offset, tokens->items[i].length) &&
            !add_word(words, tokens->text + tokens->items[i].offset, tokens->items[i].length))
            return false;
    return true;
}

static bool close_words(struct words *words, const gpul__scan *scan)
{
    for (size_t i = 0; i < words->count && i < 1000; i++) {
        size_t from = 0;
        for (const gpul__decl *decl; (decl = gpul__scan_type(scan, words->items[i], &from));) {
            size_t first = decl->kind == GPUL__DECLARED_TYPE ? decl->first : decl->bases;
            size_t end = decl->kind == GPUL__DECLARED_TYPE ? decl->end : decl->bases_end;
            if (!add_words(words, scan->tokens, first, end)) return false;
            if (decl->kind != GPUL__DECLARED_CLASS) continue;
            gpul__declarators members = { 0 };
            bool ok = gpul__scan_members(&members, words->arena, scan->tokens, decl->body,
                                         decl->body_end, false);
            for (size_t m = 0; ok && m < members.count; m++)
                ok = add_words(
                    words, scan->tokens,
                    members.items[m].nested ? members.items[m].nested : members.items[m].first,
                    members.items[m].nested ? members.items[m].nested_end : members.items[m].end);
            gpul__free(members.items);
            if (!ok) return false;
        }
    }
    return true;
}

static bool has_word(const struct words *words, const gpul__tokens *tokens, size_t token)
{
    for (size_t i = 0; i < words->count; i++)
        if (gpul__token_is(tokens, token, words->items[i])) return true;
    return false;
}

/* ---- Questions about structs ---- */

/* Members of a struct and, with dotted names, of the structs that are defined inside it. */
static bool flat_members(gpul__probe *probe, gpul__declarators *out, size_t first, size_t end,
                         bool hidden, const char *prefix, int depth)
{
    gpul__declarators members = { 0 };
    if (!gpul__scan_members(&members, probe->arena, probe->tokens, first, end, hidden)) {
        gpul__free(members.items);
        return false;
    }
    bool ok = true;
    out->uncertain |= members.uncertain;
    for (size_t i = 0; ok && i < members.count; i++) {
        gpul__declarator member = members.items[i];
        if (*prefix) member.name = gpul__arena_printf(probe->arena, "%s%s", prefix, member.name);
        ok = member.name && gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items);
        if (!ok) break;
        out->items[out->count++] = member;
        if (member.nested && !strchr(member.type, '[') && depth < 4) {
            const char *inner = gpul__arena_printf(probe->arena, "%s.", member.name);
            ok = inner && flat_members(probe, out, member.nested, member.nested_end,
                                       member.is_hidden, inner, depth + 1);
        }
    }
    gpul__free(members.items);
    return ok;
}

/* Members of the bases, which the compiler finds by the derived name too. */
static bool base_members(gpul__probe *probe, gpul__declarators *out, const gpul__decl *decl,
                         int depth)
{
    for (size_t i = decl->bases; i < decl->bases_end && depth < 4; i++) {
        if (probe->tokens->items[i].kind != GPUL__TOKEN_WORD) continue;
        if (gpul__token_is(probe->tokens, i, "<")) out->uncertain = true;
        const char *name = gpul__token_text(probe->arena, probe->tokens, i);
        if (!name) return false;
        size_t from = 0;
        for (const gpul__decl *base; (base = gpul__scan_type(probe->scan, name, &from));)
            if (base->kind == GPUL__DECLARED_CLASS && base != decl &&
                (!base_members(probe, out, base, depth + 1) ||
                 !flat_members(probe, out, base->body, base->body_end,
                               gpul__token_is(probe->tokens, base->first, "class"), "", 0)))
                return false;
    }
    return true;
}

/* One struct by a name that is good at the place of the question. */
static bool ask_struct(gpul__probe *probe, gpul__str *text, const gpul__decl *decl,
                       const char *name)
{
    gpul__probe_item item = { .kind = GPUL__PROBE_STRUCT, .decl = decl, .name = name };
    bool hidden = gpul__token_is(probe->tokens, decl->first, "class");
    if (!base_members(probe, &item.parts, decl, 0) ||
        !flat_members(probe, &item.parts, decl->body, decl->body_end, hidden, "", 0)) {
        gpul__free(item.parts.items);
        return false;
    }
    item.is_loose = decl->bases_end > decl->bases;
    for (size_t i = decl->first; i < decl->end; i++)
        item.is_loose |= gpul__token_is(probe->tokens, i, "alignas") ||
                         gpul__token_is(probe->tokens, i, "__align__") ||
                         gpul__token_is(probe->tokens, i, "__attribute__");
    bool askable = !item.parts.uncertain && item.parts.count > 0 && item.parts.count <= 256;
    for (size_t i = 0; i < item.parts.count; i++)
        askable &= !item.parts.items[i].is_bits && !item.parts.items[i].is_hidden;
    size_t id = probe->count;
    gpul__probe_item *added = add_item(probe, item);
    if (!added) return false;
    gpul__str_printf(text, " typedef ::__gpul::ask<%zu,%s,sizeof(%s),alignof(%s)", id, name, name,
                     name);
    /* Members that cannot be asked about leave the struct without members. */
    if (!askable) added->parts.count = 0;
    for (size_t i = 0; i < added->parts.count; i++) {
        const gpul__declarator *m = &added->parts.items[i];
        gpul__str_printf(text, ",(int)__INTADDR__(&((%s*)0)->%s),sizeof(((%s*)0)->%s)", name,
                         m->name, name, m->name);
        const char *inner = strchr(m->name, '.') ? "1" : NULL;
        if (inner) gpul__str_add(text, ",1");
        else gpul__str_printf(text, ",alignof(decltype(%s::%s))", name, m->name);
        gpul__type_text parts;
        if (!gpul__type_text_read(&parts, probe->arena, m->type)) return false;
        bool asks = !m->nested && !parts.pointee && !parts.is_function && !inner &&
                    gpul__type_needs_code(probe->scan, parts.base);
        if (!asks) {
            gpul__str_add(text, ",0");
            continue;
        }
        gpul__str_printf(text, ",(int)sizeof(::__gpul::c(&((%s*)0)->%s", name, m->name);
        for (const char *c = strchr(m->type, '['); c; c = strchr(c + 1, '['))
            gpul__str_add(text, "[0]");
        gpul__str_add(text, "))");
        if (!strchr(m->type, '['))
            gpul__str_printf(text, "+%d*__is_enum(decltype(%s::%s))", GPUL__TYPE_CODE_ENUM, name,
                             m->name);
    }
    gpul__str_printf(text, ">__gpul_%zu;", id);
    if (!added->parts.count) return true;
    gpul__str_printf(text, "typedef ::__gpul::types<%zu", id);
    for (size_t i = 0; i < added->parts.count; i++) {
        const gpul__declarator *m = &added->parts.items[i];
        if (strchr(m->name, '.')) gpul__str_add(text, ",void");
        else gpul__str_printf(text, ",decltype(%s::%s)", name, m->name);
    }
    gpul__str_printf(text, ">__gpul_t%zu;", id);
    return true;
}

static bool ask_structs(gpul__probe *probe)
{
    struct words words = { .arena = probe->arena };
    bool ok = true;
    for (size_t i = 0; ok && i < probe->scan->count; i++) {
        const gpul__decl *decl = &probe->scan->decls[i];
        if (decl->kind == GPUL__DECLARED_FUNCTION && decl->is_global)
            ok = add_words(&words, probe->tokens, decl->params, decl->params_end) &&
                 add_words(&words, probe->tokens, decl->arguments, decl->arguments_end);
    }
    ok = ok && close_words(&words, probe->scan);
    for (size_t i = 0; ok && i < probe->scan->count; i++) {
        const gpul__decl *decl = &probe->scan->decls[i];
        if (decl->kind != GPUL__DECLARED_CLASS || !decl->has_body || decl->is_template ||
            decl->name == GPUL__NO_TOKEN || decl->arguments_end > decl->arguments ||
            (strstr(decl->scope, "(anonymous") && (decl->file || decl->is_class_member)) ||
            (decl->file && decl->uncertain) || !has_word(&words, probe->tokens, decl->name))
            continue;
        /* A class inside a class is asked about behind the outermost one. */
        const gpul__decl *outer = decl;
        for (size_t k = 0; k < probe->scan->count; k++) {
            const gpul__decl *other = &probe->scan->decls[k];
            if (other->kind == GPUL__DECLARED_CLASS && other->first <= outer->first &&
                other->end >= outer->end && !other->is_class_member && decl->is_class_member)
                outer = other;
        }
        if (decl->is_class_member && (outer == decl || outer->is_template)) continue;
        /* In its own scope the plain name is enough, and the only one in an anonymous namespace. */
        const char *last = gpul__token_text(probe->arena, probe->tokens, decl->name), *name = last;
        if (last && (decl->file || decl->is_class_member))
            name = gpul__arena_printf(probe->arena, "::%s%s", decl->scope, last);
        /* A header's text is not ours to change: its structs are asked about at the end. */
        gpul__str text = { 0 };
        if (!name) ok = false;
        else if (decl->file) ok = ask_struct(probe, &probe->tail, decl, name);
        else
            ok = ask_struct(probe, &text, decl, name) &&
                 insert(probe, end_offset(probe, outer->end), &text);
        if (decl->file) gpul__str_add(&probe->tail, "\n");
        gpul__str_free(&text);
    }
    gpul__free(words.items);
    return ok;
}

/* What a typedef of the source stands for, without pointer and const; the name itself otherwise. */
static const char *follow_typedefs(gpul__probe *probe, const char *name)
{
    for (int depth = 0; depth < 8 && !strchr(name, '<'); depth++) {
        size_t length, from = 0;
        const char *last = gpul__last_part(name, &length);
        const char *plain = gpul__arena_strndup(probe->arena, last, length);
        if (!plain) return NULL;
        const gpul__decl *decl = gpul__scan_type(probe->scan, plain, &from);
        gpul__type_text parts;
        if (!decl || decl->kind != GPUL__DECLARED_TYPE || !decl->alias || !*decl->alias) break;
        if (!gpul__type_text_read(&parts, probe->arena, decl->alias)) return NULL;
        if (parts.pointee || parts.is_function || parts.count != 1) break;
        name = parts.base;
    }
    return name;
}

/* Instances of struct templates that a kernel's parameters name: `Vec<float, 3> v`. */
static bool ask_instances(gpul__probe *probe, gpul__str *text, const gpul__declarators *params)
{
    for (size_t i = 0; i < params->count; i++) {
        gpul__type_text parts;
        const gpul__declarator param = params->items[i];
        if (!gpul__type_text_read(&parts, probe->arena, param.type)) return false;
        const char *base = parts.base;
        if (parts.pointee) {
            gpul__type_text inner;
            if (!gpul__type_text_read(&inner, probe->arena, parts.pointee)) return false;
            base = inner.base;
        }
        const char *instance = follow_typedefs(probe, base);
        if (!instance) return false;
        if (!strchr(instance, '<') || strchr(instance, '(')) continue;
        bool asked = false;
        for (size_t k = 0; k < probe->count; k++)
            asked |= probe->items[k].kind == GPUL__PROBE_STRUCT &&
                     strcmp(probe->items[k].name, instance) == 0;
        size_t length, from = 0;
        const char *last = gpul__last_part(instance, &length);
        const char *plain = gpul__arena_strndup(probe->arena, last, length);
        if (!plain) return false;
        const gpul__decl *decl = gpul__scan_type(probe->scan, plain, &from);
        if (asked || !decl || decl->kind != GPUL__DECLARED_CLASS || !decl->is_template) continue;
        if (!ask_struct(probe, text, decl, instance)) return false;
    }
    return true;
}

/* ---- Questions about kernels ---- */

/* The codes of parameters whose type is a name that says nothing here. */
static bool ask_codes(gpul__probe *probe, gpul__str *text, const gpul__declarators *params)
{
    for (size_t i = 0; i < params->count; i++) {
        gpul__type_text parts, inner;
        if (!gpul__type_text_read(&parts, probe->arena, params->items[i].type)) return false;
        const char *base = parts.is_function ? "" : parts.base;
        if (parts.pointee) {
            if (!gpul__type_text_read(&inner, probe->arena, parts.pointee)) return false;
            base = inner.pointee || inner.is_function ? "" : inner.base;
        }
        if (*base && gpul__type_needs_code(probe->scan, base))
            gpul__str_printf(text, ",(int)sizeof(::__gpul::c((%s*)0))+%d*__is_enum(%s)", base,
                             GPUL__TYPE_CODE_ENUM, base);
        else gpul__str_add(text, ",0");
    }
    return true;
}

static bool is_overloaded(const gpul__probe *probe, const gpul__decl *kernel)
{
    for (size_t i = 0; i < probe->scan->count; i++) {
        const gpul__decl *other = &probe->scan->decls[i];
        if (other == kernel || other->kind != GPUL__DECLARED_FUNCTION ||
            other->name == GPUL__NO_TOKEN || strcmp(other->scope, kernel->scope) != 0)
            continue;
        const gpul__token *a = &probe->tokens->items[other->name];
        const gpul__token *b = &probe->tokens->items[kernel->name];
        if (a->length == b->length && memcmp(probe->tokens->text + a->offset,
                                             probe->tokens->text + b->offset, a->length) == 0)
            return true;
    }
    return false;
}

static bool ask_kernel(gpul__probe *probe, const gpul__decl *decl, bool structs)
{
    gpul__probe_item item = { .kind = GPUL__PROBE_KERNEL, .decl = decl };
    gpul__str text = { 0 }, name = { 0 };
    if (!gpul__scan_params(&item.parts, probe->arena, probe->tokens, decl)) return false;
    const gpul__token *token = &probe->tokens->items[decl->name];
    const char *plain = probe->tokens->text + token->offset;
    /* `a::b::k` of an instantiation is written with its scope. */
    size_t first = decl->name;
    while (first > decl->first + 1 && gpul__token_is(probe->tokens, first - 1, "::")) first -= 2;
    const char *whole = probe->tokens->text + probe->tokens->items[first].offset;
    size_t length = (size_t)(plain - whole) + token->length;
    if (decl->is_instantiation || is_overloaded(probe, decl)) {
        gpul__str_add(&name, "static_cast<void(*)(");
        for (size_t i = 0; i < item.parts.count; i++)
            gpul__str_printf(&name, "%s%s", i ? "," : "", item.parts.items[i].type);
        gpul__str_printf(&name, ")>(&%.*s", (int)length, whole);
        if (decl->arguments_end > decl->arguments) {
            const char *arguments = gpul__spell(probe->arena, probe->tokens, decl->arguments,
                                                decl->arguments_end, GPUL__NO_TOKEN);
            gpul__str_printf(&name, "<%s>", arguments ? arguments : "");
        }
        gpul__str_add(&name, ")");
    } else {
        gpul__str_printf(&name, "&%.*s", (int)length, whole);
    }
    item.name =
        name.failed ? NULL : gpul__arena_strndup(probe->arena, gpul__str_text(&name), name.length);
    gpul__str_free(&name);
    size_t id = probe->count;
    bool ok = item.name != NULL;
    if (!ok) gpul__free(item.parts.items);
    ok = ok && add_item(probe, item) != NULL;
    if (ok) {
        gpul__str_printf(&text, " typedef ::__gpul::ask<%zu,decltype(%s)", id, item.name);
        ok = ask_codes(probe, &text, &item.parts);
        gpul__str_printf(&text, ">__gpul_%zu;", id);
    }
    ok = ok && (!structs || ask_instances(probe, &text, &item.parts)) &&
         insert(probe, end_offset(probe, decl->end), &text);
    gpul__str_free(&text);
    return ok;
}

/* The template that an expression names, by its last part. */
static const gpul__decl *find_template(const gpul__probe *probe, const char *expression)
{
    while (*expression == '&' || *expression == ' ') expression++;
    size_t length;
    const char *last = gpul__last_part(expression, &length);
    while (length && last[length - 1] == ' ') length--;
    for (size_t i = 0; probe->scan && i < probe->scan->count; i++) {
        const gpul__decl *decl = &probe->scan->decls[i];
        if (decl->kind == GPUL__DECLARED_FUNCTION && decl->is_global &&
            decl->name != GPUL__NO_TOKEN && decl->has_body &&
            probe->tokens->items[decl->name].length == length &&
            memcmp(probe->tokens->text + probe->tokens->items[decl->name].offset, last, length) ==
                0)
            return decl;
    }
    return NULL;
}

static bool ask_expression(gpul__probe *probe, const char *expression)
{
    gpul__probe_item item = { .kind = GPUL__PROBE_EXPRESSION, .name = expression };
    item.decl = find_template(probe, expression);
    if (item.decl && !gpul__scan_params(&item.parts, probe->arena, probe->tokens, item.decl))
        return false;
    size_t id = probe->count;
    while (*expression == ' ') expression++;
    bool plain = *expression != '&' && *expression != '(';
    gpul__str_printf(&probe->tail, "typedef ::__gpul::ask<%zu,decltype(%s%s)>__gpul_%zu;\n", id,
                     plain ? "&" : "", expression, id);
    return add_item(probe, item) != NULL;
}

static bool begin(gpul__probe *out, gpul__arena *arena)
{
    *out = (gpul__probe){ .arena = arena };
    gpul__str_add(&out->header, head);
    gpul__str_add(&out->tail, "\n#line 1 \"" GPUL__PROBE_TAIL "\"\n");
    return true;
}

static bool uses_codes(const gpul__probe *probe)
{
    if (strstr(gpul__str_text(&probe->tail), "__gpul::c(")) return true;
    for (size_t i = 0; i < probe->insertion_count; i++)
        if (strstr(probe->insertions[i].text, "__gpul::c(")) return true;
    return false;
}

static bool finish(gpul__probe *out)
{
    if (uses_codes(out)) gpul__str_add(&out->header, codes);
    gpul__str_add(&out->header, "}\n");
    return !out->header.failed && !out->tail.failed;
}

bool gpul__probe_make(gpul__probe *out, gpul__arena *arena, const gpul__tokens *tokens,
                      const gpul__scan *scan, const char *const *expressions, bool structs)
{
    bool ok = begin(out, arena);
    out->tokens = tokens;
    out->scan = scan;
    if (structs) ok = ask_structs(out);
    for (size_t i = 0; ok && i < scan->count; i++) {
        const gpul__decl *decl = &scan->decls[i];
        bool whole = decl->has_body || decl->is_instantiation;
        if (!decl->file && decl->kind == GPUL__DECLARED_FUNCTION && decl->is_global && whole &&
            !decl->is_template && !decl->is_class_member && decl->name != GPUL__NO_TOKEN)
            ok = ask_kernel(out, decl, structs);
    }
    for (; ok && expressions && *expressions; expressions++) ok = ask_expression(out, *expressions);
    if (ok) ok = finish(out);
    if (!ok) gpul__probe_free(out);
    return ok;
}

bool gpul__probe_make_symbols(gpul__probe *out, gpul__arena *arena, const char *const *symbols,
                              size_t count)
{
    bool ok = begin(out, arena);
    for (size_t i = 0; ok && i < count; i++) {
        gpul__probe_item item = { .kind = GPUL__PROBE_SYMBOL, .name = symbols[i] };
        gpul__str_printf(&out->tail, "typedef ::__gpul::ask<%zu,decltype(&%s)>__gpul_%zu;\n", i,
                         symbols[i], i);
        ok = add_item(out, item) != NULL;
    }
    if (ok) ok = finish(out);
    if (!ok) gpul__probe_free(out);
    return ok;
}

char *gpul__probe_source(const gpul__probe *probe, const char *text, size_t length)
{
    gpul__str out = { 0 };
    size_t at = 0;
    for (size_t i = 0; i < probe->insertion_count; i++) {
        size_t offset = probe->insertions[i].offset;
        gpul__str_addn(&out, text + at, offset - at);
        gpul__str_add(&out, probe->insertions[i].text);
        at = offset;
    }
    gpul__str_addn(&out, text + at, length - at);
    gpul__str_add(&out, gpul__str_text(&probe->tail));
    char *result = gpul__str_take(&out);
    gpul__str_free(&out);
    return result;
}

/* ---- Answers ---- */

/* The next argument of a list "a, b<c, d>, e>": returns behind its comma; at '>' the list ends. */
static const char *next_argument(gpul__arena *arena, const char *at, const char **argument)
{
    while (*at == ' ') at++;
    const char *start = at;
    long depth = 0;
    for (; *at; at++) {
        if (*at == '<' || *at == '(' || *at == '[') depth++;
        if ((*at == '>' || *at == ')' || *at == ']') && depth-- == 0) break;
        if (*at == ',' && depth == 0) break;
    }
    *argument = gpul__arena_strndup(arena, start, (size_t)(at - start));
    return *argument && *at == ',' ? at + 1 : NULL;
}

/* "void (*)(Body *, Params)": the parameters' types. */
static bool split_signature(gpul__probe *probe, gpul__probe_item *item)
{
    const char *open = strstr(item->type, "(*)(");
    if (!open) return true;
    const char *at = open + 4;
    size_t capacity = 0, count = 0;
    const char **types = NULL;
    bool ok = true;
    while (ok && at && *at && *at != ')') {
        const char *type;
        at = next_argument(probe->arena, at, &type);
        ok = type && gpul__grow(&types, &capacity, count, sizeof *types);
        if (ok && strcmp(type, "void") != 0) types[count++] = type;
    }
    if (ok && count) {
        item->types = gpul__arena_alloc(probe->arena, count * sizeof *types);
        ok = item->types != NULL;
        if (ok) memcpy(item->types, types, count * sizeof *types);
    }
    item->type_count = ok ? count : 0;
    gpul__free(types);
    return ok;
}

/* The compiler's name for an anonymous namespace, as demangled names have it. */
static const char *normal_name(gpul__arena *arena, const char *type)
{
    static const char theirs[] = "<unnamed>::";
    const char *found = strstr(type, theirs);
    if (!found) return type;
    const char *rest = normal_name(arena, found + sizeof theirs - 1);
    return rest ? gpul__arena_printf(arena, "%.*s(anonymous namespace)::%s", (int)(found - type),
                                     type, rest)
                : NULL;
}

static bool read_ask(gpul__probe *probe, const char *at)
{
    const char *text;
    at = next_argument(probe->arena, at, &text);
    if (!text) return false;
    size_t id = strtoul(text, NULL, 10);
    if (!at || id >= probe->count) return true;
    gpul__probe_item *item = &probe->items[id];
    at = next_argument(probe->arena, at, &item->type);
    item->type = item->type ? normal_name(probe->arena, item->type) : NULL;
    if (!item->type) return false;
    long long numbers[4 * 256 + 2];
    size_t count = 0;
    while (at && count < sizeof numbers / sizeof *numbers) {
        at = next_argument(probe->arena, at, &text);
        if (!text) return false;
        numbers[count++] = strtoll(text, NULL, 10);
    }
    item->number_count = count;
    item->numbers = gpul__arena_alloc(probe->arena, (count + 1) * sizeof *numbers);
    if (!item->numbers) return false;
    memcpy(item->numbers, numbers, count * sizeof *numbers);
    item->answered = true;
    return item->kind == GPUL__PROBE_STRUCT || split_signature(probe, item);
}

static bool read_types(gpul__probe *probe, const char *at)
{
    const char *text;
    at = next_argument(probe->arena, at, &text);
    if (!text) return false;
    size_t id = strtoul(text, NULL, 10);
    if (!at || id >= probe->count) return true;
    gpul__probe_item *item = &probe->items[id];
    item->types = gpul__arena_alloc(probe->arena, (item->parts.count + 1) * sizeof *item->types);
    if (!item->types) return false;
    while (at && item->type_count < item->parts.count) {
        at = next_argument(probe->arena, at, &text);
        if (!text) return false;
        item->types[item->type_count++] = normal_name(probe->arena, text);
        if (!item->types[item->type_count - 1]) return false;
    }
    return true;
}

bool gpul__probe_is_own(const gpul__log_entry *entry)
{
    if (entry->file && (strcmp(entry->file, GPUL__PROBE_HEADER) == 0 ||
                        strcmp(entry->file, GPUL__PROBE_TAIL) == 0))
        return true;
    return entry->text && strstr(entry->text, "__gpul::") != NULL;
}

bool gpul__probe_read(gpul__probe *probe, const gpul__log_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i].text;
        if (!text) continue;
        const char *ask = strstr(text, "\"__gpul::ask<"), *types = strstr(text, "\"__gpul::types<");
        if (ask && !read_ask(probe, ask + strlen("\"__gpul::ask<"))) return false;
        if (types && !read_types(probe, types + strlen("\"__gpul::types<"))) return false;
    }
    return true;
}

void gpul__probe_free(gpul__probe *probe)
{
    for (size_t i = 0; i < probe->count; i++) gpul__free(probe->items[i].parts.items);
    gpul__free(probe->items);
    gpul__free(probe->insertions);
    gpul__str_free(&probe->header);
    gpul__str_free(&probe->tail);
    *probe = (gpul__probe){ 0 };
}
