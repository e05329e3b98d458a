/* The parser's entry: the module's header and items, tokens, messages and memory of all parser
 * files.  SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/float_mode.h"

/* ------------------------------------------------------------------ memory and messages */

void *ptx_no_memory(ptx_parser *parser)
{
    parser->stopped = parser->out_of_memory = true;
    return NULL;
}

void *ptx_parser_alloc(ptx_parser *parser, size_t count, size_t size)
{
    void *memory =
        count > SIZE_MAX / size ? NULL : gpul__arena_alloc(&parser->module->arena, count * size);
    return memory ? memory : ptx_no_memory(parser);
}

void *ptx_parser_copy(ptx_parser *parser, const void *items, size_t count, size_t size)
{
    if (!count) return NULL;
    void *copy = ptx_parser_alloc(parser, count, size);
    if (copy) memcpy(copy, items, count * size);
    return copy;
}

void ptx_parser_diag(ptx_parser *parser, ptx_severity severity, const char *at, uint32_t line,
                     uint32_t width, const char *text)
{
    enum { LONGEST = 240 };
    char function[LONGEST], opcode[LONGEST], source[LONGEST];
    if (parser->diags->count >= PTX_DIAG_LIMIT) {
        /* Only counted: finding the line again and again would take long. */
        ptx_diags_add(parser->diags, &(ptx_diag){ .severity = severity });
        return;
    }
    const char *begin = at, *end = at;
    while (begin > parser->lexer.start && begin[-1] != '\n') begin--;
    while (end < parser->lexer.end && *end != '\n' && *end != '\r') end++;
    uint32_t column = (uint32_t)(at - begin) + 1;
    snprintf(source, sizeof source, "%.*s", (int)(end - begin < LONGEST ? end - begin : LONGEST),
             begin);
    snprintf(opcode, sizeof opcode, "%.*s", (int)parser->spelling_length,
             parser->spelling ? parser->spelling : "");
    snprintf(function, sizeof function, "%s", parser->function ? parser->function->name : "");
    ptx_diags_add(parser->diags, &(ptx_diag){ .severity = severity,
                                              .line = line,
                                              .column = column,
                                              .width = width ? width : 1,
                                              .text = text,
                                              .function = parser->function ? function : NULL,
                                              .opcode = parser->spelling_length ? opcode : NULL,
                                              .source = source });
    if (parser->diags->failed) ptx_no_memory(parser);
}

bool ptx_report(ptx_parser *parser, const char *at, uint32_t line, uint32_t width,
                const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ptx_parser_diag(parser, PTX_ERROR, at, line, width, text);
    return false;
}

bool ptx_syntax(ptx_parser *parser, const char *format, ...)
{
    if (parser->stopped) return false;
    char text[512], found[64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const ptx_token *token = &parser->token;
    size_t used = strlen(text);
    if (token->kind == PTX_TOKEN_BAD)
        snprintf(text + used, sizeof text - used, ": %s", token->problem);
    else if (token->kind == PTX_TOKEN_END)
        snprintf(text + used, sizeof text - used, ", but the text ends here");
    else {
        snprintf(found, sizeof found, "%.*s", (int)(token->length < 40 ? token->length : 40),
                 token->text);
        snprintf(text + used, sizeof text - used, ", found `%s`", found);
    }
    ptx_parser_diag(parser, PTX_ERROR, token->text, token->line, token->length, text);
    parser->stopped = true;
    return false;
}

bool ptx_log(ptx_parser *parser, ptx_statement_kind kind, size_t index)
{
    ptx_statement made = { .kind = (uint32_t)kind, .index = (uint32_t)index };
    if (parser->skim) return true;
    ptx_statement *slot = parser->open_scopes.count ? PTX_PUSH(parser, parser->statements)
                                                    : PTX_PUSH(parser, parser->items);
    if (slot) *slot = made;
    return slot != NULL;
}

/* ------------------------------------------------------------------ tokens */

void ptx_next(ptx_parser *parser)
{
    parser->token_end = parser->lexer.at;
    ptx_lex(&parser->lexer, &parser->token);
}

bool ptx_at(const ptx_parser *parser, char punct)
{
    return parser->token.kind == PTX_TOKEN_PUNCT && parser->token.punct == punct;
}

ptx_directive ptx_directive_here(const ptx_parser *parser)
{
    const ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_DOTTED) return PTX_DIRECTIVE_NONE;
    const ptx_word *word = ptx_word_find(token->text, token->length, token->hash);
    return word ? (ptx_directive)word->directive : PTX_DIRECTIVE_NONE;
}

bool ptx_at_directive(const ptx_parser *parser, ptx_directive directive)
{
    return ptx_directive_here(parser) == directive;
}

