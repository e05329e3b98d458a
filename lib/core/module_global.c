/* __device__ and __constant__ variables of a module, by name.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/module.h"
#include "core/stream.h"

typedef struct variable {
    CUdeviceptr address;
    size_t size;
} variable;

static const char *image_name(const gpul_module *module)
{
    const char *name = module->image->info.name;
    return name && *name ? name : "the module";
}

static gpul_status fail_missing(const gpul_module *module, const char *name, CUresult result)
{
    const gpul_image *image = module->image;
    size_t length = strlen(name), limit = length < 6 ? 2 : length / 3;
    const char *close = NULL;
    for (size_t i = 0; i < image->global_count; i++) {
        size_t distance = gpul__edit_distance(name, image->globals[i].name, limit);
        if (distance > limit || !distance) continue;
        close = image->globals[i].name;
        limit = distance - 1;
    }
    gpul__fail(
        GPUL__SYMBOL_GLOBAL,
        (.call = "cuModuleGetGlobal", .native_kind = GPUL_NATIVE_CUDA, .native = (int)result),
        "no variable '%s' in %s%s%s%s", name, image_name(module), close ? "; the nearest is '" : "",
        close ? close : "", close ? "'" : "");
    for (size_t i = 0; i < image->global_count; i++) {
        const gpul_global_info *g = &image->globals[i];
        gpul__note("%s '%s', %llu bytes", g->is_constant ? "__constant__" : "__device__", g->name,
                   (unsigned long long)g->size);
    }
    if (close) return gpul__hint("write \"%s\"", close);
    return gpul__hint(
        "the compiler drops variables that no kernel uses; extern \"C\" or a use keeps "
        "one and its name");
}

/* The symbol that a name stands for; the name itself when the image does not list it. */
static gpul_status find_symbol(const char **out, const gpul_module *module, const char *name)
{
    const gpul_image *image = module->image;
    gpul__match best = GPUL__MATCH_NONE;
    size_t count = 0;
    *out = name;
    for (size_t i = 0; i < image->global_count; i++) {
        gpul__match quality = gpul__global_match(&image->globals[i], name);
        if (quality == GPUL__MATCH_NONE || quality < best) continue;
        count = quality > best ? 1 : count + 1;
        if (quality > best) *out = image->globals[i].symbol;
        best = quality;
    }
    if (count < 2) return GPUL_OK;
    gpul__fail(GPUL__SYMBOL_AMBIGUOUS, (.call = "gpul_module_global"), "'%s' fits %zu variables",
               name, count);
    for (size_t i = 0; i < image->global_count; i++)
        if (gpul__global_match(&image->globals[i], name) == best)
            gpul__note("'%s', symbol %s", image->globals[i].name, image->globals[i].symbol);
    return gpul__hint("add the namespace, or give the symbol");
}

/* With the context current. */
static gpul_status find(variable *out, gpul_module *module, const char *name)
{
    const char *symbol;
    gpul_status status = find_symbol(&symbol, module, name);
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(module->device)
                          ->ModuleGetGlobal(&out->address, &out->size, module->handle, symbol);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    if (result == CUDA_ERROR_NOT_FOUND) return fail_missing(module, name, result);
    return gpul__refused(
        module->device, &(gpul__refusal){ GPUL__LOAD_FAILED, result, "cuModuleGetGlobal", NULL, 0 },
        "the variable '%s' cannot be had", name);
}

gpul_status gpul_module_global(uint64_t *address, size_t *size, gpul_module *module,
                               const char *name)
{
    if (address) *address = 0;
    if (size) *size = 0;
    GPUL__NEED(module);
    GPUL__NEED(name);
    variable found = { 0 };
    bool pushed;
    gpul_status status = gpul__enter(module->device, &pushed, "gpul_module_global");
    if (status != GPUL_OK) return status;
    status = find(&found, module, name);
    gpul__leave(module->device, pushed);
    if (status != GPUL_OK) return status;
    if (address) *address = found.address;
    if (size) *size = found.size;
    return GPUL_OK;
}

