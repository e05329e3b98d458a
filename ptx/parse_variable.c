/* Declarations: module variables, variables in bodies, parameters, registers.  Their initialisers
 * are in parse_initialiser.c.  SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <string.h>

/* Sizes stay below this, so that sums of a few of them cannot overflow. */
static const uint64_t LARGEST = (uint64_t)1 << 48;
enum { LARGEST_ALIGN = 1 << 20, LARGEST_PARAMETER = 1 << 16, MOST_REGISTERS = 1 << 24 };

static const ptx_word *word_here(const ptx_parser *parser)
{
    const ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_DOTTED) return NULL;
    return ptx_word_find(token->text, token->length, token->hash);
}

/* Skips ( ... ) with everything inside. */
static bool skip_parentheses(ptx_parser *parser)
{
    if (!ptx_expect(parser, '(', "here")) return false;
    for (uint32_t depth = 1; depth;) {
        if (parser->token.kind == PTX_TOKEN_END || parser->token.kind == PTX_TOKEN_BAD)
            return ptx_syntax(parser, "expected `)`");
        if (ptx_at(parser, '(')) depth++;
        if (ptx_at(parser, ')')) depth--;
        ptx_next(parser);
    }
    return true;
}

/* .attribute(.managed), .attribute(.unified(..., ...)) and the like */
static bool parse_attribute(ptx_parser *parser, ptx_variable *variable)
{
    const char *from = parser->token.text;
    ptx_next(parser);
    if (!skip_parentheses(parser)) return false;
    ptx_lexer inside;
    ptx_lexer_init(&inside, from, (size_t)(parser->token_end - from));
    for (ptx_token token = { .kind = PTX_TOKEN_NAME }; token.kind != PTX_TOKEN_END;) {
        ptx_lex(&inside, &token);
        if (token.kind == PTX_TOKEN_DOTTED && token.length == 8 &&
            !memcmp(token.text, ".managed", 8))
            variable->managed = true;
    }
    return true;
}

static bool parse_align(ptx_parser *parser, uint32_t *align)
{
    ptx_next(parser);
    const ptx_token token = parser->token;
    if (!ptx_expect_u32(parser, align, "an alignment")) return false;
    if (*align && *align <= LARGEST_ALIGN && !(*align & (*align - 1))) return true;
    ptx_report(parser, token.text, token.line, token.length,
               "the alignment must be a power of two, not %u", *align);
    *align = 1;
    return true;
}

/* .ptr .global .align 16 of a parameter */
static bool parse_pointer(ptx_parser *parser, ptx_variable *variable)
{
    ptx_next(parser);
    variable->is_pointer = true;
    const ptx_word *word = word_here(parser);
    if (word && word->space) {
        variable->pointee_space = word->space;
        ptx_next(parser);
    }
    if (ptx_at_directive(parser, PTX_DIRECTIVE_ALIGN))
        return parse_align(parser, &variable->pointee_align);
    return true;
}

/* Packed and small formats are types of instructions only. */
static bool can_be_declared(const ptx_variable *variable)
{
    switch ((ptx_type)variable->type) {
    case PTX_F16:
    case PTX_F16X2:
    case PTX_F32:
    case PTX_F64:
    case PTX_B128: return true;
    case PTX_PRED: return variable->space == PTX_SPACE_REG;
    case PTX_U16X2:
    case PTX_S16X2:
    case PTX_B1:
    case PTX_U2:
    case PTX_U4:
    case PTX_S2:
    case PTX_S4: return false;
    default: return ptx_type_class_of((ptx_type)variable->type) != PTX_CLASS_FLOAT;
    }
}

/* What stands between the space and the name: alignment, vector, type, attributes, in any order. */
static bool parse_kind(ptx_parser *parser, ptx_variable *variable)
{
    const ptx_token token = parser->token;
    for (;;) {
        const ptx_word *word = word_here(parser);
        if (!word) break;
        if (word->directive == PTX_DIRECTIVE_ALIGN) {
            if (!parse_align(parser, &variable->align)) return false;
            variable->align_given = true;
        } else if (word->directive == PTX_DIRECTIVE_ATTRIBUTE) {
            if (!parse_attribute(parser, variable)) return false;
        } else if (word->directive == PTX_DIRECTIVE_PTR && variable->space == PTX_SPACE_PARAM) {
            if (!parse_pointer(parser, variable)) return false;
        } else if (word->type && !variable->type) {
            variable->type = word->type;
            ptx_next(parser);
        } else if ((word->vector == 2 || word->vector == 4) && !variable->vector) {
            variable->vector = word->vector;
            ptx_next(parser);
        } else {
            break;
        }
    }
    if (!variable->type) return ptx_syntax(parser, "expected a type");
    if (!can_be_declared(variable))
        ptx_report(
            parser, token.text, token.line, token.length, "A .%s variable cannot have the type .%s",
            ptx_space_name((ptx_space)variable->space), ptx_type_name((ptx_type)variable->type));
    return true;
}

