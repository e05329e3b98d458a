/* Loads and stores of every size in every space.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

typedef struct mixed {
    signed char a;
    unsigned char b;
    short c;
    unsigned short d;
    int e;
    long long f;
    float g;
    double h;
} __attribute__((aligned(16))) mixed;

RIG_TEST(scalars_of_every_size)
{
    rig r = rig_open("memory.ptx", isa, threads);
    enum { N = 300 };
    buffer in = rig_buffer(&r, N * sizeof(mixed)), out = rig_buffer(&r, N * sizeof(mixed));
    mixed *m = in.host;
    for (int k = 0; k < N; k++)
        m[k] = (mixed){ (signed char)(k - 100),
                        (unsigned char)(k * 3),
                        (short)(-k * 100),
                        (unsigned short)(k * 200),
                        k * 1000003,
                        k * 10000000019ll,
                        (float)k * 0.75f,
                        k * 1.5 };
    rig_run(&r, "scalars", 5, 64, PARAMS((struct {
        uint64_t a, b;
        int n;
    }){ in.address, out.address, N }));
    const mixed *got = out.host;
    for (int k = 0; k < N; k++) {
        assert_int_equal(got[k].a, (signed char)(m[k].a + 1));
        assert_int_equal(got[k].b, (unsigned char)(m[k].b + 1));
        assert_int_equal(got[k].c, (short)(m[k].c - 1));
        assert_int_equal(got[k].d, (unsigned short)(m[k].d - 1));
        assert_int_equal(got[k].e, m[k].e * 2);
        assert_true(got[k].f == m[k].f * 3);
        assert_true(got[k].g == m[k].g * 0.5f);
        assert_true(got[k].h == m[k].h * 0.25);
    }
    rig_close(&r);
}

RIG_TEST(narrow_loads_extend)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer a = rig_buffer(&r, 40), b = rig_buffer(&r, 40), c = rig_buffer(&r, 80),
           d = rig_buffer(&r, 80), out = rig_buffer(&r, 160);
    for (int k = 0; k < 40; k++) {
        ((signed char *)a.host)[k] = (signed char)(k * 7 - 130);
        ((unsigned char *)b.host)[k] = (unsigned char)(k * 11 + 100);
        ((short *)c.host)[k] = (short)(k * 1000 - 20000);
        ((unsigned short *)d.host)[k] = (unsigned short)(k * 1500 + 20000);
    }
    rig_run(&r, "bytes", 1, 40, PARAMS((struct {
        uint64_t a, b, c, d, e;
    }){ a.address, b.address, c.address, d.address, out.address }));
    for (int k = 0; k < 40; k++)
        assert_int_equal(((int *)out.host)[k],
                         ((signed char *)a.host)[k] + 1000 * ((unsigned char *)b.host)[k] +
                             7 * ((short *)c.host)[k] + 11 * ((unsigned short *)d.host)[k]);
    rig_close(&r);
}

RIG_TEST(narrow_stores)
{
    rig r = rig_open("memory.ptx", isa, threads);
    for (int stride = 1; stride <= 3; stride++) {
        buffer a = rig_buffer(&r, 40 * 3), b = rig_buffer(&r, 80 * 3), c = rig_buffer(&r, 320 * 3);
        memset(a.host, 0x55, 120);
        rig_run(&r, "stores", 1, 40, PARAMS((struct {
            uint64_t a, b, c;
            int n;
        }){ a.address, b.address, c.address, stride }));
        for (int k = 0; k < 40 * stride; k++) {
            bool hit = k % stride == 0;
            assert_int_equal(((signed char *)a.host)[k],
                             hit ? (signed char)(3 * (k / stride)) : 0x55);
            assert_int_equal(((short *)b.host)[k], hit ? (short)(-5 * (k / stride)) : 0);
            assert_true(((long long *)c.host)[k] == (hit ? 1ll << k / stride : 0));
        }
    }
    rig_close(&r);
}

RIG_TEST(vectors)
{
    rig r = rig_open("memory.ptx", isa, threads);
    enum { N = 128 };
    for (int stride = 1; stride <= 2; stride++) {
        buffer b[10];
        static const size_t size[10] = { 16, 16, 8, 8, 16, 16, 4, 4, 4, 4 };
        uint64_t p[11];
        for (int k = 0; k < 10; k++) {
            b[k] = rig_buffer(&r, N * size[k]);
            p[k] = b[k].address;
            for (size_t n = 0; k % 2 == 0 && n < N * size[k]; n++)
                ((uint8_t *)b[k].host)[n] = (uint8_t)(n * 7 + (size_t)k);
        }
        p[10] = (uint64_t)stride;
        rig_run(&r, "vectors", 1, 40, p, 84);
        for (int t = 0; t < 40; t++) {
            int i = t * stride;
            const uint32_t *f = (uint32_t *)b[0].host + 4 * i, *g = (uint32_t *)b[1].host + 4 * i;
            for (int k = 0; k < 4; k++) assert_int_equal(g[k], f[3 - k]);
            const uint64_t *h = (uint64_t *)b[4].host + 2 * i, *j = (uint64_t *)b[5].host + 2 * i;
            assert_true(j[0] == h[1] && j[1] == h[0]);
            const uint32_t *u = (uint32_t *)b[2].host + 2 * i, *v = (uint32_t *)b[3].host + 2 * i;
            assert_true(v[0] == u[1] && v[1] == u[0]);
            const uint8_t *w = (uint8_t *)b[6].host + 4 * i, *x = (uint8_t *)b[7].host + 4 * i;
            for (int k = 0; k < 4; k++) assert_int_equal(x[k], w[3 - k]);
            const uint16_t *y = (uint16_t *)b[8].host + 2 * i, *z = (uint16_t *)b[9].host + 2 * i;
            assert_true(z[0] == y[1] && z[1] == y[0]);
        }
    }
    rig_close(&r);
}

RIG_TEST(constants_and_globals)
{
    static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    rig r = rig_open("memory.ptx", isa, threads);
    buffer out = rig_buffer(&r, 32 * 8);
    rig_run(&r, "constants", 1, 32, PARAMS((struct {
        uint64_t a;
        int n;
    }){ out.address, 2 }));
    for (int t = 0; t < 32; t++)
        assert_true(((double *)out.host)[t] == table[t & 7] * 0.125 + 1 + 41 + 'o');
    ptx_global_info info;
    assert_true(ptx_program_find_global(r.program, "table", &info));
    assert_int_equal(info.size, 32);
    assert_int_equal(info.space, PTX_SPACE_CONST);
    int *host = ptx_memory_host(r.memory, info.address, 32);
    host[3] = 1001;
    rig_run(&r, "constants", 1, 32, PARAMS((struct {
        uint64_t a;
        int n;
    }){ out.address, 3 }));
    assert_true(((double *)out.host)[0] == 3 + 1001 + 41 + 'o');
    rig_close(&r);
}

RIG_TEST(local_arrays)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer out = rig_buffer(&r, 40 * 4);
    int n = 37;
    rig_run(&r, "local_array", 1, 40, PARAMS((struct {
        uint64_t a;
        int n;
    }){ out.address, n }));
    for (int t = 0; t < 40; t++) {
        int sum = 0;
        for (int k = 0; k < n; k++) sum += (k * 7 + t) % 40 * t + (short)((k * 3) % 40 - t);
        sum += (int)((n % 10) * 0.5 * 2) + (unsigned char)((n + t) % 16 * 16 + t);
        assert_int_equal(((int *)out.host)[t], sum);
    }
    rig_close(&r);
}

RIG_TEST(generic_addresses)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer g = rig_buffer(&r, 128), out = rig_buffer(&r, 128);
    rig_run(&r, "generic", 1, 32, PARAMS((struct { uint64_t a, b; }){ g.address, out.address }));
    for (int t = 0; t < 32; t++) {
        int kind = t % 3 == 0 ? 1000 : t % 3 == 1 ? 2000 : 4000;
        assert_int_equal(((int *)out.host)[t], 100 + t + kind);
        if (t % 3 == 0) assert_int_equal(((int *)g.host)[t], 100 + t);
    }
    rig_close(&r);
}

RIG_TEST(dynamic_shared_memory)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer out = rig_buffer(&r, 48 * 4);
    struct {
        uint64_t a;
        int n;
    } p = { out.address, 48 };
    ptx_grid grid = { .grid = { 1, 1, 1 }, .block = { 48, 1, 1 }, .dynamic_shared = 48 * 4 };
    assert_int_equal(rig_launch_grid(&r, "dynamic_shared", grid, &p, 12), PTX_LAUNCH_OK);
    for (int t = 0; t < 48; t++)
        assert_int_equal(((int *)out.host)[t], 2 * (47 - t) + (t & 3) + 192);
    grid.dynamic_shared = 47 * 4;
    assert_int_equal(rig_launch_grid(&r, "dynamic_shared", grid, &p, 12), PTX_LAUNCH_FAULT);
    rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    rig_close(&r);
}

RIG_TEST(volatile_and_ordered_accesses)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer a = rig_buffer(&r, 160), b = rig_buffer(&r, 160);
    rig_run(&r, "volatiles", 1, 40, PARAMS((struct { uint64_t a, b; }){ a.address, b.address }));
    for (int t = 0; t < 40; t++) {
        assert_int_equal(((int *)a.host)[t], 1);
        assert_int_equal(((int *)b.host)[t], 2);
    }
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-memory", cmocka_unit_test(scalars_of_every_size),
               cmocka_unit_test(narrow_loads_extend), cmocka_unit_test(narrow_stores),
               cmocka_unit_test(vectors), cmocka_unit_test(constants_and_globals),
               cmocka_unit_test(local_arrays), cmocka_unit_test(generic_addresses),
               cmocka_unit_test(dynamic_shared_memory),
               cmocka_unit_test(volatile_and_ordered_accesses));
