/* Calls: the callee, and arguments and results against what it declares.
 * SPDX-License-Identifier: MIT */
#include "ptx/check.h"

/* One actual value against one formal parameter: a .param variable of the same size, or a register
 * or number of the same width. */
static bool check_value(ptx_checker *checker, ptx_operand *actual, const ptx_variable *formal,
                        uint32_t number, const char *what, bool result)
{
    if (actual->kind == PTX_OPERAND_SYMBOL) {
        const ptx_variable *variable = actual->variable;
        if (variable->space == PTX_SPACE_PARAM && !actual->value.offset &&
            (variable->size == formal->size || formal->unsized))
            return true;
        return ptx_check_fail(checker,
                              "Type of %s %u does not match in the call: '%s' has %llu bytes in "
                              ".%s, expected %llu in .param",
                              what, number + 1, variable->name, (unsigned long long)variable->size,
                              ptx_space_name((ptx_space)variable->space),
                              (unsigned long long)formal->size);
    }
    if (formal->is_array ||
        (result && actual->kind != PTX_OPERAND_REGISTER && actual->kind != PTX_OPERAND_SINK))
        return ptx_check_fail(checker, "Type of %s %u does not match in the call", what,
                              number + 1);
    if (actual->kind == PTX_OPERAND_SINK) return true;
    return ptx_check_source(checker, number, actual, (ptx_type)formal->type, false);
}

static bool check_values(ptx_checker *checker, ptx_operand *actuals, uint32_t actual_count,
                         const ptx_variable *formals, uint32_t formal_count, bool results)
{
    const char *what = results ? "result" : "argument";
    if (actual_count != formal_count)
        return ptx_check_fail(checker, "The call has %u %ss, its callee %u", actual_count, what,
                              formal_count);
    for (uint32_t i = 0; i < actual_count; i++)
        if (!check_value(checker, &actuals[i], &formals[i], i, what, results)) return false;
    return true;
}

static bool check_against(ptx_checker *checker, const ptx_variable *params, uint32_t param_count,
                          const ptx_variable *results, uint32_t result_count)
{
    ptx_call *call = checker->instruction->call;
    return check_values(checker, call->results, call->result_count, results, result_count, true) &&
           check_values(checker, call->arguments, call->argument_count, params, param_count, false);
}

static bool check_indirect(ptx_checker *checker)
{
    const ptx_call *call = checker->instruction->call;
    const ptx_function *function = checker->function;
    const ptx_register *reg = &function->registers[call->callee.index];
    if ((reg->bits != 32 && reg->bits != 64) ||
        ptx_type_class_of((ptx_type)reg->type) == PTX_CLASS_FLOAT)
        return ptx_check_fail(checker, "Only a 32- or 64-bit integer register can be called");
    if (call->prototype) {
        const ptx_prototype *prototype = &function->prototypes[call->prototype - 1];
        return check_against(checker, prototype->params, prototype->param_count, prototype->results,
                             prototype->result_count);
    }
    if (!call->table)
        return ptx_check_fail(checker,
                              "An indirect call requires a call prototype or call targets");
    const ptx_table *table = &function->tables[call->table - 1];
    if (!table->of_functions)
        return ptx_check_fail(checker, "'%s' lists labels, not functions", table->name);
    for (uint32_t i = 0; i < table->count; i++) {
        const ptx_function *callee = table->targets[i].function;
        if (!check_against(checker, callee->params, callee->param_count, callee->results,
                           callee->result_count))
            return false;
    }
    return true;
}

bool ptx_check_call(ptx_checker *checker)
{
    const ptx_call *call = checker->instruction->call;
    if (call->callee.kind == PTX_OPERAND_REGISTER) return check_indirect(checker);
    const ptx_function *callee = call->callee.function;
    if (callee->is_entry)
        return ptx_check_fail(checker, "'%s' is a kernel and cannot be called", callee->name);
    return check_against(checker, callee->params, callee->param_count, callee->results,
                         callee->result_count);
}
