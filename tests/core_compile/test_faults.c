/* For n = 1, 2, 3 ...: the n-th NVRTC call or allocation of a compile fails.  Each time there is a whole
 * error or a whole image, and nothing is left behind.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/image.h"

static const char *const text =
    "#include <stdint.h>\n#include \"h.h\"\nstruct P { int n; float2 v; };\n"
    "template <class T> __global__ void t(T *x) { *x = 1; }\n"
    "extern \"C\" __global__ void k(const uint32_t *in, P p, S s, int *out) { *out = in[0] + p.n + s.m; }\n";
static const gpul_header headers[] = { { "h.h", "struct S { int m; };\n" }, { 0 } };

static gpul_status compile_it(gpul_image **image)
{
    return gpul_compile(image, text, GPUL_TEXT,
                        OPTS(.headers = headers, .expressions = LIST("t<float>"), .name = "f.cu"));
}

/* What is allocated, with an error record of always the same size. */
static long live_now(void)
{
    gpul_image_from_memory(NULL, "", 0, NULL);
    return gpul__alloc_live();
}

static void check(gpul_status status, gpul_image *image)
{
    const gpul_error *e = gpul_last_error();
    if (status == GPUL_OK) {
        assert_non_null(image);
        assert_true(gpul_image_kernel_count(image) >= 2);
        return;
    }
    assert_null(image);
    assert_int_equal(e->status, status);
    assert_true(e->message[0] != 0);
    assert_true(e->code != 0);
    assert_true(e->layer != GPUL_LAYER_NONE);
}

static void every_nvrtc_call(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image;
    assert_int_equal(compile_it(&image), GPUL_OK);
    gpul_image_free(&image);
    static const nvrtcResult results[] = { 1, 2, 3, 4, 6, 7, 11 };
    for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
        long live = live_now();
        for (long n = 1;; n++) {
            gpul__nvrtc_fail_at(n, results[r]);
            gpul_status status = compile_it(&image);
            long calls = gpul__nvrtc_calls();
            gpul__nvrtc_fail_at(0, 0);
            check(status, image);
            if (status && gpul_last_error()->native_kind == GPUL_NATIVE_NVRTC)
                assert_int_equal(gpul_last_error()->native, results[r]);
            gpul_image_free(&image);
            assert_int_equal(live_now(), live);
            if (calls < n) break;
            assert_true(n < 100);
        }
    }
}

static void every_allocation(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image;
    assert_int_equal(compile_it(&image), GPUL_OK);
    gpul_image_free(&image);
    long live = live_now();
    long n = 1, step = 1, passed = 0;
    for (; n < 100000; n += step) {
        gpul__alloc_fail_at(n);
        gpul_status status = compile_it(&image);
        gpul__alloc_fail_at(0);
        check(status, image);
        gpul_image_free(&image);
        assert_int_equal(live_now(), live);
        /* A few failures are only a missing convenience; many in a row mean that the end was passed. */
        passed = status == GPUL_OK ? passed + 1 : 0;
        if (passed > 12) break;
        if (n > 60) step = 3;
    }
    assert_true(n > 100);
}

static void every_allocation_of_reading(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *source, *image;
    assert_int_equal(compile_it(&source), GPUL_OK);
    const gpul_image_info *info = gpul_image_describe(source);
    const struct {
        const void *data;
        size_t size;
    } forms[] = { { info->ptx, info->ptx_size }, { info->cubin, info->cubin_size } };
    long live = live_now();
    for (int f = 0; f < 2; f++)
        for (long n = 1;; n++) {
            gpul__alloc_fail_at(n);
            gpul_status status = gpul_image_from_memory(&image, forms[f].data, forms[f].size, "f");
            gpul__alloc_fail_at(0);
            if (status) assert_int_equal(status, GPUL_E_MEMORY);
            gpul_image_free(&image);
            assert_int_equal(live_now(), live);
            if (!status) break;
            assert_true(n < 10000);
        }
    gpul_image_free(&source);
}

GPUL_TEST_MAIN("faults", cmocka_unit_test(every_nvrtc_call), cmocka_unit_test(every_allocation),
               cmocka_unit_test(every_allocation_of_reading));
