/* What is said of incorrect PTX: the line, the column, the words, the kernel, the instruction, and
 * both renderings.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL                                                                                     \
    HEADER ".global .b32 g;\n.func f(.param .b32 x) { ret; }\n.entry k() {\n"                      \
           ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p<4>;\n"

static void parse_bad(const char *text, ptx_diags *diags)
{
    ptx_module *module = NULL;
    assert_int_equal(ptx_parse(&module, text, strlen(text), diags), PTX_INVALID);
    assert_null(module);
    assert_true(diags->errors > 0 && diags->count > 0);
}

/* One faulty statement in a kernel, and the message. */
static const struct {
    const char *statement, *text;
} statements[] = {
    { "foo.u32 %r1, %r2;", "Not a name of any known instruction: 'foo'" },
    { "add.s32 %r1, %r2;", "Arguments mismatch for instruction 'add': it has 2 operands" },
    { "add.s32 %r1, %r2, %r3, %r3;", "it has 4 operands and takes 3" },
    { "add.s32 %r1, %rd2, %r1;", "operand 2 is the .b64 register %rd2, expected a register of 32" },
    { "add.s32 %r1, %r2, 0f3F800000;", "operand 3 is a 32-bit floating-point number" },
    { "add.f32 %f1, %f1, 1;", "operand 3 is a whole number" },
    { "add.s32 5, %r1, %r1;", "operand 1 is a whole number" },
    { "add.q32 %r1, %r2, %r3;", "Unknown modifier '.q32'" },
    { "add.u8 %r1, %r2, %r3;", "Unexpected instruction types specified for 'add'" },
    { "add.rn.rz.f32 %f1, %f1, %f1;", "Modifier '.rz' contradicts an earlier one" },
    { "add.s32 %r9, %r2, %r3;", "Unknown symbol '%r9'" },
    { "add.s32 %r01, %r2, %r3;", "Unknown symbol '%r01'" },
    { "bra nowhere;", "Unknown symbol 'nowhere'" },
    { "{ inside: ret; } bra inside;", "Unknown symbol 'inside'" },
    { "a: ret; a: ret;", "Duplicate definition of 'a'; it was declared on line 8" },
    { ".reg .b32 %r<9>;", "Duplicate definition of '%r'; it was declared on line 7" },
    { "call nobody, (%r1);", "Unknown symbol 'nobody'" },
    { "call f, (%r1, %r2);", "The call has 2 arguments, its callee 1" },
    { "call f, (%rd1);", "operand 1 is the .b64 register %rd1" },
    { "call (%r1), f, (%r2);", "The call has 1 results, its callee 0" },
    { "call k;", "'k' is a kernel and cannot be called" },
    { "call %rd1;", "An indirect call requires a call prototype" },
    { "call 5;", "only a function or a register can be called" },
    { "setp.u32 %p1, %r1, %r2;", "Comparison modifier required for instruction 'setp'" },
    { "setp.lo.s32 %p1, %r1, %r2;", "Mismatch between instruction type and comparison" },
    { "div.f32 %f1, %f1, %f1;", "Rounding modifier required for instruction 'div'" },
    { "sqrt.full.f32 %f1, %f1;", "Illegal rounding modifier for instruction 'sqrt'" },
    { "st.const.b32 [%rd1], %r1;", "State space incorrect for instruction 'st'" },
    { "ld.shared.b32 %r1, [g];", "'g' is in .global" },
    { "ld.global.b32 %r1, [%f1];", "Illegal to use symbol '%f1' of type .f32 as address" },
    { "ld.global.b32 %r1, %rd1;", "operand 2 is the .b64 register %rd1, expected an address" },
    { "ld.global.b32 %r1, [16];", "Immediate addresses allowed only for .local" },
    { "ld.global.v4.b32 {%r1, %r2}, [%rd1];", "2 elements, expected 4" },
    { "ld.acquire.global.b32 %r1, [%rd1];", "Modifier '.acquire' requires scope" },
    { "@%r1 ret;", "Predicate expression expected" },
    { "mov.b32 %r1, !%r2;", "Only a predicate can be negated" },
    { "mov.b32 %r1, {%r1, %r2};", "operand 2 is the .b32 register %r1" },
    { "bar.sync 16;", "Barrier number '16' out of range" },
    { "shfl.up.b32 %r1, %r2, 1, 0;", "without '.sync' is not supported on .target sm_70" },
    { "add.s32 %r1, %tid.x, 1;", "Special register argument not allowed" },
    { "mov.u32 %r1, 0x1FFFFFFFFFFFFFFFF;", "the number does not fit into 64 bits" },
    { "mov.f32 %f1, 0f3F8;", "a 0f constant has exactly 8 hexadecimal digits" },
    { "mov.u32 %r1, 1 / 0;", "division by zero" },
    { "mov.u32 %r1 %r2;", "expected `;` after the instruction, found `%r2`" },
    { "mov.u32 %r1, ;", "expected an operand, found `;`" },
    { "mov.u32 %r1, \"x;", "the string does not end" },
    { "mov.u32 %r1, #;", "unexpected character" },
    { ".visible .b32 x;", "expected an instruction or a declaration" },
    { "/* open", "the comment does not end" },
};

