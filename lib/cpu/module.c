/* Loading modules.  SPDX-License-Identifier: MIT */
#include "cpu/module.h"

#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/function.h"
#include "cpu/handle.h"
#include "cpu/image.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local gpul__cpu_refusal refusal;

const gpul__cpu_refusal *gpul__cpu_last_refusal(void)
{
    return &refusal;
}

/* A load that is under way; all of it without the lock. */
struct load {
    cpu_module *module;
    cpu_image image;
    ptx_diags diags;
    cpu_jit *jit;
    const cpu_limits *limits;
};

/* ---- refusing --------------------------------------------------------------------------- */

static void cut(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

__attribute__((format(printf, 3, 4))) static CUresult refuse(struct load *load, CUresult result,
                                                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(refusal.sentence, sizeof refusal.sentence, format, args);
    va_end(args);
    refusal.result = result;
    if (*refusal.sentence) gpul__str_printf(&load->jit->error, "%s\n", refusal.sentence);
    return result;
}

/* The first message of the wanted severity becomes the refusal, all of them the log. */
static CUresult refuse_diags(struct load *load, CUresult result)
{
    const ptx_diags *diags = &load->diags;
    refusal.result = result;
    refusal.unsupported = diags->errors == 0 && diags->unsupported > 0;
    ptx_severity wanted = refusal.unsupported ? PTX_UNSUPPORTED : PTX_ERROR;
    for (size_t i = 0; i < diags->count; i++) {
        const ptx_diag *diag = &diags->items[i];
        if (diag->severity != wanted) continue;
        refusal.line = diag->line;
        cut(refusal.kernel, sizeof refusal.kernel, diag->function);
        cut(refusal.opcode, sizeof refusal.opcode, diag->opcode);
        cut(refusal.sentence, sizeof refusal.sentence, diag->text);
        break;
    }
    ptx_diags_render_log(diags, &load->jit->error);
    return result;
}

/* ---- parsing and compiling -------------------------------------------------------------- */

static CUresult check_version(struct load *load, const cpu_text *text)
{
    unsigned major, minor, line;
    gpul__cpu_ptx_version(text->text, text->length, &major, &minor, &line);
    if (major < CPU_PTX_MAJOR || (major == CPU_PTX_MAJOR && minor <= CPU_PTX_MINOR))
        return CUDA_SUCCESS;
    refusal.line = line;
    return refuse(load, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                  "ptxas application ptx input, line %u; fatal   : Unsupported .version %u.%u; "
                  "current version is '%d.%d'",
                  line, major, minor, CPU_PTX_MAJOR, CPU_PTX_MINOR);
}

/* PTX of a lower capability runs; that of one architecture (sm_90a) on that one alone, that of a family
 * (sm_100f) on the same and later members of it. */
static CUresult check_target(struct load *load, const ptx_module *parsed)
{
    unsigned target = parsed->target_sm;
    unsigned device = (unsigned)load->limits->capability;
    unsigned most = load->jit->target ? load->jit->target : device;
    if (target > most || target > device)
        return refuse(load, CUDA_ERROR_INVALID_PTX,
                      "ptxas fatal   : SM version specified by .target is higher than default SM "
                      "version assumed");
    if ((parsed->target_suffix == 'a' && target != device) ||
        (parsed->target_suffix == 'f' && target / 10 != device / 10))
        return refuse(load, CUDA_ERROR_INVALID_PTX,
                      "ptxas fatal   : PTX for %s does not run on a device of capability %u.%u",
                      parsed->target, device / 10, device % 10);
    return CUDA_SUCCESS;
}

static CUresult parse(struct load *load, const cpu_text *text)
{
    cpu_module *module = load->module;
    CUresult result = check_version(load, text);
    if (result) return result;
    ptx_module *parsed;
    switch (ptx_parse(&parsed, text->text, text->length, &load->diags)) {
    case PTX_OK: break;
    case PTX_INVALID: return refuse_diags(load, CUDA_ERROR_INVALID_PTX);
    case PTX_VERSION_TOO_NEW: return refuse_diags(load, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    case PTX_OUT_OF_MEMORY: return refuse(load, CUDA_ERROR_OUT_OF_MEMORY, "out of host memory");
    }
    module->parsed[module->parsed_count++] = parsed;
    if (parsed->target_sm > module->ptx_target) module->ptx_target = parsed->target_sm;
    return check_target(load, parsed);
}

/* ---- kernels that cannot run ------------------------------------------------------------ */

/* Where in the PTX that stands which keeps a kernel from running. */
static uint32_t refused_line(const ptx_diags *diags, const ptx_kernel_info *info)
{
    uint32_t line = 0;
    for (size_t i = 0; i < diags->count; i++) {
        const ptx_diag *diag = &diags->items[i];
        if (diag->severity != PTX_UNSUPPORTED || strcmp(diag->text, info->refusal) != 0) continue;
        bool own = diag->function && strcmp(diag->function, info->name) == 0;
        if (!line || own) line = diag->line;
        if (own) break;
    }
    return line;
}

/* A module is refused when it is loaded only if none of its kernels can run. */
static bool all_refused(const cpu_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (!module->functions[i].info.refused) return false;
    return module->function_count > 0;
}

bool gpul__cpu_function_refused(const cpu_function *function)
{
    const ptx_kernel_info *info = &function->info;
    if (!info->refused) return false;
    refusal = (gpul__cpu_refusal){ .result = CUDA_ERROR_NOT_SUPPORTED,
                                   .unsupported = true,
                                   .line = function->refused_line };
    cut(refusal.kernel, sizeof refusal.kernel, info->name);
    cut(refusal.sentence, sizeof refusal.sentence, info->refusal);
    const char *opcode = strrchr(info->refusal, ' ');
    cut(refusal.opcode, sizeof refusal.opcode, opcode ? opcode + 1 : "");
    return true;
}

static CUresult make_functions(cpu_module *module, unsigned max_registers, const ptx_diags *diags)
{
    size_t count = ptx_program_kernel_count(module->program);
    module->functions = gpul__calloc(count, sizeof *module->functions);
    if (!module->functions) return CUDA_ERROR_OUT_OF_MEMORY;
    module->function_count = count;
    for (size_t i = 0; i < count; i++) {
        cpu_function *function = &module->functions[i];
        function->module = module;
        function->kernel = ptx_program_kernel(module->program, i);
        ptx_kernel_describe(function->kernel, &function->info);
        if (function->info.refused) function->refused_line = refused_line(diags, &function->info);
        /* The estimate obeys the JIT's limit, as the registers of a GPU would. */
        if (max_registers && function->info.registers > max_registers)
            function->info.registers = max_registers;
        uint32_t max_threads = function->info.max_threads;
        function->max_threads =
            max_threads && max_threads < CPU_MAX_THREADS ? (int)max_threads : CPU_MAX_THREADS;
        uint32_t fixed = function->info.static_shared;
        function->max_dynamic_shared = fixed < CPU_SHARED_BLOCK ? CPU_SHARED_BLOCK - (int)fixed : 0;
        function->carveout = CU_SHAREDMEM_CARVEOUT_DEFAULT;
    }
    return CUDA_SUCCESS;
}

/* With CU_JIT_LOG_VERBOSE, in the words of the driver's JIT. */
static void write_info(struct load *load)
{
    const cpu_module *module = load->module;
    gpul__str *log = &load->jit->info;
    if (!load->jit->verbose) return;
    unsigned device = (unsigned)load->limits->capability;
    gpul__str_printf(log, "ptxas info    : %llu bytes gmem\n",
                     (unsigned long long)module->variable_bytes);
    for (size_t i = 0; i < module->function_count; i++) {
        const ptx_kernel_info *info = &module->functions[i].info;
        gpul__str_printf(log,
                         "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n"
                         "ptxas info    : Function properties for %s\n"
                         "    %u bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                         "ptxas info    : Used %u registers, %u bytes smem, %u bytes cmem[0]\n",
                         info->name, device, info->name, info->local, info->registers,
                         info->static_shared, info->constant + info->param_size);
    }
}

static CUresult compile(struct load *load, const void *bytes)
{
    cpu_module *module = load->module;
    unsigned device = (unsigned)load->limits->capability;
    refusal = (gpul__cpu_refusal){ 0 };
    if (load->jit->target > device)
        return refuse(load, CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "the JIT's target is sm_%u, and the device has capability %u.%u",
                      load->jit->target, device / 10, device % 10);
    CUresult result = gpul__cpu_image_open(&load->image, bytes, device);
    if (result) return refuse(load, result, "%s", load->image.reason);
    module->parsed = gpul__calloc(load->image.count, sizeof(ptx_module *));
    if (!module->parsed) return refuse(load, CUDA_ERROR_OUT_OF_MEMORY, "out of host memory");
    for (size_t i = 0; i < load->image.count; i++) {
        result = parse(load, &load->image.texts[i]);
        if (result) return result;
    }
    ptx_program_options options = { .owner = (uint64_t)(uintptr_t)&module->region,
                                    .defer_unsupported = true };
    switch (ptx_program_create(&module->program, gpul__cpu.engine, module->parsed,
                               module->parsed_count, &options, &load->diags)) {
    case PTX_OK: break;
    case PTX_OUT_OF_MEMORY:
        return refuse(load, CUDA_ERROR_OUT_OF_MEMORY, "out of memory for the module");
    default: return refuse_diags(load, CUDA_ERROR_INVALID_PTX);
    }
    for (size_t i = 0; i < ptx_program_global_count(module->program); i++) {
        ptx_global_info global;
        if (ptx_program_global(module->program, i, &global)) module->variable_bytes += global.size;
    }
    if (load->diags.errors) return refuse_diags(load, CUDA_ERROR_INVALID_PTX);
    result = make_functions(module, load->jit->max_registers, &load->diags);
    if (result) return refuse(load, result, "out of host memory");
    if (all_refused(module)) return refuse_diags(load, CUDA_ERROR_INVALID_PTX);
    write_info(load);
    return CUDA_SUCCESS;
}

/* ---- the object ------------------------------------------------------------------------- */

/* What a load has made so far; the lock is not needed while nobody else knows it. */
static void destroy(cpu_module *module)
{
    ptx_program_destroy(module->program);
    for (size_t i = 0; i < module->parsed_count; i++) ptx_module_free(module->parsed[i]);
    gpul__free(module->parsed);
    gpul__free(module->functions);
    gpul__free(module);
}

static bool make_handles(cpu_module *module)
{
    module->handle = gpul__cpu_handle_new(CPU_MODULE, module);
    for (size_t i = 0; module->handle && i < module->function_count; i++) {
        cpu_function *function = &module->functions[i];
        function->handle = gpul__cpu_handle_new(CPU_FUNCTION, function);
        if (!function->handle) return false;
    }
    return module->handle != NULL;
}

static void drop_handles(cpu_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        gpul__cpu_handle_drop(module->functions[i].handle);
    gpul__cpu_handle_drop(module->handle);
}

CUresult gpul__cpu_module_load(cpu_module **out, cpu_context *context, const void *image,
                               cpu_jit *jit)
{
    cpu_jit silent = { 0 };
    struct load load = { .jit = jit ? jit : &silent, .limits = gpul__cpu.limits };
    cpu_module *module = load.module = gpul__calloc(1, sizeof *module);
    if (!module) return CUDA_ERROR_OUT_OF_MEMORY;
    module->context = context;
    module->region =
        (cpu_region){ .kind = REGION_MODULE, .context = context, .device = context->device };
    context->pending++; /* keeps the context while the lock is given up */
    pthread_mutex_unlock(&gpul__cpu.lock);
    CUresult result = compile(&load, image);
    gpul__cpu_image_close(&load.image);
    ptx_diags_free(&load.diags);
    pthread_mutex_lock(&gpul__cpu.lock);
    context->pending--;
    pthread_cond_broadcast(&gpul__cpu.changed);
    if (!result && context->ending) result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!result && !make_handles(module)) {
        drop_handles(module);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!jit) {
        gpul__str_free(&silent.info);
        gpul__str_free(&silent.error);
    }
    if (result) {
        destroy(module);
        return result;
    }
    module->next = context->modules;
    context->modules = module;
    context->device->memory_used += module->variable_bytes;
    *out = module;
    return CUDA_SUCCESS;
}

void gpul__cpu_module_free(cpu_module *module)
{
    cpu_module **link = &module->context->modules;
    while (*link != module) link = &(*link)->next;
    *link = module->next;
    module->context->device->memory_used -= module->variable_bytes;
    drop_handles(module);
    destroy(module);
}

cpu_function *gpul__cpu_module_function(cpu_module *module, const char *name)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].info.name, name) == 0) return &module->functions[i];
    return NULL;
}

