/* The __device__ and __constant__ variables of an image.  SPDX-License-Identifier: MIT */
#include "core/signature.h"

#include <string.h>

/* String literals, jump tables and the like are the compiler's own. */
static bool is_users(const char *symbol)
{
    return !strchr(symbol, '$') && strncmp(symbol, "__unnamed", 9) != 0 &&
           strncmp(symbol, "__const", 7) != 0 && strncmp(symbol, "_ZTV", 4) != 0 &&
           strncmp(symbol, "_ZZ", 3) != 0;
}

/* Those of CUDA's own C++ headers, which no program writes to. */
static bool is_library(const char *name)
{
    static const char *const scopes[] = { "cuda::", "cub::",   "thrust::", "cooperative_groups::",
                                          "std::",  "nvcuda::" };
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (strncmp(name, scopes[i], strlen(scopes[i])) == 0) return true;
    return false;
}

static bool add(gpul_image *image, const char *symbol, uint64_t size, uint64_t align, bool constant)
{
    gpul__demangled name;
    if (!is_users(symbol)) return true;
    if (!gpul__demangle(&name, &image->arena, symbol)) return false;
    if (is_library(name.name)) return true;
    gpul_global_info *global = &image->globals[image->global_count];
    global->name = gpul__arena_strndup(&image->arena, name.name, strlen(name.name));
    global->symbol = gpul__arena_strndup(&image->arena, symbol, strlen(symbol));
    global->size = size;
    global->align = align;
    global->is_constant = constant;
    if (!global->name || !global->symbol) return false;
    image->global_count++;
    return true;
}

bool gpul__signature_variables(gpul_image *image, const gpul__signature_input *input)
{
    size_t count = input->ptx     ? input->ptx->global_count
                   : input->cubin ? input->cubin->global_count
                                  : 0;
    image->globals = gpul__arena_alloc(&image->arena, (count + 1) * sizeof *image->globals);
    if (!image->globals) return false;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        if (input->ptx) {
            const ptx_signature_global *g = &input->ptx->globals[i];
            bool here = g->space == PTX_SPACE_GLOBAL || g->space == PTX_SPACE_CONST;
            if (here && g->linkage != PTX_LINKAGE_EXTERN)
                ok = add(image, g->name, g->size, g->align, g->space == PTX_SPACE_CONST);
        } else {
            const gpul__cubin_global *g = &input->cubin->globals[i];
            ok = add(image, g->symbol, g->size, 0, g->is_constant);
        }
    }
    return ok;
}
