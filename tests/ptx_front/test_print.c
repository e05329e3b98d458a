/* Printing: what is printed parses back to the same tree, and prints the same text again.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "samples.h"
#include "tree_equal.h"

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

static void test_samples_print_back(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        size_t length;
        char *text = sample_text(sample_names[i], &length);
        ptx_module *first = parsed(text, length);
        gpul__str once = { 0 }, twice = { 0 };
        ptx_print_module(first, &once);
        ptx_module *second = parsed(once.text, once.length);
        const char *difference = tree_difference(first, second);
        if (difference) fail_msg("%s: %s differs", sample_names[i], difference);
        ptx_print_module(second, &twice);
        assert_string_equal(once.text, twice.text);
        ptx_module_free(first);
        ptx_module_free(second);
        gpul__str_free(&once);
        gpul__str_free(&twice);
        free(text);
    }
    assert_int_equal(gpul__alloc_live(), 0);
}

/* Instructions that do not run keep their words and operands too. */
static void test_refused_print_back(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.entry k() {\n"
        ".reg .b32 %r<9>; .reg .b64 %d<3>; .reg .f32 %f<5>; .reg .pred %p<2>;\n"
        "vadd.s32.u32.s32.sat %r1, %r2.b3, %r3.h1;\n"
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2];\n"
        "@%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], -1, [%r3];\n"
        "createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;\n}\n";
    ptx_module *first = parsed(text, sizeof text - 1);
    gpul__str printed = { 0 };
    ptx_print_module(first, &printed);
    assert_non_null(strstr(printed.text, "vadd.s32.u32.s32.sat %r1, %r2.b3, %r3.h1;"));
    assert_non_null(strstr(printed.text, "[%d1, {%f1, %f2}]"));
    ptx_module *second = parsed(printed.text, printed.length);
    const char *difference = tree_difference(first, second);
    if (difference) fail_msg("%s differs", difference);
    for (int i = 0; i < 5; i++) assert_true(first->functions[0]->instructions[i].refused);
    ptx_module_free(first);
    ptx_module_free(second);
    gpul__str_free(&printed);
}

/* The comparison itself must see a difference, or the test above says nothing. */
static void test_comparison_sees_changes(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "%f<3>", "%f<4>" },           { "mul.f32", "mul.rn.f32" }, { "word;", "words;" },
        { "%f1, %f2;", "%f2, %f1;" },   { "{1, 2}", "{1, 3}" },      { "@%p1", "@!%p1" },
        { "[x+4]", "[x+8]" },           { "bra a;", "bra b;" },      { ".loc 1 2 3", ".loc 1 2 4" },
        { "0f3F800000", "0f3F800001" },
    };
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"f\"\n"
        ".global .b32 x[2] = {1, 2};\n.func g() { ret; }\n"
        ".entry k(.param .f32 scale) { .reg .f32 %f<3>; .reg .pred %p<2>; .reg .b32 %r<2>;\n"
        ".loc 1 2 3\nld.param.f32 %f1, [scale];\nmul.f32 %f1, %f1, %f2;\n"
        "mov.f32 %f1, 0f3F800000;\nsetp.eq.f32 %p1, %f1, %f1;\nld.global.b32 %r1, [x+4];\n"
        "a: @%p1 bra b;\nbra a;\nb: ret; }\n.global .b32 word;\n";
    ptx_module *original = parsed(text, sizeof text - 1);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *at = strstr(text, pairs[i][0]);
        assert_non_null(at);
        gpul__str changed = { 0 };
        gpul__str_addn(&changed, text, (size_t)(at - text));
        gpul__str_add(&changed, pairs[i][1]);
        gpul__str_add(&changed, at + strlen(pairs[i][0]));
        ptx_diags diags = { 0 };
        ptx_module *other = NULL;
        assert_int_equal(ptx_parse(&other, changed.text, changed.length, &diags), PTX_OK);
        if (!tree_difference(original, other))
            fail_msg("no difference seen after `%s`", pairs[i][1]);
        ptx_module_free(other);
        ptx_diags_free(&diags);
        gpul__str_free(&changed);
    }
    ptx_module_free(original);
}

static void test_words_in_any_order(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        { "atom.global.sys.add.u32 %r1, [%d1], 1;", "atom.sys.global.add.u32 %r1, [%d1], 1;" },
        { "ld.global.acquire.gpu.u32 %r1, [%d1];", "ld.acquire.gpu.global.u32 %r1, [%d1];" },
        { "vote.ballot.sync.b32 %r1, 1, -1;", "vote.sync.ballot.b32 %r1, 1, -1;" },
        { "add.ftz.rn.f32 %f1, %f1, %f1;", "add.rn.ftz.f32 %f1, %f1, %f1;" },
        { "ld.u32.global %r1, [%d1];", "ld.global.u32 %r1, [%d1];" },
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        gpul__str printed[2] = { { 0 }, { 0 } };
        for (int side = 0; side < 2; side++) {
            gpul__str text = { 0 };
            gpul__str_printf(&text,
                             ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n"
                             ".reg .b32 %%r<2>; .reg .b64 %%d<2>; .reg .f32 %%f<2>;\n%s\n}\n",
                             same[i][side]);
            ptx_module *module = parsed(text.text, text.length);
            ptx_print_instruction(module->functions[0], module->functions[0]->instructions,
                                  &printed[side]);
            ptx_module_free(module);
            gpul__str_free(&text);
        }
        assert_string_equal(printed[0].text, printed[1].text);
        assert_string_equal(printed[1].text, i == 2   ? "vote.sync.ballot.b32 %r1, 1, 0xFFFFFFFF;"
                                             : i == 0 ? "atom.sys.global.add.u32 %r1, [%d1], 1;"
                                                      : same[i][1]);
        gpul__str_free(&printed[0]);
        gpul__str_free(&printed[1]);
    }
}

GPUL_TEST_MAIN("ptx: printing", cmocka_unit_test(test_samples_print_back),
               cmocka_unit_test(test_refused_print_back),
               cmocka_unit_test(test_comparison_sees_changes),
               cmocka_unit_test(test_words_in_any_order));
