/* Calls, recursion, function pointers, and the heap of kernels.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

RIG_TEST(direct_calls)
{
    rig r = rig_open("calls.ptx", isa, threads);
    buffer out = rig_buffer(&r, 40 * 4), d = rig_buffer(&r, 40 * 8), f = rig_buffer(&r, 40 * 4);
    uint64_t p[3] = { out.address, d.address, f.address };
    rig_run(&r, "direct", 1, 40, p, 24);
    for (int t = 0; t < 40; t++) {
        int v = t * t + 3;
        if (t % 3 == 0) v += v * v + 1;
        assert_int_equal(((int *)out.host)[t], v);
        const char letters[] = "abcde";
        double wanted = t + t + 1 + 0.5 * (t + 1) + 'x' + letters[t % 5];
        assert_true(((double *)d.host)[t] == wanted);
        float x = (float)t + 1.5f;
        assert_true(((float *)f.host)[t] == x * (float)(t + 2) + x);
    }
    rig_close(&r);
}

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

RIG_TEST(recursion)
{
    rig r = rig_open("calls.ptx", isa, threads);
    buffer out = rig_buffer(&r, 40 * 4);
    rig_run(&r, "recursive", 1, 40, &out.address, 8);
    for (int t = 0; t < 40; t++) assert_int_equal(((int *)out.host)[t], fibonacci(t % 11));
    rig_run(&r, "mutual", 1, 25, &out.address, 8);
    for (int t = 0; t < 25; t++) assert_int_equal(((int *)out.host)[t], t % 2 == 0);
    rig_close(&r);
}

RIG_TEST(endless_recursion_is_a_stack_overflow)
{
    rig r = rig_open("calls.ptx", isa, threads);
    buffer out = rig_buffer(&r, 40 * 4);
    assert_int_equal(rig_launch(&r, "overflow", 1, 32, &out.address, 8), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_STACK_OVERFLOW, 714);
    assert_int_equal(f->thread[0], 3);
    assert_int_equal(f->threads, 1);
    assert_int_equal(((int *)out.host)[5], 9);
    ptx_grid grid = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .stack_size = 1 << 20 };
    assert_int_equal(rig_launch_grid(&r, "overflow", grid, &out.address, 8), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_STACK_OVERFLOW, 714);
    rig_close(&r);
}

RIG_TEST(calls_by_pointer)
{
    rig r = rig_open("calls.ptx", isa, threads);
    buffer out = rig_buffer(&r, 40 * 4);
    rig_run(&r, "by_pointer", 1, 40, &out.address, 8);
    for (int t = 0; t < 40; t++)
        assert_int_equal(((int *)out.host)[t], t % 3 == 0 ? 2 * t : t % 3 == 1 ? t + 10 : -t);
    rig_run(&r, "virtuals", 1, 40, &out.address, 8);
    for (int t = 0; t < 40; t++) assert_int_equal(((int *)out.host)[t], t % 2 ? 3 * t : -t);
    static const uint64_t bad[] = { 0, 1, 0xffff, (uint64_t)1 << 60 };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        uint64_t p[2] = { out.address, bad[k] };
        rig_launch(&r, "wild_pointer", 1, 32, p, 16);
        assert_int_equal(rig_expect_fault(&r, PTX_FAULT_INVALID_CALL, 718)->threads, 32);
    }
    rig_close(&r);
}

RIG_TEST(the_heap_of_kernels)
{
    rig r = rig_open("calls.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    struct {
        uint64_t p;
        int n;
    } p = { out.address, 20 };
    uint64_t before, after, all;
    ptx_memory_usage(r.memory, &before, &all);
    rig_run(&r, "lists", 1, 64, &p, 12);
    for (int t = 0; t < 64; t++) assert_int_equal(((int *)out.host)[t], 190 * (t + 1));
    ptx_memory_usage(r.memory, &after, &all);
    assert_true(before == after);
    rig_run(&r, "too_much", 1, 32, &p, 8);
    for (int t = 0; t < 32; t++) assert_int_equal(((int *)out.host)[t], 1);
    rig_launch(&r, "after_free", 1, 16, &p, 8);
    assert_int_equal(rig_expect_fault(&r, PTX_FAULT_FREED, 700)->threads, 16);
    rig_launch(&r, "free_twice", 1, 16, &p, 8);
    assert_int_equal(rig_expect_fault(&r, PTX_FAULT_INVALID_FREE, 719)->thread[0], 2);
    rig_launch(&r, "heap_past", 1, 4, &p, 8);
    assert_int_equal(rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700)->offset, 40);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-calls", cmocka_unit_test(direct_calls), cmocka_unit_test(recursion),
               cmocka_unit_test(endless_recursion_is_a_stack_overflow),
               cmocka_unit_test(calls_by_pointer), cmocka_unit_test(the_heap_of_kernels));
