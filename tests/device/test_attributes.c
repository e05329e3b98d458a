/* Launch attributes, occupancy and preferences: results stay the same, questions have answers.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

enum { N = 4096 };

static gpul_module *module;
static gpul_buffer *data;

static int open_scale(void **state)
{
    if (open_device(state) != 0) return -1;
    module = load_kernels("scale");
    data = buffer_of(N * sizeof(float), NULL);
    return 0;
}

static int close_scale(void **state)
{
    gpul_buffer_free(&data);
    gpul_module_free(&module);
    return close_device(state);
}

/* Doubles ones twice; both launches have the attributes. */
static gpul_status scale_with(const gpul_launch_extra *extra, gpul_stream *stream)
{
    static float got[N];
    float one = 1;
    const gpul_kernel *kernel = kernel_of(module, "scale");
    assert_ok(gpul_fill(data, 0, sizeof got, &one, 4, stream));
    for (int i = 0; i < 2; i++) {
        gpul_status status = gpul_launch(kernel,
                                         gpul_launch_opts(.grid = { N / 256 }, .block = { 256 },
                                                          .stream = stream, .extra = extra),
                                         gpul_args(data, (int)N, 2.0f));
        if (status != GPUL_OK) return status;
    }
    assert_ok(gpul_read(got, data, 0, sizeof got, stream));
    if (stream) assert_ok(gpul_stream_sync(stream));
    for (int i = 0; i < N; i++) assert_float_equal(got[i], 4, 0);
    return GPUL_OK;
}

static void results_stay_the_same(void **state)
{
    (void)state;
    const gpul_device_info *info = gpul_device_describe(device);
    int greatest;
    assert_ok(gpul_device_priorities(device, NULL, &greatest));
    assert_ok(scale_with(gpul_launch_extra(.has_priority = false), NULL));
    if (info->driver_version < 11080) {
        assert_code(scale_with(gpul_launch_extra(.has_priority = true), NULL), 715, "11.8");
        return;
    }
    assert_ok(scale_with(gpul_launch_extra(.has_priority = true, .priority = greatest), NULL));
    if (info->driver_version >= 12000)
        assert_ok(scale_with(gpul_launch_extra(.has_domains = true, .domain_of = { 0, 0 }), NULL));
    if (info->driver_version >= 12000 && info->compute_major >= 9)
        assert_ok(scale_with(gpul_launch_extra(.remote_domain = true), NULL));
    if (info->compute_major < 9) {
        assert_code(scale_with(gpul_launch_extra(.programmatic = true), NULL), 715, "9.0");
    } else {
        /* The kernel does not wait for the one before it, so one launch alone is tried. */
        float first = 0, three = 3;
        assert_ok(gpul_write(data, 0, &three, sizeof three, NULL));
        assert_ok(gpul_launch(kernel_of(module, "scale"),
                              gpul_launch_opts(.grid = { 1 }, .block = { 32 },
                                               .extra = gpul_launch_extra(.programmatic = true)),
                              gpul_args(data, 32, 2.0f)));
        assert_ok(gpul_sync(device));
        assert_ok(gpul_read(&first, data, 0, sizeof first, NULL));
        assert_float_equal(first, 6, 0);
    }
    assert_code(scale_with(gpul_launch_extra(.sync = GPUL_SCHEDULE_SPIN), NULL), 315, "stream");
}

static void access_windows_are_taken_or_refused(void **state)
{
    (void)state;
    const gpul_device_info *info = gpul_device_describe(device);
    const gpul_launch_extra *window =
        gpul_launch_extra(.window = { data, 0, N * sizeof(float), 1, GPUL_ACCESS_PERSISTING,
                                      GPUL_ACCESS_NORMAL });
    if (!info->access_window_bytes) {
        assert_code(scale_with(window, NULL), 715, "no access windows");
        return;
    }
    assert_ok(gpul_device_set_limit(device, GPUL_LIMIT_PERSISTING_L2, 1 << 20));
    assert_ok(scale_with(window, NULL));
    gpul_stream *stream;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_stream_set(stream, window));
    assert_ok(scale_with(NULL, stream));
    assert_ok(gpul_device_reset_persisting(device));
    gpul_stream_free(&stream);
}

