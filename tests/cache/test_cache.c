/* The compile cache's store and keys: what is put in comes back whole or not at all, whatever happens to
 * the folder.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "core/cache.h"
#include "core/cache_key.h"
#include "runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char base[64];
static const char key[] = "0123456789abcdef0123456789abcdef";

static int fresh(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/gpulaunch-cache-XXXXXX");
    if (!mkdtemp(base)) return -1;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/a/b", base);
    return setenv("GPULAUNCH_CACHE_DIR", folder, 1);
}

static int gone(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

static void entries_come_back(void **state)
{
    (void)state;
    int folder = gpul__cache_open();
    assert_true(folder >= 0);
    struct stat about;
    assert_int_equal(fstat(folder, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    size_t size = 1;
    assert_null(gpul__cache_read(folder, key, "image", &size));
    assert_int_equal(size, 0);
    assert_true(gpul__cache_write(folder, key, "image", "hello", 5));
    char *data = gpul__cache_read(folder, key, "image", &size);
    assert_int_equal(size, 5);
    assert_string_equal(data, "hello");
    gpul__free(data);
    assert_true(gpul__cache_write(folder, key, "image", "", 0));
    data = gpul__cache_read(folder, key, "image", &size);
    assert_non_null(data);
    assert_int_equal(size, 0);
    gpul__free(data);
    assert_null(gpul__cache_read(folder, key, "other", &size));
    close(folder);
}

/* Changes one byte, or the length, of the entry on disk. */
static void harm(int folder, int at, int length)
{
    char name[64];
    snprintf(name, sizeof name, "%s.image", key);
    int fd = openat(folder, name, O_RDWR);
    assert_true(fd >= 0);
    char byte;
    if (at >= 0) {
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    if (length >= 0) assert_int_equal(ftruncate(fd, length), 0);
    close(fd);
}

static void damaged_entries_are_dropped(void **state)
{
    (void)state;
    int folder = gpul__cache_open();
    size_t size;
    for (int at = 0; at < 32 + 5; at++) {
        assert_true(gpul__cache_write(folder, key, "image", "hello", 5));
        harm(folder, at, -1);
        assert_null(gpul__cache_read(folder, key, "image", &size));
    }
    for (int length = 0; length < 32 + 5; length++) {
        assert_true(gpul__cache_write(folder, key, "image", "hello", 5));
        harm(folder, -1, length);
        assert_null(gpul__cache_read(folder, key, "image", &size));
    }
    char name[64];
    snprintf(name, sizeof name, "%s.image", key);
    assert_int_equal(faccessat(folder, name, F_OK, 0), -1);
    assert_int_equal(symlinkat("/etc/passwd", folder, name), 0);
    assert_null(gpul__cache_read(folder, key, "image", &size));
    assert_int_equal(mkdirat(folder, name, 0700), 0);
    assert_null(gpul__cache_read(folder, key, "image", &size));
    close(folder);
}

static void folders_of_others_are_not_used(void **state)
{
    (void)state;
    char folder[128], link[128];
    snprintf(folder, sizeof folder, "%s/open", base);
    assert_int_equal(mkdir(folder, 0755), 0);
    setenv("GPULAUNCH_CACHE_DIR", folder, 1);
    assert_int_equal(gpul__cache_open(), -1);
    assert_int_equal(chmod(folder, 0700), 0);
    int good = gpul__cache_open();
    assert_true(good >= 0);
    close(good);
    snprintf(link, sizeof link, "%s/link", base);
    assert_int_equal(symlink(folder, link), 0);
    setenv("GPULAUNCH_CACHE_DIR", link, 1);
    assert_int_equal(gpul__cache_open(), -1);
    snprintf(folder, sizeof folder, "%s/file", base);
    close(open(folder, O_CREAT | O_WRONLY, 0600));
    setenv("GPULAUNCH_CACHE_DIR", folder, 1);
    assert_int_equal(gpul__cache_open(), -1);
    setenv("GPULAUNCH_CACHE_DIR", "/proc/no/such", 1);
    assert_int_equal(gpul__cache_open(), -1);
}

/* Root can give a folder and an entry away, and then they are another's. */
static void what_another_user_owns_is_not_used(void **state)
{
    (void)state;
    enum { ANOTHER = 65534 };
    if (geteuid() != 0) skip_because("only root can make a folder of another user");
    char path[128], name[64];
    size_t size;
    int folder = gpul__cache_open();
    assert_true(folder >= 0);
    assert_true(gpul__cache_write(folder, key, "image", "hello", 5));
    snprintf(name, sizeof name, "%s.image", key);
    assert_int_equal(fchownat(folder, name, ANOTHER, ANOTHER, 0), 0);
    assert_null(gpul__cache_read(folder, key, "image", &size));
    assert_int_equal(faccessat(folder, name, F_OK, 0), -1);
    close(folder);
    snprintf(path, sizeof path, "%s/a/b", base);
    assert_int_equal(chown(path, ANOTHER, ANOTHER), 0);
    assert_int_equal(gpul__cache_open(), -1);
}

static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    int folder = gpul__cache_open();
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit small = { 1000, 1000 };
        setrlimit(RLIMIT_FSIZE, &small);
        static char big[5000];
        _exit(gpul__cache_write(folder, key, "image", big, sizeof big) ? 1 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    size_t size;
    assert_null(gpul__cache_read(folder, key, "image", &size));
    char command[160];
    snprintf(command, sizeof command, "test -z \"$(ls -A '%s/a/b')\"", base);
    assert_int_equal(system(command), 0);
    close(folder);
}

/* GPULAUNCH_TEST_STORM processes, as a storm takes its time; else `usual`. */
static int storm_of(int usual)
{
    const char *wanted = getenv("GPULAUNCH_TEST_STORM");
    return wanted && atoi(wanted) > 0 ? atoi(wanted) : usual;
}

static void many_processes_share_a_key(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    int processes = storm_of(60);
    for (int i = 0; i < processes; i++) {
        if (fork() == 0) {
            int folder = gpul__cache_open();
            char *mine = malloc(BYTES);
            memset(mine, 'a' + i % 26, BYTES);
            int bad = folder < 0;
            for (int k = 0; k < 5; k++) {
                gpul__cache_write(folder, key, "image", mine, BYTES);
                size_t size;
                char *got = gpul__cache_read(folder, key, "image", &size);
                bad |= !got || size != BYTES;
                for (size_t j = 1; got && j < size; j++) bad |= got[j] != got[0];
                gpul__free(got);
                if (i % 7 == 0 && k == 2) raise(SIGKILL);
            }
            _exit(bad);
        }
    }
    for (int i = 0; i < processes; i++) {
        int status;
        assert_true(wait(&status) > 0);
        if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* How many leftovers of writers there are; `when` is given to each. */
static int leftovers(int folder, time_t when)
{
    int count = 0;
    DIR *listing = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY));
    assert_non_null(listing);
    for (struct dirent *d; (d = readdir(listing));) {
        size_t length = strlen(d->d_name);
        if (length < 5 || strcmp(d->d_name + length - 5, ".part") != 0) continue;
        const struct timespec times[2] = { { when, 0 }, { when, 0 } };
        assert_int_equal(utimensat(folder, d->d_name, times, 0), 0);
        count++;
    }
    closedir(listing);
    return count;
}

/* Killed at any moment: the entry is whole or not there, and what is left goes when it is old, or when the clock
 * ran backwards since. */
static void killed_writers_do_no_harm(void **state)
{
    (void)state;
    enum { BYTES = 4 << 20 };
    int writers = storm_of(64);
    int folder = gpul__cache_open();
    char *data = malloc(BYTES);
    assert_non_null(data);
    memset(data, 7, BYTES);
    for (int i = 0; i < writers; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (;;) gpul__cache_write(folder, key, "image", data, BYTES);
        }
        assert_true(child > 0);
        nanosleep(&(struct timespec){ 0, 1000000 + i % 64 * 50000 }, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        size_t size;
        char *got = gpul__cache_read(folder, key, "image", &size);
        if (!got) continue;
        assert_int_equal(size, BYTES);
        assert_memory_equal(got, data, BYTES);
        gpul__free(got);
    }
    struct gpul__cache_use removed, left;
    time_t now = time(NULL);
    int before = leftovers(folder, now);
    assert_true(before > 0);
    gpul__cache_prune(folder, UINT64_MAX, 0, &removed, &left);
    assert_int_equal(leftovers(folder, now - 3600), before);
    gpul__cache_prune(folder, UINT64_MAX, 0, &removed, &left);
    assert_int_equal(leftovers(folder, now), 0);
    assert_int_equal(close(openat(folder, ".1.2.3.part", O_CREAT | O_WRONLY, 0600)), 0);
    assert_int_equal(leftovers(folder, now + 3600), 1);
    gpul__cache_prune(folder, UINT64_MAX, 0, &removed, &left);
    assert_int_equal(leftovers(folder, now), 0);
    assert_int_equal(removed.entries, 0);
    free(data);
    close(folder);
}

static void the_oldest_go_first(void **state)
{
    (void)state;
    int folder = gpul__cache_open();
    static char data[1000];
    for (int i = 0; i < 10; i++) {
        char name[33], file[64];
        snprintf(name, sizeof name, "%032x", 0xabc0 + i);
        assert_true(gpul__cache_write(folder, name, "image", data, sizeof data));
        snprintf(file, sizeof file, "%s.image", name);
        struct timespec when[2] = { { time(NULL) - 1000 + i, 0 }, { time(NULL) - 1000 + i, 0 } };
        assert_int_equal(utimensat(folder, file, when, 0), 0);
    }
    size_t size;
    gpul__free(gpul__cache_read(folder, "0000000000000000000000000000abc0", "image", &size));
    struct gpul__cache_use removed, left;
    gpul__cache_prune(folder, 3200, 0, &removed, &left);
    assert_int_equal(left.entries, 3);
    assert_int_equal(removed.entries, 7);
    void *used = gpul__cache_read(folder, "0000000000000000000000000000abc0", "image", &size);
    assert_non_null(used);
    gpul__free(used);
    assert_null(gpul__cache_read(folder, "0000000000000000000000000000abc1", "image", &size));
    gpul__cache_prune(folder, UINT64_MAX, 500, &removed, &left);
    assert_int_equal(left.entries, 1);
    close(folder);
}

static bool scan(char out[33], const char *source, const char *const *folders)
{
    gpul__key k;
    gpul__key_begin(&k, "test", NULL);
    bool known = gpul__key_headers(&k, source, strlen(source), base, folders,
                                   (const gpul_header[]){ { "own.h", "#include <other.h>\n" },
                                                          { "other.h", "" },
                                                          { NULL, NULL } });
    gpul__key_end(&k, out);
    return known;
}

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s", base, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void headers_are_part_of_the_key(void **state)
{
    (void)state;
    strcat(base, "/");
    const char *const folders[] = { base, NULL };
    char one[33], two[33], three[33];
    put("first.h", "#include \"second.h\"\n");
    put("second.h", "int a;\n");
    assert_true(scan(one, "#include \"first.h\"\n", folders));
    assert_true(scan(two, "#include \"first.h\"\n", folders));
    assert_string_equal(one, two);
    put("second.h", "int b;\n");
    assert_true(scan(three, "#include \"first.h\"\n", folders));
    assert_string_not_equal(one, three);
    assert_true(scan(one, "  #  include <first.h> // with a remark\n", folders));
    assert_true(scan(one, "#include <own.h>\n", NULL));
    /* What cannot be known is not cached. */
    assert_false(scan(one, "#include \"missing.h\"\n", folders));
    assert_false(scan(one, "#define H <first.h>\n#include H\n", folders));
    assert_false(scan(one, "#if __has_include(\"missing.h\")\n#endif\n", folders));
    assert_false(scan(one, "#if __has_include(H)\n#endif\n", folders));
    assert_false(scan(one, "#if __has_include_next(<first.h>)\n#endif\n", folders));
    assert_false(scan(one, "#define ask __has_include \\\n(<first.h>)\n", folders));
    assert_false(scan(one, "#inc\\\nlude <first.h>\n", folders));
    assert_false(scan(one, "#include_next <first.h>\n", folders));
    assert_false(scan(one, "/* a\n*/ #include \"missing.h\"\n", folders));
    /* A header that includes itself ends. */
    put("loop.h", "#include \"loop.h\"\n");
    assert_true(scan(one, "#include \"loop.h\"\n", folders));
    base[strlen(base) - 1] = 0;
}

/* A header that is nowhere, and one that a question is about, count by whether they are there and by what is in them. */
static void questions_are_part_of_the_key(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "#include <late.h>\n",
        "#if defined(__has_include) && __has_include(<late.h>)\n#endif\n",
        /* Asked before the word for it is known, and by a word for the word. */
        "#if ask(<late.h>)\n#endif\n#define ask(x) __has_include(x)\n",
        "#define may( y )  ask( y ) // also\n#define ask(x) __has_include(x)\n#define ask(x) 0\n#if may(<late.h>)\n",
        "#if __has_include ( \"late.h\" )\n#endif\n",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    strcat(base, "/");
    const char *const folders[] = { base, NULL };
    char absent[33], there[33], changed[33];
    for (int i = 0; i < TEXTS; i++) {
        bool known = scan(absent, texts[i], folders);
        assert_int_equal(known, i < TEXTS - 1);
        put("late.h", "#include \"later.h\"\n");
        put("later.h", "int a;\n");
        assert_true(scan(there, texts[i], folders));
        if (known) assert_string_not_equal(absent, there);
        put("later.h", "int b;\n");
        assert_true(scan(changed, texts[i], folders));
        assert_string_not_equal(there, changed);
        char path[128];
        snprintf(path, sizeof path, "%slate.h", base);
        assert_int_equal(unlink(path), 0);
    }
    assert_true(scan(there, "#ifdef __has_include\n#endif\n", folders));
    assert_true(scan(there, "#if defined __has_include || defined ( __has_include )\n", folders));
    assert_false(scan(there, "#define ask __has_include\n", folders));
    assert_false(scan(there, "#define ask(x) __has_include x\n", folders));
    assert_false(scan(there, "#define ask(x) __has_include(y)\n", folders));
    assert_false(scan(there, "#define ask(x) (1 && __has_include(x))\n", folders));
    assert_false(scan(there, "#define ask(x) __has_include(x) || b\n", folders));
    assert_false(scan(there, "#define ask(x) __has_include(x)\n#define may ask\n", folders));
    assert_false(scan(there, "#define ask(x) __has_include(x)\n#if ask(H)\n", folders));
    base[strlen(base) - 1] = 0;
}

/* Every byte and every length counts. */
static void each_byte_counts(void **state)
{
    (void)state;
    enum { LONGEST = 40 };
    static char seen[2000][33];
    char text[LONGEST] = { 0 };
    size_t count = 0;
    for (size_t length = 0; length <= LONGEST; length++)
        for (size_t i = 0; i <= length; i++) {
            gpul__key k;
            if (i < length) text[i] = 1;
            gpul__key_begin(&k, "test", NULL);
            gpul__key_bytes(&k, "x", text, length);
            gpul__key_end(&k, seen[count]);
            if (i < length) text[i] = 0;
            for (size_t j = 0; j < count; j++) assert_string_not_equal(seen[j], seen[count]);
            count++;
        }
}

static void parts_do_not_run_together(void **state)
{
    (void)state;
    char one[33], two[33];
    gpul__key k;
    gpul__key_begin(&k, "test", NULL);
    gpul__key_text(&k, "x", "ab");
    gpul__key_text(&k, "x", "c");
    gpul__key_end(&k, one);
    gpul__key_begin(&k, "test", NULL);
    gpul__key_text(&k, "x", "a");
    gpul__key_text(&k, "x", "bc");
    gpul__key_end(&k, two);
    assert_string_not_equal(one, two);
    gpul__key_begin(&k, "test", NULL);
    gpul__key_text(&k, "x", NULL);
    gpul__key_end(&k, one);
    gpul__key_begin(&k, "test", NULL);
    gpul__key_text(&k, "x", "");
    gpul__key_end(&k, two);
    assert_string_not_equal(one, two);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, gone)
    const struct CMUnitTest tests[] = {
        TEST(entries_come_back),
        TEST(damaged_entries_are_dropped),
        TEST(folders_of_others_are_not_used),
        TEST(what_another_user_owns_is_not_used),
        TEST(a_full_disk_leaves_nothing),
        TEST(many_processes_share_a_key),
        TEST(killed_writers_do_no_harm),
        TEST(the_oldest_go_first),
        TEST(headers_are_part_of_the_key),
        TEST(questions_are_part_of_the_key),
        TEST(each_byte_counts),
        TEST(parts_do_not_run_together),
    };
    return gpul_run_tests("cache", tests, NULL, NULL);
}
