/* The kernels of an image from source, compiler, mangled names, PTX and CUBIN.
 * SPDX-License-Identifier: MIT */
#include "core/signature.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    const gpul__signature_input *in;
    gpul_image *image;
    gpul__arena *arena;
    gpul__type_book book;
    gpul__arena scratch;
};

/* One kernel of the image and what belongs to it. */
struct entry {
    const char *symbol;
    gpul__demangled name;
    const ptx_signature_kernel *ptx;
    const gpul__cubin_kernel *cubin;
    const gpul__decl *decl;
    const gpul__probe_item *item;
};

static const char *copy(struct builder *b, const char *text)
{
    return gpul__arena_strndup(b->arena, text, strlen(text));
}

static const char *decl_name(struct builder *b, const gpul__decl *decl)
{
    const char *name = gpul__token_text(&b->scratch, b->in->tokens, decl->name);
    return name ? gpul__arena_printf(&b->scratch, "%s%s", decl->scope, name) : NULL;
}

/* ---- Which declaration and which answer belong to a symbol ---- */

static bool same_types(const gpul__probe_item *item, const gpul__demangled *name)
{
    if (item->type_count != name->param_count) return false;
    for (size_t i = 0; i < name->param_count; i++)
        if (!gpul__same_name(item->types[i], name->params[i])) return false;
    return true;
}

static size_t count_params(const gpul__decl *decl, const gpul__tokens *tokens)
{
    if (decl->params == decl->params_end) return 0;
    if (decl->params_end == decl->params + 1 && gpul__token_is(tokens, decl->params, "void"))
        return 0;
    size_t count = 1;
    for (size_t i = decl->params; i < decl->params_end; i++) {
        if (gpul__token_is(tokens, i, "(")) i = gpul__after_group(tokens, i, decl->params_end) - 1;
        else if (gpul__token_is(tokens, i, "<") && tokens->items[i - 1].kind == GPUL__TOKEN_WORD)
            i = gpul__after_angles(tokens, i, decl->params_end) - 1;
        else if (gpul__token_is(tokens, i, ",")) count++;
    }
    return count;
}

/* How well a declaration fits: 0 not at all; the number of parameters and the answer decide among
 * overloads and templates of one name. */
static int fit(struct builder *b, const gpul__decl *decl, const struct entry *e, const char *name)
{
    if (!e->name.is_mangled) {
        size_t length;
        const char *last = gpul__last_part(name, &length);
        return strcmp(last, e->symbol) == 0 && (decl->is_extern_c || last == name) ? 8 : 0;
    }
    if (strcmp(name, e->name.base) != 0) return 0;
    int points = 1;
    if (decl->is_template == e->name.is_template) points += 1;
    if (count_params(decl, b->in->tokens) == e->name.param_count) points += 2;
    for (size_t i = 0; b->in->probe && i < b->in->probe->count; i++) {
        const gpul__probe_item *item = &b->in->probe->items[i];
        if (item->decl == decl && item->answered && same_types(item, &e->name)) points += 4;
    }
    return points;
}

static bool find_decl(struct builder *b, struct entry *e)
{
    int best = 0;
    for (size_t i = 0; b->in->scan && i < b->in->scan->count; i++) {
        const gpul__decl *decl = &b->in->scan->decls[i];
        if (decl->kind != GPUL__DECLARED_FUNCTION || !decl->is_global ||
            decl->name == GPUL__NO_TOKEN || !decl->has_body)
            continue;
        const char *name = decl_name(b, decl);
        if (!name) return false;
        int points = fit(b, decl, e, name);
        if (points > best) {
            best = points;
            e->decl = decl;
        }
    }
    return true;
}

