/* What the compiler says, made readable: causes, cascades, columns, places.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/compile_log.h"

static void one_cause_and_its_followers(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e =
        refuse_text("__global__ void hist(uint32_t *bins, const unsigned char *in, int n)\n"
                    "{\n    bins[in[0]] = n;\n}\n",
                    OPTS(.name = "hist.cu"), 505, "type 'uint32_t' is not declared");
    assert_int_equal(e->layer, GPUL_LAYER_COMPILE);
    assert_string_equal(e->details[0].file, "hist.cu");
    assert_int_equal(e->details[0].line, 1);
    assert_int_equal(e->details[0].column, 22);
    assert_int_equal(e->details[0].end_column, 30);
    assert_text_has(e->details[0].source, "__global__ void hist(uint32_t");
    assert_text_has(e->details[1].text, "further error");
    assert_text_has(e->hint, "#include <stdint.h>");
    assert_text_has(e->log, "attribute \"__global__\" does not apply here");
    assert_string_equal(e->native_name, "NVRTC_ERROR_COMPILATION");
    assert_string_equal(e->call, "nvrtcCompileProgram");
}

static void several_causes_come_together(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e =
        refuse_text("__global__ void k(float *x)\n{\n    x[0] = first;\n    x[1] = second;\n"
                    "}\n__global__ void k2(float *x) { x[2] = first; }\n",
                    OPTS(), 501, "identifier \"first\" is undefined");
    size_t errors = 0;
    for (size_t i = 0; i < e->detail_count; i++) errors += e->details[i].severity == GPUL_ERROR;
    assert_int_equal(errors, 2);
    assert_true(has_detail(e, "1 further error follows"));
    assert_true(has_detail(e, "identifier \"second\" is undefined"));
}

static void columns_are_characters(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e = refuse_text(
        "__global__ void k(float *x)\n{\n\t/* \xc3\xa9\xe2\x82\xac */ x[0] = missing;\n}\n", OPTS(),
        501, "missing");
    assert_int_equal(e->details[0].line, 3);
    assert_int_equal(e->details[0].column, 18);
    assert_int_equal(e->details[0].end_column, 25);
    assert_text_has(e->details[0].source, "x[0] = missing;");
}

static void instantiation_is_told(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e = refuse_text("template <class T> __device__ T f(T x) { return x.y; }\n"
                                      "__global__ void k(int *b) { b[0] = f(b[1]); }\n",
                                      OPTS(), 501, "class type");
    assert_true(has_detail(e, "detected during instantiation"));
}

static void errors_in_included_files_are_placed_there(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e = refuse_text(
        "#include \"h.h\"\n__global__ void k(int *b) { *b = f(); }\n",
        OPTS(.headers =
                 (gpul_header[]){ { "h.h", "\n__device__ int f() { return wrong; }\n" }, { 0 } }),
        501, "wrong");
    assert_string_equal(e->details[0].file, "h.h");
    assert_int_equal(e->details[0].line, 2);
}

static void assembler_errors_are_placed_in_the_source(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e = refuse_case("assembler.cu", OPTS(), 512, "'.left'");
    assert_true(has_detail(e, "'rotate'"));
    assert_text_has(e->details[0].file, "assembler.cu");
    assert_int_equal(e->details[0].line, 8);
    assert_text_has(e->details[0].source, "rotate.left.u32");
    assert_text_has(e->details[0].text, "of the PTX");
    assert_text_has(e->log, "Not a name of any known instruction");
    /* PTX alone never meets the assembler. */
    gpul_image *image = compile_case("assembler.cu", AT("compute_90", .no_carried_headers = false));
    gpul_image_free(&image);
    image = compile_case(
        "assembler.cu",
        OPTS(.defines = LIST("RIGHT"), .flags = LIST("--ptxas-options=-v"), .max_registers = 16));
    assert_text_has(gpul_image_describe(image)->log,
                    "adjusting per thread register count of 16 to lower bound of 24");
    assert_text_has(gpul_image_describe(image)->log, "Used ");
    gpul_image_free(&image);

    e = refuse_text("\n__global__ void big(int *b) { __shared__ int x[15000]; b[0] = x[b[1]]; }\n",
                    OPTS(), 512, "'big'");
    assert_int_equal(e->details[0].line, 2);
    assert_int_equal(e->details[0].column, 17);
    assert_text_has(e->hint, "extern __shared__");
}

static void logs_are_read_without_a_compiler(void **state)
{
    (void)state;
    gpul__arena arena = { 0 };
    gpul__log_list list = { 0 };
    gpul__source source;
    assert_int_equal(gpul__source_prepare(&source, "a (1).cu", "x\n\tfoo(bar);\n", GPUL_TEXT),
                     GPUL_OK);
    const char *log = "a (1).cu(2): error: identifier \"bar\" is undefined\n"
                      "\n"
                      "a (1).cu(2): warning #177-D: something\n"
                      "  \tfoo(bar);\n"
                      "  \t   ^\n"
                      "          detected during instantiation of \"x\" at line 3\n"
                      "\n"
                      "ptxas application ptx input, line 30; error   : Unknown modifier\n"
                      "ptxas info    : Used 10 registers\n"
                      "nvrtc: error: unrecognized option -x found\n"
                      "1 error detected in the compilation of \"a (1).cu\".\n"
                      "no newline at the end";
    assert_true(gpul__log_read(&list, &arena, log, &source));
    assert_int_equal(list.count, 7);
    assert_string_equal(list.items[0].file, "a (1).cu");
    assert_int_equal(list.items[0].line, 2);
    assert_int_equal(list.items[0].column, 6); /* without a caret: by the name */
    assert_int_equal(list.items[1].severity, GPUL_WARNING);
    assert_int_equal(list.items[1].number, 177);
    assert_int_equal(list.items[1].column, 5);
    assert_text_has(list.items[1].more, "detected during");
    assert_int_equal(list.items[2].origin, GPUL__LOG_ASSEMBLER);
    assert_int_equal(list.items[2].line, 30);
    assert_int_equal(list.items[3].severity, GPUL_NOTE);
    assert_int_equal(list.items[4].origin, GPUL__LOG_TOOL);
    assert_int_equal(list.items[5].origin, GPUL__LOG_REST);
    gpul__free(list.items);
    gpul__source_free(&source);
    gpul__arena_free(&arena);
}

GPUL_TEST_MAIN("errors", cmocka_unit_test(one_cause_and_its_followers),
               cmocka_unit_test(several_causes_come_together),
               cmocka_unit_test(columns_are_characters), cmocka_unit_test(instantiation_is_told),
               cmocka_unit_test(errors_in_included_files_are_placed_there),
               cmocka_unit_test(assembler_errors_are_placed_in_the_source),
               cmocka_unit_test(logs_are_read_without_a_compiler));
