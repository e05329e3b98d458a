/* Finding and choosing NVRTC, among libraries made for the test.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/compiler_memory.h"
#include "nvrtc/headers.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/gpulaunch-nvrtc-XXXXXX";
static const char *stubs;

static void make_folders(char *path)
{
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* Copies a stub to `place` below the root; with builtins of a version beside it unless that is NULL. */
static void put(const char *stub, const char *place, const char *builtins)
{
    char command[1024], path[512];
    snprintf(path, sizeof path, "%s/%s", root, place);
    make_folders(path);
    snprintf(command, sizeof command, "cp '%s/nvrtc-%s.so' '%s'", stubs, stub, path);
    assert_int_equal(system(command), 0);
    if (!builtins) return;
    char *slash = strrchr(path, '/');
    snprintf(command, sizeof command, "cp '%s/nvrtc-builtins.so' '%.*s/libnvrtc-builtins.so.%s'",
             stubs, (int)(slash - path), path, builtins);
    assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
    (void)state;
    static const char *const unset[] = { "GPULAUNCH_NVRTC", "CUDA_PATH",   "CUDA_HOME",
                                         "CONDA_PREFIX",    "VIRTUAL_ENV", "LD_LIBRARY_PATH" };
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++) unsetenv(unset[i]);
    strcpy(strrchr(root, '-') + 1, "XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static const char *at(const char *place)
{
    static char path[4][512];
    static int next;
    snprintf(path[next = (next + 1) % 4], sizeof path[0], "%s/%s", root, place);
    return path[next];
}

static const gpul__nvrtc *chosen(gpul__nvrtc_want want)
{
    const gpul__nvrtc *nvrtc = NULL;
    gpul_status status = gpul__nvrtc_choose(&nvrtc, &want);
    if (status) show_error();
    assert_int_equal(status, GPUL_OK);
    return nvrtc;
}

static const gpul_error *refused_path(const char *path, int code, const char *message)
{
    const gpul__nvrtc *nvrtc;
    assert_int_not_equal(gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ .path = path }), GPUL_OK);
    assert_null(nvrtc);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->code, code);
    assert_int_equal(e->status, GPUL_E_COMPILER);
    assert_text_has(e->message, message);
    return e;
}

static void an_explicit_path_is_the_only_candidate(void **state)
{
    (void)state;
    put("v124", "one/libnvrtc.so.12", "12.4");
    const gpul__nvrtc *nvrtc = chosen((gpul__nvrtc_want){ .path = at("one/libnvrtc.so.12") });
    assert_int_equal(nvrtc->major * 100 + nvrtc->minor, 1204);
    assert_int_equal(nvrtc->archs[0], 50);
    setenv("GPULAUNCH_NVRTC", at("one/libnvrtc.so.12"), 1);
    assert_ptr_equal(chosen((gpul__nvrtc_want){ 0 }), nvrtc);
    setenv("GPULAUNCH_NVRTC", at("absent/libnvrtc.so.12"), 1);
    const gpul_error *e = refused_path(NULL, 1008, "GPULAUNCH_NVRTC");
    assert_true(has_detail(e, "no such file"));
    unsetenv("GPULAUNCH_NVRTC");
    refused_path(at("absent.so"), 1008, "absent.so");
    refused_path(root, 1008, "no file");
}