static void streams_take_attributes(void **state)
{
    (void)state;
    gpul_stream *stream;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_stream_set(stream, gpul_launch_extra(.sync = GPUL_SCHEDULE_BLOCKING)));
    assert_ok(scale_with(NULL, stream));
    assert_code(gpul_stream_set(stream, gpul_launch_extra(.programmatic = true)), 315, "launch");
    gpul_stream_free(&stream);
}

static void clusters_are_counted(void **state)
{
    (void)state;
    const gpul_kernel *kernel = kernel_of(module, "scale");
    int most = 9, active = 9;
    const gpul_launch_opts *pairs = gpul_launch_opts(.block = { 128 }, .cluster = { 2 });
    if (!gpul_device_describe(device)->cluster) {
        assert_code(gpul_kernel_max_cluster(&most, kernel, pairs), 715, "clusters");
        assert_code(gpul_kernel_active_clusters(&active, kernel, pairs), 715, "clusters");
        assert_int_equal(most + active, 0);
        return;
    }
    assert_ok(gpul_kernel_max_cluster(&most, kernel, pairs));
    assert_true(most >= 8 && most <= 16);
    assert_ok(gpul_kernel_active_clusters(&active, kernel, pairs));
    assert_true(active >= 1);
    assert_ok(gpul_launch(
        kernel,
        gpul_launch_opts(.grid = { 16 }, .block = { 256 }, .cluster = { 2 },
                         .extra = gpul_launch_extra(.cluster_policy = GPUL_CLUSTER_SPREAD)),
        gpul_args(data, (int)N, 1.0f)));
    assert_ok(gpul_sync(device));
}

static size_t four_a_thread(int threads)
{
    return (size_t)threads * 4;
}

static void occupancy_is_asked(void **state)
{
    (void)state;
    const gpul_kernel *kernel = kernel_of(module, "scale");
    int block = 0, grid = 0;
    size_t bytes = 0;
    assert_ok(gpul_kernel_suggest(&block, &grid, kernel, NULL));
    assert_true(block >= 32 && grid >= 1);
    assert_ok(gpul_kernel_suggest(&block, &grid, kernel,
                                  gpul_suggest_opts(.shared_of = four_a_thread, .limit = 64)));
    assert_true(block >= 1 && block <= 64);
    assert_ok(gpul_kernel_fitting_shared(&bytes, kernel, 1, 256));
    assert_true(bytes >= 16 << 10);
    assert_code(gpul_kernel_fitting_shared(&bytes, kernel, 1, 5000), 705, "5000");
}

static void preferences_change_no_result(void **state)
{
    (void)state;
    const gpul_kernel *kernel = kernel_of(module, "scale");
    for (int cache = GPUL_CACHE_NONE; cache <= GPUL_CACHE_EQUAL; cache++) {
        assert_ok(gpul_kernel_prefer(
            kernel, gpul_kernel_prefs(.cache = (gpul_cache)cache, .carveout = 25 * (cache - 1))));
        assert_ok(scale_with(NULL, NULL));
    }
    assert_ok(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.carveout = GPUL_CARVEOUT_MAX_L1)));
    assert_ok(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.carveout = GPUL_CARVEOUT_DEFAULT)));
    assert_code(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.carveout = -3)), 315, "-3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_stay_the_same),
        cmocka_unit_test(access_windows_are_taken_or_refused),
        cmocka_unit_test(streams_take_attributes),
        cmocka_unit_test(clusters_are_counted),
        cmocka_unit_test(occupancy_is_asked),
        cmocka_unit_test(preferences_change_no_result),
    };
    return gpul_run_tests("device attributes", tests, open_scale, close_scale);
}
