/* Kernels by name: plain, C++ without mangling, name expression or symbol; and what is said when there is
 * none or more than one.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/context.h"
#include "core/device_failure.h"
#include "core/kernel.h"

/* What a module offers: what its image lists, else what the driver lists. */
typedef struct listing {
    const gpul_kernel_info *items;
    size_t count;
} listing;

/* The parameters of a kernel that only the driver knows; false: it does not tell. */
static gpul_status ask_parameters(gpul_module *module, gpul_kernel_info *info, CUfunction function)
{
    const gpul__driver *driver = gpul__api(module->device);
    size_t offset, size;
    uint32_t count = 0;
    if (!driver->FuncGetParamInfo)
        return gpul__fail(GPUL__LAUNCH_UNSUPPORTED, (.call = "gpul_module_kernel"),
                          "neither the image nor this driver (CUDA %d.%d; 12.4 would) tells the "
                          "parameters of '%s'",
                          driver->version / 1000, driver->version % 1000 / 10, info->name);
    while (driver->FuncGetParamInfo(function, count, &offset, &size) == CUDA_SUCCESS) count++;
    gpul_param *params = gpul__arena_alloc(&module->arena, (count ? count : 1) * sizeof *params);
    if (!params) return gpul__no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (driver->FuncGetParamInfo(function, i, &offset, &size) != CUDA_SUCCESS) break;
        params[i] = (gpul_param){ .value = { .name = "",
                                             .type_name = "",
                                             .size = (uint32_t)size,
                                             .offset = (uint32_t)offset,
                                             .lanes = 1,
                                             .count = 1 },
                                  .file = "" };
        info->param_bytes = (uint32_t)(offset + size);
    }
    info->params = params;
    info->param_count = count;
    return GPUL_OK;
}

static gpul_status fill_from_driver(gpul_module *module, gpul_kernel_info *info,
                                    CUfunction function, const char *name)
{
    char *kept = gpul__arena_strndup(&module->arena, name, strlen(name));
    if (!kept) return gpul__no_memory();
    *info = (gpul_kernel_info){ .name = kept,
                                .symbol = kept,
                                .signature = kept,
                                .file = "",
                                .expression = "",
                                .registers = -1,
                                .shared_bytes = -1,
                                .local_bytes = -1,
                                .constant_bytes = -1,
                                .max_threads = -1 };
    return ask_parameters(module, info, function);
}

/* Asks the driver for a module's kernels, once.  A driver that cannot (before 12.4) lists none. */
static gpul_status list_from_driver(gpul_module *module)
{
    const gpul__driver *driver = gpul__api(module->device);
    unsigned count = 0;
    if (module->listed || !driver->ModuleGetFunctionCount || !driver->ModuleEnumerateFunctions ||
        !driver->FuncGetName ||
        driver->ModuleGetFunctionCount(&count, module->handle) != CUDA_SUCCESS || !count)
        return GPUL_OK;
    CUfunction *functions = gpul__calloc(count, sizeof *functions);
    gpul_kernel_info *listed = gpul__arena_alloc(&module->arena, count * sizeof *listed);
    gpul_status status = functions && listed ? GPUL_OK : gpul__no_memory();
    if (status == GPUL_OK &&
        driver->ModuleEnumerateFunctions(functions, count, module->handle) != CUDA_SUCCESS)
        count = 0;
    for (unsigned i = 0; status == GPUL_OK && i < count; i++) {
        const char *name = NULL;
        if (driver->FuncGetName(&name, functions[i]) != CUDA_SUCCESS || !name) name = "";
        status = fill_from_driver(module, &listed[i], functions[i], name);
    }
    if (status == GPUL_OK) {
        module->listed = listed;
        module->listed_count = count;
    }
    gpul__free(functions);
    return status;
}

/* ---- Matching ---- */

typedef struct match {
    const gpul_kernel_info *info; /* of the first that fits best */
    gpul__match quality;
    size_t count; /* of different symbols that fit as well */
} match;

