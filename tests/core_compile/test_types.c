/* Signatures: every kind of parameter, as the compiler lays it out.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/signature_types.h"

static void every_kind_of_parameter(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("types.cu", OPTS());
    const gpul_kernel_info *step = kernel(image, "step");
    assert_int_equal(step->types, GPUL_TYPES_COMPILER);
    assert_true(step->is_extern_c);
    assert_true(step->uses_y);
    assert_false(step->uses_z);
    assert_int_equal(step->line, 20);
    assert_int_equal(step->column, 28);
    assert_int_equal(step->end_column, 32);
    assert_text_has(step->file, "types.cu");
    assert_true(step->registers > 0);

    assert_param(step, 0, "b", "Body *", GPUL_POINTER, 8, 0);
    assert_true(step->params[0].is_pointer);
    assert_false(step->params[0].is_const);
    const gpul_member *body = step->params[0].pointee;
    assert_int_equal(body->size, 32);
    assert_int_equal(body->align, 16);
    assert_member(body, 0, "pos", GPUL_STRUCT, 16, 0, 1);
    assert_int_equal(body->members[0].element, GPUL_F32);
    assert_int_equal(body->members[0].lanes, 4);
    assert_member(body, 1, "vel", GPUL_STRUCT, 16, 16, 1);

    assert_param(step, 1, "p", "Params", GPUL_STRUCT, 28, 8);
    const gpul_member *p = &step->params[1].value;
    assert_int_equal(p->member_count, 4);
    assert_member(p, 0, "n", GPUL_I32, 4, 0, 1);
    assert_member(p, 1, "dt", GPUL_F32, 4, 4, 1);
    assert_member(p, 2, "gravity", GPUL_STRUCT, 12, 8, 1);
    assert_int_equal(p->members[2].lanes, 3);
    assert_string_equal(p->members[2].members[1].name, "y");
    assert_int_equal(p->members[2].members[1].offset, 4);
    assert_member(p, 3, "damp", GPUL_F32, 8, 20, 2);
    assert_string_equal(p->members[3].type_name, "float[2]");

    assert_param(step, 2, "m", "Mode", GPUL_U8, 1, 36);
    assert_true(step->params[2].value.is_enum);
    assert_param(step, 3, "q", "Plain", GPUL_I32, 4, 40);
    assert_param(step, 4, "u", "const unsigned int *", GPUL_POINTER, 8, 48);
    assert_true(step->params[4].is_const);
    assert_int_equal(step->params[4].pointee->type, GPUL_U32);
    assert_int_equal(step->params[5].pointee->type, GPUL_VOID);
    assert_true(step->params[6].is_const);
    assert_int_equal(step->params[6].pointee->size, 0);
    assert_int_equal(step->params[7].pointee->type, GPUL_POINTER);
    assert_param(step, 8, "z", "bool", GPUL_BOOL, 1, 80);
    assert_param(step, 9, "ci", "const int", GPUL_I32, 4, 84);
    assert_param(step, 10, "r", "real", GPUL_F32, 4, 88);
    assert_true(step->params[11].is_const);
    assert_int_equal(step->params[11].pointee->type, GPUL_F32);

    const gpul_member *shared = &step->params[12].value;
    assert_int_equal(shared->member_count, 2);
    assert_member(shared, 0, "origin", GPUL_STRUCT, 8, 0, 1);
    assert_member(shared, 1, "steps", GPUL_U16, 6, 8, 3);
    const gpul_member *derived = &step->params[13].value;
    assert_int_equal(derived->member_count, 3);
    assert_member(derived, 0, "b0", GPUL_I32, 4, 0, 1);
    assert_member(derived, 2, "d", GPUL_F64, 8, 8, 1);
    /* Members that cannot be asked about are not listed in part. */
    assert_int_equal(step->params[14].value.type, GPUL_STRUCT);
    assert_int_equal(step->params[14].value.size, 4);
    assert_int_equal(step->params[14].value.member_count, 0);
    assert_int_equal(step->params[15].value.size, 8);
    assert_int_equal(step->params[15].value.member_count, 0);
    assert_param(step, 16, "ptr", "ParamsPointer", GPUL_POINTER, 8, step->params[16].value.offset);
    assert_int_equal(step->params[16].pointee->member_count, 4);
    assert_int_equal(step->params[17].value.type, GPUL_OTHER);
    assert_int_equal(step->params[0].line, 20);
    assert_int_equal(step->params[0].column, 33);
    assert_int_equal(step->params[0].end_column, 40);
    assert_int_equal(step->params[5].line, 21);
    assert_text_has(step->signature,
                    "step(Body *b, Params p, Mode m, Plain q, const unsigned int *u, void *v");
    gpul_image_free(&image);
}

