/* Device memory, and what happens when memory runs out.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/exec/isa.h"

static void allocations_are_apart_and_zeroed(void **state)
{
    (void)state;
    enum { N = 2000 };
    ptx_memory *m;
    static uint64_t at[N], size[N];
    assert_int_equal(ptx_memory_create(&m, &(ptx_memory_options){ .capacity = 1 << 28 }), PTX_OK);
    srand(7);
    uint64_t used, capacity, wanted = 0;
    for (int round = 0; round < 3; round++) {
        wanted = 0;
        for (int k = 0; k < N; k++) {
            size[k] = 1 + (uint64_t)rand() % (k % 50 == 0 ? 200000 : 3000);
            ptx_allocation request = { .size = size[k], .owner = (uint64_t)k };
            assert_int_equal(ptx_memory_alloc(m, &request, k % 7 ? 1 : 4096, &at[k]), PTX_OK);
            assert_int_equal(at[k] % (k % 7 ? 256 : 4096), 0);
            wanted += size[k];
            uint8_t *host = ptx_memory_host(m, at[k], size[k]);
            assert_non_null(host);
            for (uint64_t b = 0; b < size[k]; b++)
                if (host[b]) fail_msg("byte %d of allocation %d is %d", (int)b, k, host[b]);
            memset(host, 0xa5, size[k]);
            assert_null(ptx_memory_host(m, at[k], size[k] + 1));
            assert_null(ptx_memory_host(m, at[k] - 1, 1));
        }
        ptx_memory_usage(m, &used, &capacity);
        assert_int_equal(used, wanted);
        for (int k = 0; k < N; k++) {
            ptx_allocation found;
            assert_true(ptx_memory_find(m, at[k] + size[k] / 2, &found));
            assert_int_equal(found.address, at[k]);
            assert_int_equal(found.owner, k);
            for (int j = 0; round == 0 && k < 100 && j < k; j++)
                assert_true(at[j] + size[j] <= at[k] || at[k] + size[k] <= at[j]);
        }
        for (int k = 0; k < N; k++) {
            int which = (k * 37) % N;
            assert_int_equal(ptx_memory_free(m, at[which]), PTX_FREED);
            assert_int_equal(ptx_memory_free(m, at[which]), PTX_FREE_TWICE);
        }
    }
    assert_int_equal(ptx_memory_free(m, at[5] + 1), PTX_FREE_UNKNOWN);
    assert_int_equal(ptx_memory_free(m, 8), PTX_FREE_UNKNOWN);
    ptx_memory_usage(m, &used, &capacity);
    assert_int_equal(used, 0);
    ptx_memory_destroy(m);
}

static void capacity_is_kept(void **state)
{
    (void)state;
    ptx_memory *m;
    uint64_t a, b;
    assert_int_equal(ptx_memory_create(&m, &(ptx_memory_options){ .capacity = 1 << 20 }), PTX_OK);
    ptx_allocation request = { .size = 800000 };
    assert_int_equal(ptx_memory_alloc(m, &request, 1, &a), PTX_OK);
    assert_int_equal(ptx_memory_alloc(m, &request, 1, &b), PTX_OUT_OF_MEMORY);
    assert_int_equal(b, 0);
    assert_int_equal(ptx_memory_free(m, a), PTX_FREED);
    /* Freed addresses are used again when there is no other room. */
    for (int k = 0; k < 2000; k++) {
        assert_int_equal(ptx_memory_alloc(m, &request, 1, &a), PTX_OK);
        assert_int_equal(ptx_memory_free(m, a), PTX_FREED);
    }
    request.size = 0;
    assert_int_equal(ptx_memory_alloc(m, &request, 1, &a), PTX_INVALID);
    request.size = 4;
    assert_int_equal(ptx_memory_alloc(m, &request, 300, &a), PTX_INVALID);
    request.size = UINT64_MAX;
    assert_int_equal(ptx_memory_alloc(m, &request, 1, &a), PTX_OUT_OF_MEMORY);
    ptx_memory_destroy(m);
}

static void poison(void **state)
{
    (void)state;
    ptx_memory *m;
    uint64_t a;
    ptx_memory_options options = { .poison = true, .poison_byte = 0xdb };
    assert_int_equal(ptx_memory_create(&m, &options), PTX_OK);
    ptx_allocation request = { .size = 100 };
    assert_int_equal(ptx_memory_alloc(m, &request, 1, &a), PTX_OK);
    const uint8_t *host = ptx_memory_host(m, a, 100);
    for (int k = 0; k < 100; k++) assert_int_equal(host[k], 0xdb);
    ptx_memory_destroy(m);
}

