/* Finding libcuda, filling the table from it, starting it.  What cuInit's answers mean is in start.c.
 * SPDX-License-Identifier: MIT */
#include "driver/driver.h"

#include "base/alloc.h"
#include "base/dl.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "driver/start.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library that was loaded; it stays, as the driver's threads and handlers would not survive its going. */
struct library {
    struct library *next;
    gpul__driver driver;
    void *handle;
    char *path;
    bool started;
    pid_t process; /* that started it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct library *libraries;
static _Atomic(const gpul__driver *) overriding;

void gpul__driver_override(const gpul__driver *driver)
{
    atomic_store(&overriding, driver);
}
const gpul__driver *gpul__driver_overridden(void)
{
    return atomic_load(&overriding);
}

/* In this order.  The name with .1 is the driver's own and all that a container has; without it the name is a
 * developer's link, often to the toolkit's stub.  WSL and others keep the driver outside the loader's folders. */
static const char *const places[] = {
    "libcuda.so.1",
    "libcuda.so",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so",
    "/run/opengl-driver/lib/libcuda.so.1",
#ifdef __aarch64__
    "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
#endif
};

/* What became of one place. */
enum outcome { LOADED, ABSENT, STUB, FOREIGN, NO_MEMORY };

struct attempt {
    const char *place;
    enum outcome outcome;
    char text[512];
};

/* Looks every entry up; those that must be there and are not become a list in `missing`. */
static void fill_table(gpul__driver *driver, void *handle, gpul__str *missing)
{
    bool needed;
    const char *name;
    for (size_t i = 0; (name = gpul__driver_symbol(i, &needed)); i++) {
        void *symbol = gpul__dl_symbol(handle, name);
        gpul__driver_set_entry(driver, i, symbol);
        if (symbol || !needed) continue;
        if (missing->length) gpul__str_add(missing, ", ");
        gpul__str_add(missing, name);
    }
}

/* The toolkit's stub answers 34 to everything; stubs of older toolkits fail in other ways, and are told by their folder. */
static bool is_stub(CUresult result, const char *path)
{
    return result == CUDA_ERROR_STUB_LIBRARY ||
           (result != CUDA_SUCCESS && path && strstr(path, "/stubs/"));
}

static gpul_status fail_stub(const char *sentence)
{
    return gpul__fail(
        GPUL__ENV_STUB,
        (.call = "cuInit", .native_kind = GPUL_NATIVE_CUDA, .native = CUDA_ERROR_STUB_LIBRARY,
         .hint =
             "the driver's own library is called libcuda.so.1 and comes with the NVIDIA driver: "
             "take the stubs folder out of LD_LIBRARY_PATH, or install the driver; the device "
             "\"cpu\" needs none"),
        "%s", sentence);
}

static void say_stub(char *text, size_t size, const char *path)
{
    snprintf(text, size, "%s is the toolkit's link-time stub, not a driver", path);
}

static void forget(struct library *library)
{
    gpul__dl_close(library->handle);
    gpul__free(library->path);
    gpul__free(library);
}

/* Opens one place and tells what it is; a library that was opened before is found again. */
static struct library *try_place(struct attempt *attempt, gpul__str *missing)
{
    char *why = attempt->text;
    size_t size = sizeof attempt->text;
    attempt->outcome = ABSENT;
    void *handle = gpul__dl_open(attempt->place, why, size);
    if (!handle) return NULL;
    for (struct library *known = libraries; known; known = known->next) {
        if (known->handle != handle) continue;
        gpul__dl_close(handle);
        attempt->outcome = LOADED;
        return known;
    }
    struct library *library = gpul__calloc(1, sizeof *library);
    if (!library) {
        gpul__dl_close(handle);
        attempt->outcome = NO_MEMORY;
        return NULL;
    }
    library->handle = handle;
    void *init = gpul__dl_symbol(handle, "cuInit");
    library->path = init ? gpul__dl_file(init) : NULL;
    gpul__driver *driver = &library->driver;
    *driver = (gpul__driver){ .name = "libcuda", .path = library->path, .priv = library };
    fill_table(driver, handle, missing);
    if (!driver->Init || !driver->DriverGetVersion) {
        snprintf(why, size, "%s: no CUDA driver library: it has no %s",
                 library->path ? library->path : attempt->place,
                 driver->Init ? "cuDriverGetVersion" : "cuInit");
        attempt->outcome = FOREIGN;
    } else if (is_stub(driver->DriverGetVersion(&driver->version), library->path)) {
        say_stub(why, size, library->path ? library->path : attempt->place);
        attempt->outcome = STUB;
    } else {
        attempt->outcome = LOADED;
    }
    if (attempt->outcome == LOADED && missing->failed) attempt->outcome = NO_MEMORY;
    if (attempt->outcome == LOADED) {
        if (missing->length) return library;
        library->next = libraries;
        libraries = library;
        return library;
    }
    gpul__str_free(missing);
    forget(library);
    return NULL;
}

static gpul_status fail_old(struct library *library, gpul__str *missing)
{
    char release[32];
    gpul__driver_release(release, sizeof release, &library->driver);
    int version = library->driver.version;
    gpul_status status =
        gpul__fail(GPUL__ENV_OLD_DRIVER,
                   (.call = "dlsym",
                    .hint = "drivers of CUDA 11.2 (release 460) and newer have all that is needed: "
                            "install a newer NVIDIA driver"),
                   "the driver %s (CUDA %d.%d%s%s) lacks %s", library->path ? library->path : "",
                   version / 1000, version % 1000 / 10, *release ? ", release " : "", release,
                   gpul__str_text(missing));
    gpul__str_free(missing);
    forget(library);
    return status;
}

/* The loader's sentence begins with the place, which the detail has in its own field. */
static void note_attempts(const struct attempt *attempts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *place = attempts[i].place, *text = attempts[i].text;
        size_t length = strlen(place);
        if (strncmp(text, place, length) == 0 && strncmp(text + length, ": ", 2) == 0)
            text += length + 2;
        gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE, .file = place, .text = text });
    }
}