static void broken_libraries_are_explained(void **state)
{
    (void)state;
    put("lacking", "lacking/libnvrtc.so.12", "12.4");
    refused_path(at("lacking/libnvrtc.so.12"), 1008, "it has no nvrtcCompileProgram");
    put("failing", "failing/libnvrtc.so.12", "12.4");
    refused_path(at("failing/libnvrtc.so.12"), 1008, "nvrtcVersion fails");
    put("v110", "old/libnvrtc.so.11.0", "11.0");
    refused_path(at("old/libnvrtc.so.11.0"), 1008, "11.2 is the oldest");
    put("v124", "alone/libnvrtc.so.12", NULL);
    const gpul_error *e =
        refused_path(at("alone/libnvrtc.so.12"), 1009, "libnvrtc-builtins.so.12.4");
    assert_text_has(e->hint, "whole NVRTC");
    char path[512];
    snprintf(path, sizeof path, "%s", at("text/libnvrtc.so.12"));
    make_folders(path);
    FILE *f = fopen(path, "w");
    fputs("no library", f);
    fclose(f);
    refused_path(path, 1008, "it does not open");
    /* The architectures of a library that cannot be asked come from a table. */
    put("unasked", "unasked/libnvrtc.so.11.2", "11.8");
    const gpul__nvrtc *nvrtc = chosen((gpul__nvrtc_want){ .path = at("unasked/libnvrtc.so.11.2") });
    assert_int_equal(nvrtc->archs[0], 35);
    assert_int_equal(nvrtc->archs[nvrtc->arch_count - 1], 90);
}

static void the_one_that_suits_wins(void **state)
{
    (void)state;
    put("v124", "venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "12.4");
    put("v135", "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "13.5");
    put("v118", "conda/lib/libnvrtc.so.11.2", "11.8");
    put("v128", "cuda/lib64/libnvrtc.so.12", "12.8");
    setenv("VIRTUAL_ENV", at("venv"), 1);
    setenv("CONDA_PREFIX", at("conda"), 1);
    setenv("CUDA_PATH", at("cuda"), 1);
    static const struct {
        int arch, driver, wins;
    } table[] = {
        { 90, 13050, 1305 },                      /* the newest that the driver can follow */
        { 90, 12080, 1208 },                      /* not newer than the driver */
        { 90, 12040, 1204 }, { 52, 13050, 1208 }, /* CUDA 13 no longer knows the device */
        { 35, 13050, 1108 }, { 120, 12080, 1208 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        /* Libraries of this machine may join in, so the candidates' own list is looked at. */
        gpul__nvrtc_candidates list;
        gpul__nvrtc_want want = { .arch = table[i].arch, .driver_version = table[i].driver };
        assert_int_equal(gpul__nvrtc_candidates_find(&list, &want), GPUL_OK);
        const gpul__nvrtc_candidate *first = NULL;
        for (size_t k = 0; k < list.count && !first; k++)
            if (strncmp(list.items[k].path, root, strlen(root)) == 0) first = &list.items[k];
        assert_non_null(first);
        assert_int_equal(first->major * 100 + first->minor, table[i].wins);
        assert_int_equal(list.items[0].verdict, GPUL__NVRTC_CHOSEN);
        assert_ptr_equal(chosen(want), list.items[0].nvrtc);
        for (size_t k = 0; k < list.count; k++) assert_non_null(list.items[k].reason);
        gpul__nvrtc_candidates_free(&list);
    }
}

static void every_place_is_searched(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *value, *place;
    } table[] = {
        { "VIRTUAL_ENV", "v", "v/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13" },
        { "VIRTUAL_ENV", "w",
          "w/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.13" },
        { "CONDA_PREFIX", "c", "c/lib/libnvrtc.so.13" },
        { "CONDA_PREFIX", "d", "d/lib/python3.10/site-packages/nvidia/cu13/lib/libnvrtc.so.13" },
        { "CUDA_PATH", "e", "e/lib64/libnvrtc.so.13" },
        { "CUDA_HOME", "f", "f/targets/x86_64-linux/lib/libnvrtc.so" },
        { "LD_LIBRARY_PATH", "g", "g/libnvrtc.so.13" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
#ifdef __aarch64__
        if (strstr(table[i].place, "x86_64")) continue;
#endif
        put("v135", table[i].place, "13.5");
        setenv(table[i].variable, at(table[i].value), 1);
        gpul__nvrtc_candidates list;
        assert_int_equal(gpul__nvrtc_candidates_find(&list, &(gpul__nvrtc_want){ 0 }), GPUL_OK);
        bool found = false;
        for (size_t k = 0; k < list.count; k++)
            found |= strcmp(list.items[k].path, at(table[i].place)) == 0 && list.items[k].nvrtc;
        if (!found) fprintf(stderr, "not found: %s\n", table[i].place);
        assert_true(found);
        assert_true(list.searched_count > 0);
        gpul__nvrtc_candidates_free(&list);
        unsetenv(table[i].variable);
    }
}

static void nothing_found_lists_where(void **state)
{
    (void)state;
    gpul__nvrtc_candidates list;
    assert_int_equal(gpul__nvrtc_candidates_find(&list, &(gpul__nvrtc_want){ 0 }), GPUL_OK);
    bool machine_has_one = list.count > 0;
    gpul__nvrtc_candidates_free(&list);
    if (machine_has_one) skip_because("this machine has an NVRTC in a usual place");
    const gpul__nvrtc *nvrtc;
    assert_int_equal(gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ 0 }), GPUL_E_COMPILER);
    assert_int_equal(gpul_last_error()->code, 1008);
    assert_true(has_detail(gpul_last_error(), "searched"));
}

static void file_names_promise_versions(void **state)
{
    (void)state;
    int major, minor;
    put("v124", "n/libnvrtc.so.12.4.127", NULL);
    gpul__nvrtc_guess(at("n/libnvrtc.so.12.4.127"), &major, &minor);
    assert_int_equal(major * 100 + minor, 1204);
    put("v135", "m/libnvrtc.so.13", "13.5");
    gpul__nvrtc_guess(at("m/libnvrtc.so.13"), &major, &minor);
    assert_int_equal(major * 100 + minor, 1305);
    put("v118", "o/libnvrtc.so.11.2", "11.8");
    gpul__nvrtc_guess(at("o/libnvrtc.so.11.2"), &major, &minor);
    assert_int_equal(major * 100 + minor, 1108);
    gpul__nvrtc_guess(at("absent"), &major, &minor);
    assert_int_equal(major, 0);
}

static void include_folders_by_place(void **state)
{
    (void)state;
    gpul__arena arena = { 0 };
    gpul__include_folders found;
    char path[512];
    static const char *const files[] = {
        "tk/include/cuda_fp16.h", "tk/include/cccl/cuda/std/cstdint",
        "v/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_fp16.h",
        "v/lib/python3.11/site-packages/nvidia/cuda_cccl/include/cuda/std/limits"
    };
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s", at(files[i]));
        make_folders(path);
        FILE *f = fopen(path, "w");
        fclose(f);
    }
    setenv("CUDA_PATH", at("tk"), 1);
    assert_true(gpul__include_folders_find(&found, NULL, &arena));
    assert_int_equal(found.count, 2);
    assert_string_equal(found.folders[0], at("tk/include"));
    assert_string_equal(found.folders[1], at("tk/include/cccl"));
    unsetenv("CUDA_PATH");
    setenv("VIRTUAL_ENV", at("v"), 1);
    assert_true(gpul__include_folders_find(&found, NULL, &arena));
    assert_int_equal(found.count, 2);
    assert_text_has(found.folders[0], "cuda_runtime/include");
    assert_text_has(found.folders[1], "cuda_cccl/include");
    gpul__arena_free(&arena);
}

