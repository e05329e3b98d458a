/* Forms that no compiler happened to write in the other tests: small PTX texts.
 * SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
/* A kernel k(out) in which %t is the thread and %o points to out[t], 8 bytes each. */
#define KERNEL(registers, body)                                                                    \
    HEAD ".visible .entry k(.param .u64 out) {\n.reg .u32 %t; .reg .u64 %o; " registers            \
         "\nmov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n" body        \
         "\nret;\n}\n"

static uint64_t results[64];

/* Runs it with 40 threads in one block. */
static void run_text(const char *text, ptx_isa isa, uint32_t threads)
{
    rig r = rig_open_text(text, isa, threads);
    buffer out = rig_buffer(&r, sizeof results);
    rig_run(&r, "k", 1, 40, &out.address, 8);
    memcpy(results, out.host, sizeof results);
    rig_close(&r);
}

#define EXPECT(value)                                                                              \
    for (uint64_t t = 0; t < 40; t++) {                                                            \
        if (results[t] != (uint64_t)(value))                                                       \
            fail_msg("thread %d: %llx instead of %llx", (int)t, (unsigned long long)results[t],    \
                     (unsigned long long)(uint64_t)(value));                                       \
    }

RIG_TEST(indexed_branches)
{
    run_text(KERNEL(".reg .u32 %i, %v;", "and.b32 %i, %t, 3; mov.u32 %v, 7;\n"
                                         "table: .branchtargets L0, L1, L2, L1;\n"
                                         "brx.idx %i, table;\n"
                                         "L0: mov.u32 %v, 100; bra L3;\n"
                                         "L1: add.u32 %v, %v, %t; bra L3;\n"
                                         "L2: mov.u32 %v, 300;\n"
                                         "L3: st.global.u32 [%o], %v;"),
             isa, threads);
    EXPECT(t % 4 == 0 ? 100 : t % 4 == 2 ? 300 : 7 + t);
}

RIG_TEST(comparisons_with_two_results)
{
    run_text(KERNEL(".reg .pred %p, %q, %r, %s; .reg .u32 %a, %b, %c, %d;",
                    "setp.lt.u32 %p|%q, %t, 10;\n"
                    "setp.ge.and.u32 %r|%s, %t, 20, %q;\n"
                    "setp.eq.or.u32 %p|%q, %t, 30, !%p;\n"
                    "selp.u32 %a, 1, 0, %p; selp.u32 %b, 2, 0, %q; selp.u32 %c, 4, 0, %r;\n"
                    "selp.u32 %d, 8, 0, %s;\n"
                    "or.b32 %a, %a, %b; or.b32 %c, %c, %d; or.b32 %a, %a, %c;\n"
                    "st.global.u32 [%o], %a;"),
             isa, threads);
    /* p0 = t < 10, q0 = !p0; r = t >= 20 && q0, s = t < 20 && q0; p = t == 30 || !p0, ... */
    EXPECT(((t == 30 || t >= 10) ? 1 : 0) | ((t != 30 || t >= 10) ? 2 : 0) | (t >= 20 ? 4 : 0) |
           ((t < 20 && t >= 10) ? 8 : 0));
}

RIG_TEST(predicate_logic)
{
    run_text(KERNEL(".reg .pred %p, %q, %r; .reg .u32 %a;",
                    "setp.lt.u32 %p, %t, 20; setp.gt.u32 %q, %t, 10;\n"
                    "and.pred %r, %p, %q; @!%p not.pred %r, %r; xor.pred %r, %r, %q;\n"
                    "mov.pred %p, %r; selp.u32 %a, 5, 6, %p;\n"
                    "@%q add.u32 %a, %a, 10; @!%q sub.u32 %a, %a, 1;\n"
                    "st.global.u32 [%o], %a;"),
             isa, threads);
    EXPECT((((t < 20 ? (t < 20 && t > 10) : 1) ^ (t > 10)) ? 5 : 6) + (t > 10 ? 10 : -1));
}

RIG_TEST(set_writes_a_number)
{
    run_text(
        KERNEL(
            ".reg .pred %p; .reg .u32 %a, %b; .reg .f32 %f;",
            "setp.ne.u32 %p, %t, 3; set.lt.u32.u32 %a, %t, 5; set.gt.and.f32.u32 %f, %t, 1, %p;\n"
            "mov.b32 %b, %f; st.global.v2.u32 [%o], {%a, %b};"),
        isa, threads);
    EXPECT((t < 5 ? 0xffffffffu : 0) | (uint64_t)(t > 1 && t != 3 ? 0x3f800000u : 0) << 32);
}

