/* The ladder of architectures: what is compiled for a device by a compiler and a driver of any age; and
 * images found again in the cache.  SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "suite.h"

#include "core/compile.h"

#include <unistd.h>

static gpul__nvrtc nvrtc_of(int major, int minor)
{
    gpul__nvrtc nvrtc = { .path = "made up", .major = major, .minor = minor };
    nvrtc.arch_count = gpul__nvrtc_known_archs(major, minor, nvrtc.archs);
    return nvrtc;
}

static gpul_device_info device_of(gpul_backend backend, int compute, int driver)
{
    return (gpul_device_info){ .backend = backend,
                               .name = "a device",
                               .compute_major = compute / 10,
                               .compute_minor = compute % 10,
                               .driver_version = driver };
}

static void the_ladder(void **state)
{
    (void)state;
    static const struct {
        int major, minor; /* of NVRTC */
        gpul_backend backend;
        int compute, driver;
        const char *arch, *choice;
    } table[] = {
        { 13, 0, GPUL_BACKEND_CUDA, 90, 13000, "sm_90", "own architecture" },
        { 13, 0, GPUL_BACKEND_CUDA, 130, 13000, "compute_121", "the driver translates PTX" },
        { 11, 2, GPUL_BACKEND_CUDA, 89, 12040, "compute_86", "does not know the device's sm_89" },
        { 13, 5, GPUL_BACKEND_CUDA, 90, 13000, "sm_90", "only the machine code is of use" },
        { 12, 8, GPUL_BACKEND_CUDA, 89, 12040, "sm_89", "only the machine code" },
        { 13, 5, GPUL_BACKEND_CUDA, 122, 13000, "sm_121", "too new for the driver" },
        { 13, 5, GPUL_BACKEND_CUDA, 130, 13000, "compute_121", "translates PTX" },
        { 13, 0, GPUL_BACKEND_CPU, 90, 0, "compute_90", "the CPU device runs PTX" },
        { 12, 4, GPUL_BACKEND_CPU, 121, 0, "compute_90", "the CPU device runs PTX" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gpul__nvrtc nvrtc = nvrtc_of(table[i].major, table[i].minor);
        gpul_device_info device = device_of(table[i].backend, table[i].compute, table[i].driver);
        gpul__arch arch;
        gpul__str choice = { 0 };
        char text[24];
        assert_int_equal(gpul__arch_choose(&arch, &choice, &nvrtc, &device, NULL), GPUL_OK);
        assert_string_equal(gpul__arch_text(text, arch), table[i].arch);
        assert_text_has(gpul__str_text(&choice), table[i].choice);
        gpul__str_free(&choice);
        assert_int_equal(gpul__arch_choose(&arch, &choice, &nvrtc, &device, "native"), GPUL_OK);
        assert_string_equal(gpul__arch_text(text, arch), table[i].arch);
        gpul__str_free(&choice);
    }
}

static void devices_that_are_too_old(void **state)
{
    (void)state;
    gpul__nvrtc nvrtc = nvrtc_of(13, 0);
    gpul_device_info device = device_of(GPUL_BACKEND_CUDA, 70, 12080);
    gpul__arch arch;
    gpul__str choice = { 0 };
    assert_int_equal(gpul__arch_choose(&arch, &choice, &nvrtc, &device, NULL), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_last_error()->code, 502);
    assert_text_has(gpul_last_error()->message, "sm_70");
    assert_text_has(gpul_last_error()->message, "13.0");
    assert_text_has(gpul_last_error()->hint, "CUDA 12");
}

static void without_a_device(void **state)
{
    (void)state;
    gpul__arch arch;
    gpul__str choice = { 0 };
    char text[24];
    gpul__nvrtc new_one = nvrtc_of(13, 0), old_one = nvrtc_of(11, 2);
    assert_int_equal(gpul__arch_choose(&arch, &choice, &new_one, NULL, NULL), GPUL_OK);
    assert_string_equal(gpul__arch_text(text, arch), "sm_90");
    assert_int_equal(gpul__arch_choose(&arch, &choice, &old_one, NULL, NULL), GPUL_OK);
    assert_string_equal(gpul__arch_text(text, arch), "sm_86");
    gpul__str_free(&choice);
    assert_int_equal(gpul__arch_choose(&arch, &choice, &new_one, NULL, "native"), GPUL_E_ARGUMENT);
    assert_text_has(gpul_last_error()->message, "there is none");
}

/* A second run must still resolve name expressions, and must notice a changed header. */
static void a_second_compile_is_found(void **state)
{
    (void)state;
    need_nvrtc();
    char folder[] = "/tmp/gpulaunch-cache-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("GPULAUNCH_CACHE_DIR", folder, 1);
    const char *text =
        "#include \"h.h\"\ntemplate <class T> __global__ void t(T *x) { *x = VALUE; }\n";
    gpul_header headers[] = { { "h.h", "#define VALUE 1\n" }, { 0 } };
    gpul_compile_opts opts = { .arch = "sm_90",
                               .headers = headers,
                               .expressions = LIST("t<float>") };
    gpul_image *first = compile_text(text, &opts), *second = compile_text(text, &opts);
    assert_false(gpul_image_describe(first)->from_cache);
    assert_true(gpul_image_describe(second)->from_cache);
    assert_string_equal(kernel(second, "t<float>")->symbol, kernel(first, "t<float>")->symbol);
    assert_int_equal(kernel(second, "t<float>")->params[0].pointee->type, GPUL_F32);
    assert_string_equal(gpul_image_describe(second)->ptx, gpul_image_describe(first)->ptx);
    gpul_image_free(&second);
    headers[0].text = "#define VALUE 2\n";
    second = compile_text(text, &opts);
    assert_false(gpul_image_describe(second)->from_cache);
    gpul_image_free(&second);
    opts.no_cache = true;
    second = compile_text(text, &opts);
    assert_false(gpul_image_describe(second)->from_cache);
    gpul_image_free(&second);
    gpul_image_free(&first);
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void *compile_same(void *from_cache)
{
    gpul_image *image;
    gpul_status status =
        gpul_compile(&image, "extern \"C\" __global__ void same(int *x) { *x = 41; }", GPUL_TEXT,
                     &(gpul_compile_opts){ .arch = "sm_90" });
    if (status == GPUL_OK) *(int *)from_cache = gpul_image_describe(image)->from_cache;
    gpul_image_free(&image);
    return NULL;
}

/* Threads that want one image at once: one compiles, and the others find what it kept. */
static void threads_compile_once(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    need_nvrtc();
    char folder[] = "/tmp/gpulaunch-cache-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("GPULAUNCH_CACHE_DIR", folder, 1);
    pthread_t threads[THREADS];
    int found[THREADS], compiled = 0;
    for (int i = 0; i < THREADS; i++) {
        found[i] = -1;
        assert_int_equal(pthread_create(&threads[i], NULL, compile_same, &found[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_not_equal(found[i], -1);
        compiled += !found[i];
    }
    assert_int_equal(compiled, 1);
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

GPUL_TEST_MAIN("arch", cmocka_unit_test(the_ladder), cmocka_unit_test(devices_that_are_too_old),
               cmocka_unit_test(without_a_device), cmocka_unit_test(a_second_compile_is_found),
               cmocka_unit_test(threads_compile_once));
