/* Source as text: encodings, tokens, declarations, host code.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/source_host.h"

/* ---- Encodings ---- */

static void prepare(gpul__source *out, const char *text, size_t length)
{
    assert_int_equal(gpul__source_prepare(out, "t.cu", text, length), GPUL_OK);
}

static void refuse(const char *text, size_t length, const char *message, uint32_t line)
{
    gpul__source source;
    assert_int_equal(gpul__source_prepare(&source, "t.cu", text, length), GPUL_E_SOURCE);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->code, 508);
    assert_text_has(e->message, message);
    assert_int_equal(e->details[0].line, line);
    assert_non_null(e->hint);
}

static void byte_order_mark_goes(void **state)
{
    (void)state;
    gpul__source source;
    prepare(&source, "\xef\xbb\xbfint x;\n", GPUL_TEXT);
    assert_string_equal(source.text, "int x;\n");
    gpul__source_free(&source);
}

static void line_ends_of_all_kinds(void **state)
{
    (void)state;
    gpul__source source;
    prepare(&source, "a\r\nb\rc\nd", GPUL_TEXT);
    assert_string_equal(source.text, "a\r\nb\nc\nd");
    assert_int_equal(source.line_count, 4);
    size_t length;
    assert_memory_equal(gpul__source_line_text(&source, 1, &length), "a", 1);
    assert_int_equal(length, 1);
    assert_int_equal(gpul__source_line(&source, 5), 3);
    gpul__source_free(&source);
}

static void bad_encodings_are_refused(void **state)
{
    (void)state;
    refuse("\xff\xfe"
           "i\0n\0t\0",
           8, "UTF-16", 1);
    refuse("i\0n\0t\0 \0", 8, "UTF-16", 1);
    refuse("\xff\xfe\0\0"
           "i\0\0\0",
           8, "UTF-32", 1);
    refuse("int x;\nint\0y;", 13, "NUL byte", 2);
    refuse("// f\xfcr\n", GPUL_TEXT, "not valid UTF-8", 1);
    refuse("a\n\xc0\x80", GPUL_TEXT, "not valid UTF-8", 2);
    refuse("\xed\xa0\x80", GPUL_TEXT, "not valid UTF-8", 1);
    refuse("\xe2\x82", GPUL_TEXT, "not valid UTF-8", 1);
}

static void columns_count_characters(void **state)
{
    (void)state;
    gpul__source source;
    prepare(&source, "x\n\t\xc3\xa9\xe2\x82\xac y", GPUL_TEXT);
    assert_int_equal(gpul__source_column(&source, strlen("x\n\t\xc3\xa9\xe2\x82\xac ")), 5);
    gpul__source_free(&source);
}

/* ---- Declarations ---- */

struct read {
    gpul__source source;
    gpul__tokens tokens;
    gpul__scan scan;
    gpul__arena arena;
};

static void begin(struct read *r, const char *text, const char *const *defines)
{
    memset(r, 0, sizeof *r);
    prepare(&r->source, text, GPUL_TEXT);
    gpul__macros macros = { .defines = defines };
    assert_true(gpul__tokenize(&r->tokens, r->source.text, r->source.length, &macros));
    gpul__scan_begin(&r->scan, &r->tokens);
    assert_true(gpul__scan_part(&r->scan, 0, r->tokens.count, 0));
}

static void end(struct read *r)
{
    gpul__scan_free(&r->scan);
    gpul__tokens_free(&r->tokens);
    gpul__source_free(&r->source);
    gpul__arena_free(&r->arena);
}

static const gpul__decl *declared(struct read *r, const char *name)
{
    for (size_t i = 0; i < r->scan.count; i++)
        if (r->scan.decls[i].name != GPUL__NO_TOKEN &&
            gpul__token_is(&r->tokens, r->scan.decls[i].name, name))
            return &r->scan.decls[i];
    return NULL;
}

