/* Values of scalars, vectors and structs; references such as x.len.  SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "plan.h"

static const char *begin(span s)
{
    return s.word->text + s.start;
}
static size_t length_of(span s)
{
    return s.end - s.start;
}
static const char *text_at(span s)
{
    return mem_copy(begin(s), length_of(s));
}

/* ---- References ---- */

static bool field_value(const buffer *b, const char *field, uint64_t *value)
{
    const shape *s = &b->shape;
    bool image = b->channels != 0;
    if (same_text(field, "len")) *value = b->count;
    else if (same_text(field, "bytes")) *value = b->bytes;
    else if (same_text(field, "w")) *value = image ? b->width : s->dim[0];
    else if (same_text(field, "h")) *value = image ? b->height : s->rank > 1 ? s->dim[1] : 1;
    else if (same_text(field, "d")) *value = !image && s->rank > 2 ? s->dim[2] : 1;
    else if (same_text(field, "c")) *value = image ? b->channels : 1;
    else return false;
    return true;
}

static void no_such_buffer(const step *s, span at, const char *name, const char *field)
{
    message *m = message_at_span(
        fail(CODE_ARGS_REFERENCE, "'%s': there is no buffer '%s'", text_at(at), name), at);
    const char **names = mem_array(s->kernel->param_count + 1, sizeof *names), *only = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < s->kernel->param_count; i++)
        if (s->arguments[i].kind == ARG_BUFFER) only = names[count++] = s->arguments[i].name;
    const char *near = nearest_name(name, names, count);
    if (!near && count == 1) near = only;
    if (near) message_hint(m, "%s.%s", near, field);
}

