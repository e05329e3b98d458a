/* Where libnvrtc and libnvJitLink may lie, in the order of the search: Python environments, toolkits named
 * in the environment, conda, the loader's own paths, and the usual folders.
 * SPDX-License-Identifier: MIT */
#include "nvrtc/nvrtc.h"
#include "nvrtc/places.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __aarch64__
#define MULTIARCH "aarch64-linux-gnu"
#define TARGET    "sbsa-linux"
#else
#define MULTIARCH "x86_64-linux-gnu"
#define TARGET    "x86_64-linux"
#endif

struct search {
    gpul__nvrtc_candidates *out;
    const gpul__library_names *names;
    bool failed;
    struct {
        dev_t device;
        ino_t file;
    } seen[64];
    size_t seen_count;
};

static void remember(struct search *search, const char *place, const char *origin)
{
    gpul__nvrtc_candidates *out = search->out;
    char *text = gpul__arena_printf(&out->arena, "%s (%s)", place, origin);
    if (!text || !gpul__grow(&out->searched, &out->searched_capacity, out->searched_count,
                             sizeof *out->searched))
        search->failed = true;
    else out->searched[out->searched_count++] = text;
}

static void add(struct search *search, const char *path, const char *origin)
{
    gpul__nvrtc_candidates *out = search->out;
    struct stat file;
    if (stat(path, &file) != 0) return;
    for (size_t i = 0; i < search->seen_count; i++)
        if (search->seen[i].device == file.st_dev && search->seen[i].file == file.st_ino) return;
    if (search->seen_count == sizeof search->seen / sizeof *search->seen) return;
    search->seen[search->seen_count].device = file.st_dev;
    search->seen[search->seen_count++].file = file.st_ino;

    char *copy = gpul__arena_strndup(&out->arena, path, strlen(path));
    if (!copy || !gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items)) {
        search->failed = true;
        return;
    }
    out->items[out->count++] = (gpul__nvrtc_candidate){ .path = copy, .origin = origin };
}

const gpul__library_names gpul__nvrtc_names = {
    "libnvrtc.so",
    { "libnvrtc.so.15", "libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
      "libnvrtc.so" },
    "cuda_nvrtc/lib",
};
const gpul__library_names gpul__jitlink_names = {
    "libnvJitLink.so",
    { "libnvJitLink.so.15", "libnvJitLink.so.14", "libnvJitLink.so.13", "libnvJitLink.so.12",
      "libnvJitLink.so" },
    "nvjitlink/lib",
};

/* The library by the names that toolkits and packages give it.  Asking for each is much cheaper than
 * reading a folder of a thousand libraries. */
static void folder_of(struct search *search, const char *folder, const char *origin)
{
    remember(search, folder, origin);
    for (size_t i = 0; i < GPUL__LIBRARY_NAMES && search->names->files[i]; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", folder, search->names->files[i]) <
            (int)sizeof path)
            add(search, path, origin);
    }
}

static void below(struct search *search, const char *base, const char *part, const char *origin)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", base, part) < (int)sizeof path &&
        access(path, X_OK) == 0)
        folder_of(search, path, origin);
}

/* Wheels: nvidia/cu13/lib since CUDA 13, nvidia/cuda_nvrtc/lib and the like before. */
static bool wheel_lib(void *user, const char *folder, const char *origin)
{
    below(user, folder, "lib", origin);
    return true;
}

static bool wheels(void *user, const char *folder, const char *origin)
{
    struct search *search = user;
    remember(search, folder, origin);
    gpul__places_match(folder, "cu[0-9]*", origin, wheel_lib, search);
    below(search, folder, search->names->wheel, origin);
    return true;
}

static bool toolkit(void *user, const char *folder, const char *origin)
{
    struct search *search = user;
    remember(search, folder, origin);
    below(search, folder, "lib64", origin);
    below(search, folder, "targets/" TARGET "/lib", origin);
    below(search, folder, "lib", origin);
    return true;
}

/* The loader's cache, read as glibc writes it: a header, entries, strings. */
static void ldconfig(struct search *search)
{
    static const char magic[] = "glibc-ld.so.cache1.1";
    struct entry {
        int32_t flags;
        uint32_t key, value, os_version;
        uint64_t hwcap;
    };
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    remember(search, "/etc/ld.so.cache", "ldconfig");
    struct stat file;
    size_t size = fstat(fd, &file) == 0 ? (size_t)file.st_size : 0;
    char *text = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (text == MAP_FAILED) return;
    const char *start = memmem(text, size, magic, sizeof magic - 1);
    size_t left = start ? size - (size_t)(start - text) : 0;
    uint32_t count = 0;
    if (left > 48) memcpy(&count, start + 20, sizeof count);
    for (uint32_t i = 0; i < count && 48 + (size_t)(i + 1) * sizeof(struct entry) <= left; i++) {
        struct entry entry;
        memcpy(&entry, start + 48 + i * sizeof entry, sizeof entry);
        if (entry.key >= left || entry.value >= left || start[left - 1] != 0) continue;
        if (strncmp(start + entry.key, search->names->begin, strlen(search->names->begin)) == 0)
            add(search, start + entry.value, "ldconfig");
    }
    munmap(text, size);
}

static void library_path(struct search *search)
{
    const char *path = gpul__places_variable("LD_LIBRARY_PATH");
    while (path) {
        size_t length = strcspn(path, ":");
        char folder[PATH_MAX];
        if (length && length < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            folder_of(search, folder, "LD_LIBRARY_PATH");
        }
        path = path[length] ? path + length + 1 : NULL;
    }
}

bool gpul__library_search(gpul__nvrtc_candidates *out, const gpul__library_names *names)
{
    struct search search = { .out = out, .names = names };
    gpul__places_wheels(wheels, &search);
    gpul__places_toolkits(toolkit, &search, true, false);
    const char *conda = gpul__places_variable("CONDA_PREFIX");
    if (conda) {
        below(&search, conda, "lib", "CONDA_PREFIX");
        below(&search, conda, "targets/" TARGET "/lib", "CONDA_PREFIX");
    }
    library_path(&search);
    ldconfig(&search);
    gpul__places_toolkits(toolkit, &search, false, true);
    folder_of(&search, "/usr/lib/" MULTIARCH, "system");
    folder_of(&search, "/usr/lib64", "system");
    return !search.failed;
}
