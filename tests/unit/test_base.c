/* lib/base: allocation, strings, the error record, the log, files, names of native errors.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#include "base/alloc.h"
#include "base/dl.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Allocation ----------------------------------------------------------------------------- */

static void the_nth_allocation_fails_once(void **state)
{
    (void)state;
    long before = gpul__alloc_live();
    gpul__alloc_fail_at(2);
    void *first = gpul__malloc(8), *second = gpul__malloc(8), *third = gpul__malloc(0);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(gpul__alloc_live(), before + 2);
    gpul__alloc_fail_at(1);
    assert_null(gpul__realloc(first, 100));
    first = gpul__realloc(first, 100);
    assert_non_null(first);
    gpul__alloc_fail_at(1);
    assert_null(gpul__strdup("text"));
    gpul__alloc_fail_at(1);
    assert_null(gpul__aligned(64, 10));
    gpul__alloc_fail_at(0);
    gpul__free(first);
    gpul__free(third);
    gpul__free(NULL);
    assert_int_equal(gpul__alloc_live(), before);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    volatile size_t half = SIZE_MAX / 2 + 1, huge = SIZE_MAX - 4;
    assert_null(gpul__calloc(half, 2));
    assert_null(gpul__aligned(64, huge));
    gpul__arena arena = { 0 };
    assert_null(gpul__arena_alloc(&arena, huge));
    int *items = NULL;
    size_t capacity = 0;
    assert_false(gpul__grow(&items, &capacity, SIZE_MAX / 8, sizeof *items));
    assert_null(items);
    assert_int_equal(capacity, 0);
}

static void aligned_memory_is_aligned(void **state)
{
    (void)state;
    for (size_t alignment = 16; alignment <= 4096; alignment *= 2) {
        void *memory = gpul__aligned(alignment, 33);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignment, 0);
        gpul__free(memory);
    }
}

static void a_list_grows_and_keeps_what_it_has(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(gpul__grow(&items, &capacity, (size_t)i, sizeof *items));
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(items[i], i);
    assert_true(capacity >= 1000);
    gpul__alloc_fail_at(1);
    assert_false(gpul__grow(&items, &capacity, capacity, sizeof *items));
    gpul__alloc_fail_at(0);
    assert_int_equal(items[999], 999);
    gpul__free(items);
}