bool reference_value(const plan *p, const step *s, span at, uint64_t *value, bool *failed)
{
    const char *given = text_at(at), *dot = strrchr(given, '.');
    if (!(isalpha((unsigned char)*given) || *given == '_') || !dot || dot == given || !dot[1])
        return false;
    for (const char *c = given; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.') return false;
    const char *name = mem_copy(given, (size_t)(dot - given)), *field = dot + 1;
    *value = 0;
    if (p->only_literals) return true;
    if (same_text(name, "dev")) {
        if (p->device && same_text(field, "sms")) *value = (uint64_t)p->device->multiprocessors;
        else if (p->device && same_text(field, "warp")) *value = (uint64_t)p->device->warp_size;
        else {
            *failed = true;
            message_hint(
                message_at_span(
                    fail(CODE_ARGS_REFERENCE, "'%s' is nothing that a device has", given), at),
                "dev.sms or dev.warp");
        }
        return true;
    }
    buffer *b = plan_buffer(p, s, name);
    if (!b) {
        *failed = true;
        no_such_buffer(s, at, name, field);
    } else if (!field_value(b, field, value)) {
        *failed = true;
        message *m = message_at_span(
            fail(CODE_ARGS_REFERENCE, "'%s': a buffer has no '%s'", given, field), at);
        message_hint(m, "%s.len, %s.bytes, %s.w, %s.h, %s.d or %s.c", name, name, name, name, name,
                     name);
    }
    return true;
}

/* ---- One leaf: a scalar, a vector, an array ---- */

typedef struct target {
    const plan *plan;
    const step *step;
    const char *name;      /* "p.gravity" */
    const char *type_text; /* "float3" */
    gpul_type type;
    uint32_t count;
    place declared;
} target;

static void add_value_hints(message *m, const target *t, span at, value_fault fault)
{
    const char *given = text_at(at);
    if (fault == VALUE_NOT_WHOLE) {
        double value;
        value_parse(&value, GPUL_F64, given, strlen(given));
        const char *buffer_name = NULL;
        for (uint32_t i = 0; i < t->step->kernel->param_count && !buffer_name; i++)
            if (t->step->arguments[i].kind == ARG_BUFFER) buffer_name = t->step->arguments[i].name;
        long long low = (long long)value - (value < 0 && (double)(long long)value != value);
        if (buffer_name && t->count == 1)
            message_hint(m, "write %s=%lld, %s=%lld or %s=%s.len (the number of elements in %s)",
                         t->name, low, t->name, low + 1, t->name, buffer_name, buffer_name);
        else message_hint(m, "write %lld or %lld", low, low + 1);
    } else if (fault == VALUE_RANGE && type_highest(t->type)) {
        const char *wider = t->type == GPUL_I32 || t->type == GPUL_U32
                                ? ", or declare the parameter as size_t"
                                : "";
        bool negative = *given == '-';
        message_hint(m, "use at %s %s=%s%s", negative ? "least" : "most", t->name,
                     negative ? type_lowest(t->type) : type_highest(t->type),
                     negative ? "" : wider);
    } else if (fault == VALUE_NO_NUMBER) {
        buffer *b = plan_buffer(t->plan, t->step, given);
        if (b) message_hint(m, "%s=%s.len  is the number of elements in %s", t->name, given, given);
    }
}

static bool one_value(const target *t, span at, void *out, const char **source)
{
    uint64_t number;
    bool failed = false;
    if (reference_value(t->plan, t->step, at, &number, &failed)) {
        if (failed) return false;
        const char *digits = mem_format("%llu", (unsigned long long)number);
        if (value_parse(out, t->type, digits, strlen(digits)) == VALUE_FINE) {
            *source = text_at(at);
            return true;
        }
        message *m = fail(CODE_ARGS_RANGE, "%s is %s, which does not fit in '%s', %s", text_at(at),
                          digits, t->name, t->type_text);
        message_at_span(m, at);
        if (t->declared.kind != PLACE_NONE) message_note_at(m, t->declared, "declared here");
        return false;
    }
    value_fault fault = value_parse(out, t->type, begin(at), length_of(at));
    if (!fault) {
        if (value_vanishes(t->type, out, begin(at), length_of(at)))
            message_at_span(message_new(SEVERITY_WARNING, CODE_ARGS_RANGE,
                                        "%s is too small for '%s', %s: it becomes 0", text_at(at),
                                        t->name, with_article(t->type_text)),
                            at);
        return true;
    }
    message *m = value_message(fault, at, t->name, t->type_text, t->type, t->declared);
    add_value_hints(m, t, at, fault);
    return false;
}

static const char *number_word(size_t count)
{
    static const char *const words[] = { "no", "one", "two", "three", "four", "five", "six" };
    return count < 7 ? words[count] : mem_format("%zu", count);
}

static bool wrong_count(const target *t, span at, size_t given)
{
    const char *value = text_at(at);
    message *m;
    if (t->count == 1)
        m = fail(CODE_ARGS_TYPE, "'%s' is %s, but \"%s\" is a list of %s numbers", t->name,
                 t->type_text, value, number_word(given));
    else
        m = fail(CODE_ARGS_TYPE, "'%s' is %s: %u numbers, but \"%s\" has %s", t->name, t->type_text,
                 t->count, value, number_word(given));
    message_at_span(m, at);
    if (t->declared.kind != PLACE_NONE) message_note_at(m, t->declared, "declared here");
    if (t->count == 1 && given == 2 && type_is_float(t->type)) {
        char *point = mem_dup(value);
        *strchr(point, ',') = '.';
        message_hint(m, "write %s=%s", t->name, point);
    } else if (given == 1) {
        text all = { 0 };
        for (uint32_t i = 0; i < t->count; i++) text_format(&all, "%s%s", i ? "," : "", value);
        if (t->count <= 16)
            message_hint(m, "write %s=%s; one value is not spread", t->name, text_of(&all));
    }
    return false;
}

static bool bind_leaf(const target *t, span at, unsigned char *out, const char **source)
{
    list_of(span) parts = { 0 };
    const char *value = begin(at), *end = value + length_of(at);
    for (const char *c = value;;) {
        const char *comma = memchr(c, ',', (size_t)(end - c));
        if (comma && comma == c + 1 && *c == '\'' && comma + 1 < end &&
            comma[1] == '\'') /* the character ',' */
            comma = memchr(comma + 1, ',', (size_t)(end - comma - 1));
        *list_add(&parts) = span_part(at.word, c, comma ? comma : end);
        if (!comma || comma + 1 == end) break;
        c = comma + 1;
    }
    if (parts.count != t->count) return wrong_count(t, at, length_of(at) ? parts.count : 0);
    size_t size = type_size(t->type);
    for (size_t i = 0; i < parts.count; i++)
        if (!one_value(t, parts.items[i], out + i * size, source)) return false;
    return true;
}

/* ---- Parameters ---- */

/* p=@params.bin: the struct as raw bytes. */
static bool whole_from_file(const target *t, span at, unsigned char *out, size_t size)
{
    const char *path = path_resolve(at, text_at(at) + 1), *why;
    unsigned char *data;
    size_t got;
    if (!path) return false;
    if (!file_slurp(&data, &got, path, &why)) {
        message_at_span(fail(CODE_FILE_OPEN, "%s cannot be read: %s", path, why), at);
        return false;
    }
    bool fits = got == size;
    if (fits) {
        memcpy(out, data, size);
    } else {
        message *m =
            message_at_span(fail(CODE_FILE_SIZE, "%s has %zu bytes, but '%s' (%s) takes %zu", path,
                                 got, t->name, t->type_text, size),
                            at);
        if (t->declared.kind != PLACE_NONE) message_note_at(m, t->declared, "declared here");
    }
    data_free(data);
    return fits;
}

static const char *leaf_type(const leaf *f)
{
    if (!strchr(f->type_name, '[') && f->count > 1 && type_size(f->type) &&
        same_text(f->type_name, type_name(f->type)))
        return mem_format("%s[%u]", f->type_name, f->count);
    return f->type_name;
}

static bool bind_struct(plan *p, step *s, argument *arg)
{
    const layout *l = arg->layout;
    place declared = place_of_param(p, arg->param);
    bool *given = mem_array(l->leaves.count + 1, sizeof *given), whole = false, good = true;
    target t = { p, s, arg->name, param_type_text(arg->param), GPUL_STRUCT, 1, declared };
    for (size_t i = 0; i < s->request->assignments.count; i++) {
        const assignment *a = &s->request->assignments.items[i];
        const char *value = begin(a->value_at);
        if (!same_text(a->base, arg->name) || a->member) continue;
        whole = true;
        if (*value == '@') {
            good &= whole_from_file(&t, a->value_at, arg->bytes, arg->param->value.size);
        } else if (!same_text(value, "zeros")) {
            message *m = message_at_span(fail(CODE_ARGS_TYPE,
                                              "'%s' is %s, a struct: its members are given by name",
                                              arg->name, t.type_text),
                                         a->value_at);
            message_note_at(m, declared, "declared here");
            text words = { 0 };
            for (size_t k = 0; k < l->leaves.count && k < 8; k++)
                text_format(&words, "%s%s.%s=...", k ? " " : "", arg->name,
                            l->leaves.items[k].path);
            message_hint(m, "%s  or %s=zeros or %s=@FILE", text_of(&words), arg->name, arg->name);
            good = false;
        }
    }
    for (size_t i = 0; i < s->request->assignments.count; i++) {
        const assignment *a = &s->request->assignments.items[i];
        if (!same_text(a->base, arg->name) || !a->member) continue;
        const leaf *f = layout_leaf(l, a->member);
        if (!f) {
            const char **names = mem_array(l->leaves.count + 1, sizeof *names);
            text all = { 0 };
            for (size_t k = 0; k < l->leaves.count; k++) {
                names[k] = l->leaves.items[k].path;
                text_format(&all, "%s%s", k ? ", " : "", names[k]);
            }
            message *m = message_at_span(fail(CODE_ARGS_MEMBER, "'%s' (%s) has no member '%s'",
                                              arg->name, t.type_text, a->member),
                                         a->name_at);
            message_note(m, "its members: %s", text_of(&all));
            const char *near = nearest_name(a->member, names, l->leaves.count);
            if (near) message_hint(m, "%s.%s=%s", arg->name, near, begin(a->value_at));
            good = false;
            continue;
        }
        given[f - l->leaves.items] = true;
        if (!type_size(f->type)) {
            if (same_text(begin(a->value_at), "null")) continue;
            message *m = message_at_span(
                fail(CODE_ARGS_UNSUPPORTED, "%s is %s; a pointer inside a struct can be null only",
                     a->name, f->type_name),
                a->value_at);
            message_hint(m, "%s=null, or let the kernel take the buffer as a parameter of its own",
                         a->name);
            good = false;
            continue;
        }
        target one = { p, s, a->name, leaf_type(f), f->type, f->count, declared };
        const char *source = NULL;
        good &= bind_leaf(&one, a->value_at, arg->bytes + f->offset, &source);
    }
    text missing = { 0 };
    size_t count = 0;
    for (size_t i = 0; i < l->leaves.count && !whole; i++)
        if (!given[i])
            text_format(&missing, "%s%s (%s)", count++ ? ", " : "", l->leaves.items[i].path,
                        leaf_type(&l->leaves.items[i]));
    if (!count || !good) return good;
    message *m = fail(CODE_ARGS_MEMBER, "'%s' (%s) has no value for its member%s %s", arg->name,
                      t.type_text, count > 1 ? "s" : "", text_of(&missing));
    message_note_at(m, declared, "declared here");
    text words = { 0 };
    for (size_t i = 0; i < l->leaves.count; i++) {
        if (given[i]) continue;
        text_format(&words, "%s.%s=", arg->name, l->leaves.items[i].path);
        for (uint32_t k = 0; k < l->leaves.items[i].count; k++)
            text_format(&words, "%s0", k ? "," : "");
        text_char(&words, ' ');
    }
    message_hint(m, "%s or %s=zeros for all that is not said", text_of(&words), arg->name);
    return false;
}

/* A parameter of unknown type (a CUBIN): TYPE/VALUE says what it is. */
static bool unknown_type(target *t, span *at, size_t size)
{
    const char *value = begin(*at), *slash = strchr(value, '/');
    gpul_type type = size == 8 ? GPUL_I64 : size == 4 ? GPUL_I32 : size == 2 ? GPUL_I16 : GPUL_I8;
    if (slash && type_from_short(&type, value, (size_t)(slash - value))) {
        *at = span_part(at->word, slash + 1, at->word->text + at->end);
    } else if (size == 8 &&
               (memchr(value, ',', length_of(*at)) || memchr(value, ':', length_of(*at)))) {
        message *m = message_at_span(fail(CODE_ARGS_TYPE,
                                          "parameter %s has 8 bytes of a type that the image does "
                                          "not tell, and \"%.*s\" is no number",
                                          t->name, (int)length_of(*at), value),
                                     *at);
        message_hint(m, "%s=f32/%.*s  for a buffer of floats", t->name, (int)length_of(*at), value);
        return false;
    }
    if (type_size(type) != size) {
        message *m =
            message_at_span(fail(CODE_ARGS_TYPE, "parameter %s has %zu bytes, and %s has %zu",
                                 t->name, size, type_name(type), type_size(type)),
                            *at);
        message_hint(m, "%s=f32/2.5 or %s=i64/7", t->name, t->name);
        return false;
    }
    t->type = type;
    t->type_text = type_name(type);
    return true;
}

static void show_value(argument *arg, gpul_type type, uint32_t count)
{
    text out = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        if (i) text_char(&out, ',');
        value_print(&out, type, arg->bytes + i * type_size(type), 0);
    }
    arg->shown = text_of(&out);
}

