/* Geometry: every limit with its axis, value and remedy, before the driver is called; and what is said
 * when the driver refuses all the same.  SPDX-License-Identifier: MIT */
#include "suite.h"

#define TRY(...)                                                                                   \
    gpul_launch(kernel_of("scale"), gpul_launch_opts(__VA_ARGS__), gpul_args(gpul_null, 0, 2.0f))
#define TRY_ON(name, ...)                                                                          \
    gpul_launch(kernel_of(name), gpul_launch_opts(__VA_ARGS__), gpul_args(gpul_null))

/* A driver whose kernels have these attributes; the rest is the recording provider's. */
static gpul__driver changed;
static struct {
    int registers, max_threads, active_blocks;
    CUresult launch, attribute;
} says;

static CUresult get_attribute(int *value, CUfunction_attribute which, CUfunction function)
{
    if (which == CU_FUNC_ATTRIBUTE_NUM_REGS && says.registers) *value = says.registers;
    else if (which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK && says.max_threads)
        *value = says.max_threads;
    else return gpul__record_driver()->FuncGetAttribute(value, which, function);
    return CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction function, CUfunction_attribute which, int value)
{
    if (says.attribute) return says.attribute;
    return gpul__record_driver()->FuncSetAttribute(function, which, value);
}

static CUresult active_blocks(int *blocks, CUfunction function, int block, size_t shared)
{
    if (!says.active_blocks)
        return gpul__record_driver()->OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function,
                                                                                block, shared);
    *blocks = says.active_blocks;
    return CUDA_SUCCESS;
}

static CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, CUstream stream,
                              void **params, void **extra)
{
    if (says.launch) return says.launch;
    return gpul__record_driver()->LaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params,
                                               extra);
}

static CUresult launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    if (says.launch) return says.launch;
    return gpul__record_driver()->LaunchKernelEx(config, f, params, extra);
}

static int open_changed(void **state)
{
    memset(&says, 0, sizeof says);
    use_record(NULL);
    changed = *gpul__record_driver();
    changed.FuncGetAttribute = get_attribute;
    changed.FuncSetAttribute = set_attribute;
    changed.OccupancyMaxActiveBlocksPerMultiprocessor = active_blocks;
    changed.LaunchKernel = launch_kernel;
    changed.LaunchKernelEx = launch_ex;
    gpul__driver_override(&changed);
    assert_ok(gpul_open(&device, NULL));
    gpul_image *image = image_of(kernels_ptx);
    type_kernels(image);
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    (void)state;
    return 0;
}

static void zero_is_no_launch(void **state)
{
    (void)state;
    assert_code(TRY(.block = { 32 }), 704, "grid.x is 0", "'scale'", "round up");
    assert_code(TRY(.grid = { 1 }), 704, "block.x is 0");
    assert_code(TRY(.grid = { 0, 5 }, .block = { 32 }), 704, "grid.x is 0");
    assert_code(gpul_launch(kernel_of("scale"), NULL, gpul_args(gpul_null, 0, 2.0f)), 704,
                "the launch breaks several limits", "grid.x is 0", "block.x is 0");
    assert_int_equal(gpul_last_error()->detail_count, 2);
    assert_int_equal(gpul__record_launches(), 0);
}

static void each_axis_has_its_limit(void **state)
{
    (void)state;
    assert_code(TRY(.grid = { 1, 65536 }, .block = { 1 }), 705, "grid.y is 65536", "65535",
                "put the long dimension on x");
    assert_code(TRY(.grid = { 1, 1, 65536 }, .block = { 1 }), 705, "grid.z is 65536", "65535");
    assert_code(TRY(.grid = { 2147483648u }, .block = { 1 }), 705, "grid.x is 2147483648",
                "2147483647");
    assert_code(TRY(.grid = { (uint64_t)1 << 32 }, .block = { 1 }), 705, "4294967296");
    assert_code(TRY(.grid = { UINT64_MAX }, .block = { 1 }), 705, "18446744073709551615");
    assert_code(TRY(.grid = { 1 }, .block = { 1025 }), 705, "block.x is 1025", "1024");
    assert_code(TRY(.grid = { 1 }, .block = { 1, 1, 65 }), 705, "block.z is 65", "64");
    assert_code(TRY(.grid = { 1 }, .block = { 32, 33 }), 705, "32x33x1", "1056", "1024");
    assert_code(TRY(.grid = { 1 }, .block = { (uint64_t)1 << 40, 1, 1 }), 705, "1099511627776");
    assert_code(TRY(.grid = { 1, 70000, 70000 }, .block = { 1, 1, 65 }, .shared = 300000), 705,
                "grid.y is 70000", "grid.z is 70000", "block.z is 65", "300000");
    assert_int_equal(gpul_last_error()->detail_count, 4);
    assert_int_equal(gpul__record_launches(), 0);
    assert_ok(TRY(.grid = { 70000 }, .block = { 1 }));
    assert_ok(TRY(.grid = { 1, 65535 }, .block = { 1 }));
    assert_ok(TRY(.grid = { 2147483647, 1, 65535 }, .block = { 1, 1, 64 }));
    const gpul__record_launch *l = gpul__record_launch_at(-1);
    assert_int_equal(l->grid[0], 2147483647);
    assert_int_equal(l->grid[1], 1);
    assert_int_equal(l->grid[2], 65535);
    assert_int_equal(l->block[2], 64);
    assert_ok(TRY(.grid = { 3 }, .block = { 1024 }));
    assert_int_equal(gpul__record_launch_at(-1)->block[0], 1024);
}