RIG_TEST(packing_and_unpacking)
{
    run_text(
        KERNEL(
            ".reg .u16 %a, %b, %c, %d; .reg .u32 %x, %y; .reg .u64 %z; .reg .b128 %w; .reg .u64 %u, %v;",
            "cvt.u16.u32 %a, %t; add.u16 %b, %a, 1; add.u16 %c, %a, 2; add.u16 %d, %a, 3;\n"
            "mov.b64 %z, {%a, %b, %c, %d};\n"
            "mov.b64 {%x, %y}, %z;\n"
            "mov.b32 {_, %a}, %x; mov.b32 %x, {%d, %a};\n"
            "mov.b64 %z, {%x, %y};\n"
            "mov.b128 %w, {%z, %o}; mov.b128 {%u, %v}, %w; sub.u64 %v, %v, %o; add.u64 %u, %u, %v;\n"
            "st.global.u64 [%o], %u;"),
        isa, threads);
    EXPECT((t + 3) | (t + 1) << 16 | (t + 2) << 32 | (t + 3) << 48);
}

RIG_TEST(wide_vectors)
{
    run_text(KERNEL(".reg .u64 %p; .reg .u32 %r<8>; .local .align 32 .b8 buf[64];",
                    "st.global.u64 [%o], 0;\n"
                    "mov.u64 %p, buf; cvta.local.u64 %p, %p;\n"
                    "st.v4.u32 [%p], {%t, 1, 2, 3}; st.v4.u32 [%p+16], {4, 5, 6, %t};\n"
                    "ld.v2.u32 {%r0, %r1}, [%p]; ld.v4.u32 {%r2, _, %r4, %r5}, [%p+16];\n"
                    "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r4;\n"
                    "st.global.v2.u32 [%o], {%r0, %r5};"),
             isa, threads);
    EXPECT((t + 1 + 4 + 6) | t << 32);
}

RIG_TEST(a_load_into_its_own_address)
{
    run_text(KERNEL(".reg .u64 %p, %q; .shared .align 16 .u64 s[80];",
                    "mov.u64 %p, s; mad.wide.u32 %p, %t, 16, %p; add.u64 %q, %p, 1000;\n"
                    "st.shared.v2.u64 [%p], {%q, %o};\n"
                    "ld.shared.v2.u64 {%q, %p}, [%p]; sub.u64 %p, %p, %o;\n"
                    "cvt.u64.u32 %o, %t; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n"
                    "st.global.u64 [%o], %p;"),
             isa, threads);
    EXPECT(0);
}

RIG_TEST(narrow_results_in_wide_registers)
{
    run_text(
        KERNEL(
            ".reg .u64 %a, %b; .reg .s32 %x; .shared .s8 s[64]; .reg .u32 %p;",
            "mov.u32 %p, s; add.u32 %p, %p, %t; neg.s32 %x, %t; st.shared.u8 [%p], %x;\n"
            "ld.shared.s8 %a, [%p]; ld.shared.u8 %b, [%p]; shl.b64 %b, %b, 8; add.u64 %a, %a, %b;\n"
            "st.global.u64 [%o], %a;"),
        isa, threads);
    EXPECT(-(int64_t)t + (int64_t)((uint8_t)-t << 8));
}

RIG_TEST(guards_on_everything)
{
    run_text(
        KERNEL(".reg .pred %p, %q; .reg .u32 %v, %w; .reg .u64 %c;",
               "setp.lt.u32 %p, %t, 32; setp.lt.u32 %q, %t, 36; mov.u32 %v, 1; mov.u32 %w, 50;\n"
               "st.global.u64 [%o], 99;\n"
               "@!%q exit;\n"
               "@%p shfl.sync.idx.b32 %w, %t, 4, 31, -1;\n"
               "@%p bar.warp.sync -1;\n"
               "@!%p mov.u64 %c, %clock64;\n"
               "@%p vote.sync.ballot.b32 %v, %q, -1;\n"
               "@!%p bra DONE; add.u32 %w, %w, 1;\n"
               "DONE: @%p nanosleep.u32 10; @!%q trap;\n"
               "st.global.v2.u32 [%o], {%v, %w};"),
        isa, threads);
    EXPECT(t < 32 ? 0xffffffffu | (uint64_t)5 << 32 : t < 36 ? 1 | (uint64_t)50 << 32 : 99);
}

