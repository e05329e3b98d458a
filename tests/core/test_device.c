/* Devices: the grammar of names, the kinds of contexts, which context is current before and after a call,
 * threads and forks.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(void **state)
{
    (void)state;
    unsetenv("GPULAUNCH_DEVICE");
    unsetenv("GPULAUNCH_REQUIRE_GPU");
    unsetenv("CUDA_VISIBLE_DEVICES");
    use_record(&(gpul__record_config){ .devices = 3 });
    return 0;
}

static int stop(void **state)
{
    start(state);
    gpul__driver_override(NULL);
    return 0;
}

static void check_no_leaks(void)
{
    if (*gpul__record_leaks()) fail_msg("left behind: %s", gpul__record_leaks());
}

static int ordinal_of(const char *name)
{
    gpul_device_info info;
    assert_ok(gpul_device_query(&info, name));
    return info.ordinal;
}

static void names_follow_one_grammar(void **state)
{
    (void)state;
    gpul_device_info info;
    assert_int_equal(ordinal_of(NULL), 0);
    assert_int_equal(ordinal_of("cuda"), 0);
    assert_int_equal(ordinal_of("cuda:2"), 2);
    assert_int_equal(ordinal_of("GPU-2021"), 1);
    assert_int_equal(ordinal_of("gpu-30313233-3435-3637-3839-3a3b3c3d3e3f"), 2);
    assert_int_equal(ordinal_of("0000:02:00.0"), 1);
    assert_int_equal(ordinal_of("03:00.0"), 2);
    assert_int_equal(ordinal_of("auto"), 0);
    assert_int_equal(ordinal_of("name:h200"), 0);
    assert_code(gpul_device_query(&info, "name:B300"), 1006, "in its name",
                "cuda:2 is NVIDIA H200");
    assert_code(gpul_device_query(&info, "name:"), 1006, "name:TEXT");
    assert_code(gpul_device_query(&info, "cuda:3"), 1006, "\"cuda:3\"", "there are 3",
                "cuda:2 is NVIDIA H200, GPU-30313233", "0000:03:00.0");
    assert_code(gpul_device_query(&info, "cuda:"), 1006, "a number is expected");
    assert_code(gpul_device_query(&info, "cuda:x"), 1006, "cuda:x");
    assert_code(gpul_device_query(&info, "cuda:99999999999"), 1006, "number");
    assert_code(gpul_device_query(&info, "cudax"), 1006, "\"cudax\"", "auto:free");
    assert_code(gpul_device_query(&info, ""), 1006, "\"\"");
    assert_code(gpul_device_query(&info, "GPU-"), 1006, "several UUIDs");
    assert_code(gpul_device_query(&info, "GPU-99"), 1006, "no device has that UUID",
                "cuda:0 is NVIDIA H200");
    assert_code(gpul_device_query(&info, "0000:44:00.0"), 1006, "PCI id");
    assert_int_equal(info.max_threads_per_block, 0);
    assert_code(gpul_device_query(NULL, "cuda"), 314, "out");
    setenv("CUDA_VISIBLE_DEVICES", "4,5,6", 1);
    assert_code(gpul_device_query(&info, "cuda:4"), 1006, "CUDA_VISIBLE_DEVICES is 4,5,6");
}

static void the_environment_names_the_default(void **state)
{
    (void)state;
    gpul_device_info info;
    setenv("GPULAUNCH_DEVICE", "cuda:1", 1);
    assert_int_equal(ordinal_of(NULL), 1);
    assert_int_equal(ordinal_of("cuda:2"), 2);
    setenv("GPULAUNCH_DEVICE", "", 1);
    assert_int_equal(ordinal_of(NULL), 0);
    setenv("GPULAUNCH_DEVICE", "gpu", 1);
    assert_code(gpul_device_query(&info, NULL), 1006, "\"gpu\" (from $GPULAUNCH_DEVICE)");
}

static void facts_are_the_drivers(void **state)
{
    (void)state;
    gpul_device_info info;
    int count = -1;
    assert_ok(gpul_device_query(&info, "cuda:1"));
    assert_int_equal(info.backend, GPUL_BACKEND_CUDA);
    assert_string_equal(info.name, "NVIDIA H200");
    assert_string_equal(info.uuid, "GPU-20212223-2425-2627-2829-2a2b2c2d2e2f");
    assert_string_equal(info.pci_bus_id, "0000:02:00.0");
    assert_int_equal(info.compute_major, 9);
    assert_int_equal(info.driver_version, 13000);
    assert_int_equal(info.max_threads_per_block, 1024);
    assert_int_equal(info.max_block[2], 64);
    assert_true(info.max_grid[0] == 2147483647 && info.max_grid[1] == 65535);
    assert_int_equal(info.shared_per_block_optin, 232448);
    assert_int_equal(info.max_parameter_bytes, 32764);
    assert_true(info.cooperative && info.cluster && info.memory_total > 0);
    assert_int_equal(info.memory_free, 0);
    assert_false(info.mig);
    assert_int_equal(gpul__record_live().contexts, 0);
    assert_ok(gpul_device_count(&count, "cuda"));
    assert_int_equal(count, 3);
    assert_ok(gpul_device_count(&count, NULL));
    assert_int_equal(count, 3);
    assert_code(gpul_device_count(&count, "tpu"), 315, "\"tpu\"");
    assert_int_equal(count, 0);
}

static void automatic_choice_passes_over_the_unusable(void **state)
{
    (void)state;
    gpul_device_info info;
    gpul__record_set_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_PROHIBITED);
    setenv("GPULAUNCH_REQUIRE_GPU", "1", 1);
    assert_code(gpul_device_query(&info, "auto"), 1011, "GPULAUNCH_REQUIRE_GPU", "compute mode");
    assert_code(gpul_device_query(&info, "auto:free"), 1011, "none of the 3 GPUs");
}

/* Free memory differs when another process, here ourselves, holds some. */
static void the_freest_device_is_found(void **state)
{
    (void)state;
    gpul_device *first;
    gpul_buffer *buffer;
    assert_ok(gpul_open(&first, NULL));
    assert_ok(gpul_alloc(&buffer, first, (size_t)64 << 20, NULL));
    int contexts = gpul__record_live().contexts;
    assert_int_not_equal(ordinal_of("auto:free"), 0);
    assert_int_equal(gpul__record_live().contexts, contexts);
    gpul_buffer_free(&buffer);
    gpul_device_free(&first);
    check_no_leaks();
}

