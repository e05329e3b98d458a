/* One operand against one word of a rule (check.c lists the words).  Immediates are brought to the
 * bits that the operand's type holds.  SPDX-License-Identifier: MIT */
#include "ptx/check.h"

#include <stdio.h>
#include <string.h>

static const char *opcode_of(const ptx_checker *checker)
{
    return ptx_opcode_name((ptx_opcode)checker->instruction->opcode);
}

static bool mismatch(ptx_checker *checker, uint32_t number, const ptx_operand *operand,
                     const char *wanted)
{
    char name[200], found[240];
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        snprintf(found, sizeof found, "the .%s register %s",
                 ptx_type_name((ptx_type)checker->function->registers[operand->index].type),
                 ptx_register_name(checker->function, operand->index, name, sizeof name));
        break;
    case PTX_OPERAND_INTEGER: snprintf(found, sizeof found, "a whole number"); break;
    case PTX_OPERAND_FLOAT:
        snprintf(found, sizeof found, "a %u-bit floating-point number", operand->width);
        break;
    case PTX_OPERAND_SPECIAL:
        return ptx_check_fail(checker, "Special register argument not allowed for instruction '%s'",
                              opcode_of(checker));
    case PTX_OPERAND_SYMBOL: snprintf(found, sizeof found, "a variable's name"); break;
    case PTX_OPERAND_FUNCTION: snprintf(found, sizeof found, "a function's name"); break;
    case PTX_OPERAND_ADDRESS: snprintf(found, sizeof found, "an address"); break;
    case PTX_OPERAND_VECTOR: snprintf(found, sizeof found, "a vector"); break;
    case PTX_OPERAND_PAIR: snprintf(found, sizeof found, "a pair"); break;
    case PTX_OPERAND_SINK: snprintf(found, sizeof found, "`_`"); break;
    default: snprintf(found, sizeof found, "something else"); break;
    }
    return ptx_check_fail(checker,
                          "Arguments mismatch for instruction '%s': operand %u is %s, expected %s",
                          opcode_of(checker), number + 1, found, wanted);
}

/* A register of any other class holds bits too, but PTX keeps integers and floats apart. */
static bool classes_agree(ptx_type a, ptx_type b)
{
    ptx_type_class x = ptx_type_class_of(a), y = ptx_type_class_of(b);
    if (x == PTX_CLASS_PREDICATE || y == PTX_CLASS_PREDICATE) return x == y;
    if (x == PTX_CLASS_BITS || y == PTX_CLASS_BITS) return true;
    return (x == PTX_CLASS_FLOAT) == (y == PTX_CLASS_FLOAT);
}

/* Does a declared register fit a type of the instruction? */
static bool register_fits(const ptx_register *reg, ptx_type type, bool wider)
{
    ptx_type own = (ptx_type)reg->type;
    uint32_t bits = ptx_type_bits(type);
    if (bits < 8 && type != PTX_PRED) bits = 8;
    if (reg->bits == bits) return classes_agree(own, type);
    if (!wider || reg->bits < bits || own == PTX_PRED || type == PTX_PRED) return false;
    /* In a wider register a float is bits, and an integer is not a float. */
    ptx_type_class a = ptx_type_class_of(own), b = ptx_type_class_of(type);
    return a == PTX_CLASS_BITS || b == PTX_CLASS_BITS ||
           (a != PTX_CLASS_FLOAT && b != PTX_CLASS_FLOAT);
}

static const char *wanted_register(ptx_type type, bool wider, char *buffer, size_t size)
{
    if (type == PTX_PRED) return "a predicate";
    snprintf(buffer, size, "a register of %u bits%s for .%s", ptx_type_bits(type),
             wider ? " or more" : "", ptx_type_name(type));
    return buffer;
}

static uint64_t cut(uint64_t value, uint32_t bits)
{
    return bits < 64 ? value & (((uint64_t)1 << bits) - 1) : value;
}

/* Brings a floating-point number to the operand's type: converted for a float of another width, as
 * it is for bits of the same width. */
static bool fix_float(ptx_operand *operand, ptx_type type)
{
    ptx_constant value = { .is_float = true, .width = operand->width, .bits = operand->value.bits };
    if (type == PTX_B32 || type == PTX_B64) return ptx_type_bits(type) == operand->width;
    if (type != PTX_F32 && type != PTX_F64) return false;
    if (ptx_type_bits(type) == operand->width) return true;
    double wide = ptx_constant_double(&value);
    float narrow = (float)wide;
    operand->width = (uint8_t)ptx_type_bits(type);
    operand->value.bits = 0;
    if (type == PTX_F32) memcpy(&operand->value.bits, &narrow, sizeof narrow);
    else memcpy(&operand->value.bits, &wide, sizeof wide);
    return true;
}

