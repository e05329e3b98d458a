/* What the parser makes of correct PTX, looked at field by field.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "samples.h"

static ptx_module *parsed(const char *text, size_t length)
{
    ptx_diags diags = { 0 };
    ptx_module *module = NULL;
    if (ptx_parse(&module, text, length, &diags) != PTX_OK) {
        gpul__str log = { 0 };
        for (size_t i = 0; i < diags.count; i++) ptx_diag_render(&diags.items[i], &log);
        fail_msg("%s", gpul__str_text(&log));
    }
    ptx_diags_free(&diags);
    return module;
}

static ptx_module *sample(const char *name)
{
    size_t length;
    char *text = sample_text(name, &length);
    ptx_module *module = parsed(text, length);
    free(text);
    return module;
}

static ptx_function *function_of(const ptx_module *module, const char *name)
{
    ptx_function *function = ptx_find_function(module, name);
    if (!function) fail_msg("no function %s", name);
    return function;
}

static ptx_variable *global_of(const ptx_module *module, const char *name)
{
    ptx_variable *variable = ptx_find_global(module, name);
    if (!variable) fail_msg("no global %s", name);
    return variable;
}

static const ptx_instruction *nth(const ptx_function *function, ptx_opcode opcode, unsigned n)
{
    for (uint32_t i = 0; i < function->instruction_count; i++)
        if (function->instructions[i].opcode == opcode && n-- == 0)
            return &function->instructions[i];
    fail_msg("no such instruction");
    return NULL;
}

static void assert_register(const ptx_function *function, const ptx_operand *operand,
                            const char *name)
{
    char buffer[64];
    assert_int_equal(operand->kind, PTX_OPERAND_REGISTER);
    assert_string_equal(ptx_register_name(function, operand->index, buffer, sizeof buffer), name);
}

static void test_globals(void **state)
{
    (void)state;
    ptx_module *m = sample("handwritten_sm90.ptx");
    ptx_variable *words = global_of(m, "words");
    static const int32_t values[] = { 1, 2, 0, -1, 0x7f, 5 };
    assert_int_equal(words->size, 24);
    assert_int_equal(words->dimension_count, 2);
    assert_int_equal(words->data_size, 24);
    assert_memory_equal(words->data, values, sizeof values);

    float vector[4];
    assert_int_equal(global_of(m, "vector")->align, 16);
    memcpy(vector, global_of(m, "vector")->data, sizeof vector);
    static const uint32_t bits[] = { 0x3f800000, 0x80000000, 0x7fc00001 };
    assert_memory_equal(vector, bits, sizeof bits);
    assert_true(vector[3] == 2.5e-3f);

    ptx_variable *doubles = global_of(m, "doubles");
    double numbers[3];
    assert_int_equal(doubles->size, 24);
    assert_false(doubles->unsized);
    memcpy(numbers, doubles->data, sizeof numbers);
    assert_true(numbers[0] == 1.5 && numbers[1] == 1 && numbers[2] == 1);

    ptx_variable *addresses = global_of(m, "addresses");
    assert_int_equal(addresses->relocation_count, 3);
    const ptx_relocation *r = addresses->relocations;
    assert_ptr_equal(r[0].variable, words);
    assert_false(r[0].generic);
    assert_int_equal(r[1].offset, 8);
    assert_int_equal(r[1].addend, 8);
    assert_int_equal(r[1].width, 8);
    assert_true(r[2].generic);
    assert_int_equal(r[2].addend, 4);
    assert_int_equal(global_of(m, "bytes")->relocations[2].shift, 16);
    assert_true(global_of(m, "bytes")->relocations[0].masked);
    assert_int_equal(global_of(m, "bytes")->data[3], 3);

    assert_int_equal(global_of(m, "later")->linkage, PTX_LINKAGE_VISIBLE);
    assert_int_equal(global_of(m, "later")->data[0], 5);
    assert_int_equal(global_of(m, "constants")->size, 64);
    assert_int_equal(global_of(m, "constants")->data_size, 3);
    assert_true(global_of(m, "managed_word")->managed);
    assert_int_equal(global_of(m, "managed_word")->linkage, PTX_LINKAGE_WEAK);
    assert_true(global_of(m, "open_array")->unsized);
    assert_int_equal(global_of(m, "open_array")->size, 0);
    assert_int_equal(m->alias_count, 1);
    assert_string_equal(m->aliases[0].target->name, "implementation");
    assert_int_equal(m->file_count, 2);
    assert_int_equal(m->files[0].size, 1234);
    ptx_module_free(m);
}

static void test_function_header(void **state)
{
    (void)state;
    ptx_module *m = sample("handwritten_sm90.ptx");
    const ptx_function *f = function_of(m, "everything");
    assert_true(f->is_entry && f->has_body && f->has_maxntid && f->has_reqnctapercluster);
    assert_int_equal(f->linkage, PTX_LINKAGE_VISIBLE);
    assert_int_equal(f->maxntid[0], 8);
    assert_int_equal(f->maxntid[1], 4);
    assert_int_equal(f->maxntid[2], 1);
    assert_int_equal(f->reqnctapercluster[0], 2);
    assert_int_equal(f->minnctapersm, 2);
    assert_int_equal(f->maxnreg, 64);
    assert_int_equal(f->param_count, 4);
    assert_true(f->params[0].is_pointer);
    assert_int_equal(f->params[0].pointee_space, PTX_SPACE_GLOBAL);
    assert_int_equal(f->params[0].pointee_align, 16);
    assert_int_equal(f->params[2].size, 24);
    assert_int_equal(f->params[2].align, 8);
    assert_true(f->params[2].is_array);

    f = function_of(m, "in_registers");
    assert_false(f->is_entry);
    assert_int_equal(f->params[0].space, PTX_SPACE_REG);
    assert_int_not_equal(f->params[0].register_index, PTX_NO_REGISTER);
    assert_register(f, &nth(f, PTX_OP_CVT, 0)->operands[1], "%in");
    assert_int_equal(nth(f, PTX_OP_CVT, 0)->operands[1].index, f->params[0].register_index);
    assert_false(function_of(m, "helper")->has_body);
    assert_true(function_of(m, "helper")->noreturn);
    ptx_module_free(m);
}

static void test_scopes_and_labels(void **state)
{
    (void)state;
    ptx_module *m = sample("handwritten_sm90.ptx");
    const ptx_function *f = function_of(m, "everything");
    /* %r1 of the inner scope is another register than %r1 outside. */
    const ptx_instruction *inner = nth(f, PTX_OP_ADD, 1), *outer = nth(f, PTX_OP_SETP, 0);
    assert_int_equal(inner->line > outer->line, 1);
    assert_register(f, &inner->operands[1], "%r1");
    assert_register(f, &outer->operands[1], "%r1");
    assert_int_not_equal(inner->operands[1].index, outer->operands[1].index);
    assert_int_not_equal(inner->scope, outer->scope);

    const ptx_instruction *branch = nth(f, PTX_OP_BRA, 0);
    assert_int_not_equal(branch->guard, PTX_NO_REGISTER);
    assert_false(branch->guard_negated);
    const ptx_label *label = &f->labels[branch->operands[0].index];
    assert_string_equal(label->name, "$outer");
    assert_int_equal(f->instructions[label->instruction].opcode, PTX_OP_ST);
    assert_true(nth(f, PTX_OP_SHFL, 0)->guard_negated);
    assert_string_equal(f->labels[f->label_count - 1].name, "$end");
    assert_int_equal(f->labels[f->label_count - 1].instruction, f->instruction_count);

    const ptx_instruction *jump = nth(f, PTX_OP_BRX, 0);
    const ptx_table *table = &f->tables[jump->operands[1].index];
    assert_int_equal(table->count, 3);
    assert_string_equal(f->labels[table->targets[2].index].name, "$case2");
    ptx_module_free(m);
}

