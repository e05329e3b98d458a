/* Images as bytes: every field in order, strings and tables with their length before them.  Both
 * directions are one list of fields, so that they cannot drift apart.  SPDX-License-Identifier: MIT */
#include "core/cache_image.h"

#include <string.h>

/* Goes over the fields of an image, writing them to `out` or reading them from `data`. */
struct walk {
    gpul__str *out; /* NULL: reading */
    const unsigned char *data, *end;
    gpul__arena *arena;
    bool failed;
};

static void bytes(struct walk *w, void *field, size_t size)
{
    if (w->out) {
        gpul__str_addn(w->out, field, size);
    } else if (w->failed || (size_t)(w->end - w->data) < size) {
        w->failed = true;
        memset(field, 0, size);
    } else {
        memcpy(field, w->data, size);
        w->data += size;
    }
}
#define FIELD(name) bytes(w, &(name), sizeof(name))

/* A length that is sane: no more pieces than there are bytes left. */
static size_t length(struct walk *w, size_t count)
{
    uint64_t number = count;
    bytes(w, &number, sizeof number);
    if (!w->out && number > (uint64_t)(w->end - w->data)) {
        w->failed = true;
        return 0;
    }
    return (size_t)number;
}

static void string(struct walk *w, const char **text)
{
    size_t size = length(w, w->out && *text ? strlen(*text) + 1 : 0);
    if (w->out) {
        if (size) gpul__str_addn(w->out, *text, size);
        return;
    }
    *text = NULL;
    if (!size) return;
    char *copy = gpul__arena_alloc(w->arena, size);
    if (!copy) {
        w->failed = true;
        return;
    }
    bytes(w, copy, size);
    copy[size - 1] = 0;
    *text = copy;
}

/* Makes room for a table when reading; false when there is nothing to go over. */
static bool table(struct walk *w, void *items, size_t *count, size_t size)
{
    *count = length(w, *count);
    if (w->out) return *count > 0;
    void *made = NULL;
    if (*count && !(made = gpul__arena_alloc(w->arena, *count * size))) w->failed = true;
    memcpy(items, &made, sizeof made);
    return made != NULL;
}

enum { DEEPEST_MEMBERS = 32 };

static void member(struct walk *w, gpul_member *m, int depth)
{
    string(w, &m->name);
    string(w, &m->type_name);
    FIELD(m->type);
    FIELD(m->element);
    FIELD(m->lanes);
    FIELD(m->size);
    FIELD(m->align);
    FIELD(m->offset);
    FIELD(m->count);
    FIELD(m->is_enum);
    size_t count = m->member_count;
    gpul_member *members = (gpul_member *)m->members;
    if (depth >= DEEPEST_MEMBERS) {
        w->failed = true;
        return;
    }
    if (table(w, &members, &count, sizeof *members))
        for (size_t i = 0; i < count && !w->failed; i++) member(w, &members[i], depth + 1);
    m->members = members;
    m->member_count = (uint32_t)count;
}

static void parameter(struct walk *w, gpul_param *p)
{
    member(w, &p->value, 0);
    FIELD(p->is_pointer);
    FIELD(p->is_const);
    size_t has = p->pointee != NULL;
    gpul_member *pointee = (gpul_member *)p->pointee;
    if (table(w, &pointee, &has, sizeof *pointee)) member(w, pointee, 0);
    p->pointee = pointee;
    string(w, &p->file);
    FIELD(p->line);
    FIELD(p->column);
    FIELD(p->end_column);
}

static void kernel(struct walk *w, gpul_kernel_info *k)
{
    string(w, &k->name);
    string(w, &k->symbol);
    string(w, &k->signature);
    string(w, &k->file);
    FIELD(k->line);
    FIELD(k->column);
    FIELD(k->end_column);
    FIELD(k->is_template);
    FIELD(k->is_extern_c);
    FIELD(k->types);
    size_t count = k->param_count;
    gpul_param *params = (gpul_param *)k->params;
    if (table(w, &params, &count, sizeof *params))
        for (size_t i = 0; i < count && !w->failed; i++) parameter(w, &params[i]);
    k->params = params;
    k->param_count = (uint32_t)count;
    FIELD(k->param_bytes);
    FIELD(k->uses_y);
    FIELD(k->uses_z);
    FIELD(k->uses_dynamic_shared);
    FIELD(k->uses_grid_sync);
    string(w, &k->dynamic_shared_name);
    FIELD(k->registers);
    FIELD(k->shared_bytes);
    FIELD(k->local_bytes);
    FIELD(k->constant_bytes);
    FIELD(k->max_threads);
    FIELD(k->bound_threads);
    FIELD(k->min_blocks);
    FIELD(k->bound_exact);
    FIELD(k->cluster);
    string(w, &k->expression);
}

