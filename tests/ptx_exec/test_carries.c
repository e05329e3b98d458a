/* Carry chains: every form of add, sub and mad that writes or reads the carry flag, against arithmetic on
 * 128 bits; and the flag under guards and branches.  A difference is the sum with the complement, see
 * ptx/exec/lower_carry.c.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* A row of the buffer: three sources and the flag before; the result and the flag behind. */
typedef struct row {
    uint64_t a, b, c, flag, result, flag_out;
} row;

typedef struct form {
    const char *name; /* without .cc and type */
    bool reads, multiplies, subtracts, high;
} form;

static const form forms[] = {
    { "add", false, false, false, false },   { "addc", true, false, false, false },
    { "sub", false, false, true, false },    { "subc", true, false, true, false },
    { "mad.lo", false, true, false, false }, { "mad.hi", false, true, false, true },
    { "madc.lo", true, true, false, false }, { "madc.hi", true, true, false, true },
};
static const char *const types[] = { "u32", "s32", "u64", "s64" };

static const uint64_t corners[] = { 0,
                                    1,
                                    2,
                                    0x7fffffff,
                                    0x80000000,
                                    0xfffffffe,
                                    0xffffffff,
                                    0x123456789abcdef0,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xfffffffffffffffe,
                                    0xffffffffffffffff };
enum { CORNERS = sizeof corners / sizeof *corners, ROWS = CORNERS * CORNERS * CORNERS * 2 };

static uint64_t reference(const form *f, const char *type, bool writes, const row *r,
                          uint64_t *flag_out)
{
    const unsigned bits = type[1] == '6' ? 64 : 32;
    const uint64_t mask = bits == 64 ? UINT64_MAX : 0xffffffff;
    u128 a = r->a & mask, b = r->b & mask, c = r->c & mask, carry = f->reads ? r->flag : 0;
    if (f->multiplies) {
        u128 product = a * b;
        if (type[0] == 's') {
            s128 x = bits == 64 ? (int64_t)a : (int32_t)a, y = bits == 64 ? (int64_t)b : (int32_t)b;
            product = (u128)(x * y);
        }
        a = (f->high ? product >> bits : product) & mask;
        b = c;
    }
    if (f->subtracts) {
        b = ~b & mask;
        if (!f->reads) carry = 1;
    }
    u128 sum = a + b + carry;
    *flag_out = writes ? (uint64_t)(sum >> bits) & 1 : r->flag;
    return (uint64_t)sum & mask;
}

static void check_form(ptx_isa isa, uint32_t threads, const form *f, const char *type, bool writes)
{
    char text[2000];
    const char *bits = type[1] == '6' ? "64" : "32";
    snprintf(
        text, sizeof text,
        HEAD
        ".visible .entry k(.param .u64 rows) {\n"
        ".reg .b64 %%o, %%r; .reg .b32 %%t, %%n, %%f, %%x; .reg .b%s %%a, %%b, %%c; .reg .pred %%p;\n"
        "mov.u32 %%t, %%ctaid.x; mov.u32 %%n, %%ntid.x; mov.u32 %%x, %%tid.x;\n"
        "mad.lo.u32 %%t, %%t, %%n, %%x; setp.ge.u32 %%p, %%t, %d; @%%p ret;\n"
        "ld.param.u64 %%o, [rows]; mad.wide.u32 %%o, %%t, 48, %%o;\n"
        "ld.global.b%s %%a, [%%o]; ld.global.b%s %%b, [%%o+8]; ld.global.b%s %%c, [%%o+16];\n"
        "ld.global.b32 %%f, [%%o+24];\n"
        "add.cc.u32 %%x, %%f, 0xffffffff;\n"
        "%s%s.%s %%a, %%a, %%b%s;\n"
        "addc.u32 %%f, 0, 0;\n"
        "st.global.b%s [%%o+32], %%a; st.global.b32 [%%o+40], %%f; ret;\n}\n",
        bits, ROWS, bits, bits, bits, f->name, writes ? ".cc" : "", type,
        f->multiplies ? ", %c" : "", bits);
    rig r = rig_open_text(text, isa, threads);
    buffer rows = rig_buffer(&r, sizeof(row) * ROWS);
    row *at = rows.host;
    for (int k = 0; k < ROWS; k++) {
        at[k].a = corners[k / 2 % CORNERS];
        at[k].b = corners[k / 2 / CORNERS % CORNERS];
        at[k].c = corners[k / 2 / CORNERS / CORNERS];
        at[k].flag = k & 1;
    }
    rig_run(&r, "k", (ROWS + 127) / 128, 128, &rows.address, 8);
    for (int k = 0; k < ROWS; k++) {
        uint64_t flag, result = reference(f, type, writes, &at[k], &flag);
        if (at[k].result == result && at[k].flag_out == flag) continue;
        fail_msg("%s%s.%s of %llx, %llx, %llx, carry %u: %llx, carry %u; expected %llx, carry %u",
                 f->name, writes ? ".cc" : "", type, (unsigned long long)at[k].a,
                 (unsigned long long)at[k].b, (unsigned long long)at[k].c, (unsigned)at[k].flag,
                 (unsigned long long)at[k].result, (unsigned)at[k].flag_out,
                 (unsigned long long)result, (unsigned)flag);
    }
    rig_close(&r);
}