static void *choose_in_thread(void *path)
{
    const gpul__nvrtc *nvrtc = NULL;
    for (int i = 0; i < 50; i++) gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ .path = path });
    return (void *)nvrtc;
}

static void threads_get_one_library(void **state)
{
    (void)state;
    put("v128", "t/libnvrtc.so.12", "12.8");
    pthread_t threads[4];
    void *got[4];
    char path[512];
    snprintf(path, sizeof path, "%s", at("t/libnvrtc.so.12"));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, choose_in_thread, path), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &got[i]);
    assert_non_null(got[0]);
    for (int i = 1; i < 4; i++) assert_ptr_equal(got[i], got[0]);
}

/* ---- Libraries that are known from an earlier process ---- */

/* What a process of its own makes of a library: its version, RECALLED added when it did not open it. */
enum { RECALLED = 10000, REFUSED = 1, MAPPED = 2 };

static bool is_mapped(const char *part)
{
    char line[1024];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, part) != NULL;
    if (maps) fclose(maps);
    return found;
}

static int look_at(const char *path)
{
    const gpul__nvrtc *nvrtc;
    gpul__nvrtc_want want = { .path = path, .memory = &gpul__compiler_memory };
    if (gpul__nvrtc_choose(&nvrtc, &want) != GPUL_OK) return REFUSED;
    if (nvrtc->recalled == is_mapped(root)) return MAPPED;
    return nvrtc->major * 100 + nvrtc->minor + (nvrtc->recalled ? RECALLED : 0);
}