static void conditional_typedefs_are_the_compilers(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("types.cu", OPTS(.defines = LIST("WIDE")));
    assert_param(kernel(image, "step"), 10, "r", "real", GPUL_F64, 8, 88);
    assert_int_equal(kernel(image, "step")->params[11].pointee->type, GPUL_F64);
    gpul_image_free(&image);
    /* Defined by a header, where only the compiler knows. */
    image = compile_text(
        "#include \"h.h\"\nextern \"C\" __global__ void k(scalar s, scalar *p, kind e) { *p = s; }\n",
        OPTS(.headers = (gpul_header[]){
                 { "h.h",
                   "#if 2 * 3 == 6\ntypedef double scalar;\n#else\ntypedef float scalar;\n#endif\n"
                   "#define MAKE(x) enum x : unsigned short { none }\nMAKE(kind);\n" },
                 { 0 } }));
    assert_param(kernel(image, "k"), 0, "s", "scalar", GPUL_F64, 8, 0);
    assert_int_equal(kernel(image, "k")->params[1].pointee->type, GPUL_F64);
    assert_true(kernel(image, "k")->params[2].value.is_enum);
    assert_int_equal(kernel(image, "k")->params[2].value.size, 2);
    gpul_image_free(&image);
}

static void namespaces_overloads_and_instances(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("types.cu", OPTS());
    const gpul_kernel_info *outer = kernel(image, "a::over(int *, a::Outer)");
    assert_string_equal(outer->signature, "a::over(int *x, Outer o)");
    const gpul_member *o = &outer->params[1].value;
    assert_member(o, 0, "n", GPUL_I32, 4, 0, 1);
    assert_member(o, 1, "l", GPUL_STRUCT, 16, 8, 1);
    assert_member(&o->members[1], 1, "z", GPUL_F64, 8, 8, 1);
    assert_member(o, 2, "kind", GPUL_I16, 2, 24, 1);
    assert_true(o->members[2].is_enum);
    assert_member(o, 3, "f", GPUL_F32, 4, 28, 1);
    assert_member(o, 4, "i", GPUL_I32, 4, 28, 1);
    assert_member(o, 5, "inner", GPUL_STRUCT, 16, 32, 1);
    assert_member(&o->members[5], 1, "w", GPUL_F64, 8, 8, 1);

    const gpul_kernel_info *v =
        kernel(image, "a::over(float *, a::Vec<float, 3>, a::Vec<int, 2> *)");
    assert_param(v, 1, "v", "V3", GPUL_STRUCT, 12, 8);
    assert_member(&v->params[1].value, 0, "v", GPUL_F32, 12, 0, 3);
    assert_member(v->params[2].pointee, 0, "v", GPUL_I32, 8, 0, 2);

    const gpul_kernel_info *made = kernel(image, "a::made<short>");
    assert_param(made, 1, "v", "short", GPUL_I16, 2, 8);
    assert_true(made->line > 0);
    gpul_image_free(&image);
}

static void kernels_of_macros_and_headers(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("types.cu", OPTS());
    const gpul_kernel_info *added = kernel(image, "added");
    assert_int_equal(added->types, GPUL_TYPES_COMPILER);
    assert_int_equal(added->params[0].pointee->type, GPUL_F32);
    assert_int_equal(added->params[1].value.type, GPUL_I32);
    const gpul_kernel_info *header = kernel(image, "from_header");
    assert_text_has(header->file, "params.h");
    assert_int_equal(header->line, 8);
    assert_param(header, 0, "s", "SharedParams", GPUL_STRUCT, 16, 0);
    assert_int_equal(header->params[0].value.member_count, 2);
    gpul_image_free(&image);
}

