/* Barriers of a block.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

RIG_TEST(exited_threads_do_not_count)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    int *v = out.host;
    for (int k = 0; k < 64; k++) v[k] = -1;
    rig_run(&r, "exits", 1, 64, PARAMS((struct {
        uint64_t p;
        int n;
    }){ out.address, 40 }));
    for (int k = 0; k < 64; k++) assert_int_equal(v[k], k < 40 ? 780 : -1);
    rig_close(&r);
}

RIG_TEST(a_divergent_barrier_is_reported)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    assert_int_equal(rig_launch(&r, "split", 1, 64, &out.address, 8), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_BARRIER, 719);
    rig_expect_text(f->message, "line 20");
    rig_expect_text(f->message, "line 23");
    rig_expect_text(f->message, "divergent barrier");
    rig_close(&r);
}

RIG_TEST(a_barrier_in_a_loop_of_unequal_length_is_reported)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    assert_int_equal(rig_launch(&r, "loop", 1, 64, &out.address, 8), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_BARRIER, 719);
    rig_expect_text(f->message, "line 36");
    rig_expect_text(f->message, "line 38");
    assert_true(r.report.position_count >= 2);
    rig_close(&r);
}

RIG_TEST(warps_may_meet_at_different_places)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    rig_run(&r, "two_places", 1, 64, &out.address, 8);
    const int *v = out.host;
    for (int t = 0; t < 32; t++) {
        assert_int_equal(v[t], 2 * (t + 32));
        assert_int_equal(v[t + 32], t);
    }
    rig_close(&r);
}

RIG_TEST(barriers_reduce)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 70 * 4);
    rig_run(&r, "reduced", 1, 70, &out.address, 8);
    for (int t = 0; t < 70; t++) assert_int_equal(((int *)out.host)[t], 24 * 10000 + 1000 + 10);
    rig_close(&r);
}

RIG_TEST(producers_and_consumers)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 256 * 4);
    rig_run(&r, "named", 1, 96, &out.address, 8);
    for (int k = 0; k < 256; k++)
        assert_int_equal(((int *)out.host)[k], 100 * (k / 32 % 4) + 31 - k % 32);
    rig_close(&r);
}

RIG_TEST(a_counted_barrier_waits_for_threads_that_left)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    assert_int_equal(rig_launch(&r, "counted", 1, 64, &out.address, 8), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_DEADLOCK, 719);
    assert_int_equal(f->threads, 32);
    rig_expect_text(f->message, "barrier 3: 32 of 64 threads");
    rig_close(&r);
}

RIG_TEST(unequal_counts_are_reported)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 96 * 4);
    assert_int_equal(rig_launch(&r, "mismatch", 1, 96, &out.address, 8), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_BARRIER, 719);
    rig_expect_text(f->message, "64 threads and now for 96");
    rig_close(&r);
}

RIG_TEST(barriers_that_are_not_aligned)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 96 * 4);
    rig_run(&r, "unaligned", 1, 96, &out.address, 8);
    for (int t = 0; t < 96; t++)
        assert_int_equal(((int *)out.host)[t], t % 2 ? 3 * (t - 1) : t + 1);
    rig_close(&r);
}

RIG_TEST(nobody_waits_for_a_thread_that_faulted)
{
    rig r = rig_open("barriers.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    assert_int_equal(
        rig_launch(&r, "faulty", 1, 64, PARAMS((struct { uint64_t a, b; }){ out.address, 0 })),
        PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_NULL, 700);
    assert_int_equal(f->thread[0], 5);
    assert_int_equal(f->threads, 1);
    assert_int_equal(((int *)out.host)[6], 7);
    assert_int_equal(r.report.finding_count, 1);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-barriers", cmocka_unit_test(exited_threads_do_not_count),
               cmocka_unit_test(a_divergent_barrier_is_reported),
               cmocka_unit_test(a_barrier_in_a_loop_of_unequal_length_is_reported),
               cmocka_unit_test(warps_may_meet_at_different_places),
               cmocka_unit_test(barriers_reduce), cmocka_unit_test(producers_and_consumers),
               cmocka_unit_test(a_counted_barrier_waits_for_threads_that_left),
               cmocka_unit_test(unequal_counts_are_reported),
               cmocka_unit_test(barriers_that_are_not_aligned),
               cmocka_unit_test(nobody_waits_for_a_thread_that_faulted));
