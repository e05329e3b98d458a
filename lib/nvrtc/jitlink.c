/* Finding and opening nvJitLink.  SPDX-License-Identifier: MIT */
#include "nvrtc/jitlink.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "nvrtc/nvrtc.h"
#include "nvrtc/places.h"

const char *gpul__jitlink_error(int result)
{
    static const char *const names[] = { "SUCCESS",
                                         "UNRECOGNIZED_OPTION",
                                         "MISSING_ARCH",
                                         "INVALID_INPUT",
                                         "PTX_COMPILE",
                                         "NVVM_COMPILE",
                                         "INTERNAL",
                                         "THREADPOOL",
                                         "UNRECOGNIZED_INPUT",
                                         "FINALIZE",
                                         "NULL_INPUT",
                                         "INCOMPATIBLE_OPTIONS",
                                         "INCORRECT_INPUT_TYPE",
                                         "ARCH_MISMATCH",
                                         "OUTDATED_LIBRARY",
                                         "MISSING_FATBIN",
                                         "UNRECOGNIZED_ARCH",
                                         "UNSUPPORTED_ARCH",
                                         "LTO_NOT_ENABLED" };
    bool known = result >= 0 && (size_t)result < sizeof names / sizeof *names;
    return known ? names[result] : "unknown";
}

/* Opened libraries outlive every object, so they come from plain malloc and no leak count sees them. */
struct opened {
    struct opened *next;
    gpul__jitlink library;
    char path[];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opened *all;

static bool load_entries(gpul__jitlink *library, void *handle, const char **missing)
{
#define X(name, params)                                                                            \
    *(void **)(&library->name) = dlsym(handle, "nvJitLink" #name);                                 \
    if (!library->name) {                                                                          \
        *missing = "nvJitLink" #name;                                                              \
        return false;                                                                              \
    }
    GPUL__JITLINK_ENTRIES(X)
#undef X
    return true;
}

/* With the lock.  NULL: *reason says why, in the arena. */
static const gpul__jitlink *open_library(const char *path, gpul__arena *arena, const char **reason)
{
    for (struct opened *o = all; o; o = o->next)
        if (strcmp(o->path, path) == 0) return &o->library;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        *reason = gpul__arena_printf(arena, "%s: it does not open: %s", path, why ? why : "");
        return NULL;
    }
    size_t length = strlen(path) + 1;
    struct opened *opened = calloc(1, sizeof *opened + length);
    const char *missing = NULL;
    if (opened && load_entries(&opened->library, handle, &missing) &&
        opened->library.Version(&opened->library.major, &opened->library.minor) == 0) {
        memcpy(opened->path, path, length);
        opened->library.path = opened->path;
        opened->next = all;
        all = opened;
        return &opened->library;
    }
    if (missing)
        *reason = gpul__arena_printf(
            arena, "%s: it has no %s; nvJitLink 12.3 is the oldest that works", path, missing);
    else *reason = gpul__arena_printf(arena, "%s: it does not tell its version", path);
    free(opened);
    dlclose(handle);
    return NULL;
}

typedef struct choice {
    const gpul__jitlink *best;
    gpul__arena arena;
    const char *reasons[16];
    size_t reason_count;
    bool failed;
} choice;

static void consider(choice *c, const char *path, unsigned major)
{
    const char *reason = NULL;
    const gpul__jitlink *library = open_library(path, &c->arena, &reason);
    if (library && major && library->major > major) {
        reason = gpul__arena_printf(&c->arena, "%s: version %u.%u is newer than the driver", path,
                                    library->major, library->minor);
        c->failed |= !reason;
        library = NULL;
    }
    if (library) {
        if (!c->best ||
            library->major * 100 + library->minor > c->best->major * 100 + c->best->minor)
            c->best = library;
    } else if (reason && c->reason_count < sizeof c->reasons / sizeof *c->reasons) {
        c->reasons[c->reason_count++] = reason;
    }
}

static gpul_status fail_missing(const choice *c, const char *path,
                                const gpul__nvrtc_candidates *found)
{
    if (path)
        gpul__fail(GPUL__ENV_NO_JITLINK, (.call = "gpul_link"), "%s is no usable nvJitLink", path);
    else
        gpul__fail(GPUL__ENV_NO_JITLINK, (.call = "gpul_link"),
                   "nvJitLink is needed, and no usable libnvJitLink is found");
    for (size_t i = 0; i < c->reason_count; i++) gpul__note("%s", c->reasons[i]);
    for (size_t i = 0; !path && i < found->searched_count; i++)
        gpul__note("searched: %s", found->searched[i]);
    return gpul__hint("pip install nvidia-nvjitlink, or install the CUDA toolkit; "
                      "$GPULAUNCH_NVJITLINK names the file");
}

gpul_status gpul__jitlink_choose(const gpul__jitlink **out, const char *path, unsigned major)
{
    choice c = { 0 };
    gpul__nvrtc_candidates found = { 0 };
    if (!path) path = gpul__places_variable("GPULAUNCH_NVJITLINK");
    pthread_mutex_lock(&lock);
    if (path) consider(&c, path, 0);
    else if (gpul__library_search(&found, &gpul__jitlink_names))
        for (size_t i = 0; i < found.count; i++) consider(&c, found.items[i].path, major);
    else c.failed = true;
    pthread_mutex_unlock(&lock);
    *out = c.best;
    gpul_status status = GPUL_OK;
    if (c.failed) status = gpul__no_memory();
    else if (!c.best) status = fail_missing(&c, path, &found);
    else
        gpul__log(GPUL_LOG_INFO, "nvJitLink %u.%u: %s", c.best->major, c.best->minor, c.best->path);
    gpul__nvrtc_candidates_free(&found);
    gpul__arena_free(&c.arena);
    return status;
}