/* 96 registers: the driver lets 640 threads run, and 672 not, though 96 * 672 is below 65,536. */
static void registers_times_threads(void **state)
{
    (void)state;
    says.registers = 96;
    says.max_threads = 640;
    assert_code(TRY(.grid = { 1 }, .block = { 1024 }), 706, "'scale' uses 96 registers", "98304",
                "65536", "640 threads", "__launch_bounds__(1024)", "max_registers = 64");
    assert_code(TRY(.grid = { 1 }, .block = { 672 }), 706, "640 threads");
    assert_ok(TRY(.grid = { 1 }, .block = { 640 }));
    assert_int_equal(gpul_kernel_describe(kernel_of("scale"))->registers, 96);
}

/* Few registers and a low figure of the driver's: the registers are not blamed. */
static void registers_are_not_blamed_for_nothing(void **state)
{
    (void)state;
    says.registers = 16;
    says.max_threads = 512;
    assert_code(TRY(.grid = { 1 }, .block = { 1024 }), 709, "512 threads");
    assert_null(strstr(gpul_last_error()->message, "registers"));
}

static void launch_bounds_are_kept(void **state)
{
    (void)state;
    assert_code(TRY_ON("bounded", .grid = { 1 }, .block = { 512 }), 709, "at most 256 threads",
                "512", "__launch_bounds__");
    assert_ok(TRY_ON("bounded", .grid = { 1 }, .block = { 16, 16 }));
    assert_code(TRY_ON("exact", .grid = { 1 }, .block = { 64 }), 709, "exactly 8x4x2", "64x1x1",
                ".block = {8, 4, 2}");
    assert_ok(TRY_ON("exact", .grid = { 1 }, .block = { 8, 4, 2 }));
}

static void shared_memory_opts_in_once(void **state)
{
    (void)state;
    const gpul__driver *record = gpul__record_driver();
    CUfunction function = gpul_kernel_handle(kernel_of("scale"));
    int cap = 0;
    assert_ok(TRY(.grid = { 1 }, .block = { 1 }, .shared = 49152));
    record->FuncGetAttribute(&cap, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function);
    assert_int_equal(cap, 49152);
    assert_ok(TRY(.grid = { 1 }, .block = { 1 }, .shared = 49153));
    record->FuncGetAttribute(&cap, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function);
    assert_int_equal(cap, 232448);
    says.attribute = CUDA_ERROR_UNKNOWN; /* it is not asked for a second time */
    assert_ok(TRY(.grid = { 1 }, .block = { 1 }, .shared = 232448));
    assert_int_equal(gpul__record_launch_at(-1)->shared, 232448);
    assert_code(TRY(.grid = { 1 }, .block = { 1 }, .shared = 232449), 707, "232449", "232448");
    assert_code(TRY(.grid = { 1 }, .block = { 1 }, .shared = SIZE_MAX), 707,
                "18446744073709551615");
    assert_code(TRY_ON("bounded", .grid = { 1 }, .block = { 1 }, .shared = 65536), 707, "opt-in",
                "CUDA_ERROR_UNKNOWN");
}

static void dynamic_shared_memory_must_be_given(void **state)
{
    (void)state;
    assert_code(TRY_ON("dynamic", .grid = { 1 }, .block = { 32 }), 707, "dynamic shared memory",
                ".shared is 0", "bytes");
    assert_ok(TRY_ON("dynamic", .grid = { 1 }, .block = { 32 }, .shared = 128));
}

