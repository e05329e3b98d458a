/* Giving every parameter its words: names, missing ones, buffers and their descriptions.  Lengths are
 * found in lengths.c, values in bind_values.c.  SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "plan.h"

/* ---- Names ---- */

static const char *free_parameter(const step *s)
{
    const char *only = NULL;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const char *name = s->arguments[i].name;
        bool given = false;
        for (size_t k = 0; k < s->request->assignments.count; k++)
            given |= same_text(s->request->assignments.items[k].base, name);
        if (given) continue;
        if (only) return NULL;
        only = name;
    }
    return only;
}

/* A __device__ or __constant__ variable of the image has this name. */
static bool is_variable(const plan *p, const char *name)
{
    for (size_t i = 0; i < gpul_image_global_count(p->image); i++)
        if (same_text(gpul_image_global(p->image, i)->name, name)) return true;
    return false;
}

static void unknown_parameter(const plan *p, const step *s, const assignment *a)
{
    uint32_t count = s->kernel->param_count;
    const char **names = mem_array(count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++) names[i] = s->arguments[i].name;
    bool number = *a->base && !a->base[strspn(a->base, "0123456789")];
    message *m = number && count
                     ? fail(CODE_ARGS_NO_PARAMETER,
                            "kernel '%s' takes %u argument%s, 0 to %u; there is no '%s'",
                            s->kernel->name, count, count == 1 ? "" : "s", count - 1, a->base)
                     : fail(CODE_ARGS_NO_PARAMETER, "kernel '%s' has no parameter '%s'",
                            s->kernel->name, a->base);
    message_at_span(
        m, (span){ a->name_at.word, a->name_at.start, a->name_at.start + strlen(a->base) });
    const char *own = s->kernel->param_count ? s->kernel->params[0].value.name : NULL;
    bool unnamed = count && !(own && *own);
    if (unnamed)
        message_note(m, "its %u parameter%s no name%s: given by position, from 0", count,
                     count == 1 ? " has" : "s have", count == 1 ? "" : "s");
    else if (count) message_note_at(m, place_of_params(p, s->kernel), "its parameters");
    else message_note(m, "it has no parameters at all");
    const char *only = free_parameter(s), *near = nearest_name(a->base, names, count);
    const char *rest = a->name_at.word->text + a->name_at.start + strlen(a->base);
    if (is_variable(p, a->base))
        message_hint(m, "'%s' is a variable of the file: --set-global %s%s", a->base, a->base,
                     rest);
    else if (only)
        message_hint(m, "'%s' is the only one left without a value; write %s%s", only, only, rest);
    else if (near) message_hint(m, "%s%s", near, rest);
}

static bool match_names(const plan *p, const step *s)
{
    bool good = true;
    for (size_t i = 0; i < s->request->assignments.count; i++) {
        const assignment *a = &s->request->assignments.items[i];
        if (step_argument(s, a->base)) continue;
        unknown_parameter(p, s, a);
        good = false;
    }
    return good;
}

/* The word that gives a parameter as a whole. */
static const assignment *whole_of(const step *s, const argument *arg, uint32_t index)
{
    const char *number = mem_format("%u", index);
    for (size_t i = 0; i < s->request->assignments.count; i++) {
        const assignment *a = &s->request->assignments.items[i];
        if (!a->member && (same_text(a->base, arg->name) || same_text(a->base, number))) return a;
    }
    return NULL;
}

static bool has_members(const step *s, const argument *arg)
{
    for (size_t i = 0; i < s->request->assignments.count; i++) {
        const assignment *a = &s->request->assignments.items[i];
        if (a->member && same_text(a->base, arg->name)) return true;
    }
    return false;
}

/* ---- What is missing ---- */

static const char *what_it_needs(const argument *arg)
{
    const gpul_param *param = arg->param;
    const char *type = param_type_text(param);
    if (!param->is_pointer) return mem_format("%s is %s", arg->name, type);
    if (param->is_const)
        return mem_format("%s is %s: an input (give data, or a length)", arg->name, type);
    return mem_format(
        "%s is %s, not const, so it is an output (give a length) or an in-out (give data)",
        arg->name, type);
}

static bool report_missing(const plan *p, const step *s, const bool *missing)
{
    uint32_t count = 0, total = s->kernel->param_count;
    text names = { 0 };
    for (uint32_t i = 0; i < total; i++)
        if (missing[i]) text_format(&names, "%s%s", count++ ? ", " : "", s->arguments[i].name);
    if (!count) return true;
    message *m =
        count == 1 && total == 1
            ? fail(CODE_ARGS_COUNT, "the parameter '%s' of '%s' has no value", text_of(&names),
                   s->kernel->name)
            : fail(CODE_ARGS_COUNT, "%u of the %u parameters of '%s' ha%s no value: %s", count,
                   total, s->kernel->name, count == 1 ? "s" : "ve", text_of(&names));
    uint32_t noted = 0;
    for (uint32_t i = 0; i < total; i++)
        if (missing[i] && noted++ < 6)
            message_note_at(m, place_of_param(p, s->arguments[i].param), "%s",
                            what_it_needs(&s->arguments[i]));
    const char *words = suggest_words(s->kernel, s->request);
    bool first = s->index == 0;
    message_hint(m, "%s%s%s",
                 first ? mem_format("gpulaunch run %s ", shell_quoted(p->source->path)) : "--then ",
                 s->request->kernel ? mem_format("-k %s ", shell_quoted(s->request->kernel)) : "",
                 words);
    return false;
}

