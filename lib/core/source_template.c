/* An instance of a template that a user could ask for.  SPDX-License-Identifier: MIT */
#include "core/source_scan.h"

#include <string.h>

const char *gpul__template_example(gpul__arena *arena, const gpul__tokens *tokens,
                                   const gpul__decl *decl)
{
    const gpul__token *name = &tokens->items[decl->name];
    char *made = gpul__arena_printf(arena, "%s%.*s<", decl->scope, (int)name->length,
                                    tokens->text + name->offset);
    size_t count = 0, depth = 0;
    bool begins = true;
    for (size_t i = decl->template_first; i < decl->template_end && made; i++) {
        const char *at = tokens->text + tokens->items[i].offset;
        if (gpul__token_is(tokens, i, "...") || gpul__token_is(tokens, i, "template")) return "";
        if (strchr("<([{", *at)) depth++;
        else if (strchr(">)]}", *at) && depth) depth--;
        if (begins) {
            size_t end = i; /* a default makes this one and all behind it optional */
            while (end < decl->template_end && !gpul__token_is(tokens, end, ",") &&
                   !gpul__token_is(tokens, end, "="))
                end++;
            if (end < decl->template_end && gpul__token_is(tokens, end, "=")) break;
            bool is_type =
                gpul__token_is(tokens, i, "typename") || gpul__token_is(tokens, i, "class");
            const char *value = is_type                             ? "float"
                                : gpul__token_is(tokens, i, "bool") ? "true"
                                                                    : "1";
            made = gpul__arena_printf(arena, "%s%s%s", made, count++ ? ", " : "", value);
        }
        begins = !depth && *at == ',';
    }
    return made ? gpul__arena_printf(arena, "%s>", made) : NULL;
}
