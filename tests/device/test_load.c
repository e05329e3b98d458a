/* Loading: PTX through the JIT with its options and logs, CUBIN, compiled sources, kernels and
 * variables by name, and images that do not load.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <time.h>

static void jit_options_and_logs(void **state)
{
    (void)state;
    gpul_image *image;
    gpul_module *module;
    assert_ok(gpul_image_from_file(&image, "ptx/kernels/matmul.ptx"));
    /* What the driver finds in its own cache has no log: this text is new to it each time. */
    const gpul_image_info *plain = gpul_image_describe(image);
    char *text = malloc(plain->ptx_size + 64);
    assert_non_null(text);
    int length = snprintf(text, plain->ptx_size + 64, "%s\n// %lld %p\n", (const char *)plain->ptx,
                          (long long)time(NULL), (void *)text);
    gpul_image_free(&image);
    assert_ok(gpul_image_from_memory(&image, text, (size_t)length, "matmul.ptx"));
    free(text);
    assert_ok(gpul_load(&module, device, image,
                        gpul_load_opts(.level = GPUL_JIT_O3, .max_registers = 64, .line_info = true,
                                       .verbose = true)));
    const gpul_module_info *info = gpul_module_describe(module);
    assert_int_equal(info->format, GPUL_IMAGE_PTX);
    /* compute-sanitizer keeps the JIT's log to itself (13.0, H200). */
    if (getenv("GPULAUNCH_SANITIZED") && !*info->info_log)
        print_message("note: the JIT's verbose log is empty under the sanitizer\n");
    else assert_non_null(strstr(info->info_log, "matmul_tiled"));
    assert_true(info->load_ns > 0);
    const gpul_kernel_info *k = gpul_kernel_describe(kernel_of(module, "matmul_tiled"));
    assert_true(k->registers > 0 && k->registers <= 64);
    assert_int_equal(k->shared_bytes, 2 * 16 * 16 * 4);
    assert_int_equal(k->param_count, 6);
    assert_true(k->max_threads >= 256);
    assert_true(k->uses_y);
    assert_false(k->uses_z);
    gpul_module_free(&module);
    assert_code(gpul_load(&module, device, image, gpul_load_opts(.max_registers = 100000)), 613,
                "100000");
    gpul_image_free(&image);
}

static void broken_ptx_says_where(void **state)
{
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k()\n{\n    rotate.b32 %r1, %r2;\n    ret;\n}\n";
    gpul_image *image;
    gpul_module *module = (gpul_module *)1;
    assert_ok(gpul_image_from_memory(&image, text, sizeof text - 1, "broken.ptx"));
    gpul_status status = gpul_load(&module, device, image, NULL);
    assert_int_equal(status, GPUL_E_IMAGE);
    assert_null(module);
    assert_int_equal(gpul_last_error()->native, 218);
    assert_true(said("rotate"));
    assert_true(said("6") || gpul_last_error()->details[0].line == 6);
    gpul_image_free(&image);
}

static void ptx_that_is_too_new(void **state)
{
    (void)state;
    static const char text[] = ".version 9.9\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k()\n{\n    ret;\n}\n";
    gpul_image *image;
    gpul_module *module;
    assert_ok(gpul_image_from_memory(&image, text, sizeof text - 1, "new.ptx"));
    assert_code(gpul_load(&module, device, image, NULL), 602, "9.9");
    gpul_image_free(&image);
    static const char higher[] = ".version 9.0\n.target sm_121\n.address_size 64\n"
                                 ".visible .entry k()\n{\n    ret;\n}\n";
    assert_ok(gpul_image_from_memory(&image, higher, sizeof higher - 1, "higher.ptx"));
    assert_code(gpul_load(&module, device, image, NULL), 603, "sm_121");
    gpul_image_free(&image);
}

static void names_are_found_and_suggested(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("poly");
    const gpul_kernel *kernel = NULL;
    assert_ok(gpul_module_kernel(&kernel, module, "demo::poly<float, 3>"));
    assert_ok(gpul_module_kernel(&kernel, module, "demo::poly<double,1>"));
    assert_ok(gpul_module_kernel(&kernel, module, "_ZN4demo4polyIfLi3EEEvPT_PKS1_i"));
    assert_code(gpul_module_kernel(&kernel, module, "demo::pole<float, 3>"), 608,
                "demo::poly<float");
    assert_null(kernel);
    gpul_module_free(&module);
    module = load_kernels("matmul");
    assert_code(gpul_module_kernel(&kernel, module, "matmul_tilde"), 608, "matmul_tiled");
    assert_code(gpul_module_kernel(&kernel, module, NULL), 701, "matmul_naive");
    gpul_module_free(&module);
}