static void kernels_are_found_where_they_are(void **state)
{
    (void)state;
    struct read r;
    begin(
        &r,
        "// __global__ void comment() {}\n"
        "const char *s = \"__global__ void string() {}\";\n"
        "#if 0\n__global__ void off() {}\n#endif\n"
        "#ifdef __CUDACC_RTC__\n__global__ void on() {}\n#else\n__global__ void off2() {}\n#endif\n"
        "#ifdef WANTED\n__global__ void wanted() {}\n#endif\n"
        "namespace a { namespace { __global__ void __launch_bounds__(128, 2) inner(int *x) {} } }\n"
        "extern \"C\" { __global__ void c1() {} }\nextern \"C\" __global__ void c2(void) {}\n"
        "template <class T, int N> __global__ void t(T *x) {}\n"
        "#define KERNEL __global__ void\nKERNEL macro(int y) {}\n"
        "DEFINE(other)\n__global__ void after() {}\n",
        LIST("WANTED=1"));
    assert_null(declared(&r, "comment"));
    assert_null(declared(&r, "string"));
    assert_null(declared(&r, "off"));
    assert_null(declared(&r, "off2"));
    assert_true(declared(&r, "on")->is_global);
    assert_true(declared(&r, "wanted")->is_global);
    assert_false(declared(&r, "wanted")->uncertain);
    assert_string_equal(declared(&r, "inner")->scope, "a::(anonymous namespace)::");
    assert_true(declared(&r, "c1")->is_extern_c);
    assert_true(declared(&r, "c2")->is_extern_c);
    assert_true(declared(&r, "t")->is_template);
    assert_true(declared(&r, "macro")->is_global);
    assert_true(declared(&r, "after")->is_global);
    end(&r);
}

static void params_and_members_are_spelled(void **state)
{
    (void)state;
    struct read r;
    begin(
        &r,
        "struct P { int a, *b, c[3]; float3 v; struct { int q; } in; union { int u; float f; };\n"
        "  unsigned bits : 3; static int s; int m() const { return a; } void (*cb)(int);\n"
        "  enum E { X } e; alignas(16) float al = 1.f; };\n"
        "__global__ void k(const float *__restrict__ x, unsigned long long int n, ns::V<int, 2> v = {},\n"
        "                  float (*arr)[4], int m[][3], const P, void (*fn)(int, float)) {}\n",
        NULL);
    gpul__declarators list;
    assert_true(gpul__scan_params(&list, &r.arena, &r.tokens, declared(&r, "k")));
    static const char *const params[][2] = {
        { "const float *", "x" },
        { "unsigned long long int", "n" },
        { "ns::V<int, 2>", "v" },
        { "float (*)[4]", "arr" },
        { "int (*)[3]", "m" },
        { "const P", "" },
        { "void (*)(int, float)", "fn" },
    };
    assert_int_equal(list.count, 7);
    for (size_t i = 0; i < list.count; i++) {
        assert_string_equal(list.items[i].type, params[i][0]);
        assert_string_equal(list.items[i].name, params[i][1]);
    }
    gpul__free(list.items);
    list = (gpul__declarators){ 0 };
    const gpul__decl *p = declared(&r, "P");
    assert_true(gpul__scan_members(&list, &r.arena, &r.tokens, p->body, p->body_end, false));
    static const char *const members[][2] = {
        { "int", "a" },    { "int *", "b" },       { "int[3]", "c" },
        { "float3", "v" }, { "struct", "in" },     { "int", "u" },
        { "float", "f" },  { "unsigned", "bits" }, { "void (*)(int)", "cb" },
        { "E", "e" },      { "float", "al" },
    };
    assert_int_equal(list.count, 11);
    for (size_t i = 0; i < list.count; i++) {
        assert_string_equal(list.items[i].type, members[i][0]);
        assert_string_equal(list.items[i].name, members[i][1]);
    }
    assert_true(list.items[7].is_bits);
    gpul__free(list.items);
    end(&r);
}