static bool count_one(void *user, const ptx_allocation *a)
{
    (void)a;
    ++*(int *)user;
    return true;
}

/* An emulator keeps a record of each page that is reserved. */
static const ptx_memory_options small = { .capacity = 1 << 20 };

static void registered_memory(void **state)
{
    (void)state;
    static uint8_t own[1000];
    ptx_memory *m;
    assert_int_equal(ptx_memory_create(&m, &small), PTX_OK);
    ptx_allocation request = { .size = sizeof own, .kind = PTX_MEMORY_HOST, .name = "own" };
    assert_int_equal(ptx_memory_register(m, own, &request), PTX_OK);
    assert_int_equal(ptx_memory_register(m, own + 500, &request), PTX_INVALID);
    assert_ptr_equal(ptx_memory_host(m, (uint64_t)(uintptr_t)own + 3, 5), own + 3);
    ptx_allocation found;
    assert_true(ptx_memory_find(m, (uint64_t)(uintptr_t)own + 999, &found));
    assert_string_equal(found.name, "own");
    int count = 0;
    ptx_memory_each(m, count_one, &count);
    assert_int_equal(count, 1);
    assert_false(ptx_memory_unregister(m, own + 1));
    assert_true(ptx_memory_unregister(m, own));
    assert_false(ptx_memory_find(m, (uint64_t)(uintptr_t)own, &found));
    ptx_memory_destroy(m);
}

/* ------------------------------------------------------------------ memory runs out */

/* Makes the n-th allocation fail, for every n, in all that leads to a launch and in the launch. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t length;
    char *text = rig_read_kernels("calls.ptx", &length);
    ptx_diags diags = { 0 };
    ptx_module *module;
    assert_int_equal(ptx_parse(&module, text, length, &diags), PTX_OK);
    free(text);
    long before = gpul__alloc_live();
    bool done = false;
    for (long n = 1; !done; n++) {
        ptx_memory *memory = NULL;
        ptx_engine *engine = NULL;
        ptx_program *program = NULL;
        ptx_diags found = { 0 };
        gpul__alloc_fail_at(n);
        bool ok = ptx_memory_create(&memory, &small) == PTX_OK;
        ok = ok &&
             ptx_engine_create(&engine, memory, &(ptx_engine_options){ .threads = 1 }) == PTX_OK;
        ok = ok && ptx_program_create(&program, engine, &module, 1, NULL, &found) == PTX_OK;
        uint64_t address = 0;
        ptx_allocation request = { .size = 256 };
        ok = ok && ptx_memory_alloc(memory, &request, 1, &address) == PTX_OK;
        if (ok) {
            ptx_report report;
            ptx_grid grid = { .grid = { 2, 1, 1 }, .block = { 32, 1, 1 } };
            ptx_launch_status status = ptx_launch(ptx_program_find_kernel(program, "recursive"),
                                                  &grid, &address, 8, &report);
            if (status == PTX_LAUNCH_FAULT) assert_int_equal(report.result, 2);
            else assert_true(status == PTX_LAUNCH_OK || status == PTX_LAUNCH_OUT_OF_MEMORY);
            ok = status == PTX_LAUNCH_OK;
            ptx_report_free(&report);
        }
        gpul__alloc_fail_at(0);
        done = ok;
        ptx_diags_free(&found);
        ptx_program_destroy(program);
        ptx_engine_destroy(engine);
        ptx_memory_destroy(memory);
        if (n > 100000) fail_msg("no end of allocations");
    }
    ptx_module_free(module);
    ptx_diags_free(&diags);
    /* Only the indices of the operation tables are kept. */
    assert_true(gpul__alloc_live() < before + 64);
}

static void rows_have_names_of_their_own(void **state)
{
    (void)state;
    for (const isa_variant *const *v = ptx_isa_variants; *v; v++) {
        const char *twice = ptx_op_duplicate(*v);
        if (twice) fail_msg("two rows for %s", twice);
    }
}

GPUL_TEST_MAIN("ptx-exec-heap", cmocka_unit_test(allocations_are_apart_and_zeroed),
               cmocka_unit_test(capacity_is_kept), cmocka_unit_test(poison),
               cmocka_unit_test(registered_memory), cmocka_unit_test(every_allocation_may_fail),
               cmocka_unit_test(rows_have_names_of_their_own));
