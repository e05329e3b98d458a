/* Launch attributes, occupancy and preferences over the recording provider: what reaches the driver, and what
 * is refused before it.  SPDX-License-Identifier: MIT */
#include "suite.h"

static gpul_status launch_with(const gpul_launch_extra *extra)
{
    return gpul_launch(kernel_of("nothing"),
                       gpul_launch_opts(.grid = { 4 }, .block = { 32 }, .extra = extra),
                       gpul_no_args);
}

static const CUlaunchAttributeValue *attribute(CUlaunchAttributeID id)
{
    const gpul__record_launch *l = gpul__record_launch_at(-1);
    for (unsigned i = 0; i < l->attribute_count; i++)
        if (l->attributes[i].id == id) return &l->attributes[i].value;
    fail_msg("attribute %d did not reach the driver", (int)id);
    return NULL;
}

static void attributes_reach_the_driver(void **state)
{
    (void)state;
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, 4096, NULL));
    device->info.access_window_bytes = 1 << 20;
    assert_ok(launch_with(
        gpul_launch_extra(.programmatic = true, .has_priority = true, .priority = -3,
                          .cluster_policy = GPUL_CLUSTER_BALANCE, .remote_domain = true,
                          .has_domains = true, .domain_of = { 1, 2 }, .preferred_cluster = { 2 },
                          .window = { buffer, 1024, 2048, 0.5f, GPUL_ACCESS_PERSISTING,
                                      GPUL_ACCESS_STREAMING })));
    assert_int_equal(gpul__record_launch_at(-1)->attribute_count, 7);
    assert_int_equal(attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
                         ->programmaticStreamSerializationAllowed,
                     1);
    assert_int_equal(attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY)->priority, -3);
    assert_int_equal(attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
                         ->clusterSchedulingPolicyPreference,
                     CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
    assert_int_equal(attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)->memSyncDomain,
                     CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    assert_int_equal(attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)->memSyncDomainMap.remote,
                     2);
    assert_int_equal(
        attribute(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)->preferredClusterDim.y, 1);
    const CUaccessPolicyWindow *w =
        &attribute(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)->accessPolicyWindow;
    assert_int_equal((uintptr_t)w->base_ptr, gpul_buffer_address(buffer) + 1024);
    assert_int_equal(w->num_bytes, 2048);
    assert_int_equal(w->hitProp, CU_ACCESS_PROPERTY_PERSISTING);
    assert_int_equal(w->missProp, CU_ACCESS_PROPERTY_STREAMING);
    /* Nothing asked for is nothing passed on; raw ones go as they are. */
    assert_ok(launch_with(gpul_launch_extra(.has_priority = false)));
    assert_int_equal(gpul__record_launch_at(-1)->attribute_count, 0);
    CUlaunchAttribute raw = { .id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 5 };
    assert_ok(launch_with(gpul_launch_extra(.raw = &raw, .raw_count = 1)));
    assert_int_equal(attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY)->priority, 5);
    gpul_buffer_free(&buffer);
}

static void wrong_attributes_are_refused(void **state)
{
    (void)state;
    gpul_buffer *buffer, *foreign;
    gpul_device *other;
    assert_ok(gpul_alloc(&buffer, device, 4096, NULL));
    assert_ok(gpul_open(&other, NULL));
    assert_ok(gpul_alloc(&foreign, other, 4096, NULL));
    size_t before = gpul__record_launches();
    device->info.access_window_bytes = 1024;
#define REFUSED(code, words, ...)                                                                  \
    assert_code(launch_with(gpul_launch_extra(__VA_ARGS__)), code, words)
    REFUSED(315, "cluster_policy is 7", .cluster_policy = (gpul_cluster_policy)7);
    REFUSED(315, "for a stream", .sync = GPUL_SCHEDULE_SPIN);
    REFUSED(315, "17 raw", .raw = "", .raw_count = 17);
    REFUSED(315, "1 raw", .raw_count = 1);
    REFUSED(313, "another device", .window = { .buffer = foreign, .size = 16 });
    REFUSED(810, "lies outside", .window = { .buffer = buffer, .offset = 4096, .size = 1 });
    REFUSED(315, "ratio is 1.5", .window = { .buffer = buffer, .size = 16, .ratio = 1.5f });
    REFUSED(315, "PERSISTING", .window = { .buffer = buffer, .miss = GPUL_ACCESS_PERSISTING });
    REFUSED(705, "2000 bytes", .window = { .buffer = buffer, .size = 2000 });
    device->info.access_window_bytes = 0;
    REFUSED(715, "no access windows", .window = { .buffer = buffer, .size = 16 });
    /* Two mistakes come together. */
    assert_code(launch_with(gpul_launch_extra(.sync = GPUL_SCHEDULE_SPIN, .raw_count = 1)), 315,
                "for a stream", "1 raw");
#undef REFUSED
    assert_int_equal(gpul__record_launches(), before);
    gpul_buffer_free(&foreign);
    gpul_device_free(&other);
    gpul_buffer_free(&buffer);
}

/* The same device with an older driver. */
static void reopen(int version, int capability, const char *without)
{
    gpul_module_free(&module);
    gpul_device_free(&device);
    use_record(
        &(gpul__record_config){ .driver_version = version, .compute_capability = capability });
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    if (without) gpul__fault_without(without);
    assert_ok(gpul_open(&device, NULL));
    gpul_image *image = image_of(".version 7.0\n.target sm_70\n.address_size 64\n"
                                 ".visible .entry nothing()\n{\n    ret;\n}\n");
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
}

