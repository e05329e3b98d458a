/* What earlier processes learnt of compilers, in the compile cache.  SPDX-License-Identifier: MIT */
#include "core/compiler_memory.h"

#include <string.h>
#include <unistd.h>

#include "core/cache.h"
#include "core/cache_key.h"

/* An entry as it lies in the cache. */
typedef struct compiler_entry {
    int32_t major, minor, arch_count, reports_progress;
    int32_t archs[GPUL__NVRTC_ARCHS];
    gpul__nvrtc_file builtins;
} compiler_entry;

static void make_key(char out[GPUL__CACHE_KEY + 1], const char *path, const gpul__nvrtc_file *file)
{
    gpul__key key;
    gpul__key_begin(&key, "compiler", NULL);
    gpul__key_text(&key, "path", path);
    gpul__key_bytes(&key, "file", file, sizeof *file);
    gpul__key_number(&key, "entry size", sizeof(compiler_entry));
    gpul__key_end(&key, out);
}

static bool find(gpul__nvrtc *nvrtc, const char *path, const gpul__nvrtc_file *file)
{
    char key[GPUL__CACHE_KEY + 1];
    size_t size;
    int folder = gpul__cache_open();
    if (folder < 0) return false;
    make_key(key, path, file);
    void *data = gpul__cache_read(folder, key, "compiler", &size);
    close(folder);
    compiler_entry entry;
    bool good = data && size == sizeof entry;
    if (good) memcpy(&entry, data, sizeof entry);
    gpul__free(data);
    if (!good || entry.arch_count < 1 || entry.arch_count > GPUL__NVRTC_ARCHS) return false;
    nvrtc->major = entry.major;
    nvrtc->minor = entry.minor;
    nvrtc->arch_count = entry.arch_count;
    nvrtc->reports_progress = entry.reports_progress != 0;
    nvrtc->builtins = entry.builtins;
    for (int i = 0; i < entry.arch_count; i++) nvrtc->archs[i] = entry.archs[i];
    return true;
}

static void keep(const gpul__nvrtc *nvrtc)
{
    /* Builtins that the loader finds may be others the next time. */
    if (!nvrtc->file.size || !nvrtc->builtins.size) return;
    char key[GPUL__CACHE_KEY + 1];
    int folder = gpul__cache_open();
    if (folder < 0) return;
    compiler_entry entry = { .major = nvrtc->major,
                             .minor = nvrtc->minor,
                             .arch_count = nvrtc->arch_count,
                             .reports_progress = nvrtc->reports_progress,
                             .builtins = nvrtc->builtins };
    for (int i = 0; i < nvrtc->arch_count; i++) entry.archs[i] = nvrtc->archs[i];
    make_key(key, nvrtc->path, &nvrtc->file);
    gpul__cache_write(folder, key, "compiler", &entry, sizeof entry);
    close(folder);
}

const gpul__nvrtc_memory gpul__compiler_memory = { find, keep };
