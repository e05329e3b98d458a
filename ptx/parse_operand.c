/* Operands: registers, numbers, addresses, vectors, pairs, symbols, labels.
 * SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <string.h>

static bool unknown(ptx_parser *parser, const ptx_token *token)
{
    return ptx_report(parser, token->text, token->line, token->length, "Unknown symbol '%.*s'",
                      (int)(token->length < 200 ? token->length : 200), token->text);
}

/* ------------------------------------------------------------------ registers */

/* The register that a name means; NULL binding kinds are the caller's. */
static bool bound_register(ptx_parser *parser, ptx_name *name, ptx_binding *binding,
                           uint32_t *index)
{
    if (binding->kind == PTX_BOUND_SINGLE) {
        const ptx_register_group *group = &parser->groups.items[binding->index];
        uint32_t group_index = binding->index, components = group->vector ? group->vector : 1;
        *index = ptx_add_register(parser, group_index, 0);
        for (uint32_t i = 1; i < components; i++) ptx_add_register(parser, group_index, i);
        binding->kind = PTX_BOUND_REGISTER;
        binding->index = *index;
    } else if (binding->kind == PTX_BOUND_RANGE) {
        uint32_t group = binding->index, depth = binding->depth;
        uint32_t components = parser->groups.items[group].vector;
        *index = ptx_add_register(parser, group, name->number * (components ? components : 1));
        for (uint32_t i = 1; i < components; i++)
            ptx_add_register(parser, group, name->number * components + i);
        /* From now on the name itself is bound, where its range was declared. */
        binding = ptx_bind(&parser->symbols, name, PTX_BOUND_REGISTER, depth);
        if (!binding) return ptx_no_memory(parser) != NULL;
        binding->index = *index;
        binding->line = parser->groups.items[group].line;
    } else {
        *index = binding->index;
    }
    return !parser->stopped;
}

static bool is_register(const ptx_binding *binding)
{
    return binding && (binding->kind == PTX_BOUND_REGISTER || binding->kind == PTX_BOUND_SINGLE ||
                       binding->kind == PTX_BOUND_RANGE);
}

bool ptx_parse_register(ptx_parser *parser, uint32_t *index)
{
    const ptx_token token = parser->token;
    ptx_name *name = ptx_expect_name(parser, "a register");
    if (!name) return false;
    ptx_binding *binding = ptx_lookup(name);
    if (!is_register(binding)) return unknown(parser, &token);
    return bound_register(parser, name, binding, index);
}

/* .x .y .z .w or .r .g .b .a behind a vector register: 0 to 3, or -1 */
static int component_here(const ptx_parser *parser)
{
    const ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_DOTTED || token->length != 2) return -1;
    const char *at = memchr("xyzwrgba", token->text[1], 8);
    return at ? (int)(at - "xyzwrgba") % 4 : -1;
}

/* .b0 to .b3, .h0 and .h1 */
static ptx_selector selector_here(const ptx_parser *parser)
{
    const ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_DOTTED || token->length != 3) return PTX_SELECTOR_NONE;
    char unit = token->text[1], number = token->text[2];
    if (unit == 'b' && number >= '0' && number <= '3')
        return (ptx_selector)(PTX_SELECTOR_B0 + (number - '0'));
    if (unit == 'h' && number >= '0' && number <= '1')
        return (ptx_selector)(PTX_SELECTOR_H0 + (number - '0'));
    return PTX_SELECTOR_NONE;
}

static ptx_operand *new_items(ptx_parser *parser, ptx_operand *operand, ptx_operand_kind kind,
                              uint32_t count)
{
    ptx_operand *items = ptx_parser_alloc(parser, count, sizeof *items);
    *operand = (ptx_operand){ .kind = (uint8_t)kind, .index = count, .items = items };
    return items;
}

static bool register_operand(ptx_parser *parser, ptx_name *name, ptx_binding *binding,
                             ptx_operand *operand)
{
    uint32_t index;
    if (!bound_register(parser, name, binding, &index)) return false;
    const ptx_register_group *group = &parser->groups.items[parser->registers.items[index].group];
    *operand = (ptx_operand){ .kind = PTX_OPERAND_REGISTER, .index = index };
    if (!group->vector) {
        operand->width = (uint8_t)selector_here(parser);
        if (operand->width) ptx_next(parser);
        return true;
    }
    int component = component_here(parser);
    if (component >= 0) {
        if (component >= group->vector)
            return ptx_syntax(parser, "the vector register has fewer components");
        operand->index += (uint32_t)component;
        ptx_next(parser);
        return true;
    }
    /* The whole vector register is the same as its components in braces. */
    uint32_t count = group->vector;
    ptx_operand *items = new_items(parser, operand, PTX_OPERAND_VECTOR, count);
    for (uint32_t i = 0; items && i < count; i++)
        items[i] = (ptx_operand){ .kind = PTX_OPERAND_REGISTER, .index = index + i };
    return items != NULL;
}