/* No place gave a driver: the stub, if one was met, is the better thing to speak of. */
static gpul_status fail_search(const struct attempt *attempts, size_t count, const char *origin)
{
    const struct attempt *stub = NULL;
    for (size_t i = 0; i < count; i++) {
        if (attempts[i].outcome == NO_MEMORY) return gpul__no_memory();
        if (attempts[i].outcome == STUB && !stub) stub = &attempts[i];
    }
    if (stub) fail_stub(stub->text);
    else if (origin)
        gpul__fail(
            GPUL__ENV_NO_DRIVER,
            (.call = "dlopen", .hint = "the path must lead to the NVIDIA driver's libcuda.so.1"),
            "%s gives no driver library: %s", origin, attempts[0].text);
    else
        gpul__fail(
            GPUL__ENV_NO_DRIVER,
            (.call = "dlopen",
             .hint =
                 "install the NVIDIA driver, or start the container with its GPUs (docker run --gpus "
                 "all); GPULAUNCH_LIBCUDA names a library elsewhere; the device \"cpu\" needs no "
                 "driver"),
            "no NVIDIA driver library (libcuda.so.1) here; %zu places were tried", count);
    note_attempts(attempts, count);
    return gpul_last_error()->status;
}

/* cuInit, once; after a failure the next open tries again. */
static gpul_status start(struct library *library)
{
    const gpul__driver *driver = &library->driver;
    if (library->started && library->process == getpid()) return GPUL_OK;
    CUresult result = library->started ? CUDA_ERROR_NOT_INITIALIZED : driver->Init(0);
    if (is_stub(result, driver->path)) {
        char text[512];
        say_stub(text, sizeof text, driver->path ? driver->path : driver->name);
        return fail_stub(text);
    }
    if (result != CUDA_SUCCESS) return gpul__fail_start(driver, result, "");
    int count = 0;
    result = driver->DeviceGetCount(&count);
    if (result != CUDA_SUCCESS || count == 0) return gpul__fail_no_device(driver, result, "");
    library->started = true;
    library->process = getpid();
    gpul__log(GPUL_LOG_INFO, "driver: %s, CUDA %d.%d, %d device%s",
              driver->path ? driver->path : "", driver->version / 1000, driver->version % 1000 / 10,
              count, count == 1 ? "" : "s");
    return GPUL_OK;
}

static gpul_status load(const gpul__driver **out, const char *const *names, size_t count,
                        const char *origin)
{
    struct attempt attempts[sizeof places / sizeof *places];
    gpul__str missing = { 0 };
    for (size_t i = 0; i < count; i++) {
        attempts[i].place = names[i];
        struct library *library = try_place(&attempts[i], &missing);
        if (library && missing.length) return fail_old(library, &missing);
        if (library) {
            gpul_status status = start(library);
            if (status == GPUL_OK) *out = &library->driver;
            return status;
        }
        gpul__log(GPUL_LOG_DEBUG, "driver: %s: %s", names[i], attempts[i].text);
    }
    return fail_search(attempts, count, origin);
}

gpul_status gpul__driver_load(const gpul__driver **out, const char *path)
{
    *out = NULL;
    const char *origin = "the option libcuda";
    if (path && !*path)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "the option libcuda is an empty path");
    if (!path) {
        path = secure_getenv("GPULAUNCH_LIBCUDA");
        origin = "$GPULAUNCH_LIBCUDA";
        if (path && !*path) path = NULL;
    }
    pthread_mutex_lock(&lock);
    gpul_status status = path ? load(out, &path, 1, origin)
                              : load(out, places, sizeof places / sizeof *places, NULL);
    pthread_mutex_unlock(&lock);
    return status;
}
