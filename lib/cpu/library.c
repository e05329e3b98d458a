/* Libraries: images that are loaded into each context when a kernel of theirs is first used there.
 * SPDX-License-Identifier: MIT */
#include "cpu/library.h"

#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/function.h"
#include "cpu/handle.h"
#include "cpu/image.h"

#include "base/alloc.h"
#include "base/file.h"

#include <string.h>

typedef struct cpu_library cpu_library;

typedef struct cpu_kernel {
    CUkernel handle;
    cpu_library *library;
    char *name;
} cpu_kernel;

struct cpu_library {
    CUlibrary handle;
    void *image; /* our own copy */
    cpu_kernel *kernels;
    size_t kernel_count;
    cpu_library *next;
};

static cpu_library *libraries;

static void destroy(cpu_library *library)
{
    for (size_t i = 0; i < library->kernel_count; i++) {
        gpul__cpu_handle_drop(library->kernels[i].handle);
        gpul__free(library->kernels[i].name);
    }
    gpul__cpu_handle_drop(library->handle);
    gpul__free(library->kernels);
    gpul__free(library->image);
    gpul__free(library);
}

void gpul__cpu_libraries_free_all(void)
{
    while (libraries) {
        cpu_library *library = libraries;
        libraries = library->next;
        destroy(library);
    }
}

/* ---- the module of a library in a context ----------------------------------------------- */

static CUresult module_in(cpu_module **out, cpu_context *context, cpu_library *library,
                          cpu_jit *jit)
{
    for (cpu_module *module = context->modules; module; module = module->next)
        if (module->library == library->handle) {
            *out = module;
            return CUDA_SUCCESS;
        }
    CUlibrary handle = library->handle;
    CUresult result = gpul__cpu_module_load(out, context, library->image, jit);
    if (!result) (*out)->library = handle;
    return result;
}

CUresult gpul__cpu_function_find(cpu_function **out, cpu_context *context, CUfunction handle)
{
    *out = gpul__cpu_handle_get(CPU_FUNCTION, handle);
    if (*out) return CUDA_SUCCESS;
    cpu_kernel *kernel = gpul__cpu_handle_get(CPU_KERNEL, handle);
    if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
    cpu_module *module;
    CUresult result = module_in(&module, context, kernel->library, NULL);
    if (result) return result;
    kernel = gpul__cpu_handle_get(CPU_KERNEL, handle);
    *out = kernel ? gpul__cpu_module_function(module, kernel->name) : NULL;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- loading ---------------------------------------------------------------------------- */

static CUresult copy_image(void **out, const void *bytes)
{
    cpu_image image;
    CUresult result = gpul__cpu_image_open(&image, bytes, (unsigned)gpul__cpu.limits->capability);
    if (result) { /* the loader will say why */
        *out = NULL;
        return CUDA_SUCCESS;
    }
    size_t size;
    *out = gpul__cpu_image_link(image.texts, image.count, &size);
    gpul__cpu_image_close(&image);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool list_kernels(cpu_library *library, const cpu_module *module)
{
    library->kernels = gpul__calloc(module->function_count, sizeof *library->kernels);
    if (!library->kernels) return false;
    library->kernel_count = module->function_count;
    for (size_t i = 0; i < module->function_count; i++) {
        cpu_kernel *kernel = &library->kernels[i];
        kernel->library = library;
        kernel->name = gpul__strdup(module->functions[i].info.name);
        if (kernel->name) kernel->handle = gpul__cpu_handle_new(CPU_KERNEL, kernel);
        if (!kernel->handle) return false;
    }
    return true;
}

CUresult gpul__cpu_LibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit_options,
                                   void **jit_values, unsigned int jit_count,
                                   CUlibraryOption *options, void **values, unsigned int count)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out || !code || (count && (!options || !values)))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++)
        if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
            return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    cpu_jit jit;
    result = gpul__cpu_jit_begin(&jit, jit_count, jit_options, jit_values);
    if (result) return gpul__cpu_leave(result);
    cpu_library *library = gpul__calloc(1, sizeof *library);
    if (library) library->handle = gpul__cpu_handle_new(CPU_LIBRARY, library);
    result =
        library && library->handle ? copy_image(&library->image, code) : CUDA_ERROR_OUT_OF_MEMORY;
    cpu_module *module = NULL;
    if (!result)
        result =
            gpul__cpu_module_load(&module, context, library->image ? library->image : code, &jit);
    gpul__cpu_jit_end(&jit);
    if (!result && !list_kernels(library, module)) {
        gpul__cpu_module_free(module);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result) {
        if (library) destroy(library);
        return gpul__cpu_leave(result);
    }
    module->library = library->handle;
    library->next = libraries;
    libraries = library;
    *out = library->handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_LibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit_options,
                                       void **jit_values, unsigned int jit_count,
                                       CUlibraryOption *options, void **values, unsigned int count)
{
    char *bytes;
    size_t size;
    if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
    if (gpul__file_read(&bytes, &size, path)) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result = gpul__cpu_LibraryLoadData(out, bytes, jit_options, jit_values, jit_count,
                                                options, values, count);
    gpul__free(bytes);
    return result;
}

static CUresult enter_library(CUlibrary handle, cpu_library **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_LIBRARY, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
}