/* ---- Buffers ---- */

static buffer *earlier_buffer(const plan *p, const step *s, const char *name)
{
    for (size_t i = p->buffers.count; i-- > 0;) {
        buffer *b = p->buffers.items[i];
        if (b->step < s->index && same_text(b->name, name)) return b;
    }
    return NULL;
}

static const layout *layout_for(const plan *p, const argument *arg, const buffer_spec *spec,
                                span at)
{
    const gpul_param *param = arg->param;
    const gpul_member *pointee = param->pointee;
    bool open = !pointee || pointee->type == GPUL_VOID || pointee->type == GPUL_TYPE_UNKNOWN;
    if (open && spec->type) return layout_plain(spec->type, spec->lanes);
    if (open) {
        message *m =
            message_at_span(fail(CODE_ARGS_BUFFER, "'%s' is %s; what its elements are must be said",
                                 arg->name, param_type_text(param)),
                            at);
        message_note_at(m, place_of_param(p, param), "declared here");
        const char *rest = at.word->text + at.start;
        message_hint(
            m,
            "%s=f32/%s   (i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool, or one with x2 x3 x4)",
            arg->name, rest);
        return NULL;
    }
    if (spec->type) {
        message *m =
            message_at_span(fail(CODE_ARGS_BUFFER, "'%s' is %s; a type can be given to void * only",
                                 arg->name, param_type_text(param)),
                            at);
        message_note_at(m, place_of_param(p, param), "declared here");
        return NULL;
    }
    return layout_of(pointee);
}

static direction direction_for(const gpul_param *param, const buffer_spec *spec)
{
    if (spec->direction != DIR_DEFAULT) return spec->direction;
    if (param->is_const) return DIR_IN;
    return spec->source == SOURCE_NONE || spec->source == SOURCE_NOINIT ||
                   spec->source == SOURCE_POISON
               ? DIR_OUT
               : DIR_INOUT;
}

static bool add_member(plan *p, buffer *b, const assignment *a)
{
    buffer_spec *spec = mem_alloc(sizeof *spec);
    const char *name = a->name;
    spec_context context = { .name = name, .type_text = NULL, .declared = b->declared };
    bool found = false;
    if (!b->layout->is_struct) {
        message *m =
            message_at_span(fail(CODE_ARGS_MEMBER, "'%s' is %s; its elements have no members",
                                 b->name, b->type_text),
                            a->name_at);
        message_note_at(m, b->declared, "declared here");
        return false;
    }
    if (!spec_parse(spec, a->value_at, &context)) return false;
    if (!b->content) {
        static buffer_spec zeros = { .source = SOURCE_ZEROS };
        content_owner owner = {
            .name = b->name, .type_text = b->type_text, .declared = b->declared, .seed = p->seed
        };
        b->content = content_new(&zeros, b->layout, NULL, &owner);
    }
    for (size_t i = 0; i < b->layout->leaves.count; i++) {
        const leaf *f = &b->layout->leaves.items[i];
        size_t length = strlen(a->member);
        bool inside = strncmp(f->path, a->member, length) == 0 &&
                      (f->path[length] == '.' || f->path[length] == '[');
        if (!same_text(f->path, a->member) && !inside) continue;
        content_owner owner = { .name = mem_format("%s.%s", b->name, f->path),
                                .type_text = f->type_name,
                                .declared = b->declared,
                                .seed = p->seed };
        content *c = content_new(spec, b->layout, f, &owner);
        if (!c) return false;
        *list_add(&b->content->overlays) = c;
        found = true;
    }
    if (found) return true;
    const char **names = mem_array(b->layout->leaves.count + 1, sizeof *names);
    for (size_t i = 0; i < b->layout->leaves.count; i++) names[i] = b->layout->leaves.items[i].path;
    message *m = message_at_span(
        fail(CODE_ARGS_MEMBER, "%s has no member '%s'", b->layout->type_name, a->member),
        a->name_at);
    const char *near = nearest_name(a->member, names, b->layout->leaves.count);
    text all = { 0 };
    for (size_t i = 0; i < b->layout->leaves.count; i++)
        text_format(&all, "%s%s", i ? ", " : "", names[i]);
    message_note(m, "its members: %s", text_of(&all));
    if (near)
        message_hint(m, "%s.%s=%s", b->name, near, a->value_at.word->text + a->value_at.start);
    return false;
}

