/* gpul_link over the recording provider: options, logs, refusals, and failures at every step.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include <gpulaunch/link.h>

static const gpul_link_input texts[] = {
    { .data = kernels_ptx, .size = sizeof kernels_ptx - 1, .name = "first" },
    { .data = kernels_ptx, .size = sizeof kernels_ptx - 1 },
};

static void options_reach_the_linker(void **state)
{
    (void)state;
    gpul_image *linked;
    assert_ok(
        gpul_link(&linked, device, texts, 2,
                  gpul_link_opts(.jit = gpul_load_opts(.level = GPUL_JIT_O2, .max_registers = 40,
                                                       .verbose = true, .line_info = true))));
    const gpul__record_jit *jit = gpul__record_last_jit();
    assert_int_equal(jit->max_registers, 40);
    assert_int_equal(jit->optimization_level, 2);
    assert_int_equal(jit->verbose, 1);
    assert_int_equal(jit->line_info, 1);
    assert_int_equal(jit->target, -1);
    assert_true(jit->info_log && jit->error_log);
    assert_non_null(strstr(gpul_image_describe(linked)->choice, "2 inputs for sm_90"));
    assert_string_equal(gpul_image_describe(linked)->name, "linked");
    gpul_image_free(&linked);
    assert_code(gpul_link(&linked, device, texts, 2,
                          gpul_link_opts(.jit = gpul_load_opts(.max_registers = 300))),
                613, "max_registers");
}

static void types_of_the_parts_stay(void **state)
{
    (void)state;
    gpul_image *part = image_of(kernels_ptx), *linked;
    type_kernels(part);
    assert_ok(gpul_link(&linked, device, &(gpul_link_input){ .image = part }, 1, NULL));
    gpul_image_free(&part);
    const gpul_kernel_info *info = info_of(linked, "scale");
    assert_int_equal(info->types, GPUL_TYPES_COMPILER);
    assert_string_equal(info->params[1].value.name, "n");
    gpul_image_free(&linked);
}

static void a_refusal_has_the_log(void **state)
{
    (void)state;
    gpul_image *linked = (gpul_image *)1;
    gpul__record_jit_answer(CUDA_ERROR_UNKNOWN, "",
                            "error   : Undefined reference to 'twice' in 'first'\n");
    assert_code(gpul_link(&linked, device, texts, 2, NULL), 615,
                "2 inputs do not link: Undefined reference to 'twice' in 'first'", "input 1: first",
                "input 2: input 2");
    assert_null(linked);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->native, CUDA_ERROR_UNKNOWN);
    assert_string_equal(e->call, "cuLinkComplete");
    gpul__record_jit_answer(CUDA_ERROR_OUT_OF_MEMORY, NULL, NULL);
    assert_code(gpul_link(&linked, device, texts, 2, NULL), 804, "do not link");
    gpul__record_jit_answer(CUDA_SUCCESS, NULL, NULL);
}

static void libraries_are_told(void **state)
{
    (void)state;
    gpul_image *linked;
    assert_code(gpul_link(&linked, device, texts, 2,
                          gpul_link_opts(.linker = GPUL_LINKER_NVJITLINK,
                                         .nvjitlink = "/nowhere/libnvJitLink.so.13")),
                1013, "/nowhere/libnvJitLink.so.13", "does not open");
    assert_code(gpul_link(&linked, NULL, texts, 2,
                          gpul_link_opts(.arch = "sm_90", .nvjitlink = "libm.so.6")),
                1013, "nvJitLinkVersion");
}

static void every_step_may_fail(void **state)
{
    (void)state;
    gpul_image *linked;
    char what[64];
    long before = gpul__alloc_live(), good = 0;
    for (long n = 1; good < 20; n++) {
        gpul__alloc_fail_at(n);
        gpul_status status = gpul_link(&linked, device, texts, 2, NULL);
        gpul__alloc_fail_at(0);
        if (status == GPUL_OK) good++;
        else if (status != GPUL_E_MEMORY) fail_msg("allocation %ld: %d", n, (int)status);
        gpul_image_free(&linked);
        snprintf(what, sizeof what, "allocation %ld", n);
        if (status == GPUL_OK && gpul__alloc_live() > before) fail_msg("%s: left", what);
    }
    static const char *const entries[] = { "cuLinkCreate_v2", "cuLinkAddData_v2",
                                           "cuLinkComplete" };
    gpul_module_free(&module);
    gpul_device_free(&device);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    assert_ok(gpul_open(&device, NULL));
    for (size_t i = 0; i < 3; i++) {
        gpul__fault_entry(entries[i], 1, CUDA_ERROR_INVALID_PTX);
        assert_code(gpul_link(&linked, device, texts, 2, NULL), 615, "do not link");
        gpul__fault_entry(entries[i], 1, CUDA_ERROR_ILLEGAL_ADDRESS);
        gpul_status status = gpul_link(&linked, device, texts, 2, NULL);
        gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
        assert_int_equal(status, GPUL_E_FAULT);
        gpul_device_free(&device);
        assert_ok(gpul_open(&device, NULL));
    }
    gpul__fault_without("cuLinkCreate_v2");
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, NULL));
    assert_code(gpul_link(&linked, device, texts, 2, NULL), 1003, "no linker");
    gpul__fault_without(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = { TEST(options_reach_the_linker),
                                        TEST(types_of_the_parts_stay), TEST(a_refusal_has_the_log),
                                        TEST(libraries_are_told), TEST(every_step_may_fail) };
    return gpul_run_tests("core link", tests, NULL, NULL);
}
