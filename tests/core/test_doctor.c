/* The doctor: what it says of drivers that are whole, missing, a stub, or do not start, of devices, compilers
 * and the cache; and that it leaves the caller's record and context alone.  SPDX-License-Identifier: MIT */
#include "suite.h"

static const char *stubs; /* folder of the loader's libraries */
static gpul_doctor *doctor;

static int start(void **state)
{
    (void)state;
    unsetenv("GPULAUNCH_LIBCUDA");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("STUB_INIT");
    unsetenv("STUB_COUNT");
    gpul__driver_override(NULL);
    return 0;
}

static int stop(void **state)
{
    gpul_doctor_free(&doctor);
    return start(state);
}

static void look(void)
{
    gpul_doctor_free(&doctor);
    assert_ok(gpul_doctor_new(&doctor));
    assert_non_null(doctor);
    for (size_t i = 0; i < gpul_doctor_count(doctor); i++) {
        const gpul_check *check = gpul_doctor_check(doctor, i);
        assert_true(check->subject && *check->subject && check->text && *check->text);
        if (check->verdict == GPUL_CHECK_FAIL && !check->fix)
            fail_msg("%s fails without a fix: %s", check->subject, check->text);
    }
    assert_null(gpul_doctor_check(doctor, gpul_doctor_count(doctor)));
}

/* The first line on a subject that has the words; NULL: there is none. */
static const gpul_check *line(const char *subject, const char *words)
{
    for (size_t i = 0; i < gpul_doctor_count(doctor); i++) {
        const gpul_check *check = gpul_doctor_check(doctor, i);
        if (strcmp(check->subject, subject) == 0 &&
            (strstr(check->text, words) || (check->fix && strstr(check->fix, words))))
            return check;
    }
    return NULL;
}

static const gpul_check *need_line(const char *subject, const char *words)
{
    const gpul_check *found = line(subject, words);
    if (found) return found;
    for (size_t i = 0; i < gpul_doctor_count(doctor); i++) {
        const gpul_check *check = gpul_doctor_check(doctor, i);
        print_message("%d %s: %s (%s)\n", check->verdict, check->subject, check->text,
                      check->fix ? check->fix : "-");
    }
    fail_msg("no line on %s with \"%s\"", subject, words);
    return NULL;
}

static void use_library(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", stubs, name);
    setenv("GPULAUNCH_LIBCUDA", path, 1);
}

static void a_working_driver_and_its_devices(void **state)
{
    (void)state;
    use_record(&(gpul__record_config){ .devices = 2 });
    look();
    assert_int_equal(need_line("driver", "CUDA 13.0")->verdict, GPUL_CHECK_OK);
    assert_int_equal(need_line("device 0", "NVIDIA H200, sm_90")->verdict, GPUL_CHECK_OK);
    need_line("device 1", " free");
    need_line("cache", "");
    assert_true(line("compiler", "") != NULL);
    assert_int_equal(gpul_doctor_ready(doctor), line("compiler", "")->verdict == GPUL_CHECK_OK);
    if (*gpul__record_leaks()) fail_msg("left behind: %s", gpul__record_leaks());
    setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
    look();
    need_line("visible", "CUDA_VISIBLE_DEVICES=0,1");
}

static gpul__driver busy;
static CUresult no_context(CUcontext *context, unsigned flags, CUdevice ordinal)
{
    if (ordinal == 1) return CUDA_ERROR_DEVICE_UNAVAILABLE;
    return gpul__record_driver()->CtxCreate(context, flags, ordinal);
}

static void a_device_that_another_process_holds(void **state)
{
    (void)state;
    use_record(&(gpul__record_config){ .devices = 2 });
    gpul__record_set_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
    busy = *gpul__record_driver();
    busy.CtxCreate = no_context;
    gpul__driver_override(&busy);
    look();
    need_line("device 0", "exclusive to one process");
    const gpul_check *held = need_line("device 1", "no context on cuda:1");
    assert_int_equal(held->verdict, GPUL_CHECK_FAIL);
    assert_non_null(strstr(held->fix, "nvidia-smi -i 1 -c 0"));
}

static void an_old_driver_and_a_new_compiler(void **state)
{
    (void)state;
    use_record(&(gpul__record_config){ .driver_version = 12020 });
    look();
    need_line("driver", "CUDA 12.2");
    if (line("compiler", "(13.")) need_line("verdict", "newer than the driver's CUDA 12.2");
}

static void a_driver_that_is_missing(void **state)
{
    (void)state;
    setenv("GPULAUNCH_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    look();
    assert_int_not_equal(need_line("driver", "/nowhere/libcuda.so.1")->verdict, GPUL_CHECK_OK);
    assert_null(line("device 0", ""));
}

static void the_toolkits_stub(void **state)
{
    (void)state;
    use_library("libstub.so");
    look();
    assert_non_null(need_line("driver", "link-time stub")->fix);
}

static void a_driver_that_lacks_an_entry(void **state)
{
    (void)state;
    use_library("liblacking.so");
    look();
    need_line("driver", "cuMemAlloc_v2");
}

static void drivers_that_do_not_start(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *words;
    } answers[] = { { "803", "different releases" },
                    { "804", "forward-compatibility" },
                    { "802", "not ready" },
                    { "999", "without saying why" },
                    { "304", "system call" },
                    { "100", "sees no GPU" },
                    { "46", "busy" },
                    { "805", "MPS" } };
    use_library("libwhole.so");
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        setenv("STUB_INIT", answers[i].answer, 1);
        look();
        const gpul_check *check = need_line("driver", answers[i].words);
        assert_int_not_equal(check->verdict, GPUL_CHECK_OK);
        assert_non_null(check->fix);
    }
    setenv("STUB_INIT", "0", 1);
    setenv("STUB_COUNT", "0", 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    look();
    need_line("driver", "CUDA_VISIBLE_DEVICES");
}

/* It works in a thread of its own: record and current context stay as they were. */
static void the_callers_state_is_left_alone(void **state)
{
    (void)state;
    CUcontext before = NULL, after = NULL;
    use_record(NULL);
    gpul_device *open;
    assert_ok(gpul_open(&open, NULL));
    gpul__record_driver()->CtxGetCurrent(&before);
    assert_code(gpul_alloc(NULL, open, 4, NULL), 314, "out");
    const gpul_error *e = gpul_last_error();
    const char *message = e->message;
    look();
    gpul__record_driver()->CtxGetCurrent(&after);
    assert_ptr_equal(before, after);
    assert_ptr_equal(gpul_last_error()->message, message);
    assert_int_equal(gpul_last_error()->code, 314);
    gpul_device_free(&open);
    assert_code(gpul_doctor_new(NULL), 314, "out");
    assert_int_equal(gpul_doctor_count(NULL), 0);
    assert_false(gpul_doctor_ready(NULL));
    gpul_doctor_free(NULL);
}

int main(int argc, char **argv)
{
    stubs = argc > 1 ? argv[1] : ".";
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_working_driver_and_its_devices),
        TEST(a_device_that_another_process_holds),
        TEST(an_old_driver_and_a_new_compiler),
        TEST(a_driver_that_is_missing),
        TEST(the_toolkits_stub),
        TEST(a_driver_that_lacks_an_entry),
        TEST(drivers_that_do_not_start),
        TEST(the_callers_state_is_left_alone),
    };
    return gpul_run_tests("core doctor", tests, NULL, NULL);
}
