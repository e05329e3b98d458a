/* Several devices at once, their copies, and limits.  Needs two devices: the CPU device is opened as two, a
 * machine with one GPU skips.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <gpulaunch/device.h>
#include <pthread.h>

static gpul_device *second;

static int open_two(void **state)
{
    (void)state;
    const char *name = getenv("GPULAUNCH_DEVICE");
    bool cpu = name && strcmp(name, "cpu") == 0;
    if (gpul_open(&device, gpul_device_opts(.device = cpu ? "cpu:0" : "cuda:0",
                                            .cpu = { .devices = 2 })) != GPUL_OK) {
        fprintf(stderr, "gpul_open: %s\n", gpul_last_error()->message);
        return -1;
    }
    int count = 0;
    gpul_device_count(&count, cpu ? "cpu" : "cuda");
    if (count > 1 &&
        gpul_open(&second, gpul_device_opts(.device = cpu ? "cpu:1" : "cuda:1")) != GPUL_OK) {
        fprintf(stderr, "gpul_open: %s\n", gpul_last_error()->message);
        return -1;
    }
    return 0;
}

static int close_two(void **state)
{
    gpul_device_free(&second);
    return close_device(state);
}

static void need_two(void)
{
    if (!second) skip_because("there is one device only");
}

static gpul_buffer *buffer_on(gpul_device *where, const void *init, size_t size)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, where, size, gpul_alloc_opts(.init = init)));
    return buffer;
}

static void bytes_cross(void **state)
{
    (void)state;
    need_two();
    enum { N = 1 << 20 };
    unsigned char *put = malloc(N), *got = malloc(N);
    for (int i = 0; i < N; i++) put[i] = (unsigned char)(i * 7 + i / 256);
    gpul_buffer *a = buffer_on(device, put, N), *b = buffer_on(second, NULL, N);
    assert_ok(gpul_copy(b, 0, a, 0, N, NULL));
    assert_ok(gpul_read(got, b, 0, N, NULL));
    assert_memory_equal(put, got, N);
    assert_ok(gpul_fill(b, 0, N, &(uint8_t){ 0x5a }, 1, NULL));
    assert_ok(gpul_copy(a, 100, b, 3, 1000, NULL));
    assert_ok(gpul_read(got, a, 0, N, NULL));
    for (int i = 0; i < N; i++) assert_int_equal(got[i], i < 100 || i >= 1100 ? put[i] : 0x5a);
    assert_code(gpul_copy(a, N - 4, b, 0, 8, NULL), 810, "outside");
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
    free(put);
    free(got);
}

static void streams_of_either_device_order_copies(void **state)
{
    (void)state;
    need_two();
    enum { N = 4096 };
    float one = 1, got[16];
    gpul_module *modules[2];
    gpul_stream *stream;
    gpul_device *devices[2] = { device, second };
    gpul_image *image;
    assert_ok(gpul_image_from_file(&image, "ptx/kernels/scale.ptx"));
    for (int i = 0; i < 2; i++) assert_ok(gpul_load(&modules[i], devices[i], image, NULL));
    gpul_image_free(&image);
    gpul_buffer *a = buffer_on(device, NULL, N * 4), *b = buffer_on(second, NULL, N * 4);
    for (int way = 0; way < 2; way++) {
        gpul_buffer *from = way ? b : a, *to = way ? a : b;
        assert_ok(gpul_stream_new(&stream, devices[way], NULL));
        assert_ok(gpul_fill(from, 0, N * 4, &one, 4, stream));
        assert_ok(gpul_launch(kernel_of(modules[way], "scale"),
                              gpul_launch_opts(.grid = { 16 }, .block = { 256 }, .stream = stream),
                              gpul_args(from, (int)N, 3.0f)));
        assert_ok(gpul_copy(to, 0, from, 0, N * 4, stream));
        assert_ok(gpul_stream_sync(stream));
        assert_ok(gpul_read(got, to, 0, sizeof got, NULL));
        for (int i = 0; i < 16; i++) assert_true(got[i] == 3.0f);
        gpul_stream_free(&stream);
    }
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
    for (int i = 0; i < 2; i++) gpul_module_free(&modules[i]);
}

static void kernels_reach_a_peer(void **state)
{
    (void)state;
    need_two();
    gpul_peer_info info;
    assert_ok(gpul_peer_describe(&info, device, second));
    if (!info.access) {
        assert_code(gpul_peer_enable(device, second), 820, "does not reach");
        skip_because("the two devices do not reach each other's memory");
    }
    assert_ok(gpul_peer_enable(device, second));
    assert_ok(gpul_peer_enable(device, second));
    float data[64], got[64];
    for (int i = 0; i < 64; i++) data[i] = (float)i;
    gpul_buffer *far = buffer_on(second, data, sizeof data);
    gpul_module *module = load_kernels("scale");
    assert_ok(gpul_launch(kernel_of(module, "scale"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 64 }),
                          gpul_args(gpul_address(gpul_buffer_address(far)), 64, 2.0f)));
    assert_ok(gpul_sync(device));
    assert_ok(gpul_read(got, far, 0, sizeof got, NULL));
    for (int i = 0; i < 64; i++) assert_true(got[i] == 2 * data[i]);
    gpul_module_free(&module);
    gpul_buffer_free(&far);
}

/* Whatever two objects a call takes: when they belong to two devices, it says so and does nothing. */
static void objects_of_another_device_are_refused(void **state)
{
    (void)state;
    need_two();
    gpul_buffer *near = buffer_on(device, NULL, 64), *far = buffer_on(second, NULL, 64), *none;
    gpul_stream *there;
    gpul_event *event, *theirs;
    gpul_pool *pool;
    gpul_sequence *sequence;
    char host[64] = { 0 };
    gpul_module *module = load_kernels("scale");
    const gpul_kernel *scale = kernel_of(module, "scale");
    assert_ok(gpul_stream_new(&there, second, NULL));
    assert_ok(gpul_event_new(&event, device));
    assert_ok(gpul_event_new(&theirs, second));
    assert_ok(gpul_event_record(event, NULL));
    assert_ok(gpul_event_record(theirs, there));
    const gpul_launch_opts *launch = gpul_launch_opts(.grid = { 1 }, .block = { 16 });
    const gpul_launch_opts *elsewhere =
        gpul_launch_opts(.grid = { 1 }, .block = { 16 }, .stream = there);
    assert_code(gpul_write(near, 0, host, 64, there), 313, "");
    assert_code(gpul_read(host, near, 0, 64, there), 313, "");
    assert_code(gpul_fill(near, 0, 64, "abcd", 4, there), 313, "");
    assert_code(gpul_fill_2d(near, 0, 8, 8, 8, "ab", 2, there), 313, "");
    assert_code(gpul_copy_2d(gpul_plane(.buffer = near), gpul_plane(.buffer = far), 8, 8, NULL),
                313, "different devices", "gpul_copy");
    assert_code(gpul_copy_3d(gpul_box(.buffer = near), gpul_box(.buffer = far), 4, 4, 4, NULL), 313,
                "different devices", "gpul_copy");
    assert_code(gpul_copy_3d(gpul_box(.buffer = near), gpul_box(.host = host), 4, 4, 4, there), 313,
                "");
    assert_code(gpul_launch(scale, elsewhere, gpul_args(near, 16, 2.0f)), 313, "");
    assert_code(gpul_launch(scale, launch, gpul_args(far, 16, 2.0f)), 313, "");
    assert_code(gpul_event_record(event, there), 313, "");
    assert_code(gpul_event_elapsed(&(float){ 0 }, event, theirs), 313, "");
    assert_code(gpul_stream_call(device, there, (void (*)(void *))abort, NULL), 313, "");
    assert_code(gpul_stream_wait_value(there, near, 0, 0, GPUL_COMPARE_EQ), 313, "");
    assert_code(gpul_stream_write_value(there, near, 0, 0), 313, "");
    assert_ok(gpul_sequence_new(&sequence, device));
    assert_code(gpul_sequence_launch(sequence, scale, launch, gpul_args(far, 16, 2.0f)), 313, "");
    assert_code(gpul_sequence_write(sequence, far, 0, host, 64), 313, "");
    assert_code(gpul_sequence_read(sequence, host, far, 0, 64), 313, "");
    assert_code(gpul_sequence_fill(sequence, far, 0, 64, "ab", 2), 313, "");
    assert_ok(gpul_sequence_fill(sequence, near, 0, 64, "ab", 2));
    assert_code(gpul_sequence_play(sequence, there), 313, "");
    gpul_sequence_free(&sequence);
    if (gpul_device_describe(second)->memory_pools) {
        assert_ok(gpul_pool_new(&pool, second, NULL));
        assert_code(gpul_alloc(&none, device, 64,
                               gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .pool = pool)),
                    313, "");
        assert_code(gpul_alloc(&none, device, 64,
                               gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .stream = there)),
                    313, "");
        assert_null(none);
        gpul_pool_free(&pool);
    }
    gpul_buffer *kept = near;
    assert_code(gpul_buffer_free_on(&near, there), 313, "");
    assert_ptr_equal(near, kept);
    gpul_event_free(&event);
    gpul_event_free(&theirs);
    gpul_stream_free(&there);
    gpul_module_free(&module);
    gpul_buffer_free(&near);
    gpul_buffer_free(&far);
    assert_ok(gpul_sync(device));
    assert_ok(gpul_sync(second));
}

