/* Memory kinds over the recording provider: what reaches the driver, what an older driver lacks, and what
 * is given back.  SPDX-License-Identifier: MIT */
#include "suite.h"

static gpul_buffer *kind_of(gpul_memory memory, size_t size)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, size, gpul_alloc_opts(.memory = memory)));
    return buffer;
}

static void each_kind_is_given_back(void **state)
{
    (void)state;
    gpul__record_counts before = gpul__record_live();
    static char memory[4096];
    gpul_buffer *all[8];
    for (int kind = 0; kind <= GPUL_MEMORY_GROWING; kind++)
        all[kind] = kind_of((gpul_memory)kind, 1000);
    assert_ok(gpul_register(&all[5], device, memory, sizeof memory, NULL));
    assert_ok(gpul_wrap(&all[6], device, gpul_buffer_address(all[0]), 1000, NULL));
    gpul_shared shared;
    assert_ok(gpul_buffer_share(&shared, all[0]));
    assert_int_equal(shared.offset, 0);
    assert_ok(gpul_open_shared(&all[7], device, &shared, NULL));
    assert_int_equal(gpul_buffer_address(all[7]), gpul_buffer_address(all[0]));
    gpul__record_counts now = gpul__record_live();
    assert_int_equal(now.host_allocations, before.host_allocations + 1);
    assert_int_equal(now.registrations, before.registrations + 1);
    assert_int_equal(now.reservations, before.reservations + 1);
    assert_int_equal(now.handles, before.handles); /* the mapping keeps the memory */
    for (int i = 7; i >= 0; i--) {
        assert_int_equal(gpul_buffer_memory(all[i]), i);
        gpul_buffer_free(&all[i]);
    }
    now = gpul__record_live();
    assert_int_equal(now.allocations, 0);
    assert_int_equal(now.host_allocations + now.registrations + now.reservations + now.handles, 0);
}

static void a_view_of_another_process_is_a_view(void **state)
{
    (void)state;
    gpul_buffer *owner = kind_of(GPUL_MEMORY_DEVICE, 1000), *view, *theirs;
    gpul_shared shared;
    assert_ok(gpul_write(owner, 600, "word", 4, NULL));
    assert_ok(gpul_view(&view, owner, 600, 4));
    assert_ok(gpul_buffer_share(&shared, view));
    assert_int_equal(shared.offset, 600);
    assert_int_equal(shared.size, 4);
    assert_ok(gpul_open_shared(&theirs, device, &shared, gpul_alloc_opts(.name = "theirs")));
    char got[4];
    assert_ok(gpul_read(got, theirs, 0, 4, NULL));
    assert_memory_equal(got, "word", 4);
    assert_code(gpul_read(got, theirs, 1, 4, NULL), 810, "theirs");
    shared.offset = UINT64_MAX - 2;
    gpul_buffer *none = (gpul_buffer *)1;
    assert_code(gpul_open_shared(&none, device, &shared, NULL), 810, "no range");
    assert_null(none);
    gpul_buffer_free(&theirs);
    gpul_buffer_free(&view);
    gpul_buffer_free(&owner);
}

static void growing_maps_whole_units(void **state)
{
    (void)state;
    gpul_buffer *buffer;
    const size_t unit = 2 << 20;
    assert_ok(gpul_alloc(&buffer, device, 100,
                         gpul_alloc_opts(.memory = GPUL_MEMORY_GROWING, .reserve = 5 * unit + 1)));
    uint64_t address = gpul_buffer_address(buffer);
    memset((void *)(uintptr_t)address, 7, unit); /* the whole unit is there */
    assert_ok(gpul_buffer_grow(buffer, 200));
    assert_ok(gpul_buffer_grow(buffer, unit + 1));
    memset((void *)(uintptr_t)(address + unit), 8, unit);
    assert_int_equal(gpul_buffer_size(buffer), unit + 1);
    assert_ok(gpul_buffer_grow(buffer, 6 * unit)); /* reserved are whole units too */
    assert_code(gpul_buffer_grow(buffer, 6 * unit + 1), 810, "12582912 at most");
    gpul_buffer_free(&buffer);
    assert_code(
        gpul_alloc(&buffer, device, SIZE_MAX - 5, gpul_alloc_opts(.memory = GPUL_MEMORY_GROWING)),
        804, "asked for");
    assert_null(buffer);
}

/* An entry that an older driver lacks is named. */
static void older_drivers_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *symbol;
        gpul_memory memory;
    } rows[] = { { "cuMemAllocManaged", GPUL_MEMORY_MANAGED },
                 { "cuMemHostAlloc", GPUL_MEMORY_PINNED },
                 { "cuMemHostGetDevicePointer_v2", GPUL_MEMORY_PINNED },
                 { "cuMemAllocAsync", GPUL_MEMORY_POOL },
                 { "cuMemGetAllocationGranularity", GPUL_MEMORY_GROWING },
                 { "cuMemAddressReserve", GPUL_MEMORY_GROWING },
                 { "cuMemCreate", GPUL_MEMORY_GROWING },
                 { "cuMemMap", GPUL_MEMORY_GROWING },
                 { "cuMemSetAccess", GPUL_MEMORY_GROWING } };
    gpul_module_free(&module);
    gpul_device_free(&device);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    assert_ok(gpul_open(&device, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gpul_buffer *buffer = (gpul_buffer *)1;
        gpul__fault_without(NULL);
        gpul__fault_without(rows[i].symbol);
        char entry[64];
        snprintf(entry, sizeof entry, "%.*s", (int)strcspn(rows[i].symbol, "_"), rows[i].symbol);
        assert_code(gpul_alloc(&buffer, device, 64, gpul_alloc_opts(.memory = rows[i].memory)), 820,
                    "CUDA 13.0", entry);
        assert_string_equal(gpul_last_error()->call, entry);
        assert_null(buffer);
    }
    /* The older forms of advice and prefetching do as well. */
    gpul__fault_without(NULL);
    gpul__fault_without("cuMemAdvise_v2");
    gpul_buffer *managed = kind_of(GPUL_MEMORY_MANAGED, 64);
    assert_ok(gpul_advise(managed, 0, 64, GPUL_ADVICE_PREFERRED, NULL));
    gpul__fault_without("cuMemPrefetchAsync_v2");
    assert_ok(gpul_prefetch(managed, 0, 64, device, NULL));
    gpul__fault_without("cuMemPoolTrimTo");
    gpul_pool *pool;
    assert_ok(gpul_pool_new(&pool, device, NULL));
    assert_code(gpul_pool_trim(pool, 0), 820, "cuMemPoolTrimTo");
    gpul_pool_free(&pool);
    gpul_buffer_free(&managed);
    gpul__fault_without(NULL);
}

GPUL_TEST_MAIN("core kinds",
               cmocka_unit_test_setup_teardown(each_kind_is_given_back, open_all, close_all),
               cmocka_unit_test_setup_teardown(a_view_of_another_process_is_a_view, open_all,
                                               close_all),
               cmocka_unit_test_setup_teardown(growing_maps_whole_units, open_all, close_all),
               cmocka_unit_test_setup_teardown(older_drivers_are_named, open_all, close_all));
