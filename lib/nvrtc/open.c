/* Opening one NVRTC: its entries, its version, what it makes code for, and whether its builtins are
 * there.  Each file is opened once a process.  SPDX-License-Identifier: MIT */
#include "nvrtc/nvrtc.h"

#include "base/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opened libraries, by file; a library that did not open is tried again at the next search.  They
 * outlive every object, so they come from plain malloc and no leak count sees them. */
struct opened {
    struct opened *next;
    void *handle;
    gpul__nvrtc nvrtc;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opened *all;

void gpul__nvrtc_guess(const char *path, int *major, int *minor)
{
    /* The builtins beside it bear the full version, and so does the real file of most toolkits. */
    char real[PATH_MAX];
    *major = *minor = 0;
    if (!realpath(path, real)) return;
    const char *name = strrchr(real, '/');
    name = name ? name + 1 : real;
    const char *version = strstr(name, ".so.");
    int parts = version ? sscanf(version, ".so.%d.%d", major, minor) : 0;
    if (parts == 2 && *major > 11) return;

    /* libnvrtc.so.11.2 is the name of every release from 11.2 to 11.8. */
    int wanted = *major;
    char builtins[PATH_MAX + 64];
    int folder = (int)(name - real);
    for (int m = 0; m <= 20 && wanted; m++) {
        snprintf(builtins, sizeof builtins, "%.*slibnvrtc-builtins.so.%d.%d", folder, real, wanted,
                 m);
        if (access(builtins, F_OK) == 0) {
            *minor = m;
            return;
        }
    }
    if (parts < 1) *major = 0;
}

int gpul__nvrtc_known_archs(int major, int minor, int archs[GPUL__NVRTC_ARCHS])
{
    static const struct {
        int arch, first, last; /* versions of NVRTC, major * 100 + minor */
    } table[] = {
        { 35, 0, 1199 },     { 37, 0, 1199 },     { 50, 0, 1299 },     { 52, 0, 1299 },
        { 53, 0, 1299 },     { 60, 0, 1299 },     { 61, 0, 1299 },     { 62, 0, 1299 },
        { 70, 0, 1299 },     { 72, 0, 1299 },     { 75, 0, 9999 },     { 80, 0, 9999 },
        { 86, 1101, 9999 },  { 87, 1104, 9999 },  { 88, 1300, 9999 },  { 89, 1108, 9999 },
        { 90, 1108, 9999 },  { 100, 1208, 9999 }, { 101, 1208, 1299 }, { 103, 1209, 9999 },
        { 110, 1300, 9999 }, { 120, 1208, 9999 }, { 121, 1209, 9999 },
    };
    int count = 0, version = major * 100 + minor;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (version >= table[i].first && version <= table[i].last) archs[count++] = table[i].arch;
    return count;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void read_archs(gpul__nvrtc *nvrtc)
{
    int count = 0;
    if (nvrtc->GetNumSupportedArchs && nvrtc->GetSupportedArchs &&
        GPUL__NVRTC(nvrtc, GetNumSupportedArchs, &count) == NVRTC_SUCCESS && count > 0 &&
        count <= GPUL__NVRTC_ARCHS &&
        GPUL__NVRTC(nvrtc, GetSupportedArchs, nvrtc->archs) == NVRTC_SUCCESS) {
        nvrtc->arch_count = count;
        qsort(nvrtc->archs, (size_t)count, sizeof *nvrtc->archs, compare_ints);
    } else {
        nvrtc->arch_count = gpul__nvrtc_known_archs(nvrtc->major, nvrtc->minor, nvrtc->archs);
    }
}

/* NVRTC opens its builtins by their bare name at the first compile, so they must lie beside it or on
 * the loader's path.  Opening them here by their full path also makes them found where NVRTC has no
 * search path of its own. */
static bool open_builtins(const char *path, int major, int minor)
{
    char name[64], full[PATH_MAX + 64];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", major, minor);
    snprintf(full, sizeof full, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
    if (access(full, F_OK) == 0) return dlopen(full, RTLD_LAZY | RTLD_LOCAL) != NULL;
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL) != NULL;
}

static bool load_entries(gpul__nvrtc *nvrtc, void *handle, const char **missing)
{
    enum { WANT, NEED };
#define X(field, symbol, need, params)                                                             \
    *(void **)(&nvrtc->field) = dlsym(handle, #symbol);                                            \
    if ((need) == NEED && !nvrtc->field) {                                                         \
        *missing = #symbol;                                                                        \
        return false;                                                                              \
    }
#include "nvrtc/nvrtc.def"
    return true;
}

static const gpul__nvrtc *opened_locked(const gpul__nvrtc_file *file)
{
    for (struct opened *o = all; o; o = o->next)
        if (o->nvrtc.file.device == file->device && o->nvrtc.file.inode == file->inode)
            return &o->nvrtc;
    return NULL;
}

const gpul__nvrtc *gpul__nvrtc_opened(const gpul__nvrtc_file *file)
{
    pthread_mutex_lock(&lock);
    const gpul__nvrtc *nvrtc = opened_locked(file);
    pthread_mutex_unlock(&lock);
    return nvrtc;
}

static const gpul__nvrtc *open_locked(const char *path, const gpul__nvrtc_file *file,
                                      gpul__arena *arena, const char **reason,
                                      bool *builtins_missing)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        *reason = gpul__arena_printf(arena, "it does not open: %s", why ? why : "no reason given");
        return NULL;
    }
    /* The loader goes by names: a library that was replaced since is still the one that it opened then. */
    for (struct opened *o = all; o; o = o->next)
        if (o->handle == handle) return &o->nvrtc;
    struct opened *opened = calloc(1, sizeof *opened);
    char *copy = strdup(path);
    if (!opened || !copy) {
        free(opened);
        free(copy);
        return NULL;
    }
    gpul__nvrtc *nvrtc = &opened->nvrtc;
    const char *missing = NULL;
    nvrtcResult result = NVRTC_SUCCESS;
    nvrtc->path = copy;
    if (!load_entries(nvrtc, handle, &missing))
        *reason =
            gpul__arena_printf(arena, "it has no %s; NVRTC 11.2 is the oldest that works", missing);
    else if ((result = GPUL__NVRTC(nvrtc, Version, &nvrtc->major, &nvrtc->minor)) != NVRTC_SUCCESS)
        *reason = gpul__arena_printf(arena, "nvrtcVersion fails with %s (%d)",
                                     gpul_native_name(GPUL_NATIVE_NVRTC, result), result);
    else if (nvrtc->major * 100 + nvrtc->minor < 1102)
        *reason = gpul__arena_printf(arena, "it is version %d.%d; 11.2 is the oldest that works",
                                     nvrtc->major, nvrtc->minor);
    else if (!open_builtins(path, nvrtc->major, nvrtc->minor)) {
        *builtins_missing = true;
        *reason = gpul__arena_printf(arena,
                                     "its libnvrtc-builtins.so.%d.%d is neither beside it nor "
                                     "where the loader looks",
                                     nvrtc->major, nvrtc->minor);
    } else {
        gpul__nvrtc_file after;
        read_archs(nvrtc);
        nvrtc->reports_progress = nvrtc->SetFlowCallback != NULL;
        nvrtc->file = *file;
        nvrtc->builtins = gpul__nvrtc_builtins(path, nvrtc->major, nvrtc->minor);
        /* Replaced while it was opened: which of the two it is cannot be known. */
        if (!gpul__nvrtc_look(&after, path) || !gpul__nvrtc_same_file(&after, file))
            nvrtc->file.size = 0;
        opened->handle = handle;
        opened->next = all;
        all = opened;
        gpul__log(GPUL_LOG_DEBUG, "NVRTC %d.%d opened: %s", nvrtc->major, nvrtc->minor, path);
        return nvrtc;
    }
    free(opened);
    free(copy);
    return NULL;
}

const gpul__nvrtc *gpul__nvrtc_open(const char *path, gpul__arena *arena, const char **reason,
                                    bool *builtins_missing)
{
    struct stat about;
    gpul__nvrtc_file file;
    *reason = NULL;
    *builtins_missing = false;
    if (stat(path, &about) != 0 || !gpul__nvrtc_look(&file, path)) {
        *reason = gpul__arena_printf(arena, "%s", gpul_native_text(GPUL_NATIVE_ERRNO, errno));
        return NULL;
    }
    if (!S_ISREG(about.st_mode)) {
        *reason = "it is no file";
        return NULL;
    }
    pthread_mutex_lock(&lock);
    const gpul__nvrtc *nvrtc = opened_locked(&file);
    if (!nvrtc) nvrtc = open_locked(path, &file, arena, reason, builtins_missing);
    pthread_mutex_unlock(&lock);
    return nvrtc;
}