static void an_arena_gives_zeroed_aligned_pieces(void **state)
{
    (void)state;
    long before = gpul__alloc_live();
    gpul__arena arena = { 0 };
    for (size_t size = 0; size < 20000; size = size * 3 + 1) {
        unsigned char *piece = gpul__arena_alloc(&arena, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 16, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(piece[i], 0);
        memset(piece, 0xff, size);
    }
    assert_string_equal(gpul__arena_strndup(&arena, "abcdef", 3), "abc");
    assert_string_equal(gpul__arena_printf(&arena, "%d and %s", 7, "eight"), "7 and eight");
    gpul__arena_free(&arena);
    assert_int_equal(gpul__alloc_live(), before);
    gpul__arena_free(&arena);
    gpul__alloc_fail_at(1);
    assert_null(gpul__arena_printf(&arena, "x"));
    gpul__alloc_fail_at(0);
}

/* ---- Strings -------------------------------------------------------------------------------- */

static void a_string_grows(void **state)
{
    (void)state;
    gpul__str str = { 0 };
    assert_string_equal(gpul__str_text(&str), "");
    for (int i = 0; i < 300; i++) gpul__str_printf(&str, "%03d,", i);
    assert_int_equal(str.length, 1200);
    assert_int_equal(strlen(gpul__str_text(&str)), 1200);
    assert_memory_equal(str.text + 1196, "299,", 4);
    gpul__str_addn(&str, "a\0b", 3);
    assert_int_equal(str.length, 1203);
    char *text = gpul__str_take(&str);
    assert_non_null(text);
    assert_null(str.text);
    gpul__free(text);
    text = gpul__str_take(&str);
    assert_string_equal(text, "");
    gpul__free(text);
}

static void a_string_remembers_that_memory_ran_out(void **state)
{
    (void)state;
    long before = gpul__alloc_live();
    gpul__str str = { 0 };
    gpul__str_add(&str, "some");
    gpul__alloc_fail_at(1);
    for (int i = 0; i < 100; i++) gpul__str_add(&str, "longer and longer");
    gpul__alloc_fail_at(0);
    assert_true(str.failed);
    assert_null(gpul__str_take(&str));
    assert_int_equal(gpul__alloc_live(), before);
    gpul__str_addn(&str, "", SIZE_MAX);
    assert_true(str.failed);
    gpul__str_free(&str);
    assert_false(str.failed);
}

static void texts_are_compared(void **state)
{
    (void)state;
    assert_true(gpul__starts("libcuda.so.1", "libcuda"));
    assert_false(gpul__starts("lib", "libcuda"));
    assert_true(gpul__ends("kernel.cu", ".cu"));
    assert_false(gpul__ends("cu", ".cu"));
    assert_true(gpul__ends("", ""));
    assert_int_equal(gpul__edit_distance("scale", "scale", 3), 0);
    assert_int_equal(gpul__edit_distance("scale", "scales", 3), 1);
    assert_int_equal(gpul__edit_distance("kitten", "sitting", 5), 3);
    assert_int_equal(gpul__edit_distance("kitten", "sitting", 2), 3);
    assert_int_equal(gpul__edit_distance("", "abc", 5), 3);
    assert_int_equal(gpul__edit_distance("", "", 0), 0);
    char longest[200];
    memset(longest, 'a', sizeof longest);
    longest[199] = 0;
    assert_int_equal(gpul__edit_distance(longest, longest, 4), 5);
    assert_true(gpul__hash("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(gpul__hash("", 0) == 0xcbf29ce484222325u);
}

/* ---- The error record ----------------------------------------------------------------------- */

static gpul_status fail_somehow(void)
{
    return gpul__fail(GPUL__LAUNCH_LIMIT,
                      (.hint = "a hint", .caller_file = "main.c", .caller_line = 7),
                      "block %d is over %d", 2048, 1024);
}

static void a_failure_fills_the_record(void **state)
{
    (void)state;
    assert_int_equal(fail_somehow(), GPUL_E_GEOMETRY);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->status, GPUL_E_GEOMETRY);
    assert_int_equal(e->layer, GPUL_LAYER_LAUNCH);
    assert_int_equal(e->code, 705);
    assert_string_equal(e->call, "fail_somehow");
    assert_string_equal(e->message, "block 2048 is over 1024");
    assert_string_equal(e->hint, "a hint");
    assert_string_equal(e->log, "");
    assert_string_equal(e->caller_file, "main.c");
    assert_int_equal(e->caller_line, 7);
    assert_int_equal(e->native_kind, GPUL_NATIVE_NONE);
    assert_null(e->native_name);
    assert_int_equal(e->detail_count, 0);
    gpul__fail(GPUL__MEMORY_FAILED,
               (.call = "cuMemAlloc_v2", .native_kind = GPUL_NATIVE_CUDA, .native = 2,
                .log = "a log", .status = GPUL_E_MEMORY),
               "no");
    assert_string_equal(e->native_name, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_string_equal(e->call, "cuMemAlloc_v2");
    assert_string_equal(e->log, "a log");
    assert_int_equal(e->status, GPUL_E_MEMORY);
    assert_string_equal(e->hint,
                        gpul__native_hint(e->native_kind, e->native)); /* the result's own */
    assert_null(e->caller_file);
}

static void details_and_hints_are_added(void **state)
{
    (void)state;
    gpul__fail(GPUL__ARGS_TYPE, (0), "several mistakes");
    for (uint32_t i = 0; i < 50; i++) {
        char text[32], name[8];
        snprintf(text, sizeof text, "mistake %u", i);
        snprintf(name, sizeof name, "p%u", i);
        assert_int_equal(gpul__detail(&(gpul_detail){ .severity = GPUL_ERROR,
                                                      .line = i,
                                                      .text = text,
                                                      .parameter = name,
                                                      .file = "k.cu" }),
                         GPUL_E_SIGNATURE);
    }
    gpul__note("one more: %d", 51);
    gpul__hint("first %s", "hint");
    assert_int_equal(gpul__hint("second hint"), GPUL_E_SIGNATURE);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->detail_count, 51);
    assert_string_equal(e->details[49].text, "mistake 49");
    assert_string_equal(e->details[49].parameter, "p49");
    assert_int_equal(e->details[50].severity, GPUL_NOTE);
    assert_string_equal(e->details[50].text, "one more: 51");
    assert_string_equal(e->hint, "second hint");
    gpul__fail(GPUL__ARGS_TYPE, (0), "the next failure has no details of the last");
    assert_int_equal(e->detail_count, 0);
    assert_null(e->hint);
}

static void a_long_message_stays_whole(void **state)
{
    (void)state;
    static char text[100001];
    memset(text, 'm', sizeof text - 1);
    gpul__fail(GPUL__INTERNAL, (.log = text), "%s.", text);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(strlen(e->message), 100001);
    assert_int_equal(e->message[100000], '.');
    assert_int_equal(strlen(e->log), 100000);
    gpul__note("%s", text);
    gpul__hint("%s", text);
    assert_int_equal(e->detail_count, 1);
    assert_int_equal(strlen(e->details[0].text), 100000);
    assert_int_equal(strlen(e->hint), 100000);
}

static void a_message_may_quote_the_last_one(void **state)
{
    (void)state;
    gpul__fail(GPUL__INTERNAL, (0), "first");
    gpul__fail(GPUL__INTERNAL, (0), "second after %s", gpul_last_error()->message);
    assert_string_equal(gpul_last_error()->message, "second after first");
}

static void out_of_memory_is_a_record_too(void **state)
{
    (void)state;
    assert_int_equal(gpul__no_memory(), GPUL_E_MEMORY);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->status, GPUL_E_MEMORY);
    assert_int_equal(e->code, GPUL__MEMORY_HOST);
    assert_true(e->message[0]);
    assert_int_equal(gpul__hint("lost"), GPUL_E_MEMORY);
    for (long n = 1; n < 12; n++) {
        gpul__alloc_fail_at(n);
        gpul_status status = gpul__fail(GPUL__ARGS_TYPE, (.hint = "h", .log = "l"), "a sentence");
        gpul__alloc_fail_at(n);
        gpul__note("a detail");
        gpul__alloc_fail_at(0);
        e = gpul_last_error();
        assert_int_equal(e->status, status);
        assert_true(e->message && e->message[0] && e->log && e->call);
    }
    gpul__fail(GPUL__INTERNAL, (0), "memory is back");
    assert_string_equal(gpul_last_error()->message, "memory is back");
}

static void *fail_in_a_thread(void *out)
{
    const gpul_error *e = gpul_last_error();
    if (e->status != GPUL_OK || !e->message || !e->log || !e->call) return NULL;
    gpul__fail(GPUL__FILE_OPEN, (0), "of the thread");
    gpul__note("a detail");
    *(bool *)out = strcmp(gpul_last_error()->message, "of the thread") == 0;
    return NULL;
}

static void each_thread_has_its_record(void **state)
{
    (void)state;
    gpul__fail(GPUL__INTERNAL, (0), "of the main thread");
    long before = gpul__alloc_live();
    pthread_t threads[8];
    bool good[8] = { false };
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fail_in_a_thread, &good[i]), 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) assert_true(good[i]);
    assert_string_equal(gpul_last_error()->message, "of the main thread");
    assert_int_equal(gpul__alloc_live(), before);
}

