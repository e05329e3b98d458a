/* Limits, and several devices over the recording provider: which entries are called, and what is said.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include <gpulaunch/device.h>
#include <pthread.h>

static gpul__driver table;
static gpul_device *second;
static int enabled, peer_copies, asked;
static CUresult answer;

static CUresult enable(CUcontext peer, unsigned flags)
{
    enabled++;
    return answer ? answer : gpul__record_driver()->CtxEnablePeerAccess(peer, flags);
}

static CUresult copy(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     size_t bytes, CUstream stream)
{
    peer_copies++;
    return gpul__record_driver()->MemcpyPeerAsync(to, to_context, from, from_context, bytes,
                                                  stream);
}

static CUresult ask(int *can, CUdevice ordinal, CUdevice peer)
{
    asked++;
    return gpul__record_driver()->DeviceCanAccessPeer(can, ordinal, peer);
}

static int open_two(void **state)
{
    (void)state;
    use_record(&(gpul__record_config){ .devices = 2 });
    table = *gpul__record_driver();
    table.CtxEnablePeerAccess = enable;
    table.MemcpyPeerAsync = copy;
    table.DeviceCanAccessPeer = ask;
    gpul__driver_override(&table);
    enabled = peer_copies = asked = 0;
    answer = CUDA_SUCCESS;
    assert_ok(gpul_open(&device, gpul_device_opts(.device = "cuda:0")));
    assert_ok(gpul_open(&second, gpul_device_opts(.device = "cuda:1")));
    return 0;
}

static int close_two(void **state)
{
    gpul_device_free(&second);
    return close_all(state);
}

static gpul_buffer *buffer_on(gpul_device *where, const void *init, size_t size)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, where, size, gpul_alloc_opts(.init = init)));
    return buffer;
}

static void copies_open_the_way_once(void **state)
{
    (void)state;
    char got[8];
    gpul_stream *stream, *other;
    gpul_buffer *a = buffer_on(device, "abcdefgh", 8), *b = buffer_on(second, NULL, 8);
    assert_ok(gpul_copy(b, 2, a, 1, 4, NULL));
    assert_ok(gpul_read(got, b, 2, 4, NULL));
    assert_memory_equal(got, "bcde", 4);
    assert_int_equal(enabled, 2);
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_stream_new(&other, second, NULL));
    assert_ok(gpul_copy(a, 0, b, 2, 4, stream));
    assert_ok(gpul_copy(a, 4, b, 2, 4, other));
    assert_ok(gpul_read(got, a, 0, 8, NULL));
    assert_memory_equal(got, "bcdebcde", 8);
    assert_int_equal(enabled, 2);
    assert_int_equal(asked, 2);
    assert_int_equal(peer_copies, 3);
    assert_code(gpul_copy(b, 5, a, 0, 4, NULL), 810, "4 bytes at offset 5");
    gpul_stream_free(&other);
    gpul_stream_free(&stream);
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
}

static void host_memory_is_copied_plainly(void **state)
{
    (void)state;
    gpul_buffer *pinned, *b = buffer_on(second, NULL, 8);
    assert_ok(gpul_alloc(&pinned, device, 8, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    assert_ok(gpul_copy(b, 0, pinned, 0, 8, NULL));
    assert_int_equal(peer_copies, 0);
    gpul_buffer_free(&pinned);
    gpul_buffer_free(&b);
}

static char told[256];
static void keep(void *user, gpul_level level, const char *message)
{
    (void)user;
    if (level == GPUL_LOG_WARN) snprintf(told, sizeof told, "%s", message);
}

static void a_slow_way_is_told(void **state)
{
    (void)state;
    gpul_buffer *a = buffer_on(device, "abcdefgh", 8), *b = buffer_on(second, NULL, 8);
    gpul_set_log((gpul_log){ .fn = keep });
    answer = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    assert_ok(gpul_copy(b, 0, a, 0, 8, NULL));
    gpul_set_log((gpul_log){ 0 });
    assert_non_null(strstr(told, "through the host"));
    assert_int_equal(peer_copies, 1);
    assert_code(gpul_peer_enable(device, second), 820, "does not reach", "gpul_copy");
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
}

static void other_refusals_come_back(void **state)
{
    (void)state;
    answer = CUDA_ERROR_INVALID_VALUE;
    assert_code(gpul_peer_enable(device, second), 814, "access to another device");
    assert_string_equal(gpul_last_error()->call, "cuCtxEnablePeerAccess");
    answer = CUDA_SUCCESS;
    assert_ok(gpul_peer_enable(device, second));
    assert_ok(gpul_peer_enable(device, second));
    assert_int_equal(enabled, 2);
    answer = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    assert_ok(gpul_peer_enable(second, device));
}

static void ways_are_described(void **state)
{
    (void)state;
    gpul_peer_info info;
    gpul_device *again;
    assert_ok(gpul_peer_describe(&info, device, second));
    assert_true(info.access && info.native_atomics && info.arrays);
    assert_int_equal(info.rank, 0);
    /* Two contexts of one device need no way. */
    assert_ok(gpul_open(&again, gpul_device_opts(.device = "cuda:0")));
    assert_ok(gpul_peer_describe(&info, device, again));
    assert_true(info.access);
    assert_ok(gpul_peer_enable(device, again));
    assert_int_equal(asked, 0);
    gpul_device_free(&again);
    assert_code(gpul_peer_describe(NULL, device, second), 314, "out");
    assert_code(gpul_peer_enable(device, NULL), 314, "peer");
    table.DeviceGetP2PAttribute = NULL;
    assert_code(gpul_peer_describe(&info, device, second), 820, "the way between");
    second->is_cpu = true;
    assert_code(gpul_peer_enable(device, second), 313, "different kinds");
    second->is_cpu = false;
}