static void test_statements(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        gpul__str text = { 0 };
        ptx_diags diags = { 0 };
        gpul__str_printf(&text, "%s%s\nret; }\n", KERNEL, statements[i].statement);
        parse_bad(text.text, &diags);
        const ptx_diag *diag = &diags.items[0];
        if (!strstr(diag->text, statements[i].text))
            fail_msg("%s: \"%s\" lacks \"%s\"", statements[i].statement, diag->text,
                     statements[i].text);
        assert_int_equal(diag->severity, PTX_ERROR);
        if (diag->line != 8) fail_msg("%s: line %u", statements[i].statement, diag->line);
        assert_string_equal(diag->function, "k");
        assert_non_null(diag->source);
        ptx_diags_free(&diags);
        gpul__str_free(&text);
    }
    assert_int_equal(gpul__alloc_live(), 0);
}

static const struct {
    const char *module, *text;
    uint32_t line;
} modules[] = {
    { "", "PTX must begin with .version, but the text ends here", 1 },
    { ".target sm_90\n", "PTX must begin with .version", 1 },
    { ".version 8\n", "expected a version like 8.4", 1 },
    { ".version 8.0\n.entry", "expected .target after .version", 2 },
    { ".version 8.0\n.target gfx90\n", "Unknown .target 'gfx90'", 2 },
    { HEADER ".entry k() {", "expected an instruction, but the text ends here", 4 },
    { HEADER ".entry k() { ret; } }", "expected a kernel, a function, a variable", 4 },
    { HEADER ".entry k() { ret; }\n.entry k() { ret; }", "Duplicate definition of 'k'", 5 },
    { HEADER ".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }",
      "'f' differs from its earlier declaration", 5 },
    { HEADER ".global .b32 x;\n.global .b32 x;", "Duplicate definition of 'x'", 5 },
    { HEADER ".shared .b32 x = 5;", "a .shared variable cannot have an initialiser", 4 },
    { HEADER ".global .u64 x = y;", "Unknown symbol 'y'", 4 },
    { HEADER ".global .b32 x[1] = {1, 2};", "more elements than 'x'", 4 },
    { HEADER ".alias a, b;", "`a` must be a declared function without a body", 4 },
    { HEADER ".address_size 16", ".address_size must be 32 or 64, not 16", 4 },
    { HEADER ".entry k(.param .b32 a, .param .b32 a) { ret; }", "Duplicate parameter 'a'", 4 },
};

static void test_modules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        ptx_diags diags = { 0 };
        parse_bad(modules[i].module, &diags);
        if (!strstr(diags.items[0].text, modules[i].text))
            fail_msg("\"%s\" lacks \"%s\"", diags.items[0].text, modules[i].text);
        assert_int_equal(diags.items[0].line, modules[i].line);
        ptx_diags_free(&diags);
    }
    assert_int_equal(gpul__alloc_live(), 0);
}