static void cooperative_grids_fit_the_device(void **state)
{
    (void)state;
    says.active_blocks = 2;
    uint64_t most = 0;
    const gpul_kernel *scale = kernel_of("scale");
    assert_ok(gpul_kernel_max_cooperative(&most, scale, gpul_launch_opts(.block = { 256 })));
    assert_int_equal(most, 2 * 132);
    assert_ok(TRY(.grid = { 8, 33 }, .block = { 256 }, .cooperative = true));
    const gpul__record_launch *l = gpul__record_launch_at(-1);
    assert_true(l->cooperative);
    assert_int_equal(l->attribute_count, 1);
    assert_true(l->extra);
    assert_int_equal(l->size, 16);
    assert_code(TRY(.grid = { 265 }, .block = { 256 }, .cooperative = true), 710, "265 blocks",
                "at most 264", "use at most 264 blocks");
    assert_code(TRY(.grid = { 2147483647, 65535, 65535 }, .block = { 256 }, .cooperative = true),
                710, "at most 264");
    /* The answer is kept for the same block and memory, and asked again for another. */
    says.active_blocks = 1;
    assert_ok(TRY(.grid = { 264 }, .block = { 256 }, .cooperative = true));
    assert_code(TRY(.grid = { 264 }, .block = { 512 }, .cooperative = true), 710, "at most 132");
    assert_code(gpul_kernel_max_cooperative(&most, scale, gpul_launch_opts(.block = { 4096 })), 705,
                "4096");
    assert_int_equal(most, 0);
}

/* Launched plainly it would trap, and the context be lost. */
static void grid_synchronisation_wants_a_cooperative_launch(void **state)
{
    (void)state;
    assert_true(gpul_kernel_describe(kernel_of("grids"))->uses_grid_sync);
    assert_code(TRY_ON("grids", .grid = { 2 }, .block = { 32 }), 710, "'grids' synchronises",
                "not cooperative", ".cooperative = true");
    assert_ok(TRY_ON("grids", .grid = { 2 }, .block = { 32 }, .cooperative = true));
    uint64_t most = 0;
    assert_ok(
        gpul_kernel_max_cooperative(&most, kernel_of("grids"), gpul_launch_opts(.block = { 32 })));
    assert_true(most >= 132);
}

static void cooperative_without_the_newer_entry(void **state)
{
    (void)state;
    changed.LaunchKernelEx = NULL;
    assert_ok(TRY(.grid = { 2 }, .block = { 64 }, .cooperative = true));
    const gpul__record_launch *l = gpul__record_launch_at(-1);
    assert_true(l->cooperative);
    assert_false(l->extra);
    float by;
    assert_int_equal(l->signature_size, 16);
    memcpy(&by, l->bytes + 12, sizeof by);
    assert_true(by == 2.0f);
    assert_code(TRY(.grid = { 2 }, .block = { 64 }, .cluster = { 2 }), 715, "11.8");
}

static void clusters_divide_the_grid(void **state)
{
    (void)state;
    assert_ok(TRY(.grid = { 4, 2 }, .block = { 32 }, .cluster = { 2, 2 }));
    const gpul__record_launch *l = gpul__record_launch_at(-1);
    assert_int_equal(l->cluster[0], 2);
    assert_int_equal(l->cluster[1], 2);
    assert_int_equal(l->cluster[2], 1);
    assert_code(TRY(.grid = { 3 }, .block = { 32 }, .cluster = { 2 }), 711, "grid.x is 3",
                "2 blocks", "make grid.x 4");
    assert_code(TRY(.grid = { 32 }, .block = { 32 }, .cluster = { 32 }), 711, "larger than 16");
    assert_code(
        TRY(.grid = { 4294967296 }, .block = { 32 }, .cluster = { 4294967295u, 4294967295u }), 705,
        "grid.x");
    assert_ok(TRY(.grid = { 16 }, .block = { 32 }, .cluster = { 16 }));
    /* A size that is compiled in. */
    assert_ok(TRY_ON("paired", .grid = { 4 }, .block = { 32 }));
    assert_code(TRY_ON("paired", .grid = { 3 }, .block = { 32 }), 711, "grid.x is 3", "2 blocks");
    assert_code(TRY_ON("paired", .grid = { 4 }, .block = { 32 }, .cluster = { 4 }), 711, "2x1x1",
                "4x1x1");
    assert_ok(TRY_ON("paired", .grid = { 4 }, .block = { 32 }, .cluster = { 2 }));
}

