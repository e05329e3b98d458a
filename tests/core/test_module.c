/* Loading: options as the driver gets them, logs and times, why an image does not load, kernels and
 * variables by name.  SPDX-License-Identifier: MIT */
#include "suite.h"

static gpul_image *image;

static int open_image(void **state)
{
    open_all(state);
    image = image_of(kernels_ptx);
    return 0;
}

static int close_image(void **state)
{
    gpul__record_jit_answer(CUDA_SUCCESS, NULL, NULL);
    gpul_image_free(&image);
    return close_all(state);
}

static void options_reach_the_driver(void **state)
{
    (void)state;
    gpul_module *m;
    assert_ok(gpul_load(&m, device, image, NULL));
    const gpul__record_jit *jit = gpul__record_last_jit();
    assert_true(jit->info_log && jit->error_log && jit->wall_time);
    assert_true(jit->info_log_size >= 16384 && jit->error_log_size >= 16384);
    assert_int_equal(jit->options, 5);
    gpul_module_free(&m);
    assert_ok(gpul_load(&m, device, image,
                        gpul_load_opts(.level = GPUL_JIT_O0, .max_registers = 24,
                                       .threads_per_block = 128, .target = 80,
                                       .fallback = GPUL_JIT_PREFER_BINARY,
                                       .cache_mode = GPUL_JIT_CACHE_CA, .line_info = true,
                                       .debug = true, .verbose = true)));
    jit = gpul__record_last_jit();
    assert_int_equal(jit->optimization_level, 0);
    assert_int_equal(jit->max_registers, 24);
    assert_int_equal(jit->threads_per_block, 128);
    assert_int_equal(jit->target, 80);
    assert_int_equal(jit->fallback, CU_PREFER_BINARY);
    assert_int_equal(jit->cache_mode, CU_JIT_CACHE_OPTION_CA);
    assert_int_equal(jit->line_info, 1);
    assert_int_equal(jit->debug, 1);
    assert_int_equal(jit->verbose, 1);
    const gpul_module_info *info = gpul_module_describe(m);
    assert_int_equal(info->format, GPUL_IMAGE_PTX);
    assert_non_null(strstr(info->info_log, "scale"));
    assert_string_equal(info->error_log, "");
    assert_true(info->load_ns > 0);
    assert_true(info->jit_ms > 0);
    assert_non_null(gpul_module_handle(m));
    gpul_module_free(&m);
    assert_ok(gpul_load(&m, device, image,
                        gpul_load_opts(.level = GPUL_JIT_O4, .fallback = GPUL_JIT_PREFER_PTX,
                                       .cache_mode = GPUL_JIT_CACHE_CG)));
    assert_int_equal(gpul__record_last_jit()->optimization_level, 4);
    assert_int_equal(gpul__record_last_jit()->fallback, CU_PREFER_PTX);
    assert_int_equal(gpul__record_last_jit()->cache_mode, CU_JIT_CACHE_OPTION_CG);
    gpul_module_free(&m);
}

static void options_out_of_range_are_named(void **state)
{
    (void)state;
    gpul_module *m = (gpul_module *)1;
    assert_code(gpul_load(&m, device, image, gpul_load_opts(.max_registers = 256)), 613,
                "max_registers is 256", "255");
    assert_null(m);
    assert_code(gpul_load(&m, device, image, gpul_load_opts(.threads_per_block = 1025)), 613,
                "threads_per_block is 1025", "1024");
    assert_code(gpul_load(&m, device, image, gpul_load_opts(.target = 9)), 613, "target is 9");
    assert_code(gpul_load(&m, device, image, gpul_load_opts(.level = (gpul_jit_level)7)), 613,
                "level is 7");
    assert_code(gpul_load(&m, device, image, gpul_load_opts(.fallback = (gpul_jit_fallback)3)), 613,
                "fallback");
    assert_code(gpul_load(&m, device, image, gpul_load_opts(.cache_mode = (gpul_jit_cache)3)), 613,
                "cache_mode");
    assert_code(gpul_load(&m, NULL, image, NULL), 314, "device");
    assert_code(gpul_load(&m, device, NULL, NULL), 314, "image");
    assert_code(gpul_load(NULL, device, image, NULL), 314, "out");
}