static bool special_operand(ptx_parser *parser, const ptx_word *word, const ptx_token *token,
                            ptx_operand *operand)
{
    *operand = (ptx_operand){ .kind = PTX_OPERAND_SPECIAL, .index = word->special };
    if (!word->special_components) return true;
    int component = component_here(parser);
    if (component < 0) {
        /* `mov.v4.u32 {...}, %tid`: the fourth component is zero. */
        ptx_operand *items = new_items(parser, operand, PTX_OPERAND_VECTOR, 4);
        if (!items) return false;
        for (uint32_t i = 0; i < 3; i++)
            items[i] = (ptx_operand){ .kind = PTX_OPERAND_SPECIAL, .index = word->special + i };
        items[3] = (ptx_operand){ .kind = PTX_OPERAND_INTEGER };
        return true;
    }
    ptx_next(parser);
    if (component == 3)
        return ptx_report(parser, token->text, token->line, token->length,
                          "the special register has the components x, y and z");
    operand->index += (uint32_t)component;
    return true;
}

/* ------------------------------------------------------------------ numbers and symbols */

static bool constant_operand(ptx_parser *parser, ptx_operand *operand)
{
    ptx_constant value;
    if (!ptx_parse_constant(parser, &value)) return false;
    *operand = (ptx_operand){
        .kind = value.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INTEGER,
        .width = value.width,
        .value.bits = value.bits,
    };
    return true;
}

/* +8 or +-8 behind the base of an address, or nothing */
static bool parse_offset(ptx_parser *parser, int64_t *offset)
{
    *offset = 0;
    if (!ptx_at(parser, '+')) return true;
    ptx_constant value;
    if (!ptx_parse_constant(parser, &value)) return false;
    if (value.is_float) return ptx_syntax(parser, "an offset must be an integer, before this");
    *offset = (int64_t)value.bits;
    return true;
}

/* symbol, symbol+8, array[3]: the address of a variable; `[3]` counts elements */
static bool variable_operand(ptx_parser *parser, const ptx_variable *variable,
                             ptx_operand_kind kind, ptx_operand *operand)
{
    *operand =
        (ptx_operand){ .kind = (uint8_t)kind, .base = PTX_BASE_VARIABLE, .variable = variable };
    if (!ptx_accept(parser, '[')) return parse_offset(parser, &operand->value.offset);
    ptx_constant index;
    if (!ptx_parse_constant(parser, &index)) return false;
    int64_t size = (ptx_type_bits((ptx_type)variable->type) + 7) / 8;
    if (index.is_float || __builtin_mul_overflow((int64_t)index.bits, size, &operand->value.offset))
        return ptx_syntax(parser, "the index is out of range before this");
    return ptx_expect(parser, ']', "after the index");
}

static bool name_operand(ptx_parser *parser, ptx_operand *operand)
{
    const ptx_token token = parser->token;
    if (token.length == 1 && *token.text == '_') {
        ptx_next(parser);
        *operand = (ptx_operand){ .kind = PTX_OPERAND_SINK };
        return true;
    }
    if (token.length == 7 && !memcmp(token.text, "WARP_SZ", 7))
        return constant_operand(parser, operand);
    ptx_name *name = ptx_token_name(parser);
    if (!name) return false;
    ptx_next(parser);
    ptx_binding *binding = ptx_lookup(name);
    if (is_register(binding)) return register_operand(parser, name, binding, operand);
    if (binding && binding->kind == PTX_BOUND_VARIABLE)
        return variable_operand(parser, binding->variable, PTX_OPERAND_SYMBOL, operand);
    if (binding && binding->kind == PTX_BOUND_FUNCTION) {
        *operand = (ptx_operand){ .kind = PTX_OPERAND_FUNCTION, .function = binding->function };
        return true;
    }
    if (binding && binding->kind == PTX_BOUND_TABLE) {
        *operand = (ptx_operand){ .kind = PTX_OPERAND_TABLE, .index = binding->index };
        return true;
    }
    if (name->word && name->word->special)
        return special_operand(parser, name->word, &token, operand);
    return unknown(parser, &token);
}

/* ------------------------------------------------------------------ composed operands */

static bool parse_nested(ptx_parser *parser, ptx_operand *operand, unsigned depth);

/* The items up to the closing mark; they are gathered on the parser's stack and then copied. */
static bool parse_items(ptx_parser *parser, char closing, ptx_operand_kind kind,
                        ptx_operand *operand, unsigned depth)
{
    size_t base = parser->operands.count;
    while (!ptx_at(parser, closing)) {
        ptx_operand item;
        if (!parse_nested(parser, &item, depth + 1)) return false;
        if (parser->operands.count - base >= PTX_MOST_ITEMS)
            return ptx_syntax(parser, "too many elements before this");
        ptx_operand *slot = PTX_PUSH(parser, parser->operands);
        if (!slot) return false;
        *slot = item;
        if (!ptx_accept(parser, ',')) break;
    }
    if (!ptx_expect(parser, closing, "after the elements")) return false;
    uint32_t count = (uint32_t)(parser->operands.count - base);
    if (!count) return ptx_syntax(parser, "an operand is missing before this");
    *operand = (ptx_operand){ .kind = (uint8_t)kind, .index = count };
    operand->items =
        ptx_parser_copy(parser, parser->operands.items + base, count, sizeof *operand->items);
    parser->operands.count = base;
    return operand->items != NULL;
}