static void codes_are_ordered_and_known(void **state)
{
    (void)state;
    int last = 0;
    size_t count = 0;
    for (const gpul__code_row *row; (row = gpul__code_row_at(count)); count++) {
        assert_true(row->code > last);
        last = row->code;
        assert_ptr_equal(gpul__code_row_find(row->code), row);
        assert_true(row->title[0]);
        assert_true(row->status < 0);
        assert_string_not_equal(gpul_status_text(row->status), "unknown status");
        assert_string_not_equal(gpul_layer_text(row->layer), "none");
    }
    assert_true(count > 90);
    assert_null(gpul__code_row_find(1));
    assert_string_equal(gpul_status_text((gpul_status)-99), "unknown status");
    assert_string_equal(gpul_layer_text((gpul_layer)99), "none");
}

/* ---- Native names --------------------------------------------------------------------------- */

static void native_results_have_names_and_texts(void **state)
{
    (void)state;
    assert_string_equal(gpul_native_name(GPUL_NATIVE_CUDA, 0), "CUDA_SUCCESS");
    assert_string_equal(gpul_native_name(GPUL_NATIVE_CUDA, 700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_string_equal(gpul_native_name(GPUL_NATIVE_CUDA, 701),
                        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
    assert_string_equal(gpul_native_name(GPUL_NATIVE_NVRTC, 6), "NVRTC_ERROR_COMPILATION");
    assert_string_equal(gpul_native_name(GPUL_NATIVE_ERRNO, ENOENT), "ENOENT");
    assert_string_equal(gpul_native_name(GPUL_NATIVE_CUDA, 98765), "unknown");
    assert_string_equal(gpul_native_text(GPUL_NATIVE_CUDA, 98765), "unknown");
    assert_string_equal(gpul_native_name(GPUL_NATIVE_NONE, 0), "unknown");
    assert_string_equal(gpul_native_text((gpul_native_kind)77, 0), "unknown");
    for (int number = 0; number < 1000; number++) {
        const char *name = gpul_native_name(GPUL_NATIVE_CUDA, number);
        const char *text = gpul_native_text(GPUL_NATIVE_CUDA, number);
        assert_int_equal(strcmp(name, "unknown") == 0, strcmp(text, "unknown") == 0);
        assert_true(strlen(text) > 6);
    }
}

/* ---- The log -------------------------------------------------------------------------------- */

static char heard[256];
static gpul_level heard_level;

static void hear(void *user, gpul_level level, const char *message)
{
    ++*(int *)user;
    heard_level = level;
    snprintf(heard, sizeof heard, "%s", message);
}

static void the_hook_hears_its_level_and_above(void **state)
{
    (void)state;
    int count = 0;
    assert_int_equal(atomic_load(&gpul__log_level), 0);
    gpul__log(GPUL_LOG_ERROR, "nobody listens");
    gpul_set_log((gpul_log){ .fn = hear, .user = &count });
    gpul__log(GPUL_LOG_INFO, "not heard");
    assert_int_equal(count, 0);
    gpul__log(GPUL_LOG_WARN, "heard %d", 1);
    assert_int_equal(count, 1);
    assert_int_equal(heard_level, GPUL_LOG_WARN);
    assert_string_equal(heard, "heard 1");
    gpul_set_log((gpul_log){ .fn = hear, .user = &count, .level = GPUL_LOG_TRACE });
    assert_true(gpul__log_on(GPUL_LOG_TRACE));
    gpul__log(GPUL_LOG_TRACE, "%s", "deep");
    assert_int_equal(count, 2);
    gpul__alloc_fail_at(1);
    gpul__log(GPUL_LOG_ERROR, "lost for want of memory");
    gpul__alloc_fail_at(0);
    gpul_set_log((gpul_log){ 0 });
    gpul__log(GPUL_LOG_ERROR, "nobody again");
    assert_int_equal(count, 2);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static char folder[32];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gpulaunch-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -r %s", folder, folder);
    return system(command);
}

static const char *inside(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int files_in_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *list = popen(command, "r");
    int count = -1;
    if (!list || fscanf(list, "%d", &count) != 1) count = -1;
    if (list) pclose(list);
    return count;
}

static void a_file_is_written_and_read(void **state)
{
    (void)state;
    static char data[200000];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7);
    char *text;
    size_t size;
    assert_int_equal(gpul__file_write(inside("a"), "old", 3), GPUL_OK);
    assert_int_equal(gpul__file_write(inside("a"), data, sizeof data), GPUL_OK);
    assert_int_equal(gpul__file_read(&text, &size, inside("a")), GPUL_OK);
    assert_int_equal(size, sizeof data);
    assert_memory_equal(text, data, sizeof data);
    assert_int_equal(text[size], 0);
    gpul__free(text);
    assert_int_equal(files_in_folder(), 1);
    struct stat about;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(inside("a"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(gpul__file_write(inside("empty"), "", 0), GPUL_OK);
    assert_int_equal(gpul__file_read(&text, &size, inside("empty")), GPUL_OK);
    assert_int_equal(size, 0);
    assert_string_equal(text, "");
    gpul__free(text);
}

static void unreadable_files_say_why(void **state)
{
    (void)state;
    char *text = (char *)1;
    size_t size = 9;
    assert_int_equal(gpul__file_read(&text, &size, inside("missing")), GPUL_E_SYSTEM);
    assert_null(text);
    assert_int_equal(size, 0);
    const gpul_error *e = gpul_last_error();
    assert_int_equal(e->code, GPUL__FILE_OPEN);
    assert_int_equal(e->native_kind, GPUL_NATIVE_ERRNO);
    assert_string_equal(e->native_name, "ENOENT");
    assert_non_null(strstr(e->message, "missing"));
    assert_int_equal(gpul__file_read(&text, &size, folder), GPUL_E_SYSTEM);
    assert_string_equal(e->native_name, "EISDIR");
    for (long n = 1; n < 6; n++) {
        long before = gpul__alloc_live();
        assert_int_equal(gpul__file_write(inside("b"), "text", 4), GPUL_OK);
        gpul__alloc_fail_at(n);
        gpul_status status = gpul__file_read(&text, &size, inside("b"));
        gpul__alloc_fail_at(0);
        assert_int_equal(text == NULL, status != GPUL_OK);
        gpul__free(text);
        assert_int_equal(gpul__alloc_live(), before);
    }
}

/* Runs a test in a process of its own, as somebody who is not root if need be. */
static int in_child(int (*test)(void), bool as_nobody)
{
    pid_t child = fork();
    if (child == 0) {
        if (as_nobody && geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(9);
        _exit(test());
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int write_without_right(void)
{
    if (gpul__file_write(inside("kept"), "new", 3) != GPUL_E_SYSTEM) return 1;
    if (strcmp(gpul_last_error()->native_name, "EACCES") != 0) return 2;
    return gpul_last_error()->code == GPUL__FILE_WRITE ? 0 : 3;
}

/* The process may not write files of more than 100 bytes: the disk is full, but for everybody else. */
static int write_to_a_full_disk(void)
{
    static char data[1000];
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = { 100, 100 };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    if (gpul__file_write(inside("kept"), data, sizeof data) != GPUL_E_SYSTEM) return 2;
    return strcmp(gpul_last_error()->native_name, "EFBIG") == 0 ? 0 : 3;
}

static void assert_kept(void)
{
    char *text;
    size_t size;
    assert_int_equal(gpul__file_read(&text, &size, inside("kept")), GPUL_OK);
    assert_string_equal(text, "kept");
    gpul__free(text);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    assert_int_equal(gpul__file_write(inside("nowhere/a"), "x", 1), GPUL_E_SYSTEM);
    assert_int_equal(gpul_last_error()->code, GPUL__FILE_WRITE);
    assert_string_equal(gpul_last_error()->native_name, "ENOENT");
    assert_int_equal(gpul__file_write(inside("kept"), "kept", 4), GPUL_OK);
    assert_int_equal(mkdir(inside("taken"), 0700), 0);
    assert_int_equal(gpul__file_write(inside("taken"), "x", 1), GPUL_E_SYSTEM);
    assert_string_equal(gpul_last_error()->native_name, "EISDIR");
    assert_int_equal(in_child(write_to_a_full_disk, false), 0);
    assert_kept();
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(in_child(write_without_right, true), 0);
    assert_kept();
    assert_int_equal(files_in_folder(), 2);
    for (long n = 1; n < 5; n++) {
        long before = gpul__alloc_live();
        gpul__alloc_fail_at(n);
        gpul_status status = gpul__file_write(inside("nowhere/a"), "x", 1);
        gpul__alloc_fail_at(0);
        assert_int_equal(status, gpul_last_error()->status);
        gpul__fail(GPUL__INTERNAL, (0), "the record is emptied");
        assert_true(gpul__alloc_live() <= before + 2);
    }
}

static void links_and_rights_are_kept(void **state)
{
    (void)state;
    char link[128], text[16] = "";
    struct stat about;
    assert_int_equal(gpul__file_write(inside("real"), "old", 3), GPUL_OK);
    assert_int_equal(chmod(inside("real"), 0600), 0);
    snprintf(link, sizeof link, "%s", inside("link"));
    assert_int_equal(symlink("real", link), 0);
    assert_int_equal(gpul__file_write(link, "new", 3), GPUL_OK);
    assert_int_equal(readlink(link, text, sizeof text), 4);
    assert_int_equal(stat(inside("real"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(about.st_size, 3);
    assert_int_equal(files_in_folder(), 2);
}

/* The device is reached over a link, so that a mistake could only harm the link. */
static void a_device_is_written_as_it_is(void **state)
{
    (void)state;
    char link[128];
    struct stat about;
    snprintf(link, sizeof link, "%s", inside("full"));
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_int_equal(gpul__file_write(link, "x", 1), GPUL_E_SYSTEM);
    assert_string_equal(gpul_last_error()->native_name, "ENOSPC");
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    char got[8] = "";
    assert_int_equal(mkfifo(inside("pipe"), 0600), 0);
    int fd = open(inside("pipe"), O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(gpul__file_write(inside("pipe"), "through", 7), GPUL_OK);
    assert_int_equal(read(fd, got, sizeof got), 7);
    assert_string_equal(got, "through");
    close(fd);
    assert_int_equal(files_in_folder(), 2);
}

static void the_folder_of_a_path_is_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "a/b/c.cu", "a/b/" }, { "c.cu", "" }, { "/x", "/" }, { "", "" }
    };
    for (size_t i = 0; i < 4; i++) {
        char *found = gpul__file_folder(rows[i][0]);
        assert_string_equal(found, rows[i][1]);
        gpul__free(found);
    }
}

static void libraries_say_why_they_do_not_open(void **state)
{
    (void)state;
    char why[256] = "";
    assert_null(gpul__dl_open("libgpulaunch-none.so", why, sizeof why));
    assert_non_null(strstr(why, "libgpulaunch-none.so"));
    void *library = gpul__dl_open("libm.so.6", why, sizeof why);
    if (!library) skip_because("no libm.so.6 here: %s", why);
    void *symbol = gpul__dl_symbol(library, "cosf");
    assert_non_null(symbol);
    assert_null(gpul__dl_symbol(library, "no_such_function"));
    char *file = gpul__dl_file(symbol);
    assert_non_null(strstr(file, "libm"));
    gpul__free(file);
    gpul__dl_close(library);
}

#define in_folder(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

GPUL_TEST_MAIN(
    "base", cmocka_unit_test(the_nth_allocation_fails_once),
    cmocka_unit_test(sizes_that_overflow_are_refused), cmocka_unit_test(aligned_memory_is_aligned),
    cmocka_unit_test(a_list_grows_and_keeps_what_it_has),
    cmocka_unit_test(an_arena_gives_zeroed_aligned_pieces), cmocka_unit_test(a_string_grows),
    cmocka_unit_test(a_string_remembers_that_memory_ran_out), cmocka_unit_test(texts_are_compared),
    cmocka_unit_test(a_failure_fills_the_record), cmocka_unit_test(details_and_hints_are_added),
    cmocka_unit_test(a_long_message_stays_whole),
    cmocka_unit_test(a_message_may_quote_the_last_one),
    cmocka_unit_test(out_of_memory_is_a_record_too), cmocka_unit_test(each_thread_has_its_record),
    cmocka_unit_test(codes_are_ordered_and_known),
    cmocka_unit_test(native_results_have_names_and_texts),
    cmocka_unit_test(the_hook_hears_its_level_and_above), in_folder(a_file_is_written_and_read),
    in_folder(unreadable_files_say_why), in_folder(a_failed_write_leaves_the_old_file),
    in_folder(links_and_rights_are_kept), in_folder(a_device_is_written_as_it_is),
    cmocka_unit_test(the_folder_of_a_path_is_found),
    cmocka_unit_test(libraries_say_why_they_do_not_open));
