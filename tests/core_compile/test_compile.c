/* Compiling with the real NVRTC: options, architectures, headers, host code, forms.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

static const char *const simple = "extern \"C\" __global__ void k(int *o) { *o = 1; }\n";

static void one_run_gives_both_forms(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_text(simple, OPTS(.name = "one.cu"));
    const gpul_image_info *info = gpul_image_describe(image);
    assert_string_equal(info->name, "one.cu");
    assert_string_equal(info->arch, "sm_90");
    assert_text_has(info->ptx, ".target sm_90");
    assert_int_equal(strlen(info->ptx), info->ptx_size);
    assert_memory_equal(info->cubin,
                        "\x7f"
                        "ELF",
                        4);
    assert_true(info->nvrtc_major >= 11);
    assert_true(info->ptx_major >= 7);
    assert_true(info->compile_ns > 0);
    assert_string_equal(info->log, "");
    assert_text_has(info->choice, "sm_90: as asked for");
    assert_null(strstr(info->ptx, "gpul"));
    gpul_image_free(&image);
    assert_null(image);
    gpul_image_free(&image);
    gpul_image_free(NULL);
}

static void virtual_architecture_gives_ptx_alone(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_text(simple, AT("compute_80", ));
    assert_non_null(gpul_image_describe(image)->ptx);
    assert_null(gpul_image_describe(image)->cubin);
    assert_int_equal(gpul_image_kernel(image, 0)->registers, -1);
    gpul_image_free(&image);
}

static void suffixes_are_accepted(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_text(simple, AT("sm_90a", ));
    assert_text_has(gpul_image_describe(image)->ptx, ".target sm_90a");
    gpul_image_free(&image);
}

static void wrong_architectures_are_refused_with_the_list(void **state)
{
    (void)state;
    need_nvrtc();
    static const char *const table[][2] = {
        { "sm90", "write sm_90" },   { "SM_90", "write sm_90" }, { "90", "write sm_90" },
        { "9.0", "write sm_90" },    { "all", "write sm_" },     { "sm_80a", "write sm_80" },
        { "sm_999", "newer NVRTC" }, { "sm_20", "older NVRTC" }, { "compute_", "write sm_" },
        { "", "write sm_" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const gpul_error *e = refuse_text(simple, AT(table[i][0], ), 502, "this NVRTC (");
        assert_text_has(e->hint, table[i][1]);
        assert_true(has_detail(e, " 80 "));
    }
    const gpul_error *e = refuse_case("intrinsic.cu", AT("sm_75", ), 501, "__reduce_add_sync");
    assert_text_has(e->hint, "sm_75");
    assert_int_equal(e->details[0].line, 4);
}

static void options_reach_the_compiler_as_one_string_each(void **state)
{
    (void)state;
    need_nvrtc();
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/inc dir/\xc3\xbcn\xc3\xaf", getenv("GPULAUNCH_TEST_CASES"));
    gpul_image *image =
        compile_case("options.cu", OPTS(.defines = LIST("TITLE=\"two words\"", "SCALE=(3 + 4)"),
                                        .include_dirs = LIST(folder)));
    const char *ptx = gpul_image_describe(image)->ptx;
    assert_text_has(ptx, ", 14;");
    assert_text_has(ptx, ", 30;");
    assert_text_has(ptx, ", 116;");
    gpul_image_free(&image);
    /* Without the folder the message names the header and where it was looked for. */
    const gpul_error *e = refuse_case("options.cu", OPTS(.defines = LIST("TITLE=\"x\"", "SCALE=1")),
                                      506, "cannot find \"local.h\"");
    assert_int_equal(e->details[0].line, 3);
    assert_int_equal(e->details[0].column, 11);
    assert_true(has_detail(e, "searched: "));
    assert_text_has(e->hint, "-I DIR");
}

static void every_option_has_its_effect(void **state)
{
    (void)state;
    need_nvrtc();
    const char *text =
        "#if !defined(A) || defined(B) || !defined(__GPULAUNCH__)\n#error options\n#endif\n"
        "#include \"mine.h\"\n"
        "template <class T> __global__ void t(T *x) { *x = *x / (T)3 + MINE + SECOND; }\n";
    gpul_image *image =
        compile_text(text, OPTS(.std = "c++14", .defines = LIST("A", "B"), .undefines = LIST("B"),
                                .line_info = true, .fast_math = true, .max_registers = 32,
                                .flags = LIST("--ptxas-options=-v"),
                                .headers = (gpul_header[]){ { "mine.h", "#define MINE 7\n" },
                                                            { "pre.h", "#define SECOND 1\n" },
                                                            { 0 } },
                                .includes = LIST("pre.h"), .expressions = LIST("t<float>")));
    const char *ptx = gpul_image_describe(image)->ptx;
    assert_text_has(ptx, ".loc");
    assert_text_has(gpul_image_describe(image)->log, "32 of maxrregcount");
    assert_text_has(ptx, ".ftz");
    kernel(image, "t<float>");
    gpul_image_free(&image);
    image = compile_text(simple, OPTS(.debug = true));
    assert_text_has(gpul_image_describe(image)->ptx, "debug");
    gpul_image_free(&image);
}

