/* Initialisers of variables: nested lists of numbers and addresses, laid out as bytes and
 * relocations.  SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <string.h>

/* One list's progress: where it stands and where its part of the variable ends. */
typedef struct filler {
    ptx_parser *parser;
    ptx_variable *variable;
    uint64_t element; /* bytes of one scalar */
    uint8_t *data;
    size_t capacity;
    uint64_t extent; /* the bytes written so far, from the start */
    PTX_VECTOR(ptx_relocation) relocations;
    const char *start; /* of the initialiser, to bound memory by the text's size */
} filler;

/* Memory for one element at `offset`.  Nested lists may leave gaps of zeros; what a short text can
 * ask for is bounded. */
static bool reach(filler *fill, uint64_t offset)
{
    enum { SMALL = 1 << 26, FACTOR = 64 };
    const uint64_t end = offset + fill->element;
    uint64_t text = (uint64_t)(fill->parser->lexer.at - fill->start);
    if (end < offset || (end > SMALL && end / FACTOR > text))
        return ptx_syntax(fill->parser, "the initialiser is too sparse for its size");
    if (end > fill->capacity) {
        size_t wanted = fill->capacity ? fill->capacity * 2 : 256;
        if (wanted < end) wanted = (size_t)end;
        uint8_t *data = gpul__realloc(fill->data, wanted);
        if (!data) return ptx_no_memory(fill->parser) != NULL;
        memset(data + fill->capacity, 0, wanted - fill->capacity);
        fill->data = data;
        fill->capacity = wanted;
    }
    if (end > fill->extent) fill->extent = end;
    return true;
}

/* The bytes of a number as the element's type holds them. */
static uint64_t element_bits(const filler *fill, const ptx_constant *value)
{
    ptx_type type = (ptx_type)fill->variable->type;
    if (ptx_type_class_of(type) != PTX_CLASS_FLOAT) return value->bits;
    double wide = ptx_constant_double(value);
    float narrow = (float)wide;
    uint64_t bits = 0;
    switch (type) {
    case PTX_F64: memcpy(&bits, &wide, sizeof wide); return bits;
    case PTX_F32:
    case PTX_TF32:
        /* Given by its bits it stays as it is, a NaN's payload too. */
        if (value->is_float && value->width == 32) return value->bits;
        memcpy(&bits, &narrow, sizeof narrow);
        return bits;
    case PTX_F16:
    case PTX_BF16:
        return value->is_float ? ptx_half_from_double(wide, type == PTX_BF16) : value->bits;
    default: return value->bits;
    }
}

static bool put_number(filler *fill, uint64_t offset)
{
    const ptx_token token = fill->parser->token;
    ptx_constant value;
    if (!ptx_parse_constant(fill->parser, &value) || !reach(fill, offset)) return false;
    if (value.is_float && ptx_type_class_of((ptx_type)fill->variable->type) != PTX_CLASS_FLOAT &&
        value.width != fill->element * 8)
        ptx_report(fill->parser, token.text, token.line, token.length,
                   "a floating-point constant cannot initialise .%s",
                   ptx_type_name((ptx_type)fill->variable->type));
    uint64_t bits = element_bits(fill, &value);
    for (uint64_t i = 0; i < fill->element; i++)
        fill->data[offset + i] = i < 8 ? (uint8_t)(bits >> (8 * i)) : 0;
    return true;
}

/* symbol, symbol+4, generic(symbol)+4: what stands inside a mask or alone */
static bool parse_symbol(filler *fill, ptx_relocation *out)
{
    ptx_parser *parser = fill->parser;
    ptx_token token = parser->token;
    bool generic =
        token.kind == PTX_TOKEN_NAME && token.length == 7 && !memcmp(token.text, "generic", 7);
    if (generic) {
        ptx_next(parser);
        if (!ptx_expect(parser, '(', "after generic")) return false;
        token = parser->token;
    }
    ptx_name *name = ptx_expect_name(parser, "a symbol");
    if (!name) return false;
    ptx_binding *binding = ptx_lookup(name);
    if (binding && binding->kind == PTX_BOUND_VARIABLE) out->variable = binding->variable;
    else if (binding && binding->kind == PTX_BOUND_FUNCTION) out->function = binding->function;
    else
        ptx_report(parser, token.text, token.line, token.length, "Unknown symbol '%s'", name->text);
    out->generic = generic;
    ptx_constant addend = { 0 };
    bool inner = ptx_at(parser, '+') || ptx_at(parser, '-');
    if (inner && !ptx_parse_constant(parser, &addend)) return false;
    if (generic && !ptx_expect(parser, ')', "after the symbol")) return false;
    if (!inner && (ptx_at(parser, '+') || ptx_at(parser, '-')) &&
        !ptx_parse_constant(parser, &addend))
        return false;
    if (addend.is_float) return ptx_syntax(parser, "an offset must be an integer, before this");
    out->addend = (int64_t)addend.bits;
    return true;
}