static void find_item(struct builder *b, struct entry *e)
{
    const gpul__probe *probe = b->in->probe;
    size_t expression = 0;
    for (size_t i = 0; probe && i < probe->count; i++) {
        const gpul__probe_item *item = &probe->items[i];
        bool mine = false;
        if (item->kind == GPUL__PROBE_EXPRESSION) {
            mine = expression < b->in->lowered_count && b->in->lowered[expression] &&
                   strcmp(b->in->lowered[expression], e->symbol) == 0;
            expression++;
        } else if (item->kind == GPUL__PROBE_SYMBOL) {
            mine = strcmp(item->name, e->symbol) == 0;
        } else if (item->kind == GPUL__PROBE_KERNEL) {
            mine = item->decl == e->decl && e->decl;
            if (!mine && item->answered && item->decl->is_instantiation && e->name.is_template) {
                size_t length, base_length;
                const gpul__token *token = &b->in->tokens->items[item->decl->name];
                const char *last = gpul__last_part(e->name.base, &base_length);
                length = token->length;
                mine = length == base_length &&
                       memcmp(b->in->tokens->text + token->offset, last, length) == 0 &&
                       same_types(item, &e->name);
            }
        }
        if (!mine || !item->answered) continue;
        /* The kernel's own answer is preferred, as it has codes. */
        if (!e->item || item->kind == GPUL__PROBE_KERNEL) e->item = item;
    }
}

/* ---- Parameters ---- */

static const char *file_name(struct builder *b, const char *file)
{
    if (strcmp(file, b->image->info.name) == 0) return b->image->info.name;
    const char *name = copy(b, file);
    return name ? name : "";
}

static gpul_type type_of_ptx(const ptx_signature_param *p)
{
    switch (p->kind) {
    case PTX_PARAM_FLOAT:
        return p->size == 4   ? GPUL_F32
               : p->size == 8 ? GPUL_F64
               : p->size == 2 ? GPUL_F16
                              : GPUL_OTHER;
    case PTX_PARAM_UNSIGNED:
    case PTX_PARAM_SIGNED:
        /* PTX writes all integers unsigned; a number that a user types is more often signed. */
        return p->size == 1   ? GPUL_U8
               : p->size == 2 ? GPUL_I16
               : p->size == 4 ? GPUL_I32
                              : GPUL_I64;
    case PTX_PARAM_POINTER: return GPUL_POINTER;
    case PTX_PARAM_BYTES: return GPUL_STRUCT;
    case PTX_PARAM_OPAQUE: return GPUL_OTHER;
    default: return GPUL_TYPE_UNKNOWN;
    }
}

static bool make_pointee(struct builder *b, gpul_param *param, const char *text, int code)
{
    gpul_member *pointee = gpul__arena_alloc(b->arena, sizeof *pointee);
    if (!pointee || !gpul__type_fill(pointee, &b->book, text, code)) return false;
    pointee->name = "";
    pointee->type_name = copy(b, text);
    if (!pointee->type_name) return false;
    gpul__type_text parts;
    if (!gpul__type_text_read(&parts, &b->scratch, text)) return false;
    param->is_const = parts.is_const;
    param->pointee = pointee;
    return true;
}

static void place_of(struct builder *b, const gpul__declarator *d, gpul_param *param)
{
    if (d->end == d->first) return;
    gpul__place place = gpul__place_of(b->in->files, b->in->tokens, d->first, d->end);
    param->file = file_name(b, place.file);
    param->line = place.line;
    param->column = place.column;
    param->end_column = place.end_column;
}

/* A size that PTX or CUBIN gives decides whether what the text said can be true. */
static void check_size(gpul_member *value, uint32_t size, uint32_t align, gpul_type seen)
{
    if (value->size == size || size == 0) {
        if (align) value->align = align;
        return;
    }
    if (value->is_enum && size <= 8) {
        bool is_signed = value->type == GPUL_I8 || value->type == GPUL_I16 ||
                         value->type == GPUL_I32 || value->type == GPUL_I64;
        value->type = size == 1   ? (is_signed ? GPUL_I8 : GPUL_U8)
                      : size == 2 ? (is_signed ? GPUL_I16 : GPUL_U16)
                      : size == 4 ? (is_signed ? GPUL_I32 : GPUL_U32)
                                  : (is_signed ? GPUL_I64 : GPUL_U64);
    } else if (value->type == GPUL_STRUCT && value->size == 0) {
        /* A struct whose members could not be asked about. */
    } else {
        value->type = seen;
        value->members = NULL;
        value->member_count = 0;
        value->lanes = value->count = 1;
    }
    value->element = value->type;
    value->size = size;
    value->align = align;
}