RIG_TEST(every_form)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int writes = !forms[f].reads; writes < 2; writes++)
                check_form(isa, threads, &forms[f], types[t], writes);
}

/* 128 by 128 bits, as compilers and libraries of large numbers write it. */
RIG_TEST(wide_products)
{
    rig r = rig_open_text(
        HEAD
        ".visible .entry k(.param .u64 rows) {\n"
        ".reg .u64 %o, %a<2>, %b<2>, %r<4>; .reg .u32 %t;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %o, [rows]; mad.wide.u32 %o, %t, 64, %o;\n"
        "ld.global.v2.u64 {%a0, %a1}, [%o]; ld.global.v2.u64 {%b0, %b1}, [%o+16];\n"
        "mul.lo.u64 %r0, %a0, %b0; mul.hi.u64 %r1, %a0, %b0;\n"
        "mad.lo.cc.u64 %r1, %a0, %b1, %r1; madc.hi.u64 %r2, %a0, %b1, 0;\n"
        "mad.lo.cc.u64 %r1, %a1, %b0, %r1; madc.hi.cc.u64 %r2, %a1, %b0, %r2;\n"
        "addc.u64 %r3, 0, 0;\n"
        "mad.lo.cc.u64 %r2, %a1, %b1, %r2; madc.hi.u64 %r3, %a1, %b1, %r3;\n"
        "st.global.v2.u64 [%o+32], {%r0, %r1}; st.global.v2.u64 [%o+48], {%r2, %r3}; ret;\n}\n",
        isa, threads);
    buffer rows = rig_buffer(&r, 64 * 1000);
    uint64_t(*at)[8] = rows.host, state = 1;
    for (int k = 0; k < 1000; k++)
        for (int j = 0; j < 4; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            at[k][j] = state >> 62 ? state ^ state >> 29 : UINT64_MAX - (state >> 60);
        }
    rig_run(&r, "k", 1, 1000, &rows.address, 8);
    for (int k = 0; k < 1000; k++) {
        uint64_t sum[5] = { 0 };
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                u128 p = (u128)at[k][i] * at[k][2 + j];
                for (int n = i + j; p; n++) {
                    p += sum[n];
                    sum[n] = (uint64_t)p;
                    p >>= 64;
                }
            }
        assert_memory_equal(at[k] + 4, sum, 32);
    }
    rig_close(&r);
}

RIG_TEST(guards_and_branches)
{
    rig r = rig_open_text(
        HEAD ".visible .entry k(.param .u64 out) {\n"
             ".reg .u64 %o; .reg .u32 %t, %x, %a, %b; .reg .pred %p, %q;\n"
             "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 8, %o;\n"
             "setp.lt.u32 %p, %t, 7; and.b32 %x, %t, 1; setp.eq.u32 %q, %x, 0;\n"
             "add.cc.u32 %x, %x, 0xffffffff;\n"
             "@%p add.cc.u32 %x, 0, 0;\n"
             "addc.u32 %a, 0, 0;\n"
             "@%q bra SKIP;\n"
             "sub.cc.u32 %x, %t, 20;\n"
             "SKIP: addc.u32 %b, 0, 0;\n"
             "st.global.v2.u32 [%o], {%a, %b}; ret;\n}\n",
        isa, threads);
    buffer out = rig_buffer(&r, 8 * 40);
    rig_run(&r, "k", 1, 40, &out.address, 8);
    const uint32_t(*at)[2] = out.host;
    for (uint32_t t = 0; t < 40; t++) {
        uint32_t first = t < 7 ? 0 : t & 1;
        assert_int_equal(at[t][0], first);
        assert_int_equal(at[t][1], t & 1 ? t >= 20 : first);
    }
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-carries", cmocka_unit_test(every_form), cmocka_unit_test(wide_products),
               cmocka_unit_test(guards_and_branches));
