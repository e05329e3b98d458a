/* Instructions: the words after the opcode as a set, operands, and calls.
 * SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ modifiers */

/* `.lo` compares in setp and picks a half in mul; `.sync` is what bar does and an addition to shfl.
 * Which meaning a word has depends on the opcode alone. */
static bool means_compare(ptx_opcode opcode, const ptx_word *word)
{
    if (!word->compare) return false;
    return !word->mode || opcode == PTX_OP_SET || opcode == PTX_OP_SETP;
}

static bool means_mode(ptx_opcode opcode, const ptx_word *word)
{
    if (!word->mode || !word->flag) return word->mode != 0;
    if (word->mode == PTX_MODE_VOTE_UNI) return opcode == PTX_OP_VOTE;
    return opcode == PTX_OP_BAR || opcode == PTX_OP_BARRIER;
}

/* Puts a word into a field that must be free. */
static bool put(uint8_t *field, uint8_t value)
{
    if (*field) return false;
    *field = value;
    return true;
}

/* False: the word contradicts an earlier one. */
static bool put_word(ptx_modifiers *modifiers, ptx_opcode opcode, const ptx_word *word)
{
    if (word->type) {
        if (modifiers->type_count == sizeof modifiers->types) return false;
        modifiers->types[modifiers->type_count++] = word->type;
        return true;
    }
    if (means_compare(opcode, word)) return put(&modifiers->compare, word->compare);
    if (means_mode(opcode, word)) return put(&modifiers->mode, word->mode);
    if (word->flag) {
        uint32_t flag = 1u << (word->flag - 1);
        if (modifiers->flags & flag) return false;
        modifiers->flags |= flag;
        return true;
    }
    if (word->space) return put(&modifiers->space, word->space);
    if (word->rounding) return put(&modifiers->rounding, word->rounding);
    if (word->operation) return put(&modifiers->operation, word->operation);
    if (word->vector) return put(&modifiers->vector, word->vector);
    if (word->scope) return put(&modifiers->scope, word->scope);
    if (word->semantics) return put(&modifiers->semantics, word->semantics);
    if (word->cache) return put(&modifiers->cache, word->cache);
    if (word->prefetch) return put(&modifiers->prefetch, word->prefetch);
    return put(modifiers->eviction ? &modifiers->eviction2 : &modifiers->eviction, word->eviction);
}

static bool put_raw(ptx_parser *parser, ptx_modifiers *modifiers, const char **words)
{
    if (modifiers->word_count == PTX_MOST_WORDS)
        return ptx_syntax(parser, "too many modifiers before this");
    ptx_name *name = ptx_token_name(parser);
    if (!name) return false;
    words[modifiers->word_count++] = name->text;
    return true;
}

static bool parse_modifiers(ptx_parser *parser, ptx_instruction *made)
{
    ptx_opcode opcode = (ptx_opcode)made->opcode;
    ptx_modifiers *modifiers = &made->modifiers;
    const char *words[PTX_MOST_WORDS];
    bool raw = !ptx_opcode_runs(opcode), fine = true;
    while (parser->token.kind == PTX_TOKEN_DOTTED) {
        const ptx_token *token = &parser->token;
        const ptx_word *word = raw ? NULL : ptx_word_find(token->text, token->length, token->hash);
        if (!word || !word->is_modifier) {
            if (!put_raw(parser, modifiers, words)) return false;
        } else if (!put_word(modifiers, opcode, word)) {
            fine = ptx_report(parser, token->text, token->line, token->length,
                              "Modifier '%.*s' contradicts an earlier one of instruction '%s'",
                              (int)token->length, token->text, ptx_opcode_name(opcode));
        }
        parser->spelling_length = (uint32_t)(token->text + token->length - parser->spelling);
        ptx_next(parser);
    }
    modifiers->words = ptx_parser_copy(parser, words, modifiers->word_count, sizeof *words);
    return fine && !parser->stopped;
}

/* ------------------------------------------------------------------ operands */

static bool seal_operands(ptx_parser *parser, size_t base, ptx_operand **operands, size_t *count)
{
    *count = parser->operands.count - base;
    *operands = ptx_parser_copy(parser, parser->operands.items + base, *count, sizeof **operands);
    parser->operands.count = base;
    return !parser->stopped;
}

static bool push_operand(ptx_parser *parser)
{
    ptx_operand operand;
    if (!ptx_parse_operand(parser, &operand)) return false;
    ptx_operand *slot = PTX_PUSH(parser, parser->operands);
    if (!slot) return false;
    *slot = operand;
    return true;
}

static bool parse_operands(ptx_parser *parser, ptx_instruction *made)
{
    size_t count;
    parser->operands.count = 0;
    while (!ptx_at(parser, ';')) {
        if (!push_operand(parser)) return false;
        if (parser->operands.count > PTX_MOST_OPERANDS)
            return ptx_syntax(parser, "too many operands before this");
        if (!ptx_accept(parser, ',')) break;
        if (ptx_at(parser, ';')) return ptx_syntax(parser, "expected an operand");
    }
    if (!seal_operands(parser, 0, &made->operands, &count)) return false;
    made->operand_count = (uint8_t)count;
    return true;
}

/* bra label: the operand is in its place before the label is looked for. */
static bool parse_branch(ptx_parser *parser, ptx_instruction *made)
{
    made->operands = ptx_parser_alloc(parser, 1, sizeof *made->operands);
    if (!made->operands) return false;
    made->operand_count = 1;
    return ptx_parse_label(parser, made->operands);
}

