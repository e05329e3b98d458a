/* Threads that wait for others get on; those that cannot are ended.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

RIG_TEST(locks_inside_a_warp)
{
    rig r = rig_open("progress.ptx", isa, threads);
    static const char *const kernels[] = { "locks", "locks_inside" };
    for (int k = 0; k < 2; k++)
        for (uint32_t size = 1; size <= 256; size *= 4) {
            buffer lock = rig_buffer(&r, 4), count = rig_buffer(&r, 4);
            uint64_t p[2] = { lock.address, count.address };
            rig_run(&r, kernels[k], 4, size, p, 16);
            assert_int_equal(*(int *)count.host, 4 * size);
        }
    rig_close(&r);
}

RIG_TEST(blocks_that_wait_for_each_other)
{
    rig r = rig_open("progress.ptx", isa, threads);
    buffer flag = rig_buffer(&r, 8), cell = rig_buffer(&r, 8), out = rig_buffer(&r, 8);
    uint64_t p[3] = { flag.address, cell.address, out.address };
    rig_run(&r, "hand", 2, 1, p, 24);
    assert_int_equal(((int *)out.host)[0], 11);
    assert_int_equal(((int *)out.host)[1], 7);
    memset(flag.host, 0, 8);
    ptx_grid grid = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .instruction_budget = 1000000 };
    assert_int_equal(rig_launch_grid(&r, "hand", grid, p, 24), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_BUDGET, 702);
    assert_true(r.report.position_count > 0);
    assert_string_equal(r.report.positions[0].file, "progress.cu");
    rig_close(&r);
}

RIG_TEST(warps_that_wait_for_each_other)
{
    rig r = rig_open("progress.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    rig_run(&r, "warps", 1, 64, &out.address, 8);
    for (int t = 0; t < 32; t++) assert_int_equal(((int *)out.host)[t], 123);
    rig_close(&r);
}

RIG_TEST(an_endless_kernel_ends_by_its_budget)
{
    rig r = rig_open("progress.ptx", isa, threads);
    buffer flag = rig_buffer(&r, 4), out = rig_buffer(&r, 4);
    uint64_t p[2] = { flag.address, out.address };
    ptx_grid grid = { .grid = { 3, 1, 1 }, .block = { 64, 1, 1 }, .instruction_budget = 500000 };
    assert_int_equal(rig_launch_grid(&r, "wait", grid, p, 16), PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_BUDGET, 702);
    rig_expect_text(f->message, "wait still runs after");
    assert_int_equal(r.report.position_count, 1);
    assert_true(r.report.positions[0].threads >= 64);
    *(int *)flag.host = 1;
    rig_run(&r, "wait", 3, 64, p, 16);
    assert_int_equal(*(int *)out.host, 1);
    rig_close(&r);
}

typedef struct late {
    volatile int *flag;
    atomic_bool *cancel;
} late;

static void *act_later(void *user)
{
    late *l = user;
    struct timespec pause = { 0, 30000000 };
    nanosleep(&pause, NULL);
    if (l->flag) *l->flag = 1;
    if (l->cancel) atomic_store(l->cancel, true);
    return NULL;
}

RIG_TEST(the_host_ends_the_wait)
{
    rig r = rig_open("progress.ptx", isa, threads);
    buffer flag = rig_buffer(&r, 4), out = rig_buffer(&r, 4);
    uint64_t p[2] = { flag.address, out.address };
    late l = { .flag = flag.host };
    pthread_t thread;
    ptx_grid grid = { .grid = { 2, 1, 1 },
                      .block = { 64, 1, 1 },
                      .instruction_budget = UINT64_MAX };
    assert_int_equal(pthread_create(&thread, NULL, act_later, &l), 0);
    assert_int_equal(rig_launch_grid(&r, "wait", grid, p, 16), PTX_LAUNCH_OK);
    pthread_join(thread, NULL);
    assert_int_equal(*(int *)out.host, 1);
    *(int *)flag.host = 0;
    atomic_bool cancel = false;
    l = (late){ .cancel = &cancel };
    grid.cancel = &cancel;
    assert_int_equal(pthread_create(&thread, NULL, act_later, &l), 0);
    assert_int_equal(rig_launch_grid(&r, "wait", grid, p, 16), PTX_LAUNCH_FAULT);
    pthread_join(thread, NULL);
    rig_expect_fault(&r, PTX_FAULT_CANCELLED, 702);
    assert_true(r.report.position_count > 0);
    rig_close(&r);
}

RIG_TEST(the_last_block_adds_up)
{
    rig r = rig_open("progress.ptx", isa, threads);
    buffer in = rig_buffer(&r, 192 * 4), part = rig_buffer(&r, 24), ticket = rig_buffer(&r, 4),
           out = rig_buffer(&r, 4);
    for (int k = 0; k < 192; k++) ((int *)in.host)[k] = k;
    uint64_t p[4] = { in.address, part.address, ticket.address, out.address };
    rig_run(&r, "last_block", 6, 32, p, 32);
    assert_int_equal(*(int *)out.host, 18336);
    assert_int_equal(*(int *)ticket.host, 0);
    rig_close(&r);
}

RIG_TEST(a_chain_of_blocks)
{
    enum { BLOCKS = 100 };
    rig r = rig_open("progress.ptx", isa, threads);
    buffer in = rig_buffer(&r, BLOCKS * 256), sums = rig_buffer(&r, BLOCKS * 4),
           ready = rig_buffer(&r, BLOCKS * 4), out = rig_buffer(&r, BLOCKS * 256);
    for (int k = 0; k < BLOCKS * 64; k++) ((int *)in.host)[k] = k % 7 - 2;
    uint64_t p[4] = { in.address, sums.address, ready.address, out.address };
    rig_run(&r, "chain", BLOCKS, 64, p, 32);
    int sum = 0;
    for (int k = 0; k < BLOCKS * 64; k++) {
        sum += k % 7 - 2;
        assert_int_equal(((int *)out.host)[k], sum);
    }
    rig_close(&r);
}

RIG_TEST(the_grid_is_synchronised)
{
    enum { BLOCKS = 12, N = BLOCKS * 64, ROUNDS = 5 };
    rig r = rig_open("progress.ptx", isa, threads);
    buffer data = rig_buffer(&r, 2 * N * 4), out = rig_buffer(&r, N * 4);
    for (int k = 0; k < N; k++) ((int *)data.host)[k] = k;
    struct {
        uint64_t data, out;
        int rounds;
    } p = { data.address, out.address, ROUNDS };
    ptx_grid grid = { .grid = { BLOCKS, 1, 1 }, .block = { 64, 1, 1 }, .cooperative = true };
    assert_int_equal(rig_launch_grid(&r, "grid_wide", grid, &p, 20), PTX_LAUNCH_OK);
    for (int k = 0; k < N; k++)
        assert_int_equal(((int *)out.host)[k], (k + 37 * ROUNDS) % N + ROUNDS);
    grid.cooperative = false;
    assert_int_equal(rig_launch_grid(&r, "grid_wide", grid, &p, 20), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_GRID_SYNC, 719);
    grid.cooperative = true;
    grid.grid[0] = 132 * 32 + 1;
    assert_int_equal(rig_launch_grid(&r, "grid_wide", grid, &p, 20), PTX_LAUNCH_INVALID);
    assert_int_equal(r.report.result, 720);
    rig_close(&r);
}

RIG_TEST(cooperative_groups)
{
    rig r = rig_open("progress.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128 * 4);
    rig_run(&r, "groups", 1, 64, &out.address, 8);
    const int *v = out.host;
    for (int k = 0; k < 8; k++) assert_int_equal(v[k], 64 * k + 28);
    for (int t = 0; t < 64; t += 3) {
        int size = t < 32 ? 11 : 11;
        int rank = t < 32 ? t / 3 : (t - 33) / 3;
        assert_int_equal(v[64 + t], size * 100 + rank);
    }
    rig_close(&r);
}

RIG_TEST(divergent_loops_and_switches)
{
    enum { N = 1000 };
    rig r = rig_open("progress.ptx", isa, threads);
    buffer out = rig_buffer(&r, N * 4);
    struct {
        uint64_t out;
        int n;
    } p = { out.address, N };
    rig_run(&r, "divergent", 8, 128, &p, 12);
    for (int i = 0; i < N; i++) {
        unsigned long long v = (unsigned long long)i + 1;
        int steps = 0;
        for (; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;
        switch (i % 7) {
        case 0: steps += 1000; break;
        case 1: steps = steps * 3 - 5; break;
        case 2: steps -= 5; break;
        case 3: steps ^= 0xff; break;
        case 5: steps = -steps; break;
        default: steps += i;
        }
        assert_int_equal(((int *)out.host)[i], steps);
    }
    rig_close(&r);
}

/* Each round ends at a barrier, long before a warp would count what it has run. */
RIG_TEST(an_endless_loop_with_a_barrier_ends_too)
{
    rig r = rig_open_text(".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry k() {\nL: bar.sync 0;\nbra L;\n}\n",
                          isa, threads);
    ptx_grid grid = { .grid = { 2, 1, 1 }, .block = { 80, 1, 1 }, .instruction_budget = 50000 };
    assert_int_equal(rig_launch_grid(&r, "k", grid, NULL, 0), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_BUDGET, 702);
    assert_true(r.report.position_count > 0);
    atomic_bool cancel = true;
    grid.cancel = &cancel;
    grid.instruction_budget = UINT64_MAX;
    assert_int_equal(rig_launch_grid(&r, "k", grid, NULL, 0), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_CANCELLED, 702);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-progress", cmocka_unit_test(locks_inside_a_warp),
               cmocka_unit_test(blocks_that_wait_for_each_other),
               cmocka_unit_test(warps_that_wait_for_each_other),
               cmocka_unit_test(an_endless_kernel_ends_by_its_budget),
               cmocka_unit_test(an_endless_loop_with_a_barrier_ends_too),
               cmocka_unit_test(the_host_ends_the_wait), cmocka_unit_test(the_last_block_adds_up),
               cmocka_unit_test(a_chain_of_blocks), cmocka_unit_test(the_grid_is_synchronised),
               cmocka_unit_test(cooperative_groups),
               cmocka_unit_test(divergent_loops_and_switches));