/* The variable as a buffer; with the context current. */
static gpul_status as_buffer(gpul_buffer **out, gpul_module *module, const char *name,
                             const gpul_alloc_opts *opts)
{
    variable found = { 0 };
    gpul_status status = find(&found, module, name);
    if (status != GPUL_OK) return status;
    gpul_device *device = module->device;
    unsigned managed = 0;
    CUresult result = gpul__api(device)->PointerGetAttribute(
        &managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, found.address);
    if (result != CUDA_SUCCESS) managed = 0;
    const gpul_alloc_opts as = { .type = opts ? opts->type : GPUL_TYPE_UNKNOWN,
                                 .name = opts && opts->name ? opts->name : name,
                                 .memory = managed ? GPUL_MEMORY_MANAGED : GPUL_MEMORY_FOREIGN };
    gpul_buffer *buffer = gpul__buffer_new(device, found.size, &as);
    if (!buffer) return gpul__no_memory();
    buffer->address = found.address;
    if (managed) buffer->host = (void *)(uintptr_t)found.address;
    gpul__module_take(module);
    buffer->module = module;
    gpul__buffer_keep(buffer);
    *out = buffer;
    return GPUL_OK;
}

gpul_status gpul_module_variable(gpul_buffer **out, gpul_module *module, const char *name,
                                 const gpul_alloc_opts *opts)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(module);
    GPUL__NEED(name);
    if (opts && (unsigned)opts->type > GPUL_OTHER)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_module_variable"),
                          "type is %d, which is none of gpul_type", (int)opts->type);
    bool pushed;
    gpul_status status = gpul__enter(module->device, &pushed, "gpul_module_variable");
    if (status != GPUL_OK) return status;
    status = as_buffer(out, module, name, opts);
    gpul__leave(module->device, pushed);
    return status;
}

/* Copies in one direction: `source` or `destination` is NULL. */
static gpul_status transfer(gpul_module *module, const char *name, size_t offset,
                            const void *source, void *destination, size_t size, const char *call)
{
    gpul_device *device = module->device;
    variable found = { 0 };
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, call);
    if (status != GPUL_OK) return status;
    status = find(&found, module, name);
    CUresult result = CUDA_SUCCESS;
    const char *entry = source ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync";
    if (status == GPUL_OK && (offset > found.size || size > found.size - offset)) {
        status = gpul__fail(GPUL__SYMBOL_RANGE, (.call = call),
                            "%zu bytes at offset %zu lie outside '%s', which has %zu bytes", size,
                            offset, name, found.size);
    } else if (status == GPUL_OK && size) {
        const gpul__driver *driver = gpul__api(device);
        CUdeviceptr at = found.address + offset;
        result = source ? driver->MemcpyHtoDAsync(at, source, size, device->stream)
                        : driver->MemcpyDtoHAsync(destination, at, size, device->stream);
        if (result == CUDA_SUCCESS) {
            entry = "cuStreamSynchronize";
            result = gpul__stream_wait(device, device->stream, 0);
        }
    }
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return gpul__refused(device,
                             &(gpul__refusal){ GPUL__MEMORY_FAILED, result, entry, NULL, 0 },
                             "%s of '%s'", call, name);
    return status;
}

gpul_status gpul_global_write(gpul_module *module, const char *name, size_t offset,
                              const void *source, size_t size)
{
    GPUL__NEED(module);
    GPUL__NEED(name);
    if (size) GPUL__NEED(source);
    return transfer(module, name, offset, source ? source : "", NULL, size, "gpul_global_write");
}

gpul_status gpul_global_read(void *destination, gpul_module *module, const char *name,
                             size_t offset, size_t size)
{
    GPUL__NEED(module);
    GPUL__NEED(name);
    if (size) GPUL__NEED(destination);
    return transfer(module, name, offset, NULL, destination, size, "gpul_global_read");
}
