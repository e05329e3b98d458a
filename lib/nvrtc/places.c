/* Folders in which CUDA's parts lie: Python environments, toolkits.  SPDX-License-Identifier: MIT */
#include "nvrtc/places.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *gpul__places_variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

enum { MATCHES = 16 };

static int newest_first(const void *a, const void *b)
{
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

bool gpul__places_match(const char *folder, const char *pattern, const char *origin,
                        gpul__place_fn *fn, void *user)
{
    DIR *dir = opendir(folder);
    if (!dir) return true;
    char names[MATCHES][NAME_MAX + 1], *sorted[MATCHES];
    size_t count = 0;
    for (struct dirent *entry; count < MATCHES && (entry = readdir(dir));)
        if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0) {
            snprintf(names[count], sizeof names[count], "%s", entry->d_name);
            sorted[count] = names[count];
            count++;
        }
    closedir(dir);
    qsort(sorted, count, sizeof *sorted, newest_first);
    bool go_on = true;
    for (size_t i = 0; i < count && go_on; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", folder, sorted[i]) < (int)sizeof path)
            go_on = fn(user, path, origin);
    }
    return go_on;
}

/* Passes PREFIX/lib/python3.N/site-packages on with "/nvidia" added, if that exists. */
struct wheels {
    gpul__place_fn *fn;
    void *user;
    const char *packages;
};

static bool wheels_of_python(void *user, const char *folder, const char *origin)
{
    struct wheels *wheels = user;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s/nvidia", folder, wheels->packages) >= (int)sizeof path ||
        access(path, X_OK) != 0)
        return true;
    return wheels->fn(wheels->user, path, origin);
}

static bool wheels_of_prefix(const char *prefix, const char *origin, gpul__place_fn *fn, void *user)
{
    static const char *const folders[][2] = { { "lib", "site-packages" },
                                              { "lib", "dist-packages" },
                                              { "local/lib", "dist-packages" } };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[PATH_MAX];
        struct wheels wheels = { fn, user, folders[i][1] };
        if (snprintf(path, sizeof path, "%s/%s", prefix, folders[i][0]) < (int)sizeof path &&
            !gpul__places_match(path, "python3*", origin, wheels_of_python, &wheels))
            return false;
    }
    return true;
}

/* The prefix of the python3 that the PATH names, its links followed: "/usr" for /usr/bin/python3. */
static bool python_on_path(char prefix[PATH_MAX])
{
    const char *path = gpul__places_variable("PATH");
    while (path) {
        size_t length = strcspn(path, ":");
        char file[PATH_MAX];
        if (length &&
            snprintf(file, sizeof file, "%.*s/python3", (int)length, path) < (int)sizeof file &&
            access(file, X_OK) == 0) {
            if (!realpath(file, prefix)) return false;
            char *slash = strrchr(prefix, '/');
            if (slash) *slash = 0;
            slash = strrchr(prefix, '/');
            if (!slash || strcmp(slash, "/bin") != 0) return false;
            *slash = 0;
            return true;
        }
        path = path[length] ? path + length + 1 : NULL;
    }
    return false;
}

bool gpul__places_wheels(gpul__place_fn *fn, void *user)
{
    const char *prefix = gpul__places_variable("VIRTUAL_ENV");
    if (prefix && !wheels_of_prefix(prefix, "VIRTUAL_ENV", fn, user)) return false;
    prefix = gpul__places_variable("CONDA_PREFIX");
    if (prefix && !wheels_of_prefix(prefix, "CONDA_PREFIX", fn, user)) return false;
    const char *home = gpul__places_variable("HOME");
    char path[PATH_MAX];
    if (home && snprintf(path, sizeof path, "%s/.local", home) < (int)sizeof path &&
        !wheels_of_prefix(path, "Python packages of the user", fn, user))
        return false;
    return !python_on_path(path) || wheels_of_prefix(path, "python3 on PATH", fn, user);
}

bool gpul__places_toolkits(gpul__place_fn *fn, void *user, bool named, bool usual)
{
    static const char *const names[] = { "CUDA_PATH", "CUDA_HOME" };
    for (int i = 0; named && i < 2; i++) {
        const char *value = gpul__places_variable(names[i]);
        if (value && !fn(user, value, names[i])) return false;
    }
    if (!usual) return true;
    return gpul__places_match("/usr/local", "cuda*", "toolkit", fn, user) &&
           gpul__places_match("/opt", "cuda*", "toolkit", fn, user);
}