static void global(struct walk *w, gpul_global_info *g)
{
    string(w, &g->name);
    string(w, &g->symbol);
    FIELD(g->size);
    FIELD(g->align);
    FIELD(g->is_constant);
    size_t has = g->element != NULL;
    gpul_member *element = (gpul_member *)g->element;
    if (table(w, &element, &has, sizeof *element)) member(w, element, 0);
    g->element = element;
}

static void diagnostic(struct walk *w, gpul_detail *d)
{
    FIELD(d->severity);
    FIELD(d->code);
    string(w, &d->file);
    FIELD(d->line);
    FIELD(d->column);
    FIELD(d->end_column);
    string(w, &d->parameter);
    string(w, &d->text);
    string(w, &d->source);
}

/* PTX and CUBIN are allocations of their own. */
static void form(struct walk *w, void **data, size_t *size)
{
    size_t count = *size = length(w, *size);
    if (w->out) {
        if (count) gpul__str_addn(w->out, *data, count);
        return;
    }
    *data = NULL;
    if (!count) return;
    char *copy = gpul__malloc(count + 1);
    if (!copy) {
        w->failed = true;
        return;
    }
    bytes(w, copy, count);
    copy[count] = 0;
    *data = copy;
}

static void image_fields(struct walk *w, gpul_image *image)
{
    gpul_image_info *info = &image->info;
    string(w, &info->name);
    string(w, &info->arch);
    void *ptx = image->ptx;
    form(w, &ptx, &info->ptx_size);
    image->ptx = ptx;
    form(w, &image->cubin, &info->cubin_size);
    FIELD(info->ptx_major);
    FIELD(info->ptx_minor);
    FIELD(info->nvrtc_major);
    FIELD(info->nvrtc_minor);
    string(w, &info->nvrtc_path);
    string(w, &info->log);
    string(w, &info->choice);
    FIELD(info->compile_ns);
    FIELD(image->arch.number);
    FIELD(image->arch.suffix);
    FIELD(image->arch.is_virtual);
    FIELD(image->ptx_target.number);
    FIELD(image->ptx_target.suffix);
    FIELD(image->ptx_target.is_virtual);
    if (table(w, &image->kernels, &image->kernel_count, sizeof *image->kernels))
        for (size_t i = 0; i < image->kernel_count && !w->failed; i++)
            kernel(w, &image->kernels[i]);
    if (table(w, &image->globals, &image->global_count, sizeof *image->globals))
        for (size_t i = 0; i < image->global_count && !w->failed; i++)
            global(w, &image->globals[i]);
    if (table(w, &image->diagnostics, &image->diagnostic_count, sizeof *image->diagnostics))
        for (size_t i = 0; i < image->diagnostic_count && !w->failed; i++)
            diagnostic(w, &image->diagnostics[i]);
}

static const char mark[8] = "image-2";

void gpul__image_pack(gpul__str *out, const gpul_image *image)
{
    struct walk w = { .out = out };
    gpul__str_addn(out, mark, sizeof mark);
    /* Writing changes nothing; the list of fields is shared with reading, which does. */
    image_fields(&w, (gpul_image *)image);
}

gpul_image *gpul__image_unpack(const void *data, size_t size)
{
    if (size < sizeof mark || memcmp(data, mark, sizeof mark) != 0) return NULL;
    gpul_image *image = gpul__image_new();
    if (!image) return NULL;
    struct walk w = { .data = (const unsigned char *)data + sizeof mark,
                      .end = (const unsigned char *)data + size,
                      .arena = &image->arena };
    image_fields(&w, image);
    gpul_image_info *info = &image->info;
    info->ptx = image->ptx;
    info->cubin = image->cubin;
    info->from_cache = true;
    bool whole =
        !w.failed && w.data == w.end && info->name && info->arch && info->log && info->choice;
    for (size_t i = 0; whole && i < image->kernel_count; i++)
        whole = image->kernels[i].name && image->kernels[i].symbol && image->kernels[i].signature;
    if (!whole) gpul_image_free(&image);
    return image;
}
