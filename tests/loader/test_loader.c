/* Opening libcuda: libraries made for the test, whole, old, broken, the toolkit's stub, and starting in every way that
 * fails.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include "base/alloc.h"
#include "base/error.h"
#include "driver/driver.h"
#include "driver/start.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder; /* of the test's libraries */
static const char *program;

static const char *library(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool said(const char *words)
{
    const gpul_error *e = gpul_last_error();
    if (strstr(e->message, words) || (e->hint && strstr(e->hint, words))) return true;
    for (size_t i = 0; i < e->detail_count; i++)
        if (strstr(e->details[i].text, words)) return true;
    return false;
}

#define assert_said(words)                                                                         \
    do {                                                                                           \
        if (!said(words))                                                                          \
            fail_msg("\"%s\" is not said in: %s", words, gpul_last_error()->message);              \
    } while (0)

static void assert_refused(const char *name, int code)
{
    const gpul__driver *driver = (const gpul__driver *)1;
    gpul_status status = gpul__driver_load(&driver, library(name));
    const gpul_error *e = gpul_last_error();
    if (e->code != code)
        fail_msg("%s: GL%04d instead of GL%04d: %s", name, e->code, code, e->message);
    assert_int_equal(status, e->status);
    assert_null(driver);
}

static int clean(void **state)
{
    (void)state;
    unsetenv("GPULAUNCH_LIBCUDA");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("STUB_INIT");
    unsetenv("STUB_COUNT");
    unsetenv("STUB_VERSION");
    return 0;
}

/* ---- Libraries ------------------------------------------------------------------------------ */

static void a_whole_library_opens_once(void **state)
{
    (void)state;
    const gpul__driver *first, *second;
    assert_int_equal(gpul__driver_load(&first, library("libwhole.so")), GPUL_OK);
    assert_int_equal(first->version, 12040);
    assert_string_equal(first->path, library("libwhole.so"));
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES; i++)
        if (!gpul__driver_entry(first, i)) fail_msg("%s is NULL", gpul__driver_symbol(i, NULL));
    assert_int_equal(gpul__driver_load(&second, library("libwhole.so")), GPUL_OK);
    assert_ptr_equal(first, second);
    void *handle = dlopen(library("libwhole.so"), RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(handle);
    int *(*calls)(void);
    void *symbol = dlsym(handle, "stub_init_calls");
    memcpy(&calls, &symbol, sizeof calls);
    assert_int_equal(*calls(), 1);
    dlclose(handle);
}

static void the_environment_names_a_library(void **state)
{
    (void)state;
    const gpul__driver *driver;
    setenv("GPULAUNCH_LIBCUDA", library("libwhole.so"), 1);
    assert_int_equal(gpul__driver_load(&driver, NULL), GPUL_OK);
    assert_string_equal(driver->path, library("libwhole.so"));
    setenv("GPULAUNCH_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    assert_int_equal(gpul__driver_load(&driver, NULL), GPUL_E_DRIVER);
    assert_int_equal(gpul_last_error()->code, GPUL__ENV_NO_DRIVER);
    assert_said("$GPULAUNCH_LIBCUDA");
    assert_said("/nowhere/libcuda.so.1");
}

static void an_old_library_lacks_what_is_wanted(void **state)
{
    (void)state;
    const gpul__driver *driver;
    assert_int_equal(gpul__driver_load(&driver, library("libold.so")), GPUL_OK);
    assert_null(driver->LaunchKernelEx);
    assert_null(driver->FuncGetParamInfo);
    assert_non_null(driver->LaunchKernel);
}

static void a_needed_entry_that_is_missing_is_named(void **state)
{
    (void)state;
    setenv("STUB_VERSION", "10020", 1);
    assert_refused("liblacking.so", GPUL__ENV_OLD_DRIVER);
    assert_said("cuMemAlloc_v2, cuLaunchKernel");
    assert_said("CUDA 10.2");
    assert_said("11.2");
}

static void the_toolkits_stub_is_told(void **state)
{
    (void)state;
    assert_refused("libstub.so", GPUL__ENV_STUB);
    assert_said("libstub.so is the toolkit's link-time stub");
    assert_int_equal(gpul_last_error()->native, 34);
    /* A stub that does not answer 34 is told by its folder. */
    setenv("STUB_INIT", "100", 1);
    assert_refused("stubs/libcuda.so", GPUL__ENV_STUB);
}

static void the_real_stub_is_told(void **state)
{
    (void)state;
    const char *path = "/usr/local/cuda/lib64/stubs/libcuda.so";
    if (access(path, R_OK) != 0) skip_because("no toolkit with its stub here");
    const gpul__driver *driver;
    assert_int_equal(gpul__driver_load(&driver, path), GPUL_E_DRIVER);
    assert_int_equal(gpul_last_error()->code, GPUL__ENV_STUB);
    assert_said(path);
}

static void a_file_that_is_no_driver_is_told(void **state)
{
    (void)state;
    assert_refused("libforeign.so", GPUL__ENV_NO_DRIVER);
    assert_said("no cuInit");
    assert_refused("no-such-file.so", GPUL__ENV_NO_DRIVER);
    assert_said("No such file");
    assert_refused("both", GPUL__ENV_NO_DRIVER); /* a folder */
    const gpul__driver *driver;
    assert_int_equal(gpul__driver_load(&driver, ""), GPUL_E_ARGUMENT);
}

/* ---- Starting ------------------------------------------------------------------------------- */

static void every_answer_of_cuInit_has_its_sentence(void **state)
{
    (void)state;
    static const struct {
        int result, code;
        const char *words;
    } rows[] = {
        { 2, GPUL__ENV_INIT, "no memory" },
        { 3, GPUL__ENV_FORK, "forked" },
        { 34, GPUL__ENV_STUB, "stub" },
        { 35, GPUL__ENV_OLD_DRIVER, "too old" },
        { 36, GPUL__ENV_OLD_DRIVER, "too old" },
        { 46, GPUL__ENV_NO_DEVICE, "compute mode" },
        { 100, GPUL__ENV_NO_DEVICE, "sees no GPU" },
        { 101, GPUL__ENV_NO_DEVICE, "cannot use its GPU" },
        { 102, GPUL__ENV_INIT, "licence" },
        { 304, GPUL__ENV_INIT, "system call" },
        { 800, GPUL__ENV_INIT, "not permitted" },
        { 802, GPUL__ENV_INIT, "fabric manager" },
        { 803, GPUL__ENV_INIT, "different releases" },
        { 804, GPUL__ENV_INIT, "forward-compatibility" },
        { 805, GPUL__ENV_INIT, "MPS" },
        { 999, GPUL__ENV_INIT, "without saying why" },
        { 214, GPUL__ENV_INIT, "ECC" },
        { 12345, GPUL__ENV_INIT, "does not start" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", rows[i].result);
        setenv("STUB_INIT", number, 1);
        assert_refused("libfailing.so", rows[i].code);
        assert_said(rows[i].words);
        const gpul_error *e = gpul_last_error();
        assert_int_equal(e->native, rows[i].result);
        assert_int_equal(e->native_kind, GPUL_NATIVE_CUDA);
        assert_string_equal(e->call, "cuInit");
        assert_true(e->hint && strlen(e->hint) > 10);
    }
    /* The next open tries again. */
    unsetenv("STUB_INIT");
    const gpul__driver *driver;
    assert_int_equal(gpul__driver_load(&driver, library("libfailing.so")), GPUL_OK);
}

static void hidden_devices_are_told_with_their_variable(void **state)
{
    (void)state;
    setenv("STUB_INIT", "100", 1);
    setenv("STUB_VERSION", "13000", 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    assert_refused("libhidden.so", GPUL__ENV_NO_DEVICE);
    assert_non_null(strstr(gpul_last_error()->message, "CUDA_VISIBLE_DEVICES is \"-1\""));
    assert_non_null(strstr(gpul_last_error()->message, "CUDA 13.0"));
    assert_int_equal(gpul_last_error()->status, GPUL_E_DEVICE);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    assert_refused("libhidden.so", GPUL__ENV_NO_DEVICE);
    assert_said("CUDA_VISIBLE_DEVICES is \"\"");
    /* The same when the driver starts, but counts none. */
    setenv("STUB_INIT", "0", 1);
    setenv("STUB_COUNT", "0", 1);
    assert_refused("libhidden.so", GPUL__ENV_NO_DEVICE);
}

static void a_child_process_is_told_of_the_fork(void **state)
{
    (void)state;
    const gpul__driver *driver;
    assert_int_equal(gpul__driver_load(&driver, library("libwhole.so")), GPUL_OK);
    pid_t child = fork();
    if (child == 0) {
        gpul_status status = gpul__driver_load(&driver, library("libwhole.so"));
        _exit(status == GPUL_E_DEVICE && gpul_last_error()->code == GPUL__ENV_FORK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- What the machine shows ----------------------------------------------------------------- */

/* Writes a file below `root`, with the folders that lead to it. */
static void put(const char *root, const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void advice_comes_from_what_the_machine_shows(void **state)
{
    (void)state;
    char root[] = "/tmp/gpulaunch-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    gpul__driver driver = { .name = "libcuda", .path = "/nowhere/libcuda.so.1", .version = 13000 };

    gpul__fail_start(&driver, CUDA_ERROR_NO_DEVICE, root);
    assert_said("modprobe nvidia");
    assert_said("no NVIDIA kernel module is loaded");
    put(root, "/.dockerenv", "");
    gpul__fail_start(&driver, CUDA_ERROR_NO_DEVICE, root);
    assert_said("--gpus all");
    put(root, "/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    put(root, "/dev/nvidia0", "");
    put(root, "/dev/nvidiactl", "");
    gpul__fail_start(&driver, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, root);
    assert_said("kernel module is of release 580.159.04");
    gpul__fail_start(&driver, CUDA_ERROR_OPERATING_SYSTEM, root);
    assert_said("nvidia-modprobe -u");
    assert_said("1 GPU device file");
    put(root, "/dev/nvidia-uvm", "");
    gpul__fail_start(&driver, CUDA_ERROR_NO_DEVICE, root);
    assert_said("nvidia-smi shows");
    put(root, "/proc/version", "Linux version 5.15.153.1-microsoft-standard-WSL2\n");
    gpul__fail_start(&driver, CUDA_ERROR_NO_DEVICE, root);
    assert_said("wsl --update");
    put(root, "/dev/dxg", "");
    gpul__fail_start(&driver, CUDA_ERROR_NO_DEVICE, root);
    assert_said("driver of Windows");
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* ---- Searching ------------------------------------------------------------------------------ */

/* Opens without a path in a process of its own, whose loader looks into `path` first; what it says is in `text`. */
static void search_in(const char *path, char *text, size_t size)
{
    char command[8192];
    snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' exec '%s' search", library(path),
             program);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    size_t length = fread(text, 1, size - 1, child);
    text[length] = 0;
    assert_int_equal(pclose(child), 0);
}

static int search(void)
{
    const gpul__driver *driver;
    gpul_status status = gpul__driver_load(&driver, NULL);
    const gpul_error *e = gpul_last_error();
    printf("%d GL%04d %s\n", status, status ? e->code : 0, status ? e->message : driver->path);
    for (size_t i = 0; status && i < e->detail_count; i++)
        printf("%s: %s\n", e->details[i].file ? e->details[i].file : "-", e->details[i].text);
    return 0;
}

static void the_driver_of_the_loader_is_found(void **state)
{
    (void)state;
    char text[8192];
    search_in("both", text, sizeof text);
    if (!strstr(text, "0 GL0000") || !strstr(text, "both/libcuda.so.1")) fail_msg("%s", text);
    /* Only the name without .1 is there. */
    search_in("plain", text, sizeof text);
    if (strstr(text, "0 GL0000") && !strstr(text, "plain/libcuda.so"))
        skip_because("this machine has a driver, which goes first");
    if (!strstr(text, "plain/libcuda.so")) fail_msg("%s", text);
}

static void a_failed_search_tells_every_place(void **state)
{
    (void)state;
    char text[8192];
    search_in("nothing", text, sizeof text);
    if (!strstr(text, "GL1001")) skip_because("this machine has a driver");
    assert_non_null(strstr(text, "libcuda.so.1: cannot open"));
    assert_non_null(strstr(text, "libcuda.so: cannot open"));
    assert_non_null(strstr(text, "/usr/lib/wsl/lib/libcuda.so.1: cannot open"));
    search_in("stubs34", text, sizeof text);
    assert_non_null(strstr(text, "GL1002"));
    assert_non_null(strstr(text, "stubs34/libcuda.so is the toolkit's"));
    assert_non_null(strstr(text, "libcuda.so.1: cannot open"));
}

/* ---- Threads and memory ---------------------------------------------------------------------- */

static void *load_threaded(void *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libthreads.so", folder);
    gpul__driver_load(out, path);
    return NULL;
}

static void many_threads_load_once(void **state)
{
    (void)state;
    pthread_t threads[8];
    const gpul__driver *drivers[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_threaded, &drivers[i]), 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_non_null(drivers[0]);
    for (int i = 1; i < 8; i++) assert_ptr_equal(drivers[i], drivers[0]);
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    const char *names[] = { "liblacking.so", "libstub.so", "libforeign.so", "no-such-file.so",
                            "libmemory.so" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (long n = 1; n < 60; n++) {
            const gpul__driver *driver;
            char path[4096];
            snprintf(path, sizeof path, "%s", library(names[i]));
            gpul__fail(GPUL__INTERNAL, (0), "the record is emptied");
            long before = gpul__alloc_live();
            gpul__alloc_fail_at(n);
            gpul_status status = gpul__driver_load(&driver, path);
            gpul__alloc_fail_at(0);
            assert_int_equal(status == GPUL_OK, driver != NULL);
            if (status == GPUL_OK) break;
            assert_int_equal(gpul_last_error()->status, status);
            assert_true(gpul_last_error()->message[0]);
            gpul__fail(GPUL__INTERNAL, (0), "the record is emptied");
            if (gpul__alloc_live() != before)
                fail_msg("%s, allocation %ld: %ld alive", names[i], n, gpul__alloc_live() - before);
        }
    }
}

#define case_of(name) cmocka_unit_test_setup(name, clean)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "search") == 0) return search();
    if (argc != 2) return 2;
    program = argv[0];
    folder = argv[1];
    const struct CMUnitTest tests[] = {
        case_of(a_whole_library_opens_once),
        case_of(the_environment_names_a_library),
        case_of(an_old_library_lacks_what_is_wanted),
        case_of(a_needed_entry_that_is_missing_is_named),
        case_of(the_toolkits_stub_is_told),
        case_of(the_real_stub_is_told),
        case_of(a_file_that_is_no_driver_is_told),
        case_of(every_answer_of_cuInit_has_its_sentence),
        case_of(hidden_devices_are_told_with_their_variable),
        case_of(a_child_process_is_told_of_the_fork),
        case_of(advice_comes_from_what_the_machine_shows),
        case_of(the_driver_of_the_loader_is_found),
        case_of(a_failed_search_tells_every_place),
        case_of(many_threads_load_once),
        case_of(failing_allocations_leave_nothing),
    };
    return gpul_run_tests("driver loader", tests, NULL, NULL);
}
