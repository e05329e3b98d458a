/* Chains of operations on floats give what the operations give alone: random straight-line code, once as
 * it is and once with a guard on each operation, which keeps it out of chains, and the same computed in C.
 * SPDX-License-Identifier: MIT */
#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 8, OPERATIONS = 40, THREADS = 96, PROGRAMS = 24 };

typedef struct operation {
    const char *name, *flushing;
    int sources;
} operation;
static const operation operations[] = {
    { "add.f32", "add.ftz.f32", 2 },
    { "sub.f32", "sub.ftz.f32", 2 },
    { "mul.f32", "mul.ftz.f32", 2 },
    { "fma.rn.f32", "fma.rn.ftz.f32", 3 },
    { "div.rn.f32", "div.rn.ftz.f32", 2 },
    { "rcp.rn.f32", "rcp.rn.ftz.f32", 1 },
    { "sqrt.rn.f32", "sqrt.rn.ftz.f32", 1 },
    { "neg.f32", "neg.f32", 1 },
    { "abs.f32", "abs.f32", 1 },
    { "rcp.approx.f32", "rcp.approx.ftz.f32", 1 },
    { "sqrt.approx.f32", "sqrt.approx.ftz.f32", 1 },
    { "rsqrt.approx.f32", "rsqrt.approx.ftz.f32", 1 },
    { "div.full.f32", "div.full.ftz.f32", 2 },
};
enum { KINDS = sizeof operations / sizeof *operations, EXACT_KINDS = 9 };

typedef struct line {
    int kind, to, from[3];
} line;

static uint32_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void make_lines(line *lines, int kinds)
{
    for (int k = 0; k < OPERATIONS; k++) {
        lines[k].kind = (int)any((uint32_t)kinds);
        lines[k].to = (int)any(REGISTERS);
        for (int n = 0; n < 3; n++) /* The result before it, or one further back. */
            lines[k].from[n] = k && any(2) ? lines[k - 1].to : (int)any(REGISTERS);
    }
}

/* The kernel: threads of odd index pass over the operations where `split` is set. */
static void add_kernel(gpul__str *text, const char *name, const line *lines, bool alone,
                       bool flushing, bool split)
{
    gpul__str_printf(
        text,
        ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .f32 %%f<%d>; .reg .b64 %%rd<8>; .reg .b32 %%r<4>; .reg .pred %%p<3>;\n"
        "ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];\n"
        "mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd3, %%r1, %d;\n"
        "add.s64 %%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3;\n"
        "setp.ge.u32 %%p1, %%r1, 0; and.b32 %%r2, %%r1, 1; setp.eq.u32 %%p2, %%r2, 1;\n",
        name, REGISTERS, REGISTERS * 4);
    for (int k = 0; k < REGISTERS; k++)
        gpul__str_printf(text, "ld.global.f32 %%f%d, [%%rd1+%d];\n", k, 4 * k);
    if (split) gpul__str_printf(text, "@%%p2 bra OVER;\n");
    for (int k = 0; k < OPERATIONS; k++) {
        const line *l = &lines[k];
        const operation *o = &operations[l->kind];
        gpul__str_printf(text, "%s%s %%f%d", alone ? "@%p1 " : "", flushing ? o->flushing : o->name,
                         l->to);
        for (int n = 0; n < o->sources; n++) gpul__str_printf(text, ", %%f%d", l->from[n]);
        gpul__str_printf(text, ";\n");
    }
    gpul__str_printf(text, "OVER:\n");
    for (int k = 0; k < REGISTERS; k++)
        gpul__str_printf(text, "st.global.f32 [%%rd2+%d], %%f%d;\n", 4 * k, k);
    gpul__str_printf(text, "ret;\n}\n");
}

static void fill(float *values, size_t count)
{
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x807fffff, 0x00800000,
        0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xff812345,
        0x3f800000, 0xbf800000, 0x40490fdb, 0x34000000, 0x00ffffff
    };
    for (size_t k = 0; k < count; k++) {
        uint32_t bits = any(1u << 24) << 8 | any(256);
        if (any(2)) bits = (bits & 0x80ffffff) | (120 + any(16)) << 23;
        if (any(8) == 0) bits = special[any(sizeof special / sizeof *special)];
        memcpy(&values[k], &bits, 4);
    }
}

static float computed(int kind, float a, float b, float c)
{
    volatile float x;
    switch (kind) {
    case 0: x = a + b; break;
    case 1: x = a - b; break;
    case 2: x = a * b; break;
    case 3: x = fmaf(a, b, c); break;
    case 4: x = a / b; break;
    case 5: x = 1 / a; break;
    case 6: x = sqrtf(a); break;
    case 7: x = -a; break;
    default: x = fabsf(a); break;
    }
    static const uint32_t nan = 0x7fffffff;
    float result = x;
    if (isnan(result)) memcpy(&result, &nan, 4);
    return result;
}

static void check_against_c(const line *lines, const float *in, const float *out, bool split)
{
    for (int t = 0; t < THREADS; t++) {
        float f[REGISTERS];
        memcpy(f, in + t * REGISTERS, sizeof f);
        for (int k = 0; k < OPERATIONS && !(split && t % 2); k++) {
            const int *from = lines[k].from;
            f[lines[k].to] = computed(lines[k].kind, f[from[0]], f[from[1]], f[from[2]]);
        }
        assert_memory_equal(f, out + t * REGISTERS, sizeof f);
    }
}

/* Which variants have them: those with fused multiply-add, and of .ftz those on x86. */
static bool has_chains(const rig *r, bool flushing)
{
#if defined(__aarch64__)
    (void)r;
    return !flushing;
#elif defined(__x86_64__)
    (void)flushing;
    return strcmp(ptx_engine_isa_name(r->engine), "x86-64-v2") != 0;
#else
    (void)r, (void)flushing;
    return false;
#endif
}

static void compare(ptx_isa isa, uint32_t threads, int kinds, bool flushing, bool split)
{
    line lines[OPERATIONS];
    make_lines(lines, kinds);
    gpul__str text = { 0 };
    gpul__str_printf(&text, ".version 8.0\n.target sm_90\n.address_size 64\n");
    add_kernel(&text, "together", lines, false, flushing, split);
    add_kernel(&text, "alone", lines, true, flushing, split);
    rig r = rig_open_text(gpul__str_text(&text), isa, threads);
    size_t size = sizeof(float) * REGISTERS * THREADS;
    buffer in = rig_buffer(&r, size), out = rig_buffer(&r, size), other = rig_buffer(&r, size);
    fill(in.host, REGISTERS * THREADS);
    rig_run(&r, "together", 1, THREADS, PARAMS((uint64_t[]){ in.address, out.address }));
    uint64_t together = r.report.warp_instructions;
    rig_run(&r, "alone", 1, THREADS, PARAMS((uint64_t[]){ in.address, other.address }));
    assert_memory_equal(out.host, other.host, size);
    if (kinds == EXACT_KINDS && !flushing) check_against_c(lines, in.host, out.host, split);
    if (has_chains(&r, flushing)) assert_true(together < r.report.warp_instructions);
    rig_close(&r);
    gpul__str_free(&text);
}

RIG_TEST(chains_compute_what_operations_do)
{
    seed = 1;
    for (int k = 0; k < PROGRAMS; k++) {
        compare(isa, threads, EXACT_KINDS, false, k % 2);
        compare(isa, threads, KINDS, false, k % 2);
        compare(isa, threads, KINDS, true, k % 2);
    }
}

GPUL_TEST_MAIN("ptx-exec-chains", cmocka_unit_test(chains_compute_what_operations_do));
