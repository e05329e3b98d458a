/* Prints a module in the order of its text, from the tree alone.  Instructions are in
 * print_instruction.c.  SPDX-License-Identifier: MIT */
#include "ptx/print.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ variables */

static const char *linkage_prefix(uint8_t linkage)
{
    switch ((ptx_linkage)linkage) {
    case PTX_LINKAGE_EXTERN: return ".extern ";
    case PTX_LINKAGE_VISIBLE: return ".visible ";
    case PTX_LINKAGE_WEAK: return ".weak ";
    case PTX_LINKAGE_COMMON: return ".common ";
    default: return "";
    }
}

/* The space, attributes, type, name and dimensions: everything but the initialiser. */
static void print_declarator(const ptx_variable *variable, gpul__str *out)
{
    gpul__str_printf(out, ".%s ", ptx_space_name((ptx_space)variable->space));
    if (variable->managed) gpul__str_add(out, ".attribute(.managed) ");
    if (variable->align_given && variable->space != PTX_SPACE_REG)
        gpul__str_printf(out, ".align %u ", variable->align);
    if (variable->vector) gpul__str_printf(out, ".v%u ", variable->vector);
    gpul__str_printf(out, ".%s ", ptx_type_name((ptx_type)variable->type));
    if (variable->is_pointer) {
        gpul__str_add(out, ".ptr ");
        if (variable->pointee_space)
            gpul__str_printf(out, ".%s ", ptx_space_name((ptx_space)variable->pointee_space));
        if (variable->pointee_align) gpul__str_printf(out, ".align %u ", variable->pointee_align);
    }
    gpul__str_add(out, variable->name);
    for (unsigned i = 0; i < variable->dimension_count; i++) {
        if (i == 0 && variable->unsized) gpul__str_add(out, "[]");
        else gpul__str_printf(out, "[%" PRIu64 "]", variable->dimensions[i]);
    }
}

static void print_relocation(const ptx_relocation *relocation, gpul__str *out)
{
    const char *name =
        relocation->variable ? relocation->variable->name : relocation->function->name;
    if (relocation->masked)
        gpul__str_printf(out, "0x%" PRIX64 "(", (uint64_t)0xff << relocation->shift);
    gpul__str_printf(out, relocation->generic ? "generic(%s)" : "%s", name);
    if (relocation->addend)
        gpul__str_printf(out, "%s%" PRIu64, relocation->addend < 0 ? "-" : "+",
                         relocation->addend < 0 ? 0 - (uint64_t)relocation->addend
                                                : (uint64_t)relocation->addend);
    if (relocation->masked) gpul__str_add(out, ")");
}

static void print_number(const ptx_variable *variable, uint64_t bits, uint64_t element,
                         gpul__str *out)
{
    if (variable->type == PTX_F32) gpul__str_printf(out, "0f%08X", (unsigned)bits);
    else if (variable->type == PTX_F64) gpul__str_printf(out, "0d%016" PRIX64, bits);
    else gpul__str_printf(out, element > 4 ? "0x%" PRIX64 : "%" PRIu64, bits);
}

/* Flat, whatever the nesting was: the layout is the same. */
static void print_initialiser(const ptx_variable *variable, gpul__str *out)
{
    bool list = variable->is_array || variable->vector;
    uint64_t element = (ptx_type_bits((ptx_type)variable->type) + 7) / 8;
    uint32_t next = 0;
    gpul__str_add(out, list ? " = {" : " = ");
    for (uint64_t at = 0; at + element <= variable->data_size; at += element) {
        if (at) gpul__str_add(out, at / element % 16 ? ", " : ",\n    ");
        if (next < variable->relocation_count && variable->relocations[next].offset == at) {
            print_relocation(&variable->relocations[next++], out);
            continue;
        }
        uint64_t bits = 0;
        for (uint64_t i = 0; i < element && i < 8; i++)
            bits |= (uint64_t)variable->data[at + i] << (8 * i);
        print_number(variable, bits, element, out);
    }
    if (list) gpul__str_add(out, "}");
}

static void print_global(const ptx_variable *variable, bool declaration, gpul__str *out)
{
    gpul__str_add(out, declaration ? ".extern " : linkage_prefix(variable->linkage));
    print_declarator(variable, out);
    if (!declaration && variable->initialised) print_initialiser(variable, out);
    gpul__str_add(out, ";\n");
}

