/* What invalid accesses are reported as.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <string.h>

RIG_TEST(past_the_end)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer p = rig_buffer(&r, 400);
    assert_int_equal(rig_launch(&r, "fill", 1, 128, PARAMS((struct {
                         uint64_t p;
                         int n;
                     }){ p.address, 100 })),
                     PTX_LAUNCH_FAULT);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    assert_int_equal(f->thread[0], 100);
    assert_int_equal(f->threads, 28);
    assert_int_equal(f->size, 4);
    assert_true(f->has_allocation);
    assert_int_equal(f->allocation.size, 400);
    assert_int_equal(f->offset, 400);
    assert_string_equal(f->file, "memory.cu");
    rig_expect_text(f->message,
                    "fill: thread (100,0,0) of block (0,0,0) writes 4 bytes at offset 400 of an "
                    "allocation of 400 bytes (0 bytes past its end), memory.cu line ");
    rig_expect_text(f->message, "st.global.u32 [%rd");
    rig_expect_text(f->message, "28 threads in all");
    for (int k = 0; k < 100; k++) assert_int_equal(((int *)p.host)[k], k);
    rig_run(&r, "fill", 1, 100, PARAMS((struct {
        uint64_t p;
        int n;
    }){ p.address, 100 }));
    rig_close(&r);
}

RIG_TEST(many_threads_do_the_same)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer p = rig_buffer(&r, 400);
    rig_launch(&r, "fill", 4, 128, PARAMS((struct {
        uint64_t p;
        int n;
    }){ p.address, 100 }));
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    assert_int_equal(f->block[0], 0);
    assert_int_equal(f->thread[0], 100);
    assert_int_equal(f->threads, 412);
    rig_close(&r);
}

/* Blocks of a warp that writes past the end of 400 bytes, all but the first three and a part of the fourth. */
static const ptx_finding *overrun(rig *r, uint32_t blocks)
{
    buffer p = rig_buffer(r, 400);
    assert_int_equal(rig_launch(r, "fill", blocks, 32, PARAMS((struct {
                                    uint64_t p;
                                    int n;
                                }){ p.address, 100 })),
                     PTX_LAUNCH_FAULT);
    return rig_expect_fault(r, PTX_FAULT_OUT_OF_BOUNDS, 700);
}

RIG_TEST(every_warp_faults)
{
    rig r = rig_open("memory.ptx", isa, threads);
    const ptx_finding *f = overrun(&r, 8000);
    assert_int_equal(f->threads, 32 * 8000 - 100);
    rig_expect_text(f->message, "; 255900 threads in all");
    assert_int_equal(f->block[0], 3);
    assert_int_equal(f->thread[0], 4);

    /* A launch of 64 million warps ends at once; the count says that it is a lower bound. */
    f = overrun(&r, 1 << 26);
    assert_true(f->threads >= 32 * 8192 && f->threads < 32 * 100000);
    rig_expect_text(f->message, "; at least ");
    assert_int_equal(f->block[0], 3);
    rig_close(&r);
}

static const ptx_finding *read_at(rig *r, uint64_t address, ptx_fault_kind kind)
{
    buffer out = rig_buffer(r, 4);
    assert_int_equal(rig_launch(r, "read_one", 1, 1,
                                PARAMS((struct { uint64_t p, out; }){ address, out.address })),
                     PTX_LAUNCH_FAULT);
    return rig_expect_fault(r, kind, 700);
}

RIG_TEST(addresses_that_are_none)
{
    rig r = rig_open("memory.ptx", isa, threads);
    int own = 5;
    rig_expect_text(read_at(&r, 0, PTX_FAULT_NULL)->message, "a null pointer");
    rig_expect_text(
        read_at(&r, (uint64_t)(uintptr_t)&own & ~(uint64_t)3, PTX_FAULT_HOST_ADDRESS)->message,
        "host memory");
    read_at(&r, (uint64_t)1 << 45, PTX_FAULT_OUT_OF_BOUNDS);
    read_at(&r, 0xfffffffffffffffcu, PTX_FAULT_OUT_OF_BOUNDS);
    buffer p = rig_buffer(&r, 64);
    read_at(&r, (uint64_t)(uintptr_t)p.host, PTX_FAULT_HOST_ADDRESS);
    const ptx_finding *f = read_at(&r, p.address - 4, PTX_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(f->offset, -4);
    assert_int_equal(ptx_memory_free(r.memory, p.address), PTX_FREED);
    f = read_at(&r, p.address + 8, PTX_FAULT_FREED);
    assert_int_equal(f->offset, 8);
    assert_true(f->allocation.freed);
    rig_close(&r);
}

RIG_TEST(registered_host_memory_can_be_used)
{
    static int own[8] = { 0, 0, 77 };
    rig r = rig_open("memory.ptx", isa, threads);
    buffer out = rig_buffer(&r, 4);
    ptx_allocation request = { .size = sizeof own, .kind = PTX_MEMORY_HOST };
    assert_int_equal(ptx_memory_register(r.memory, own, &request), PTX_OK);
    rig_run(&r, "read_one", 1, 1,
            PARAMS((struct { uint64_t p, out; }){ (uint64_t)(uintptr_t)&own[2], out.address }));
    assert_int_equal(*(int *)out.host, 77);
    assert_true(ptx_memory_unregister(r.memory, own));
    read_at(&r, (uint64_t)(uintptr_t)&own[2], PTX_FAULT_HOST_ADDRESS);
    rig_close(&r);
}

RIG_TEST(read_only_memory)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer p = rig_buffer(&r, 400);
    assert_true(ptx_memory_set_read_only(r.memory, p.address, true));
    rig_launch(&r, "fill", 1, 64, PARAMS((struct {
        uint64_t p;
        int n;
    }){ p.address, 64 }));
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_READ_ONLY, 700);
    assert_int_equal(f->threads, 64);
    assert_int_equal(((int *)p.host)[5], 0);
    ptx_global_info table;
    assert_true(ptx_program_find_global(r.program, "table", &table));
    rig_launch(&r, "fill", 1, 8, PARAMS((struct {
        uint64_t p;
        int n;
    }){ table.address, 8 }));
    rig_expect_text(rig_expect_fault(&r, PTX_FAULT_READ_ONLY, 700)->message, "'table'");
    rig_close(&r);
}

