/* Reading --expect and --expect-kernel.  Not here: comparing (compare.c), the report (mismatch.c).
 * SPDX-License-Identifier: MIT */
#include "expect.h"

#include <stdlib.h>

#include "values.h"

bool expectations_update;

static const char *text_at(span s)
{
    return mem_copy(s.word->text + s.start, s.end - s.start);
}

static bool number(const char *source, double *out)
{
    return value_parse(out, GPUL_F64, source, strlen(source)) == VALUE_FINE && *out >= 0;
}

static bool whole(const char *source, size_t length, uint64_t *out)
{
    return length && value_count(out, source, length) == VALUE_FINE;
}

static bool read_tolerance(tolerance *t, const char *name, const char *value)
{
    double *real = same_text(name, "atol")   ? &t->atol
                   : same_text(name, "rtol") ? &t->rtol
                   : same_text(name, "rmse") ? &t->rmse
                                             : NULL;
    if (real) {
        if (real == &t->rmse) t->has_rmse = true;
        else t->said = true;
        return number(value, real);
    }
    if (same_text(name, "ulp")) {
        t->has_ulp = true;
        return whole(value, strlen(value), &t->ulp);
    }
    if (same_text(name, "fail")) return whole(value, strlen(value), &t->fail);
    if (same_text(name, "nan")) return t->nan_equal = same_text(value, "equal");
    const char *dots = strstr(value, "..");
    t->has_range = true;
    return dots && whole(value, (size_t)(dots - value), &t->range_from) &&
           whole(dots + 2, strlen(dots + 2), &t->range_to) && t->range_from < t->range_to;
}

/* True when the modifier is one of an expectation's own. */
static bool take_modifier(void *user, span modifier, bool *failed)
{
    static const char *const names[] = { "atol", "rtol", "rmse", "ulp", "fail", "nan", "range" };
    tolerance *t = user;
    const char *given = text_at(modifier), *equals = strchr(given, '=');
    if (same_text(given, "exact")) return t->exact = true;
    if (!equals) return false;
    const char *name = mem_copy(given, (size_t)(equals - given));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!same_text(name, names[i])) continue;
        if (read_tolerance(t, name, equals + 1)) return true;
        *failed = true;
        message *m =
            message_at_span(fail(CODE_CLI_VALUE, "\"%s\" is not understood", given), modifier);
        message_hint(m, "atol=1e-6 rtol=1e-5 ulp=2 rmse=0.1 fail=3 nan=equal range=0..100 exact");
        return true;
    }
    return false;
}

static void default_tolerance(tolerance *t, const layout *l)
{
    gpul_type type = GPUL_TYPE_UNKNOWN;
    for (size_t i = 0; i < l->leaves.count; i++) /* the coarsest float type decides */
        if (type_is_float(l->leaves.items[i].type) &&
            (!type_is_float(type) || type_size(l->leaves.items[i].type) < type_size(type)))
            type = l->leaves.items[i].type;
    double absolute = type == GPUL_F64    ? 1e-12
                      : type == GPUL_F32  ? 1e-6
                      : type == GPUL_F16  ? 1e-3
                      : type == GPUL_BF16 ? 1e-2
                                          : 0;
    double relative = type == GPUL_F64 ? 1e-10 : type == GPUL_F32 ? 1e-5 : absolute;
    bool only_ulp = t->has_ulp && !t->said;
    if (t->atol < 0) t->atol = only_ulp ? 0 : absolute;
    if (t->rtol < 0) t->rtol = only_ulp ? 0 : relative;
}