static bool fix_immediate(ptx_operand *operand, ptx_type type)
{
    if (operand->kind == PTX_OPERAND_FLOAT) return fix_float(operand, type);
    if (ptx_type_class_of(type) == PTX_CLASS_FLOAT) return false;
    if (type == PTX_PRED) operand->value.bits = operand->value.bits != 0;
    else operand->value.bits = cut(operand->value.bits, ptx_type_bits(type));
    return true;
}

static bool takes_special(const ptx_checker *checker, const ptx_operand *operand, ptx_type type)
{
    uint16_t opcode = checker->instruction->opcode;
    if (opcode != PTX_OP_MOV && opcode != PTX_OP_CVT) return false;
    ptx_type own = ptx_special_type((ptx_special)operand->index);
    if (own == PTX_PRED || type == PTX_PRED) return own == type;
    /* A 16-bit mov takes the lower half, as it did when %tid was a 16-bit register. */
    return ptx_type_class_of(type) != PTX_CLASS_FLOAT &&
           (ptx_type_bits(own) == ptx_type_bits(type) ||
            (ptx_type_bits(own) == 32 && ptx_type_bits(type) == 16));
}

bool ptx_check_source(ptx_checker *checker, uint32_t number, ptx_operand *operand, ptx_type type,
                      bool wider)
{
    char text[80];
    bool fine = false;
    if (operand->negated && type != PTX_PRED)
        return ptx_check_fail(checker, "Only a predicate can be negated with `!`");
    if (operand->kind == PTX_OPERAND_REGISTER && !operand->width)
        fine = register_fits(&checker->function->registers[operand->index], type, wider);
    else if (operand->kind == PTX_OPERAND_INTEGER || operand->kind == PTX_OPERAND_FLOAT)
        fine = fix_immediate(operand, type);
    else if (operand->kind == PTX_OPERAND_SPECIAL) fine = takes_special(checker, operand, type);
    return fine ||
           mismatch(checker, number, operand, wanted_register(type, wider, text, sizeof text));
}

static bool check_destination(ptx_checker *checker, uint32_t number, const ptx_operand *operand,
                              ptx_type type, bool wider)
{
    char text[80];
    if (operand->kind == PTX_OPERAND_SINK) return true;
    if (operand->kind == PTX_OPERAND_REGISTER && !operand->negated && !operand->width &&
        register_fits(&checker->function->registers[operand->index], type, wider))
        return true;
    return mismatch(checker, number, operand, wanted_register(type, wider, text, sizeof text));
}

/* d|p, or d alone */
static bool check_pair(ptx_checker *checker, uint32_t number, const ptx_operand *operand,
                       ptx_type type, bool always)
{
    if (operand->kind != PTX_OPERAND_PAIR) {
        if (always)
            return ptx_check_fail(checker, "Predicate output expected for instruction '%s'",
                                  opcode_of(checker));
        return check_destination(checker, number, operand, type, false);
    }
    return check_destination(checker, number, &operand->items[0], type, false) &&
           check_destination(checker, number, &operand->items[1], PTX_PRED, false);
}

/* ------------------------------------------------------------------ addresses */

static ptx_space plain_space(ptx_space space)
{
    if (space == PTX_SPACE_SHARED_CTA || space == PTX_SPACE_SHARED_CLUSTER) return PTX_SPACE_SHARED;
    if (space == PTX_SPACE_PARAM_ENTRY || space == PTX_SPACE_PARAM_FUNC) return PTX_SPACE_PARAM;
    return space;
}

static bool check_base(ptx_checker *checker, const ptx_variable *variable)
{
    const ptx_instruction *instruction = checker->instruction;
    ptx_space wanted = plain_space((ptx_space)instruction->modifiers.space);
    ptx_space own = plain_space((ptx_space)variable->space);
    bool apart = own == PTX_SPACE_PARAM || own == PTX_SPACE_CONST;
    bool agrees = wanted == own || (wanted == PTX_SPACE_GENERIC && !apart);
    if (!agrees)
        return ptx_check_fail(checker,
                              "State space mismatch between instruction and address in instruction "
                              "'%s': '%s' is in .%s",
                              opcode_of(checker), variable->name, ptx_space_name(own));
    const ptx_function *function = checker->function;
    bool parameter = own == PTX_SPACE_PARAM && variable >= function->params &&
                     variable < function->params + function->param_count;
    if (parameter && instruction->opcode != PTX_OP_LD && instruction->opcode != PTX_OP_CVTA)
        return ptx_check_fail(checker, "Illegal to write to function input parameter '%s'",
                              variable->name);
    return true;
}