static const char *text_of_type(const struct entry *e, const gpul__declarators *declared, size_t i)
{
    if (e->name.is_mangled && i < e->name.param_count) return e->name.params[i];
    if (e->item && i < e->item->type_count) return e->item->types[i];
    if (i < declared->count && !(e->decl && e->decl->is_template)) return declared->items[i].type;
    return NULL;
}

static bool build_param(struct builder *b, const struct entry *e, const gpul__declarators *declared,
                        size_t i, gpul_param *param)
{
    const ptx_signature_param *ptx = e->ptx && i < e->ptx->param_count ? &e->ptx->params[i] : NULL;
    const gpul__cubin_param *cubin =
        e->cubin && i < e->cubin->param_count ? &e->cubin->params[i] : NULL;
    const gpul__declarator *d = i < declared->count ? &declared->items[i] : NULL;
    uint32_t size = ptx ? (uint32_t)ptx->size : cubin ? cubin->size : 0;
    uint32_t align = ptx ? ptx->align : 0;
    gpul_type seen = ptx ? type_of_ptx(ptx) : GPUL_TYPE_UNKNOWN;
    const char *text = text_of_type(e, declared, i);
    gpul_member *value = &param->value;
    int code = e->item && e->item->kind == GPUL__PROBE_KERNEL && i < e->item->number_count
                   ? (int)e->item->numbers[i]
                   : 0;
    gpul__type_text parts = { .base = "" };
    if (text && !gpul__type_text_read(&parts, &b->scratch, text)) return false;
    /* A pointer may hide behind a typedef: typedef Params *ParamsPointer. */
    for (int depth = 0; depth < 8 && !parts.pointee && *parts.base; depth++) {
        const char *alias = gpul__type_alias(b->in->scan, &b->scratch, parts.base);
        if (!alias) break;
        if (!gpul__type_text_read(&parts, &b->scratch, alias)) return false;
    }
    if (!gpul__type_fill(value, &b->book, text ? text : "", parts.pointee ? 0 : code)) return false;
    if (value->type == GPUL_TYPE_UNKNOWN) {
        value->type = value->element = seen;
        value->size = size;
        value->align = align;
    }
    check_size(value, size, align, seen);
    if (!value->size) value->size = size;
    value->name = copy(b, d ? d->name : "");
    bool spelled = d && !(e->decl && e->decl->is_template);
    value->type_name = copy(b, spelled ? d->type : text ? text : "");
    value->offset = ptx ? (uint32_t)ptx->offset : cubin ? cubin->offset : 0;
    param->file = "";
    param->is_pointer = value->type == GPUL_POINTER;
    if (!value->name || !value->type_name) return false;
    if (d && b->in->files) place_of(b, d, param);
    return !parts.pointee || make_pointee(b, param, parts.pointee, code);
}

/* "saxpy(int n, float a, const float *x)" */
static const char *spell_signature(struct builder *b, const gpul_kernel_info *info,
                                   const char *name)
{
    gpul__str text = { 0 };
    gpul__str_printf(&text, "%s(", name);
    for (uint32_t i = 0; i < info->param_count; i++) {
        const gpul_member *value = &info->params[i].value;
        const char *type = *value->type_name ? value->type_name : gpul_type_name(value->type);
        size_t length = strlen(type);
        const char *open = strstr(type, "(*)"), *array = strchr(type, '[');
        if (i) gpul__str_add(&text, ", ");
        if (open && *value->name)
            gpul__str_printf(&text, "%.*s(*%s%s", (int)(open - type), type, value->name, open + 2);
        else if (array && *value->name)
            gpul__str_printf(&text, "%.*s %s%s", (int)(array - type), type, value->name, array);
        else
            gpul__str_printf(&text, "%s%s%s", type,
                             *value->name && length && type[length - 1] != '*' ? " " : "",
                             value->name);
    }
    gpul__str_add(&text, ")");
    const char *kept =
        text.failed ? NULL : gpul__arena_strndup(b->arena, gpul__str_text(&text), text.length);
    gpul__str_free(&text);
    return kept;
}