static void bad_options_are_named(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e = refuse_text(simple, OPTS(.flags = LIST("-O3")), 503, "-O3");
    assert_text_has(e->hint, "always optimises");
    refuse_text(simple, OPTS(.flags = LIST("--no-such-option")), 503, "--no-such-option");
    refuse_text(simple, OPTS(.flags = LIST("-Xptxas")), 503, "-Xptxas");
    refuse_text(simple, OPTS(.flags = LIST("--ptxas-options=--bogus")), 503, "bogus");
    refuse_text(simple, OPTS(.flags = LIST("")), 503, "empty");
    refuse_text(simple, OPTS(.std = "c++99"), 503, "std");
    const gpul__nvrtc *nvrtc;
    assert_int_equal(gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ .arch = 90 }), GPUL_OK);
    /* Later releases know it. */
    if (nvrtc->major * 10 + nvrtc->minor <= 130)
        refuse_text(simple, OPTS(.std = "c++23"), 503, "std");
    refuse_text(simple, OPTS(.defines = LIST("=3")), 503, "macro");
    refuse_text(simple, OPTS(.max_registers = -1), 503, "-1");
    gpul_image *image = NULL;
    assert_int_equal(gpul_compile(NULL, simple, GPUL_TEXT, NULL), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_compile(&image, NULL, 0, NULL), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_compile_file(&image, NULL, NULL), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_compile_file(&image, "/no/such/file.cu", NULL), GPUL_E_SYSTEM);
    assert_text_has(gpul_last_error()->message, "/no/such/file.cu");
}

static void source_forms_are_accepted_or_refused(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_text("\xef\xbb\xbf"
                                     "extern \"C\" __global__ void k(int *o)\r\n{ *o = 1; }\r\n",
                                     OPTS());
    assert_int_equal(gpul_image_kernel_count(image), 1);
    gpul_image_free(&image);
    image = compile_text("// one\rextern \"C\" __global__ void k(int *o)\r{ *o = 1; }\r", OPTS());
    assert_int_equal(gpul_image_kernel(image, 0)->line, 2);
    gpul_image_free(&image);
    /* A length that ends before the text does. */
    assert_int_equal(
        gpul_compile(&image, "extern \"C\" __global__ void k() {}garbage(", 33, OPTS()), GPUL_OK);
    gpul_image_free(&image);
    gpul_status status = gpul_compile(&image, "int\0x;", 6, OPTS());
    refused(status, image, 508, "NUL");
    refuse_text("", OPTS(), 510, "no kernel");
}

static void carried_headers_serve_ordinary_files(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("headers.cu", OPTS());
    assert_param(kernel(image, "unsquare"), 1, "n", "uint32_t", GPUL_U32, 4, 8);
    gpul_image_free(&image);
    const gpul_error *e =
        refuse_case("headers.cu", OPTS(.no_carried_headers = true), 506, "stdio.h");
    assert_int_equal(e->details[0].line, 2);
    assert_int_equal(e->details[0].column, 11);
    assert_text_has(e->message, "no C or C++ library headers");
    assert_text_has(e->hint, "__CUDACC_RTC__");
    assert_null(strstr(e->hint, "/usr/include"));
    /* The caller's own header of that name wins. */
    image = compile_text(
        "#include <stdint.h>\nextern \"C\" __global__ void k(mine x, int *o) { *o = x; }\n",
        OPTS(.headers = (gpul_header[]){ { "stdint.h", "typedef short mine;\n" }, { 0 } }));
    assert_param(kernel(image, "k"), 0, "x", "mine", GPUL_I16, 2, 0);
    gpul_image_free(&image);
}