static void devices_without_the_features(void **state)
{
    (void)state;
    gpul_module_free(&module);
    gpul_device_free(&device);
    gpul__record_set_attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0);
    gpul__record_set_attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0);
    assert_ok(gpul_open(&device, NULL));
    gpul_image *image = image_of(kernels_ptx);
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    assert_code(TRY(.grid = { 2 }, .block = { 32 }, .cluster = { 2 }), 715, "9.0");
    assert_code(TRY(.grid = { 2 }, .block = { 32 }, .cooperative = true), 715, "cooperatively");
    uint64_t most;
    assert_code(
        gpul_kernel_max_cooperative(&most, kernel_of("scale"), gpul_launch_opts(.block = { 32 })),
        715, "cooperatively");
}

/* After a refusal: the limit that was broken, or what was checked; never a limit that was kept. */
static void refusals_are_analysed(void **state)
{
    (void)state;
    const gpul_launch_opts *one = gpul_launch_opts(.grid = { 4 }, .block = { 256 });
    const gpul_kernel *scale = kernel_of("scale");
    says.launch = CUDA_ERROR_INVALID_VALUE;
    assert_code(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)), 714,
                "the launch of 'scale' is refused", "checked: grid 4x1x1",
                "256 of at most 1024 threads", "16 parameter bytes");
    const gpul_error *e = gpul_last_error();
    assert_string_equal(e->call, "cuLaunchKernel");
    assert_int_equal(e->native, 1);
    assert_string_equal(e->native_name, "CUDA_ERROR_INVALID_VALUE");
    assert_non_null(strstr(e->caller_file, "test_geometry.c"));
    says.launch = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    assert_code(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)), 714, "stacks");
    /* Somebody else lowered a limit through the handle. */
    says.max_threads = 128;
    assert_code(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)), 709, "now 128 threads",
                "256");
    says.max_threads = 0;
    says.launch = CUDA_ERROR_NOT_SUPPORTED;
    assert_code(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)), 715, "scale");
    says.launch = CUDA_ERROR_INVALID_HANDLE;
    assert_code(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)), 714, "stream");
    says.launch = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    says.active_blocks = 3;
    assert_code(TRY(.grid = { 9 }, .block = { 64 }, .cooperative = true), 710, "at most 396");
    assert_string_equal(gpul_last_error()->call, "cuLaunchKernelEx");
    says.launch = CUDA_ERROR_INVALID_CLUSTER_SIZE;
    assert_code(TRY(.grid = { 16 }, .block = { 64 }, .cluster = { 16 }), 711, "16x1x1");
    says.launch = CUDA_ERROR_INVALID_CONTEXT;
    assert_code(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)), 1007, "context");
    says.launch = CUDA_SUCCESS;
    assert_ok(gpul_launch(scale, one, gpul_args(gpul_null, 0, 2.0f)));
}

static void occupancy_takes_what_the_kernel_takes(void **state)
{
    (void)state;
    const gpul_kernel *bounded = kernel_of("bounded");
    int out = -1;
    assert_ok(gpul_kernel_occupancy(&out, bounded, 256, 0));
    assert_true(out >= 1);
    assert_code(gpul_kernel_occupancy(&out, bounded, 0, 0), 705, "0 threads");
    assert_code(gpul_kernel_occupancy(&out, bounded, 257, 0), 705, "257");
    assert_code(gpul_kernel_occupancy(&out, bounded, 32, 300000), 707, "300000");
    assert_ok(gpul_kernel_suggest_block(&out, bounded, 0));
    assert_true(out >= 1 && out <= 256);
    assert_code(gpul_kernel_suggest_block(&out, bounded, 300000), 707, "300000");
    assert_code(gpul_kernel_occupancy(NULL, bounded, 32, 0), 314, "out");
    assert_code(gpul_kernel_suggest_block(&out, NULL, 0), 314, "kernel");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_changed, close_all)
    const struct CMUnitTest tests[] = {
        TEST(zero_is_no_launch),
        TEST(each_axis_has_its_limit),
        TEST(registers_times_threads),
        TEST(registers_are_not_blamed_for_nothing),
        TEST(launch_bounds_are_kept),
        TEST(shared_memory_opts_in_once),
        TEST(dynamic_shared_memory_must_be_given),
        TEST(cooperative_grids_fit_the_device),
        TEST(grid_synchronisation_wants_a_cooperative_launch),
        TEST(cooperative_without_the_newer_entry),
        TEST(clusters_divide_the_grid),
        TEST(devices_without_the_features),
        TEST(refusals_are_analysed),
        TEST(occupancy_takes_what_the_kernel_takes),
    };
    return gpul_run_tests("core geometry", tests, NULL, NULL);
}