static void limits_are_set_and_told(void **state)
{
    (void)state;
    uint64_t value = 99;
    assert_ok(gpul_device_set_limit(device, GPUL_LIMIT_STACK, 4096));
    assert_ok(gpul_device_set_limit(device, GPUL_LIMIT_HEAP, 1 << 20));
    assert_ok(gpul_device_limit(&value, device, GPUL_LIMIT_STACK));
    assert_int_equal(value, 4096);
    assert_ok(gpul_device_limit(&value, device, GPUL_LIMIT_HEAP));
    assert_int_equal(value, 1 << 20);
    assert_code(gpul_device_limit(&value, device, (gpul_limit)3), 315, "limit is 3");
    assert_int_equal(value, 0);
    assert_code(gpul_device_set_limit(device, (gpul_limit)99, 1), 315, "limit is 99");
    assert_code(gpul_device_set_limit(NULL, GPUL_LIMIT_STACK, 1), 314, "device");
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, NULL));
    gpul__fault_entry("cuCtxSetLimit", 1, CUDA_ERROR_INVALID_VALUE);
    assert_code(gpul_device_set_limit(device, GPUL_LIMIT_PRINTF, 1), 814, "printf buffer",
                "launched already");
    gpul__fault_entry("cuCtxGetLimit", 1, CUDA_ERROR_UNSUPPORTED_LIMIT);
    assert_code(gpul_device_limit(&value, device, GPUL_LIMIT_PERSISTING_L2), 820, "persisting");
    gpul__fault_entry("cuCtxResetPersistingL2Cache", 1, CUDA_ERROR_UNKNOWN);
    assert_code(gpul_device_reset_persisting(device), 814, "persisting");
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    gpul_buffer *a = buffer_on(device, "abcdefgh", 8), *b = buffer_on(second, NULL, 8);
    for (long n = 1; n < 4; n++) {
        gpul__alloc_fail_at(n);
        gpul_status status = gpul_copy(b, 0, a, 0, 8, NULL);
        gpul__alloc_fail_at(0);
        if (status != GPUL_OK) assert_int_equal(status, GPUL_E_MEMORY);
    }
    assert_ok(gpul_copy(b, 0, a, 0, 8, NULL));
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
}

