/* Instructions that the lanes of a warp execute together.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

RIG_TEST(shuffles)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 8 * 32 * 4);
    rig_run(&r, "shuffles", 1, 32, &out.address, 8);
    for (int t = 0; t < 32; t++) {
        int from[8] = { 5,
                        (t & 24) | ((t + 1) & 7),
                        t >= 3 ? t - 3 : t,
                        (t & 7) >= 3 ? t - 3 : t,
                        t + 7 < 32 ? t + 7 : t,
                        (t & 3) + 2 < 4 ? t + 2 : t,
                        t ^ 9,
                        t ^ 5 };
        for (int k = 0; k < 8; k++)
            assert_int_equal(((int *)out.host)[8 * t + k], from[k] * from[k] + 1);
    }
    rig_close(&r);
}

RIG_TEST(wide_shuffles)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer a = rig_buffer(&r, 32 * 8), b = rig_buffer(&r, 32 * 8);
    rig_run(&r, "wide", 1, 32, PARAMS((struct { uint64_t a, b; }){ a.address, b.address }));
    for (int t = 0; t < 32; t++) {
        int from = t < 31 ? t + 1 : t;
        assert_true(((long long *)a.host)[t] == 0x123456789ll * (from + 1));
        assert_true(((double *)b.host)[t] == (t ^ 1) * 0.5);
    }
    rig_close(&r);
}

RIG_TEST(votes_and_matches)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 192 * 4);
    rig_run(&r, "votes", 1, 32, &out.address, 8);
    const uint32_t *v = out.host;
    for (int t = 0; t < 32; t++) {
        assert_int_equal(v[t], 0x49249249u);
        assert_int_equal(v[32 + t], 6);
        assert_int_equal(v[64 + t], 1);
        uint32_t group = 31u << (t / 5 * 5);
        assert_int_equal(v[96 + t], group);
        assert_int_equal(v[128 + t], 8 + 4 + 2);
        assert_int_equal(v[160 + t], t & 1 ? 0xaaaaaaaau : 0x55555555u);
    }
    rig_close(&r);
}

RIG_TEST(reductions)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 256 * 4);
    rig_run(&r, "reductions", 1, 32, &out.address, 8);
    uint32_t exclusive = 0;
    for (uint32_t t = 0; t < 32; t++) exclusive ^= t * 3;
    int wanted[8] = { -16, -16, 15, 0, -1, 64, 31, (int)exclusive };
    for (int k = 0; k < 256; k++) assert_int_equal(((int *)out.host)[k], wanted[k % 8]);
    rig_close(&r);
}

RIG_TEST(parts_of_a_warp)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 64 * 4);
    rig_run(&r, "parts", 1, 32, &out.address, 8);
    const uint32_t *v = out.host;
    for (uint32_t t = 0; t < 32; t++) {
        assert_int_equal(v[t], t < 10 ? 0x3ffu : t < 20 ? 0xaa800u : 25u);
        assert_int_equal(v[32 + t], t % 4 != 1 ? 0 : t == 1 ? 101 : 100);
    }
    rig_close(&r);
}

RIG_TEST(each_group_has_its_own_mask)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    rig_run(&r, "masks", 1, 32, &out.address, 8);
    for (int t = 0; t < 32; t++) assert_int_equal(((int *)out.host)[t], 8 * (t & 24) + 28);
    rig_close(&r);
}

RIG_TEST(one_exchange_at_two_places)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    rig_run(&r, "two_places", 1, 32, &out.address, 8);
    for (int t = 0; t < 32; t++)
        assert_int_equal(((int *)out.host)[t], t % 2 ? 7 * (t - 1) + 1000 : 10 * (t + 1) + 2000);
    rig_close(&r);
}

RIG_TEST(lanes_wait_for_those_that_loop)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    rig_run(&r, "late", 1, 32, &out.address, 8);
    int sum[33] = { 0 };
    for (int t = 0; t < 32; t++)
        for (int k = 0; k < t; k++) sum[t] += k ^ t;
    sum[32] = sum[31];
    for (int t = 0; t < 32; t++) assert_int_equal(((int *)out.host)[t], sum[t] - sum[t + 1]);
    rig_close(&r);
}

RIG_TEST(naming_exited_lanes_is_a_warning)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    assert_int_equal(rig_launch(&r, "exited", 1, 32, &out.address, 8), PTX_LAUNCH_OK);
    assert_int_equal(r.report.result, 0);
    assert_int_equal(r.report.finding_count, 1);
    assert_true(r.report.findings[0].warning);
    assert_int_equal(r.report.findings[0].kind, PTX_FAULT_EXITED_LANES);
    assert_int_equal(((int *)out.host)[3], 0xfffff);
    rig_close(&r);
}

RIG_TEST(a_lane_outside_its_mask_is_a_fault)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    assert_int_equal(rig_launch(&r, "stranger", 1, 32, &out.address, 8), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_LANE_MASK, 719);
    assert_int_equal(f->thread[0], 16);
    assert_int_equal(f->threads, 16);
    assert_int_equal(((int *)out.host)[15], 0);
    rig_close(&r);
}

RIG_TEST(lanes_that_never_meet_are_reported)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    assert_int_equal(rig_launch(&r, "never", 1, 32, &out.address, 8), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_DEADLOCK, 719);
    rig_close(&r);
}

RIG_TEST(lanes_keep_in_step)
{
    rig r = rig_open("warps.ptx", isa, threads);
    buffer in = rig_buffer(&r, 256), out = rig_buffer(&r, 4);
    for (int k = 0; k < 64; k++) ((int *)in.host)[k] = k + 1;
    rig_run(&r, "in_step", 1, 64, PARAMS((struct { uint64_t a, b; }){ in.address, out.address }));
    assert_int_equal(*(int *)out.host, 2080);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-warps", cmocka_unit_test(shuffles), cmocka_unit_test(wide_shuffles),
               cmocka_unit_test(votes_and_matches), cmocka_unit_test(reductions),
               cmocka_unit_test(parts_of_a_warp), cmocka_unit_test(each_group_has_its_own_mask),
               cmocka_unit_test(one_exchange_at_two_places),
               cmocka_unit_test(lanes_wait_for_those_that_loop),
               cmocka_unit_test(naming_exited_lanes_is_a_warning),
               cmocka_unit_test(a_lane_outside_its_mask_is_a_fault),
               cmocka_unit_test(lanes_that_never_meet_are_reported),
               cmocka_unit_test(lanes_keep_in_step));
