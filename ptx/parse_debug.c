/* .file, .loc and .section: where code comes from.  The DWARF of -G is kept as text; only the names
 * of inlined functions are read out of it.  SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <string.h>

/* .file 1 "name" [, time, size] */
bool ptx_parse_file(ptx_parser *parser)
{
    ptx_next(parser);
    ptx_file *file = PTX_PUSH(parser, parser->files);
    if (!file) return false;
    *file = (ptx_file){ 0 };
    if (!ptx_log(parser, PTX_STATEMENT_FILE, parser->files.count - 1)) return false;
    if (!ptx_expect_u32(parser, &file->number, "the file's number")) return false;
    if (parser->token.kind != PTX_TOKEN_STRING) return ptx_syntax(parser, "expected a file name");
    file->name =
        gpul__arena_strndup(&parser->module->arena, parser->token.text, parser->token.length);
    if (!file->name) return ptx_no_memory(parser) != NULL;
    ptx_next(parser);
    if (!ptx_accept(parser, ',')) return true;
    file->has_time = true;
    ptx_constant value;
    if (!ptx_parse_constant(parser, &value)) return false;
    file->time = value.bits;
    if (!ptx_expect(parser, ',', "between time and size")) return false;
    if (!ptx_parse_constant(parser, &value)) return false;
    file->size = value.bits;
    return true;
}

static bool parse_place(ptx_parser *parser, ptx_location *place)
{
    return ptx_expect_u32(parser, &place->file, "a file number") &&
           ptx_expect_u32(parser, &place->line, "a line") &&
           ptx_expect_u32(parser, &place->column, "a column");
}

static bool word_is(const ptx_parser *parser, const char *text)
{
    const ptx_token *token = &parser->token;
    return token->kind == PTX_TOKEN_NAME && token->length == strlen(text) &&
           !memcmp(token->text, text, token->length);
}

/* The place that inlined code was inlined at is an earlier .loc: the youngest with these numbers, or
 * a new one. */
static bool find_inlined_at(ptx_parser *parser, const ptx_location *place, uint32_t *index)
{
    enum { BACK = 64 };
    size_t count = parser->locations.count;
    for (size_t i = count; i > 0 && i + BACK > count; i--) {
        const ptx_location *old = &parser->locations.items[i - 1];
        if (old->file == place->file && old->line == place->line && old->column == place->column) {
            *index = (uint32_t)i;
            return true;
        }
    }
    ptx_location *made = PTX_PUSH(parser, parser->locations);
    if (!made) return false;
    *made = *place;
    *index = (uint32_t)parser->locations.count;
    return true;
}

/* .loc 1 25 41 [, function_name label [+ 4], inlined_at 1 12 3] */
bool ptx_parse_loc(ptx_parser *parser)
{
    ptx_next(parser);
    ptx_location made = { 0 };
    if (!parse_place(parser, &made)) return false;
    while (ptx_accept(parser, ',')) {
        if (word_is(parser, "function_name")) {
            ptx_next(parser);
            ptx_name *label = ptx_expect_name(parser, "the label of a function's name");
            if (!label) return false;
            made.function_label = label->text;
            ptx_constant offset;
            if (ptx_at(parser, '+')) {
                if (!ptx_parse_constant(parser, &offset)) return false;
                made.function_offset = offset.bits;
            }
        } else if (word_is(parser, "inlined_at")) {
            ptx_next(parser);
            ptx_location at = { 0 };
            if (!parse_place(parser, &at) || !find_inlined_at(parser, &at, &made.inlined_at))
                return false;
        } else {
            return ptx_syntax(parser, "expected function_name or inlined_at");
        }
    }
    ptx_location *slot = PTX_PUSH(parser, parser->locations);
    if (!slot) return false;
    *slot = made;
    parser->location = (uint32_t)parser->locations.count;
    return ptx_log(parser, PTX_STATEMENT_LOCATION, parser->locations.count - 1);
}

