/* Words that would make a kernel run: for hints, inspect and new.  SPDX-License-Identifier: MIT */
#include "plan.h"

static bool one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (same_text(name, *names)) return true;
    return false;
}

static const char *const widths[] = { "w", "width", "cols", "nx", "W", NULL };
static const char *const heights[] = { "h", "height", "rows", "ny", "H", NULL };
static const char *const lengths[] = { "n",   "N",     "len",   "length",      "size",     "count",
                                       "num", "total", "nelem", "numElements", "elements", NULL };

/* Is there a width and a height among the parameters? */
static bool is_flat_image(const gpul_kernel_info *k)
{
    bool w = false, h = false;
    for (uint32_t i = 0; i < k->param_count; i++) {
        w |= one_of(param_name(k, i), widths);
        h |= one_of(param_name(k, i), heights);
    }
    return k->uses_y && w && h;
}

static void add_scalar(text *out, const char *name, gpul_type type, uint32_t count,
                       const char *buffer_name)
{
    const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
    text_format(out, "%s=", name);
    bool whole = type_is_integer(type) && type != GPUL_BOOL && count == 1 && buffer_name;
    if (whole && one_of(last, widths)) text_format(out, "%s.w", buffer_name);
    else if (whole && one_of(last, heights)) text_format(out, "%s.h", buffer_name);
    else if (whole && one_of(last, lengths)) text_format(out, "%s.len", buffer_name);
    else
        for (uint32_t i = 0; i < count; i++)
            text_format(out, "%s%s", i ? "," : "",
                        type == GPUL_BOOL                   ? "true"
                        : type_is_float(type) && count == 1 ? "1.0"
                                                            : "1");
}

bool may_be_buffer(const gpul_param *param)
{
    return param->is_pointer || (!param->value.type && param->value.size == 8);
}

static bool is_given(const step_request *given, const char *name, uint32_t index)
{
    const char *number = mem_format("%u", index);
    for (size_t i = 0; given && i < given->assignments.count; i++) {
        const char *base = given->assignments.items[i].base;
        if (same_text(base, name) || same_text(base, number)) return true;
    }
    return false;
}

static void add_buffer(text *out, const gpul_kernel_info *k, uint32_t index, bool any_shape)
{
    const gpul_param *param = &k->params[index];
    const gpul_member *pointee = param->pointee;
    bool is_struct = pointee && pointee->type == GPUL_STRUCT && pointee->lanes <= 1;
    bool open = !pointee || pointee->type == GPUL_VOID || !pointee->type;
    const char *size = any_shape ? "" : is_flat_image(k) ? "640x480" : is_struct ? "1024" : "1M";
    text_format(out, "%s=%s", param_name(k, index), open ? "f32/" : "");
    if (any_shape) text_add(out, param->is_const || is_struct ? "rand" : "zeros");
    else text_format(out, "%s%s", size, param->is_const || is_struct ? ":rand" : "");
}

const char *suggest_words(const gpul_kernel_info *k, const step_request *given)
{
    text out = { 0 };
    const char *buffer_name = NULL;
    bool any = given && given->assignments.count;
    for (size_t i = 0; any && i < given->assignments.count; i++) {
        const assignment *a = &given->assignments.items[i];
        text_format(&out, "%s%s", out.length ? " " : "", shell_quoted(a->name_at.word->text));
    }
    for (uint32_t i = 0; i < k->param_count; i++)
        if (may_be_buffer(&k->params[i]) && !buffer_name) buffer_name = param_name(k, i);
    for (int values = 0; values < 2; values++) {
        for (uint32_t i = 0; i < k->param_count; i++) {
            const gpul_param *param = &k->params[i];
            const char *name = param_name(k, i);
            /* in the order of the parameters when something was given, else the buffers first */
            if (any ? values : may_be_buffer(param) == (values == 1)) continue;
            if (is_given(given, name, i)) continue;
            if (out.length) text_char(&out, ' ');
            if (may_be_buffer(param)) {
                add_buffer(&out, k, i, false);
                continue;
            }
            const layout *l = layout_of(&param->value);
            for (size_t f = 0; f < l->leaves.count; f++) {
                const leaf *one = &l->leaves.items[f];
                if (f) text_char(&out, ' ');
                if (!type_size(one->type) && *one->path) { /* a pointer in a struct */
                    text_format(&out, "%s.%s=null", name, one->path);
                    continue;
                }
                add_scalar(&out, *one->path ? mem_format("%s.%s", name, one->path) : name,
                           one->type, one->count, buffer_name);
            }
        }
    }
    return text_of(&out);
}