static CUcontext current(void)
{
    CUcontext context = NULL;
    assert_int_equal(gpul__record_driver()->Init(0), 0);
    assert_int_equal(gpul__record_driver()->CtxGetCurrent(&context), 0);
    return context;
}

static void an_own_context_is_current_and_goes(void **state)
{
    (void)state;
    gpul_device *d = (gpul_device *)1;
    assert_null(current());
    assert_ok(
        gpul_open(&d, gpul_device_opts(.schedule = GPUL_SCHEDULE_BLOCKING, .map_host = true)));
    assert_ptr_equal(current(), gpul_device_context(d));
    unsigned flags = 0;
    gpul__record_driver()->CtxGetFlags(&flags);
    assert_int_equal(flags & (CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST),
                     CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST);
    assert_true(gpul_device_describe(d)->memory_free > 0);
    uint64_t now = 0, total = 0;
    assert_ok(gpul_device_memory(d, &now, &total));
    assert_true(now > 0 && now <= total);
    assert_ok(gpul_device_memory(d, NULL, NULL));
    assert_int_equal(gpul__record_live().contexts, 1);
    gpul_device_free(&d);
    assert_null(d);
    assert_null(current());
    gpul_device_free(&d);
    gpul_device_free(NULL);
    check_no_leaks();
}

