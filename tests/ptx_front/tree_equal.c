/* Field-by-field comparison of two modules.  SPDX-License-Identifier: MIT */
#include "tree_equal.h"

#include <stdio.h>
#include <string.h>

static char place[400];

static const char *differs(const char *what, const char *where)
{
    snprintf(place, sizeof place, "%s of %s", what, where);
    return place;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

#define NUMBER(field, where)                                                                       \
    if (a->field != b->field) return differs(#field, where)
#define TEXT(field, where)                                                                         \
    if (!same_text(a->field, b->field)) return differs(#field, where)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const char *difference = (call);                                                           \
        if (difference) return difference;                                                         \
    } while (0)

static const char *variables(const ptx_variable *a, const ptx_variable *b)
{
    TEXT(name, a->name);
    NUMBER(space, a->name);
    NUMBER(type, a->name);
    NUMBER(vector, a->name);
    NUMBER(linkage, a->name);
    NUMBER(is_array, a->name);
    NUMBER(unsized, a->name);
    NUMBER(dimension_count, a->name);
    for (unsigned i = 0; i < a->dimension_count; i++) NUMBER(dimensions[i], a->name);
    NUMBER(size, a->name);
    NUMBER(align, a->name);
    NUMBER(align_given, a->name);
    NUMBER(is_pointer, a->name);
    NUMBER(pointee_space, a->name);
    NUMBER(pointee_align, a->name);
    NUMBER(managed, a->name);
    NUMBER(initialised, a->name);
    NUMBER(data_size, a->name);
    if (a->data_size && memcmp(a->data, b->data, a->data_size) != 0)
        return differs("data", a->name);
    NUMBER(relocation_count, a->name);
    for (uint32_t i = 0; i < a->relocation_count; i++) {
        const ptx_relocation *x = &a->relocations[i], *y = &b->relocations[i];
        if (x->offset != y->offset || x->addend != y->addend || x->width != y->width ||
            x->shift != y->shift || x->masked != y->masked || x->generic != y->generic ||
            !x->variable != !y->variable || !x->function != !y->function)
            return differs("relocations", a->name);
        if (x->variable && !same_text(x->variable->name, y->variable->name))
            return differs("relocations", a->name);
        if (x->function && !same_text(x->function->name, y->function->name))
            return differs("relocations", a->name);
    }
    NUMBER(index, a->name);
    NUMBER(register_index, a->name);
    NUMBER(scope, a->name);
    return NULL;
}

static const char *variable_lists(const ptx_variable *a, uint32_t a_count, const ptx_variable *b,
                                  uint32_t b_count, const char *where)
{
    if (a_count != b_count) return differs("parameters", where);
    for (uint32_t i = 0; i < a_count; i++) TRY(variables(&a[i], &b[i]));
    return NULL;
}

static const char *operands(const ptx_operand *a, const ptx_operand *b, const char *where)
{
    NUMBER(kind, where);
    NUMBER(base, where);
    NUMBER(width, where);
    NUMBER(negated, where);
    NUMBER(index, where);
    NUMBER(value.bits, where);
    switch (a->kind) {
    case PTX_OPERAND_SYMBOL: TEXT(variable->name, where); return NULL;
    case PTX_OPERAND_FUNCTION: TEXT(function->name, where); return NULL;
    case PTX_OPERAND_ADDRESS:
        if (a->base == PTX_BASE_VARIABLE) TEXT(variable->name, where);
        return NULL;
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_LIST: {
        uint32_t count = a->kind == PTX_OPERAND_PAIR ? 2 : a->index;
        for (uint32_t i = 0; i < count; i++) TRY(operands(&a->items[i], &b->items[i], where));
        return NULL;
    }
    default: return NULL;
    }
}

static const char *operand_lists(const ptx_operand *a, uint32_t a_count, const ptx_operand *b,
                                 uint32_t b_count, const char *where)
{
    if (a_count != b_count) return differs("operand count", where);
    for (uint32_t i = 0; i < a_count; i++) TRY(operands(&a[i], &b[i], where));
    return NULL;
}

static const char *modifiers(const ptx_modifiers *a, const ptx_modifiers *b, const char *where)
{
    NUMBER(flags, where);
    NUMBER(type_count, where);
    for (unsigned i = 0; i < a->type_count; i++) NUMBER(types[i], where);
    NUMBER(rounding, where);
    NUMBER(compare, where);
    NUMBER(operation, where);
    NUMBER(mode, where);
    NUMBER(space, where);
    NUMBER(scope, where);
    NUMBER(semantics, where);
    NUMBER(vector, where);
    NUMBER(cache, where);
    NUMBER(eviction, where);
    NUMBER(eviction2, where);
    NUMBER(prefetch, where);
    NUMBER(word_count, where);
    for (unsigned i = 0; i < a->word_count; i++) TEXT(words[i], where);
    return NULL;
}

static const char *locations(const ptx_module *am, const ptx_module *bm, uint32_t ai, uint32_t bi)
{
    if (!ai != !bi) return differs("presence", "a location");
    if (!ai) return NULL;
    const ptx_location *a = &am->locations[ai - 1], *b = &bm->locations[bi - 1];
    NUMBER(file, "a location");
    NUMBER(line, "a location");
    NUMBER(column, "a location");
    TEXT(function_label, "a location");
    NUMBER(function_offset, "a location");
    TEXT(function, "a location");
    return locations(am, bm, a->inlined_at, b->inlined_at);
}

static const char *instructions(const ptx_function *f, const ptx_function *g, uint32_t index)
{
    const ptx_instruction *a = &f->instructions[index], *b = &g->instructions[index];
    char where[160];
    snprintf(where, sizeof where, "instruction %u (line %u) of %.80s", index, a->line, f->name);
    NUMBER(opcode, where);
    NUMBER(guard, where);
    NUMBER(guard_negated, where);
    NUMBER(refused, where);
    NUMBER(scope, where);
    TRY(modifiers(&a->modifiers, &b->modifiers, where));
    TRY(operand_lists(a->operands, a->operand_count, b->operands, b->operand_count, where));
    if (!a->call != !b->call) return differs("call", where);
    if (a->call) {
        const ptx_call *x = a->call, *y = b->call;
        TRY(operands(&x->callee, &y->callee, where));
        TRY(operand_lists(x->results, x->result_count, y->results, y->result_count, where));
        TRY(operand_lists(x->arguments, x->argument_count, y->arguments, y->argument_count, where));
        if (x->prototype != y->prototype || x->table != y->table)
            return differs("prototype", where);
    }
    return locations(f->module, g->module, a->location, b->location);
}

static const char *body(const ptx_function *a, const ptx_function *b)
{
    NUMBER(register_count, a->name);
    for (uint32_t i = 0; i < a->register_count; i++) {
        NUMBER(registers[i].group, a->name);
        NUMBER(registers[i].number, a->name);
        NUMBER(registers[i].type, a->name);
        NUMBER(registers[i].bits, a->name);
    }
    NUMBER(group_count, a->name);
    for (uint32_t i = 0; i < a->group_count; i++) {
        TEXT(groups[i].name, a->name);
        NUMBER(groups[i].is_range, a->name);
        NUMBER(groups[i].is_param, a->name);
        NUMBER(groups[i].type, a->name);
        NUMBER(groups[i].vector, a->name);
        NUMBER(groups[i].count, a->name);
        NUMBER(groups[i].scope, a->name);
    }
    NUMBER(variable_count, a->name);
    for (uint32_t i = 0; i < a->variable_count; i++)
        TRY(variables(a->variables[i], b->variables[i]));
    NUMBER(label_count, a->name);
    for (uint32_t i = 0; i < a->label_count; i++) {
        TEXT(labels[i].name, a->name);
        NUMBER(labels[i].instruction, a->name);
        NUMBER(labels[i].scope, a->name);
    }
    NUMBER(scope_count, a->name);
    for (uint32_t i = 0; i < a->scope_count; i++) {
        NUMBER(scopes[i].parent, a->name);
        NUMBER(scopes[i].first, a->name);
        NUMBER(scopes[i].end, a->name);
    }
    NUMBER(prototype_count, a->name);
    for (uint32_t i = 0; i < a->prototype_count; i++) {
        const ptx_prototype *x = &a->prototypes[i], *y = &b->prototypes[i];
        if (!same_text(x->name, y->name) || x->noreturn != y->noreturn)
            return differs("prototypes", a->name);
        TRY(variable_lists(x->params, x->param_count, y->params, y->param_count, x->name));
        TRY(variable_lists(x->results, x->result_count, y->results, y->result_count, x->name));
    }
    NUMBER(table_count, a->name);
    for (uint32_t i = 0; i < a->table_count; i++) {
        TEXT(tables[i].name, a->name);
        NUMBER(tables[i].of_functions, a->name);
        TRY(operand_lists(a->tables[i].targets, a->tables[i].count, b->tables[i].targets,
                          b->tables[i].count, a->name));
    }
    NUMBER(instruction_count, a->name);
    for (uint32_t i = 0; i < a->instruction_count; i++) TRY(instructions(a, b, i));
    NUMBER(statement_count, a->name);
    for (uint32_t i = 0; i < a->statement_count; i++) NUMBER(statements[i].kind, a->name);
    return NULL;
}

static const char *functions(const ptx_function *a, const ptx_function *b)
{
    TEXT(name, a->name);
    NUMBER(is_entry, a->name);
    NUMBER(has_body, a->name);
    NUMBER(noreturn, a->name);
    NUMBER(is_declared, a->name);
    NUMBER(linkage, a->name);
    NUMBER(has_maxntid, a->name);
    NUMBER(has_reqntid, a->name);
    NUMBER(has_reqnctapercluster, a->name);
    NUMBER(explicitcluster, a->name);
    NUMBER(blocksareclusters, a->name);
    for (int i = 0; i < 3; i++) {
        NUMBER(maxntid[i], a->name);
        NUMBER(reqntid[i], a->name);
        NUMBER(reqnctapercluster[i], a->name);
    }
    NUMBER(minnctapersm, a->name);
    NUMBER(maxnctapersm, a->name);
    NUMBER(maxnreg, a->name);
    NUMBER(maxclusterrank, a->name);
    TRY(variable_lists(a->params, a->param_count, b->params, b->param_count, a->name));
    TRY(variable_lists(a->results, a->result_count, b->results, b->result_count, a->name));
    NUMBER(pragma_count, a->name);
    for (uint32_t i = 0; i < a->pragma_count; i++) {
        TEXT(pragmas[i].text, a->name);
        NUMBER(pragmas[i].in_header, a->name);
    }
    TEXT(unsupported_reason, a->name);
    return body(a, b);
}

const char *tree_difference(const ptx_module *a, const ptx_module *b)
{
    NUMBER(version_major, "the module");
    NUMBER(version_minor, "the module");
    TEXT(target, "the module");
    TEXT(target_options, "the module");
    NUMBER(target_sm, "the module");
    NUMBER(target_suffix, "the module");
    NUMBER(debug_target, "the module");
    NUMBER(address_size, "the module");
    NUMBER(has_unsupported, "the module");
    NUMBER(item_count, "the module");
    for (uint32_t i = 0; i < a->item_count; i++) {
        NUMBER(items[i].kind, "the module's items");
        NUMBER(items[i].index, "the module's items");
    }
    NUMBER(global_count, "the module");
    for (uint32_t i = 0; i < a->global_count; i++) TRY(variables(a->globals[i], b->globals[i]));
    NUMBER(function_count, "the module");
    for (uint32_t i = 0; i < a->function_count; i++)
        TRY(functions(a->functions[i], b->functions[i]));
    NUMBER(alias_count, "the module");
    for (uint32_t i = 0; i < a->alias_count; i++) {
        TEXT(aliases[i].name, "the aliases");
        TEXT(aliases[i].target->name, "the aliases");
    }
    NUMBER(file_count, "the module");
    for (uint32_t i = 0; i < a->file_count; i++) {
        NUMBER(files[i].number, "the files");
        TEXT(files[i].name, "the files");
        NUMBER(files[i].has_time, "the files");
        NUMBER(files[i].time, "the files");
        NUMBER(files[i].size, "the files");
    }
    NUMBER(section_count, "the module");
    for (uint32_t i = 0; i < a->section_count; i++) {
        TEXT(sections[i].name, "the sections");
        NUMBER(sections[i].length, "the sections");
        if (memcmp(a->sections[i].text, b->sections[i].text, a->sections[i].length) != 0)
            return differs("text", "the sections");
    }
    NUMBER(pragma_count, "the module");
    for (uint32_t i = 0; i < a->pragma_count; i++) TEXT(pragmas[i].text, "the module");
    return NULL;
}