/* Faults in the meaning do not hide each other, and come in the order of their lines. */
static void test_several_and_renderings(void **state)
{
    (void)state;
    ptx_diags diags = { 0 };
    parse_bad(KERNEL "\tmul.s32 %r1, %r2, %r3;\n\tbra there;\n\tzap;\nret; }\n", &diags);
    assert_int_equal(diags.errors, 3);
    gpul__str log = { 0 };
    ptx_diags_render_log(&diags, &log);
    assert_string_equal(
        log.text,
        "ptxas application ptx input, line 8; error   : Illegal combination of modifiers for "
        "instruction 'mul' in 'k'\n"
        "ptxas application ptx input, line 9; error   : Unknown symbol 'there' in 'k'\n"
        "ptxas application ptx input, line 10; error   : Not a name of any known instruction: "
        "'zap' in 'k'\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n");
    gpul__str_free(&log);
    ptx_diag_render(&diags.items[1], &log);
    assert_string_equal(log.text, "line 9, column 6: error: Unknown symbol 'there' (in `k`)\n"
                                  "     9 | \tbra there;\n"
                                  "       | \t    ^~~~~\n");
    gpul__str_free(&log);
    ptx_diag_render(&diags.items[0], &log);
    assert_non_null(strstr(log.text, "(in `k`, instruction `mul.s32`)"));
    gpul__str_free(&log);
    ptx_diags_free(&diags);
}

/* All are counted, a bounded number is kept. */
static void test_many(void **state)
{
    (void)state;
    gpul__str text = { 0 };
    ptx_diags diags = { 0 };
    gpul__str_add(&text, KERNEL);
    for (int i = 0; i < 1000; i++) gpul__str_add(&text, "zap;\n");
    gpul__str_add(&text, "}\n");
    parse_bad(text.text, &diags);
    assert_int_equal(diags.errors, 1000);
    assert_int_equal(diags.count, PTX_DIAG_LIMIT);
    ptx_diags_free(&diags);
    gpul__str_free(&text);
}

static void test_version(void **state)
{
    (void)state;
    static const char text[] = ".version 99.1\n.target sm_90\n";
    ptx_diags diags = { 0 };
    ptx_module *module = NULL;
    assert_int_equal(ptx_parse(&module, text, sizeof text - 1, &diags), PTX_VERSION_TOO_NEW);
    assert_non_null(strstr(diags.items[0].text, "Unsupported .version 99.1; current version is"));
    ptx_diags_free(&diags);
}

/* The first version of each target, by ptxas 13.0. */
static void test_targets_newer_than_the_version(void **state)
{
    (void)state;
    static const struct {
        const char *before, *first, *target;
    } targets[] = { { "6.2", "6.3", "sm_75" },   { "6.5", "7.0", "sm_80" },
                    { "7.0", "7.1", "sm_86" },   { "7.7", "7.8", "sm_90" },
                    { "7.8", "8.0", "sm_90a" },  { "8.5", "8.6", "sm_100" },
                    { "8.7", "8.8", "sm_100f" }, { "8.6", "8.7", "sm_120a" } };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (int newer = 0; newer < 2; newer++) {
            char text[128];
            int length = snprintf(text, sizeof text, ".version %s\n.target %s\n.address_size 64\n",
                                  newer ? targets[i].first : targets[i].before, targets[i].target);
            ptx_diags diags = { 0 };
            ptx_module *module = NULL;
            ptx_status status = ptx_parse(&module, text, (size_t)length, &diags);
            assert_int_equal(status == PTX_OK, newer);
            if (!newer) {
                assert_int_equal(diags.items[0].line, 2);
                assert_non_null(strstr(diags.items[0].text, "does not support .target"));
                assert_non_null(strstr(diags.items[0].text, targets[i].first));
            }
            ptx_diags_free(&diags);
            ptx_module_free(module);
        }
}

GPUL_TEST_MAIN("ptx: errors", cmocka_unit_test(test_statements), cmocka_unit_test(test_modules),
               cmocka_unit_test(test_several_and_renderings), cmocka_unit_test(test_many),
               cmocka_unit_test(test_version),
               cmocka_unit_test(test_targets_newer_than_the_version));