static void print_params(const ptx_variable *params, uint32_t count, gpul__str *out)
{
    gpul__str_add(out, "(");
    for (uint32_t i = 0; i < count; i++) {
        gpul__str_add(out, i ? ",\n    " : count > 1 ? "\n    " : "");
        print_declarator(&params[i], out);
    }
    gpul__str_add(out, count > 1 ? "\n)" : ")");
}

/* ------------------------------------------------------------------ functions */

static void print_dimensions(const char *directive, const uint32_t dimensions[3], gpul__str *out)
{
    gpul__str_printf(out, "\n.%s %u, %u, %u", directive, dimensions[0], dimensions[1],
                     dimensions[2]);
}

static void print_attributes(const ptx_function *function, gpul__str *out)
{
    if (function->noreturn) gpul__str_add(out, "\n.noreturn");
    if (function->has_maxntid) print_dimensions("maxntid", function->maxntid, out);
    if (function->has_reqntid) print_dimensions("reqntid", function->reqntid, out);
    if (function->has_reqnctapercluster)
        print_dimensions("reqnctapercluster", function->reqnctapercluster, out);
    if (function->explicitcluster) gpul__str_add(out, "\n.explicitcluster");
    if (function->blocksareclusters) gpul__str_add(out, "\n.blocksareclusters");
    if (function->minnctapersm) gpul__str_printf(out, "\n.minnctapersm %u", function->minnctapersm);
    if (function->maxnctapersm) gpul__str_printf(out, "\n.maxnctapersm %u", function->maxnctapersm);
    if (function->maxnreg) gpul__str_printf(out, "\n.maxnreg %u", function->maxnreg);
    if (function->maxclusterrank)
        gpul__str_printf(out, "\n.maxclusterrank %u", function->maxclusterrank);
    for (uint32_t i = 0; i < function->pragma_count; i++)
        if (function->pragmas[i].in_header)
            gpul__str_printf(out, "\n.pragma \"%s\";", function->pragmas[i].text);
}

static void print_header(const ptx_function *function, gpul__str *out)
{
    gpul__str_add(out, linkage_prefix(function->linkage));
    gpul__str_add(out, function->is_entry ? ".entry " : ".func ");
    if (function->result_count) {
        print_params(function->results, function->result_count, out);
        gpul__str_add(out, " ");
    }
    gpul__str_add(out, function->name);
    print_params(function->params, function->param_count, out);
}

static void print_registers(const ptx_register_group *group, gpul__str *out)
{
    gpul__str_add(out, "\t.reg ");
    if (group->vector) gpul__str_printf(out, ".v%u ", group->vector);
    gpul__str_printf(out, ".%s %s", ptx_type_name((ptx_type)group->type), group->name);
    if (group->is_range) gpul__str_printf(out, "<%u>", group->count);
    gpul__str_add(out, ";\n");
}

static void print_prototype(const ptx_prototype *prototype, gpul__str *out)
{
    gpul__str_printf(out, "%s: .callprototype ", prototype->name);
    if (prototype->result_count) {
        print_params(prototype->results, prototype->result_count, out);
        gpul__str_add(out, " ");
    }
    gpul__str_add(out, "_ ");
    print_params(prototype->params, prototype->param_count, out);
    gpul__str_add(out, prototype->noreturn ? " .noreturn;\n" : ";\n");
}

static void print_table(const ptx_function *function, const ptx_table *table, gpul__str *out)
{
    gpul__str_printf(out, "%s: .%s ", table->name,
                     table->of_functions ? "calltargets" : "branchtargets");
    for (uint32_t i = 0; i < table->count; i++) {
        if (i) gpul__str_add(out, ", ");
        ptx_print_operand(function, &table->targets[i], out);
    }
    gpul__str_add(out, ";\n");
}

static void print_location(const ptx_module *module, uint32_t index, gpul__str *out)
{
    const ptx_location *location = &module->locations[index];
    gpul__str_printf(out, "\t.loc %u %u %u", location->file, location->line, location->column);
    if (location->function_label) {
        gpul__str_printf(out, ", function_name %s", location->function_label);
        if (location->function_offset)
            gpul__str_printf(out, "+%" PRIu64, location->function_offset);
    }
    if (location->inlined_at) {
        const ptx_location *at = &module->locations[location->inlined_at - 1];
        gpul__str_printf(out, ", inlined_at %u %u %u", at->file, at->line, at->column);
    }
    gpul__str_add(out, "\n");
}