/* A label of an inner scope hides one outside, and a jump may go outwards. */
static void test_label_scopes(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n"
                               "bra a;\n{ bra a; bra b; a: ret; }\na: exit;\nb: trap;\n}\n";
    ptx_module *m = parsed(text, sizeof text - 1);
    const ptx_function *f = m->functions[0];
    static const ptx_opcode targets[] = { PTX_OP_EXIT, PTX_OP_RET, PTX_OP_TRAP };
    for (unsigned i = 0; i < 3; i++) {
        const ptx_label *label = &f->labels[nth(f, PTX_OP_BRA, i)->operands[0].index];
        assert_int_equal(f->instructions[label->instruction].opcode, targets[i]);
    }
    ptx_module_free(m);
}

static void test_operands(void **state)
{
    (void)state;
    ptx_module *m = sample("handwritten_sm90.ptx");
    const ptx_function *f = function_of(m, "everything");
    const ptx_instruction *load = nth(f, PTX_OP_LD, 4);
    assert_int_equal(load->modifiers.vector, 4);
    assert_int_equal(load->modifiers.space, PTX_SPACE_GLOBAL);
    assert_int_equal(load->operands[0].kind, PTX_OPERAND_VECTOR);
    assert_register(f, &load->operands[0].items[2], "%v.z");
    assert_int_equal(load->operands[1].base, PTX_BASE_REGISTER);
    assert_int_equal(load->operands[1].value.offset, 16);
    assert_register(f, &nth(f, PTX_OP_ADD, 0)->operands[2], "%v.w");
    assert_int_equal(nth(f, PTX_OP_LD, 5)->operands[0].items[1].kind, PTX_OPERAND_SINK);

    const ptx_instruction *move = nth(f, PTX_OP_MOV, 2); /* mov.v4.u32 {...}, %ntid */
    assert_int_equal(move->operands[1].items[1].index, PTX_SPECIAL_NTID_Y);
    move = nth(f, PTX_OP_MOV, 4); /* words+4 */
    assert_int_equal(move->operands[1].kind, PTX_OPERAND_SYMBOL);
    assert_ptr_equal(move->operands[1].variable, global_of(m, "words"));
    assert_int_equal(move->operands[1].value.offset, 4);
    assert_int_equal(nth(f, PTX_OP_MOV, 5)->operands[1].value.bits, 32); /* WARP_SZ */

    const ptx_instruction *compare = nth(f, PTX_OP_SETP, 0);
    assert_int_equal(compare->modifiers.compare, PTX_COMPARE_LT);
    assert_int_equal(compare->modifiers.operation, PTX_OPERATION_AND);
    assert_int_equal(compare->operands[0].kind, PTX_OPERAND_PAIR);
    assert_register(f, &compare->operands[0].items[0], "taken");
    assert_true(compare->operands[3].negated);

    const ptx_instruction *shuffle = nth(f, PTX_OP_SHFL, 0);
    assert_int_equal(shuffle->modifiers.mode, PTX_MODE_IDX);
    assert_true(shuffle->modifiers.flags & PTX_FLAG_SYNC);
    assert_int_equal(shuffle->operands[4].value.bits, 0xffffffff); /* cut to 32 bits */
    assert_int_equal(nth(f, PTX_OP_LOP3, 0)->operands[0].items[0].kind, PTX_OPERAND_SINK);
    assert_int_equal(nth(f, PTX_OP_PRMT, 0)->modifiers.mode, PTX_MODE_RC8);

    /* A double constant in an f32 instruction has become an f32; so has 1.5. */
    const ptx_operand *number = &nth(f, PTX_OP_MUL, 0)->operands[2];
    assert_int_equal(number->width, 32);
    assert_int_equal(number->value.bits, 0x40000000);
    number = &nth(f, PTX_OP_MOV, 8)->operands[1];
    assert_int_equal(number->width, 32);
    assert_int_equal(number->value.bits, 0x3fc00000);
    ptx_module_free(m);
}

