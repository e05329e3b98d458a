/* Special registers, clocks, clusters, and what is known about kernels.
 * SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

RIG_TEST(indices)
{
    rig r = rig_open("special.ptx", isa, threads);
    enum { BX = 6, BY = 3, BZ = 4, GX = 3, GY = 2, GZ = 2, T = BX * BY * BZ, B = GX * GY * GZ };
    buffer out = rig_buffer(&r, T * B * 64);
    ptx_grid grid = { .grid = { GX, GY, GZ }, .block = { BX, BY, BZ }, .dynamic_shared = 512 };
    assert_int_equal(rig_launch_grid(&r, "indices", grid, &out.address, 8), PTX_LAUNCH_OK);
    for (uint32_t b = 0; b < B; b++)
        for (uint32_t t = 0; t < T; t++) {
            const uint32_t *o = (uint32_t *)out.host + 16 * (t + b * T);
            uint32_t lane = t % 32, below = (1u << lane) - 1;
            assert_int_equal(o[0], t % BX | t / BX % BY << 8 | t / BX / BY << 16);
            assert_int_equal(o[1], b % GX | b / GX % GY << 8 | b / GX / GY << 16);
            assert_int_equal(o[2], BX | BY << 8 | BZ << 16);
            assert_int_equal(o[3], GX | GY << 8 | GZ << 16);
            assert_int_equal(o[4], lane);
            assert_int_equal(o[5], t / 32);
            assert_int_equal(o[6], (T + 31) / 32);
            assert_int_equal(o[7], below + 1);
            assert_int_equal(o[8], below | (below + 1));
            assert_int_equal(o[9], below);
            assert_int_equal(o[10], ~below);
            assert_int_equal(o[11], ~(below | (below + 1)));
            assert_int_equal(o[12], 1);
            assert_int_equal(o[13], 512);
            assert_int_equal(o[14], 512);
            assert_true(o[15] > 0);
        }
    rig_close(&r);
}

RIG_TEST(clocks)
{
    rig r = rig_open("special.ptx", isa, threads);
    buffer out = rig_buffer(&r, 32);
    rig_run(&r, "clocks", 1, 32, &out.address, 8);
    for (int k = 0; k < 4; k++) assert_int_equal(((uint64_t *)out.host)[k], 1);
    rig_close(&r);
}

RIG_TEST(clusters)
{
    rig r = rig_open("special.ptx", isa, threads);
    buffer out = rig_buffer(&r, 6 * 32);
    rig_run(&r, "clusters", 6, 64, &out.address, 8);
    for (uint32_t b = 0; b < 6; b++) {
        const uint32_t *o = (uint32_t *)out.host + 8 * b;
        const uint32_t wanted[6] = { b / 2, 3, b % 2, 2, b % 2, 2 };
        for (int k = 0; k < 6; k++) assert_int_equal(o[k], wanted[k]);
        assert_int_equal(o[6], b % 2 ? 77 : 0);
        assert_int_equal(o[7], b % 2 ? 0 : 77);
    }
    assert_int_equal(rig_launch(&r, "clusters", 3, 64, &out.address, 8), PTX_LAUNCH_INVALID);
    rig_close(&r);
}

RIG_TEST(what_is_known_of_kernels)
{
    rig r = rig_open("special.ptx", isa, threads);
    ptx_kernel_info info;
    ptx_kernel_describe(ptx_program_find_kernel(r.program, "bounded"), &info);
    assert_string_equal(info.name, "bounded");
    assert_int_equal(info.max_threads, 128);
    assert_int_equal(info.max_block[0], 128);
    assert_int_equal(info.param_count, 1);
    assert_int_equal(info.param_size, 8);
    assert_true(info.registers >= 8 && info.registers <= 255);
    assert_true(info.warp_state < 16384);
    ptx_param_info param;
    assert_true(ptx_kernel_param(ptx_program_find_kernel(r.program, "bounded"), 0, &param));
    assert_int_equal(param.size, 8);
    ptx_kernel_describe(ptx_program_find_kernel(r.program, "clusters"), &info);
    assert_int_equal(info.cluster[0], 2);
    buffer out = rig_buffer(&r, 512);
    rig_run(&r, "bounded", 1, 128, &out.address, 8);
    assert_int_equal(rig_launch(&r, "bounded", 1, 129, &out.address, 8), PTX_LAUNCH_INVALID);
    assert_int_equal(r.report.result, 701);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-special", cmocka_unit_test(indices), cmocka_unit_test(clocks),
               cmocka_unit_test(clusters), cmocka_unit_test(what_is_known_of_kernels));