bool ptx_accept(ptx_parser *parser, char punct)
{
    if (!ptx_at(parser, punct)) return false;
    ptx_next(parser);
    return true;
}

bool ptx_expect(ptx_parser *parser, char punct, const char *where)
{
    return ptx_accept(parser, punct) || ptx_syntax(parser, "expected `%c` %s", punct, where);
}

ptx_name *ptx_token_name(ptx_parser *parser)
{
    const ptx_token *token = &parser->token;
    ptx_name *name = ptx_intern(&parser->symbols, token->text, token->length, token->hash);
    return name ? name : ptx_no_memory(parser);
}

ptx_name *ptx_expect_name(ptx_parser *parser, const char *what)
{
    if (parser->token.kind != PTX_TOKEN_NAME) {
        ptx_syntax(parser, "expected %s", what);
        return NULL;
    }
    ptx_name *name = ptx_token_name(parser);
    ptx_next(parser);
    return name;
}

bool ptx_expect_u32(ptx_parser *parser, uint32_t *value, const char *what)
{
    const ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_INTEGER || token->bits > UINT32_MAX)
        return ptx_syntax(parser, "expected %s", what);
    *value = (uint32_t)token->bits;
    ptx_next(parser);
    return true;
}

/* ------------------------------------------------------------------ the module's items */

/* .version 8.4: the lexer reads it as a decimal float, so its text is looked at again. */
static bool parse_version(ptx_parser *parser)
{
    ptx_module *module = parser->module;
    if (!ptx_at_directive(parser, PTX_DIRECTIVE_VERSION))
        return ptx_syntax(parser, "PTX must begin with .version");
    ptx_next(parser);
    unsigned major = 0, minor = 0;
    char text[16], rest;
    snprintf(text, sizeof text, "%.*s", (int)parser->token.length, parser->token.text);
    if (parser->token.kind != PTX_TOKEN_FLOAT ||
        sscanf(text, "%u.%u%c", &major, &minor, &rest) != 2)
        return ptx_syntax(parser, "expected a version like 8.4");
    module->version_major = major;
    module->version_minor = minor;
    if (major > PTX_NEWEST_MAJOR || (major == PTX_NEWEST_MAJOR && minor > PTX_NEWEST_MINOR)) {
        parser->version_too_new = true;
        ptx_report(parser, parser->token.text, parser->token.line, parser->token.length,
                   "Unsupported .version %u.%u; current version is '%d.%d'", major, minor,
                   PTX_NEWEST_MAJOR, PTX_NEWEST_MINOR);
        parser->stopped = true;
        return false;
    }
    ptx_next(parser);
    return true;
}

/* The PTX version that a target came with, times ten; 0: not known.  PTX ISA, release history, and what ptxas 13.0
 * takes; the suffix f (families) came with 8.8, sm_90a with 8.0. */
static unsigned first_version(unsigned sm, char suffix)
{
    static const struct {
        unsigned short sm, version;
    } targets[] = { { 50, 40 },  { 52, 41 },  { 53, 42 }, { 60, 50 },  { 61, 50 },  { 62, 50 },
                    { 70, 60 },  { 72, 61 },  { 75, 63 }, { 80, 70 },  { 86, 71 },  { 87, 74 },
                    { 88, 73 },  { 89, 78 },  { 90, 78 }, { 100, 86 }, { 101, 86 }, { 103, 88 },
                    { 110, 90 }, { 120, 87 }, { 121, 88 } };
    unsigned version = 0;
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++)
        if (targets[k].sm == sm) version = targets[k].version;
    if (version && suffix == 'f' && version < 88) version = 88;
    if (sm == 90 && suffix == 'a') version = 80;
    return version;
}

static bool parse_target(ptx_parser *parser)
{
    ptx_module *module = parser->module;
    if (!ptx_at_directive(parser, PTX_DIRECTIVE_TARGET))
        return ptx_syntax(parser, "expected .target after .version");
    ptx_next(parser);
    const ptx_token first = parser->token;
    ptx_name *target = ptx_expect_name(parser, "a target like sm_90");
    if (!target) return false;
    char suffix[3] = "";
    unsigned sm = 0;
    if (sscanf(target->text, "sm_%4u%2s", &sm, suffix) < 1 || !sm || suffix[1] ||
        (suffix[0] && suffix[0] != 'a' && suffix[0] != 'f'))
        ptx_report(parser, first.text, first.line, first.length, "Unknown .target '%s'",
                   target->text);
    unsigned needed = first_version(sm, suffix[0]);
    if (needed && module->version_major * 10 + module->version_minor < needed)
        ptx_report(parser, first.text, first.line, first.length,
                   "PTX .version %u.%u does not support .target %s, which came with %u.%u",
                   (unsigned)module->version_major, (unsigned)module->version_minor, target->text,
                   needed / 10, needed % 10);
    module->target = target->text;
    module->target_sm = sm;
    module->target_suffix = suffix[0];
    module->target_options = "";
    while (ptx_accept(parser, ',')) {
        ptx_name *option = ptx_expect_name(parser, "a target option");
        if (!option) return false;
        if (!strcmp(option->text, "debug")) module->debug_target = true;
        char *joined = gpul__arena_printf(&module->arena, "%s%s%s", module->target_options,
                                          module->target_options[0] ? ", " : "", option->text);
        if (!joined) return ptx_no_memory(parser) != NULL;
        module->target_options = joined;
    }
    return true;
}