static void consider(match *best, const gpul_kernel_info *info, gpul__match quality)
{
    if (quality == GPUL__MATCH_NONE || quality < best->quality) return;
    if (quality > best->quality) {
        *best = (match){ info, quality, 1 };
    } else if (strcmp(best->info->symbol, info->symbol) != 0 || info->is_template) {
        best->count++;
    }
}

/* Instances go before templates, which cannot be launched. */
static match find(const listing *list, const char *name, bool templates)
{
    match best = { 0 };
    for (size_t i = 0; i < list->count; i++) {
        const gpul_kernel_info *info = &list->items[i];
        if (info->is_template != templates) continue;
        consider(&best, info, name ? gpul__kernel_match(info, name) : GPUL__MATCH_NAME);
    }
    return best;
}

/* ---- What is said ---- */

static void list_kernels(const listing *list, const char *only)
{
    for (size_t i = 0; i < list->count; i++) {
        const gpul_kernel_info *k = &list->items[i];
        if (only && !gpul__kernel_match(k, only)) continue;
        gpul__str text = { 0 };
        gpul__str_add(&text, k->signature && *k->signature ? k->signature : k->name);
        if (k->is_template) gpul__str_add(&text, ", a template that was not instantiated");
        else if (k->is_extern_c) gpul__str_add(&text, ", extern \"C\"");
        else if (k->symbol && strcmp(k->symbol, k->name) != 0)
            gpul__str_printf(&text, ", symbol %s", k->symbol);
        gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE,
                                     .file = k->file && *k->file ? k->file : NULL,
                                     .line = k->line,
                                     .column = k->column,
                                     .end_column = k->end_column,
                                     .text = gpul__str_text(&text) });
        gpul__str_free(&text);
    }
}

/* The name that a spelling mistake most likely meant; NULL when none is close. */
static const char *nearest(const listing *list, const char *name)
{
    size_t length = strlen(name), limit = length < 6 ? 2 : length / 3;
    const char *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const char *candidates[] = { list->items[i].name, list->items[i].symbol };
        for (int c = 0; c < 2; c++) {
            if (!candidates[c] || !*candidates[c]) continue;
            size_t distance = gpul__edit_distance(name, candidates[c], limit);
            if (distance > limit) continue;
            found = list->items[i].name;
            if (!distance) return found;
            limit = distance - 1;
        }
    }
    return found;
}

static const char *image_name(const gpul_module *module)
{
    const char *name = module->image->info.name;
    return name && *name ? name : "the module";
}

static gpul_status fail_missing(gpul_module *module, const listing *list, const char *name)
{
    if (!list->count) {
        gpul__fail(GPUL__SYMBOL_KERNEL, (.call = "gpul_module_kernel"),
                   "no kernel '%s' in %s: the module has no kernels", name ? name : "",
                   image_name(module));
        return gpul__hint(
            "PTX that was cut off, a template that was not instantiated and code that "
            "was not linked all load as an empty module");
    }
    const char *close = nearest(list, name);
    gpul__fail(GPUL__SYMBOL_KERNEL, (.call = "gpul_module_kernel"), "no kernel '%s' in %s%s%s%s",
               name, image_name(module), close ? "; the nearest is '" : "", close ? close : "",
               close ? "'" : "");
    list_kernels(list, NULL);
    if (close) return gpul__hint("write \"%s\"", close);
    return gpul__hint("a C++ kernel goes by its C++ name, as in \"demo::scale\" or \"scale(float*, "
                      "int)\"; extern \"C\" in front of __global__ makes name and symbol equal");
}

static gpul_status fail_ambiguous(const listing *list, const char *name, size_t count)
{
    if (name) {
        gpul__fail(GPUL__SYMBOL_AMBIGUOUS, (.call = "gpul_module_kernel"), "'%s' fits %zu kernels",
                   name, count);
        list_kernels(list, name);
        return gpul__hint(
            "add the parameters, the template arguments or the namespace, or give the "
            "symbol");
    }
    gpul__str names = { 0 };
    for (size_t i = 0; i < list->count; i++)
        gpul__str_printf(&names, "%s%s", i ? ", " : "", list->items[i].name);
    gpul__fail(GPUL__LAUNCH_WHICH, (.call = "gpul_module_kernel"),
               "there are %zu kernels, and none is named: %s", count, gpul__str_text(&names));
    gpul__str_free(&names);
    list_kernels(list, NULL);
    return gpul__hint("give the name of one of them");
}