static void variables_by_name(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("globals");
    uint64_t address;
    size_t size;
    assert_ok(gpul_module_global(&address, &size, module, "table"));
    assert_int_equal(size, 16);
    assert_ok(gpul_module_global(&address, &size, module, "app::counter"));
    assert_int_equal(size, 4);
    int counter = 100;
    float table[4] = { 5, 6, 7, 8 }, got[5];
    assert_ok(gpul_global_write(module, "app::counter", 0, &counter, sizeof counter));
    assert_ok(gpul_global_write(module, "table", 0, table, sizeof table));
    gpul_buffer *out = buffer_of(sizeof got, NULL);
    assert_ok(gpul_launch(kernel_of(module, "use_globals"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 32 }), gpul_args(out)));
    assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
    assert_true(got[0] == 5 && got[3] == 8 && got[4] == 100);
    assert_ok(gpul_global_read(&counter, module, "app::counter", 0, sizeof counter));
    assert_int_equal(counter, 105);
    assert_code(gpul_global_write(module, "table", 8, table, sizeof table), 611, "16");
    assert_code(gpul_module_global(&address, &size, module, "tabel"), 610, "table");
    gpul_buffer_free(&out);
    gpul_module_free(&module);
}

static void a_source_is_compiled_for_the_device(void **state)
{
    (void)state;
    if (!have_nvrtc()) {
        skip_because("no NVRTC");
    }
    gpul_image *image;
    gpul_module *module;
    assert_ok(gpul_compile_file(&image, "ptx/kernels/vector_add.cu",
                                gpul_compile_opts(.device = device, .line_info = true)));
    assert_non_null(gpul_image_describe(image)->ptx);
    assert_int_equal(gpul_image_kernel_count(image), 2);
    const gpul_kernel_info *k = gpul_image_kernel(image, 0);
    assert_string_equal(k->name, "vector_add");
    assert_int_equal(k->types, GPUL_TYPES_COMPILER);
    assert_string_equal(k->params[0].value.name, "a");
    assert_true(k->params[0].is_const && k->params[0].is_pointer);
    assert_int_equal(k->params[0].pointee->type, GPUL_F32);
    assert_false(k->params[2].is_const);
    assert_ok(gpul_load(&module, device, image, NULL));
    enum { N = 1000 };
    float a[N], b[N], c[N];
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = (float)(3 * i);
    gpul_buffer *da = buffer_of(sizeof a, a), *db = buffer_of(sizeof b, b),
                *dc = buffer_of(sizeof c, NULL);
    const gpul_kernel *add = kernel_of(module, "vector_add");
    const gpul_launch_opts *geometry = gpul_launch_opts(.grid = { 4 }, .block = { 256 });
    assert_ok(gpul_launch(add, geometry, gpul_args(gpul_in(da), gpul_in(db), dc, (int)N)));
    assert_ok(gpul_read(c, dc, 0, sizeof c, NULL));
    for (int i = 0; i < N; i++) assert_true(c[i] == (float)(4 * i));
    /* A read-only buffer cannot be the output, and the count is an int. */
    assert_code(
        gpul_launch(add, geometry, gpul_args(gpul_in(da), gpul_in(db), gpul_in(dc), (int)N)), 311,
        "c");
    assert_code(gpul_launch(add, geometry, gpul_args(gpul_in(da), gpul_in(db), dc, 1000.0f)), 304,
                "n");
    /* Buffers that say what they hold are compared with the pointee. */
    gpul_buffer *wrong;
    assert_ok(gpul_alloc(&wrong, device, sizeof a, gpul_alloc_opts(.type = GPUL_F64)));
    assert_code(gpul_launch(add, geometry, gpul_args(gpul_in(wrong), gpul_in(db), dc, (int)N)), 312,
                "double");
    gpul_buffer_free(&wrong);
    gpul_buffer_free(&da);
    gpul_buffer_free(&db);
    gpul_buffer_free(&dc);
    gpul_module_free(&module);
    gpul_image_free(&image);
}