static buffer *expected_buffer(const plan *p, const step *s, const named_span *n)
{
    buffer *b = plan_buffer(p, s, n->name);
    if (b) return b;
    const argument *arg = step_argument(s, n->name);
    message *m = message_at_span(
        fail(CODE_ARGS_REFERENCE, arg ? "'%s' is no buffer" : "there is no buffer '%s'", n->name),
        n->name_at);
    const char **names = mem_array(p->buffers.count + 1, sizeof *names);
    for (size_t i = 0; i < p->buffers.count; i++) names[i] = p->buffers.items[i]->name;
    const char *near = nearest_name(n->name, names, p->buffers.count);
    if (near) message_hint(m, "%s", near);
    return NULL;
}

static bool bind_spec(plan *p, step *s, const named_span *n)
{
    expectation *e = mem_alloc(sizeof *e);
    *e = (expectation){ .at = place_of((span){ n->name_at.word, n->name_at.start, n->at.end }),
                        .tolerance = { .atol = -1, .rtol = -1 } };
    e->buffer = expected_buffer(p, s, n);
    if (!e->buffer) return false;
    spec_context context = { .name = n->name,
                             .type_text = e->buffer->type_text,
                             .is_expectation = true,
                             .extra = take_modifier,
                             .user = &e->tolerance };
    if (!spec_parse(&e->spec, n->at, &context)) return false;
    if (e->spec.source == SOURCE_NONE) {
        message *m = message_at_span(fail(CODE_ARGS_BUFFER,
                                          "\"%s\" is a length, and an expectation needs values",
                                          text_at(n->at)),
                                     n->at);
        message_hint(m, "%s=%s,  is one value; %s=fill:%s  is that value everywhere", n->name,
                     text_at(n->at), n->name, text_at(n->at));
        return false;
    }
    default_tolerance(&e->tolerance, e->buffer->layout);
    e->against = spec_source_text(&e->spec, p->seed);
    if (e->spec.source == SOURCE_VALUES) e->against = "the values given";
    if (expectations_update && e->spec.source == SOURCE_FILE) {
        e->update = true;
        *list_add(&s->expectations) = e;
        return path_resolve(e->spec.source_span, e->spec.path) != NULL;
    }
    content_owner owner = { .name = n->name, .type_text = e->buffer->type_text, .seed = p->seed };
    e->content = content_new(&e->spec, e->buffer->layout, NULL, &owner);
    if (!e->content) return false;
    *list_add(&s->expectations) = e; /* its content is freed with the plan, whatever follows */
    shape own = content_shape(e->content);
    uint64_t count = e->buffer->count;
    if (own.rank && shape_count(&own) != count && !e->tolerance.has_range) {
        message *m = message_at_span(
            fail(e->spec.source == SOURCE_FILE ? CODE_FILE_SIZE : CODE_ARGS_LENGTH,
                 "%s has %llu elements, but %s has %llu",
                 e->spec.source == SOURCE_FILE ? e->spec.path : "the expectation",
                 (unsigned long long)shape_count(&own), n->name, (unsigned long long)count),
            n->at);
        message_hint(m, "range=A..B  compares a part only");
        return false;
    }
    if (!content_resize(e->content,
                        own.rank && shape_count(&own) < count ? shape_count(&own) : count))
        return false;
    return true;
}

/* KERNEL[,MODIFIER]...: the comma of a template's arguments is none. */
static const char *split_kernel(const char *source)
{
    int depth = 0;
    for (const char *c = source; *c; c++) {
        if (*c == '<' || *c == '(') depth++;
        if (*c == '>' || *c == ')') depth--;
        if (*c == ',' && !depth) return c;
    }
    return source + strlen(source);
}