static void bounds_shared_memory_and_variables(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_case("types.cu", OPTS());
    const gpul_kernel_info *b = kernel(image, "bounded");
    assert_int_equal(b->bound_threads[0], 96);
    assert_int_equal(b->min_blocks, 3);
    assert_false(b->bound_exact);
    assert_true(b->uses_dynamic_shared);
    assert_string_equal(b->dynamic_shared_name, "dynamic");
    assert_in_range(b->shared_bytes, 40, 48); /* up to the alignment of what follows */
    assert_true(b->uses_z);
    assert_int_equal(gpul_image_global_count(image), 2);
    for (size_t i = 0; i < 2; i++) {
        const gpul_global_info *g = gpul_image_global(image, i);
        bool table = strcmp(g->name, "a::table") == 0;
        assert_true(table || strcmp(g->name, "counter") == 0);
        assert_int_equal(g->size, table ? 16 : 4);
        assert_int_equal(g->is_constant, table);
        assert_non_null(g->element);
        assert_int_equal(g->element->type, table ? GPUL_I32 : GPUL_F32);
        assert_int_equal(g->element->size, 4);
    }
    gpul_image_free(&image);
}

/* "name type xN" of every variable, in the order of the image; "?" where the type is not known. */
static void variables_have_the_types_of_the_source(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image = compile_text(
        "#define N 3\nstruct P { float a; int b[2]; };\nstruct Hidden { struct { int x; } in; };\n"
        "typedef unsigned int word;\nenum kind { A };\ntypedef float row[2];\n"
        "static __constant__ P ps[N];\n"
        "extern \"C\" { __device__ word one = 5, two[N][2]; }\n"
        "__device__ volatile long long big;\n__device__ const float *ptr;\n"
        "__managed__ int managed[4];\n__device__ __align__(16) float4 wide;\n"
        "namespace q { namespace r { __constant__ double d = 2.5; __device__ kind k; } }\n"
        "__device__ row rows[2];\n__device__ Hidden hidden;\n"
        "#if __CUDA_ARCH__ >= 500\n__device__ short maybe;\n#else\n__device__ char maybe[2];\n#endif\n"
        "extern \"C\" __global__ void f(float *o, P p) {\n"
        " o[0] = ps[1].a + one + two[1][0] + big + *ptr + managed[1] + wide.y + (float)q::r::d +\n"
        "        q::r::k + rows[1][1] + hidden.in.x + maybe + p.a; }\n",
        OPTS());
    static const struct {
        const char *name, *type;
        uint64_t count;
    } wanted[] = {
        { "ps", "P", 3 },          { "one", "word", 1 },          { "two", "word", 6 },
        { "big", "long long", 1 }, { "ptr", "const float *", 1 }, { "managed", "int", 4 },
        { "wide", "float4", 1 },   { "q::r::d", "double", 1 },    { "q::r::k", "kind", 1 },
        { "rows", NULL, 0 },       { "hidden", NULL, 0 },         { "maybe", NULL, 0 }
    };
    enum { WANTED = sizeof wanted / sizeof *wanted };
    assert_int_equal(gpul_image_global_count(image), WANTED);
    for (size_t i = 0; i < WANTED; i++) {
        const gpul_global_info *g = NULL;
        for (size_t k = 0; k < WANTED; k++)
            if (!strcmp(gpul_image_global(image, k)->name, wanted[i].name))
                g = gpul_image_global(image, k);
        assert_non_null(g);
        if (!wanted[i].type) {
            assert_null(g->element);
            continue;
        }
        assert_non_null(g->element);
        assert_string_equal(g->element->type_name, wanted[i].type);
        assert_int_equal(g->size / g->element->size, wanted[i].count);
    }
    gpul_image_free(&image);
}

