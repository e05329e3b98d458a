/* Faults: each in a process of its own, because a GPU does not come back after one.  The child runs
 * one misdeed and prints what the library says; the parent compares.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <pthread.h>
#include <time.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;

static bool on_cpu(void)
{
    return gpul_device_describe(device)->backend == GPUL_BACKEND_CPU;
}

/* One misdeed; the status that comes back from it. */
static gpul_status misdeed(const char *what)
{
    gpul_module *module = load_kernels("faults");
    const gpul_launch_opts *one = gpul_launch_opts(.grid = { 1 }, .block = { 32 });
    gpul_buffer *buffer = buffer_of(16, "0123456789abcde");
    gpul_status status = GPUL_OK;
    int host = 1;
    if (strcmp(what, "null") == 0)
        status = gpul_launch(kernel_of(module, "read_at"), one, gpul_args(gpul_null, buffer));
    else if (strcmp(what, "host") == 0)
        status = gpul_launch(kernel_of(module, "read_at"), one,
                             gpul_args(gpul_address((uintptr_t)&host), buffer));
    else if (strcmp(what, "misaligned") == 0)
        status = gpul_launch(kernel_of(module, "misaligned"), one, gpul_args(buffer));
    else if (strcmp(what, "trap") == 0)
        status = gpul_launch(kernel_of(module, "stop"), one, gpul_no_args);
    else if (strcmp(what, "assert") == 0)
        status = gpul_launch(kernel_of(module, "must_hold"), one, gpul_args(20));
    else if (strcmp(what, "past") == 0)
        status = gpul_launch(kernel_of(module, "write_past"),
                             gpul_launch_opts(.grid = { 1 << 15 }, .block = { 1024 }),
                             gpul_args(buffer));
    if (status == GPUL_OK) status = gpul_sync(device);
    return status;
}

static int child(const char *what)
{
    if (gpul_open(&device, NULL) != GPUL_OK) return 3;
    gpul_status status = misdeed(what);
    const gpul_error *e = gpul_last_error();
    printf("status %d native %d code %d\n%s\n", status, e->native, e->code, e->message);
    for (size_t i = 0; i < e->detail_count; i++)
        printf("%s:%u %s\n", e->details[i].file ? e->details[i].file : "-", e->details[i].line,
               e->details[i].text);
    printf("%s\n%s\n", e->hint ? e->hint : "", e->log);
    /* A second call never takes the blame for the first one's fault. */
    gpul_status again = gpul_sync(device);
    printf("again %d: %s\n", again, gpul_last_error()->message);
    fflush(stdout);
    _exit(0);
}

static char output[65536];

static void run_child(const char *what)
{
    char command[512];
    snprintf(command, sizeof command, "'%s' %s 2>&1", program, what);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t got = fread(output, 1, sizeof output - 1, pipe);
    output[got] = 0;
    int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s ended with %d: %s", what, status, output);
}

static void expect(const char *what, int native, int code, const char *kernel)
{
    run_child(what);
    char line[64];
    snprintf(line, sizeof line, "native %d code %d\n", native, code);
    if (!strstr(output, line)) fail_msg("%s: no \"%s\" in:\n%s", what, line, output);
    if (!strstr(output, kernel))
        fail_msg("%s: the kernel %s is not named:\n%s", what, kernel, output);
    assert_non_null(strstr(output, "again -11"));
}

static void null_pointer(void **state)
{
    (void)state;
    expect("null", 700, 802, "read_at");
}

static void host_pointer(void **state)
{
    (void)state;
    expect("host", 700, 802, "read_at");
}

static void misaligned_address(void **state)
{
    (void)state;
    expect("misaligned", 716, 803, "misaligned");
}

static void trap(void **state)
{
    (void)state;
    expect("trap", 719, 806, "stop");
}

static void failed_assertion(void **state)
{
    (void)state;
    expect("assert", 710, 805, "must_hold");
    if (on_cpu()) assert_non_null(strstr(output, "n > (int)threadIdx.x"));
}

static void far_past_the_end(void **state)
{
    (void)state;
    expect("past", 700, 802, "write_past");
}

/* Only the CPU device sees a small overrun, and says all about it; a GPU does not notice one that stays
 * inside its allocation granularity of 512 bytes. */
static void one_past_the_end(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("faults");
    gpul_buffer *buffer = buffer_of(400, NULL);
    assert_ok(gpul_launch(kernel_of(module, "write_past"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 100 }), gpul_args(buffer)));
    assert_ok(gpul_sync(device));
    assert_ok(gpul_launch(kernel_of(module, "write_past"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 128 }), gpul_args(buffer)));
    if (!on_cpu()) {
        assert_ok(gpul_sync(device));
        gpul_buffer_free(&buffer);
        gpul_module_free(&module);
        return;
    }
    assert_int_equal(gpul_sync(device), GPUL_E_FAULT);
    assert_true(said("write_past"));
    assert_true(said("400"));
    assert_true(said("28"));
    assert_true(said("faults.cu"));
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
    /* The CPU device can be opened again in the same process. */
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, NULL));
    module = load_kernels("scale");
    float value = 21;
    buffer = buffer_of(sizeof value, &value);
    assert_ok(gpul_launch(kernel_of(module, "scale"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 1 }),
                          gpul_args(buffer, 1, 2.0f)));
    assert_ok(gpul_read(&value, buffer, 0, sizeof value, NULL));
    assert_true(value == 42.0f);
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
}

static void *interrupt_soon(void *open)
{
    const struct timespec pause = { .tv_nsec = 50000000 };
    nanosleep(&pause, NULL);
    return (void *)(intptr_t)gpul_interrupt(open);
}

/* A kernel without end: the CPU device ends it and says where it stands; no driver ends one of a GPU. */
static void interrupted_kernel(void **state)
{
    (void)state;
    if (!on_cpu()) {
        assert_int_equal(gpul_interrupt(device), GPUL_E_UNSUPPORTED);
        assert_true(said("cannot be ended"));
        return;
    }
    gpul_module *module = load_kernels("faults");
    const int zero = 0;
    gpul_buffer *flag = buffer_of(sizeof zero, &zero);
    pthread_t thread;
    void *result;
    assert_ok(gpul_launch(kernel_of(module, "spin"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 32 }), gpul_args(flag)));
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, device), 0);
    assert_int_equal(gpul_sync(device), GPUL_E_TIMEOUT);
    assert_int_equal(gpul_last_error()->code, 807);
    assert_true(said("faults.cu"));
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, GPUL_OK);
    gpul_buffer_free(&flag);
    gpul_module_free(&module);
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, NULL));
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1) return child(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_pointer),       cmocka_unit_test(host_pointer),
        cmocka_unit_test(misaligned_address), cmocka_unit_test(trap),
        cmocka_unit_test(failed_assertion),   cmocka_unit_test(far_past_the_end),
        cmocka_unit_test(one_past_the_end),   cmocka_unit_test(interrupted_kernel),
    };
    return gpul_run_tests("device faults", tests, open_device, close_device);
}
