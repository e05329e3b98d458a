/* Mangled names, and names that users write.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/image.h"
#include "core/signature_name.h"

static void symbols_are_read(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        { "plain", "plain" },
        { "_Z5scalePfi", "scale(float *, int)" },
        { "_ZN4demo8c05_polyIfLi3EEEvPT_PKS1_S1_",
          "demo::c05_poly<float, 3>(float *, const float *, float)" },
        { "_ZN1n2cvE", "n::cv" },
        { "_ZN37_GLOBAL__N__00000000_5_h2_cu_2e6499082kaEPi", "(anonymous namespace)::ka(int *)" },
        { "_Z4stepP4Body6ParamsS1_PKS_", "step(Body *, Params, Params, const Body *)" },
        { "_Z1kPA4_KiPVfPKcPFviE",
          "k(const int (*)[4], volatile float *, const char *, void (*)(int))" },
        { "_Z1kv", "k()" },
        { "_Z2ktIJiffEEvDpT_", "kt<int, float, float>(int, float, float)" },
        { "_Z1kILb1ELj5ELln3EEvv", "k<true, 5U, -3L>()" },
        { "_Z1kN2ns3VecIfLi4EEEPKS1_", "k(ns::Vec<float, 4>, const ns::Vec<float, 4> *)" },
        { "_Z1kIN2ns1AEEvPT_S2_", "k<ns::A>(ns::A *, ns::A)" },
        { "_Z1fPPKfPKPi", "f(const float **, int *const *)" },
        { "_Z1k6__halfP13__nv_bfloat16PKS_", "k(__half, __nv_bfloat16 *, const __half *)" },
        { "_ZN35_INTERNAL_00000000_5_bh_cu_f53c6f661xE", "x" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gpul__arena arena = { 0 };
        gpul__demangled d;
        assert_true(gpul__demangle(&d, &arena, table[i][0]));
        char text[512];
        int length = snprintf(text, sizeof text, "%s", d.name);
        if (d.is_mangled && d.is_function) {
            length += snprintf(text + length, sizeof text - (size_t)length, "(");
            for (size_t p = 0; p < d.param_count; p++)
                length += snprintf(text + length, sizeof text - (size_t)length, "%s%s",
                                   p ? ", " : "", d.params[p]);
            snprintf(text + length, sizeof text - (size_t)length, ")");
        }
        assert_string_equal(text, table[i][1]);
        gpul__arena_free(&arena);
    }
}

/* Cut off, repeated and wrong symbols give themselves back. */
static void broken_symbols_are_survived(void **state)
{
    (void)state;
    const char *whole = "_ZN4demo8c05_polyIfLi3EN2ns3VecIfLi4EEEEEvPT_PKS1_S1_PFviEPA4_Ki";
    for (size_t length = 0; length <= strlen(whole); length++)
        for (int wrong = 0; wrong < 4; wrong++) {
            char text[128];
            snprintf(text, sizeof text, "%.*s", (int)length, whole);
            if (wrong && length) text[length - 1] = "SIE"[wrong - 1];
            gpul__arena arena = { 0 };
            gpul__demangled d;
            assert_true(gpul__demangle(&d, &arena, text));
            if (!d.is_mangled) assert_string_equal(d.name, text);
            gpul__arena_free(&arena);
        }
    char deep[2000] = "_Z1k";
    memset(deep + 4, 'P', 1900);
    gpul__arena arena = { 0 };
    gpul__demangled d;
    assert_true(gpul__demangle(&d, &arena, deep));
    assert_false(d.is_mangled);
    gpul__arena_free(&arena);
}

static void blanks_do_not_matter(void **state)
{
    (void)state;
    assert_true(gpul__same_name("a<float,3>", " a < float , 3 > "));
    assert_true(gpul__same_name("k(unsigned int*)", "k(unsigned  int *)"));
    assert_false(gpul__same_name("unsignedint", "unsigned int"));
    assert_false(gpul__same_name("a<float, 3>", "a<float, 4>"));
    assert_false(gpul__same_name("a", "ab"));
}

static void names_match_as_users_write_them(void **state)
{
    (void)state;
    gpul_param params[] = { { .value = { .type_name = "float *" } },
                            { .value = { .type_name = "int" } } };
    gpul_kernel_info k = { .name = "demo::poly<float, 3>",
                           .symbol = "_ZN4demo4polyIfLi3EEEvPT_i",
                           .params = params,
                           .param_count = 2 };
    assert_int_equal(gpul__kernel_match(&k, "_ZN4demo4polyIfLi3EEEvPT_i"), GPUL__MATCH_SYMBOL);
    assert_int_equal(gpul__kernel_match(&k, "demo::poly<float,3>"), GPUL__MATCH_NAME);
    assert_int_equal(gpul__kernel_match(&k, "&demo::poly<float , 3>"), GPUL__MATCH_NAME);
    assert_int_equal(gpul__kernel_match(&k, "poly"), GPUL__MATCH_PLAIN);
    assert_int_equal(gpul__kernel_match(&k, "poly<float, 3>"), GPUL__MATCH_PLAIN);
    assert_int_equal(gpul__kernel_match(&k, "demo::poly"), GPUL__MATCH_PLAIN);
    assert_int_equal(gpul__kernel_match(&k, "demo::poly<float, 3>(float*, int)"), GPUL__MATCH_NAME);
    assert_int_equal(gpul__kernel_match(&k, "demo::poly<float, 3>(float*)"), GPUL__MATCH_NONE);
    assert_int_equal(gpul__kernel_match(&k, "pol"), GPUL__MATCH_NONE);
    gpul_kernel_info overload = {
        .name = "scale(float *, int)", .symbol = "_Z5scalePfi", .params = params, .param_count = 2
    };
    assert_int_equal(gpul__kernel_match(&overload, "scale"), GPUL__MATCH_PLAIN);
    assert_int_equal(gpul__kernel_match(&overload, "scale(float*,int)"), GPUL__MATCH_NAME);
    assert_int_equal(gpul__kernel_match(&overload, "scale(double*,int)"), GPUL__MATCH_NONE);
}

GPUL_TEST_MAIN("names", cmocka_unit_test(symbols_are_read),
               cmocka_unit_test(broken_symbols_are_survived),
               cmocka_unit_test(blanks_do_not_matter),
               cmocka_unit_test(names_match_as_users_write_them));