static void *copy_both_ways(void *status)
{
    gpul_buffer *a = NULL, *b = NULL;
    gpul_status s = gpul_alloc(&a, device, 64, NULL);
    if (s == GPUL_OK) s = gpul_alloc(&b, second, 64, NULL);
    for (int i = 0; i < 50 && s == GPUL_OK; i++)
        s = i % 2 ? gpul_copy(b, 0, a, 0, 64, NULL) : gpul_copy(a, 0, b, 0, 64, NULL);
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
    *(gpul_status *)status = s;
    return NULL;
}

static void eight_threads_copy(void **state)
{
    (void)state;
    pthread_t threads[8];
    gpul_status status[8];
    gpul__driver_override(gpul__record_driver());
    gpul_device_free(&second);
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, gpul_device_opts(.device = "cuda:0")));
    assert_ok(gpul_open(&second, gpul_device_opts(.device = "cuda:1")));
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_both_ways, &status[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(status[i], GPUL_OK);
    }
}

static void streams_have_a_part(void **state)
{
    (void)state;
    gpul_device *primary;
    gpul_stream *stream = (gpul_stream *)1;
    gpul_stream_info info;
    assert_code(gpul_stream_new(&stream, device, gpul_stream_opts(.multiprocessors = 16)), 315,
                "primary context", "GPUL_CONTEXT_PRIMARY");
    assert_null(stream);
    assert_code(gpul_stream_new(&stream, device, gpul_stream_opts(.part = 1)), 315, "part is 1");
    assert_ok(gpul_open(&primary, gpul_device_opts(.context_kind = GPUL_CONTEXT_PRIMARY)));
    assert_code(gpul_stream_new(&stream, primary, gpul_stream_opts(.multiprocessors = 1000)), 315,
                "has 132");
    assert_code(gpul_stream_new(&stream, primary,
                                gpul_stream_opts(.multiprocessors = 16, .blocking = true)),
                315, "blocking");
    assert_ok(gpul_stream_new(&stream, primary,
                              gpul_stream_opts(.multiprocessors = 13, .part = 2, .priority = -3)));
    assert_ok(gpul_stream_describe(&info, stream));
    assert_int_equal(info.multiprocessors, 16);
    assert_int_equal(info.priority, -3);
    assert_ok(gpul_stream_sync(stream));
    gpul_stream_free(&stream);
    assert_code(
        gpul_stream_new(&stream, primary, gpul_stream_opts(.multiprocessors = 60, .part = 2)), 818,
        "a stream cannot be made");
    assert_int_equal(gpul_last_error()->native, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    gpul_device_free(&primary);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    static const char *const entries[] = { "cuDeviceGetDevResource", "cuDevSmResourceSplitByCount",
                                           "cuDevResourceGenerateDesc", "cuGreenCtxCreate",
                                           "cuGreenCtxStreamCreate" };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        assert_ok(gpul_open(&primary, gpul_device_opts(.context_kind = GPUL_CONTEXT_PRIMARY)));
        gpul__fault_entry(entries[i], 1, CUDA_ERROR_OUT_OF_MEMORY);
        assert_code(gpul_stream_new(&stream, primary, gpul_stream_opts(.multiprocessors = 8)), 804,
                    "a stream cannot be made");
        gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
        gpul_device_free(&primary);
        gpul__fault_without(entries[i]);
        assert_ok(gpul_open(&primary, gpul_device_opts(.context_kind = GPUL_CONTEXT_PRIMARY)));
        assert_code(gpul_stream_new(&stream, primary, gpul_stream_opts(.multiprocessors = 8)), 821,
                    "a stream cannot be made");
        gpul__fault_without(NULL);
        gpul_device_free(&primary);
    }
    assert_int_equal(gpul__record_live().contexts, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_two, close_two)
    const struct CMUnitTest tests[] = {
        TEST(copies_open_the_way_once),  TEST(host_memory_is_copied_plainly),
        TEST(a_slow_way_is_told),        TEST(other_refusals_come_back),
        TEST(ways_are_described),        TEST(limits_are_set_and_told),
        TEST(every_allocation_may_fail), TEST(eight_threads_copy),
        TEST(streams_have_a_part),
    };
    return gpul_run_tests("core peer", tests, NULL, NULL);
}
