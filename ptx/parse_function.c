/* Kernels and functions: header, launch directives, and the statements of the body with its scopes,
 * labels, prototypes and tables.  SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <string.h>

/* ------------------------------------------------------------------ the header */

/* One to three numbers; missing ones are 1. */
static bool parse_dimensions(ptx_parser *parser, uint32_t dimensions[3])
{
    for (int i = 0; i < 3; i++) dimensions[i] = 1;
    for (int i = 0; i < 3; i++) {
        if (!ptx_expect_u32(parser, &dimensions[i], "a number")) return false;
        if (i == 2 || !ptx_accept(parser, ',')) break;
    }
    return true;
}

static bool add_pragmas(ptx_parser *parser)
{
    ptx_next(parser);
    do {
        if (parser->token.kind != PTX_TOKEN_STRING)
            return ptx_syntax(parser, "expected a string after .pragma");
        ptx_pragma *pragma = PTX_PUSH(parser, parser->body_pragmas);
        if (!pragma) return false;
        *pragma = (ptx_pragma){
            .text = gpul__arena_strndup(&parser->module->arena, parser->token.text,
                                        parser->token.length),
            .in_header = parser->open_scopes.count == 0,
        };
        if (!pragma->text) return ptx_no_memory(parser) != NULL;
        if (!pragma->in_header &&
            !ptx_log(parser, PTX_STATEMENT_PRAGMA, parser->body_pragmas.count - 1))
            return false;
        ptx_next(parser);
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after the pragma");
}

static bool skip_number(ptx_parser *parser)
{
    uint32_t ignored;
    return ptx_expect_u32(parser, &ignored, "a number");
}

/* What stands between the parameters and the body. */
static bool parse_attributes(ptx_parser *parser, ptx_function *function)
{
    for (;;) {
        ptx_directive directive = ptx_directive_here(parser);
        bool fine = true;
        if (directive == PTX_DIRECTIVE_PRAGMA) {
            if (!add_pragmas(parser)) return false;
            continue;
        }
        if (directive >= PTX_DIRECTIVE_MAXNTID && directive <= PTX_DIRECTIVE_ABI_PRESERVE_CONTROL)
            ptx_next(parser);
        switch (directive) {
        case PTX_DIRECTIVE_MAXNTID:
            function->has_maxntid = true;
            fine = parse_dimensions(parser, function->maxntid);
            break;
        case PTX_DIRECTIVE_REQNTID:
            function->has_reqntid = true;
            fine = parse_dimensions(parser, function->reqntid);
            break;
        case PTX_DIRECTIVE_REQNCTAPERCLUSTER:
            function->has_reqnctapercluster = true;
            fine = parse_dimensions(parser, function->reqnctapercluster);
            break;
        case PTX_DIRECTIVE_MINNCTAPERSM:
            fine = ptx_expect_u32(parser, &function->minnctapersm, "a number");
            break;
        case PTX_DIRECTIVE_MAXNCTAPERSM:
            fine = ptx_expect_u32(parser, &function->maxnctapersm, "a number");
            break;
        case PTX_DIRECTIVE_MAXNREG:
            fine = ptx_expect_u32(parser, &function->maxnreg, "a number");
            break;
        case PTX_DIRECTIVE_MAXCLUSTERRANK:
            fine = ptx_expect_u32(parser, &function->maxclusterrank, "a number");
            break;
        case PTX_DIRECTIVE_EXPLICITCLUSTER: function->explicitcluster = true; break;
        case PTX_DIRECTIVE_BLOCKSARECLUSTERS: function->blocksareclusters = true; break;
        case PTX_DIRECTIVE_NORETURN: function->noreturn = true; break;
        case PTX_DIRECTIVE_ABI_PRESERVE:
        case PTX_DIRECTIVE_ABI_PRESERVE_CONTROL: fine = skip_number(parser); break;
        default: return true;
        }
        if (!fine) return false;
    }
}

/* The function of this name: the one declared before, or a new one. */
static ptx_function *named_function(ptx_parser *parser, ptx_name *name, const ptx_token *token)
{
    ptx_binding *binding = name->binding;
    if (binding && binding->depth == 0) {
        if (binding->kind == PTX_BOUND_FUNCTION) return binding->function;
        ptx_report(parser, token->text, token->line, token->length,
                   "Duplicate definition of '%s'; it was declared on line %u", name->text,
                   binding->line);
    }
    ptx_function *function = ptx_parser_alloc(parser, 1, sizeof *function);
    ptx_function **slot = function ? PTX_PUSH(parser, parser->functions) : NULL;
    if (!slot) return NULL;
    *slot = function;
    function->name = name->text;
    function->module = parser->module;
    function->index = (uint32_t)parser->functions.count - 1;
    binding = ptx_bind(&parser->symbols, name, PTX_BOUND_FUNCTION, 0);
    if (!binding) return ptx_no_memory(parser);
    binding->function = function;
    binding->line = token->line;
    return function;
}

static bool same_shape(const ptx_variable *a, uint32_t a_count, const ptx_variable *b,
                       uint32_t b_count)
{
    if (a_count != b_count) return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (a[i].space != b[i].space || a[i].size != b[i].size || a[i].is_array != b[i].is_array)
            return false;
    return true;
}

/* ------------------------------------------------------------------ scopes and labels */

uint32_t ptx_scope_here(const ptx_parser *parser)
{
    return parser->open_scopes.items[parser->open_scopes.count - 1].index;
}

static bool open_scope(ptx_parser *parser)
{
    if (parser->open_scopes.count >= PTX_DEEPEST_SCOPE)
        return ptx_syntax(parser, "braces are nested too deeply");
    uint32_t parent = parser->open_scopes.count ? ptx_scope_here(parser) : 0;
    ptx_scope_range *range = PTX_PUSH(parser, parser->scopes);
    ptx_open_scope *open = range ? PTX_PUSH(parser, parser->open_scopes) : NULL;
    if (!open) return false;
    *range = (ptx_scope_range){ .parent = parent, .first = (uint32_t)parser->instructions.count };
    *open = (ptx_open_scope){ .index = (uint32_t)parser->scopes.count - 1 };
    if (!ptx_scope_open(&parser->symbols)) return ptx_no_memory(parser) != NULL;
    return open->index == 0 || ptx_log(parser, PTX_STATEMENT_OPEN, open->index);
}

/* Looks for the labels that were mentioned in the scope that closes; those it does not have are
 * handed to the scope around it. */
static void resolve_labels(ptx_parser *parser)
{
    ptx_open_scope *open = &parser->open_scopes.items[parser->open_scopes.count - 1];
    ptx_open_scope *outer = parser->open_scopes.count > 1 ? open - 1 : NULL;
    uint32_t next;
    for (uint32_t at = open->pending_first; at; at = next) {
        ptx_pending_label *pending = &parser->pending.items[at - 1];
        next = pending->next;
        ptx_binding *binding = pending->name->binding;
        if (binding && binding->kind == PTX_BOUND_LABEL &&
            binding->depth == parser->symbols.depth) {
            pending->operand->index = binding->index;
        } else if (outer) {
            pending->next = 0;
            if (outer->pending_last) parser->pending.items[outer->pending_last - 1].next = at;
            else outer->pending_first = at;
            outer->pending_last = at;
        } else {
            ptx_report(parser, pending->at, pending->line, pending->length, "Unknown symbol '%s'",
                       pending->name->text);
        }
    }
}

static bool close_scope(ptx_parser *parser)
{
    uint32_t index = ptx_scope_here(parser);
    resolve_labels(parser);
    parser->scopes.items[index].end = (uint32_t)parser->instructions.count;
    if (index && !ptx_log(parser, PTX_STATEMENT_CLOSE, index)) return false;
    parser->open_scopes.count--;
    ptx_scope_close(&parser->symbols);
    return true;
}

/* Binds a name of a label, a prototype or a table; false when memory is exhausted. */
static ptx_binding *bind_mark(ptx_parser *parser, ptx_name *name, ptx_bound kind, size_t index,
                              const ptx_token *token)
{
    if (name->binding && name->binding->depth == parser->symbols.depth)
        ptx_report(parser, token->text, token->line, token->length,
                   "Duplicate definition of '%s'; it was declared on line %u", name->text,
                   name->binding->line);
    ptx_binding *binding = ptx_bind(&parser->symbols, name, kind, parser->symbols.depth);
    if (!binding) return ptx_no_memory(parser);
    binding->index = (uint32_t)index;
    binding->line = token->line;
    return binding;
}

/* name: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn; */
static bool parse_prototype(ptx_parser *parser, ptx_name *name, const ptx_token *token)
{
    ptx_next(parser);
    ptx_prototype made = { .name = name->text,
                           .scope = ptx_scope_here(parser),
                           .line = token->line };
    if (ptx_at(parser, '(') &&
        !ptx_parse_parameters(parser, &made.results, &made.result_count, true))
        return false;
    if (!ptx_expect_name(parser, "`_`")) return false;
    if (ptx_at(parser, '(') && !ptx_parse_parameters(parser, &made.params, &made.param_count, true))
        return false;
    for (;;) {
        ptx_directive directive = ptx_directive_here(parser);
        if (directive == PTX_DIRECTIVE_NORETURN) {
            made.noreturn = true;
            ptx_next(parser);
        } else if (directive == PTX_DIRECTIVE_ABI_PRESERVE ||
                   directive == PTX_DIRECTIVE_ABI_PRESERVE_CONTROL) {
            ptx_next(parser);
            if (!skip_number(parser)) return false;
        } else {
            break;
        }
    }
    ptx_prototype *slot = PTX_PUSH(parser, parser->prototypes);
    if (!slot) return false;
    *slot = made;
    return ptx_log(parser, PTX_STATEMENT_PROTOTYPE, parser->prototypes.count - 1) &&
           bind_mark(parser, name, PTX_BOUND_PROTOTYPE, parser->prototypes.count - 1, token) &&
           ptx_expect(parser, ';', "after .callprototype");
}

/* name: .branchtargets a, b, c; */
static bool parse_table(ptx_parser *parser, ptx_name *name, const ptx_token *token,
                        bool of_functions)
{
    ptx_next(parser);
    ptx_table made = { .name = name->text,
                       .of_functions = of_functions,
                       .scope = ptx_scope_here(parser),
                       .line = token->line };
    /* Labels are filled in later, through pointers: the list must not move, so it is counted. */
    ptx_lexer ahead = parser->lexer;
    for (ptx_token look = parser->token;
         look.kind == PTX_TOKEN_NAME || (look.kind == PTX_TOKEN_PUNCT && look.punct == ',');
         ptx_lex(&ahead, &look))
        made.count += look.kind == PTX_TOKEN_NAME;
    made.targets = ptx_parser_alloc(parser, made.count ? made.count : 1, sizeof *made.targets);
    if (!made.targets) return false;
    for (uint32_t i = 0; i < made.count; i++) {
        if (i && !ptx_expect(parser, ',', "between the targets")) return false;
        if (of_functions ? !ptx_parse_operand(parser, &made.targets[i])
                         : !ptx_parse_label(parser, &made.targets[i]))
            return false;
        if (of_functions && made.targets[i].kind != PTX_OPERAND_FUNCTION)
            return ptx_report(parser, token->text, token->line, token->length,
                              "'%s' may list functions only", name->text);
    }
    ptx_table *slot = PTX_PUSH(parser, parser->tables);
    if (!slot) return false;
    *slot = made;
    return ptx_log(parser, PTX_STATEMENT_TABLE, parser->tables.count - 1) &&
           bind_mark(parser, name, PTX_BOUND_TABLE, parser->tables.count - 1, token) &&
           ptx_expect(parser, ';', "after the targets");
}

static bool parse_mark(ptx_parser *parser, const ptx_token *token)
{
    ptx_name *name = ptx_intern(&parser->symbols, token->text, token->length, token->hash);
    if (!name) return ptx_no_memory(parser) != NULL;
    ptx_next(parser); /* the colon */
    switch (ptx_directive_here(parser)) {
    case PTX_DIRECTIVE_CALLPROTOTYPE: return parse_prototype(parser, name, token);
    case PTX_DIRECTIVE_BRANCHTARGETS: return parse_table(parser, name, token, false);
    case PTX_DIRECTIVE_CALLTARGETS: return parse_table(parser, name, token, true);
    default: break;
    }
    ptx_label *label = PTX_PUSH(parser, parser->labels);
    if (!label) return false;
    *label = (ptx_label){ .name = name->text,
                          .scope = ptx_scope_here(parser),
                          .instruction = (uint32_t)parser->instructions.count,
                          .line = token->line };
    return ptx_log(parser, PTX_STATEMENT_LABEL, parser->labels.count - 1) &&
           bind_mark(parser, name, PTX_BOUND_LABEL, parser->labels.count - 1, token);
}

/* ------------------------------------------------------------------ the body */

static bool parse_body_directive(ptx_parser *parser)
{
    switch (ptx_directive_here(parser)) {
    case PTX_DIRECTIVE_REG: return ptx_parse_registers(parser);
    case PTX_DIRECTIVE_LOCAL:
    case PTX_DIRECTIVE_SHARED:
    case PTX_DIRECTIVE_PARAM:
    case PTX_DIRECTIVE_GLOBAL:
    case PTX_DIRECTIVE_CONST: return ptx_parse_locals(parser);
    case PTX_DIRECTIVE_LOC: return ptx_parse_loc(parser);
    case PTX_DIRECTIVE_FILE: return ptx_parse_file(parser);
    case PTX_DIRECTIVE_PRAGMA: return add_pragmas(parser);
    default: return ptx_syntax(parser, "expected an instruction or a declaration");
    }
}

static bool parse_statement(ptx_parser *parser)
{
    const ptx_token token = parser->token;
    if (token.kind == PTX_TOKEN_NAME) {
        ptx_next(parser);
        if (ptx_at(parser, ':')) return parse_mark(parser, &token);
        return ptx_parse_instruction(parser, &token, PTX_NO_REGISTER, false, token.text,
                                     token.line);
    }
    if (token.kind == PTX_TOKEN_DOTTED) return parse_body_directive(parser);
    if (ptx_accept(parser, '{')) return open_scope(parser);
    if (!ptx_accept(parser, '@')) return ptx_syntax(parser, "expected an instruction");
    bool negated = ptx_accept(parser, '!');
    uint32_t guard;
    if (!ptx_parse_register(parser, &guard)) return false;
    const ptx_token opcode = parser->token;
    if (opcode.kind != PTX_TOKEN_NAME)
        return ptx_syntax(parser, "expected an instruction after the guard");
    ptx_next(parser);
    return ptx_parse_instruction(parser, &opcode, guard, negated, token.text, token.line);
}

/* After a fault in the meaning: goes on behind the statement. */
static bool skip_statement(ptx_parser *parser)
{
    while (!parser->stopped && !ptx_at(parser, ';') && !ptx_at(parser, '}')) {
        if (parser->token.kind == PTX_TOKEN_END || parser->token.kind == PTX_TOKEN_BAD)
            return ptx_syntax(parser, "expected `;` after the statement");
        ptx_next(parser);
    }
    ptx_accept(parser, ';');
    return !parser->stopped;
}

static void clear_body(ptx_parser *parser)
{
    parser->groups.count = parser->registers.count = parser->variables.count = 0;
    parser->labels.count = parser->scopes.count = parser->prototypes.count = 0;
    parser->tables.count = parser->body_pragmas.count = parser->instructions.count = 0;
    parser->open_scopes.count = parser->pending.count = 0;
    parser->statements.count = 0;
    parser->location = 0;
}

static bool seal_body(ptx_parser *parser, ptx_function *function)
{
#define SEAL(list, field, counter)                                                                 \
    function->field = ptx_parser_copy(parser, parser->list.items, parser->list.count,              \
                                      sizeof *parser->list.items);                                 \
    function->counter = (uint32_t)parser->list.count
    SEAL(groups, groups, group_count);
    SEAL(registers, registers, register_count);
    SEAL(variables, variables, variable_count);
    SEAL(labels, labels, label_count);
    SEAL(scopes, scopes, scope_count);
    SEAL(prototypes, prototypes, prototype_count);
    SEAL(tables, tables, table_count);
    SEAL(body_pragmas, pragmas, pragma_count);
    SEAL(instructions, instructions, instruction_count);
    SEAL(statements, statements, statement_count);
#undef SEAL
    return !parser->stopped;
}

static bool read_statements(ptx_parser *parser)
{
    while (!(ptx_at(parser, '}') && parser->open_scopes.count == 1)) {
        if (ptx_at(parser, '}')) {
            if (!close_scope(parser)) return false;
            ptx_next(parser);
        } else if (!parse_statement(parser) && !skip_statement(parser)) {
            return false;
        }
    }
    return true;
}

static bool seal_and_check(ptx_parser *parser, ptx_function *function)
{
    return seal_body(parser, function) && ptx_check_function(parser, function);
}

const ptx_body_reader ptx_parsed_bodies = { read_statements, seal_and_check };

static bool parse_body(ptx_parser *parser, ptx_function *function)
{
    if (!open_scope(parser)) return false;
    ptx_next(parser); /* the brace */
    if (!parser->bodies->read(parser) || !close_scope(parser)) return false;
    ptx_next(parser);
    return parser->bodies->done(parser, function);
}

/* .entry name (params) directives { body }   or   .func (results) name (params) ... ; */
bool ptx_parse_function(ptx_parser *parser, ptx_linkage linkage)
{
    bool is_entry = ptx_at_directive(parser, PTX_DIRECTIVE_ENTRY);
    ptx_function made = { .is_entry = is_entry };
    ptx_next(parser);
    if (ptx_at_directive(parser, PTX_DIRECTIVE_ATTRIBUTE)) {
        ptx_next(parser);
        while (!ptx_at(parser, ')')) {
            if (parser->token.kind == PTX_TOKEN_END || parser->token.kind == PTX_TOKEN_BAD)
                return ptx_syntax(parser, "expected `)` after the attribute");
            ptx_next(parser);
        }
        while (ptx_accept(parser, ')')) {}
    }
    if (!is_entry && ptx_at(parser, '(') &&
        !ptx_parse_parameters(parser, &made.results, &made.result_count, false))
        return false;
    const ptx_token token = parser->token;
    ptx_name *name = ptx_expect_name(parser, "the function's name");
    ptx_function *function = name ? named_function(parser, name, &token) : NULL;
    if (!function) return false;
    clear_body(parser);
    parser->function = function;
    if (ptx_at(parser, '(') &&
        !ptx_parse_parameters(parser, &made.params, &made.param_count, false))
        return false;
    bool known = function->is_declared || function->has_body;
    if (known &&
        (function->is_entry != is_entry ||
         !same_shape(function->params, function->param_count, made.params, made.param_count) ||
         !same_shape(function->results, function->result_count, made.results, made.result_count)))
        ptx_report(parser, token.text, token.line, token.length,
                   "'%s' differs from its earlier declaration", name->text);
    bool fine;
    if (!parse_attributes(parser, function)) return false;
    bool body = ptx_at(parser, '{');
    if (!known || body) {
        function->is_entry = is_entry;
        function->linkage = (uint8_t)linkage;
        function->params = made.params;
        function->param_count = made.param_count;
        function->results = made.results;
        function->result_count = made.result_count;
        function->line = token.line;
    }
    if (!body) {
        if (!known && !ptx_log(parser, PTX_STATEMENT_DECLARATION, function->index)) return false;
        if (!known) function->is_declared = true;
        fine = ptx_expect(parser, ';', "or a body after the function's header");
    } else {
        if (function->has_body)
            ptx_report(parser, token.text, token.line, token.length, "Duplicate definition of '%s'",
                       name->text);
        function->has_body = true;
        if (!ptx_log(parser, PTX_STATEMENT_DEFINITION, function->index)) return false;
        if (!ptx_scope_open(&parser->symbols)) return ptx_no_memory(parser) != NULL;
        fine = ptx_bind_parameters(parser, function->params, function->param_count) &&
               ptx_bind_parameters(parser, function->results, function->result_count) &&
               parse_body(parser, function);
        if (parser->stopped) return false;
        ptx_scope_close(&parser->symbols);
    }
    parser->function = NULL;
    return fine || !parser->stopped;
}