static void every_carried_header_compiles_alone_and_twice(void **state)
{
    (void)state;
    need_nvrtc();
    static const char *const names[] = { "assert.h",
                                         "cassert",
                                         "cfloat",
                                         "cinttypes",
                                         "climits",
                                         "cmath",
                                         "cstddef",
                                         "cstdint",
                                         "cstdio",
                                         "cstdlib",
                                         "cstring",
                                         "ctime",
                                         "cuda.h",
                                         "float.h",
                                         "inttypes.h",
                                         "limits",
                                         "limits.h",
                                         "math.h",
                                         "memory.h",
                                         "stdbool.h",
                                         "stddef.h",
                                         "stdint.h",
                                         "stdio.h",
                                         "stdlib.h",
                                         "string.h",
                                         "sys/types.h",
                                         "time.h",
                                         "type_traits",
                                         "utility",
                                         "cuda_runtime.h",
                                         "device_launch_parameters.h" };
    char text[4096];
    int length = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "#include <%s>\n#include <%s>\n", names[i], names[i]);
    snprintf(
        text + length, sizeof text - (size_t)length,
        "static_assert(std::numeric_limits<int64_t>::max() == INT64_MAX, \"\");\n"
        "static_assert(std::is_same<std::decay<const int (&)[3]>::type, const int *>::value, \"\");\n"
        "static_assert(offsetof(float4, z) == 8, \"\");\n"
        "__global__ void k(float *x, char *c, uint n) { x[0] = std::sqrt(x[1]) + NAN + FLT_MAX + "
        "(float)M_PI; std::swap(x[0], x[1]); memmove(c, c + 1, 3); c[0] = strlen(c) + n; assert(c); }\n");
    gpul_image *image = compile_text(text, OPTS());
    assert_string_equal(gpul_image_describe(image)->log, "");
    gpul_image_free(&image);
}

static void toolkit_headers_are_found(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image;
    char path[4096];
    snprintf(path, sizeof path, "%s/half.cu", getenv("GPULAUNCH_TEST_CASES"));
    gpul_status status = gpul_compile_file(&image, path, OPTS());
    if (status && gpul_last_error()->code == 506)
        skip_because("no toolkit headers: %s", gpul_last_error()->message);
    compiled(status, image);
    const gpul_kernel_info *mix = kernel(image, "mix");
    assert_param(mix, 0, "h", "const __half *", GPUL_POINTER, 8, 0);
    assert_int_equal(mix->params[0].pointee->type, GPUL_F16);
    assert_int_equal(mix->params[1].pointee->type, GPUL_BF16);
    assert_param(mix, 2, "scale", "half", GPUL_F16, 2, 16);
    assert_int_equal(mix->param_bytes, 32);
    gpul_image_free(&image);
    const gpul_error *e =
        refuse_case("half.cu", OPTS(.no_carried_headers = true), 506, "cuda_fp16.h");
    assert_text_has(e->hint, "CUDA_PATH");
    assert_true(has_detail(e, "searched: "));
}

static void host_code_is_set_aside(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("tutorial.cu", OPTS());
    assert_int_equal(kernel(image, "weigh")->line, 26);
    assert_int_equal(kernel(image, "weigh")->column, 17);
    const char *choice = gpul_image_describe(image)->choice;
    assert_text_has(choice, "host code set aside");
    assert_text_has(choice, "main");
    assert_text_has(choice, "vector");
    gpul_image_free(&image);
    image = compile_case("helper.cu", OPTS());
    assert_text_has(gpul_image_describe(image)->choice,
                    "taken as device code, without __device__: ");
    gpul_image_free(&image);
}

static void host_code_that_is_kept_is_named(void **state)
{
    (void)state;
    need_nvrtc();
    const gpul_error *e = refuse_case("helper.cu", OPTS(.keep_host_code = true), 501, "weigh_one");
    assert_int_equal(e->details[0].line, 4);
    assert_text_has(e->hint, "__device__");
    assert_text_has(e->hint, "-default-device");
    gpul_image *image =
        compile_case("helper.cu", OPTS(.keep_host_code = true, .flags = LIST("-default-device")));
    gpul_image_free(&image);
    e = refuse_case("tutorial.cu", OPTS(.keep_host_code = true), 507, "<chrono> is a host library");
    assert_int_equal(e->details[0].line, 3);
    e = refuse_text("#include <cstdio>\n\nint main() { return 0; }\n", OPTS(), 504, "main, line 3");
    assert_int_equal(e->details[0].line, 3);
    assert_int_equal(e->details[0].column, 5);
    assert_int_equal(e->details[0].end_column, 9);
    refuse_text("__device__ int f() { return 1; }\n", OPTS(), 510, "no kernel");
}

