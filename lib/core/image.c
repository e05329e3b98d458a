/* Images as objects: references, descriptions, and how names match.  Which form a device gets is in
 * image_choose.c.  SPDX-License-Identifier: MIT */
#include "core/image.h"

#include "core/signature_name.h"
#include "core/signature_types.h"

#include <string.h>

gpul_image *gpul__image_new(void)
{
    gpul_image *image = gpul__calloc(1, sizeof *image);
    if (!image) return NULL;
    gpul__refs_init(&image->refs);
    image->info.name = image->info.arch = image->info.log = image->info.choice = "";
    return image;
}

void gpul__image_take(gpul_image *image)
{
    gpul__refs_take(&image->refs);
}

void gpul_image_free(gpul_image **image)
{
    if (!image || !*image) return;
    gpul_image *gone = *image;
    *image = NULL;
    if (!gpul__refs_drop(&gone->refs)) return;
    gpul__free(gone->ptx);
    gpul__free(gone->cubin);
    gpul__free(gone->fatbin);
    gpul__free(gone->ltoir);
    gpul__free(gone->linked);
    for (size_t i = 0; i < gone->part_count; i++) gpul_image_free(&gone->parts[i]);
    gpul__free(gone->parts);
    gpul__arena_free(&gone->arena);
    gpul__free(gone);
}

const gpul_image_info *gpul_image_describe(const gpul_image *image)
{
    static const gpul_image_info none = { .name = "", .arch = "", .log = "", .choice = "" };
    return image ? &image->info : &none;
}

size_t gpul_image_diagnostic_count(const gpul_image *image)
{
    return image ? image->diagnostic_count : 0;
}

const gpul_detail *gpul_image_diagnostic(const gpul_image *image, size_t index)
{
    return image && index < image->diagnostic_count ? &image->diagnostics[index] : NULL;
}

size_t gpul_image_kernel_count(const gpul_image *image)
{
    return image ? image->kernel_count : 0;
}

const gpul_kernel_info *gpul_image_kernel(const gpul_image *image, size_t index)
{
    return image && index < image->kernel_count ? &image->kernels[index] : NULL;
}

size_t gpul_image_global_count(const gpul_image *image)
{
    return image ? image->global_count : 0;
}

const gpul_global_info *gpul_image_global(const gpul_image *image, size_t index)
{
    return image && index < image->global_count ? &image->globals[index] : NULL;
}

/* ---- Names ---- */

/* The parameter list of "k(float *, int)": where it opens, NULL when there is none.  Template arguments
 * may hold parentheses too. */
static const char *open_of_params(const char *name)
{
    long depth = 0;
    const char *open = NULL;
    for (const char *c = name; *c; c++) {
        if (*c == '<') depth++;
        if (*c == '>') depth--;
        if (*c == '(' && depth <= 0 && strncmp(c, "(anonymous", 10) != 0 && !open) open = c;
    }
    return open;
}

/* Whether a written parameter list means the kernel's: names of parameters are left out, and types may
 * be spelled otherwise ("unsigned" for "unsigned int"). */
static bool same_params(const gpul_kernel_info *kernel, const char *open)
{
    gpul__arena arena = { 0 };
    gpul__demangled name;
    bool same = false;
    if (gpul__demangle(&name, &arena, kernel->symbol) && name.is_mangled) {
        gpul__str list = { 0 };
        gpul__str_add(&list, "(");
        for (size_t i = 0; i < name.param_count; i++)
            gpul__str_printf(&list, "%s%s", i ? ", " : "", name.params[i]);
        gpul__str_add(&list, ")");
        same = gpul__same_name(gpul__str_text(&list), open);
        gpul__str_free(&list);
    }
    gpul__str spelled = { 0 };
    gpul__str_add(&spelled, "(");
    for (uint32_t i = 0; i < kernel->param_count; i++)
        gpul__str_printf(&spelled, "%s%s", i ? ", " : "", kernel->params[i].value.type_name);
    gpul__str_add(&spelled, ")");
    same = same || gpul__same_name(gpul__str_text(&spelled), open);
    gpul__str_free(&spelled);
    gpul__arena_free(&arena);
    return same;
}