static void a_primary_context_is_shared(void **state)
{
    (void)state;
    gpul_device *a, *b;
    const gpul_device_opts *opts =
        gpul_device_opts(.context_kind = GPUL_CONTEXT_PRIMARY, .schedule = GPUL_SCHEDULE_SPIN);
    assert_ok(gpul_open(&a, opts));
    assert_ok(gpul_open(&b, opts));
    assert_ptr_equal(gpul_device_context(a), gpul_device_context(b));
    assert_int_equal(gpul__record_live().retained, 2);
    gpul_device_free(&a);
    assert_ok(gpul_sync(b));
    gpul_device_free(&b);
    assert_null(current());
    check_no_leaks();
}

static void an_adopted_context_stays_the_callers(void **state)
{
    (void)state;
    const gpul__driver *record = gpul__record_driver();
    CUcontext theirs, popped;
    gpul_device *d;
    assert_int_equal(record->Init(0), 0);
    assert_int_equal(record->CtxCreate(&theirs, 0, 2), 0);
    assert_int_equal(record->CtxPopCurrent(&popped), 0);
    assert_ok(
        gpul_open(&d, gpul_device_opts(.context_kind = GPUL_CONTEXT_ADOPT, .context = theirs)));
    assert_ptr_equal(gpul_device_context(d), theirs);
    assert_int_equal(gpul_device_describe(d)->ordinal, 2);
    gpul_device_free(&d);
    assert_int_equal(gpul__record_live().contexts, 1);
    assert_int_equal(gpul__record_live().streams, 0);
    assert_code(
        gpul_open(&d, gpul_device_opts(.device = "cuda:1", .context_kind = GPUL_CONTEXT_ADOPT,
                                       .context = theirs)),
        313, "device 2", "cuda:1");
    assert_int_equal(record->CtxDestroy(theirs), 0);
    assert_code(
        gpul_open(&d, gpul_device_opts(.context_kind = GPUL_CONTEXT_ADOPT, .context = theirs)),
        1007, "to adopt");
    assert_null(d);
    check_no_leaks();
}

static void options_are_checked(void **state)
{
    (void)state;
    gpul_device *d;
    assert_code(gpul_open(NULL, NULL), 314, "out");
    assert_code(gpul_open(&d, gpul_device_opts(.schedule = (gpul_schedule)9)), 315,
                "schedule is 9");
    assert_code(gpul_open(&d, gpul_device_opts(.context_kind = (gpul_context_kind)9)), 315,
                "context_kind is 9");
    assert_code(gpul_open(&d, gpul_device_opts(.context_kind = GPUL_CONTEXT_ADOPT)), 314,
                "context is NULL");
    assert_code(gpul_open(&d, gpul_device_opts(.context = &d)), 315, "GPUL_CONTEXT_ADOPT");
}