static void nothing_is_no_object(void **state)
{
    (void)state;
    gpul_event *event = (gpul_event *)1;
    gpul_pool *pool = (gpul_pool *)1;
    gpul_pool_info info;
    bool done = true;
    assert_code(gpul_device_memory(NULL, NULL, NULL), 314, "device");
    assert_code(gpul_event_new(NULL, device), 314, "out");
    assert_code(gpul_event_new(&event, NULL), 314, "device");
    assert_null(event);
    assert_code(gpul_pool_new(NULL, device, NULL), 314, "out");
    assert_code(gpul_pool_new(&pool, NULL, NULL), 314, "device");
    assert_null(pool);
    assert_code(gpul_pool_describe(&info, NULL), 314, "pool");
    assert_code(gpul_stream_done(&done, NULL), 314, "stream");
    assert_code(gpul_capture_begin(NULL), 314, "stream");
    assert_ok(gpul_buffer_free_on(NULL, NULL)); /* as the other ways to free */
}

static void *copy_in_thread(void *status)
{
    char got[64];
    gpul_buffer *a, *b;
    gpul_status s = gpul_alloc(&a, device, 64, gpul_alloc_opts(.init = got));
    if (s == GPUL_OK) s = gpul_alloc(&b, second, 64, NULL);
    for (int i = 0; i < 20 && s == GPUL_OK; i++) {
        s = gpul_copy(b, 0, a, 0, 64, NULL);
        if (s == GPUL_OK) s = gpul_copy(a, 0, b, 0, 64, NULL);
    }
    if (s == GPUL_OK) gpul_buffer_free(&a), gpul_buffer_free(&b);
    *(gpul_status *)status = s;
    return NULL;
}