RIG_TEST(functions_with_registers)
{
    static const char text[] = HEAD
        ".func (.reg .u32 r, .reg .pred ok) f(.reg .u32 a, .reg .u64 b, .reg .pred neg) {\n"
        ".reg .u32 %x; cvt.u32.u64 %x, b; add.u32 r, a, %x; @neg neg.s32 r, r;\n"
        "setp.gt.s32 ok, r, 20; ret;\n}\n"
        ".visible .entry k(.param .u64 out) {\n.reg .u32 %t, %v; .reg .u64 %o, %w; .reg .pred %p, %q;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n"
        "setp.lt.u32 %p, %t, 5; cvt.u64.u32 %w, %t;\n"
        "call (%v, %q), f, (%t, %w, %p);\n"
        "@%q add.u32 %v, %v, 1000; cvt.s64.s32 %w, %v; st.global.u64 [%o], %w; ret;\n}\n";
    run_text(text, isa, threads);
    EXPECT(t < 5 ? -2 * (int64_t)t : (int64_t)(2 * t) + (2 * t > 20 ? 1000 : 0));
}

RIG_TEST(calls_through_a_prototype)
{
    static const char text[] = HEAD
        ".func (.param .b32 r) twice(.param .b32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, %x;"
        " st.param.b32 [r], %x; ret; }\n"
        ".func (.param .b32 r) square(.param .b32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, %x;"
        " st.param.b32 [r], %x; ret; }\n"
        ".global .align 8 .u64 functions[2] = { twice, square };\n"
        ".visible .entry k(.param .u64 out) {\n.reg .u32 %t, %v; .reg .u64 %o, %f; .reg .pred %p;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n"
        "and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 1; ld.global.u64 %f, [functions];\n"
        "@%p ld.global.u64 %f, [functions+8];\n"
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t;\n"
        "shape: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (r), %f, (a), shape; ld.param.b32 %v, [r]; }\n"
        "st.global.u32 [%o], %v; ret;\n}\n";
    run_text(text, isa, threads);
    EXPECT(t & 1 ? t * t : 2 * t);
}

RIG_TEST(parameters_at_computed_addresses)
{
    static const char text[] = HEAD
        ".visible .entry k(.param .u64 out, .param .align 16 .b8 table[32]) {\n"
        ".reg .u32 %t, %i, %a, %b; .reg .u64 %o, %p, %q;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n"
        "and.b32 %i, %t, 7; mov.u64 %p, table; mad.wide.u32 %q, %i, 4, %p; ld.param.u32 %a, [%q];\n"
        "cvta.param.u64 %q, %q; ld.u32 %b, [%q]; st.global.v2.u32 [%o], {%a, %b}; ret;\n}\n";
    rig r = rig_open_text(text, isa, threads);
    buffer out = rig_buffer(&r, 320);
    struct {
        uint64_t out, pad;
        uint32_t table[8];
    } p = { out.address, 0, { 5, 4, 3, 2, 1, 9, 8, 7 } };
    rig_run(&r, "k", 1, 40, &p, sizeof p);
    for (int t = 0; t < 40; t++)
        for (int k = 0; k < 2; k++)
            assert_int_equal(((uint32_t *)out.host)[2 * t + k], p.table[t & 7]);
    rig_close(&r);
}

static uint32_t line_of(const char *text, const char *part)
{
    uint32_t line = 1;
    for (const char *c = text; c < strstr(text, part); c++) line += *c == '\n';
    return line;
}

