/* Skims a body for signatures: special registers, mentioned symbols and shared variables are told to
 * a listener, everything else is passed over.  SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <string.h>

static bool skim_shared(ptx_parser *parser)
{
    size_t first = parser->variables.count;
    if (!ptx_parse_locals(parser)) return false;
    for (size_t i = first; i < parser->variables.count; i++)
        parser->skim->shared(parser->skim->self, parser->function, parser->variables.items[i]);
    return true;
}

static bool skim_name(ptx_parser *parser)
{
    const ptx_skim *skim = parser->skim;
    const ptx_token token = parser->token;
    ptx_next(parser);
    if (*token.text == '%') {
        const ptx_word *word = ptx_word_find(token.text, token.length, token.hash);
        if (!word || !word->special) return true;
        const ptx_token *behind = &parser->token;
        const char *at = behind->kind == PTX_TOKEN_DOTTED && behind->length == 2
                             ? memchr("xyz", behind->text[1], 3)
                             : NULL;
        int component = at && word->special_components ? (int)(at - "xyz") : -1;
        skim->special(skim->self, parser->function, word, component);
        return true;
    }
    ptx_name *name = ptx_intern(&parser->symbols, token.text, token.length, token.hash);
    if (!name) return ptx_no_memory(parser) != NULL;
    const ptx_binding *binding = name->binding;
    bool told =
        binding && (binding->kind == PTX_BOUND_VARIABLE || binding->kind == PTX_BOUND_FUNCTION);
    if (told && !skim->symbol(skim->self, parser->function, binding))
        return ptx_no_memory(parser) != NULL;
    return true;
}

static bool skim_body(ptx_parser *parser)
{
    uint32_t depth = 0;
    bool statement = true; /* a statement begins here: `.shared` is then no modifier */
    for (;;) {
        const ptx_token *token = &parser->token;
        if (token->kind == PTX_TOKEN_END || token->kind == PTX_TOKEN_BAD)
            return ptx_syntax(parser, "expected `}` at the end of the function");
        if (token->kind == PTX_TOKEN_NAME) {
            if (!skim_name(parser)) return false;
            statement = false;
        } else if (statement && token->kind == PTX_TOKEN_DOTTED) {
            ptx_directive directive = ptx_directive_here(parser);
            bool fine = true;
            if (directive == PTX_DIRECTIVE_SHARED) fine = skim_shared(parser);
            else if (directive == PTX_DIRECTIVE_LOC) fine = ptx_parse_loc(parser);
            else if (directive == PTX_DIRECTIVE_FILE) fine = ptx_parse_file(parser);
            else {
                statement = false;
                ptx_next(parser);
            }
            if (!fine) return false;
        } else {
            char punct = token->kind == PTX_TOKEN_PUNCT ? token->punct : 0;
            if (punct == '}' && depth-- == 0) return true;
            if (punct == '{') depth++;
            statement = punct && strchr("{};:", punct);
            ptx_next(parser);
        }
    }
}

static bool nothing_to_seal(ptx_parser *parser, ptx_function *function)
{
    (void)parser, (void)function;
    return true;
}

const ptx_body_reader ptx_skimmed_bodies = { skim_body, nothing_to_seal };
