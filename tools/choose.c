/* Which kernel is meant, and where kernels and parameters stand in the source.
 * SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "plan.h"

place place_of_param(const plan *p, const gpul_param *param)
{
    if (!param->file || !*param->file || !param->line) return (place){ 0 };
    const char *line = p->source && same_text(param->file, p->source->path)
                           ? source_line(p->source, param->line)
                           : NULL;
    return place_source(param->file, param->line, param->column, param->end_column, line);
}

place place_of_kernel(const plan *p, const gpul_kernel_info *kernel)
{
    if (!kernel->file || !*kernel->file || !kernel->line) return (place){ 0 };
    const char *line = p->source && same_text(kernel->file, p->source->path)
                           ? source_line(p->source, kernel->line)
                           : NULL;
    return place_source(kernel->file, kernel->line, kernel->column, kernel->end_column, line);
}

place place_of_params(const plan *p, const gpul_kernel_info *kernel)
{
    if (!kernel->param_count) return place_of_kernel(p, kernel);
    const gpul_param *first = &kernel->params[0], *last = first;
    for (uint32_t i = 1; i < kernel->param_count && kernel->params[i].line == first->line; i++)
        last = &kernel->params[i];
    place all = place_of_param(p, first);
    if (last->end_column) all.end_column = last->end_column;
    return all;
}

const char *param_type_text(const gpul_param *param)
{
    if (param->value.type_name && *param->value.type_name) return param->value.type_name;
    if (param->is_pointer) return "a pointer";
    return param->value.type ? type_name(param->value.type)
                             : mem_format("%u bytes", param->value.size);
}

const char *param_name(const gpul_kernel_info *kernel, size_t index)
{
    const char *name = kernel->params[index].value.name;
    return name && *name ? name : mem_format("%zu", index);
}

bool expression_needed(const char *kernel_name)
{
    return strchr(kernel_name, '<') != NULL;
}

/* Blanks do not count, except between two letters. */
static const char *squeezed(const char *source)
{
    text out = { 0 };
    for (const char *c = source; *c; c++) {
        if (isspace((unsigned char)*c)) {
            while (isspace((unsigned char)c[1])) c++;
            if (out.length && isalnum((unsigned char)out.data[out.length - 1]) &&
                isalnum((unsigned char)c[1]))
                text_char(&out, ' ');
        } else {
            text_char(&out, *c);
        }
    }
    return text_of(&out);
}

/* "name(type, type)" of a kernel, without the parameters' names. */
static const char *overload_of(const gpul_kernel_info *kernel)
{
    text out = { 0 };
    text_format(&out, "%.*s(", (int)strcspn(kernel->name, "("), kernel->name);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        text_format(&out, "%s%s", i ? "," : "", param_type_text(&kernel->params[i]));
    text_char(&out, ')');
    return squeezed(text_of(&out));
}

/* Without namespaces and, for an overload, without its parameters. */
static const char *last_part(const char *name)
{
    const char *best = name;
    for (const char *c = name; *c && *c != '<' && *c != '('; c++)
        if (c[0] == ':' && c[1] == ':') best = c + 2;
    return strchr(best, '<') ? best : mem_copy(best, strcspn(best, "("));
}

/* Of a template: something that -k takes. */
const char *instance_of(const gpul_kernel_info *k)
{
    return *k->expression ? k->expression : mem_format("%s<float>", k->name);
}

const gpul_kernel_info *find_kernel(const gpul_image *image, const char *name, size_t *count)
{
    const gpul_kernel_info *found = NULL;
    const char *wanted = squeezed(name);
    size_t kernels = gpul_image_kernel_count(image);
    for (int pass = 0; pass < 2 && !found;
         pass++) { /* whole names first, then without namespaces */
        *count = 0;
        for (size_t i = 0; i < kernels; i++) {
            const gpul_kernel_info *k = gpul_image_kernel(image, i);
            const char *own = squeezed(k->name);
            bool fits = pass
                            ? same_text(last_part(own), wanted)
                            : same_text(own, wanted) || same_text(k->symbol, name) ||
                                  (!k->is_template && same_text(squeezed(k->expression), wanted)) ||
                                  same_text(overload_of(k), wanted);
            if (!fits) continue;
            found = k;
            ++*count;
        }
    }
    return found;
}

static const char *signature_of(const gpul_kernel_info *k)
{
    return k->signature && *k->signature ? k->signature : k->name;
}

/* `fitting`: only those that this name may mean; NULL: all. */
static void list_kernels(const plan *p, message *m, const char *fitting)
{
    size_t kernels = gpul_image_kernel_count(p->image);
    for (size_t i = 0; i < kernels && i < 12; i++) {
        const gpul_kernel_info *k = gpul_image_kernel(p->image, i);
        if (fitting && !same_text(last_part(squeezed(k->name)), last_part(squeezed(fitting))))
            continue;
        message_note_at(m, place_of_kernel(p, k), "%s%s%s%s", signature_of(k),
                        k->is_template ? ", a template: name its arguments, as in -k '" : "",
                        k->is_template ? instance_of(k) : "", k->is_template ? "'" : "");
    }
    if (kernels > 12)
        message_note(m, "and %zu more: gpulaunch inspect %s", kernels - 12, p->source->path);
}