RIG_TEST(modules_are_linked)
{
    static const char main_text[] = HEAD
        ".extern .func (.param .b32 r) helper(.param .b32 a);\n"
        ".extern .global .align 4 .u32 shared_value; .extern .shared .align 16 .b8 dynamic[];\n"
        ".visible .entry k(.param .u64 out) {\n.reg .u32 %t, %v, %w; .reg .u64 %o;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n"
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call (r), helper, (a); ld.param.b32 %v, [r]; }\n"
        "ld.global.u32 %w, [shared_value]; add.u32 %v, %v, %w; st.shared.u32 [dynamic], %v;\n"
        "st.global.u32 [%o], %v; ret;\n}\n";
    static const char other_text[] = HEAD
        ".visible .global .align 4 .u32 shared_value = 77;\n"
        ".visible .func (.param .b32 r) helper(.param .b32 a) { .reg .u32 %x; ld.param.u32 %x, [a];"
        " mul.lo.u32 %x, %x, 3; st.param.b32 [r], %x; ret; }\n";
    rig r = { 0 };
    ptx_diags diags = { 0 };
    ptx_module *modules[2];
    assert_int_equal(ptx_memory_create(&r.memory, NULL), PTX_OK);
    assert_int_equal(ptx_engine_create(&r.engine, r.memory,
                                       &(ptx_engine_options){ .isa = isa, .threads = threads }),
                     PTX_OK);
    assert_int_equal(ptx_parse(&modules[0], main_text, strlen(main_text), &diags), PTX_OK);
    assert_int_equal(ptx_parse(&modules[1], other_text, strlen(other_text), &diags), PTX_OK);
    assert_int_equal(ptx_program_create(&r.program, r.engine, modules, 1, NULL, &diags),
                     PTX_INVALID);
    assert_int_equal(diags.count, 1);
    assert_string_equal(diags.items[0].text, "it calls 'helper', which is defined nowhere");
    assert_string_equal(diags.items[0].function, "k");
    assert_int_equal(diags.items[0].line, line_of(main_text, "call (r), helper"));
    assert_int_equal(diags.items[0].severity, PTX_ERROR);
    assert_int_equal(ptx_program_create(&r.program, r.engine, modules, 2, NULL, &diags), PTX_OK);
    buffer out = rig_buffer(&r, 320);
    ptx_grid grid = { .grid = { 1, 1, 1 }, .block = { 40, 1, 1 }, .dynamic_shared = 16 };
    assert_int_equal(rig_launch_grid(&r, "k", grid, &out.address, 8), PTX_LAUNCH_OK);
    for (int t = 0; t < 40; t++) assert_int_equal(((uint64_t *)out.host)[t], 3 * t + 77);
    ptx_module_free(modules[1]);
    r.module = modules[0];
    ptx_diags_free(&diags);
    rig_close(&r);
}

RIG_TEST(what_is_not_supported_is_named)
{
    static const char text[] = HEAD
        ".visible .entry fine(.param .u64 out) { .reg .u64 %o; ld.param.u64 %o, [out]; st.global.u32 [%o], 3; ret; }\n"
        ".visible .entry tensor(.param .u64 t) {\n.reg .u64 %t; .reg .f32 %f<4>; .reg .s32 %x;\n"
        "ld.param.u64 %t, [t]; mov.u32 %x, 0;\n"
        "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%x}];\nret;\n}\n";
    rig r = { 0 };
    ptx_diags diags = { 0 };
    assert_int_equal(ptx_memory_create(&r.memory, NULL), PTX_OK);
    assert_int_equal(ptx_engine_create(&r.engine, r.memory,
                                       &(ptx_engine_options){ .isa = isa, .threads = threads }),
                     PTX_OK);
    assert_int_equal(ptx_parse(&r.module, text, strlen(text), &diags), PTX_OK);
    ptx_diags_free(&diags);
    diags = (ptx_diags){ 0 };
    assert_int_equal(ptx_program_create(&r.program, r.engine, &r.module, 1, NULL, &diags),
                     PTX_INVALID);
    assert_int_equal(diags.count, 1);
    assert_string_equal(diags.items[0].opcode, "tex.1d.v4.f32.s32");
    assert_string_equal(diags.items[0].function, "tensor");
    assert_int_equal(diags.items[0].line, 8);
    ptx_program_options later = { .defer_unsupported = true };
    assert_int_equal(ptx_program_create(&r.program, r.engine, &r.module, 1, &later, &diags),
                     PTX_OK);
    buffer out = rig_buffer(&r, 8);
    rig_run(&r, "fine", 1, 1, &out.address, 8);
    assert_int_equal(*(int *)out.host, 3);
    assert_int_equal(rig_launch(&r, "tensor", 1, 1, &out.address, 8), PTX_LAUNCH_REFUSED);
    ptx_diags_free(&diags);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-forms", cmocka_unit_test(indexed_branches),
               cmocka_unit_test(comparisons_with_two_results), cmocka_unit_test(predicate_logic),
               cmocka_unit_test(set_writes_a_number), cmocka_unit_test(packing_and_unpacking),
               cmocka_unit_test(wide_vectors), cmocka_unit_test(a_load_into_its_own_address),
               cmocka_unit_test(narrow_results_in_wide_registers),
               cmocka_unit_test(guards_on_everything), cmocka_unit_test(functions_with_registers),
               cmocka_unit_test(calls_through_a_prototype),
               cmocka_unit_test(parameters_at_computed_addresses),
               cmocka_unit_test(modules_are_linked),
               cmocka_unit_test(what_is_not_supported_is_named));