/* The next load answers so; the record has the code, the log and the words. */
#define REFUSED(result_, log_, code_, ...)                                                         \
    do {                                                                                           \
        gpul_module *m_;                                                                           \
        gpul__record_jit_answer(result_, "", log_);                                                \
        assert_code(gpul_load(&m_, device, image, NULL), code_, __VA_ARGS__);                      \
        assert_int_equal(gpul_last_error()->native, result_);                                      \
        assert_string_equal(gpul_last_error()->call, "cuModuleLoadDataEx");                        \
        assert_null(m_);                                                                           \
        if (*(log_)) assert_non_null(strstr(gpul_last_error()->log, log_));                        \
    } while (0)

static void versions_are_both_named(void **state)
{
    (void)state;
    REFUSED(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            "ptxas application ptx input, line 1; fatal   : Unsupported .version 9.0; current "
            "version is '8.4'",
            602, "version 9.0", "CUDA 13.0", "up to 8.4", "update the driver");
    image->info.nvrtc_major = 13;
    image->info.nvrtc_minor = 2;
    REFUSED(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "", 602, "NVRTC 13.2", "sm_90");
    image->info.nvrtc_major = 0;
}

static void architectures_are_both_named(void **state)
{
    (void)state;
    REFUSED(CUDA_ERROR_INVALID_PTX,
            "ptxas fatal   : SM version specified by .target is higher than default SM version "
            "assumed",
            603, "sm_90", "the device");
    /* What can be seen beforehand is not tried. */
    gpul_module *m;
    image->ptx_target = (gpul__arch){ .number = 121 };
    assert_code(gpul_load(&m, device, image, NULL), 603, "sm_121", "sm_90");
    image->ptx_target = (gpul__arch){ .number = 90 };
}

/* A driver that refuses without a look: what is tried here is no CUBIN that could be read. */
static CUresult answer;
static CUresult refuse(CUmodule *out, const void *data, unsigned count, CUjit_option *options,
                       void **values)
{
    (void)out, (void)data, (void)count, (void)options, (void)values;
    return answer;
}

static void machine_code_of_another_architecture(void **state)
{
    (void)state;
    /* As a driver says it: 209 with an empty log. */
    char *ptx = image->ptx;
    static char cubin[64] = "\177ELF";
    image->ptx = NULL;
    image->info.ptx = NULL;
    image->info.cubin = image->cubin = cubin;
    image->info.cubin_size = sizeof cubin;
    image->arch = (gpul__arch){ .number = 90 }; /* so that it is tried at all */
    const gpul__driver *record = device->driver;
    gpul__driver refusing = *record;
    refusing.ModuleLoadDataEx = refuse;
    device->driver = &refusing;
    gpul_module *m;
    answer = CUDA_ERROR_NO_BINARY_FOR_GPU;
    assert_code(gpul_load(&m, device, image, NULL), 603, "machine code for sm_90", "compute_90");
    assert_int_equal(gpul_last_error()->native, 209);
    answer = CUDA_ERROR_INVALID_IMAGE;
    assert_code(gpul_load(&m, device, image, NULL), 605, "64 bytes");
    memset(cubin + 40, 1, 8); /* a section table far beyond the end */
    assert_code(gpul_load(&m, device, image, NULL), 607, "cut off after 64 bytes");
    device->driver = record;
    image->cubin = NULL;
    image->info.cubin = NULL;
    image->ptx = ptx;
    image->info.ptx = ptx;
}

static void a_missing_jit_is_told(void **state)
{
    (void)state;
    REFUSED(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "", 614, "libnvidia-ptxjitcompiler", "sm_90");
    REFUSED(CUDA_ERROR_NO_BINARY_FOR_GPU, "", 614, "libnvidia-ptxjitcompiler");
    REFUSED(CUDA_ERROR_JIT_COMPILATION_DISABLED, "", 614, "CUDA_DISABLE_JIT");
}