static bool build_params(struct builder *b, const struct entry *e, gpul_kernel_info *info)
{
    gpul__declarators declared = { 0 };
    if (e->decl && !gpul__scan_params(&declared, &b->scratch, b->in->tokens, e->decl)) return false;
    uint32_t count = e->ptx     ? e->ptx->param_count
                     : e->cubin ? e->cubin->param_count
                                : (uint32_t)declared.count;
    /* A parameter pack, or a declaration that was not understood: positions would be wrong. */
    if (e->ptx && declared.count != count) declared.count = 0;
    gpul_param *params = gpul__arena_alloc(b->arena, (count + 1) * sizeof *params);
    bool ok = params != NULL;
    for (uint32_t i = 0; ok && i < count; i++) ok = build_param(b, e, &declared, i, &params[i]);
    gpul__free(declared.items);
    info->params = params;
    info->param_count = count;
    return ok;
}

/* ---- Kernels ---- */

static void place_kernel(struct builder *b, const gpul__decl *decl, gpul_kernel_info *info)
{
    gpul__place place = gpul__place_of(b->in->files, b->in->tokens, decl->name, decl->name + 1);
    info->file = file_name(b, place.file);
    info->line = place.line;
    info->column = place.column;
    info->end_column = place.end_column;
}

static bool dynamic_shared(struct builder *b, gpul_kernel_info *info)
{
    const char *only = NULL;
    for (uint32_t i = 0; i < b->in->ptx->global_count; i++) {
        const ptx_signature_global *global = &b->in->ptx->globals[i];
        if (global->space != PTX_SPACE_SHARED || global->linkage != PTX_LINKAGE_EXTERN) continue;
        if (only) return true;
        only = global->name;
    }
    if (!only) return true;
    gpul__demangled name;
    if (!gpul__demangle(&name, b->arena, only)) return false;
    info->dynamic_shared_name = copy(b, name.name);
    return info->dynamic_shared_name != NULL;
}

static bool from_ptx(struct builder *b, const ptx_signature_kernel *ptx, gpul_kernel_info *info)
{
    info->param_bytes = (uint32_t)ptx->param_bytes;
    info->uses_y = ptx->uses & (PTX_USES_TID_Y | PTX_USES_CTAID_Y);
    info->uses_z = ptx->uses & (PTX_USES_TID_Z | PTX_USES_CTAID_Z);
    info->uses_dynamic_shared = ptx->uses & PTX_USES_DYNAMIC_SHARED;
    info->uses_grid_sync = ptx->uses & PTX_USES_GRID_SYNC;
    info->shared_bytes = (int)ptx->static_shared;
    info->min_blocks = (int)ptx->minnctapersm;
    info->bound_exact = ptx->has_reqntid;
    for (int i = 0; i < 3; i++) {
        if (ptx->has_reqntid) info->bound_threads[i] = (int)ptx->reqntid[i];
        else if (ptx->has_maxntid) info->bound_threads[i] = (int)ptx->maxntid[i];
        if (ptx->has_reqnctapercluster) info->cluster[i] = (int)ptx->reqnctapercluster[i];
    }
    return !info->uses_dynamic_shared || dynamic_shared(b, info);
}

static void from_cubin(const gpul__cubin *cubin, const gpul__cubin_kernel *kernel, bool alone,
                       gpul_kernel_info *info)
{
    info->registers = kernel->registers;
    info->local_bytes = kernel->local_bytes;
    info->constant_bytes =
        cubin->constant_bytes > INT32_MAX ? INT32_MAX : (int)cubin->constant_bytes;
    if (!alone) return;
    info->shared_bytes = kernel->shared_bytes;
    info->param_bytes = kernel->param_bytes;
    info->bound_exact = kernel->bound_exact;
    memcpy(info->bound_threads, kernel->bound_threads, sizeof info->bound_threads);
}

