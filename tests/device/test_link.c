/* Linking: relocatable code and LTO-IR, by the driver and by nvJitLink; and compiling that is cancelled.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

static const char caller[] = "extern __device__ float twice(float);\n"
                             "extern __device__ int calls;\n"
                             "extern \"C\" __global__ void twice_all(float *x, int n)\n"
                             "{\n"
                             "    int i = threadIdx.x;\n"
                             "    if (i < n) { x[i] = twice(x[i]); atomicAdd(&calls, 1); }\n"
                             "}\n";
static const char callee[] = "__device__ int calls = 5;\n"
                             "__device__ float twice(float x) { return 2 * x; }\n";

static gpul_image *compile_with(const char *source, const char *flag, const char *name)
{
    gpul_image *image;
    const char *const flags[] = { flag, NULL };
    gpul_status status = gpul_compile(
        &image, source, GPUL_TEXT,
        gpul_compile_opts(.device = device, .flags = flags, .name = name, .no_cache = true));
    if (status == GPUL_E_COMPILER) skip_because("%s", gpul_last_error()->message);
    assert_ok(status);
    return image;
}

static void run_linked(gpul_image *linked)
{
    gpul_module *module;
    float x[4] = { 1, 2, 3, 4 };
    int calls = 0;
    const gpul_kernel_info *info = gpul_image_kernel(linked, 0);
    assert_non_null(info);
    assert_string_equal(info->symbol, "twice_all");
    assert_ok(gpul_load(&module, device, linked, NULL));
    gpul_buffer *buffer = buffer_of(sizeof x, x);
    assert_ok(gpul_launch(kernel_of(module, "twice_all"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 32 }), gpul_args(buffer, 4)));
    assert_ok(gpul_read(x, buffer, 0, sizeof x, NULL));
    for (int i = 0; i < 4; i++) assert_true(x[i] == 2.0f * (float)(i + 1));
    assert_ok(gpul_global_read(&calls, module, "calls", 0, sizeof calls));
    assert_int_equal(calls, 9);
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
}

static void two_images_link(void **state)
{
    (void)state;
    gpul_image *a = compile_with(caller, "-rdc=true", "caller.cu");
    gpul_image *b = compile_with(callee, "-rdc=true", "callee.cu"), *linked;
    const gpul_link_input inputs[] = { { .image = a }, { .image = b } };
    assert_ok(gpul_link(&linked, device, inputs, 2, gpul_link_opts(.name = "both")));
    gpul_image_free(&a);
    gpul_image_free(&b);
    const gpul_image_info *info = gpul_image_describe(linked);
    assert_string_equal(info->name, "both");
    assert_non_null(strstr(info->choice, "2 inputs"));
    const gpul_kernel_info *kernel = gpul_image_kernel(linked, 0);
    assert_int_equal(kernel->types, GPUL_TYPES_COMPILER);
    assert_string_equal(kernel->params[0].value.name, "x");
    run_linked(linked);
    gpul_image_free(&linked);
}

static void bytes_and_images_link(void **state)
{
    (void)state;
    gpul_image *a = compile_with(caller, "-rdc=true", "caller.cu");
    gpul_image *b = compile_with(callee, "-rdc=true", "callee.cu"), *linked;
    const gpul_image_info *ptx = gpul_image_describe(b);
    const gpul_link_input inputs[] = { { .data = ptx->ptx, .size = ptx->ptx_size },
                                       { .image = a } };
    assert_ok(gpul_link(&linked, device, inputs, 2,
                        gpul_link_opts(.jit = gpul_load_opts(.level = GPUL_JIT_O3))));
    run_linked(linked);
    gpul_image_free(&linked);
    gpul_image_free(&a);
    gpul_image_free(&b);
}

static void an_undefined_symbol_is_named(void **state)
{
    (void)state;
    gpul_image *a = compile_with(caller, "-rdc=true", "caller.cu"), *linked;
    gpul_module *module = NULL;
    gpul_status status = gpul_link(&linked, device, &(gpul_link_input){ .image = a }, 1, NULL);
    /* The CPU device finds symbols when it loads. */
    bool cpu = gpul_device_describe(device)->backend == GPUL_BACKEND_CPU;
    if (cpu && status == GPUL_OK) status = gpul_load(&module, device, linked, NULL);
    assert_int_equal(status, GPUL_E_IMAGE);
    assert_true(said("twice") || said("calls"));
    gpul_image_free(&linked);
    gpul_image_free(&a);
}