static bool parse_dimensions(ptx_parser *parser, ptx_variable *variable, uint64_t *elements)
{
    *elements = 1;
    while (ptx_accept(parser, '[')) {
        variable->is_array = true;
        if (variable->dimension_count == PTX_MAX_DIMENSIONS)
            return ptx_syntax(parser, "an array has at most %d dimensions", PTX_MAX_DIMENSIONS);
        uint64_t size = 0;
        if (ptx_at(parser, ']')) {
            if (variable->dimension_count)
                return ptx_syntax(parser, "only the first dimension may be open");
            variable->unsized = true;
        } else {
            const ptx_token token = parser->token;
            ptx_constant value;
            if (!ptx_parse_constant(parser, &value)) return false;
            if (value.is_float || (int64_t)value.bits < 0 || value.bits > LARGEST ||
                (*elements && value.bits > LARGEST / *elements)) {
                parser->stopped = true;
                return ptx_report(parser, token.text, token.line, token.length,
                                  "the array's size is out of range");
            }
            size = value.bits;
            *elements *= size;
        }
        variable->dimensions[variable->dimension_count++] = size;
        if (!ptx_expect(parser, ']', "after the array's size")) return false;
    }
    return true;
}

/* The size of one element in bytes; sub-byte types take one. */
static uint64_t element_size(const ptx_variable *variable)
{
    uint64_t bits = ptx_type_bits((ptx_type)variable->type);
    return (bits + 7) / 8 * (variable->vector ? variable->vector : 1);
}

/* After the kind: the name and what follows it. */
static bool parse_declarator(ptx_parser *parser, ptx_variable *variable, ptx_name **name)
{
    const ptx_token token = parser->token;
    variable->line = token.line;
    *name = ptx_expect_name(parser, "a name");
    if (!*name) return false;
    variable->name = (*name)->text;
    variable->register_index = PTX_NO_REGISTER;
    uint64_t elements;
    if (!parse_dimensions(parser, variable, &elements)) return false;
    uint64_t element = element_size(variable);
    if (element && elements > LARGEST / element) {
        ptx_report(parser, token.text, token.line, token.length, "'%s' is too large",
                   variable->name);
        elements = 0;
    }
    variable->size = variable->unsized ? 0 : elements * element;
    if (!variable->align_given) variable->align = (uint32_t)(element ? element : 1);
    return true;
}

static bool redeclared(ptx_parser *parser, const ptx_name *name, const ptx_token *token)
{
    return ptx_report(parser, token->text, token->line, token->length,
                      "Duplicate definition of '%s'; it was declared on line %u", name->text,
                      name->binding->line);
}

/* An `.extern` declaration and the definition after it are one variable. */
static ptx_variable *declared_before(const ptx_name *name, const ptx_variable *variable)
{
    ptx_binding *binding = name->binding;
    if (!binding || binding->depth || binding->kind != PTX_BOUND_VARIABLE) return NULL;
    ptx_variable *old = binding->variable;
    bool same_type = old->type == variable->type && old->vector == variable->vector &&
                     (old->size == variable->size || old->unsized || variable->unsized);
    bool may_repeat = old->linkage == PTX_LINKAGE_EXTERN ||
                      variable->linkage == PTX_LINKAGE_EXTERN ||
                      variable->linkage == PTX_LINKAGE_COMMON;
    return old->space == variable->space && same_type && may_repeat ? old : NULL;
}

static bool define(ptx_parser *parser, ptx_variable *old, const ptx_variable *made)
{
    uint32_t index = old->index, item = old->item;
    *old = *made;
    old->index = index;
    old->listed = true;
    if (!item) return true; /* skimming */
    parser->items.items[item - 1].kind = PTX_STATEMENT_GLOBAL_DECLARATION;
    old->item = (uint32_t)parser->items.count + 1;
    return ptx_log(parser, PTX_STATEMENT_GLOBAL, index);
}

/* A fresh variable in the arena, bound to its name in the current scope, or the earlier one that
 * this declaration repeats. */