/* As the user wrote it: defaults of a template's parameters are not in it. */
static const char *expression_of(struct builder *b, const char *symbol)
{
    const gpul__probe *probe = b->in->probe;
    size_t expression = 0;
    for (size_t i = 0; probe && i < probe->count && expression < b->in->lowered_count; i++) {
        if (probe->items[i].kind != GPUL__PROBE_EXPRESSION) continue;
        const char *lowered = b->in->lowered[expression++];
        if (lowered && strcmp(lowered, symbol) == 0) return copy(b, probe->items[i].name);
    }
    return "";
}

static bool build_kernel(struct builder *b, const struct entry *e, gpul_kernel_info *info)
{
    *info = (gpul_kernel_info){ .registers = -1,
                                .shared_bytes = -1,
                                .local_bytes = -1,
                                .constant_bytes = -1,
                                .max_threads = -1,
                                .file = "" };
    info->symbol = copy(b, e->symbol);
    info->name = copy(b, e->name.name);
    info->expression = expression_of(b, e->symbol);
    info->is_extern_c = !e->name.is_mangled;
    if (!info->symbol || !info->name || !info->expression || !build_params(b, e, info))
        return false;
    if (e->ptx && !from_ptx(b, e->ptx, info)) return false;
    if (e->cubin) from_cubin(b->in->cubin, e->cubin, !e->ptx, info);
    if (e->decl) place_kernel(b, e->decl, info);
    /* The name that the compiler mangled spells every type. */
    bool spelled = e->item || (e->name.is_mangled && b->in->probe);
    info->types = spelled ? GPUL_TYPES_COMPILER : e->ptx ? GPUL_TYPES_PTX : GPUL_TYPES_NONE;
    info->signature = spell_signature(b, info, info->name);
    return info->signature != NULL;
}

/* A template that nobody instantiated: known from the source alone. */
static bool build_template(struct builder *b, const gpul__decl *decl, gpul_kernel_info *info)
{
    struct entry e = { .symbol = "", .decl = decl };
    const char *name = decl_name(b, decl);
    *info = (gpul_kernel_info){ .registers = -1,
                                .shared_bytes = -1,
                                .local_bytes = -1,
                                .constant_bytes = -1,
                                .max_threads = -1,
                                .is_template = true };
    info->symbol = "";
    info->name = name ? copy(b, name) : NULL;
    info->expression = gpul__template_example(b->arena, b->in->tokens, decl);
    if (!info->name || !info->expression) return false;
    gpul__declarators declared = { 0 };
    if (!gpul__scan_params(&declared, &b->scratch, b->in->tokens, decl)) return false;
    gpul_param *params = gpul__arena_alloc(b->arena, (declared.count + 1) * sizeof *params);
    bool ok = params != NULL;
    for (size_t i = 0; ok && i < declared.count; i++) {
        ok = build_param(b, &e, &declared, i, &params[i]);
        if (ok) params[i].value.type_name = copy(b, declared.items[i].type);
        ok = ok && params[i].value.type_name;
    }
    info->params = params;
    info->param_count = (uint32_t)declared.count;
    gpul__free(declared.items);
    if (!ok) return false;
    place_kernel(b, decl, info);
    info->signature = spell_signature(b, info, info->name);
    return info->signature != NULL;
}

static int by_line(const void *a, const void *b)
{
    const gpul_kernel_info *first = a, *second = b;
    uint32_t x = first->line ? first->line : UINT32_MAX,
             y = second->line ? second->line : UINT32_MAX;
    if (x != y) return x < y ? -1 : 1;
    return strcmp(first->symbol, second->symbol);
}

