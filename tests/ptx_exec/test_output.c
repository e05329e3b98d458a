/* printf, assert, trap.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdio.h>
#include <string.h>

RIG_TEST(every_format)
{
    rig r = rig_open("output.ptx", isa, threads);
    buffer ret = rig_buffer(&r, 8);
    rig_run(&r, "formats", 1, 1, &ret.address, 8);
    assert_string_equal(gpul__str_text(&r.printed),
                        "[   42] [42   ] [00042] [+42]\n"
                        "[3.142] [1.5e+03] [    2.50] [-0]\n"
                        "[ff] [FF] [0x00ff] [-9223372036854775808] [18446744073709551615]\n"
                        "[A] [abc       ] [       abc] [%] [ab]\n"
                        "[     7] [1.00    ] [44] [4464] [1099511627776] [-3] [10]\n"
                        "[(null)] [0x1234]\n"
                        "no end of line then one\n");
    assert_int_equal(((int *)ret.host)[0], 7);
    assert_int_equal(((int *)ret.host)[1], 0);
    rig_close(&r);
}

/* Whatever the workers do, the text comes in order of the blocks. */
RIG_TEST(lines_in_order)
{
    rig r = rig_open("output.ptx", isa, threads);
    int n = 2;
    rig_run(&r, "lines", 40, 70, &n, 4);
    const char *at = gpul__str_text(&r.printed);
    for (int b = 0; b < 40; b++)
        for (int w = 0; w < 70; w += 32)
            for (int k = 0; k < n; k++)
                for (int t = w; t < w + 32 && t < 70; t++) {
                    char line[64];
                    snprintf(line, sizeof line, "b%d t%d n%d\n", b, t, k);
                    if (strncmp(at, line, strlen(line)))
                        fail_msg("expected %s, found %.20s", line, at);
                    at += strlen(line);
                }
    assert_int_equal(*at, 0);
    rig_close(&r);
}

RIG_TEST(lines_before_a_trap_appear)
{
    rig r = rig_open("output.ptx", isa, threads);
    int who = 5;
    assert_int_equal(rig_launch(&r, "before_trap", 1, 32, &who, 4), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_TRAP, 719);
    rig_expect_text(gpul__str_text(&r.printed), "line of 5\n");
    rig_expect_text(gpul__str_text(&r.printed), "line of 31\n");
    rig_close(&r);
}

RIG_TEST(a_format_that_cannot_be_read)
{
    rig r = rig_open("output.ptx", isa, threads);
    buffer b = rig_buffer(&r, 8);
    memset(b.host, 'x', 8);
    uint64_t wild = 12345 * 8;
    rig_launch(&r, "bad_format", 1, 1, &wild, 8);
    rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    rig_launch(&r, "bad_format", 1, 1, &b.address, 8);
    rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    strcpy(b.host, "%q%5%%");
    rig_run(&r, "bad_format", 1, 1, &b.address, 8);
    rig_close(&r);
}

RIG_TEST(assertions)
{
    rig r = rig_open("output.ptx", isa, threads);
    buffer v = rig_buffer(&r, 32), out = rig_buffer(&r, 32);
    static const int values[8] = { 1, 2, 3, 4, 5, 60, 7, 8 };
    memcpy(v.host, values, sizeof values);
    struct {
        uint64_t v;
        int limit;
        uint64_t out;
    } p = { v.address, 100, out.address };
    rig_run(&r, "check", 2, 4, &p, sizeof p);
    for (int k = 0; k < 8; k++) assert_int_equal(((int *)out.host)[k], 2 * values[k]);
    p.limit = 50;
    assert_int_equal(rig_launch(&r, "check", 2, 4, &p, sizeof p), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_ASSERT, 710);
    assert_int_equal(f->threads, 1);
    assert_int_equal(f->block[0], 1);
    assert_int_equal(f->thread[0], 1);
    rig_expect_text(f->message, "output.cu:");
    rig_expect_text(f->message, "assertion `v[i] < limit` failed");
    p.limit = 4;
    rig_launch(&r, "check", 2, 4, &p, sizeof p);
    assert_int_equal(rig_expect_fault(&r, PTX_FAULT_ASSERT, 710)->threads, 5);
    rig_close(&r);
}

RIG_TEST(traps)
{
    rig r = rig_open("output.ptx", isa, threads);
    int who = 3;
    rig_launch(&r, "trap", 2, 4, &who, 4);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_TRAP, 719);
    assert_int_equal(f->block[0], 1);
    assert_int_equal(f->thread[0], 3);
    rig_launch(&r, "breakpoint", 1, 1, NULL, 0);
    rig_expect_fault(&r, PTX_FAULT_BREAKPOINT, 719);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-output", cmocka_unit_test(every_format), cmocka_unit_test(lines_in_order),
               cmocka_unit_test(lines_before_a_trap_appear),
               cmocka_unit_test(a_format_that_cannot_be_read), cmocka_unit_test(assertions),
               cmocka_unit_test(traps));
