/* Images that an earlier process compiled: found again without opening a compiler.  Each compile is a process of its own, and this one
 * opens no library, as its children would have it too.  SPDX-License-Identifier: MIT */
#include "suite.h"

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

static void a_cached_compile_opens_no_compiler(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpulaunch-cache-XXXXXX", command[64], library[512], file[5000], name[64];
    const found_compiler *nvrtc = find_compiler();
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/cache", folder);
    setenv("GPULAUNCH_CACHE_DIR", file, 1);
    /* The machine's compiler under a name of the test's own. */
    snprintf(library, sizeof library, "%s/libnvrtc.so.%d", folder, nvrtc->major);
    put_link(nvrtc->path, folder, strrchr(library, '/') + 1);
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", nvrtc->major, nvrtc->minor);
    snprintf(file, sizeof file, "%.*s%s", (int)(strrchr(nvrtc->path, '/') + 1 - nvrtc->path),
             nvrtc->path, name);
    put_link(file, folder, name);
    assert_int_equal(compile_apart(library), 2);
    assert_int_equal(compile_apart(library), 1);
    /* Another library under the name: one that compiles nothing, and its refusal says that it was asked. */
    snprintf(file, sizeof file, "%s/nvrtc-v135.so", stubs);
    put_link(file, folder, strrchr(library, '/') + 1);
    put_link(file, folder, "libnvrtc-builtins.so.13.5");
    assert_int_equal(compile_apart(library), 3);
    put_link(nvrtc->path, folder, strrchr(library, '/') + 1);
    assert_int_equal(compile_apart(library), 1);
    /* What is remembered of the compiler is lost: it is opened, and the image is still good. */
    snprintf(command, sizeof command, "rm '%s'/cache/*.compiler", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(compile_apart(library), 4);
    assert_int_equal(compile_apart(library), 1);
    unsetenv("GPULAUNCH_CACHE_DIR");
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cached_compile_opens_no_compiler),
    };
    if (count < 2) return 1;
    stubs = words[1];
    return gpul_run_tests("kept", tests, NULL, NULL);
}
