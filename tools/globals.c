/* Setting and showing variables of the module, by the type that the source declares; where it is not known
 * (PTX, CUBIN), TYPE/ says what they hold.  SPDX-License-Identifier: MIT */
#include "globals.h"

#include <errno.h>

#include "outputs.h"
#include "show.h"
#include "values.h"

static const gpul_global_info *find_global(const execution *x, const named_span *n)
{
    const gpul_image *image = x->plan->image;
    size_t count = gpul_image_global_count(image);
    const char **names = mem_array(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const gpul_global_info *g = gpul_image_global(image, i);
        if (same_text(g->name, n->name) || same_text(g->symbol, n->name)) return g;
        names[i] = g->name;
    }
    message *m = message_at_span(
        fail(CODE_SYMBOL_GLOBAL, "there is no variable '%s' in %s", n->name, x->plan->source->path),
        n->name_at);
    const char *near = nearest_name(n->name, names, count);
    text all = { 0 };
    for (size_t i = 0; i < count && i < 16; i++) text_format(&all, "%s%s", i ? ", " : "", names[i]);
    if (count) message_note(m, "its variables: %s", text_of(&all));
    else message_note(m, "it has no __device__ or __constant__ variables");
    if (near) message_hint(m, "%s", near);
    return NULL;
}

/* What the source declares; NULL when it is not known, or not made of numbers. */
static layout *declared_layout(const gpul_global_info *g)
{
    if (!g->element) return NULL;
    layout *l = layout_of(g->element);
    return layout_readable(l) ? l : NULL;
}

/* One number needs no trailing comma here. */
static bool single_number(buffer_spec *spec, span value, bool typed)
{
    const char *from = value.word->text + value.start,
               *slash = memchr(from, '/', value.end - value.start);
    if (slash ? !type_from_short(&spec->type, from, (size_t)(slash - from)) : !typed) return false;
    span number = span_part(value.word, slash ? slash + 1 : from, value.word->text + value.end);
    if (!value_is_number(value.word->text + number.start, number.end - number.start)) return false;
    spec->lanes = 1;
    spec->source = SOURCE_VALUES;
    spec->at = spec->source_span = value;
    *list_add(&spec->values) = number;
    return true;
}

/* The layout to read the value by; NULL with a message. */
static layout *layout_for(const named_span *n, const gpul_global_info *g, const buffer_spec *spec)
{
    layout *declared = declared_layout(g);
    layout *given = spec->type ? layout_plain(spec->type, spec->lanes) : NULL;
    if (declared && given && !layout_same(declared, given)) {
        message *m = message_at_span(fail(CODE_ARGS_TYPE, "'%s' holds %s, not %s", n->name,
                                          declared->type_name, given->type_name),
                                     n->at);
        message_hint(m, "leave %s/ out: the values are read as %s", type_short(spec->type),
                     declared->type_name);
        return NULL;
    }
    if (declared) return declared;
    if (given) return given;
    if ((spec->source == SOURCE_FILE && !spec->type) || spec->source == SOURCE_ZEROS)
        return layout_plain(GPUL_U8, 1);
    message *m =
        message_at_span(fail(CODE_ARGS_TYPE, "what '%s' holds must be said; it has %llu bytes",
                             n->name, (unsigned long long)g->size),
                        n->at);
    message_hint(m, "--set-global %s=%s/%s   (i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64)",
                 n->name, strpbrk(n->text, ".e") ? "f32" : "i32", n->text);
    return NULL;
}