static void older_drivers_refuse_in_words(void **state)
{
    (void)state;
    reopen(11040, 80, "cuLaunchKernelEx");
    assert_code(launch_with(gpul_launch_extra(.has_priority = true)), 715, "CUDA 11.8",
                "CUDA 11.4");
    assert_ok(launch_with(NULL));
    reopen(11080, 80, NULL);
    assert_ok(launch_with(gpul_launch_extra(.has_priority = true)));
    assert_code(launch_with(gpul_launch_extra(.remote_domain = true)), 715, "CUDA 12.0");
    assert_code(launch_with(gpul_launch_extra(.preferred_cluster = { 4 })), 715, "CUDA 12.8");
    assert_code(launch_with(gpul_launch_extra(.programmatic = true)), 715, "compute capability 9.0",
                "8.0");
    int clusters = 9;
    device->info.cluster = false;
    assert_code(
        gpul_kernel_max_cluster(&clusters, kernel_of("nothing"), gpul_launch_opts(.block = { 32 })),
        715, "9.0");
    assert_int_equal(clusters, 0);
    gpul__fault_without(NULL);
}

static void streams_take_attributes(void **state)
{
    (void)state;
    gpul_stream *stream;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_stream_set(
        stream, gpul_launch_extra(.sync = GPUL_SCHEDULE_BLOCKING, .has_priority = true)));
    assert_ok(gpul_stream_set(stream, gpul_launch_extra(.remote_domain = true)));
    assert_code(gpul_stream_set(stream, gpul_launch_extra(.programmatic = true)), 315,
                "programmatic is for a launch");
    assert_code(gpul_stream_set(stream, gpul_launch_extra(.preferred_cluster = { 2 })), 315,
                "preferred_cluster");
    assert_code(gpul_stream_set(stream, gpul_launch_extra(.sync = (gpul_schedule)9)), 315, "9");
    assert_code(gpul_stream_set(stream, NULL), 314, "attributes");
    assert_code(gpul_stream_set(NULL, gpul_launch_extra(.sync = GPUL_SCHEDULE_SPIN)), 314,
                "stream");
    gpul_stream_free(&stream);
}

static size_t four_a_thread(int threads)
{
    return (size_t)threads * 4;
}

static void occupancy_is_asked(void **state)
{
    (void)state;
    const gpul_kernel *kernel = kernel_of("nothing");
    int block = 0, grid = 0, most = 0, active = 0;
    size_t bytes = 0;
    assert_ok(gpul_kernel_suggest(&block, &grid, kernel, NULL));
    assert_true(block >= 32 && block <= 1024 && grid >= 132);
    assert_ok(gpul_kernel_suggest(&block, NULL, kernel, gpul_suggest_opts(.limit = 128)));
    assert_true(block <= 128);
    assert_ok(
        gpul_kernel_suggest(NULL, &grid, kernel, gpul_suggest_opts(.shared_of = four_a_thread)));
    assert_code(gpul_kernel_suggest(&block, &grid, kernel, gpul_suggest_opts(.shared = 1 << 20)),
                707, "1048576");
    assert_int_equal(block + grid, 0);
    assert_ok(gpul_kernel_fitting_shared(&bytes, kernel, 2, 256));
    assert_true(bytes > 48 << 10 && bytes < 228 << 10);
    assert_code(gpul_kernel_fitting_shared(&bytes, kernel, 0, 256), 705, "0 blocks");
    assert_code(gpul_kernel_fitting_shared(&bytes, kernel, 1, 2000), 705, "2000");
    assert_ok(gpul_kernel_max_cluster(&most, kernel, gpul_launch_opts(.block = { 128 })));
    assert_true(most >= 8 && most <= 16);
    assert_ok(gpul_kernel_active_clusters(&active, kernel,
                                          gpul_launch_opts(.block = { 128 }, .cluster = { 2 })));
    assert_true(active > 0);
    assert_ok(gpul_kernel_active_clusters(&active, kernel_of("paired"),
                                          gpul_launch_opts(.block = { 128 })));
    assert_code(gpul_kernel_active_clusters(&active, kernel, gpul_launch_opts(.block = { 128 })),
                711, "neither");
    assert_code(gpul_kernel_max_cluster(&most, kernel, gpul_launch_opts(.block = { 0 })), 704,
                "block.x");
    assert_code(gpul_kernel_max_cluster(&most, kernel, NULL), 314, "opts");
}

static void preferences_reach_the_driver(void **state)
{
    (void)state;
    const gpul_kernel *kernel = kernel_of("nothing");
    int value = 0;
    assert_ok(
        gpul_kernel_prefer(kernel, gpul_kernel_prefs(.cache = GPUL_CACHE_L1, .carveout = 50)));
    assert_int_equal(
        gpul__record_driver()->FuncGetAttribute(
            &value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, gpul_kernel_handle(kernel)),
        CUDA_SUCCESS);
    assert_int_equal(value, 50);
    assert_ok(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.carveout = GPUL_CARVEOUT_MAX_L1)));
    assert_ok(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.carveout = GPUL_CARVEOUT_DEFAULT)));
    assert_ok(gpul_kernel_prefer(kernel, gpul_kernel_prefs(0)));
    assert_code(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.carveout = 101)), 315, "101");
    assert_code(gpul_kernel_prefer(kernel, gpul_kernel_prefs(.cache = (gpul_cache)8)), 315, "8");
    assert_code(gpul_kernel_prefer(kernel, NULL), 314, "prefs");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
GPUL_TEST_MAIN("core attributes", TEST(attributes_reach_the_driver),
               TEST(wrong_attributes_are_refused), TEST(older_drivers_refuse_in_words),
               TEST(streams_take_attributes), TEST(occupancy_is_asked),
               TEST(preferences_reach_the_driver));