static void print_file(const ptx_file *file, gpul__str *out)
{
    gpul__str_printf(out, ".file %u \"%s\"", file->number, file->name);
    if (file->has_time) gpul__str_printf(out, ", %" PRIu64 ", %" PRIu64, file->time, file->size);
    gpul__str_add(out, "\n");
}

static void print_statement(const ptx_function *function, const ptx_statement *statement,
                            gpul__str *out)
{
    uint32_t index = statement->index;
    switch ((ptx_statement_kind)statement->kind) {
    case PTX_STATEMENT_INSTRUCTION:
        gpul__str_add(out, "\t");
        ptx_print_instruction(function, &function->instructions[index], out);
        gpul__str_add(out, "\n");
        break;
    case PTX_STATEMENT_REGISTERS: print_registers(&function->groups[index], out); break;
    case PTX_STATEMENT_VARIABLE:
        gpul__str_add(out, "\t");
        print_global(function->variables[index], false, out);
        break;
    case PTX_STATEMENT_LABEL: gpul__str_printf(out, "%s:\n", function->labels[index].name); break;
    case PTX_STATEMENT_OPEN: gpul__str_add(out, "\t{\n"); break;
    case PTX_STATEMENT_CLOSE: gpul__str_add(out, "\t}\n"); break;
    case PTX_STATEMENT_PROTOTYPE: print_prototype(&function->prototypes[index], out); break;
    case PTX_STATEMENT_TABLE: print_table(function, &function->tables[index], out); break;
    case PTX_STATEMENT_LOCATION: print_location(function->module, index, out); break;
    case PTX_STATEMENT_FILE: print_file(&function->module->files[index], out); break;
    case PTX_STATEMENT_PRAGMA:
        gpul__str_printf(out, "\t.pragma \"%s\";\n", function->pragmas[index].text);
        break;
    default: break; /* the others stand outside of functions */
    }
}

static void print_definition(const ptx_function *function, gpul__str *out)
{
    print_header(function, out);
    print_attributes(function, out);
    gpul__str_add(out, "\n{\n");
    for (uint32_t i = 0; i < function->statement_count; i++)
        print_statement(function, &function->statements[i], out);
    gpul__str_add(out, "}\n");
}

/* ------------------------------------------------------------------ the module */

static void print_item(const ptx_module *module, const ptx_statement *item, gpul__str *out)
{
    uint32_t index = item->index;
    switch ((ptx_statement_kind)item->kind) {
    case PTX_STATEMENT_GLOBAL: print_global(module->globals[index], false, out); break;
    case PTX_STATEMENT_GLOBAL_DECLARATION: print_global(module->globals[index], true, out); break;
    case PTX_STATEMENT_DECLARATION:
        print_header(module->functions[index], out);
        if (module->functions[index]->noreturn) gpul__str_add(out, " .noreturn");
        gpul__str_add(out, ";\n");
        break;
    case PTX_STATEMENT_DEFINITION: print_definition(module->functions[index], out); break;
    case PTX_STATEMENT_ALIAS:
        gpul__str_printf(out, ".alias %s, %s;\n", module->aliases[index].name,
                         module->aliases[index].target->name);
        break;
    case PTX_STATEMENT_SECTION:
        gpul__str_printf(out, ".section %s {", module->sections[index].name);
        gpul__str_addn(out, module->sections[index].text, module->sections[index].length);
        gpul__str_add(out, "}\n");
        break;
    case PTX_STATEMENT_PRAGMA:
        gpul__str_printf(out, ".pragma \"%s\";\n", module->pragmas[index].text);
        break;
    case PTX_STATEMENT_LOCATION: print_location(module, index, out); break;
    case PTX_STATEMENT_FILE: print_file(&module->files[index], out); break;
    default: break; /* the others stand inside of functions */
    }
}

void ptx_print_module(const ptx_module *module, gpul__str *out)
{
    gpul__str_printf(out, ".version %u.%u\n.target %s%s%s\n.address_size %u\n",
                     module->version_major, module->version_minor, module->target,
                     module->target_options[0] ? ", " : "", module->target_options,
                     module->address_size);
    for (uint32_t i = 0; i < module->item_count; i++) print_item(module, &module->items[i], out);
}