static bool check_address(ptx_checker *checker, uint32_t number, const ptx_operand *operand)
{
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->negated)
        return mismatch(checker, number, operand, "an address in brackets");
    if (operand->base == PTX_BASE_VARIABLE) return check_base(checker, operand->variable);
    if (operand->base == PTX_BASE_NONE)
        return checker->instruction->modifiers.space == PTX_SPACE_LOCAL ||
               ptx_check_fail(checker, "Immediate addresses allowed only for .local state space");
    const ptx_register *reg = &checker->function->registers[operand->index];
    ptx_type_class class = ptx_type_class_of((ptx_type)reg->type);
    if ((reg->bits == 32 || reg->bits == 64) && class != PTX_CLASS_FLOAT) return true;
    char name[200];
    return ptx_check_fail(checker,
                          "Illegal to use symbol '%s' of type .%s as address operand. Use integer "
                          "or bit only.",
                          ptx_register_name(checker->function, operand->index, name, sizeof name),
                          ptx_type_name((ptx_type)reg->type));
}

/* The address of a variable as a value (cvta, isspacep), or an ordinary source. */
static bool check_symbol_or_source(ptx_checker *checker, uint32_t number, ptx_operand *operand,
                                   ptx_type type)
{
    if (operand->kind != PTX_OPERAND_SYMBOL)
        return ptx_check_source(checker, number, operand, type, false);
    return checker->instruction->opcode == PTX_OP_ISSPACEP ||
           check_base(checker, operand->variable);
}

/* isspacep takes an address of either size. */
static bool check_classified(ptx_checker *checker, uint32_t number, ptx_operand *operand)
{
    bool narrow = operand->kind == PTX_OPERAND_REGISTER &&
                  checker->function->registers[operand->index].bits == 32;
    return check_symbol_or_source(checker, number, operand, narrow ? PTX_B32 : PTX_B64);
}

/* ------------------------------------------------------------------ loads, stores, moves */

static bool check_vector_size(ptx_checker *checker, const ptx_operand *operand, uint32_t wanted)
{
    uint32_t found = operand->kind == PTX_OPERAND_VECTOR ? operand->index : 1;
    if (found == wanted && !operand->negated) return true;
    return ptx_check_fail(checker,
                          "Argument vector size mismatch for instruction '%s': %u elements, "
                          "expected %u",
                          opcode_of(checker), found, wanted);
}

static bool check_element(ptx_checker *checker, uint32_t number, ptx_operand *operand,
                          ptx_type type, bool written)
{
    if (written) return check_destination(checker, number, operand, type, true);
    return ptx_check_source(checker, number, operand, type, true);
}

/* What a load fills or a store takes: one value, or as many as the vector modifier says. */
static bool check_memory_value(ptx_checker *checker, uint32_t number, ptx_operand *operand,
                               bool written)
{
    const ptx_modifiers *m = &checker->instruction->modifiers;
    ptx_type type = (ptx_type)m->types[0];
    if (!check_vector_size(checker, operand, m->vector ? m->vector : 1)) return false;
    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_element(checker, number, operand, type, written);
    for (uint32_t i = 0; i < operand->index; i++)
        if (!check_element(checker, number, &operand->items[i], type, written)) return false;
    return true;
}

/* The type of one part when `parts` registers make up a value of `type`; NONE when that is odd. */
static ptx_type part_type(ptx_type type, uint32_t parts)
{
    if (ptx_type_class_of(type) != PTX_CLASS_BITS || (parts != 2 && parts != 4)) return PTX_NO_TYPE;
    switch (ptx_type_bits(type) / parts) {
    case 8: return PTX_B8;
    case 16: return PTX_B16;
    case 32: return PTX_B32;
    case 64: return PTX_B64;
    default: return PTX_NO_TYPE;
    }
}

static bool check_parts(ptx_checker *checker, uint32_t number, ptx_operand *operand, ptx_type type,
                        bool written)
{
    for (uint32_t i = 0; i < operand->index; i++) {
        ptx_operand *item = &operand->items[i];
        bool fine = written ? check_destination(checker, number, item, type, false)
                            : ptx_check_source(checker, number, item, type, false);
        if (!fine) return false;
    }
    return true;
}