/* Several architectures in one image: the device's own machine code, another's, and PTX. */
static void a_fatbin_is_loaded(void **state)
{
    (void)state;
    static const char text[] = "extern \"C\" __global__ void k(int *out) { *out = 7; }";
    const gpul_device_info *info = gpul_device_describe(device);
    char own[16], ptx[16];
    if (!have_nvrtc()) skip_because("no NVRTC here");
    snprintf(own, sizeof own, "sm_%d%d", info->compute_major, info->compute_minor);
    snprintf(ptx, sizeof ptx, "compute_%d%d", info->compute_major, info->compute_minor);
    const char *const lists[2][4] = { { "sm_75", own, ptx }, { "sm_75", ptx } };
    for (int i = 0; i < 2; i++) {
        gpul_image *image;
        gpul_module *module;
        int got = 0;
        assert_ok(gpul_compile_fatbin(&image, text, GPUL_TEXT, lists[i], NULL));
        assert_ok(gpul_load(&module, device, image, NULL));
        gpul_image_free(&image);
        gpul_buffer *out = buffer_of(sizeof got, &got);
        assert_ok(gpul_launch(kernel_of(module, "k"),
                              gpul_launch_opts(.grid = { 1 }, .block = { 1 }), gpul_args(out)));
        assert_ok(gpul_read(&got, out, 0, sizeof got, NULL));
        assert_int_equal(got, 7);
        gpul_buffer_free(&out);
        gpul_module_free(&module);
    }
}

static void the_device_describes_itself(void **state)
{
    (void)state;
    const gpul_device_info *info = gpul_device_describe(device);
    assert_true(info->name[0] != 0);
    assert_true(info->compute_major >= 5);
    assert_int_equal(info->warp_size, 32);
    assert_int_equal(info->max_threads_per_block, 1024);
    assert_int_equal(info->max_block[2], 64);
    assert_true(info->max_grid[0] == 2147483647 && info->max_grid[1] == 65535);
    assert_true(info->multiprocessors > 0 && info->memory_total > 0);
    gpul_device_info again;
    assert_ok(gpul_device_query(&again, NULL));
    assert_string_equal(again.name, info->name);
    assert_ok(gpul_device_query(&again, info->uuid));
    assert_string_equal(again.uuid, info->uuid);
    int count = 0;
    assert_ok(gpul_device_count(&count, NULL));
    assert_true(count >= 1);
    assert_non_null(gpul_device_context(device));
    assert_code(gpul_device_query(&again, "cuda:x"), 1006, "cuda:x");
}

static void occupancy_is_told(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("matmul");
    int blocks = 0, threads = 0;
    assert_ok(gpul_kernel_occupancy(&blocks, kernel_of(module, "matmul_tiled"), 256, 0));
    assert_true(blocks >= 1);
    assert_ok(gpul_kernel_suggest_block(&threads, kernel_of(module, "matmul_tiled"), 0));
    assert_true(threads >= 32 && threads <= 1024);
    gpul_module_free(&module);
}

/* On a GPU the second load gets the machine code that the JIT made for the first; the CPU device has none to keep. */
static void jit_results_are_kept(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpulaunch-keep-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("GPULAUNCH_CACHE_DIR", folder, 1);
    gpul_image *ptx;
    assert_ok(gpul_image_from_file(&ptx, "ptx/kernels/scale.ptx"));
    for (int i = 0; i < 2; i++) {
        gpul_module *module;
        float ones[4] = { 1, 1, 1, 1 };
        assert_ok(gpul_load(&module, device, ptx, gpul_load_opts(.keep = true)));
        const gpul_module_info *info = gpul_module_describe(module);
        if (gpul_device_describe(device)->backend == GPUL_BACKEND_CUDA)
            assert_non_null(strstr(info->choice, i ? "from the cache" : "now in the cache"));
        gpul_buffer *data = buffer_of(sizeof ones, ones);
        assert_ok(gpul_launch(kernel_of(module, "scale"),
                              gpul_launch_opts(.grid = { 1 }, .block = { 4 }),
                              gpul_args(data, 4, 3.0f)));
        assert_ok(gpul_read(ones, data, 0, sizeof ones, NULL));
        assert_true(ones[3] == 3.0f);
        gpul_buffer_free(&data);
        gpul_module_free(&module);
    }
    gpul_image_free(&ptx);
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jit_options_and_logs),
        cmocka_unit_test(broken_ptx_says_where),
        cmocka_unit_test(ptx_that_is_too_new),
        cmocka_unit_test(names_are_found_and_suggested),
        cmocka_unit_test(variables_by_name),
        cmocka_unit_test(a_source_is_compiled_for_the_device),
        cmocka_unit_test(a_fatbin_is_loaded),
        cmocka_unit_test(the_device_describes_itself),
        cmocka_unit_test(occupancy_is_told),
        cmocka_unit_test(jit_results_are_kept),
    };
    return gpul_run_tests("device load", tests, open_device, close_device);
}