static ptx_variable *bind_variable(ptx_parser *parser, const ptx_variable *made, ptx_name *name,
                                   const ptx_token *token)
{
    ptx_binding *binding = name->binding;
    if (binding && binding->depth == parser->symbols.depth) {
        ptx_variable *old = declared_before(name, made);
        if (!old) {
            redeclared(parser, name, token);
        } else {
            if (made->linkage != PTX_LINKAGE_EXTERN && !define(parser, old, made)) return NULL;
            return old;
        }
    }
    ptx_variable *variable = ptx_parser_copy(parser, made, 1, sizeof *made);
    binding = variable ? ptx_bind(&parser->symbols, name, PTX_BOUND_VARIABLE, parser->symbols.depth)
                       : NULL;
    if (!binding) return ptx_no_memory(parser);
    binding->variable = variable;
    binding->line = made->line;
    return variable;
}

static bool is_opaque(const ptx_variable *variable)
{
    return ptx_type_class_of((ptx_type)variable->type) == PTX_CLASS_OPAQUE;
}

static bool add_global(ptx_parser *parser, ptx_variable *variable)
{
    if (variable->listed) return true; /* declared before */
    ptx_variable **slot = PTX_PUSH(parser, parser->globals);
    if (!slot) return false;
    *slot = variable;
    variable->index = (uint32_t)parser->globals.count - 1;
    variable->listed = true;
    if (!parser->skim) variable->item = (uint32_t)parser->items.count + 1;
    return ptx_log(parser, PTX_STATEMENT_GLOBAL, variable->index);
}

static bool add_local(ptx_parser *parser, ptx_variable *variable)
{
    ptx_variable **slot = PTX_PUSH(parser, parser->variables);
    if (!slot) return false;
    *slot = variable;
    variable->index = (uint32_t)parser->variables.count - 1;
    variable->scope = ptx_scope_here(parser);
    return ptx_log(parser, PTX_STATEMENT_VARIABLE, variable->index);
}

