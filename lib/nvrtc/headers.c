/* Where CUDA's headers are found, and which carried header is which.  SPDX-License-Identifier: MIT */
#include "nvrtc/headers.h"
#include "nvrtc/places.h"

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __aarch64__
#define TARGET "sbsa-linux"
#else
#define TARGET "x86_64-linux"
#endif

const gpul__carried_header *gpul__carried_find(const char *name)
{
    size_t low = 0, high = gpul__carried_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, gpul__carried[middle].name);
        if (order == 0) return &gpul__carried[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

bool gpul__carried_is_stand_in(const char *name)
{
    static const char *const names[] = {
        "builtin_types.h",
        "cuda_runtime.h",
        "cuda_runtime_api.h",
        "device_functions.h",
        "device_launch_parameters.h",
        "host_defines.h",
        "math_constants.h",
        "vector_functions.h",
        "vector_types.h",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

struct find {
    gpul__include_folders *out;
    gpul__arena *arena;
    bool failed;
};

static bool has(const char *folder, const char *file)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path &&
           access(path, R_OK) == 0;
}

static void add(struct find *find, const char *folder)
{
    gpul__include_folders *out = find->out;
    if (out->count == sizeof out->folders / sizeof *out->folders) return;
    char real[PATH_MAX];
    if (!realpath(folder, real)) return;
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->folders[i], real) == 0) return;
    const char *copy = gpul__arena_strndup(find->arena, real, strlen(real));
    if (copy) out->folders[out->count++] = copy;
    else find->failed = true;
}

/* Takes `folder`/`part` when CUDA's headers are in it, and the core libraries beside it. */
static bool take(struct find *find, const char *folder, const char *part)
{
    char path[PATH_MAX], core[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, part) >= (int)sizeof path ||
        !(has(path, "cuda_fp16.h") || has(path, "cuda_runtime.h")))
        return false;
    add(find, path);
    if (snprintf(core, sizeof core, "%s/cccl", path) < (int)sizeof core && has(core, "cuda/std"))
        add(find, core);
    return find->out->count > 0;
}

static bool toolkit(void *user, const char *folder, const char *origin)
{
    (void)origin;
    return !take(user, folder, "include") && !take(user, folder, "targets/" TARGET "/include");
}

/* Wheels of CUDA 13 share one include folder; older ones have one for each package. */
static bool wheel(void *user, const char *folder, const char *origin)
{
    (void)origin;
    return !take(user, folder, "include");
}

static bool wheels(void *user, const char *folder, const char *origin)
{
    struct find *find = user;
    if (!gpul__places_match(folder, "cu[0-9]*", origin, wheel, find)) return false;
    if (!take(find, folder, "cuda_runtime/include")) return true;
    char core[PATH_MAX];
    if (snprintf(core, sizeof core, "%s/cuda_cccl/include", folder) < (int)sizeof core &&
        has(core, "cuda/std"))
        add(find, core);
    return false;
}

/* The place that NVRTC itself came from: headers of its own version. */
static bool near_nvrtc(struct find *find, const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return false;
        *slash = 0;
    }
    /* "/usr/lib" would give /usr/include, whose C headers NVRTC cannot read. */
    if (strcmp(folder, "/usr") == 0 || strcmp(folder, "/usr/lib") == 0) return false;
    if (take(find, folder, "include")) return true;
    char *slash = strrchr(folder, '/');
    if (!slash || strcmp(slash, "/cuda_nvrtc") != 0) return false;
    *slash = 0;
    return !wheels(find, folder, "NVRTC");
}

static bool cache_folder(char out[PATH_MAX], const gpul__nvrtc *nvrtc)
{
    const char *base = gpul__places_variable("GPULAUNCH_CACHE_DIR"), *between = "";
    if (!base) {
        base = gpul__places_variable("XDG_CACHE_HOME");
        between = "/gpulaunch";
    }
    if (!base) {
        base = gpul__places_variable("HOME");
        between = "/.cache/gpulaunch";
    }
    return base && *base == '/' &&
           snprintf(out, PATH_MAX, "%s%s/headers-%d.%d", base, between, nvrtc->major,
                    nvrtc->minor) < PATH_MAX;
}

bool gpul__include_folders_find(gpul__include_folders *out, const gpul__nvrtc *nvrtc,
                                gpul__arena *arena)
{
    struct find find = { .out = out, .arena = arena };
    *out = (gpul__include_folders){ 0 };
    char real[PATH_MAX];
    if (nvrtc && realpath(nvrtc->path, real) && near_nvrtc(&find, real)) return !find.failed;
    if (gpul__places_toolkits(toolkit, &find, true, false) && gpul__places_wheels(wheels, &find))
        gpul__places_toolkits(toolkit, &find, false, true);
    /* What NVRTC's own headers were installed for an earlier compile. */
    char folder[PATH_MAX];
    if (!out->count && nvrtc && nvrtc->InstallBundledHeaders && cache_folder(folder, nvrtc))
        take(&find, folder, ".");
    return !find.failed;
}

/* Makes the folder and those above it; only the user may enter the ones that are new. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool gpul__include_folders_bundled(gpul__include_folders *out, const gpul__nvrtc *nvrtc,
                                   gpul__arena *arena, const char **why)
{
    nvrtcBundledHeadersInfo info = { 0 };
    const char *log = NULL;
    char folder[PATH_MAX];
    *why = NULL;
    if (!nvrtc->GetBundledHeadersInfo || !nvrtc->InstallBundledHeaders ||
        GPUL__NVRTC(nvrtc, GetBundledHeadersInfo, &info, &log) != NVRTC_SUCCESS || !info.available)
        return true;
    if (!cache_folder(folder, nvrtc) || !make_folders(folder)) {
        *why = "the folder for NVRTC's own headers cannot be made in the cache";
        return true;
    }
    nvrtcResult result = GPUL__NVRTC(nvrtc, InstallBundledHeaders, folder, 0, &log);
    if (result != NVRTC_SUCCESS) {
        *why = gpul__arena_printf(arena, "NVRTC cannot install its own headers into %s: %s", folder,
                                  log && *log ? log : gpul_native_text(GPUL_NATIVE_NVRTC, result));
        return *why != NULL;
    }
    gpul__log(GPUL_LOG_INFO, "NVRTC's own headers are in %s", folder);
    struct find find = { .out = out, .arena = arena };
    take(&find, folder, ".");
    return !find.failed;
}