static void threads_share_two_devices(void **state)
{
    (void)state;
    need_two();
    pthread_t threads[8];
    gpul_status status[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_in_thread, &status[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(status[i], GPUL_OK);
    }
}

static void one_device_twice_copies_too(void **state)
{
    (void)state;
    gpul_device *again;
    char got[8];
    assert_ok(gpul_open(&again, gpul_device_opts(.device = gpul_device_describe(device)->uuid)));
    gpul_buffer *a = buffer_on(device, "abcdefgh", 8), *b = buffer_on(again, NULL, 8);
    assert_ok(gpul_copy(b, 0, a, 0, 8, NULL));
    assert_ok(gpul_read(got, b, 0, 8, NULL));
    assert_memory_equal(got, "abcdefgh", 8);
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
    gpul_device_free(&again);
}

static void limits_are_kept(void **state)
{
    (void)state;
    uint64_t before = 0, value = 0;
    assert_ok(gpul_device_limit(&before, device, GPUL_LIMIT_STACK));
    assert_true(before >= 512);
    assert_ok(gpul_device_set_limit(device, GPUL_LIMIT_STACK, before + 1024));
    assert_ok(gpul_device_limit(&value, device, GPUL_LIMIT_STACK));
    assert_true(value >= before + 1024);
    assert_ok(gpul_device_set_limit(device, GPUL_LIMIT_STACK, before));
    assert_ok(gpul_device_limit(&value, device, GPUL_LIMIT_HEAP));
    assert_true(value > 0);
    assert_ok(gpul_device_set_limit(device, GPUL_LIMIT_HEAP, value * 2));
    assert_ok(gpul_device_limit(&value, device, GPUL_LIMIT_PRINTF));
    assert_true(value > 0);
    assert_code(gpul_device_limit(&value, device, (gpul_limit)17), 315, "limit is 17");
    assert_int_equal(value, 0);
}

/* Without an MPS server no device has execution affinity; with one the context says what it got. */
static void a_share_of_the_device_is_had_or_refused(void **state)
{
    (void)state;
    gpul_device *part = (gpul_device *)1;
    const gpul_device_info *info = gpul_device_describe(device);
    gpul_status status =
        gpul_open(&part, gpul_device_opts(.device = info->uuid, .multiprocessors = 1));
    if (status == GPUL_OK) {
        assert_in_range(gpul_device_describe(part)->context_multiprocessors, 1,
                        info->multiprocessors);
        gpul_device_free(&part);
        return;
    }
    assert_code(status, 821, "share of the multiprocessors", "MPS");
    assert_null(part);
}

static const char smid[] = "extern \"C\" __global__ void where(unsigned *used)\n"
                           "{\n"
                           "    unsigned sm;\n"
                           "    asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
                           "    if (threadIdx.x == 0) atomicAdd(&used[sm], 1u);\n"
                           "}\n";

/* Two streams on parts of the device that share no multiprocessor. */
static void parts_are_apart(void **state)
{
    (void)state;
    enum { SMS = 1024 };
    static unsigned used[2][SMS];
    gpul_device *primary;
    gpul_image *image;
    gpul_module *module;
    gpul_stream *streams[2];
    bool cpu = gpul_device_describe(device)->backend == GPUL_BACKEND_CPU;
    assert_ok(gpul_open(&primary, gpul_device_opts(.device = cpu ? "cpu:0" : "cuda:0",
                                                   .context_kind = GPUL_CONTEXT_PRIMARY)));
    gpul_status status =
        gpul_stream_new(&streams[0], primary, gpul_stream_opts(.multiprocessors = 1));
    if (status == GPUL_E_UNSUPPORTED) {
        assert_code(status, 821, "a stream cannot be made");
        gpul_device_free(&primary);
        skip_because("this device or driver does not part its multiprocessors");
    }
    assert_ok(status);
    assert_ok(
        gpul_stream_new(&streams[1], primary, gpul_stream_opts(.multiprocessors = 1, .part = 1)));
    assert_ok(gpul_compile(&image, smid, GPUL_TEXT, gpul_compile_opts(.device = primary)));
    assert_ok(gpul_load(&module, primary, image, NULL));
    for (int i = 0; i < 2; i++) {
        gpul_stream_info info;
        gpul_buffer *counts;
        assert_ok(gpul_stream_describe(&info, streams[i]));
        assert_true(info.multiprocessors > 0);
        memset(used[i], 0, sizeof used[i]);
        assert_ok(gpul_alloc(&counts, primary, sizeof used[i], gpul_alloc_opts(.init = used[i])));
        assert_ok(
            gpul_launch(kernel_of(module, "where"),
                        gpul_launch_opts(.grid = { 4096 }, .block = { 64 }, .stream = streams[i]),
                        gpul_args(counts)));
        assert_ok(gpul_stream_sync(streams[i]));
        assert_ok(gpul_read(used[i], counts, 0, sizeof used[i], NULL));
        unsigned sms = 0;
        for (int sm = 0; sm < SMS; sm++) sms += used[i][sm] != 0;
        assert_true(sms > 0 && sms <= info.multiprocessors + 2);
        gpul_buffer_free(&counts);
    }
    gpul_module_free(&module);
    gpul_image_free(&image);
    for (int i = 0; i < 2; i++) gpul_stream_free(&streams[i]);
    gpul_device_free(&primary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_cross),
        cmocka_unit_test(streams_of_either_device_order_copies),
        cmocka_unit_test(kernels_reach_a_peer),
        cmocka_unit_test(objects_of_another_device_are_refused),
        cmocka_unit_test(nothing_is_no_object),
        cmocka_unit_test(threads_share_two_devices),
        cmocka_unit_test(one_device_twice_copies_too),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(a_share_of_the_device_is_had_or_refused),
        cmocka_unit_test(parts_are_apart),
    };
    return gpul_run_tests("device devices", tests, open_two, close_two);
}
