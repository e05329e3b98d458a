/* The driver's linker: PTX texts are gathered, and what comes out is an image of our own that the
 * loader of this device takes.  Symbols are resolved then.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/handle.h"
#include "cpu/image.h"
#include "cpu/library.h"

#include "base/alloc.h"
#include "base/file.h"

#include <string.h>

typedef struct cpu_link {
    CUlinkState handle;
    cpu_jit jit;
    cpu_text *texts;
    size_t count, capacity;
    void *image; /* of cuLinkComplete; the state's */
    struct cpu_link *next;
} cpu_link;

static cpu_link *links;

static void destroy(cpu_link *state)
{
    for (size_t i = 0; i < state->count; i++) gpul__free((void *)(uintptr_t)state->texts[i].text);
    gpul__free(state->texts);
    gpul__free(state->image);
    gpul__str_free(&state->jit.info);
    gpul__str_free(&state->jit.error);
    gpul__cpu_handle_drop(state->handle);
    gpul__free(state);
}

void gpul__cpu_links_free_all(void)
{
    while (links) {
        cpu_link *state = links;
        links = state->next;
        destroy(state);
    }
}

CUresult gpul__cpu_LinkCreate(unsigned int count, CUjit_option *options, void **values,
                              CUlinkState *out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    if (!out) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    cpu_link *state = gpul__calloc(1, sizeof *state);
    CUlinkState handle = state ? gpul__cpu_handle_new(CPU_LINK, state) : NULL;
    if (!handle) {
        gpul__free(state);
        return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    state->handle = handle;
    result = gpul__cpu_jit_begin(&state->jit, count, options, values);
    if (result) {
        destroy(state);
        return gpul__cpu_leave(result);
    }
    state->next = links;
    links = state;
    *out = handle;
    return gpul__cpu_leave(CUDA_SUCCESS);
}

static CUresult enter_link(CUlinkState handle, cpu_link **out)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    *out = gpul__cpu_handle_get(CPU_LINK, handle);
    return *out ? CUDA_SUCCESS : gpul__cpu_leave(CUDA_ERROR_INVALID_HANDLE);
}

static CUresult add_text(cpu_link *state, const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    unsigned major, minor, line;
    if (!gpul__cpu_ptx_version(text, length, &major, &minor, &line))
        return CUDA_ERROR_INVALID_IMAGE;
    if (state->count == CPU_MAX_TEXTS) return CUDA_ERROR_NOT_SUPPORTED;
    if (!gpul__grow(&state->texts, &state->capacity, state->count, sizeof *state->texts))
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *copy = gpul__strndup(text, length);
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    state->texts[state->count++] = (cpu_text){ copy, length };
    return CUDA_SUCCESS;
}

/* Options of single inputs have no meaning here: `count` must be 0. */
CUresult gpul__cpu_LinkAddData(CUlinkState handle, CUjitInputType type, void *data, size_t size,
                               const char *name, unsigned int count, CUjit_option *options,
                               void **values)
{
    (void)options, (void)values;
    cpu_link *state;
    CUresult result = enter_link(handle, &state);
    if (result) return result;
    if (!data || size == 0 || state->image) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    if (count) return gpul__cpu_leave(CUDA_ERROR_NOT_SUPPORTED);
    if (type == CU_JIT_INPUT_PTX) return gpul__cpu_leave(add_text(state, data, size));
    gpul__str_printf(&state->jit.error,
                     "the CPU device links PTX only, and '%s' is something else\n",
                     name ? name : "an input");
    gpul__cpu_jit_write(&state->jit);
    return gpul__cpu_leave(type <= CU_JIT_INPUT_NVVM ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                     : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_LinkAddFile(CUlinkState handle, CUjitInputType type, const char *path,
                               unsigned int count, CUjit_option *options, void **values)
{
    char *bytes;
    size_t size;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    if (gpul__file_read(&bytes, &size, path)) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result =
        gpul__cpu_LinkAddData(handle, type, bytes, size, path, count, options, values);
    gpul__free(bytes);
    return result;
}

CUresult gpul__cpu_LinkComplete(CUlinkState handle, void **image, size_t *size)
{
    cpu_link *state;
    size_t length;
    CUresult result = enter_link(handle, &state);
    if (result) return result;
    if (!image || state->image || state->count == 0)
        return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    state->image = gpul__cpu_image_link(state->texts, state->count, &length);
    if (!state->image) return gpul__cpu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *image = state->image;
    if (size) *size = length;
    gpul__cpu_jit_end(&state->jit);
    return gpul__cpu_leave(CUDA_SUCCESS);
}

CUresult gpul__cpu_LinkDestroy(CUlinkState handle)
{
    cpu_link *state;
    CUresult result = enter_link(handle, &state);
    if (result) return result;
    cpu_link **link = &links;
    while (*link != state) link = &(*link)->next;
    *link = state->next;
    destroy(state);
    return gpul__cpu_leave(CUDA_SUCCESS);
}