static void test_calls(void **state)
{
    (void)state;
    ptx_module *m = sample("handwritten_sm90.ptx");
    const ptx_function *f = function_of(m, "everything");
    const ptx_call *call = nth(f, PTX_OP_CALL, 0)->call;
    assert_true(nth(f, PTX_OP_CALL, 0)->modifiers.flags & PTX_FLAG_UNI);
    assert_ptr_equal(call->callee.function, function_of(m, "implementation"));
    assert_int_equal(call->result_count, 1);
    assert_string_equal(call->results[0].variable->name, "value");
    assert_string_equal(call->arguments[0].variable->name, "argument");
    call = nth(f, PTX_OP_CALL, 3)->call;
    assert_int_equal(call->arguments[1].value.bits, 0x3f800000);
    call = nth(f, PTX_OP_CALL, 4)->call;
    assert_int_equal(call->callee.kind, PTX_OPERAND_REGISTER);
    assert_string_equal(f->prototypes[call->prototype - 1].name, "$proto");
    assert_int_equal(f->prototypes[call->prototype - 1].param_count, 1);
    call = nth(f, PTX_OP_CALL, 5)->call;
    assert_string_equal(f->tables[call->table - 1].targets[1].function->name, "other_name");
    ptx_module_free(m);
}

static void test_source_positions(void **state)
{
    (void)state;
    ptx_module *m = sample("handwritten_sm90.ptx");
    const ptx_function *f = function_of(m, "everything");
    const ptx_instruction *convert = nth(f, PTX_OP_CVTA, 0);
    const ptx_location *at = &m->locations[convert->location - 1];
    assert_int_equal(at->file, 2);
    assert_int_equal(at->line, 5);
    assert_string_equal(at->function, "inlined_helper");
    assert_int_equal(m->locations[at->inlined_at - 1].line, 10);
    size_t length;
    const char *spelling = ptx_instruction_spelling(m, nth(f, PTX_OP_SHFL, 0), &length);
    assert_int_equal(length, strlen("shfl.sync.idx.b32"));
    assert_memory_equal(spelling, "shfl.sync.idx.b32", length);
    const char *statement = m->text + convert->text_offset;
    assert_memory_equal(statement, "cvta.to.global.u64 %rd2, %rd1;", convert->text_length);
    assert_int_equal(function_of(m, "in_registers")->instructions[0].location, 0);
    ptx_module_free(m);

    m = sample("calls_sm100_lines.ptx");
    f = function_of(m, "recursive");
    assert_string_equal(m->files[0].name, "calls.cu");
    assert_true(f->instructions[0].location > 0);
    assert_true(m->locations[f->instructions[0].location - 1].line > 10);
    ptx_module_free(m);
}