/* ---- entries ---------------------------------------------------------------------------- */

CUresult gpul__cpu_ModuleLoadDataEx(CUmodule *out, const void *image, unsigned int count,
                                    CUjit_option *options, void **values)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || !image) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_jit jit;
    cpu_module *module;
    result = gpul__cpu_jit_begin(&jit, count, options, values);
    if (!result) {
        result = gpul__cpu_module_load(&module, context, image, &jit);
        gpul__cpu_jit_end(&jit);
    } else {
        refusal = (gpul__cpu_refusal){ .result = result };
    }
    if (!result) *out = module->handle;
    return gpul__cpu_leave(result);
}

static CUresult enter_module(CUmodule handle, cpu_module **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_MODULE, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult gpul__cpu_ModuleUnload(CUmodule handle)
{
    cpu_module *module;
    CUresult result = enter_module(handle, &module);
    if (result) return result;
    result = gpul__cpu_wait_context(module->context);
    module = gpul__cpu_handle_get(CPU_MODULE, handle); /* another thread may have been faster */
    if (!result && !module) result = CUDA_ERROR_INVALID_HANDLE;
    if (!result) gpul__cpu_module_free(module);
    return gpul__cpu_leave_synchronised(result);
}

CUresult gpul__cpu_ModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    cpu_module *module;
    CUresult result = enter_module(handle, &module);
    if (result) return result;
    if (!out || !name) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_function *function = gpul__cpu_module_function(module, name);
    if (!function) return gpul__cpu_leave(CUDA_ERROR_NOT_FOUND);
    if (gpul__cpu_function_refused(function)) return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    *out = function->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_ModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                                   const char *name)
{
    cpu_module *module;
    CUresult result = enter_module(handle, &module);
    if (result) return result;
    ptx_global_info global;
    if (!name || (!address && !bytes)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!ptx_program_find_global(module->program, name, &global))
        return gpul__cpu_leave(CUDA_ERROR_NOT_FOUND);
    if (address) *address = global.address;
    if (bytes) *bytes = (size_t)global.size;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_ModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    if (mode) *mode = CU_MODULE_EAGER_LOADING;
    return gpul__cpu_leave(mode ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_ModuleGetFunctionCount(unsigned int *count, CUmodule handle)
{
    cpu_module *module;
    CUresult result = enter_module(handle, &module);
    if (result) return result;
    if (count) *count = (unsigned)module->function_count;
    return gpul__cpu_leave(count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_ModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
                                            CUmodule handle)
{
    cpu_module *module;
    CUresult result = enter_module(handle, &module);
    if (result) return result;
    if (!functions && count) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count && i < module->function_count; i++)
        functions[i] = module->functions[i].handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}