/* ( a, b ), perhaps empty */
static bool parse_list(ptx_parser *parser, ptx_operand **operands, uint32_t *count)
{
    size_t base = parser->operands.count, sealed;
    ptx_next(parser);
    while (!ptx_at(parser, ')')) {
        if (!push_operand(parser)) return false;
        if (parser->operands.count - base > PTX_MOST_ITEMS)
            return ptx_syntax(parser, "too many arguments before this");
        if (!ptx_accept(parser, ',')) break;
    }
    if (!seal_operands(parser, base, operands, &sealed)) return false;
    *count = (uint32_t)sealed;
    return ptx_expect(parser, ')', "after the list");
}

/* The prototype or the table of possible callees behind an indirect call */
static bool parse_call_targets(ptx_parser *parser, ptx_call *call)
{
    const ptx_token token = parser->token;
    ptx_name *name = ptx_expect_name(parser, "a prototype or a table of functions");
    if (!name) return false;
    ptx_binding *binding = ptx_lookup(name);
    if (binding && binding->kind == PTX_BOUND_PROTOTYPE) call->prototype = binding->index + 1;
    else if (binding && binding->kind == PTX_BOUND_TABLE) call->table = binding->index + 1;
    else
        return ptx_report(parser, token.text, token.line, token.length, "Unknown symbol '%s'",
                          name->text);
    return true;
}

/* call (results), callee, (arguments), prototype; */
static bool parse_call(ptx_parser *parser, ptx_instruction *made)
{
    ptx_call *call = made->call = ptx_parser_alloc(parser, 1, sizeof *call);
    if (!call) return false;
    parser->operands.count = 0;
    if (ptx_at(parser, '(') && (!parse_list(parser, &call->results, &call->result_count) ||
                                !ptx_expect(parser, ',', "after the results")))
        return false;
    const ptx_token token = parser->token;
    if (!ptx_parse_operand(parser, &call->callee)) return false;
    if (call->callee.kind != PTX_OPERAND_FUNCTION && call->callee.kind != PTX_OPERAND_REGISTER)
        return ptx_report(parser, token.text, token.line, token.length,
                          "only a function or a register can be called");
    if (!ptx_accept(parser, ',')) return true;
    if (ptx_at(parser, '(')) {
        if (!parse_list(parser, &call->arguments, &call->argument_count)) return false;
        if (!ptx_accept(parser, ',')) return true;
    }
    return parse_call_targets(parser, call);
}

/* ------------------------------------------------------------------ the instruction */

bool ptx_parse_instruction(ptx_parser *parser, const ptx_token *opcode, uint32_t guard,
                           bool guard_negated, const char *start, uint32_t line)
{
    ptx_instruction made = { .guard = guard,
                             .guard_negated = guard_negated,
                             .line = line,
                             .location = parser->location,
                             .scope = ptx_scope_here(parser),
                             .text_offset = (uint32_t)(start - parser->module->text) };
    const ptx_word *word = ptx_word_find(opcode->text, opcode->length, opcode->hash);
    parser->spelling = opcode->text;
    parser->spelling_length = opcode->length;
    bool fine;
    if (!word || !word->opcode) {
        /* Words and operands are skipped with it. */
        while (parser->token.kind == PTX_TOKEN_DOTTED) {
            parser->spelling_length = (uint32_t)(parser->lexer.at - opcode->text);
            ptx_next(parser);
        }
        fine = ptx_report(parser, opcode->text, opcode->line, opcode->length,
                          "Not a name of any known instruction: '%.*s'",
                          (int)(opcode->length < 100 ? opcode->length : 100), opcode->text);
    } else {
        made.opcode = word->opcode;
        fine = parse_modifiers(parser, &made);
        if (fine) {
            if (made.opcode == PTX_OP_BRA) fine = parse_branch(parser, &made);
            else if (made.opcode == PTX_OP_CALL) fine = parse_call(parser, &made);
            else fine = parse_operands(parser, &made);
        }
        fine = fine && ptx_expect(parser, ';', "after the instruction");
    }
    if (fine) {
        made.text_length = (uint32_t)(parser->token_end - start);
        ptx_instruction *slot = PTX_PUSH(parser, parser->instructions);
        if (slot) *slot = made;
        fine = slot && ptx_log(parser, PTX_STATEMENT_INSTRUCTION, parser->instructions.count - 1);
    }
    parser->spelling_length = 0;
    return fine;
}

/* ------------------------------------------------------------------ names for reports */

const char *ptx_instruction_spelling(const ptx_module *module, const ptx_instruction *instruction,
                                     size_t *length)
{
    ptx_lexer lexer;
    ptx_token token;
    ptx_lexer_init(&lexer, module->text + instruction->text_offset, instruction->text_length);
    ptx_lex(&lexer, &token);
    if (token.kind == PTX_TOKEN_PUNCT && token.punct == '@') {
        do ptx_lex(&lexer, &token); /* the guard, and the opcode behind it */
        while (token.kind == PTX_TOKEN_PUNCT);
        ptx_lex(&lexer, &token);
    }
    const char *start = token.text, *end = token.text;
    do {
        end = token.text + token.length;
        ptx_lex(&lexer, &token);
    } while (token.kind == PTX_TOKEN_DOTTED);
    *length = (size_t)(end - start);
    return start;
}

const char *ptx_register_name(const ptx_function *function, uint32_t index, char *buffer,
                              size_t size)
{
    const ptx_register *reg = &function->registers[index];
    const ptx_register_group *group = &function->groups[reg->group];
    uint32_t components = group->vector ? group->vector : 1;
    uint32_t number = reg->number / components, component = reg->number % components;
    char suffix[3] = { '.', "xyzw"[component], 0 };
    if (!group->vector) suffix[0] = 0;
    if (group->is_range) snprintf(buffer, size, "%s%u%s", group->name, number, suffix);
    else snprintf(buffer, size, "%s%s", group->name, suffix);
    return buffer;
}