/* The kernel's name without the parameters that tell overloads apart. */
static bool same_plain(const char *full, const char *name, size_t length)
{
    gpul__arena arena = { 0 };
    const char *open = open_of_params(full);
    char *without = gpul__arena_strndup(&arena, full, open ? (size_t)(open - full) : strlen(full));
    char *wanted = gpul__arena_strndup(&arena, name, length);
    bool same = without && wanted && gpul__same_name(without, wanted);
    gpul__arena_free(&arena);
    return same;
}

gpul__match gpul__kernel_match(const gpul_kernel_info *kernel, const char *name)
{
    while (*name == ' ' || *name == '&') name++;
    if (*kernel->symbol && strcmp(kernel->symbol, name) == 0) return GPUL__MATCH_SYMBOL;
    if (gpul__same_name(kernel->name, name)) return GPUL__MATCH_NAME;
    if (!kernel->is_template && kernel->expression && *kernel->expression &&
        gpul__same_name(kernel->expression, name))
        return GPUL__MATCH_NAME;
    if (strncmp(name, "::", 2) == 0) name += 2;
    const char *open = open_of_params(name);
    size_t length = open ? (size_t)(open - name) : strlen(name);
    if (open && !same_params(kernel, open)) return GPUL__MATCH_NONE;
    if (open && same_plain(kernel->name, name, length)) return GPUL__MATCH_NAME;
    if (!open && same_plain(kernel->name, name, length)) return GPUL__MATCH_PLAIN;

    /* "poly" or "poly<float, 3>" for "demo::poly<float, 3>". */
    size_t last_length, full_length = strlen(kernel->name);
    const char *params = open_of_params(kernel->name);
    if (params) full_length = (size_t)(params - kernel->name);
    const char *last = gpul__last_part(kernel->name, &last_length);
    if (last_length == length && memcmp(last, name, length) == 0) return GPUL__MATCH_PLAIN;
    gpul__arena arena = { 0 };
    char *rest = gpul__arena_strndup(&arena, last, full_length - (size_t)(last - kernel->name));
    char *wanted = gpul__arena_strndup(&arena, name, length);
    bool same = rest && wanted && gpul__same_name(rest, wanted);
    /* "demo::poly" for "demo::poly<float, 3>" */
    char *base =
        gpul__arena_strndup(&arena, kernel->name, (size_t)(last - kernel->name) + last_length);
    same = same || (base && wanted && gpul__same_name(base, wanted));
    gpul__arena_free(&arena);
    return same ? GPUL__MATCH_PLAIN : GPUL__MATCH_NONE;
}

gpul__match gpul__global_match(const gpul_global_info *global, const char *name)
{
    while (*name == ' ' || *name == '&') name++;
    if (strcmp(global->symbol, name) == 0) return GPUL__MATCH_SYMBOL;
    if (strncmp(name, "::", 2) == 0) name += 2;
    if (gpul__same_name(global->name, name)) return GPUL__MATCH_NAME;
    size_t length;
    const char *last = gpul__last_part(global->name, &length);
    return strlen(name) == length && memcmp(last, name, length) == 0 ? GPUL__MATCH_PLAIN
                                                                     : GPUL__MATCH_NONE;
}

/* What the compiler said of a kernel is still true of it; what the linker decided is in `linked`. */
static void describe(gpul_kernel_info *linked, const gpul_kernel_info *kernel)
{
    gpul_kernel_info known = *kernel;
    known.registers = linked->registers;
    known.shared_bytes = linked->shared_bytes;
    known.local_bytes = linked->local_bytes;
    known.constant_bytes = linked->constant_bytes;
    known.max_threads = linked->max_threads;
    *linked = known;
}

void gpul__image_describe_by_parts(gpul_image *image)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        for (size_t p = 0; p < image->part_count; p++)
            for (size_t k = 0; k < image->parts[p]->kernel_count; k++) {
                gpul_kernel_info *own = &image->kernels[i];
                const gpul_kernel_info *part = &image->parts[p]->kernels[k];
                if (strcmp(own->symbol, part->symbol) == 0 && part->types > own->types &&
                    part->param_bytes == own->param_bytes)
                    describe(own, part);
            }
}