static bool same_parameters(const plan *p, const step *s, const expectation *e)
{
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const char *name = param_name(e->kernel, i);
        const argument *arg = step_argument(s, name);
        if (!arg) {
            message *m = message_at(fail(CODE_ARGS_NO_PARAMETER,
                                         "'%s' has a parameter '%s', which '%s' has not",
                                         e->kernel->name, name, s->kernel->name),
                                    e->at);
            message_note_at(m, place_of_param(p, &e->kernel->params[i]), "declared here");
            message_note(m, "the expected kernel gets the arguments of the tested one, by name");
            return false;
        }
        if (arg->param->value.size == e->kernel->params[i].value.size &&
            arg->param->is_pointer == e->kernel->params[i].is_pointer)
            continue;
        message *m = message_at(fail(CODE_ARGS_TYPE, "'%s' is %s in '%s' and %s in '%s'", name,
                                     param_type_text(arg->param), s->kernel->name,
                                     param_type_text(&e->kernel->params[i]), e->kernel->name),
                                e->at);
        message_note_at(m, place_of_param(p, &e->kernel->params[i]), "declared here");
        return false;
    }
    return true;
}

static bool bind_kernel(plan *p, step *s, const named_span *n)
{
    expectation *e = mem_alloc(sizeof *e);
    *e = (expectation){ .at = place_of((span){ n->name_at.word, n->name_at.start, n->at.end }),
                        .tolerance = { .atol = -1, .rtol = -1 } };
    e->buffer = expected_buffer(p, s, n);
    if (!e->buffer) return false;
    const char *end = split_kernel(n->text), *name = mem_copy(n->text, (size_t)(end - n->text));
    size_t count;
    e->kernel = find_kernel(p->image, name, &count);
    if (!e->kernel || e->kernel->is_template || count > 1) {
        span at = { n->at.word, n->at.start, n->at.start + strlen(name) };
        message *m = message_at_span(
            fail(CODE_LAUNCH_NO_KERNEL,
                 e->kernel ? "'%s' is no single kernel" : "there is no kernel '%s'", name),
            at);
        size_t kernels = gpul_image_kernel_count(p->image);
        const char **names = mem_array(kernels + 1, sizeof *names);
        for (size_t i = 0; i < kernels; i++) names[i] = gpul_image_kernel(p->image, i)->name;
        const char *near = nearest_name(name, names, kernels);
        if (near) message_hint(m, "--expect-kernel %s=%s", n->name, near);
        return false;
    }
    while (*end) {
        const char *from = end + 1;
        end = from + strcspn(from, ",");
        bool failed = false;
        span part = span_part(n->at.word, from, end);
        if (!take_modifier(&e->tolerance, part, &failed)) {
            message *m = message_at_span(
                fail(CODE_CLI_VALUE, "unknown modifier \"%s\"", text_at(part)), part);
            message_hint(m,
                         "atol=1e-6 rtol=1e-5 ulp=2 rmse=0.1 fail=3 nan=equal range=0..100 exact");
            return false;
        }
        if (failed) return false;
    }
    default_tolerance(&e->tolerance, e->buffer->layout);
    e->against = name;
    *list_add(&s->expectations) = e;
    return same_parameters(p, s, e);
}

bool bind_expectations(plan *p, step *s)
{
    bool good = true;
    for (size_t i = 0; i < s->request->expects.count; i++)
        good &= bind_spec(p, s, &s->request->expects.items[i]);
    for (size_t i = 0; i < s->request->expect_kernels.count; i++)
        good &= bind_kernel(p, s, &s->request->expect_kernels.items[i]);
    return good;
}

const char *tolerance_text(const tolerance *t, gpul_type type)
{
    text out = { 0 };
    if (t->exact) text_add(&out, "bit for bit");
    else if (t->has_rmse) text_format(&out, "root mean square error up to %g allowed", t->rmse);
    else if (t->atol == 0 && t->rtol == 0 && !t->has_ulp)
        text_add(&out, type_is_float(type) ? "equal" : "exact");
    else {
        if (t->atol > 0 || t->rtol > 0 || !t->has_ulp)
            text_format(&out, "%g + %g|e|", t->atol, t->rtol);
        if (t->has_ulp)
            text_format(&out, "%s%llu ulp", out.length ? " or " : "", (unsigned long long)t->ulp);
        text_add(&out, " allowed");
    }
    return text_of(&out);
}
