/* Atomic operations.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

enum { BLOCKS = 3, THREADS = 80, N = BLOCKS * THREADS };

/* Every old value was seen once. */
static void expect_ticket_each(const void *old, size_t size)
{
    bool seen[N] = { false };
    for (int k = 0; k < N; k++) {
        uint64_t v = 0;
        memcpy(&v, (const uint8_t *)old + (size_t)k * size, size);
        assert_true(v < N && !seen[v]);
        seen[v] = true;
    }
}

RIG_TEST(of_32_bits)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer g = rig_buffer(&r, 32), old = rig_buffer(&r, N * 4);
    int *v = g.host;
    uint32_t *u = g.host;
    uint64_t p[2] = { g.address, old.address };
    static const int start[8] = { 0, 0, 0, -1, 0, 0, 0, 7 };
    memcpy(v, start, sizeof start);
    rig_run(&r, "of_s32", BLOCKS, THREADS, p, 16);
    expect_ticket_each(old.host, 4);
    uint32_t flipped = 0;
    for (int k = 0; k < N; k++) flipped ^= 1u << k % 16;
    const int wanted[8] = { N, -20, THREADS - 21, (int)0x80000000, 0x7fffffff, (int)flipped, 5, 8 };
    for (int k = 0; k < 8; k++) assert_int_equal(v[k], wanted[k]);
    memcpy(v, start, sizeof start);
    u[1] = 0xffffffffu;
    rig_run(&r, "of_u32", BLOCKS, THREADS, p, 16);
    assert_int_equal(u[1], 0x80000000u);
    assert_int_equal(u[2], 0x80000000u + THREADS - 1);
    rig_close(&r);
}

RIG_TEST(of_64_bits)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer g = rig_buffer(&r, 64), old = rig_buffer(&r, N * 8);
    int64_t *v = g.host;
    uint64_t *u = g.host, p[2] = { g.address, old.address };
    rig_run(&r, "of_s64", BLOCKS, THREADS, p, 8);
    assert_true(v[0] == -20 * ((int64_t)1 << 33));
    assert_true(v[1] == (THREADS - 21) * ((int64_t)1 << 33));
    memset(u, 0, 64);
    u[1] = ~0ull;
    u[3] = ~0ull;
    u[7] = 7;
    rig_run(&r, "of_u64", BLOCKS, THREADS, p, 16);
    expect_ticket_each(old.host, 8);
    uint64_t flipped = 0;
    for (int k = 0; k < N; k++) flipped ^= 1ull << k % 16;
    const uint64_t wanted[8] = {
        N, 1ull << 63, (1ull << 63) + THREADS - 1, 0xffffffff80000000ull, 0x7fffffff, flipped, 5, 8
    };
    for (int k = 0; k < 8; k++) assert_true(u[k] == wanted[k]);
    rig_close(&r);
}

RIG_TEST(counters_that_wrap)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer g = rig_buffer(&r, 8), old = rig_buffer(&r, 64 * 8);
    uint32_t *u = g.host, p2 = 100;
    u[1] = p2;
    uint64_t p[2] = { g.address, old.address };
    rig_run(&r, "wrapping", 1, 64, p, 16);
    for (int k = 0; k < 64; k++) {
        assert_int_equal(((uint32_t *)old.host)[2 * k], k % 10);
        assert_int_equal(((uint32_t *)old.host)[2 * k + 1], k ? 6 - (k - 1) % 7 : 100);
    }
    rig_close(&r);
}

RIG_TEST(of_floats)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer f = rig_buffer(&r, 4), d = rig_buffer(&r, 8), h = rig_buffer(&r, 4),
           b = rig_buffer(&r, 4), s = rig_buffer(&r, 8);
    uint64_t p[5] = { f.address, d.address, h.address, b.address, s.address };
    rig_run(&r, "floats", 2, 64, p, 40);
    assert_true(*(float *)f.host == 32.0f);
    assert_true(*(double *)d.host == 64.0);
    assert_int_equal(*(uint32_t *)h.host, 0x58005400u); /* 128, 64 */
    assert_int_equal(*(uint32_t *)b.host, 0x42804300u); /* 64, 128 */
    assert_int_equal(*(uint16_t *)s.host, 64);
    assert_int_equal(((uint16_t *)s.host)[2], 0x4c00); /* 16 */
    buffer w = rig_buffer(&r, 16);
    uint64_t q[2] = { h.address, w.address };
    memset(f.host, 0, 4);
    buffer two = rig_buffer(&r, 8);
    q[0] = two.address;
    rig_run(&r, "vectors", 1, 64, q, 16);
    assert_true(((float *)two.host)[0] == 64.0f && ((float *)two.host)[1] == 32.0f);
    const float *x = w.host;
    assert_true(x[0] == 64.0f && x[1] == 128.0f && x[2] == 192.0f && x[3] == 2016.0f);
    rig_close(&r);
}

RIG_TEST(in_shared_memory)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer out = rig_buffer(&r, 20), f = rig_buffer(&r, 4);
    uint64_t p[2] = { out.address, f.address };
    rig_run(&r, "in_shared", 1, 100, p, 16);
    const int *v = out.host;
    assert_int_equal(v[0], 4950);
    assert_int_equal(v[1], 99);
    assert_int_equal(v[2], 5);
    assert_int_equal(v[3], 99);
    assert_int_equal(v[4], 100);
    assert_true(*(float *)f.host == 50.0f);
    rig_close(&r);
}

RIG_TEST(by_generic_address)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer g = rig_buffer(&r, 4), out = rig_buffer(&r, 65 * 4);
    uint64_t p[2] = { g.address, out.address };
    rig_run(&r, "by_generic", 1, 64, p, 16);
    assert_int_equal(*(int *)g.host, 32);
    assert_int_equal(((int *)out.host)[64], 32);
    for (int k = 0; k < 64; k++) assert_int_equal(((int *)out.host)[k], k / 2);
    rig_launch(&r, "on_local", 1, 32, &out.address, 8);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_ADDRESS_SPACE, 717);
    assert_int_equal(f->thread[0], 7);
    rig_close(&r);
}

RIG_TEST(past_the_end)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer g = rig_buffer(&r, 80);
    rig_launch(&r, "past", 1, 32, &g.address, 8);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    assert_int_equal(f->threads, 12);
    rig_expect_text(f->message, "atomically changes 4 bytes at offset 80");
    for (int k = 0; k < 20; k++) assert_int_equal(((int *)g.host)[k], 1);
    rig_close(&r);
}

RIG_TEST(without_a_result)
{
    rig r = rig_open("atomics.ptx", isa, threads);
    buffer g = rig_buffer(&r, 8), h = rig_buffer(&r, 8);
    uint64_t p[2] = { g.address, h.address };
    rig_run(&r, "reductions", 2, 40, p, 16);
    assert_int_equal(((int *)g.host)[0], 2 * 780);
    assert_int_equal(((int *)g.host)[1], 0xffff);
    assert_true(*(uint64_t *)h.host == 7 * 39);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-atomics", cmocka_unit_test(of_32_bits), cmocka_unit_test(of_64_bits),
               cmocka_unit_test(counters_that_wrap), cmocka_unit_test(of_floats),
               cmocka_unit_test(in_shared_memory), cmocka_unit_test(by_generic_address),
               cmocka_unit_test(past_the_end), cmocka_unit_test(without_a_result));