static const char located[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k()\n{\n"
                              "    .loc 1 7 3\n"
                              "    ret;\n"
                              "    .loc 1 12 20\n"
                              "    exit;\n"
                              "}\n"
                              ".file 1 \"/src/dir with blank/mine.cu\"\n";

static void jit_lines_become_details(void **state)
{
    (void)state;
    REFUSED(CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line 10; error   : Not a name of any known instruction: "
            "'rotate'\n"
            "ptxas application ptx input, line 11; warning : Something smaller\n"
            "ptxas fatal   : Ptx assembly aborted due to errors",
            604, "Not a name of any known instruction: 'rotate'", "PTX line 10");
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->detail_count, 2);
    assert_int_equal(e->details[0].severity, GPUL_ERROR);
    assert_int_equal(e->details[0].line, 10);
    assert_string_equal(e->details[0].file, "kernels.ptx");
    assert_non_null(e->details[0].source);
    assert_int_equal(e->details[1].severity, GPUL_WARNING);

    /* With line information the place is that of the source. */
    gpul_module *m;
    gpul_image *own;
    assert_ok(gpul_image_from_memory(&own, located, sizeof located - 1, "own.ptx"));
    gpul__record_jit_answer(CUDA_ERROR_INVALID_PTX, "",
                            "ptxas application ptx input, line 9; error   : Bad thing\n");
    assert_code(gpul_load(&m, device, own, NULL), 604, "Bad thing", "PTX line 9");
    e = gpul_last_error();
    assert_int_equal(e->detail_count, 1);
    assert_string_equal(e->details[0].file, "/src/dir with blank/mine.cu");
    assert_int_equal(e->details[0].line, 12);
    assert_int_equal(e->details[0].column, 20);
    assert_string_equal(e->details[0].source, "exit;");
    gpul_image_free(&own);
    REFUSED(CUDA_ERROR_INVALID_PTX, "", 604, "gives no reason");
}

static void other_refusals_keep_their_name(void **state)
{
    (void)state;
    REFUSED(CUDA_ERROR_UNKNOWN, "error   : Undefined reference to '_Z6helperv' in 'x'", 605,
            "Undefined reference to '_Z6helperv'", "not linked");
    REFUSED(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "", 605, "kernels.ptx");
    assert_string_equal(gpul_last_error()->native_name, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED");
    REFUSED(CUDA_ERROR_OUT_OF_MEMORY, "", 804, "does not load");
}

static void kernels_are_found_by_name(void **state)
{
    (void)state;
    const gpul_kernel *kernel = (const gpul_kernel *)1, *again;
    assert_ok(gpul_module_kernel(&kernel, module, "scale"));
    assert_ok(gpul_module_kernel(&again, module, "scale"));
    assert_ptr_equal(kernel, again);
    assert_non_null(gpul_kernel_handle(kernel));
    const gpul_kernel_info *info = gpul_kernel_describe(kernel);
    assert_string_equal(info->name, "scale");
    assert_int_equal(info->param_bytes, 16);
    assert_true(info->registers > 0);
    assert_int_equal(info->max_threads, 1024);
    assert_int_equal(info->shared_bytes, 0);
    assert_code(gpul_module_kernel(&kernel, module, "scael"), 608, "no kernel 'scael'",
                "the nearest is 'scale'", "c15_order", "write \"scale\"");
    assert_null(kernel);
    assert_code(gpul_module_kernel(&kernel, module, "completely_different"), 608,
                "completely_different", "scale", "extern \"C\"");
    assert_true(gpul_last_error()->detail_count >= 10);
    assert_code(gpul_module_kernel(&kernel, module, NULL), 701, "scale", "c14_a", "name");
    assert_code(gpul_module_kernel(&kernel, NULL, "scale"), 314, "module");
    assert_code(gpul_module_kernel(NULL, module, "scale"), 314, "out");
}

static void the_only_kernel_needs_no_name(void **state)
{
    (void)state;
    gpul_module *m;
    const gpul_kernel *kernel;
    gpul_image *one = image_of(located), *none = image_of(".version 9.0\n.target sm_90\n"
                                                          ".address_size 64\n");
    assert_ok(gpul_load(&m, device, one, NULL));
    assert_ok(gpul_module_kernel(&kernel, m, NULL));
    assert_string_equal(gpul_kernel_describe(kernel)->name, "k");
    gpul_module_free(&m);
    gpul_image_free(&one);
    assert_ok(gpul_load(&m, device, none, NULL));
    assert_code(gpul_module_kernel(&kernel, m, "c11_twice"), 608, "no kernel 'c11_twice'",
                "the module has no kernels");
    assert_code(gpul_module_kernel(&kernel, m, NULL), 608, "no kernels");
    gpul_module_free(&m);
    gpul_image_free(&none);
}

/* The image lists a template, two instances of another one, and a kernel that the driver lacks. */
static void templates_and_overloads(void **state)
{
    (void)state;
    gpul_module *m;
    const gpul_kernel *kernel;
    info_of(image, "c14_a")->name = "demo::pick";
    info_of(image, "c14_a")->signature = "demo::pick(int *out, short s)";
    info_of(image, "c14_b")->name = "demo::pick";
    gpul_kernel_info *template = info_of(image, "c14_c");
    template->name = "demo::poly";
    template->symbol = "";
    template->is_template = true;
    info_of(image, "nothing")->symbol = "not_there";
    assert_ok(gpul_load(&m, device, image, NULL));
    assert_code(gpul_module_kernel(&kernel, m, "demo::pick"), 609, "'demo::pick' fits 2 kernels",
                "demo::pick(int *out, short s)", "parameters");
    assert_int_equal(gpul_last_error()->detail_count, 2);
    assert_code(gpul_module_kernel(&kernel, m, "demo::poly"), 713, "template", "demo::poly<float>");
    assert_code(gpul_module_kernel(&kernel, m, "nothing"), 608, "the driver does not have it",
                "-rdc=true");
    assert_ok(gpul_module_kernel(&kernel, m, "c14_b"));
    gpul_module_free(&m);
}

/* An image that could not be read (a compressed fatbin, say): the driver lists what it has, and how
 * large the parameters are. */
static void kernels_that_only_the_driver_knows(void **state)
{
    (void)state;
    gpul_module *m;
    const gpul_kernel *kernel;
    image->kernel_count = 0;
    assert_ok(gpul_load(&m, device, image, NULL));
    assert_ok(gpul_module_kernel(&kernel, m, "scale"));
    const gpul_kernel_info *info = gpul_kernel_describe(kernel);
    assert_int_equal(info->types, GPUL_TYPES_NONE);
    assert_int_equal(info->param_count, 3);
    assert_int_equal(info->param_bytes, 16);
    assert_int_equal(info->params[2].value.offset, 12);
    const gpul_launch_opts *one = gpul_launch_opts(.grid = { 1 }, .block = { 1 });
    assert_ok(gpul_launch(kernel, one, gpul_args(gpul_null, 1, 1.0f)));
    assert_int_equal(gpul__record_launch_at(-1)->size, 16);
    assert_code(gpul_launch(kernel, one, gpul_args(gpul_null, 1, 1.0)), 310, "4 bytes");
    assert_code(gpul_module_kernel(&kernel, m, "scael"), 608, "nearest is 'scale'");
    assert_code(gpul_module_kernel(&kernel, m, NULL), 701, "c14_a");
    gpul_module_free(&m);

    /* A driver that lists nothing still knows a symbol; one that tells no sizes is no help. */
    const gpul__driver *record = device->driver;
    gpul__driver old = *record;
    old.ModuleGetFunctionCount = NULL;
    device->driver = &old;
    assert_ok(gpul_load(&m, device, image, NULL));
    assert_ok(gpul_module_kernel(&kernel, m, "c15_order"));
    assert_int_equal(gpul_kernel_describe(kernel)->param_bytes, 64);
    assert_code(gpul_module_kernel(&kernel, m, "scael"), 608, "no kernel 'scael'");
    old.FuncGetParamInfo = NULL;
    assert_code(gpul_module_kernel(&kernel, m, "scale"), 715, "parameters of 'scale'", "12.4");
    gpul_module_free(&m);
    device->driver = record;
}

/* The driver's layout is compared with ours: nobody else would notice. */
static void layouts_must_agree(void **state)
{
    (void)state;
    gpul_module *m;
    const gpul_kernel *kernel;
    gpul_param *params = gpul__arena_alloc(&image->arena, 3 * sizeof *params);
    gpul_kernel_info *info = info_of(image, "scale");
    memcpy(params, info->params, 3 * sizeof *params);
    params[1].value.offset = 10;
    info->params = params;
    assert_ok(gpul_load(&m, device, image, NULL));
    assert_code(gpul_module_kernel(&kernel, m, "scale"), 9901, "parameter 2 of 'scale'",
                "offset 10", "offset 8");
    gpul_module_free(&m);
}

static void variables_by_name(void **state)
{
    (void)state;
    uint64_t address = 1;
    size_t size = 1;
    assert_ok(gpul_module_global(&address, &size, module, "table"));
    assert_int_equal(size, 16);
    assert_true(address != 0);
    assert_ok(gpul_module_global(NULL, &size, module, "counter"));
    assert_int_equal(size, 4);
    int put[4] = { 1, 2, 3, 4 }, got[4] = { 0 };
    assert_ok(gpul_global_write(module, "table", 0, put, sizeof put));
    assert_ok(gpul_global_read(got, module, "table", 4, 8));
    assert_int_equal(got[0], 2);
    assert_int_equal(got[1], 3);
    assert_ok(gpul_global_write(module, "table", 16, NULL, 0));
    assert_code(gpul_global_write(module, "table", 8, put, 12), 611, "12 bytes at offset 8",
                "16 bytes");
    assert_code(gpul_global_read(got, module, "table", SIZE_MAX, 2), 611, "'table'");
    assert_code(gpul_module_global(&address, &size, module, "tabel"), 610, "nearest is 'table'",
                "16 bytes");
    assert_int_equal(address + size, 0);
    assert_code(gpul_global_read(NULL, module, "table", 0, 4), 314, "destination");
    assert_code(gpul_global_write(module, "table", 0, NULL, 4), 314, "source");
    assert_code(gpul_module_global(&address, &size, module, NULL), 314, "name");
}

/* The second load of the same PTX, options and driver runs no JIT: its linker is not called. */
static void jit_results_are_kept(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpulaunch-keep-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("GPULAUNCH_CACHE_DIR", folder, 1);
    use_record(NULL);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    gpul_device *d;
    gpul_module *m;
    assert_ok(gpul_open(&d, NULL));
    gpul_image *ptx = image_of(kernels_ptx);
    gpul__record_jit_answer(CUDA_SUCCESS, "12 registers", NULL);
    assert_ok(gpul_load(&m, d, ptx, gpul_load_opts(.keep = true, .level = GPUL_JIT_O1)));
    gpul__record_jit_answer(CUDA_SUCCESS, NULL, NULL);
    assert_true(strstr(gpul_module_describe(m)->choice, "now in the cache") != NULL);
    assert_string_equal(gpul_module_describe(m)->info_log, "12 registers");
    gpul_module_free(&m);
    gpul__fault_entry("cuLinkCreate_v2", 1, CUDA_ERROR_UNKNOWN);
    assert_ok(gpul_load(&m, d, ptx, gpul_load_opts(.keep = true, .level = GPUL_JIT_O1)));
    assert_true(strstr(gpul_module_describe(m)->choice, "from the cache") != NULL);
    assert_string_equal(gpul_module_describe(m)->info_log, "12 registers");
    const gpul_kernel *scale;
    assert_ok(gpul_module_kernel(&scale, m, "scale"));
    gpul_module_free(&m);
    /* Other options are another entry; a linker that refuses leaves the PTX to the driver. */
    assert_ok(gpul_load(&m, d, ptx, gpul_load_opts(.keep = true, .level = GPUL_JIT_O2)));
    assert_null(strstr(gpul_module_describe(m)->choice, "cache"));
    assert_int_equal(gpul_module_describe(m)->format, GPUL_IMAGE_PTX);
    gpul_module_free(&m);
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    gpul_image_free(&ptx);
    gpul_device_free(&d);
    assert_string_equal(gpul__record_leaks(), "");
    gpul__driver_override(gpul__record_driver());
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_image, close_image)
    const struct CMUnitTest tests[] = {
        TEST(options_reach_the_driver),
        TEST(options_out_of_range_are_named),
        TEST(versions_are_both_named),
        TEST(architectures_are_both_named),
        TEST(machine_code_of_another_architecture),
        TEST(a_missing_jit_is_told),
        TEST(jit_lines_become_details),
        TEST(other_refusals_keep_their_name),
        TEST(kernels_are_found_by_name),
        TEST(the_only_kernel_needs_no_name),
        TEST(templates_and_overloads),
        TEST(kernels_that_only_the_driver_knows),
        TEST(layouts_must_agree),
        TEST(variables_by_name),
        TEST(jit_results_are_kept),
    };
    return gpul_run_tests("core module", tests, NULL, NULL);
}