/* Struct declarations that the compiler cannot answer about must not break the user's compile. */
static void a_question_that_fails_costs_nothing(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image =
        compile_text("#define SELDOM 1\n#if SELDOM == 2\n#define HAVE_B\n#endif\n"
                     "struct S { int a;\n#ifdef HAVE_B\n int b;\n#endif\n float c; };\n"
                     "struct T { int x; private: int y; friend struct U; };\n"
                     "#define MEMBER(t, n) t n;\nstruct V { MEMBER(int, a) MEMBER(float, b) };\n"
                     "extern \"C\" __global__ void k(S s, T t, V v, int *o) { *o = s.a; }\n",
                     OPTS());
    const gpul_kernel_info *k = kernel(image, "k");
    assert_param(k, 0, "s", "S", GPUL_STRUCT, 8, 0);
    assert_param(k, 1, "t", "T", GPUL_STRUCT, 8, 8);
    assert_param(k, 2, "v", "V", GPUL_STRUCT, 8, 16);
    assert_int_equal(k->params[3].pointee->type, GPUL_I32);
    gpul_image_free(&image);
}

static void texts_of_types_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gpul_type type, element;
        uint32_t size, lanes, count;
    } table[] = {
        { "int", GPUL_I32, GPUL_I32, 4, 1, 1 },
        { "const volatile unsigned long long int", GPUL_U64, GPUL_U64, 8, 1, 1 },
        { "long unsigned", GPUL_U64, GPUL_U64, 8, 1, 1 },
        { "char", GPUL_I8, GPUL_I8, 1, 1, 1 },
        { "__nv_bool", GPUL_BOOL, GPUL_BOOL, 1, 1, 1 },
        { "std::uint16_t", GPUL_U16, GPUL_U16, 2, 1, 1 },
        { "float3", GPUL_STRUCT, GPUL_F32, 12, 3, 1 },
        { "double4_32a", GPUL_STRUCT, GPUL_F64, 32, 4, 1 },
        { "uchar4", GPUL_STRUCT, GPUL_U8, 4, 4, 1 },
        { "float [2][3]", GPUL_F32, GPUL_F32, 24, 1, 6 },
        { "const float *const", GPUL_POINTER, GPUL_POINTER, 8, 1, 1 },
        { "int (*)[4]", GPUL_POINTER, GPUL_POINTER, 8, 1, 1 },
        { "void (*)(int)", GPUL_OTHER, GPUL_OTHER, 8, 1, 1 },
        { "__half", GPUL_F16, GPUL_F16, 2, 1, 1 },
        { "nv_bfloat16", GPUL_BF16, GPUL_BF16, 2, 1, 1 },
        { "mystery", GPUL_TYPE_UNKNOWN, GPUL_TYPE_UNKNOWN, 0, 1, 1 },
        { "", GPUL_TYPE_UNKNOWN, GPUL_TYPE_UNKNOWN, 0, 1, 1 },
    };
    gpul__arena arena = { 0 };
    gpul__type_book book = { .arena = &arena };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gpul_member m;
        assert_true(gpul__type_fill(&m, &book, table[i].text, 0));
        assert_int_equal(m.type, table[i].type);
        assert_int_equal(m.element, table[i].element);
        assert_int_equal(m.size, table[i].size);
        assert_int_equal(m.lanes, table[i].lanes);
        assert_int_equal(m.count, table[i].count);
    }
    gpul__arena_free(&arena);
    assert_string_equal(gpul_type_name(GPUL_F32), "float");
    assert_string_equal(gpul_type_name((gpul_type)99), "unknown");
    assert_int_equal(gpul_type_size(GPUL_F64), 8);
    assert_int_equal(gpul_type_size(GPUL_VOID), 0);
}

GPUL_TEST_MAIN("types", cmocka_unit_test(every_kind_of_parameter),
               cmocka_unit_test(conditional_typedefs_are_the_compilers),
               cmocka_unit_test(namespaces_overloads_and_instances),
               cmocka_unit_test(kernels_of_macros_and_headers),
               cmocka_unit_test(bounds_shared_memory_and_variables),
               cmocka_unit_test(variables_have_the_types_of_the_source),
               cmocka_unit_test(a_question_that_fails_costs_nothing),
               cmocka_unit_test(texts_of_types_are_understood));