static void a_context_has_a_share_of_the_multiprocessors(void **state)
{
    (void)state;
    gpul_device *d;
    use_record(&(gpul__record_config){ .affinity = true });
    gpul__driver table = *gpul__record_driver();
    for (int old = 0; old < 2; old++) {
        if (old) table.CtxCreate_v4 = NULL;
        gpul__driver_override(&table);
        assert_ok(gpul_open(&d, gpul_device_opts(.multiprocessors = 7)));
        assert_int_equal(gpul_device_describe(d)->context_multiprocessors, 8);
        gpul_device_free(&d);
        assert_ok(gpul_open(&d, NULL));
        assert_int_equal(gpul_device_describe(d)->context_multiprocessors, 0);
        gpul_device_free(&d);
    }
    assert_code(gpul_open(&d, gpul_device_opts(.multiprocessors = 10000)), 315, "10000");
    assert_null(d);
    assert_code(
        gpul_open(&d, gpul_device_opts(.multiprocessors = 4, .context_kind = GPUL_CONTEXT_PRIMARY)),
        315, "of one's own");
    /* Drivers without it, each way. */
    table.CtxCreate_v3 = NULL;
    assert_code(gpul_open(&d, gpul_device_opts(.multiprocessors = 4)), 821, "share", "MPS");
    table = *gpul__record_driver();
    table.DeviceGetExecAffinitySupport = NULL;
    assert_code(gpul_open(&d, gpul_device_opts(.multiprocessors = 4)), 821, "share", "11.4");
    table = *gpul__record_driver();
    table.CtxGetExecAffinity = NULL;
    assert_code(gpul_open(&d, gpul_device_opts(.multiprocessors = 4)), 1007,
                "no context on cuda:0");
    check_no_leaks();
    use_record(NULL);
    assert_code(gpul_open(&d, gpul_device_opts(.multiprocessors = 4)), 821, "share",
                "gpul_stream_opts");
    assert_int_equal(gpul_last_error()->native, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    assert_null(d);
    check_no_leaks();
}

static gpul__driver refusing;
static CUresult answer;
static CUresult no_context(CUcontext *context, unsigned flags, CUdevice ordinal)
{
    (void)context, (void)flags, (void)ordinal;
    return answer;
}

static void no_context_is_explained(void **state)
{
    (void)state;
    gpul_device *d;
    refusing = *gpul__record_driver();
    refusing.CtxCreate = no_context;
    gpul__driver_override(&refusing);
    answer = CUDA_ERROR_OUT_OF_MEMORY;
    assert_code(gpul_open(&d, NULL), 1007, "no context on cuda:0", "hundred MB");
    answer = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_code(gpul_open(&d, NULL), 1007, "start a new process");
    gpul__record_set_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
    answer = CUDA_ERROR_DEVICE_UNAVAILABLE;
    assert_code(gpul_open(&d, gpul_device_opts(.device = "cuda:1")), 1007, "cuda:1", "exclusive",
                "nvidia-smi -i 1 -c 0");
    check_no_leaks();
}

/* A foreign context that is current stays so, whatever is called. */
static void foreign_contexts_are_restored(void **state)
{
    (void)state;
    const gpul__driver *record = gpul__record_driver();
    CUcontext foreign;
    gpul_device *d;
    gpul_buffer *buffer;
    gpul_stream *stream;
    gpul_event *event;
    gpul_module *m;
    const gpul_kernel *kernel;
    char byte = 1, init[64] = { 0 };
    assert_int_equal(record->Init(0), 0);
    assert_int_equal(record->CtxCreate(&foreign, 0, 1), 0);
#define KEEPS(call)                                                                                \
    do {                                                                                           \
        assert_ok(call);                                                                           \
        assert_ptr_equal(current(), foreign);                                                      \
    } while (0)
    KEEPS(gpul_open(&d, NULL));
    KEEPS(gpul_alloc(&buffer, d, 64, gpul_alloc_opts(.init = init)));
    KEEPS(gpul_stream_new(&stream, d, NULL));
    KEEPS(gpul_event_new(&event, d));
    gpul_image *image = image_of(kernels_ptx);
    KEEPS(gpul_load(&m, d, image, NULL));
    gpul_image_free(&image);
    KEEPS(gpul_module_kernel(&kernel, m, "scale"));
    KEEPS(gpul_launch(kernel, gpul_launch_opts(.grid = { 1 }, .block = { 1 }),
                      gpul_args(buffer, 1, 1.0f)));
    assert_ptr_equal(gpul__record_launch_at(-1)->context, gpul_device_context(d));
    KEEPS(gpul_write(buffer, 0, &byte, 1, stream));
    KEEPS(gpul_event_record(event, stream));
    KEEPS(gpul_stream_wait(NULL, event));
    KEEPS(gpul_event_sync(event));
    KEEPS(gpul_stream_sync(stream));
    KEEPS(gpul_sync(d));
    KEEPS(gpul_global_write(m, "table", 0, &byte, 1));
    /* Also when a call fails. */
    assert_code(gpul_launch(kernel, gpul_launch_opts(.grid = { 0 }, .block = { 1 }),
                            gpul_args(buffer, 1, 1.0f)),
                704, "grid.x");
    assert_ptr_equal(current(), foreign);
#undef KEEPS
    gpul_module_free(&m);
    gpul_event_free(&event);
    gpul_stream_free(&stream);
    gpul_buffer_free(&buffer);
    gpul_device_free(&d);
    assert_ptr_equal(current(), foreign);
    record->CtxDestroy(foreign);
    check_no_leaks();
}

static void *on_a_fresh_thread(void *pointer)
{
    gpul_device *d = pointer;
    CUcontext before = NULL, after = NULL;
    gpul__record_driver()->CtxGetCurrent(&before);
    gpul_status status = gpul_sync(d);
    gpul__record_driver()->CtxGetCurrent(&after);
    bool right = status == GPUL_OK && !before && after == gpul_device_context(d);
    return right ? NULL : pointer;
}

static void any_thread_gets_the_context(void **state)
{
    (void)state;
    gpul_device *d;
    pthread_t thread;
    void *wrong;
    assert_ok(gpul_open(&d, NULL));
    assert_int_equal(pthread_create(&thread, NULL, on_a_fresh_thread, d), 0);
    pthread_join(thread, &wrong);
    assert_null(wrong);
    gpul_device_free(&d);
    check_no_leaks();
}

/* Another thread destroys a context that is current here: ours is used instead. */
static void *destroy_context(void *context)
{
    gpul__record_driver()->CtxDestroy(context);
    return NULL;
}

static void a_destroyed_context_is_passed_over(void **state)
{
    (void)state;
    CUcontext foreign;
    gpul_device *d;
    pthread_t thread;
    assert_ok(gpul_open(&d, NULL));
    assert_int_equal(gpul__record_driver()->CtxCreate(&foreign, 0, 1), 0);
    assert_int_equal(pthread_create(&thread, NULL, destroy_context, foreign), 0);
    pthread_join(thread, NULL);
    assert_ok(gpul_sync(d));
    gpul_device_free(&d);
    check_no_leaks();
}

static void children_keep_the_device(void **state)
{
    (void)state;
    gpul_device *d;
    gpul_buffer *buffer, *view;
    gpul_stream *stream;
    gpul_event *event;
    gpul_module *m;
    assert_ok(gpul_open(&d, NULL));
    assert_ok(gpul_alloc(&buffer, d, 64, NULL));
    assert_ok(gpul_view(&view, buffer, 8, 8));
    assert_ok(gpul_stream_new(&stream, d, NULL));
    assert_ok(gpul_event_new(&event, d));
    gpul_image *image = image_of(kernels_ptx);
    assert_ok(gpul_load(&m, d, image, NULL));
    gpul_device_free(&d);
    gpul_image_free(&image);
    gpul_buffer_free(&buffer);
    const gpul_kernel *kernel;
    assert_ok(gpul_module_kernel(&kernel, m, "scale"));
    assert_ok(gpul_launch(kernel, gpul_launch_opts(.grid = { 1 }, .block = { 1 }, .stream = stream),
                          gpul_args(view, 1, 1.0f)));
    assert_int_equal(gpul__record_live().contexts, 1);
    gpul_stream_free(&stream);
    gpul_module_free(&m);
    gpul_event_free(&event);
    assert_int_equal(gpul__record_live().contexts, 1);
    gpul_buffer_free(&view);
    assert_int_equal(gpul__record_live().contexts, 0);
    check_no_leaks();
}

static int in_the_child(gpul_device *d, gpul_buffer *buffer)
{
    char byte = 0;
    if (gpul_sync(d) != GPUL_E_DEVICE || gpul_last_error()->code != 1010) return 1;
    if (!said("forked") || !said("open the device in the child")) return 2;
    if (gpul_write(buffer, 0, &byte, 1, NULL) == GPUL_OK || gpul_last_error()->code != 1010)
        return 3;
    /* Freeing touches no driver and does not crash. */
    gpul_buffer_free(&buffer);
    gpul_device_free(&d);
    return 0;
}

static void a_fork_is_explained(void **state)
{
    (void)state;
    gpul_device *d;
    gpul_buffer *buffer;
    assert_ok(gpul_open(&d, NULL));
    assert_ok(gpul_alloc(&buffer, d, 64, NULL));
    pid_t child = fork();
    if (child == 0) _exit(in_the_child(d, buffer));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ok(gpul_sync(d)); /* the parent goes on */
    gpul_buffer_free(&buffer);
    gpul_device_free(&d);
    check_no_leaks();
}

static char traced[65536];
static void keep_trace(void *user, gpul_level level, const char *message)
{
    (void)user, (void)level;
    strncat(traced, message, sizeof traced - strlen(traced) - 2);
    strcat(traced, "\n");
}

/* The log may be turned on and off while a device is open. */
static void calls_are_traced_while_somebody_listens(void **state)
{
    (void)state;
    gpul_device *d;
    assert_ok(gpul_open(&d, NULL));
    gpul_set_log((gpul_log){ keep_trace, NULL, GPUL_LOG_TRACE });
    traced[0] = 0;
    assert_ok(gpul_sync(d));
    assert_non_null(strstr(traced, "cuStreamSynchronize"));
    gpul_set_log((gpul_log){ 0 });
    traced[0] = 0;
    assert_ok(gpul_sync(d));
    assert_string_equal(traced, "");
    gpul_set_log((gpul_log){ keep_trace, NULL, GPUL_LOG_INFO });
    gpul_device_free(&d);
    assert_ok(gpul_open(&d, NULL));
    assert_non_null(strstr(traced, "cuda:0, NVIDIA H200"));
    gpul_set_log((gpul_log){ 0 });
    gpul_device_free(&d);
}

/* What is done while the context is made: with the device chosen, and over before gpul_open ends. */
typedef struct besides {
    int calls;
    gpul_device *device;
    int compute_major;
} besides;

static void note_device(void *user, gpul_device *chosen)
{
    besides *b = user;
    b->calls++;
    b->device = chosen;
    b->compute_major = gpul_device_describe(chosen)->compute_major;
}

static void work_is_done_meanwhile(void **state)
{
    (void)state;
    besides b = { 0 };
    gpul_device *d;
    use_record(NULL);
    assert_ok(gpul_open(&d, gpul_device_opts(.meanwhile = note_device, .meanwhile_user = &b)));
    assert_int_equal(b.calls, 1);
    assert_ptr_equal(b.device, d);
    assert_int_equal(b.compute_major, 9);
    gpul_device_free(&d);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    gpul__fault_entry("cuCtxCreate_v2", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_not_equal(
        gpul_open(&d, gpul_device_opts(.meanwhile = note_device, .meanwhile_user = &b)), GPUL_OK);
    assert_null(d);
    assert_int_equal(b.calls, 2);
    gpul__fault_entry("cuInit", 1, CUDA_ERROR_NO_DEVICE);
    assert_int_not_equal(
        gpul_open(&d, gpul_device_opts(.meanwhile = note_device, .meanwhile_user = &b)), GPUL_OK);
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    gpul__driver_override(gpul__record_driver());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(names_follow_one_grammar),
        TEST(the_environment_names_the_default),
        TEST(facts_are_the_drivers),
        TEST(automatic_choice_passes_over_the_unusable),
        TEST(the_freest_device_is_found),
        TEST(an_own_context_is_current_and_goes),
        TEST(a_primary_context_is_shared),
        TEST(an_adopted_context_stays_the_callers),
        TEST(options_are_checked),
        TEST(a_context_has_a_share_of_the_multiprocessors),
        TEST(no_context_is_explained),
        TEST(foreign_contexts_are_restored),
        TEST(any_thread_gets_the_context),
        TEST(a_destroyed_context_is_passed_over),
        TEST(children_keep_the_device),
        TEST(a_fork_is_explained),
        TEST(calls_are_traced_while_somebody_listens),
        TEST(work_is_done_meanwhile),
    };
    return gpul_run_tests("core device", tests, NULL, NULL);
}
