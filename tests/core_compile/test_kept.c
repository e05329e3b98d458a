/* Images that an earlier process compiled: found again without opening a compiler.  Each compile is a process of its own, and this one
 * opens no library, as its children would have it too.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *stubs;

typedef struct found_compiler {
    int major, minor;
    char path[PATH_MAX];
} found_compiler;

/* The machine's own compiler; skips where there is none. */
static const found_compiler *find_compiler(void)
{
    static found_compiler *found;
    if (!found)
        found =
            mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(found, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        const gpul__nvrtc *nvrtc;
        if (gpul__nvrtc_choose(&nvrtc, &(gpul__nvrtc_want){ .arch = 90 }) != GPUL_OK) _exit(1);
        found->major = nvrtc->major;
        found->minor = nvrtc->minor;
        _exit(!realpath(nvrtc->path, found->path));
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    if (!found->path[0]) skip_because("no NVRTC for sm_90 here");
    return found;
}

/* 1: from the cache and no NVRTC in the process; 2: compiled; 3: refused; 4: from the cache with an NVRTC. */
static int compile_apart(const char *nvrtc)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        gpul_image *image;
        gpul_compile_opts opts = { .arch = "sm_90", .nvrtc = nvrtc };
        char line[1024];
        bool opened = false;
        if (gpul_compile(&image, "extern \"C\" __global__ void f(int *x) { *x = 1; }", GPUL_TEXT,
                         &opts) != GPUL_OK)
            _exit(3);
        FILE *maps = fopen("/proc/self/maps", "r");
        while (fgets(line, sizeof line, maps)) opened |= strstr(line, "libnvrtc") != NULL;
        _exit(!gpul_image_describe(image)->from_cache ? 2 : opened ? 4 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Puts a link to `file` at folder/name. */
static void put_link(const char *file, const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    assert_int_equal(symlink(file, path), 0);
}

static const char junk[] = "image-2\0junk\n\n\tjunk\njunk\tjunk";

/* Writes `size` bytes as a whole, well-formed entry over each of a kind. */
static void write_over(const char *kind, const void *data, size_t size)
{
    char name[64];
    int cache = gpul__cache_open(), count = 0;
    assert_true(cache >= 0);
    DIR *listing = fdopendir(openat(cache, ".", O_RDONLY | O_DIRECTORY));
    assert_non_null(listing);
    for (struct dirent *d; (d = readdir(listing));) {
        if (strlen(d->d_name) <= GPUL__CACHE_KEY + 1 ||
            strcmp(d->d_name + GPUL__CACHE_KEY + 1, kind) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", GPUL__CACHE_KEY, d->d_name);
        assert_true(gpul__cache_write(cache, name, kind, data, size));
        count++;
    }
    assert_true(count > 0);
    closedir(listing);
    close(cache);
}

static void a_cached_compile_opens_no_compiler(void **state)
{
    (void)state;
    char place[] = "/tmp/gpulaunch-cache-XXXXXX", command[64], library[512], file[5000], name[64];
    const found_compiler *nvrtc = find_compiler();
    assert_non_null(mkdtemp(place));
    snprintf(file, sizeof file, "%s/cache", place);
    setenv("GPULAUNCH_CACHE_DIR", file, 1);
    /* The machine's compiler under a name of the test's own. */
    snprintf(library, sizeof library, "%s/libnvrtc.so.%d", place, nvrtc->major);
    put_link(nvrtc->path, place, strrchr(library, '/') + 1);
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", nvrtc->major, nvrtc->minor);
    snprintf(file, sizeof file, "%.*s%s", (int)(strrchr(nvrtc->path, '/') + 1 - nvrtc->path),
             nvrtc->path, name);
    put_link(file, place, name);
    assert_int_equal(compile_apart(library), 2);
    assert_int_equal(compile_apart(library), 1);
    /* Another library under the name: one that compiles nothing, and its refusal says that it was asked. */
    snprintf(file, sizeof file, "%s/nvrtc-v135.so", stubs);
    put_link(file, place, strrchr(library, '/') + 1);
    put_link(file, place, "libnvrtc-builtins.so.13.5");
    assert_int_equal(compile_apart(library), 3);
    put_link(nvrtc->path, place, strrchr(library, '/') + 1);
    assert_int_equal(compile_apart(library), 1);
    /* What is remembered of the compiler is lost: it is opened, and the image is still good. */
    snprintf(command, sizeof command, "rm '%s'/cache/*.compiler", place);
    assert_int_equal(system(command), 0);
    assert_int_equal(compile_apart(library), 4);
    assert_int_equal(compile_apart(library), 1);
    write_over("compiler", junk, sizeof junk);
    assert_int_equal(compile_apart(library), 4);
    assert_int_equal(compile_apart(library), 1);
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -r '%s'", place);
    assert_int_equal(system(command), 0);
}

/* ---- Why it was not there ---- */

static char folder[64];

static int begin(void **state)
{
    (void)state;
    char path[128];
    snprintf(folder, sizeof folder, "/tmp/gpulaunch-cache-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/cache", folder);
    return setenv("GPULAUNCH_CACHE_DIR", path, 1);
}

static int finish(void **state)
{
    (void)state;
    char command[128];
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Compiles folder/k.cu; `miss`: a part of the reason that the image must give, NULL: it must be from the cache. */
static void compile_for(const char *miss, const gpul_compile_opts *opts)
{
    char path[128];
    gpul_image *image;
    snprintf(path, sizeof path, "%s/k.cu", folder);
    gpul_status status = gpul_compile_file(&image, path, opts);
    const gpul_image_info *info = gpul_image_describe(compiled(status, image));
    if (miss && info->cache_miss && !strstr(info->cache_miss, miss))
        fprintf(stderr, "'%s' is not in: %s\n", miss, info->cache_miss);
    assert_int_equal(info->from_cache, miss == NULL);
    if (miss) assert_text_has(info->cache_miss, miss);
    else assert_null(info->cache_miss);
    gpul_image_free(&image);
}

static void a_miss_is_explained(void **state)
{
    (void)state;
    find_compiler();
    gpul_compile_opts opts = { .arch = "sm_90", .defines = LIST("N=1") }, other = opts;
    char command[160];
    put("k.cu", "#include \"h.h\"\nextern \"C\" __global__ void k(int *x) { *x = N + H; }\n");
    put("h.h", "#define H 1\n");
    compile_for("nothing of this name was kept before", &opts);
    compile_for(NULL, &opts);
    other.defines = LIST("N=2");
    compile_for("option -DN=2 instead of -DN=1", &other);
    compile_for(NULL, &other);
    compile_for(NULL, &opts);
    other = opts;
    other.arch = "sm_80";
    compile_for("architecture sm_80 instead of sm_90", &other);
    other = opts;
    other.line_info = true;
    compile_for("setting line information is new", &other);
    other = opts;
    other.defines = LIST("N=1", "M=1");
    compile_for("option -DM=1 is new", &other);
    put("h.h", "#define H 2\n");
    compile_for("h.h changed", &opts);
    compile_for(NULL, &opts);
    put("h.h", "#include \"i.h\"\n");
    put("i.h", "#define H 3\n");
    compile_for("i.h is new", &opts);
    put("k.cu", "extern \"C\" __global__ void k(int *x) { *x = N; }\n");
    compile_for("source changed", &opts);
    compile_for(NULL, &opts);
    snprintf(command, sizeof command, "rm '%s'/cache/*.image", folder);
    assert_int_equal(system(command), 0);
    compile_for("it was there and is no longer", &opts);
    opts.no_cache = true;
    compile_for("the cache is not wanted", &opts);
    opts.no_cache = false;
    put("k.cu", "#define X \"h.h\"\n#include X\nextern \"C\" __global__ void k(int *x) {}\n");
    compile_for("an #include in it is spelt by a macro", &opts);
    compile_for("an #include in it is spelt by a macro", &opts);
    put("k.cu", "extern \"C\" __global__ void k(int *x) {}\n");
    setenv("GPULAUNCH_CACHE_DIR", "/proc/none", 1);
    compile_for("no folder", &opts);
}

/* What another version wrote under the same key is compiled again, whatever it is. */
static void entries_of_another_version_do_no_harm(void **state)
{
    (void)state;
    find_compiler();
    gpul_compile_opts opts = { .arch = "sm_90" };
    static const char *const kinds[] = { "image", "recipe" };
    put("k.cu", "extern \"C\" __global__ void k(int *x) { *x = 3; }\n");
    compile_for("nothing", &opts);
    for (int i = 0; i < 2; i++)
        for (size_t size = 0; size <= sizeof junk; size += sizeof junk / 4) {
            write_over(kinds[i], junk, size);
            if (i == 0) compile_for("it was there", &opts);
            compile_for(NULL, &opts);
        }
    write_over("recipe", junk, sizeof junk);
    opts.defines = LIST("N=1");
    compile_for("", &opts);
    compile_for(NULL, &opts);
}

static void the_cache_alone_can_be_asked(void **state)
{
    (void)state;
    find_compiler();
    const char *text = "extern \"C\" __global__ void k(int *x) { *x = 7; }\n";
    gpul_compile_opts opts = { .arch = "sm_90", .cache_only = true };
    refuse_text(text, &opts, 1203, "nothing of this name was kept before");
    opts.cache_only = false;
    gpul_image *image = compile_text(text, &opts);
    gpul_image_free(&image);
    opts.cache_only = true;
    image = compile_text(text, &opts);
    assert_true(gpul_image_describe(image)->from_cache);
    gpul_image_free(&image);
    opts.no_cache = true;
    refuse_text(text, &opts, 1203, "the cache is not wanted");
}

static bool write_meanwhile(void *user)
{
    put("h.h", user);
    return true;
}

/* The header of the scan is not the one that is compiled: the image belongs to neither text. */
static void a_change_during_the_compile_is_not_kept(void **state)
{
    (void)state;
    const found_compiler *nvrtc = find_compiler();
    if (nvrtc->major * 100 + nvrtc->minor < 1208)
        skip_because("NVRTC %d.%d does not report progress", nvrtc->major, nvrtc->minor);
    gpul_compile_opts opts = { .arch = "sm_90",
                               .progress = write_meanwhile,
                               .progress_user = (void *)(uintptr_t) "#define H 2\n" };
    put("k.cu", "#include \"h.h\"\nextern \"C\" __global__ void k(int *x) { *x = H; }\n");
    put("h.h", "#define H 1\n");
    compile_for("nothing", &opts);
    put("h.h", "#define H 1\n");
    compile_for("nothing", &opts);
    opts.progress = NULL;
    put("h.h", "#define H 1\n");
    compile_for("nothing", &opts);
    compile_for(NULL, &opts);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cached_compile_opens_no_compiler),
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
        TEST(a_miss_is_explained),
        TEST(entries_of_another_version_do_no_harm),
        TEST(the_cache_alone_can_be_asked),
        TEST(a_change_during_the_compile_is_not_kept),
    };
    if (count < 2) return 1;
    stubs = words[1];
    return gpul_run_tests("kept", tests, NULL, NULL);
}