/* .section .debug_info { ... } */
bool ptx_parse_section(ptx_parser *parser)
{
    ptx_next(parser);
    const ptx_token token = parser->token;
    if (token.kind != PTX_TOKEN_DOTTED && token.kind != PTX_TOKEN_NAME)
        return ptx_syntax(parser, "expected the section's name");
    ptx_next(parser);
    if (!ptx_at(parser, '{')) return ptx_syntax(parser, "expected `{` after the section's name");
    ptx_section *section = PTX_PUSH(parser, parser->sections);
    if (!section) return false;
    *section = (ptx_section){ 0 };
    if (!ptx_lex_skip_braces(&parser->lexer, &section->text, &section->length))
        return ptx_syntax(parser, "expected `}` after the section that begins here");
    section->name = gpul__arena_strndup(&parser->module->arena, token.text, token.length);
    if (!section->name) return ptx_no_memory(parser) != NULL;
    ptx_next(parser);
    return ptx_log(parser, PTX_STATEMENT_SECTION, parser->sections.count - 1);
}

/* ------------------------------------------------------------------ names in .debug_str */

/* A string table as bytes, and the labels that point into it. */
typedef struct string_table {
    PTX_VECTOR(char) bytes;
    struct {
        ptx_name **items;
        size_t count, capacity;
    } labels;
    PTX_VECTOR(size_t) offsets;
} string_table;

static bool push_byte(ptx_parser *parser, string_table *table, uint64_t byte)
{
    char *slot = PTX_PUSH(parser, table->bytes);
    if (slot) *slot = (char)byte;
    return slot != NULL;
}

static bool push_label(ptx_parser *parser, string_table *table, const ptx_token *token)
{
    ptx_name *name = ptx_intern(&parser->symbols, token->text, token->length, token->hash);
    ptx_name **label = name ? PTX_PUSH(parser, table->labels) : NULL;
    size_t *offset = label ? PTX_PUSH(parser, table->offsets) : NULL;
    if (!offset) return ptx_no_memory(parser) != NULL;
    *label = name;
    *offset = table->bytes.count;
    return true;
}

/* Reads `label:` and `.b8 95,90,...` (commas or line by line); anything else ends the reading. */
static bool read_strings(ptx_parser *parser, const ptx_section *section, string_table *table)
{
    ptx_lexer lexer;
    ptx_token token;
    ptx_lexer_init(&lexer, section->text, section->length);
    for (ptx_lex(&lexer, &token); token.kind != PTX_TOKEN_END; ptx_lex(&lexer, &token)) {
        bool fine = true;
        if (token.kind == PTX_TOKEN_NAME) fine = push_label(parser, table, &token);
        else if (token.kind == PTX_TOKEN_INTEGER) fine = push_byte(parser, table, token.bits);
        else if (token.kind == PTX_TOKEN_BAD) break;
        if (!fine) return false;
    }
    return push_byte(parser, table, 0);
}

static void resolve(ptx_parser *parser, const string_table *table)
{
    const char *strings = ptx_parser_copy(parser, table->bytes.items, table->bytes.count, 1);
    for (size_t i = 0; i < parser->locations.count && !parser->stopped; i++) {
        ptx_location *location = &parser->locations.items[i];
        if (!location->function_label) continue;
        uint32_t length = (uint32_t)strlen(location->function_label);
        ptx_name *label = ptx_intern(&parser->symbols, location->function_label, length,
                                     ptx_word_hash(location->function_label, length));
        if (!label) ptx_no_memory(parser);
        if (!label || !label->in_table) continue;
        uint64_t offset = table->offsets.items[label->in_table - 1];
        uint64_t at = offset + location->function_offset;
        if (at < offset || at >= table->bytes.count) continue;
        location->function = strings + at;
    }
}

void ptx_name_inlined_functions(ptx_parser *parser)
{
    for (size_t i = 0; i < parser->sections.count && !parser->stopped; i++) {
        const ptx_section *section = &parser->sections.items[i];
        if (strcmp(section->name, ".debug_str") != 0) continue;
        string_table table = { 0 };
        if (read_strings(parser, section, &table)) {
            for (size_t k = 0; k < table.labels.count; k++)
                table.labels.items[k]->in_table = (uint32_t)k + 1;
            resolve(parser, &table);
        }
        gpul__free(table.bytes.items);
        gpul__free(table.labels.items);
        gpul__free(table.offsets.items);
        return;
    }
}
