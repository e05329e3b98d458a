/* Loading an image, and letting the module go.  SPDX-License-Identifier: MIT */
#include "core/module.h"

#include "core/context.h"
#include "core/device_failure.h"
#include "core/jit_keep.h"
#include "core/kernel.h"

static void destroy(gpul_module *module)
{
    gpul_device *device = module->device;
    bool pushed;
    if (module->handle && !module->adopted && gpul__enter_quietly(device, &pushed)) {
        gpul__api(device)->ModuleUnload(module->handle);
        gpul__leave(device, pushed);
    }
    while (module->kernels) {
        gpul_kernel *next = module->kernels->next;
        gpul__kernel_free(module->kernels);
        module->kernels = next;
    }
    pthread_mutex_destroy(&module->lock);
    gpul__arena_free(&module->arena);
    gpul_image_free(&module->image);
    gpul__free(module);
    gpul__device_drop(device);
}

static gpul_module *new_module(gpul_device *device, gpul_image *image)
{
    gpul_module *module = gpul__calloc(1, sizeof *module);
    if (!module) return NULL;
    if (pthread_mutex_init(&module->lock, NULL) != 0) {
        gpul__free(module);
        return NULL;
    }
    gpul__refs_init(&module->refs);
    gpul__device_take(device);
    gpul__image_take(image);
    module->device = device;
    module->image = image;
    return module;
}

/* Which form the device gets.  JIT options need PTX, or a fatbin, in which the driver finds it. */
static gpul_status choose(gpul__load *load, gpul__arena *arena)
{
    gpul__str wanted = { 0 };
    bool jit = gpul__load_wants_jit(load->opts, &wanted);
    gpul_status status =
        gpul__image_choose(&load->form, load->image, &load->device->info, jit, arena);
    if (status != GPUL_OK && jit && gpul_last_error()->code == GPUL__IMAGE_FORM)
        status = gpul__note("the JIT is needed for: %s", gpul__str_text(&wanted));
    gpul__str_free(&wanted);
    return status;
}

/* Machine code that was kept takes no options of the JIT; its log is that of the time when it was made.  What the driver refuses of
 * it is loaded as PTX after all. */
static gpul_status call_kept(gpul_module *module, gpul__load *load, const gpul__jit_kept *kept)
{
    static const gpul_load_opts none;
    gpul__load code = *load;
    code.opts = &none;
    code.form.format = GPUL_IMAGE_CUBIN;
    code.form.data = kept->code;
    code.form.size = kept->size;
    code.form.choice = kept->found
                           ? "machine code that the JIT made of the PTX before, from the cache"
                           : "machine code that the JIT made of the PTX, now in the cache";
    gpul_status status = gpul__load_call(&code, &module->arena);
    if (status != GPUL_OK) return status;
    if (code.result != CUDA_SUCCESS) return gpul__load_call(load, &module->arena);
    code.info_log = gpul__arena_strndup(&module->arena, kept->log, kept->log_size);
    code.opts = load->opts;
    code.jit_ms = kept->jit_ms;
    *load = code;
    if (load->info_log) return GPUL_OK;
    gpul__api(load->device)->ModuleUnload(load->module);
    return gpul__no_memory();
}

static gpul_status load_image(gpul_module *module, gpul__load *load)
{
    gpul_device *device = module->device;
    gpul_status status = gpul__load_check_options(load->opts, &device->info);
    if (status == GPUL_OK) status = choose(load, &module->arena);
    if (status != GPUL_OK) return status;
    gpul__jit_kept kept;
    gpul__jit_keep(&kept, load);
    bool pushed;
    status = gpul__enter(device, &pushed, "gpul_load");
    if (status == GPUL_OK) {
        status = kept.code ? call_kept(module, load, &kept) : gpul__load_call(load, &module->arena);
        gpul__leave(device, pushed);
    }
    gpul__free(kept.entry);
    if (status != GPUL_OK) return status;
    if (load->result != CUDA_SUCCESS) return gpul__load_refused(load);
    module->handle = load->module;
    module->info = (gpul_module_info){
        .format = load->form.format,
        .choice = load->form.choice ? load->form.choice : "",
        .info_log = load->info_log,
        .error_log = load->error_log,
        .jit_ms = load->jit_ms,
        .load_ns = load->load_ns,
    };
    gpul__log(GPUL_LOG_INFO, "load: %s (%.3f ms)", module->info.choice,
              (double)load->load_ns / 1e6);
    return GPUL_OK;
}

gpul_status gpul_load(gpul_module **out, gpul_device *device, gpul_image *image,
                      const gpul_load_opts *opts)
{
    static const gpul_load_opts defaults;
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(image);
    gpul_module *module = new_module(device, image);
    if (!module) return gpul__no_memory();
    gpul__load load = { .device = device, .image = image, .opts = opts ? opts : &defaults };
    gpul_status status = load_image(module, &load);
    if (status == GPUL_OK) *out = module;
    else destroy(module);
    return status;
}

gpul_status gpul_module_adopt(gpul_module **out, gpul_device *device, void *handle)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(handle);
    gpul_image *image = gpul__image_new();
    gpul_module *module = image ? new_module(device, image) : NULL;
    gpul_image_free(&image);
    if (!module) return gpul__no_memory();
    module->handle = handle;
    module->adopted = true;
    module->info = (gpul_module_info){ .choice = "adopted", .info_log = "", .error_log = "" };
    *out = module;
    return GPUL_OK;
}

void gpul_module_free(gpul_module **module)
{
    if (!module || !*module) return;
    if (gpul__refs_drop(&(*module)->refs)) destroy(*module);
    *module = NULL;
}

const gpul_module_info *gpul_module_describe(const gpul_module *module)
{
    return module ? &module->info : NULL;
}

void *gpul_module_handle(const gpul_module *module)
{
    return module ? module->handle : NULL;
}