static bool set_one(execution *x, const named_span *n)
{
    const gpul_global_info *g = find_global(x, n);
    if (!g) return false;
    buffer_spec spec = { 0 };
    spec_context context = { .name = n->name, .type_text = "a variable" };
    if (!single_number(&spec, n->at, declared_layout(g) != NULL)) {
        spec = (buffer_spec){ 0 };
        if (!spec_parse(&spec, n->at, &context)) return false;
    }
    layout *l = layout_for(n, g, &spec);
    if (!l) return false;
    content_owner owner = { .name = n->name, .type_text = l->type_name, .seed = x->plan->seed };
    content *c = content_new(&spec, l, NULL, &owner);
    if (!c) return false;
    shape own = content_shape(c);
    uint64_t count = own.rank                         ? shape_count(&own)
                     : spec.shape_kind == SHAPE_GIVEN ? shape_count(&spec.shape)
                                                      : g->size / l->size;
    if (count * l->size != g->size) {
        message_at_span(g->size % l->size
                            ? fail(CODE_ARGS_LENGTH, "'%s' has %llu bytes, which are no whole %s",
                                   n->name, (unsigned long long)g->size, l->type_name)
                            : fail(CODE_ARGS_LENGTH, "'%s' has %llu of %s, but %llu %s given",
                                   n->name, (unsigned long long)(g->size / l->size), l->type_name,
                                   (unsigned long long)count, count == 1 ? "is" : "are"),
                        n->at);
        content_free(c);
        return false;
    }
    unsigned char *bytes = data_alloc(g->size);
    bool good = content_resize(c, count) && content_read(c, bytes, 0, count);
    if (good && gpul_global_write(x->module, g->symbol, 0, bytes, g->size)) {
        library_message(x->plan);
        good = false;
    }
    data_free(bytes);
    content_free(c);
    return good;
}

bool globals_bind(execution *x)
{
    bool good = true;
    for (size_t i = 0; i < x->plan->steps.count; i++) {
        const step_request *r = x->plan->steps.items[i]->request;
        for (size_t k = 0; k < r->set_globals.count; k++)
            good &= set_one(x, &r->set_globals.items[k]);
        for (size_t k = 0; k < r->get_globals.count; k++)
            good &= find_global(x, &r->get_globals.items[k]) != NULL;
    }
    return good;
}

static bool save(const named_span *n, const unsigned char *bytes, uint64_t size)
{
    output out;
    const char *why = NULL, *path = path_resolve(n->at, n->text);
    if (!path) return false;
    bool good = output_open(&out, path, &why);
    if (good) {
        if (fwrite(bytes, 1, size, out.stream) != size) errno = errno ? errno : EIO;
        good = output_close(&out, &why);
    }
    if (!good) message_at_span(fail(CODE_FILE_WRITE, "%s cannot be written: %s", path, why), n->at);
    return good;
}

/* Without a type the bytes are shown as the words that are most likely: 4 bytes each. */
static void show(const named_span *n, const unsigned char *bytes, uint64_t size)
{
    printf("%s  %llu bytes:", n->name, (unsigned long long)size);
    uint64_t step_bytes = size % 4 ? 1 : 4;
    for (uint64_t i = 0; i + step_bytes <= size && i < 16 * step_bytes; i += step_bytes) {
        text out = { 0 };
        text_char(&out, ' ');
        value_print(&out, step_bytes == 4 ? GPUL_I32 : GPUL_U8, bytes + i, 0);
        if (step_bytes == 4) {
            text_add(&out, " (");
            value_print(&out, GPUL_F32, bytes + i, 5);
            text_char(&out, ')');
        }
        fputs(text_of(&out), stdout);
    }
    puts(size > 16 * step_bytes ? " ..." : "");
}

bool globals_get(const execution *x, const step *s)
{
    bool good = true;
    for (size_t k = 0; k < s->request->get_globals.count; k++) {
        const named_span *n = &s->request->get_globals.items[k];
        const gpul_global_info *g = find_global(x, n);
        unsigned char *bytes = data_alloc(g->size);
        if (gpul_global_read(bytes, x->module, g->symbol, 0, g->size)) {
            library_message(x->plan);
            good = false;
        } else if (n->text) {
            good &= save(n, bytes, g->size);
        } else if (declared_layout(g)) {
            const layout *l = declared_layout(g);
            print_elements(n->name, l, bytes, g->size / l->size);
        } else {
            show(n, bytes, g->size);
        }
        data_free(bytes);
    }
    return good;
}