/* 0xFF00(symbol): one byte of its address */
static bool mask_shift(uint64_t mask, uint8_t *shift)
{
    for (*shift = 0; *shift < 64; *shift += 8)
        if (mask == (uint64_t)0xff << *shift) return true;
    return false;
}

static bool put_address(filler *fill, uint64_t offset)
{
    ptx_parser *parser = fill->parser;
    ptx_relocation made = { .offset = offset, .width = (uint8_t)fill->element };
    const ptx_token token = parser->token;
    bool masked = token.kind == PTX_TOKEN_INTEGER;
    if (masked) {
        made.masked = true;
        if (!mask_shift(token.bits, &made.shift))
            return ptx_syntax(parser, "expected a mask of one byte such as 0xFF00");
        ptx_next(parser);
        if (!ptx_expect(parser, '(', "after the mask")) return false;
    }
    if (!parse_symbol(fill, &made) || (masked && !ptx_expect(parser, ')', "after the symbol")))
        return false;
    if (fill->element != 1 && fill->element != 2 && fill->element != 4 && fill->element != 8)
        return ptx_report(parser, token.text, token.line, token.length,
                          "an address cannot initialise .%s",
                          ptx_type_name((ptx_type)fill->variable->type)),
               true;
    ptx_relocation *slot = PTX_PUSH(parser, fill->relocations);
    if (!slot || !reach(fill, offset)) return false;
    *slot = made;
    return true;
}

/* Is the integer here the mask of an address?  Then a parenthesis stands right behind it. */
static bool masks_address(const ptx_parser *parser)
{
    if (parser->token.kind != PTX_TOKEN_INTEGER) return false;
    const char *at = parser->lexer.at;
    while (at < parser->lexer.end && (*at == ' ' || *at == '\t')) at++;
    return at < parser->lexer.end && *at == '(';
}

static bool put_element(filler *fill, uint64_t offset)
{
    const ptx_token *token = &fill->parser->token;
    bool symbol = token->kind == PTX_TOKEN_NAME &&
                  !(token->length == 7 && !memcmp(token->text, "WARP_SZ", 7));
    if (symbol || masks_address(fill->parser)) return put_address(fill, offset);
    return put_number(fill, offset);
}

/* A list that fills [offset, end); dimension `level` and deeper are inside it.  An element of one
 * dimension is a list or continues flatly. */
static bool put_list(filler *fill, uint64_t offset, uint64_t end, unsigned level)
{
    ptx_parser *parser = fill->parser;
    ptx_variable *variable = fill->variable;
    if (level > PTX_MAX_DIMENSIONS + 1u)
        return ptx_syntax(parser, "the initialiser is nested too deeply");
    uint64_t stride = fill->element;
    for (unsigned d = level + 1; d < variable->dimension_count; d++)
        stride *= variable->dimensions[d];
    if (variable->vector && level < variable->dimension_count) stride *= variable->vector;
    while (!ptx_at(parser, '}')) {
        bool nested = ptx_accept(parser, '{');
        uint64_t size = nested ? stride : fill->element;
        if (!variable->unsized && (offset > end || size > end - offset))
            return ptx_syntax(parser, "the initialiser has more elements than '%s'",
                              variable->name);
        if (!(nested ? put_list(fill, offset, offset + stride, level + 1)
                     : put_element(fill, offset)))
            return false;
        offset += size;
        if (!ptx_accept(parser, ',')) break;
    }
    return ptx_expect(parser, '}', "after the initialiser");
}

bool ptx_parse_initialiser(ptx_parser *parser, ptx_variable *variable)
{
    uint64_t element = (ptx_type_bits((ptx_type)variable->type) + 7) / 8;
    filler fill = {
        .parser = parser, .variable = variable, .element = element, .start = parser->token.text
    };
    const ptx_token token = parser->token;
    if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST)
        ptx_report(parser, token.text, token.line, token.length,
                   "a .%s variable cannot have an initialiser",
                   ptx_space_name((ptx_space)variable->space));
    bool done =
        ptx_accept(parser, '{') ? put_list(&fill, 0, variable->size, 0) : put_element(&fill, 0);
    if (done) {
        variable->initialised = true;
        if (variable->unsized) {
            /* `a[] = { ... }` is as large as its initialiser. */
            uint64_t row = element * (variable->vector ? variable->vector : 1);
            for (unsigned d = 1; d < variable->dimension_count; d++) row *= variable->dimensions[d];
            variable->dimensions[0] = row ? (fill.extent + row - 1) / row : 0;
            variable->size = variable->dimensions[0] * row;
            variable->unsized = false;
        }
        variable->data_size = fill.extent;
        variable->data = ptx_parser_copy(parser, fill.data, (size_t)fill.extent, 1);
        variable->relocation_count = (uint32_t)fill.relocations.count;
        variable->relocations = ptx_parser_copy(
            parser, fill.relocations.items, fill.relocations.count, sizeof *fill.relocations.items);
    }
    gpul__free(fill.data);
    gpul__free(fill.relocations.items);
    return done && !parser->stopped;
}