/* Makes an ADDRESS of what was parsed as an ordinary operand, with its offset if any. */
static bool to_address(ptx_parser *parser, ptx_operand *operand, const ptx_token *token)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        if (operand->width)
            return ptx_report(parser, token->text, token->line, token->length,
                              "a part of a register cannot be an address");
        operand->base = PTX_BASE_REGISTER;
        operand->kind = PTX_OPERAND_ADDRESS;
        return parse_offset(parser, &operand->value.offset);
    case PTX_OPERAND_SYMBOL: operand->kind = PTX_OPERAND_ADDRESS; return true;
    case PTX_OPERAND_INTEGER:
        operand->base = PTX_BASE_NONE;
        operand->kind = PTX_OPERAND_ADDRESS;
        return true;
    default:
        return ptx_report(parser, token->text, token->line, token->length,
                          "this cannot be an address");
    }
}

/* [base + offset], or the lists of textures and bulk copies: [a, {x, y}] */
static bool bracket_operand(ptx_parser *parser, ptx_operand *operand, unsigned depth)
{
    ptx_next(parser);
    const ptx_token token = parser->token;
    size_t base = parser->operands.count;
    ptx_operand first;
    if (!parse_nested(parser, &first, depth + 1)) return false;
    if (!ptx_at(parser, ',')) {
        if (!to_address(parser, &first, &token)) return false;
        *operand = first;
        return ptx_expect(parser, ']', "after the address");
    }
    if (first.kind == PTX_OPERAND_REGISTER || first.kind == PTX_OPERAND_SYMBOL) {
        if (!to_address(parser, &first, &token)) return false;
    }
    ptx_next(parser);
    ptx_operand rest;
    if (!parse_items(parser, ']', PTX_OPERAND_LIST, &rest, depth)) return false;
    parser->operands.count = base;
    ptx_operand *items = new_items(parser, operand, PTX_OPERAND_LIST, rest.index + 1);
    if (!items) return false;
    items[0] = first;
    memcpy(items + 1, rest.items, rest.index * sizeof *items);
    return true;
}

static bool parse_nested(ptx_parser *parser, ptx_operand *operand, unsigned depth)
{
    if (depth > PTX_DEEPEST_OPERAND) return ptx_syntax(parser, "operands are nested too deeply");
    if (ptx_accept(parser, '!')) {
        if (!parse_nested(parser, operand, depth + 1)) return false;
        operand->negated = !operand->negated;
        return true;
    }
    if (ptx_at(parser, '[')) return bracket_operand(parser, operand, depth);
    bool fine;
    if (ptx_accept(parser, '{'))
        fine = parse_items(parser, '}', PTX_OPERAND_VECTOR, operand, depth);
    else if (parser->token.kind == PTX_TOKEN_NAME) fine = name_operand(parser, operand);
    else if (ptx_starts_constant(parser)) fine = constant_operand(parser, operand);
    else fine = ptx_syntax(parser, "expected an operand");
    if (!fine || !ptx_at(parser, '|')) return fine;
    ptx_next(parser);
    ptx_operand left = *operand, right;
    if (!parse_nested(parser, &right, depth + 1)) return false;
    ptx_operand *items = new_items(parser, operand, PTX_OPERAND_PAIR, 2);
    if (!items) return false;
    items[0] = left;
    items[1] = right;
    return true;
}

bool ptx_parse_operand(ptx_parser *parser, ptx_operand *operand)
{
    *operand = (ptx_operand){ 0 };
    return parse_nested(parser, operand, 0);
}

bool ptx_parse_label(ptx_parser *parser, ptx_operand *operand)
{
    const ptx_token token = parser->token;
    ptx_name *name = ptx_expect_name(parser, "a label");
    if (!name) return false;
    *operand = (ptx_operand){ .kind = PTX_OPERAND_LABEL };
    ptx_pending_label *pending = PTX_PUSH(parser, parser->pending);
    if (!pending) return false;
    uint32_t number = (uint32_t)parser->pending.count;
    *pending = (ptx_pending_label){ .name = name,
                                    .operand = operand,
                                    .at = token.text,
                                    .line = token.line,
                                    .length = token.length };
    ptx_open_scope *open = &parser->open_scopes.items[parser->open_scopes.count - 1];
    if (open->pending_last) parser->pending.items[open->pending_last - 1].next = number;
    else open->pending_first = number;
    open->pending_last = number;
    return true;
}
