/* Tests: modules, kernels, libraries and the linker of the recording provider, and the JIT options they were given.
 * SPDX-License-Identifier: MIT */
#include "driver/record_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gpul__record_jit last_jit;
static struct {
    bool planned;
    CUresult result;
    char info_log[4096], error_log[4096];
} answer;

/* ---- JIT options ---------------------------------------------------------------------------- */

/* Where the logs of one load go, and how much of them was filled. */
struct logs {
    char *info, *error;
    size_t info_size, error_size;
    void **info_used, **error_used, **wall;
};

static int number(void *value)
{
    return (int)(uintptr_t)value;
}

static CUresult decode(gpul__record_jit *jit, struct logs *logs, unsigned count,
                       const CUjit_option *options, void **values)
{
    *jit = (gpul__record_jit){ -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, .options = count };
    *logs = (struct logs){ 0 };
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_MAX_REGISTERS: jit->max_registers = number(values[i]); break;
        case CU_JIT_THREADS_PER_BLOCK: jit->threads_per_block = number(values[i]); break;
        case CU_JIT_OPTIMIZATION_LEVEL: jit->optimization_level = number(values[i]); break;
        case CU_JIT_TARGET_FROM_CUCONTEXT: jit->target_from_context = 1; break;
        case CU_JIT_TARGET: jit->target = number(values[i]); break;
        case CU_JIT_FALLBACK_STRATEGY: jit->fallback = number(values[i]); break;
        case CU_JIT_GENERATE_DEBUG_INFO: jit->debug = number(values[i]); break;
        case CU_JIT_LOG_VERBOSE: jit->verbose = number(values[i]); break;
        case CU_JIT_GENERATE_LINE_INFO: jit->line_info = number(values[i]); break;
        case CU_JIT_CACHE_MODE: jit->cache_mode = number(values[i]); break;
        case CU_JIT_INFO_LOG_BUFFER:
            logs->info = values[i];
            jit->info_log = true;
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            logs->error = values[i];
            jit->error_log = true;
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_log_size = (long)(uintptr_t)values[i];
            logs->info_size = (size_t)(uintptr_t)values[i];
            logs->info_used = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_log_size = (long)(uintptr_t)values[i];
            logs->error_size = (size_t)(uintptr_t)values[i];
            logs->error_used = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            logs->wall = &values[i];
            jit->wall_time = true;
            break;
        default: REQUIRE(options[i] <= CU_JIT_SPLIT_COMPILE, CUDA_ERROR_INVALID_VALUE);
        }
    }
    REQUIRE(jit->optimization_level <= 4, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

static void write_log(char *buffer, size_t size, void **used, const char *text)
{
    size_t length = strlen(text);
    if (buffer && size) {
        if (length > size - 1) length = size - 1;
        memcpy(buffer, text, length);
        buffer[length] = 0;
    }
    if (used) *used = (void *)(uintptr_t)(length ? length + 1 : 0);
}

static void write_logs(const struct logs *logs, const char *info, const char *error,
                       float milliseconds)
{
    write_log(logs->info, logs->info_size, logs->info_used, info);
    write_log(logs->error, logs->error_size, logs->error_used, error);
    if (!logs->wall) return;
    uint32_t bits;
    memcpy(&bits, &milliseconds, sizeof bits);
    *logs->wall = (void *)(uintptr_t)bits;
}

const gpul__record_jit *gpul__record_last_jit(void)
{
    return &last_jit;
}

void gpul__record_forget_jit(void)
{
    memset(&answer, 0, sizeof answer);
    last_jit = (gpul__record_jit){ 0 };
}

void gpul__record_jit_answer(CUresult result, const char *info_log, const char *error_log)
{
    LOCKED;
    answer.planned = result != CUDA_SUCCESS || info_log || error_log;
    answer.result = result;
    snprintf(answer.info_log, sizeof answer.info_log, "%s", info_log ? info_log : "");
    snprintf(answer.error_log, sizeof answer.error_log, "%s", error_log ? error_log : "");
}

/* ---- Loading -------------------------------------------------------------------------------- */

/* The newest PTX that a driver of this CUDA version reads: 90 is 9.0. */
static int newest_ptx(int version)
{
    static const int minor_of_12[] = { 80, 81, 82, 83, 84, 85, 85, 86, 87, 88 };
    int major = version / 1000, minor = version % 1000 / 10;
    if (major >= 13) return 90 + minor;
    if (major == 12) return minor_of_12[minor < 10 ? minor : 9];
    return 70 + minor;
}

/* Whether the image runs on the device, with the driver's error log. */
static CUresult judge(const struct record_image *image, char *error, size_t size)
{
    int capability = gpul__record.config.compute_capability;
    int newest = newest_ptx(gpul__record.config.driver_version);
    *error = 0;
    if (image->cubin) {
        bool fits = image->target / 10 == capability / 10 && image->target <= capability;
        return fits ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (image->version > newest) {
        snprintf(
            error, size,
            "ptxas application ptx input, line 1; fatal   : Unsupported .version %d.%d; current "
            "version is '%d.%d'\n",
            image->version / 10, image->version % 10, newest / 10, newest % 10);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (image->target > capability) {
        snprintf(
            error, size,
            "ptxas fatal   : SM version specified by .target is higher than default SM version "
            "assumed\n");
        return CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

static void tell_of_kernels(const struct record_image *image, char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < image->kernel_count && length < size; i++)
        length += (size_t)snprintf(
            text + length, size - length,
            "ptxas info    : Compiling entry function '%s' for 'sm_%da'\n"
            "ptxas info    : Function properties for %s\n"
            "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used 32 registers, used 0 barriers\n",
            image->kernels[i].name, gpul__record.config.compute_capability, image->kernels[i].name);
}

/* Reads an image and answers as the driver's loader does. */
static CUresult load(struct record_image *image, const void *bytes, unsigned count,
                     const CUjit_option *options, void **values)
{
    char info[4096] = "", error[1024] = "";
    struct logs logs;
    REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    CUresult result = decode(&last_jit, &logs, count, options, values);
    if (result != CUDA_SUCCESS) return result;
    bool read = gpul__record_image_read(image, bytes);
    if (answer.planned) {
        write_logs(&logs, answer.info_log, answer.error_log, 1.5f);
        result = answer.result;
    } else if (!read) {
        write_logs(&logs, "", "", 0);
        result = CUDA_ERROR_INVALID_IMAGE;
    } else {
        result = judge(image, error, sizeof error);
        bool compiled = image->ptx && result == CUDA_SUCCESS;
        if (compiled && last_jit.verbose > 0) tell_of_kernels(image, info, sizeof info);
        write_logs(&logs, info, error, compiled ? 1.5f : 0);
    }
    last_jit.ptx = image->ptx;
    last_jit.cubin = image->cubin;
    if (result != CUDA_SUCCESS) gpul__record_image_free(image);
    else if (!read) result = CUDA_ERROR_INVALID_IMAGE;
    return result;
}

/* A module's functions and variables are objects of their own. */
static bool furnish(struct module *module, struct context *context)
{
    const struct record_image *image = &module->image;
    for (size_t i = 0; i < image->kernel_count; i++) {
        struct function *f = gpul__record_new(FUNCTION, sizeof *f, context);
        if (!f) return false;
        const struct record_kernel *kernel = &image->kernels[i];
        f->module = module;
        f->kernel = kernel;
        f->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] =
            kernel->max_threads ? (int)kernel->max_threads : 1024;
        f->attributes[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)kernel->shared;
        f->attributes[CU_FUNC_ATTRIBUTE_NUM_REGS] = 32;
        f->attributes[CU_FUNC_ATTRIBUTE_PTX_VERSION] = image->ptx ? image->target : 0;
        f->attributes[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = gpul__record.config.compute_capability;
        f->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] =
            gpul__record.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] -
            (int)kernel->shared;
        f->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
        for (int axis = 0; axis < 3; axis++)
            f->attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + axis] =
                (int)kernel->cluster[axis];
    }
    for (size_t i = 0; i < image->variable_count; i++)
        if (!gpul__record_memory_wrap(context, GLOBAL, image->variables[i].data,
                                      image->variables[i].size))
            return false;
    return true;
}

static bool is_variable_of(const struct module *module, const unsigned char *data)
{
    for (size_t i = 0; i < module->image.variable_count; i++)
        if (module->image.variables[i].data == data) return true;
    return false;
}

void gpul__record_module_free(struct module *module)
{
    struct function *f, *next_function;
    for (f = gpul__record_next(FUNCTION, NULL); f; f = next_function) {
        next_function = gpul__record_next(FUNCTION, f);
        if (f->module == module) gpul__record_drop(f);
    }
    struct memory *m, *next_memory;
    for (m = gpul__record_next(MEMORY, NULL); m; m = next_memory) {
        next_memory = gpul__record_next(MEMORY, m);
        if (m->kind == GLOBAL && is_variable_of(module, m->data)) gpul__record_drop(m);
    }
    if (module->library) module->library->module = NULL; /* which keeps the image */
    else gpul__record_image_free(&module->image);
    gpul__record_drop(module);
}

/* Of its own without a library; with one, whose image it borrows. */
static CUresult make_module(struct module **out, struct record_image *image,
                            struct library *library, struct context *context)
{
    struct module *module = gpul__record_new(MODULE, sizeof *module, context);
    if (!module) {
        if (!library) gpul__record_image_free(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->image = *image;
    module->library = library;
    if (!furnish(module, context)) {
        gpul__record_module_free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = module;
    return CUDA_SUCCESS;
}

CUresult gpul__record_ModuleLoadDataEx(CUmodule *out, const void *bytes, unsigned count,
                                       CUjit_option *options, void **values)
{
    ENTER;
    struct record_image image;
    struct module *module = NULL;
    CUresult result = load(&image, bytes, count, options, values);
    if (result == CUDA_SUCCESS) result = make_module(&module, &image, NULL, context);
    if (result == CUDA_SUCCESS) *out = (CUmodule)module;
    return result;
}

CUresult gpul__record_ModuleUnload(CUmodule handle)
{
    ENTER;
    struct module *module = gpul__record_find(MODULE, handle);
    REQUIRE(module && !module->library, CUDA_ERROR_INVALID_HANDLE);
    gpul__record_module_free(module);
    return CUDA_SUCCESS;
}

CUresult gpul__record_ModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

static CUresult function_named(CUfunction *out, struct module *module, const char *name)
{
    for (struct function *f = NULL; (f = gpul__record_next(FUNCTION, f));) {
        if (f->module != module || strcmp(f->kernel->name, name) != 0) continue;
        *out = (CUfunction)f;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult gpul__record_ModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    ENTER;
    struct module *module = gpul__record_find(MODULE, handle);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(name && *name, CUDA_ERROR_INVALID_VALUE);
    return function_named(out, module, name);
}

CUresult gpul__record_ModuleGetFunctionCount(unsigned *count, CUmodule handle)
{
    ENTER;
    struct module *module = gpul__record_find(MODULE, handle);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    *count = (unsigned)module->image.kernel_count;
    return CUDA_SUCCESS;
}

CUresult gpul__record_ModuleEnumerateFunctions(CUfunction *functions, unsigned count,
                                               CUmodule handle)
{
    ENTER;
    struct module *module = gpul__record_find(MODULE, handle);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    for (size_t i = 0; i < count && i < module->image.kernel_count; i++) {
        CUresult result = function_named(&functions[i], module, module->image.kernels[i].name);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

static CUresult variable_named(CUdeviceptr *address, size_t *bytes,
                               const struct record_image *image, const char *name)
{
    for (size_t i = 0; i < image->variable_count; i++) {
        if (strcmp(image->variables[i].name, name) != 0) continue;
        if (address) *address = (uintptr_t)image->variables[i].data;
        if (bytes) *bytes = image->variables[i].size;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult gpul__record_ModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                                      const char *name)
{
    ENTER;
    struct module *module = gpul__record_find(MODULE, handle);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    return variable_named(address, bytes, &module->image, name);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

struct function *gpul__record_function(CUfunction handle)
{
    return gpul__record_find(FUNCTION, handle);
}

CUresult gpul__record_FuncGetAttribute(int *value, CUfunction_attribute attribute,
                                       CUfunction handle)
{
    ENTER;
    struct function *f = gpul__record_function(handle);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
            CUDA_ERROR_INVALID_VALUE);
    *value = f->attributes[attribute];
    return CUDA_SUCCESS;
}

CUresult gpul__record_FuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    ENTER;
    struct function *f = gpul__record_function(handle);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        REQUIRE(
            value >= 0 &&
                value <=
                    gpul__record.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] -
                        (int)f->kernel->shared,
            CUDA_ERROR_INVALID_VALUE);
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        REQUIRE(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    f->attributes[attribute] = value;
    return CUDA_SUCCESS;
}

CUresult gpul__record_FuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    ENTER;
    REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
    return gpul__record_function(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult gpul__record_FuncGetModule(CUmodule *module, CUfunction handle)
{
    ENTER;
    struct function *f = gpul__record_function(handle);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    *module = (CUmodule)f->module;
    return CUDA_SUCCESS;
}

CUresult gpul__record_FuncGetName(const char **name, CUfunction handle)
{
    ENTER;
    struct function *f = gpul__record_function(handle);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    *name = f->kernel->name;
    return CUDA_SUCCESS;
}

static CUresult param_info(const struct record_kernel *kernel, size_t index, size_t *offset,
                           size_t *size)
{
    REQUIRE(offset && index < kernel->param_count, CUDA_ERROR_INVALID_VALUE);
    *offset = kernel->params[index].offset;
    if (size) *size = kernel->params[index].size;
    return CUDA_SUCCESS;
}

CUresult gpul__record_FuncGetParamInfo(CUfunction handle, size_t index, size_t *offset,
                                       size_t *size)
{
    ENTER;
    struct function *f = gpul__record_function(handle);
    REQUIRE(f, CUDA_ERROR_INVALID_HANDLE);
    return param_info(f->kernel, index, offset, size);
}

CUresult gpul__record_FuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    ENTER;
    REQUIRE(gpul__record_function(handle), CUDA_ERROR_INVALID_HANDLE);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult gpul__record_FuncLoad(CUfunction handle)
{
    ENTER;
    return gpul__record_function(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- Libraries: one module each, made in the first context that asks ------------------------- */

void gpul__record_library_free(struct library *library)
{
    if (library->module) gpul__record_module_free(library->module);
    gpul__record_image_free(&library->image);
    gpul__record_drop(library);
}

CUresult gpul__record_LibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit_options,
                                      void **jit_values, unsigned jit_count,
                                      CUlibraryOption *options, void **values, unsigned count)
{
    (void)options;
    (void)values;
    LOCKED;
    REQUIRE(count <= 2, CUDA_ERROR_INVALID_VALUE);
    struct record_image image;
    CUresult result = load(&image, code, jit_count, jit_options, jit_values);
    if (result != CUDA_SUCCESS) return result;
    struct library *library = gpul__record_new(LIBRARY, sizeof *library, NULL);
    if (!library) {
        gpul__record_image_free(&image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->image = image;
    *out = (CUlibrary)library;
    return CUDA_SUCCESS;
}

CUresult gpul__record_LibraryUnload(CUlibrary handle)
{
    LOCKED;
    struct library *library = gpul__record_find(LIBRARY, handle);
    REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    gpul__record_library_free(library);
    return CUDA_SUCCESS;
}

CUresult gpul__record_LibraryGetModule(CUmodule *out, CUlibrary handle)
{
    ENTER;
    struct library *library = gpul__record_find(LIBRARY, handle);
    REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    if (!library->module) {
        struct module *module = NULL;
        CUresult result = make_module(&module, &library->image, library, context);
        if (result != CUDA_SUCCESS) return result;
        library->module = module;
    }
    *out = (CUmodule)library->module;
    return CUDA_SUCCESS;
}

/* A kernel's handle is its row in the image. */
static const struct record_kernel *kernel_of(CUkernel handle, struct library **library)
{
    for (struct library *l = NULL; (l = gpul__record_next(LIBRARY, l));)
        for (size_t i = 0; i < l->image.kernel_count; i++)
            if ((CUkernel)(void *)&l->image.kernels[i] == handle) {
                if (library) *library = l;
                return &l->image.kernels[i];
            }
    return NULL;
}

CUresult gpul__record_LibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
    LOCKED;
    struct library *library = gpul__record_find(LIBRARY, handle);
    REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    for (size_t i = 0; i < library->image.kernel_count; i++) {
        if (strcmp(library->image.kernels[i].name, name) != 0) continue;
        *out = (CUkernel)(void *)&library->image.kernels[i];
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult gpul__record_LibraryGetKernelCount(unsigned *count, CUlibrary handle)
{
    LOCKED;
    struct library *library = gpul__record_find(LIBRARY, handle);
    REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    *count = (unsigned)library->image.kernel_count;
    return CUDA_SUCCESS;
}

CUresult gpul__record_LibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary handle)
{
    LOCKED;
    struct library *library = gpul__record_find(LIBRARY, handle);
    REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    for (size_t i = 0; i < count && i < library->image.kernel_count; i++)
        kernels[i] = (CUkernel)(void *)&library->image.kernels[i];
    return CUDA_SUCCESS;
}

CUresult gpul__record_LibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary handle,
                                       const char *name)
{
    CUmodule module;
    CUresult result = gpul__record_LibraryGetModule(&module, handle);
    return result == CUDA_SUCCESS ? gpul__record_ModuleGetGlobal(address, bytes, module, name)
                                  : result;
}

CUresult gpul__record_KernelGetFunction(CUfunction *out, CUkernel handle)
{
    LOCKED;
    struct library *library;
    CUmodule module;
    const struct record_kernel *kernel = kernel_of(handle, &library);
    REQUIRE(kernel, CUDA_ERROR_INVALID_HANDLE);
    CUresult result = gpul__record_LibraryGetModule(&module, (CUlibrary)library);
    return result == CUDA_SUCCESS ? gpul__record_ModuleGetFunction(out, module, kernel->name)
                                  : result;
}

CUresult gpul__record_KernelGetName(const char **name, CUkernel handle)
{
    LOCKED;
    const struct record_kernel *kernel = kernel_of(handle, NULL);
    REQUIRE(kernel, CUDA_ERROR_INVALID_HANDLE);
    *name = kernel->name;
    return CUDA_SUCCESS;
}

CUresult gpul__record_KernelGetParamInfo(CUkernel handle, size_t index, size_t *offset,
                                         size_t *size)
{
    LOCKED;
    const struct record_kernel *kernel = kernel_of(handle, NULL);
    REQUIRE(kernel, CUDA_ERROR_INVALID_HANDLE);
    return param_info(kernel, index, offset, size);
}

/* ---- The linker: its result is the last PTX or CUBIN that was added -------------------------- */

struct link {
    struct object object;
    char *image;
    size_t size;
    struct logs logs;
};

void gpul__record_link_free(void *pointer)
{
    struct link *link = pointer;
    free(link->image);
    gpul__record_drop(link);
}

CUresult gpul__record_LinkCreate(unsigned count, CUjit_option *options, void **values,
                                 CUlinkState *out)
{
    ENTER;
    struct logs logs;
    CUresult result = decode(&last_jit, &logs, count, options, values);
    if (result != CUDA_SUCCESS) return result;
    struct link *link = gpul__record_new(LINK, sizeof *link, NULL);
    REQUIRE(link, CUDA_ERROR_OUT_OF_MEMORY);
    link->logs = logs;
    *out = (CUlinkState)link;
    return CUDA_SUCCESS;
}

CUresult gpul__record_LinkAddData(CUlinkState handle, CUjitInputType type, void *data, size_t size,
                                  const char *name, unsigned count, CUjit_option *options,
                                  void **values)
{
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    ENTER;
    struct link *link = gpul__record_find(LINK, handle);
    REQUIRE(link, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(data && size && type <= CU_JIT_INPUT_NVVM, CUDA_ERROR_INVALID_VALUE);
    char *copy = malloc(size + 1);
    REQUIRE(copy, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(copy, data, size);
    copy[size] = 0;
    free(link->image);
    link->image = copy;
    link->size = size;
    return CUDA_SUCCESS;
}

CUresult gpul__record_LinkComplete(CUlinkState handle, void **cubin, size_t *size)
{
    ENTER;
    struct link *link = gpul__record_find(LINK, handle);
    REQUIRE(link && link->image, CUDA_ERROR_INVALID_HANDLE);
    write_logs(&link->logs, answer.info_log, answer.error_log, 1.5f);
    if (answer.planned && answer.result != CUDA_SUCCESS) return answer.result;
    *cubin = link->image;
    if (size) *size = link->size;
    return CUDA_SUCCESS;
}

CUresult gpul__record_LinkDestroy(CUlinkState handle)
{
    LOCKED;
    struct link *link = gpul__record_find(LINK, handle);
    REQUIRE(link, CUDA_ERROR_INVALID_HANDLE);
    gpul__record_link_free(link);
    return CUDA_SUCCESS;
}