/* Unloads it from the current context; other contexts keep their module until they end. */
CUresult gpul__cpu_LibraryUnload(CUlibrary handle)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!gpul__cpu_handle_get(CPU_LIBRARY, handle))
        return gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
    CUcontext current = context->handle;
    result = gpul__cpu_wait_context(context);
    context = gpul__cpu_handle_get(CPU_CONTEXT, current);
    cpu_library *library = gpul__cpu_handle_get(CPU_LIBRARY, handle);
    if (result || !context || !library)
        return gpul__cpu_leave_synchronised(result ? result : CUDA_ERROR_INVALID_HANDLE);
    for (cpu_module *module = context->modules, *next; module; module = next) {
        next = module->next;
        if (module->library == handle) gpul__cpu_module_free(module);
    }
    cpu_library **link = &libraries;
    while (*link != library) link = &(*link)->next;
    *link = library->next;
    destroy(library);
    return gpul__cpu_leave_synchronised(CUDA_SUCCESS);
}

/* ---- what a library holds --------------------------------------------------------------- */

CUresult gpul__cpu_LibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
    cpu_library *library;
    CUresult result = enter_library(handle, &library);
    if (result) return result;
    if (!out || !name) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < library->kernel_count; i++)
        if (strcmp(library->kernels[i].name, name) == 0) {
            *out = library->kernels[i].handle;
            return gpul__cpu_leave(CUDA_SUCCESS);
        }
    return gpul__cpu_leave(CUDA_ERROR_NOT_FOUND);
}

CUresult gpul__cpu_LibraryGetKernelCount(unsigned int *count, CUlibrary handle)
{
    cpu_library *library;
    CUresult result = enter_library(handle, &library);
    if (result) return result;
    if (count) *count = (unsigned)library->kernel_count;
    return gpul__cpu_leave(count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_LibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary handle)
{
    cpu_library *library;
    CUresult result = enter_library(handle, &library);
    if (result) return result;
    if (!kernels && count) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count && i < library->kernel_count; i++)
        kernels[i] = library->kernels[i].handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

/* Enters with the library's module in the current context. */
static CUresult enter_library_module(CUlibrary handle, cpu_module **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_library *library = gpul__cpu_handle_get(CPU_LIBRARY, handle);
    result = library ? module_in(out, context, library, NULL) : CUDA_ERROR_INVALID_HANDLE;
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

CUresult gpul__cpu_LibraryGetModule(CUmodule *out, CUlibrary handle)
{
    cpu_module *module;
    CUresult result = enter_library_module(handle, &module);
    if (result) return result;
    if (out) *out = module->handle;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static CUresult find_global(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name,
                            bool managed)
{
    cpu_module *module;
    CUresult result = enter_library_module(handle, &module);
    if (result) return result;
    ptx_global_info global;
    if (!name || (!address && !bytes)) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!ptx_program_find_global(module->program, name, &global) || (managed && !global.managed))
        return gpul__cpu_leave(CUDA_ERROR_NOT_FOUND);
    if (address) *address = global.address;
    if (bytes) *bytes = (size_t)global.size;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_LibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                    const char *name)
{
    return find_global(address, bytes, library, name, false);
}

CUresult gpul__cpu_LibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                     const char *name)
{
    return find_global(address, bytes, library, name, true);
}

/* ---- kernels ---------------------------------------------------------------------------- */

static CUresult enter_kernel(CUkernel handle, cpu_kernel **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_KERNEL, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
}

/* Enters with the kernel's function in the current context. */
static CUresult enter_kernel_function(CUkernel handle, cpu_function **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    result = gpul__cpu_handle_get(CPU_KERNEL, handle)
                 ? gpul__cpu_function_find(out, context, (CUfunction)handle)
                 : CUDA_ERROR_INVALID_HANDLE;
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

CUresult gpul__cpu_KernelGetFunction(CUfunction *out, CUkernel handle)
{
    cpu_function *function;
    CUresult result = enter_kernel_function(handle, &function);
    if (result) return result;
    if (out) *out = function->handle;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_KernelGetLibrary(CUlibrary *out, CUkernel handle)
{
    cpu_kernel *kernel;
    CUresult result = enter_kernel(handle, &kernel);
    if (result) return result;
    if (out) *out = kernel->library->handle;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_KernelGetName(const char **out, CUkernel handle)
{
    cpu_kernel *kernel;
    CUresult result = enter_kernel(handle, &kernel);
    if (result) return result;
    if (out) *out = kernel->name;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_KernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size)
{
    cpu_function *function;
    CUresult result = enter_kernel_function(handle, &function);
    if (result) return result;
    if (!offset) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave(gpul__cpu_function_param(function, index, offset, size));
}

/* The attributes belong to the function in the current context; the device must be that context's. */
static CUresult enter_on_device(CUkernel handle, CUdevice device, cpu_function **out)
{
    CUresult result = enter_kernel_function(handle, out);
    if (result) return result;
    if (!gpul__cpu_device_at(device)) return gpul__cpu_leave(CUDA_ERROR_INVALID_DEVICE);
    if ((*out)->module->context->device->ordinal != device)
        return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_KernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle,
                                      CUdevice device)
{
    cpu_function *function;
    CUresult result = enter_on_device(handle, device, &function);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave(gpul__cpu_function_get(function, attribute, value));
}

CUresult gpul__cpu_KernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                                      CUdevice device)
{
    cpu_function *function;
    CUresult result = enter_on_device(handle, device, &function);
    if (result) return result;
    return gpul__cpu_leave(gpul__cpu_function_set(function, attribute, value));
}

CUresult gpul__cpu_KernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device)
{
    cpu_function *function;
    CUresult result = enter_on_device(handle, device, &function);
    if (result) return result;
    return gpul__cpu_leave((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE
                                                                         : CUDA_SUCCESS);
}