static bool bind_value(plan *p, step *s, argument *arg, uint32_t index)
{
    const gpul_param *param = arg->param;
    size_t size = param->value.size;
    arg->kind = ARG_VALUE;
    arg->bytes = mem_alloc(size ? size : 1);
    arg->layout = layout_of(&param->value);
    if (arg->layout->is_struct) {
        arg->shown = "";
        return bind_struct(p, s, arg);
    }
    const assignment *a = request_find(s->request, arg->name);
    if (!a) a = request_find(s->request, mem_format("%u", index));
    if (!a) return false; /* p.x for what is no struct: said by match_names or below */
    gpul_type type = GPUL_TYPE_UNKNOWN;
    uint32_t lanes = 1;
    layout_plain_type(arg->layout, &type, &lanes);
    target t = { p, s, arg->name, param_type_text(param), type, lanes, place_of_param(p, param) };
    span at = a->value_at;
    if (*begin(at) == '@' && !type_size(type)) return whole_from_file(&t, at, arg->bytes, size);
    if (!type_size(type)) {
        if (param->value.type == GPUL_OTHER || (size != 1 && size != 2 && size != 4 && size != 8)) {
            message *m =
                message_at_span(fail(CODE_ARGS_UNSUPPORTED, "'%s' is %s; that cannot be given here",
                                     arg->name, t.type_text),
                                at);
            if (t.declared.kind != PLACE_NONE) message_note_at(m, t.declared, "declared here");
            message_hint(m, "%s=@FILE  gives its %zu bytes", arg->name, size);
            return false;
        }
        if (!unknown_type(&t, &at, size)) return false;
        t.count = 1;
    }
    if (!bind_leaf(&t, at, arg->bytes, &arg->source)) return false;
    show_value(arg, t.type, t.count);
    return true;
}

bool bind_values(plan *p, step *s)
{
    bool good = true;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        argument *arg = &s->arguments[i];
        if (arg->kind != ARG_NONE) continue;
        const assignment *whole = request_find(s->request, arg->name);
        if (!whole) whole = request_find(s->request, mem_format("%u", i));
        if (arg->param->is_pointer) continue;
        if (!whole && !layout_of(&arg->param->value)->is_struct) {
            for (size_t k = 0; k < s->request->assignments.count; k++) {
                const assignment *a = &s->request->assignments.items[k];
                if (!same_text(a->base, arg->name)) continue;
                message_at_span(fail(CODE_ARGS_MEMBER, "'%s' is %s; it has no members", arg->name,
                                     param_type_text(arg->param)),
                                a->name_at);
                good = false;
            }
            continue;
        }
        good &= bind_value(p, s, arg, i);
    }
    return good;
}