/* Parsed, and told apart from what runs: per function, with the first instruction and its line. */
static void test_refused(void **state)
{
    (void)state;
    size_t length;
    char *text = sample_text("refused_sm90.ptx", &length);
    ptx_diags diags = { 0 };
    ptx_module *m = NULL;
    assert_int_equal(ptx_parse(&m, text, length, &diags), PTX_OK);
    assert_true(m->has_unsupported);
    assert_int_equal(diags.errors, 0);
    assert_int_equal(diags.unsupported, 4);
    static const struct {
        const char *kernel, *begins;
    } expected[] = {
        { "tensor", "unsupported by the CPU device: wmma.load.a.sync" },
        { "asynchronous", "unsupported by the CPU device: cp.async.cg.shared.global" },
        { "textures", "unsupported by the CPU device: tex.2d.v4.f32.f32" },
        { "video", "unsupported by the CPU device: vabsdiff4" },
        { "carries", NULL },
        { "plain", NULL },
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const ptx_function *f = function_of(m, expected[i].kernel);
        if (!expected[i].begins) {
            assert_null(f->unsupported);
            assert_null(f->unsupported_reason);
            continue;
        }
        assert_non_null(f->unsupported);
        assert_true(gpul__starts(f->unsupported_reason, expected[i].begins));
        assert_string_equal(diags.items[i].function, expected[i].kernel);
        assert_int_equal(diags.items[i].line, f->unsupported->line);
    }
    gpul__str log = { 0 };
    ptx_diags_render_log(&diags, &log);
    assert_non_null(strstr(log.text, "error   : unsupported by the CPU device: wmma.load.a.sync"));
    assert_non_null(strstr(log.text, "in 'tensor'"));
    gpul__str_free(&log);
    ptx_module_free(m);
    ptx_diags_free(&diags);
    free(text);
}

static void test_old_ptx(void **state)
{
    (void)state;
    ptx_module *m = sample("old_sm50.ptx");
    assert_int_equal(m->address_size, 32);
    assert_string_equal(m->target_options, "texmode_independent");
    assert_int_equal(global_of(m, "image")->type, PTX_TEXREF);
    const ptx_function *f = function_of(m, "old");
    assert_false(m->has_unsupported);
    assert_int_equal(nth(f, PTX_OP_MEMBAR, 0)->modifiers.scope, PTX_SCOPE_GPU);
    assert_false(nth(f, PTX_OP_SHFL, 0)->modifiers.flags & PTX_FLAG_SYNC);
    assert_int_equal(nth(f, PTX_OP_ST, 0)->operands[0].value.offset, -4);
    ptx_module_free(m);
}

/* Every compiled sample, and what the driver would check: all register indices are in range. */
static void test_indices(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        ptx_module *m = sample(sample_names[i]);
        for (uint32_t k = 0; k < m->function_count; k++) {
            const ptx_function *f = m->functions[k];
            for (uint32_t j = 0; j < f->instruction_count; j++) {
                const ptx_instruction *in = &f->instructions[j];
                assert_true(in->guard == PTX_NO_REGISTER || in->guard < f->register_count);
                assert_true(in->scope < f->scope_count);
                assert_true(in->location <= m->location_count);
                assert_true((size_t)in->text_offset + in->text_length <= m->length);
                assert_int_equal(m->text[in->text_offset + in->text_length - 1], ';');
                for (unsigned o = 0; o < in->operand_count; o++) {
                    const ptx_operand *op = &in->operands[o];
                    if (op->kind == PTX_OPERAND_REGISTER)
                        assert_true(op->index < f->register_count);
                    if (op->kind == PTX_OPERAND_LABEL)
                        assert_true(f->labels[op->index].instruction <= f->instruction_count);
                }
            }
        }
        ptx_module_free(m);
    }
    assert_int_equal(gpul__alloc_live(), 0);
}

GPUL_TEST_MAIN("ptx: parsing", cmocka_unit_test(test_globals),
               cmocka_unit_test(test_function_header), cmocka_unit_test(test_scopes_and_labels),
               cmocka_unit_test(test_label_scopes), cmocka_unit_test(test_operands),
               cmocka_unit_test(test_calls), cmocka_unit_test(test_source_positions),
               cmocka_unit_test(test_refused), cmocka_unit_test(test_old_ptx),
               cmocka_unit_test(test_indices));