/* Overloads get their parameters into the name, so that each name is one kernel. */
static bool name_overloads(struct builder *b)
{
    gpul_image *image = b->image;
    bool *twice = gpul__calloc(image->kernel_count, sizeof *twice);
    if (!twice) return false;
    for (size_t i = 0; i < image->kernel_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(image->kernels[i].name, image->kernels[k].name) == 0)
                twice[i] = twice[k] = true;
    bool ok = true;
    for (size_t i = 0; ok && i < image->kernel_count; i++) {
        gpul_kernel_info *info = &image->kernels[i];
        gpul__demangled name;
        if (!twice[i] || !*info->symbol) continue;
        ok = gpul__demangle(&name, &b->scratch, info->symbol);
        if (!ok || !name.is_mangled) continue;
        gpul__str text = { 0 };
        gpul__str_printf(&text, "%s(", info->name);
        for (size_t p = 0; p < name.param_count; p++)
            gpul__str_printf(&text, "%s%s", p ? ", " : "", name.params[p]);
        gpul__str_add(&text, ")");
        info->name = text.failed ? NULL : copy(b, gpul__str_text(&text));
        ok = info->name != NULL;
        gpul__str_free(&text);
    }
    gpul__free(twice);
    return ok;
}

static bool is_instantiated(struct builder *b, const gpul__decl *decl, const struct entry *entries,
                            size_t count)
{
    const char *name = decl_name(b, decl);
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(entries[i].name.base, name) == 0) return true;
    return false;
}

static bool build_all(struct builder *b)
{
    const gpul__signature_input *in = b->in;
    size_t count = in->ptx ? in->ptx->kernel_count : in->cubin ? in->cubin->kernel_count : 0;
    size_t templates = 0;
    for (size_t i = 0; in->scan && i < in->scan->count; i++)
        templates += in->scan->decls[i].is_global && in->scan->decls[i].is_template;
    struct entry *entries = gpul__arena_alloc(&b->scratch, (count + 1) * sizeof *entries);
    b->image->kernels =
        gpul__arena_alloc(b->arena, (count + templates + 1) * sizeof *b->image->kernels);
    if (!entries || !b->image->kernels) return false;
    for (size_t i = 0; i < count; i++) {
        struct entry *e = &entries[i];
        e->ptx = in->ptx ? &in->ptx->kernels[i] : NULL;
        e->symbol = e->ptx ? e->ptx->name : in->cubin->kernels[i].symbol;
        for (size_t k = 0; in->cubin && k < in->cubin->kernel_count; k++)
            if (strcmp(in->cubin->kernels[k].symbol, e->symbol) == 0)
                e->cubin = &in->cubin->kernels[k];
        if (!gpul__demangle(&e->name, &b->scratch, e->symbol) || !find_decl(b, e)) return false;
        find_item(b, e);
        if (!build_kernel(b, e, &b->image->kernels[b->image->kernel_count])) return false;
        b->image->kernel_count++;
    }
    if (!name_overloads(b)) return false;
    for (size_t i = 0; in->scan && i < in->scan->count; i++) {
        const gpul__decl *decl = &in->scan->decls[i];
        if (decl->kind != GPUL__DECLARED_FUNCTION || !decl->is_global || !decl->is_template ||
            !decl->has_body || decl->name == GPUL__NO_TOKEN ||
            is_instantiated(b, decl, entries, count))
            continue;
        if (!build_template(b, decl, &b->image->kernels[b->image->kernel_count])) return false;
        b->image->kernel_count++;
    }
    if (b->image->kernel_count)
        qsort(b->image->kernels, b->image->kernel_count, sizeof *b->image->kernels, by_line);
    return true;
}

bool gpul__signature_build(gpul_image *image, const gpul__signature_input *input)
{
    struct builder b = { .in = input, .image = image, .arena = &image->arena };
    b.book = (gpul__type_book){ .arena = &image->arena, .scan = input->scan };
    bool ok = !input->probe || gpul__signature_structs(&b.book, input->probe);
    ok = ok && build_all(&b) && gpul__signature_variables(image, input, &b.book);
    gpul__arena_free(&b.scratch);
    return ok;
}