static gpul_status fail_template(const gpul_kernel_info *info)
{
    gpul__fail(GPUL__LAUNCH_TEMPLATE, (.call = "gpul_module_kernel"),
               "'%s' is a template, which is no code until its arguments are known", info->name);
    return gpul__hint("compile with the name expression, as in .expressions = { \"%s%s\", NULL }",
                      *info->expression ? info->expression : info->name,
                      *info->expression ? "" : "<float>");
}

/* ---- Getting it ---- */

/* With the module's lock held and the context current. */
static gpul_status get(const gpul_kernel **out, gpul_module *module, const gpul_kernel_info *info)
{
    for (gpul_kernel *k = module->kernels; k; k = k->next) {
        if (strcmp(k->info.symbol, info->symbol) != 0) continue;
        *out = k;
        return GPUL_OK;
    }
    gpul_device *device = module->device;
    CUfunction function;
    CUresult result = gpul__api(device)->ModuleGetFunction(&function, module->handle, info->symbol);
    if (result == CUDA_ERROR_NOT_FOUND) {
        gpul__fail(
            GPUL__SYMBOL_KERNEL,
            (.call = "cuModuleGetFunction", .native_kind = GPUL_NATIVE_CUDA, .native = (int)result),
            "%s lists '%s', and the driver does not have it", image_name(module), info->name);
        return gpul__hint("relocatable code (-rdc=true) has no kernels until it is linked");
    }
    if (gpul__kernel_refused(module, info->name, result)) return gpul_last_error()->status;
    if (result != CUDA_SUCCESS)
        return gpul__refused(
            device, &(gpul__refusal){ GPUL__LOAD_FAILED, result, "cuModuleGetFunction", NULL, 0 },
            "the kernel '%s' cannot be had", info->name);
    gpul_kernel *kernel;
    gpul_status status = gpul__kernel_new(&kernel, module, info, function);
    if (status != GPUL_OK) return status;
    kernel->next = module->kernels;
    module->kernels = kernel;
    *out = kernel;
    return GPUL_OK;
}

/* A kernel that nobody lists: the driver may know the symbol all the same.  *info stays NULL if not. */
static gpul_status ask_by_symbol(const gpul_kernel_info **info, gpul_module *module,
                                 const char *name)
{
    CUfunction function;
    if (gpul__api(module->device)->ModuleGetFunction(&function, module->handle, name) !=
        CUDA_SUCCESS)
        return GPUL_OK;
    gpul_kernel_info *made = gpul__arena_alloc(&module->arena, sizeof *made);
    if (!made) return gpul__no_memory();
    gpul_status status = fill_from_driver(module, made, function, name);
    if (status == GPUL_OK) *info = made;
    return status;
}

static gpul_status look_up(const gpul_kernel **out, gpul_module *module, const char *name)
{
    listing list = { module->image->kernels, module->image->kernel_count };
    gpul_status status = GPUL_OK;
    if (!list.count) {
        status = list_from_driver(module);
        list = (listing){ module->listed, module->listed_count };
    }
    if (status != GPUL_OK) return status;
    match best = find(&list, name, false);
    if (best.count > 1) return fail_ambiguous(&list, name, best.count);
    if (!best.count) {
        match template = find(&list, name, true);
        if (template.count) return fail_template(template.info);
    }
    const gpul_kernel_info *info = best.info;
    if (!info && !list.count && name) {
        status = ask_by_symbol(&info, module, name);
        if (status != GPUL_OK) return status;
    }
    return info ? get(out, module, info) : fail_missing(module, &list, name);
}

gpul_status gpul_module_kernel(const gpul_kernel **out, gpul_module *module, const char *name)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(module);
    bool pushed;
    gpul_status status = gpul__enter(module->device, &pushed, "gpul_module_kernel");
    if (status != GPUL_OK) return status;
    pthread_mutex_lock(&module->lock);
    status = look_up(out, module, name);
    pthread_mutex_unlock(&module->lock);
    gpul__leave(module->device, pushed);
    return status;
}