/* `.space kind a = 1, b[2];` at module level or in a body */
static bool parse_variables(ptx_parser *parser, ptx_linkage linkage, bool global)
{
    ptx_variable kind = { .space = word_here(parser)->space, .linkage = (uint8_t)linkage };
    ptx_next(parser);
    if (!parse_kind(parser, &kind)) return false;
    do {
        ptx_variable made = kind;
        ptx_name *name;
        const ptx_token token = parser->token;
        if (!parse_declarator(parser, &made, &name)) return false;
        ptx_variable *variable = bind_variable(parser, &made, name, &token);
        if (!variable || !(global ? add_global : add_local)(parser, variable)) return false;
        if (ptx_accept(parser, '=')) {
            const char *inside;
            size_t length;
            if (is_opaque(variable) && ptx_at(parser, '{')) {
                if (!ptx_lex_skip_braces(&parser->lexer, &inside, &length))
                    return ptx_syntax(parser, "expected `}` after the initialiser");
                ptx_next(parser);
            } else if (!ptx_parse_initialiser(parser, variable)) {
                return false;
            }
        }
        if (variable->unsized && linkage != PTX_LINKAGE_EXTERN)
            ptx_report(parser, token.text, token.line, token.length,
                       "Non-external variable '%s' has incomplete type", variable->name);
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after the declaration");
}

bool ptx_parse_globals(ptx_parser *parser, ptx_linkage linkage)
{
    return parse_variables(parser, linkage, true);
}

bool ptx_parse_locals(ptx_parser *parser)
{
    return parse_variables(parser, PTX_LINKAGE_NONE, false);
}

/* ------------------------------------------------------------------ parameters */

/* ( .param .u64 .ptr .align 8 a, .param .align 4 .b8 b[12] ) ; the list may be empty.  A prototype's
 * parameters have no name or `_`. */
bool ptx_parse_parameters(ptx_parser *parser, ptx_variable **params, uint32_t *count,
                          bool of_prototype)
{
    *params = NULL;
    *count = 0;
    if (!ptx_expect(parser, '(', "before the parameters")) return false;
    parser->variable_stack.count = 0;
    while (!ptx_at(parser, ')')) {
        const ptx_word *word = word_here(parser);
        if (!word || (word->space != PTX_SPACE_PARAM && word->space != PTX_SPACE_REG))
            return ptx_syntax(parser, "expected .param or .reg");
        ptx_variable made = { .space = word->space };
        ptx_name *name;
        ptx_next(parser);
        if (!parse_kind(parser, &made) || !parse_declarator(parser, &made, &name)) return false;
        made.index = (uint32_t)parser->variable_stack.count;
        if (made.size > LARGEST_PARAMETER || made.unsized)
            return ptx_syntax(parser,
                              "a parameter has a fixed size of at most %d bytes before this",
                              LARGEST_PARAMETER);
        if (!of_prototype && !strcmp(made.name, "_"))
            return ptx_syntax(parser, "a parameter needs a name before this");
        ptx_variable *slot = PTX_PUSH(parser, parser->variable_stack);
        if (!slot) return false;
        *slot = made;
        if (!ptx_accept(parser, ',')) break;
    }
    *count = (uint32_t)parser->variable_stack.count;
    *params = ptx_parser_copy(parser, parser->variable_stack.items, *count, sizeof **params);
    return !parser->stopped && ptx_expect(parser, ')', "after the parameters");
}

/* Binds a function's parameters in the current scope; those that are registers get one. */
bool ptx_bind_parameters(ptx_parser *parser, ptx_variable *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ptx_variable *param = &params[i];
        uint32_t length = (uint32_t)strlen(param->name);
        ptx_name *name =
            ptx_intern(&parser->symbols, param->name, length, ptx_word_hash(param->name, length));
        if (!name) return ptx_no_memory(parser) != NULL;
        if (name->binding && name->binding->depth == parser->symbols.depth)
            ptx_report(parser, parser->token.text, param->line, 1, "Duplicate parameter '%s'",
                       param->name);
        bool in_register = param->space == PTX_SPACE_REG;
        ptx_binding *binding =
            ptx_bind(&parser->symbols, name, in_register ? PTX_BOUND_REGISTER : PTX_BOUND_VARIABLE,
                     parser->symbols.depth);
        if (!binding) return ptx_no_memory(parser) != NULL;
        binding->line = param->line;
        if (!in_register) {
            binding->variable = param;
            continue;
        }
        ptx_register_group *group = PTX_PUSH(parser, parser->groups);
        if (!group) return false;
        *group = (ptx_register_group){
            .name = param->name, .type = param->type, .line = param->line, .is_param = true
        };
        binding->index = param->register_index =
            ptx_add_register(parser, (uint32_t)parser->groups.count - 1, 0);
        if (parser->stopped) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ registers */

uint32_t ptx_add_register(ptx_parser *parser, uint32_t group, uint32_t number)
{
    ptx_register *made = PTX_PUSH(parser, parser->registers);
    if (!made) return PTX_NO_REGISTER;
    ptx_type type = (ptx_type)parser->groups.items[group].type;
    *made = (ptx_register){ .group = group,
                            .number = number,
                            .type = (uint8_t)type,
                            .bits = (uint8_t)ptx_type_bits(type) };
    return (uint32_t)parser->registers.count - 1;
}

/* .reg .b32 %r<200>, a; */
bool ptx_parse_registers(ptx_parser *parser)
{
    ptx_variable kind = { .space = PTX_SPACE_REG };
    ptx_next(parser);
    if (!parse_kind(parser, &kind)) return false;
    do {
        const ptx_token token = parser->token;
        ptx_name *name = ptx_expect_name(parser, "a register's name");
        if (!name) return false;
        ptx_register_group made = { .name = name->text,
                                    .type = kind.type,
                                    .vector = kind.vector,
                                    .scope = ptx_scope_here(parser),
                                    .line = token.line };
        bool range = ptx_accept(parser, '<');
        if (range && (!ptx_expect_u32(parser, &made.count, "how many registers") ||
                      !ptx_expect(parser, '>', "after the number of registers")))
            return false;
        if (range && (!made.count || made.count > MOST_REGISTERS))
            ptx_report(parser, token.text, token.line, token.length,
                       "%u registers cannot be declared at once", made.count);
        made.is_range = range;
        ptx_binding *old = range ? name->range : name->binding;
        if (old && old->depth == parser->symbols.depth)
            ptx_report(parser, token.text, token.line, token.length,
                       "Duplicate definition of '%s'; it was declared on line %u", name->text,
                       old->line);
        ptx_register_group *group = PTX_PUSH(parser, parser->groups);
        ptx_binding *binding =
            group ? ptx_bind(&parser->symbols, name, range ? PTX_BOUND_RANGE : PTX_BOUND_SINGLE,
                             parser->symbols.depth)
                  : NULL;
        if (!binding) return ptx_no_memory(parser) != NULL;
        *group = made;
        binding->index = (uint32_t)parser->groups.count - 1;
        binding->line = token.line;
        binding->count = made.count;
        if (!ptx_log(parser, PTX_STATEMENT_REGISTERS, parser->groups.count - 1)) return false;
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after the registers");
}