static bool bind_buffer(plan *p, step *s, argument *arg, const assignment *whole)
{
    buffer *b = mem_alloc(sizeof *b);
    b->name = arg->name;
    b->type_text = param_type_text(arg->param);
    b->declared = place_of_param(p, arg->param);
    b->at = whole ? whole->value_at : (span){ 0 };
    b->step = s->index;
    if (whole) {
        spec_context context = { .name = arg->name,
                                 .type_text = b->type_text,
                                 .declared = b->declared };
        if (!spec_parse(&b->spec, whole->value_at, &context)) return false;
    }
    if (b->spec.source == SOURCE_NULL) {
        arg->kind = ARG_NULL;
        return true;
    }
    if (b->spec.source == SOURCE_STEP) {
        buffer *from = earlier_buffer(p, s, b->spec.step);
        if (!from) {
            message *m = message_at_span(
                fail(CODE_ARGS_REFERENCE, "no earlier step has a buffer '%s'", b->spec.step),
                b->spec.source_span);
            if (!s->index)
                message_note(m,
                             "%%NAME is a buffer of a step before --then; this is the first step");
            return false;
        }
        arg->kind = ARG_BUFFER;
        arg->buffer = from;
        arg->reused = true;
        return true;
    }
    const gpul_member *pointee = arg->param->pointee;
    if (pointee && (pointee->type == GPUL_POINTER || pointee->type == GPUL_OTHER)) {
        message *m = fail(CODE_ARGS_UNSUPPORTED, "'%s' is %s; that cannot be given here", b->name,
                          b->type_text);
        if (whole) message_at_span(m, whole->value_at);
        message_note_at(m, b->declared, "declared here");
        message_hint(m, "%s=null  passes a null pointer", b->name);
        return false;
    }
    b->layout = layout_for(p, arg, &b->spec, b->at);
    if (!b->layout) return false;
    b->direction = direction_for(arg->param, &b->spec);
    bool data = b->spec.source != SOURCE_NONE && b->spec.source != SOURCE_NOINIT &&
                b->spec.source != SOURCE_POISON;
    if (b->direction == DIR_IN && b->spec.source == SOURCE_NONE) {
        b->spec.source = SOURCE_RAND; /* what a length alone means for an input */
        data = true;
    }
    content_owner owner = {
        .name = b->name, .type_text = b->type_text, .declared = b->declared, .seed = p->seed
    };
    if (data && b->direction != DIR_SCRATCH) {
        b->content = content_new(&b->spec, b->layout, NULL, &owner);
        if (!b->content) return false;
    }
    arg->kind = ARG_BUFFER;
    arg->buffer = b;
    *list_add(&p->buffers) = b;
    bool good = true;
    for (size_t i = 0; i < s->request->assignments.count; i++) {
        const assignment *a = &s->request->assignments.items[i];
        if (!a->member || !same_text(a->base, arg->name)) continue;
        if (b->direction == DIR_OUT && b->spec.direction == DIR_DEFAULT) b->direction = DIR_INOUT;
        good &= add_member(p, b, a);
    }
    return good;
}

/* A later step finds a buffer of its parameter's name and type. */
static buffer *from_earlier_step(const plan *p, const step *s, const argument *arg)
{
    buffer *b = earlier_buffer(p, s, arg->name);
    if (!b || !arg->param->pointee) return b;
    const layout *l = layout_of(arg->param->pointee);
    return layout_same(l, b->layout) ? b : NULL;
}

bool bind_step(plan *p, step *s)
{
    const gpul_kernel_info *k = s->kernel;
    bool good = match_names(p, s);
    bool *missing = mem_array(k->param_count + 1, sizeof *missing);
    bool unresolved = !good;
    for (uint32_t i = 0; i < k->param_count; i++) {
        argument *arg = &s->arguments[i];
        const assignment *whole = whole_of(s, arg, i);
        bool members = has_members(s, arg);
        buffer *earlier = NULL;
        bool is_buffer = arg->param->is_pointer ||
                         (!arg->param->value.type && arg->param->value.size == 8 && whole &&
                          strchr(whole->value_at.word->text + whole->value_at.start, '/'));
        if (!whole && !members) {
            earlier = is_buffer ? from_earlier_step(p, s, arg) : NULL;
            missing[i] = !earlier;
        }
        if (earlier) {
            arg->kind = ARG_BUFFER;
            arg->buffer = earlier;
            arg->reused = true;
        } else if (is_buffer && !missing[i]) {
            good &= bind_buffer(p, s, arg, whole);
        }
    }
    if (!unresolved) good &= report_missing(p, s, missing);
    return good;
}