static void lto_links(void **state)
{
    (void)state;
    gpul_image *a = compile_with(caller, "-dlto", "caller.cu");
    gpul_image *b = compile_with(callee, "-dlto", "callee.cu"), *linked;
    gpul_module *module;
    const gpul_image_info *info = gpul_image_describe(a);
    if (!info->ltoir) skip_because("this NVRTC makes no LTO-IR");
    assert_true(info->ltoir_size > 100 && !info->ptx && !info->cubin);
    assert_code(gpul_load(&module, device, a, NULL), 606, "must be linked first");
    const gpul_link_input inputs[] = { { .image = a },
                                       { .data = gpul_image_describe(b)->ltoir,
                                         .size = gpul_image_describe(b)->ltoir_size,
                                         .name = "callee.ltoir" } };
    assert_code(gpul_link(&linked, device, inputs, 2, gpul_link_opts(.linker = GPUL_LINKER_DRIVER)),
                315, "LTO-IR");
    gpul_status status = gpul_link(&linked, device, inputs, 2, NULL);
    bool absent = status == GPUL_E_COMPILER;
    if (!absent) {
        assert_ok(status);
        run_linked(linked);
        gpul_image_free(&linked);
        /* PTX, which the CPU device gets, may leave symbols open. */
        if (gpul_device_describe(device)->backend != GPUL_BACKEND_CPU)
            assert_code(gpul_link(&linked, device, inputs, 1, NULL), 615, "twice");
    }
    gpul_image_free(&linked);
    gpul_image_free(&a);
    gpul_image_free(&b);
    if (absent) skip_because("no nvJitLink here");
}

static void no_device_is_needed(void **state)
{
    (void)state;
    gpul_image *a = compile_with(caller, "-rdc=true", "caller.cu");
    gpul_image *b = compile_with(callee, "-rdc=true", "callee.cu"), *linked;
    const gpul_link_input inputs[] = { { .image = a }, { .image = b } };
    assert_code(gpul_link(&linked, NULL, inputs, 2, NULL), 314, "architecture");
    assert_code(gpul_link(&linked, NULL, inputs, 2, gpul_link_opts(.arch = "compute_90")), 315,
                "sm_90");
    gpul_status status = gpul_link(&linked, NULL, inputs, 2, gpul_link_opts(.arch = "sm_90"));
    if (status == GPUL_E_COMPILER) {
        gpul_image_free(&a);
        gpul_image_free(&b);
        skip_because("no nvJitLink here");
    }
    assert_ok(status);
    assert_true(gpul_image_describe(linked)->cubin_size > 0);
    assert_string_equal(gpul_image_describe(linked)->arch, "sm_90");
    const gpul_kernel_info *kernel = gpul_image_kernel(linked, 0);
    assert_string_equal(kernel->symbol, "twice_all");
    assert_int_equal(kernel->types, GPUL_TYPES_COMPILER);
    assert_true(kernel->registers > 0);
    gpul_image_free(&linked);
    assert_code(gpul_link(&linked, NULL, inputs, 1, gpul_link_opts(.arch = "sm_90")), 615, "twice",
                "input 1: caller.cu");
    gpul_image_free(&a);
    gpul_image_free(&b);
}

static void misuse_is_refused(void **state)
{
    (void)state;
    gpul_image *linked = (gpul_image *)1;
    const gpul_link_input none = { 0 }, two = { .data = "x", .size = 1, .path = "x" };
    const gpul_link_input text = { .data = "hello", .size = 5, .name = "greeting" };
    const gpul_link_input missing = { .path = "/nowhere/at-all.ptx" };
    assert_code(gpul_link(NULL, device, &none, 1, NULL), 314, "out");
    assert_code(gpul_link(&linked, device, NULL, 1, NULL), 314, "inputs");
    assert_null(linked);
    assert_code(gpul_link(&linked, device, &none, 0, NULL), 315, "no inputs");
    assert_code(gpul_link(&linked, device, &none, 1, NULL), 315, "none of image");
    assert_code(gpul_link(&linked, device, &two, 1, NULL), 315, "several of image");
    assert_code(gpul_link(&linked, device, &text, 1, NULL), 601, "greeting");
    assert_code(gpul_link(&linked, device, &missing, 1, NULL), 401, "at-all.ptx");
    assert_code(gpul_link(&linked, device, &text, 1, gpul_link_opts(.linker = (gpul_linker)9)), 315,
                "linker is 9");
    assert_code(gpul_link(&linked, device, &text, 1, gpul_link_opts(.arch = "sm_90")), 315,
                "a device is given");
}

static int asked;
static bool answer(void *user)
{
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    return *(bool *)user;
}

static void compiling_can_be_cancelled(void **state)
{
    (void)state;
    bool go_on = true;
    gpul_image *image;
    const gpul_compile_opts opts = {
        .device = device, .progress = answer, .progress_user = &go_on, .no_cache = true
    };
    asked = 0;
    gpul_status status = gpul_compile(&image, callee, GPUL_TEXT, &opts);
    if (status == GPUL_E_COMPILER || gpul_last_error()->code == 509)
        skip_because("no NVRTC with progress here");
    assert_code(status, 510, "kernel"); /* no kernel: the compiler was done */
    assert_true(asked > 0);
    go_on = false;
    assert_code(gpul_compile(&image, callee, GPUL_TEXT, &opts), 514, "cancelled");
    assert_int_equal(gpul_last_error()->status, GPUL_E_CANCELLED);
    assert_null(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_images_link),
        cmocka_unit_test(bytes_and_images_link),
        cmocka_unit_test(an_undefined_symbol_is_named),
        cmocka_unit_test(lto_links),
        cmocka_unit_test(no_device_is_needed),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(compiling_can_be_cancelled),
    };
    return gpul_run_tests("device link", tests, open_device, close_device);
}