RIG_TEST(misaligned_addresses)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer p = rig_buffer(&r, 400), out = rig_buffer(&r, 128);
    rig_launch(&r, "misaligned", 1, 32,
               PARAMS((struct { uint64_t p, out; }){ p.address, out.address }));
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_MISALIGNED, 716);
    assert_int_equal(f->thread[0], 1);
    assert_int_equal(f->threads, 24);
    rig_launch(&r, "vector_misaligned", 1, 1,
               PARAMS((struct { uint64_t p, out; }){ p.address, out.address }));
    rig_expect_text(rig_expect_fault(&r, PTX_FAULT_MISALIGNED, 716)->message, "multiple of 16");
    rig_close(&r);
}

RIG_TEST(other_spaces)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer out = rig_buffer(&r, 128);
    struct {
        uint64_t p;
        int i;
    } p = { out.address, 0 };
    rig_run(&r, "shared_past", 1, 16, &p, 12);
    p.i = 4;
    rig_launch(&r, "shared_past", 1, 16, &p, 12);
    const ptx_finding *f = rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    assert_int_equal(f->space, PTX_SPACE_SHARED);
    assert_int_equal(f->thread[0], 12);
    assert_int_equal(f->threads, 4);
    rig_expect_text(f->message, "at offset 64 of its block's 64 bytes of shared memory");
    p.i = 7;
    rig_run(&r, "local_past", 1, 32, &p, 12);
    assert_int_equal(((int *)out.host)[3], 7);
    p.i = 1000;
    rig_launch(&r, "local_past", 1, 32, &p, 12);
    f = rig_expect_fault(&r, PTX_FAULT_OUT_OF_BOUNDS, 700);
    assert_int_equal(f->space, PTX_SPACE_LOCAL);
    rig_launch(&r, "shared_as_global", 1, 1, &p, 8);
    rig_expect_fault(&r, PTX_FAULT_ADDRESS_SPACE, 717);
    rig_close(&r);
}

RIG_TEST(invalid_launches)
{
    rig r = rig_open("memory.ptx", isa, threads);
    buffer p = rig_buffer(&r, 400);
    struct {
        uint64_t p;
        int n;
    } a = { p.address, 1 };
    static const uint32_t bad[][6] = { { 0, 1, 1, 1, 1, 1 },          { 1, 65536, 1, 1, 1, 1 },
                                       { 1, 1, 1, 0, 1, 1 },          { 1, 1, 1, 2048, 1, 1 },
                                       { 1, 1, 1, 1, 1, 65 },         { 1, 1, 1, 32, 33, 1 },
                                       { 0x80000000u, 1, 1, 1, 1, 1 } };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ptx_grid grid = { .grid = { bad[k][0], bad[k][1], bad[k][2] },
                          .block = { bad[k][3], bad[k][4], bad[k][5] } };
        assert_int_equal(rig_launch_grid(&r, "fill", grid, &a, 12), PTX_LAUNCH_INVALID);
        assert_int_equal(r.report.result, 1);
    }
    ptx_grid grid = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .dynamic_shared = 300000 };
    assert_int_equal(rig_launch_grid(&r, "fill", grid, &a, 12), PTX_LAUNCH_INVALID);
    ptx_report report;
    grid.dynamic_shared = 0;
    assert_int_equal(ptx_launch(ptx_program_find_kernel(r.program, "fill"), &grid, &a, 13, &report),
                     PTX_LAUNCH_INVALID);
    assert_int_equal(report.result, 701);
    rig_close(&r);
}

GPUL_TEST_MAIN("ptx-exec-faults", cmocka_unit_test(past_the_end),
               cmocka_unit_test(many_threads_do_the_same), cmocka_unit_test(every_warp_faults),
               cmocka_unit_test(addresses_that_are_none),
               cmocka_unit_test(registered_host_memory_can_be_used),
               cmocka_unit_test(read_only_memory), cmocka_unit_test(misaligned_addresses),
               cmocka_unit_test(other_spaces), cmocka_unit_test(invalid_launches));