/* Text that is no C++ at all must not crash or hang. */
static void nonsense_is_survived(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "}",
        "(((((",
        "template <",
        "struct {",
        "class A : B<C<",
        "namespace",
        "typedef",
        "typedef struct {",
        "#",
        "#if",
        "#if (((",
        "\"",
        "'",
        "R\"x(",
        "/*",
        "//\\",
        "a<b<c<d",
        "using",
        "extern \"C\" {",
        "operator",
        "operator(",
        "enum",
        "enum { A",
        "__global__",
        "__global__ void",
        "__global__ void k(",
        "__global__ void k(int",
        "#define",
        "#define A(",
        "A(b)",
        "::",
        "x = {",
        ";;;",
        "template",
        "template template <class T> struct X;",
        "struct A { A(); : b(1) {} };",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct read r;
        begin(&r, texts[i], NULL);
        for (size_t d = 0; d < r.scan.count; d++) {
            gpul__declarators list = { 0 };
            const gpul__decl *decl = &r.scan.decls[d];
            if (decl->kind == GPUL__DECLARED_FUNCTION)
                assert_true(gpul__scan_params(&list, &r.arena, &r.tokens, decl));
            else if (decl->kind == GPUL__DECLARED_CLASS)
                assert_true(gpul__scan_members(&list, &r.arena, &r.tokens, decl->body,
                                               decl->body_end, false));
            gpul__free(list.items);
        }
        gpul__host_code host;
        assert_true(gpul__host_find(&host, &r.arena, &r.source, &r.scan, NULL, false));
        assert_true(gpul__host_set_aside(&host, &r.arena, &r.source, &r.scan, NULL, NULL));
        assert_int_equal(strlen(host.text), r.source.length);
        gpul__host_free(&host);
        end(&r);
    }
    /* Deep nesting. */
    enum { DEEP = 20000 };
    char *text = malloc(DEEP * 8 + 1);
    for (int i = 0; i < DEEP; i++) memcpy(text + i * 8, "struct {", 8);
    text[DEEP * 8] = 0;
    struct read r;
    begin(&r, text, NULL);
    end(&r);
    free(text);
}

static void host_code_is_blanked_line_for_line(void **state)
{
    (void)state;
    struct read r;
    const char *text =
        "#include <vector>\n#include <stdio.h>\nstatic int help(int v) { return v; }\n"
        "void host() { kernel<<<1, 1>>>(); }\n"
        "__global__ void kernel(int *x) { *x = help(1); }\n"
        "int main() {\n#ifdef A\n  host();\n#endif\n  return 0; }\n";
    begin(&r, text, NULL);
    gpul__host_code host;
    assert_true(gpul__host_find(&host, &r.arena, &r.source, &r.scan, NULL, false));
    assert_true(host.found);
    assert_string_equal(host.name, "main");
    assert_true(gpul__host_set_aside(&host, &r.arena, &r.source, &r.scan, NULL, NULL));
    assert_int_equal(strlen(host.text), strlen(text));
    assert_null(strstr(host.text, "vector"));
    assert_null(strstr(host.text, "main"));
    assert_null(strstr(host.text, "<<<"));
    assert_text_has(host.text, "#include <stdio.h>");
    assert_text_has(host.text, "static int help(int v) { return v; }");
    assert_text_has(host.text, "__global__ void kernel(int *x) { *x = help(1); }");
    assert_text_has(host.text, "#ifdef A");
    assert_text_has(host.text, "#endif");
    assert_int_equal(host.function_count, 2);
    assert_string_equal(host.functions[0], "host");
    gpul__host_free(&host);
    end(&r);
}

GPUL_TEST_MAIN("source", cmocka_unit_test(byte_order_mark_goes),
               cmocka_unit_test(line_ends_of_all_kinds),
               cmocka_unit_test(bad_encodings_are_refused),
               cmocka_unit_test(columns_count_characters),
               cmocka_unit_test(kernels_are_found_where_they_are),
               cmocka_unit_test(params_and_members_are_spelled),
               cmocka_unit_test(nonsense_is_survived),
               cmocka_unit_test(host_code_is_blanked_line_for_line));