/* mov d, a; mov.b64 {a,b}, c; mov.b64 c, {a,b}; mov.v2.b32 {a,b}, {c,d}; mov.u64 d, symbol */
bool ptx_check_move(ptx_checker *checker)
{
    ptx_instruction *instruction = checker->instruction;
    const ptx_modifiers *m = &instruction->modifiers;
    ptx_type type = (ptx_type)m->types[0];
    if (instruction->operand_count != 2)
        return ptx_check_fail(checker,
                              "Arguments mismatch for instruction 'mov': it has %u "
                              "operands and takes 2",
                              instruction->operand_count);
    ptx_operand *d = &instruction->operands[0], *a = &instruction->operands[1];
    bool packs = a->kind == PTX_OPERAND_VECTOR, unpacks = d->kind == PTX_OPERAND_VECTOR;
    if (m->vector)
        return check_vector_size(checker, d, m->vector) &&
               check_vector_size(checker, a, m->vector) && check_parts(checker, 0, d, type, true) &&
               check_parts(checker, 1, a, type, false);
    if (packs || unpacks) {
        ptx_operand *vector = unpacks ? d : a;
        ptx_type part = part_type(type, vector->index);
        if (part == PTX_NO_TYPE || (packs && unpacks))
            return mismatch(checker, unpacks ? 0 : 1, vector, "parts that make up the type");
        if (!check_parts(checker, unpacks ? 0 : 1, vector, part, unpacks)) return false;
    }
    if (!unpacks && !check_destination(checker, 0, d, type, false)) return false;
    if (packs) return true;
    if (a->kind == PTX_OPERAND_SYMBOL || a->kind == PTX_OPERAND_FUNCTION) {
        uint32_t bits = ptx_type_bits(type);
        if ((bits == 32 || bits == 64) && ptx_type_class_of(type) != PTX_CLASS_FLOAT) return true;
        return mismatch(checker, 1, a, "a value of the instruction's type");
    }
    return ptx_check_source(checker, 1, a, type, false);
}

/* ------------------------------------------------------------------ a word of a rule */

static ptx_type twice(ptx_type type)
{
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    default: return PTX_S64;
    }
}

static ptx_type type_of_spec(const ptx_checker *checker, char letter)
{
    const ptx_modifiers *m = &checker->instruction->modifiers;
    switch (letter) {
    case '0':
    case '1':
    case '2': return (ptx_type)m->types[letter - '0'];
    case 'l': return PTX_B64;
    case 'u': return PTX_U32;
    case 'x': return twice((ptx_type)m->types[0]);
    default: return PTX_B32;
    }
}

bool ptx_check_operand(ptx_checker *checker, uint32_t number, ptx_operand *operand,
                       const char *spec, size_t spec_length)
{
    ptx_type type = spec_length > 1 ? type_of_spec(checker, spec[1]) : PTX_NO_TYPE;
    switch (spec[0]) {
    case 'd': return check_destination(checker, number, operand, type, false);
    case 'D': return check_destination(checker, number, operand, type, true);
    case 's': return ptx_check_source(checker, number, operand, type, false);
    case 'S': return ptx_check_source(checker, number, operand, type, true);
    case 'q': return check_destination(checker, number, operand, PTX_PRED, false);
    case 'Q': return check_pair(checker, number, operand, PTX_PRED, false);
    case 'P': return check_pair(checker, number, operand, type, false);
    case '2': return check_pair(checker, number, operand, type, true);
    case 'p':
    case 'b': return ptx_check_source(checker, number, operand, PTX_PRED, false);
    case 'a': return check_address(checker, number, operand);
    case 'A': return check_classified(checker, number, operand);
    case 'y': return check_symbol_or_source(checker, number, operand, type);
    case 'h': return ptx_check_source(checker, number, operand, PTX_B64, false);
    case 'i':
        return operand->kind == PTX_OPERAND_INTEGER ||
               mismatch(checker, number, operand, "a whole number");
    case 'l':
        return operand->kind == PTX_OPERAND_LABEL || mismatch(checker, number, operand, "a label");
    case 't':
        if (operand->kind == PTX_OPERAND_TABLE &&
            !checker->function->tables[operand->index].of_functions)
            return true;
        return mismatch(checker, number, operand, "a name declared with .branchtargets");
    case 'L': return check_memory_value(checker, number, operand, true);
    default: return check_memory_value(checker, number, operand, false);
    }
}
