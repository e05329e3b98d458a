/* Libraries that an earlier process opened, known again by their files.  What the choice asks of a library (version,
 * architectures) is remembered for the file as stat tells of it; whatever changes the file, or the builtins beside it, makes
 * it unknown.  The search for candidates takes place each time.  SPDX-License-Identifier: MIT */
#include "nvrtc/nvrtc.h"

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool gpul__nvrtc_look(gpul__nvrtc_file *out, const char *path)
{
    struct stat about;
    *out = (gpul__nvrtc_file){ 0 };
    if (stat(path, &about) != 0) return false;
    *out = (gpul__nvrtc_file){
        .device = (uint64_t)about.st_dev,
        .inode = (uint64_t)about.st_ino,
        .size = (uint64_t)about.st_size,
        .modified = (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec,
        .changed = (uint64_t)about.st_ctim.tv_sec * 1000000000u + (uint64_t)about.st_ctim.tv_nsec,
    };
    return true;
}

bool gpul__nvrtc_same_file(const gpul__nvrtc_file *a, const gpul__nvrtc_file *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified == b->modified && a->changed == b->changed;
}

gpul__nvrtc_file gpul__nvrtc_builtins(const char *path, int major, int minor)
{
    char name[PATH_MAX + 64];
    gpul__nvrtc_file file;
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.*slibnvrtc-builtins.so.%d.%d",
             slash ? (int)(slash - path) + 1 : 0, path, major, minor);
    gpul__nvrtc_look(&file, name);
    return file;
}

/* Like opened libraries they outlive every object. */
struct recalled {
    struct recalled *next;
    gpul__nvrtc nvrtc;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct recalled *all;

static const gpul__nvrtc *recall_locked(const char *path, const gpul__nvrtc_memory *memory,
                                        const gpul__nvrtc_file *file)
{
    for (struct recalled *r = all; r; r = r->next)
        if (strcmp(r->nvrtc.path, path) == 0 && gpul__nvrtc_same_file(&r->nvrtc.file, file))
            return &r->nvrtc;
    gpul__nvrtc known = { 0 };
    if (!memory->find(&known, path, file)) return NULL;
    struct recalled *recalled = calloc(1, sizeof *recalled);
    char *copy = strdup(path);
    if (!recalled || !copy) {
        free(recalled);
        free(copy);
        return NULL;
    }
    recalled->nvrtc = known;
    recalled->nvrtc.path = copy;
    recalled->nvrtc.file = *file;
    recalled->nvrtc.recalled = true;
    recalled->next = all;
    all = recalled;
    return &recalled->nvrtc;
}

const gpul__nvrtc *gpul__nvrtc_recall(const char *path, const gpul__nvrtc_memory *memory)
{
    gpul__nvrtc_file file, builtins;
    if (!gpul__nvrtc_look(&file, path)) return NULL;
    const gpul__nvrtc *nvrtc = gpul__nvrtc_opened(&file);
    if (nvrtc) return nvrtc;
    pthread_mutex_lock(&lock);
    nvrtc = recall_locked(path, memory, &file);
    pthread_mutex_unlock(&lock);
    if (!nvrtc) return NULL;
    /* Without builtins beside it the loader's search would decide, which only the loader can do. */
    builtins = gpul__nvrtc_builtins(path, nvrtc->major, nvrtc->minor);
    if (!builtins.size || !gpul__nvrtc_same_file(&builtins, &nvrtc->builtins)) return NULL;
    gpul__log(GPUL_LOG_DEBUG, "NVRTC %d.%d known without opening: %s", nvrtc->major, nvrtc->minor,
              path);
    return nvrtc;
}

const gpul__nvrtc *gpul__nvrtc_ready(const gpul__nvrtc *nvrtc)
{
    if (!nvrtc->recalled) return nvrtc;
    gpul__arena arena = { 0 };
    const char *reason;
    bool builtins_missing;
    const gpul__nvrtc *opened = gpul__nvrtc_open(nvrtc->path, &arena, &reason, &builtins_missing);
    if (opened && (!gpul__nvrtc_same_file(&opened->file, &nvrtc->file) ||
                   !gpul__nvrtc_same_file(&opened->builtins, &nvrtc->builtins) ||
                   opened->major != nvrtc->major || opened->minor != nvrtc->minor ||
                   opened->arch_count != nvrtc->arch_count ||
                   memcmp(opened->archs, nvrtc->archs, sizeof opened->archs) != 0))
        opened = NULL;
    if (!opened)
        gpul__log(GPUL_LOG_INFO, "%s is not what it was: %s", nvrtc->path,
                  reason ? reason : "it changed");
    gpul__arena_free(&arena);
    return opened;
}