static int in_a_process(int (*work)(const char *path), const char *path)
{
    int ends[2], answer = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        answer = work(path);
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &answer, sizeof answer), sizeof answer);
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return answer;
}

static void touch(const char *path, time_t when)
{
    const struct timespec times[2] = { { when, 5 }, { when, 5 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_known_library_is_not_opened(void **state)
{
    (void)state;
    char path[512];
    put("v124", "k/libnvrtc.so.12", "12.4");
    put("v135", "other/libnvrtc.so.13", "13.5");
    snprintf(path, sizeof path, "%s", at("k/libnvrtc.so.12"));
    setenv("GPULAUNCH_CACHE_DIR", at("cache"), 1);
    assert_int_equal(in_a_process(look_at, path), 1204);
    assert_int_equal(in_a_process(look_at, path), RECALLED + 1204);
    /* The architectures come back too. */
    const gpul__nvrtc *nvrtc =
        chosen((gpul__nvrtc_want){ .path = path, .memory = &gpul__compiler_memory });
    assert_true(nvrtc->recalled);
    assert_int_equal(nvrtc->arch_count, 9);
    assert_int_equal(nvrtc->archs[8], 90);
    assert_false(nvrtc->reports_progress);
    /* Another variable, another library. */
    setenv("GPULAUNCH_NVRTC", at("other/libnvrtc.so.13"), 1);
    assert_int_equal(in_a_process(look_at, NULL), 1305);
    assert_int_equal(in_a_process(look_at, NULL), RECALLED + 1305);
    setenv("GPULAUNCH_NVRTC", path, 1);
    assert_int_equal(in_a_process(look_at, NULL), RECALLED + 1204);
    unsetenv("GPULAUNCH_NVRTC");
    unsetenv("GPULAUNCH_CACHE_DIR");
}

static void a_library_that_changed_is_opened_again(void **state)
{
    (void)state;
    char path[512], builtins[512];
    put("v124", "k/libnvrtc.so.12", "12.4");
    snprintf(path, sizeof path, "%s", at("k/libnvrtc.so.12"));
    snprintf(builtins, sizeof builtins, "%s", at("k/libnvrtc-builtins.so.12.4"));
    setenv("GPULAUNCH_CACHE_DIR", at("cache"), 1);
    assert_int_equal(in_a_process(look_at, path), 1204);
    assert_int_equal(in_a_process(look_at, path), RECALLED + 1204);
    /* Written over under its name, and with the time of the old one. */
    touch(path, 1000000000);
    assert_int_equal(in_a_process(look_at, path), 1204);
    assert_int_equal(in_a_process(look_at, path), RECALLED + 1204);
    put("v128", "k/libnvrtc.so.12", "12.8");
    touch(path, 1000000000);
    assert_int_equal(in_a_process(look_at, path), 1208);
    assert_int_equal(in_a_process(look_at, path), RECALLED + 1208);
    /* Another file moved there. */
    put("v124", "k/new", NULL);
    touch(at("k/new"), 1000000000);
    assert_int_equal(rename(at("k/new"), path), 0);
    assert_int_equal(in_a_process(look_at, path), 1204);
    assert_int_equal(in_a_process(look_at, path), RECALLED + 1204);
    /* Its builtins belong to it. */
    touch(builtins, 1000000000);
    assert_int_equal(in_a_process(look_at, path), 1204);
    assert_int_equal(in_a_process(look_at, path), RECALLED + 1204);
    assert_int_equal(unlink(builtins), 0);
    assert_int_equal(in_a_process(look_at, path), REFUSED);
    unsetenv("GPULAUNCH_CACHE_DIR");
}

static int ready_after_a_change(const char *path)
{
    const gpul__nvrtc *nvrtc;
    gpul__nvrtc_want want = { .path = path, .memory = &gpul__compiler_memory };
    if (gpul__nvrtc_choose(&nvrtc, &want) != GPUL_OK || !nvrtc->recalled) return REFUSED;
    put("v128", "k/libnvrtc.so.12", "12.8");
    if (gpul__nvrtc_ready(nvrtc)) return MAPPED;
    if (gpul__nvrtc_choose(&nvrtc, &want) != GPUL_OK) return REFUSED;
    return nvrtc->major * 100 + nvrtc->minor;
}

static int ready_unchanged(const char *path)
{
    const gpul__nvrtc *nvrtc, *ready;
    gpul__nvrtc_want want = { .path = path, .memory = &gpul__compiler_memory };
    if (gpul__nvrtc_choose(&nvrtc, &want) != GPUL_OK || !nvrtc->recalled) return REFUSED;
    ready = gpul__nvrtc_ready(nvrtc);
    if (!ready || ready->recalled || !ready->CompileProgram) return REFUSED;
    return gpul__nvrtc_ready(ready) == ready ? 0 : REFUSED;
}

static void a_change_before_the_opening_is_seen(void **state)
{
    (void)state;
    char path[512];
    put("v124", "k/libnvrtc.so.12", "12.4");
    snprintf(path, sizeof path, "%s", at("k/libnvrtc.so.12"));
    setenv("GPULAUNCH_CACHE_DIR", at("cache"), 1);
    assert_int_equal(in_a_process(look_at, path), 1204);
    assert_int_equal(in_a_process(ready_unchanged, path), 0);
    assert_int_equal(in_a_process(ready_after_a_change, path), 1208);
    unsetenv("GPULAUNCH_CACHE_DIR");
}

/* The loader hands out what it opened first under a name; it must not pass for the new file. */
static int replaced_while_open(const char *path)
{
    const gpul__nvrtc *nvrtc;
    gpul__nvrtc_want want = { .path = path, .memory = &gpul__compiler_memory };
    if (gpul__nvrtc_choose(&nvrtc, &want) != GPUL_OK || nvrtc->recalled) return REFUSED;
    put("v128", "k/new", "12.8");
    if (rename(at("k/new"), path) != 0) return REFUSED;
    const gpul__nvrtc *before = nvrtc;
    if (gpul__nvrtc_choose(&nvrtc, &want) != GPUL_OK) return REFUSED;
    if (nvrtc->major * 100 + nvrtc->minor == 1204) return nvrtc == before ? 0 : MAPPED;
    return nvrtc->major * 100 + nvrtc->minor == 1208 && nvrtc != before ? 0 : MAPPED;
}

static void an_open_library_keeps_its_file(void **state)
{
    (void)state;
    char path[512];
    put("v124", "k/libnvrtc.so.12", "12.4");
    snprintf(path, sizeof path, "%s", at("k/libnvrtc.so.12"));
    setenv("GPULAUNCH_CACHE_DIR", at("cache"), 1);
    assert_int_equal(in_a_process(replaced_while_open, path), 0);
    assert_int_equal(in_a_process(look_at, path), 1208);
    unsetenv("GPULAUNCH_CACHE_DIR");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        TEST(an_explicit_path_is_the_only_candidate),
        TEST(broken_libraries_are_explained),
        TEST(the_one_that_suits_wins),
        TEST(every_place_is_searched),
        TEST(nothing_found_lists_where),
        TEST(file_names_promise_versions),
        TEST(include_folders_by_place),
        TEST(threads_get_one_library),
        TEST(a_known_library_is_not_opened),
        TEST(a_library_that_changed_is_opened_again),
        TEST(a_change_before_the_opening_is_seen),
        TEST(an_open_library_keeps_its_file),
    };
    if (count < 2) return 1;
    stubs = words[1];
    return gpul_run_tests("nvrtc", tests, NULL, NULL);
}
