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
    global->element = NULL;
    if (!global->name || !global->symbol) return false;
    image->global_count++;
    return true;
}

/* After the words that may stand before a variable's type. */
static size_t after_specifiers(const gpul__tokens *tokens, size_t i, size_t end)
{
    static const char *const words[] = { "static",     "inline",       "extern",      "constexpr",
                                         "__device__", "__constant__", "__managed__", "volatile" };
    for (bool found = true; found && i < end;) {
        found = tokens->items[i].kind == GPUL__TOKEN_STRING; /* extern "C" */
        for (size_t w = 0; !found && w < sizeof words / sizeof *words; w++)
            found = gpul__token_is(tokens, i, words[w]);
        i += found;
    }
    return i;
}

/* What one element of a variable is, from the text of its type.  The compiler's size must be a multiple of
 * the element's, and equal to the whole where every dimension is a number: else the text was misread. */
static bool fill_element(gpul_global_info *global, const gpul__type_book *book, const char *type)
{
    gpul__type_text text;
    gpul_member whole = { .name = "" }, *element;
    if (!gpul__type_fill(&whole, book, type, 0) ||
        !gpul__type_text_read(&text, book->arena, type) ||
        !(element = gpul__arena_alloc(book->arena, sizeof *element)))
        return false;
    *element = (gpul_member){ .name = "" };
    if (!gpul__type_fill(element, book, text.pointee ? type : text.base, 0)) return false;
    element->type_name = text.pointee ? type : text.base;
    bool known = element->type != GPUL_TYPE_UNKNOWN && element->type != GPUL_OTHER &&
                 element->count == 1 && element->size && global->size % element->size == 0 &&
                 (!whole.size || whole.size == global->size);
    if (known) global->element = element;
    return true;
}

/* Finds the declaration of a variable. */
static bool find_type(gpul_global_info *global, const gpul__signature_input *input,
                      const gpul__type_book *book)
{
    const gpul__scan *scan = input->scan;
    bool ok = true;
    for (size_t i = 0; ok && scan && i < scan->count && !global->element; i++) {
        const gpul__decl *decl = &scan->decls[i];
        size_t scope = strlen(decl->scope);
        if (decl->kind != GPUL__DECLARED_VARIABLE || !(decl->is_device || decl->is_constant) ||
            decl->is_template || decl->uncertain || strncmp(global->name, decl->scope, scope) != 0)
            continue;
        gpul__declarators declared = { 0 };
        ok = gpul__scan_members(&declared, book->arena, input->tokens,
                                after_specifiers(input->tokens, decl->first, decl->end), decl->end,
                                false);
        for (size_t k = 0; ok && !declared.uncertain && k < declared.count; k++)
            if (strcmp(declared.items[k].name, global->name + scope) == 0)
                ok = fill_element(global, book, declared.items[k].type);
        gpul__free(declared.items);
    }
    return ok;
}

bool gpul__signature_variables(gpul_image *image, const gpul__signature_input *input,
                               const gpul__type_book *book)
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
    for (size_t i = 0; ok && i < image->global_count; i++)
        ok = find_type(&image->globals[i], input, book);
    return ok;
}