static void templates_by_expression(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case(
        "template.cu", OPTS(.expressions = LIST("demo::poly<float,3>", "demo::poly<double , 1>")));
    assert_int_equal(gpul_image_kernel_count(image), 2);
    const gpul_kernel_info *k = kernel(image, "demo::poly<float, 3>");
    assert_string_equal(k->symbol, "_ZN4demo4polyIfLi3EEEvPT_PKS1_S1_");
    assert_string_equal(k->signature, "demo::poly<float, 3>(float *y, const float *x, float a)");
    assert_int_equal(k->line, 3);
    assert_int_equal(k->types, GPUL_TYPES_COMPILER);
    assert_false(k->is_template);
    assert_param(k, 2, "a", "float", GPUL_F32, 4, 16);
    assert_param(kernel(image, "demo::poly<double, 1>"), 2, "a", "double", GPUL_F64, 8, 16);
    gpul_image_free(&image);

    const gpul_error *e = refuse_case("template.cu", OPTS(), 510, "a template becomes one");
    assert_true(has_detail(e, "template <typename T, int N> demo::poly"));
    e = refuse_case("template.cu", OPTS(.expressions = LIST("poly<float,3>")), 511,
                    "poly<float,3>");
    assert_text_has(e->hint, "demo::poly<float,3>");
    e = refuse_case("template.cu", OPTS(.expressions = LIST("demo::poly")), 511, "demo::poly");
    assert_text_has(e->hint, "arguments");
    refuse_text(simple, OPTS(.expressions = LIST("k", "nothing")), 511, "nothing");
}

static void uninstantiated_templates_are_listed(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_text("template <class T> __global__ void t(T *x, T v) { *x = v; }\n"
                                     "extern \"C\" __global__ void k(int *o) { *o = 1; }\n",
                                     OPTS());
    assert_int_equal(gpul_image_kernel_count(image), 2);
    const gpul_kernel_info *t = kernel(image, "t");
    assert_true(t->is_template);
    assert_string_equal(t->symbol, "");
    assert_string_equal(t->signature, "t(T *x, T v)");
    gpul_image_free(&image);
}

static void warnings_are_kept_on_success(void **state)
{
    (void)state;
    need_nvrtc();
    const char *plain =
        "extern \"C\" __global__ void k(int *o)\n{\n\t/* \xc3\xbc */ int unused = 3; *o = 1;\n}\n";
    gpul_image *image = compile_text(plain, OPTS(.name = "w.cu"));
    assert_int_equal(gpul_image_diagnostic_count(image), 1);
    const gpul_detail *d = gpul_image_diagnostic(image, 0);
    assert_int_equal(d->severity, GPUL_WARNING);
    assert_string_equal(d->file, "w.cu");
    assert_int_equal(d->line, 3);
    assert_int_equal(d->column, 14);
    assert_int_equal(d->end_column, 20);
    assert_text_has(d->text, "never referenced");
    assert_text_has(gpul_image_describe(image)->log, "never referenced");
    assert_null(strstr(gpul_image_describe(image)->log, "gpul"));
    gpul_image_free(&image);
    image = compile_text(plain, OPTS(.flags = LIST("-w")));
    assert_int_equal(gpul_image_diagnostic_count(image), 0);
    assert_int_equal(gpul_image_kernel(image, 0)->types, GPUL_TYPES_COMPILER);
    gpul_image_free(&image);
}

static void questions_leave_no_trace_in_the_code(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("types.cu", OPTS());
    const gpul_image_info *info = gpul_image_describe(image);
    assert_null(strstr(info->ptx, "gpul"));
    assert_null(memmem(info->cubin, info->cubin_size, "gpul", 4));
    gpul_image_free(&image);
}

GPUL_TEST_MAIN(
    "compile", cmocka_unit_test(one_run_gives_both_forms),
    cmocka_unit_test(virtual_architecture_gives_ptx_alone), cmocka_unit_test(suffixes_are_accepted),
    cmocka_unit_test(wrong_architectures_are_refused_with_the_list),
    cmocka_unit_test(options_reach_the_compiler_as_one_string_each),
    cmocka_unit_test(every_option_has_its_effect), cmocka_unit_test(bad_options_are_named),
    cmocka_unit_test(source_forms_are_accepted_or_refused),
    cmocka_unit_test(carried_headers_serve_ordinary_files),
    cmocka_unit_test(every_carried_header_compiles_alone_and_twice),
    cmocka_unit_test(toolkit_headers_are_found), cmocka_unit_test(host_code_is_set_aside),
    cmocka_unit_test(host_code_that_is_kept_is_named), cmocka_unit_test(templates_by_expression),
    cmocka_unit_test(uninstantiated_templates_are_listed),
    cmocka_unit_test(warnings_are_kept_on_success),
    cmocka_unit_test(questions_leave_no_trace_in_the_code));