static const gpul_kernel_info *no_such_kernel(const plan *p, const step_request *request)
{
    size_t kernels = gpul_image_kernel_count(p->image);
    const char **names = mem_array(kernels + 1, sizeof *names);
    for (size_t i = 0; i < kernels; i++) names[i] = gpul_image_kernel(p->image, i)->name;
    message *m = fail(CODE_LAUNCH_NO_KERNEL, "%s has no kernel '%s'%s", p->source->path,
                      request->kernel, kernels ? "" : ": it has no kernels at all");
    message_at_span(m, request->kernel_at);
    const char *near = nearest_name(request->kernel, names, kernels);
    for (size_t i = 0; near && i < kernels; i++)
        if (names[i] == near)
            message_note_at(m, place_of_kernel(p, gpul_image_kernel(p->image, i)),
                            "a kernel with a close name");
    if (near) message_hint(m, "-k %s", shell_quoted(near));
    else {
        list_kernels(p, m, NULL);
        if (kernels == 1) message_hint(m, "-k %s", shell_quoted(names[0]));
    }
    return NULL;
}

static bool only_expected(const plan *p, const char *name)
{
    for (size_t i = 0; i < p->request->references.count; i++)
        if (same_text(p->request->references.items[i], name)) return true;
    for (size_t i = 0; i < p->request->steps.count; i++) {
        const named_list *list = &p->request->steps.items[i].expect_kernels;
        for (size_t k = 0; k < list->count; k++)
            if (list->items[k].text && same_text(list->items[k].text, name)) return true;
    }
    return false;
}

void no_kernel(const source_file *source, const gpul_image *image)
{
    if (!gpul_image_describe(image)->ltoir) {
        fail(CODE_COMPILE_EMPTY, "%s has no kernel", source->path);
        return;
    }
    message *m =
        fail(CODE_COMPILE_OPTION, "-dlto makes LTO-IR, which no device runs before it is linked");
    message_hint(m, "leave -dlto out; gpulaunch compile -dlto -o x.ltoir  keeps it for a linker");
}

const gpul_kernel_info *choose_kernel(const plan *p, const step_request *request)
{
    size_t kernels = gpul_image_kernel_count(p->image), count = 0;
    const gpul_kernel_info *found = NULL;
    if (request->kernel) {
        found = find_kernel(p->image, request->kernel, &count);
        if (!found) return no_such_kernel(p, request);
        if (count > 1) {
            message *m =
                message_at_span(fail(CODE_LAUNCH_WHICH, "'%s' fits %zu kernels; say which one",
                                     request->kernel, count),
                                request->kernel_at);
            list_kernels(p, m, request->kernel);
            message_hint(m, "-k %s", shell_quoted(overload_of(found)));
            return NULL;
        }
        if (found->is_template) {
            message *m =
                message_at_span(fail(CODE_LAUNCH_TEMPLATE, "'%s' is a template; name its arguments",
                                     request->kernel),
                                request->kernel_at);
            message_note_at(m, place_of_kernel(p, found), "%s", signature_of(found));
            message_hint(m, "-k '%s'", instance_of(found));
            return NULL;
        }
        return found;
    }
    size_t templates = 0;
    for (size_t i = 0; i < kernels; i++) {
        const gpul_kernel_info *k = gpul_image_kernel(p->image, i);
        if (only_expected(p, k->name)) continue;
        templates += k->is_template;
        found = k;
        count++;
    }
    if (count == 1 && !templates) return found;
    if (!kernels) {
        no_kernel(p->source, p->image);
        return NULL;
    }
    message *m;
    if (count <= 1)
        m = fail(CODE_LAUNCH_TEMPLATE, "the kernel of %s is a template; name its arguments",
                 p->source->path);
    else
        m = fail(CODE_LAUNCH_WHICH, "%s has %zu kernels; say which one to run", p->source->path,
                 count);
    list_kernels(p, m, NULL);
    text hint = { 0 };
    for (size_t i = 0, shown = 0; i < kernels && shown < 4; i++) {
        const gpul_kernel_info *k = gpul_image_kernel(p->image, i);
        if (only_expected(p, k->name)) continue;
        text_format(&hint, "%s-k %s", shown++ ? ", or " : "",
                    shell_quoted(k->is_template ? instance_of(k) : k->name));
    }
    message_hint(m, "%s", text_of(&hint));
    return NULL;
}

argument *step_argument(const step *s, const char *name)
{
    for (uint32_t i = 0; i < s->kernel->param_count; i++)
        if (same_text(s->arguments[i].name, name) || same_text(mem_format("%u", i), name))
            return &s->arguments[i];
    return NULL;
}

buffer *plan_buffer(const plan *p, const step *s, const char *name)
{
    argument *own = s ? step_argument(s, name) : NULL;
    if (own && own->kind == ARG_BUFFER) return own->buffer;
    if (own) return NULL;
    for (size_t i = p->buffers.count; i-- > 0;)
        if (same_text(p->buffers.items[i]->name, name)) return p->buffers.items[i];
    return NULL;
}
