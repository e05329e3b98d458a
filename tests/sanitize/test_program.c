/* A C program that switches the checkers on: the wait fails, and its record names both accesses.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#include <gpulaunch/gpulaunch.h>

#include <stdlib.h>
#include <string.h>

enum { BYTES = 65536 * 4 };

static gpul_device *open_device(unsigned checks, uint64_t seed)
{
    gpul_device *device = NULL;
    gpul_device_opts opts = { .device = "cpu", .cpu = { .checks = checks, .seed = seed } };
    assert_int_equal(gpul_open(&device, &opts), GPUL_OK);
    return device;
}

/* Launches a kernel of kernels.ptx with two blocks, and waits. */
static gpul_status run(gpul_device *device, const char *name, uint64_t threads)
{
    gpul_image *image = NULL;
    gpul_module *module = NULL;
    const gpul_kernel *kernel = NULL;
    gpul_buffer *out = NULL, *in = NULL;
    const uint32_t zero = 0;
    assert_int_equal(gpul_image_from_file(&image, FOLDER "/kernels.ptx"), GPUL_OK);
    assert_int_equal(gpul_load(&module, device, image, NULL), GPUL_OK);
    assert_int_equal(gpul_module_kernel(&kernel, module, name), GPUL_OK);
    assert_int_equal(gpul_alloc(&out, device, BYTES, NULL), GPUL_OK);
    assert_int_equal(gpul_alloc(&in, device, BYTES, NULL), GPUL_OK);
    assert_int_equal(gpul_fill(in, 0, BYTES, &zero, 4, NULL), GPUL_OK);
    assert_int_equal(gpul_launch(kernel, gpul_launch_opts(.grid = { 2 }, .block = { threads }),
                                 gpul_args(out, in)),
                     GPUL_OK);
    gpul_status status = gpul_sync(device);
    assert_int_equal(gpul_sync(device), GPUL_OK); /* it is told once */
    gpul_buffer_free(&out);
    gpul_buffer_free(&in);
    gpul_module_free(&module);
    gpul_image_free(&image);
    return status;
}

static void a_race_fails_the_wait(void **state)
{
    (void)state;
    gpul_device *device = open_device(GPUL_CPU_CHECK_RACES | GPUL_CPU_CHECK_INIT, 0);
    assert_int_equal(run(device, "good_reduction", 256), GPUL_OK);
    assert_int_equal(run(device, "race_ahead", 64), GPUL_E_FAULT);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->code, 823);
    assert_string_equal(e->call, "gpul_sync");
    assert_non_null(strstr(e->message, "'box'"));
    assert_non_null(strstr(e->message, "no __syncthreads() between"));
    assert_int_equal(e->detail_count, 2);
    assert_int_equal(e->details[0].severity, GPUL_ERROR);
    assert_int_equal(e->details[1].severity, GPUL_NOTE);
    assert_int_equal(e->details[0].line, 13);
    assert_int_equal(e->details[1].line, 12);
    gpul_device_free(&device);
    device = open_device(GPUL_CPU_CHECK_RACES, 7);
    assert_int_equal(run(device, "good_reduction", 256), GPUL_OK);
    assert_int_equal(run(device, "race_ahead", 64), GPUL_E_FAULT);
    gpul_device_free(&device);
}

static int warnings;

static void on_log(void *user, gpul_level level, const char *line)
{
    (void)user;
    if (level == GPUL_LOG_WARN && strstr(line, "no __syncwarp() between")) warnings++;
}

static void a_warning_fails_nothing(void **state)
{
    (void)state;
    gpul_set_log((gpul_log){ .fn = on_log, .level = GPUL_LOG_WARN });
    gpul_device *device = open_device(GPUL_CPU_CHECK_RACES, 0);
    assert_int_equal(run(device, "warp_neighbour", 32), GPUL_OK);
    assert_int_equal(warnings, 1);
    gpul_device_free(&device);
    gpul_set_log((gpul_log){ 0 });
}

static void without_checks_nothing_fails(void **state)
{
    (void)state;
    gpul_device *device = open_device(0, 0);
    assert_int_equal(run(device, "race_ahead", 64), GPUL_OK);
    assert_int_equal(run(device, "init_edge", 64), GPUL_OK);
    gpul_device_free(&device);
}

static void the_environment_switches_them_on(void **state)
{
    (void)state;
    setenv("GPULAUNCH_CPU_CHECKS", "init", 1);
    gpul_device *device = open_device(0, 0);
    assert_int_equal(run(device, "race_ahead", 64), GPUL_OK);
    assert_int_equal(run(device, "init_edge", 64), GPUL_E_FAULT);
    assert_non_null(strstr(gpul_last_error()->message, "which nothing has written"));
    gpul_device_free(&device);
    unsetenv("GPULAUNCH_CPU_CHECKS");
}

static void they_stay_while_a_device_is_open(void **state)
{
    (void)state;
    gpul_device *device = open_device(GPUL_CPU_CHECK_RACES, 0), *other = NULL;
    gpul_device_opts opts = { .device = "cpu", .cpu = { .checks = GPUL_CPU_CHECK_INIT } };
    assert_int_not_equal(gpul_open(&other, &opts), GPUL_OK);
    assert_non_null(strstr(gpul_last_error()->message, "checks"));
    gpul_device_free(&device);
}

GPUL_TEST_MAIN("sanitize-program", cmocka_unit_test(a_race_fails_the_wait),
               cmocka_unit_test(a_warning_fails_nothing),
               cmocka_unit_test(without_checks_nothing_fails),
               cmocka_unit_test(the_environment_switches_them_on),
               cmocka_unit_test(they_stay_while_a_device_is_open));
