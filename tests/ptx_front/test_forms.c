/* Forms of instructions, one per line of forms.txt: taken, taken and refused at load, or rejected as
 * the PTX assembler rejects them.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "samples.h"
#include "tree_equal.h"

static const char context[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) fn(.param .b64 x);\n"
    ".global .b32 gv;\n.const .b32 cv;\n.shared .b32 sv;\n"
    ".extern .shared .align 16 .b8 dyn[];\n"
    ".visible .entry k(.param .u64 pa, .param .b32 pb) {\n"
    ".reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<20>; .reg .f64 %g<20>;\n"
    ".reg .pred %p<20>; .reg .b128 %q<9>; .reg .f16 %fh<9>; .reg .u32 %u<9>; .reg .s64 %sd<9>;\n"
    ".reg .b8 %c<9>; .reg .f16x2 %fhh<9>; .local .b32 lv;\n";

static char verdict_of(const char *form, size_t length)
{
    gpul__str text = { 0 };
    ptx_diags diags = { 0 };
    ptx_module *module = NULL;
    gpul__str_add(&text, context);
    gpul__str_addn(&text, form, length);
    gpul__str_add(&text, "\nEND: ret; }\n");
    ptx_status status = ptx_parse(&module, text.text, text.length, &diags);
    char verdict = status != PTX_OK ? '-' : module->has_unsupported ? '~' : '+';
    if (status == PTX_INVALID) assert_int_equal(diags.items[0].line, 13);
    if (verdict == '~') {
        assert_int_equal(diags.unsupported, 1);
        assert_string_equal(diags.items[0].function, "k");
    }
    ptx_module_free(module);
    ptx_diags_free(&diags);
    gpul__str_free(&text);
    return verdict;
}

static void test_forms(void **state)
{
    (void)state;
    size_t length, counts[3] = { 0 }, wrong = 0;
    char *text = sample_text("../forms.txt", &length);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (*line == '#') continue;
        char verdict = verdict_of(line + 2, strlen(line + 2));
        if (verdict != *line && ++wrong <= 20)
            print_error("%s: expected %c, is %c\n", line + 2, *line, verdict);
        counts[verdict == '+' ? 0 : verdict == '~' ? 1 : 2]++;
    }
    print_message("%zu taken, %zu refused at load, %zu rejected\n", counts[0], counts[1],
                  counts[2]);
    assert_int_equal(wrong, 0);
    assert_true(counts[0] > 900 && counts[1] > 10 && counts[2] > 400);
    free(text);
}

GPUL_TEST_MAIN("ptx: forms of instructions", cmocka_unit_test(test_forms));