static bool parse_address_size(ptx_parser *parser)
{
    ptx_next(parser);
    const ptx_token token = parser->token;
    uint32_t size = 0;
    if (!ptx_expect_u32(parser, &size, "32 or 64")) return false;
    if (size != 32 && size != 64)
        ptx_report(parser, token.text, token.line, token.length,
                   ".address_size must be 32 or 64, not %u", size);
    parser->module->address_size = size;
    return true;
}

static bool parse_pragma(ptx_parser *parser)
{
    ptx_next(parser);
    do {
        if (parser->token.kind != PTX_TOKEN_STRING)
            return ptx_syntax(parser, "expected a string after .pragma");
        ptx_pragma *pragma = PTX_PUSH(parser, parser->pragmas);
        if (!pragma) return false;
        char *text =
            gpul__arena_strndup(&parser->module->arena, parser->token.text, parser->token.length);
        *pragma = (ptx_pragma){ .text = text };
        if (!text) return ptx_no_memory(parser) != NULL;
        if (!ptx_log(parser, PTX_STATEMENT_PRAGMA, parser->pragmas.count - 1)) return false;
        ptx_next(parser);
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after the pragma");
}

/* .alias name, function; */
static bool parse_alias(ptx_parser *parser)
{
    uint32_t line = parser->token.line;
    ptx_next(parser);
    const ptx_token own = parser->token;
    ptx_name *name = ptx_expect_name(parser, "the alias's name");
    if (!name || !ptx_expect(parser, ',', "after the alias's name")) return false;
    const ptx_token other = parser->token;
    ptx_name *target = ptx_expect_name(parser, "the function it stands for");
    if (!target || !ptx_expect(parser, ';', "after .alias")) return false;
    ptx_binding *alias = ptx_lookup(name), *real = ptx_lookup(target);
    if (!alias || alias->kind != PTX_BOUND_FUNCTION || alias->function->has_body)
        return ptx_report(parser, own.text, own.line, own.length,
                          "`%s` must be a declared function without a body", name->text),
               true;
    if (!real || real->kind != PTX_BOUND_FUNCTION || !real->function->has_body ||
        real->function->is_entry)
        return ptx_report(parser, other.text, other.line, other.length,
                          "`%s` must be a function that is defined before its alias", target->text),
               true;
    ptx_alias *entry = PTX_PUSH(parser, parser->aliases);
    if (!entry) return false;
    *entry = (ptx_alias){
        .name = name->text, .target = real->function, .function = alias->function, .line = line
    };
    return ptx_log(parser, PTX_STATEMENT_ALIAS, parser->aliases.count - 1);
}

static ptx_linkage parse_linkage(ptx_parser *parser)
{
    ptx_linkage linkage = PTX_LINKAGE_NONE;
    for (;; ptx_next(parser)) {
        ptx_directive directive = ptx_directive_here(parser);
        if (directive == PTX_DIRECTIVE_EXTERN) linkage = PTX_LINKAGE_EXTERN;
        else if (directive == PTX_DIRECTIVE_VISIBLE) linkage = PTX_LINKAGE_VISIBLE;
        else if (directive == PTX_DIRECTIVE_WEAK) linkage = PTX_LINKAGE_WEAK;
        else if (directive == PTX_DIRECTIVE_COMMON) linkage = PTX_LINKAGE_COMMON;
        else return linkage;
    }
}

static bool parse_item(ptx_parser *parser)
{
    switch (ptx_directive_here(parser)) {
    case PTX_DIRECTIVE_ADDRESS_SIZE: return parse_address_size(parser);
    case PTX_DIRECTIVE_FILE: return ptx_parse_file(parser);
    case PTX_DIRECTIVE_LOC: return ptx_parse_loc(parser);
    case PTX_DIRECTIVE_SECTION: return ptx_parse_section(parser);
    case PTX_DIRECTIVE_PRAGMA: return parse_pragma(parser);
    case PTX_DIRECTIVE_ALIAS: return parse_alias(parser);
    default: break;
    }
    ptx_linkage linkage = parse_linkage(parser);
    switch (ptx_directive_here(parser)) {
    case PTX_DIRECTIVE_ENTRY:
    case PTX_DIRECTIVE_FUNC: return ptx_parse_function(parser, linkage);
    case PTX_DIRECTIVE_CONST:
    case PTX_DIRECTIVE_GLOBAL:
    case PTX_DIRECTIVE_SHARED:
    case PTX_DIRECTIVE_TEX: return ptx_parse_globals(parser, linkage);
    default: return ptx_syntax(parser, "expected a kernel, a function, a variable or a directive");
    }
}

static bool parse_module(ptx_parser *parser)
{
    ptx_next(parser);
    if (!parse_version(parser) || !parse_target(parser)) return false;
    parser->module->address_size = 32; /* unless the text says otherwise */
    while (parser->token.kind != PTX_TOKEN_END)
        if (!parse_item(parser)) return false;
    return !parser->stopped;
}

/* ------------------------------------------------------------------ entry points */

static void seal(ptx_parser *parser)
{
    ptx_module *module = parser->module;
#define SEAL(field, counter)                                                                       \
    module->field = ptx_parser_copy(parser, parser->field.items, parser->field.count,              \
                                    sizeof *parser->field.items);                                  \
    module->counter = (uint32_t)parser->field.count
    SEAL(globals, global_count);
    SEAL(functions, function_count);
    SEAL(aliases, alias_count);
    SEAL(files, file_count);
    SEAL(locations, location_count);
    SEAL(sections, section_count);
    SEAL(pragmas, pragma_count);
    SEAL(items, item_count);
#undef SEAL
}

static void release(ptx_parser *parser)
{
    void *const vectors[] = {
        parser->globals.items,        parser->functions.items,    parser->aliases.items,
        parser->files.items,          parser->locations.items,    parser->sections.items,
        parser->pragmas.items,        parser->items.items,        parser->groups.items,
        parser->registers.items,      parser->variables.items,    parser->labels.items,
        parser->scopes.items,         parser->prototypes.items,   parser->tables.items,
        parser->body_pragmas.items,   parser->instructions.items, parser->statements.items,
        parser->open_scopes.items,    parser->pending.items,      parser->operands.items,
        parser->variable_stack.items,
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) gpul__free(vectors[i]);
    ptx_symbols_free(&parser->symbols);
}

ptx_status ptx_parse_with(ptx_module **out, const char *text, size_t length, ptx_diags *diags,
                          const ptx_body_reader *bodies, const ptx_skim *skim)
{
    *out = NULL;
    const size_t errors = diags->errors, first = diags->count;
    if (length >= UINT32_MAX) {
        ptx_diags_add(diags, &(ptx_diag){ .severity = PTX_ERROR,
                                          .text = "the PTX text is larger than 4 GiB" });
        return PTX_INVALID;
    }
    ptx_module *module = gpul__calloc(1, sizeof *module);
    if (!module) return PTX_OUT_OF_MEMORY;
    ptx_parser parser = { .module = module, .diags = diags, .bodies = bodies, .skim = skim };
    module->text = gpul__arena_strndup(&module->arena, text, length);
    module->length = length;
    if (!module->text || !ptx_symbols_init(&parser.symbols, &module->arena)) {
        ptx_no_memory(&parser);
    } else {
        ptx_lexer_init(&parser.lexer, module->text, length);
        if (parse_module(&parser) && !skim) ptx_name_inlined_functions(&parser);
        seal(&parser);
    }
    release(&parser);
    ptx_diags_sort(diags, first);
    ptx_status status = parser.out_of_memory      ? PTX_OUT_OF_MEMORY
                        : parser.version_too_new  ? PTX_VERSION_TOO_NEW
                        : diags->errors != errors ? PTX_INVALID
                                                  : PTX_OK;
    if (status == PTX_OK) *out = module;
    else ptx_module_free(module);
    return status;
}

ptx_status ptx_parse(ptx_module **out, const char *text, size_t length, ptx_diags *diags)
{
    const fenv_t callers = ptx_float_mode_enter();
    ptx_status status = ptx_parse_with(out, text, length, diags, &ptx_parsed_bodies, NULL);
    ptx_float_mode_leave(&callers);
    return status;
}

void ptx_module_free(ptx_module *module)
{
    if (!module) return;
    gpul__arena_free(&module->arena);
    gpul__free(module);
}

ptx_function *ptx_find_function(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (!strcmp(module->functions[i]->name, name)) return module->functions[i];
    return NULL;
}

ptx_variable *ptx_find_global(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->global_count; i++)
        if (!strcmp(module->globals[i]->name, name)) return module->globals[i];
    return NULL;
}
