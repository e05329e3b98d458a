/* The doctor: looks at everything a run needs and says what is there, what is missing and what to do.  It
 * works in a thread of its own, so that the caller's error record and current context stay as they are.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/dl.h"
#include "base/error.h"
#include "base/str.h"
#include "core/cache.h"
#include "core/device.h"
#include "core/device_failure.h"
#include "driver/driver.h"
#include "driver/host.h"
#include "nvrtc/nvrtc.h"
#include "nvrtc/places.h"

struct gpul_doctor {
    gpul__arena arena;
    gpul_check *checks;
    size_t count, capacity;
    bool failed; /* memory ran out */
    bool compiles, runs;
};

static void add(gpul_doctor *doctor, gpul_verdict verdict, const char *subject, const char *fix,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* `fix` NULL: nothing is to be done. */
static void add(gpul_doctor *doctor, gpul_verdict verdict, const char *subject, const char *fix,
                const char *format, ...)
{
    gpul__str text = { 0 };
    va_list args;
    va_start(args, format);
    gpul__str_vprintf(&text, format, args);
    va_end(args);
    gpul_check check = {
        .verdict = verdict,
        .subject = gpul__arena_strndup(&doctor->arena, subject, strlen(subject)),
        .text = gpul__arena_strndup(&doctor->arena, gpul__str_text(&text), text.length),
        .fix = fix ? gpul__arena_strndup(&doctor->arena, fix, strlen(fix)) : NULL,
    };
    if (text.failed || !check.subject || !check.text || (fix && !check.fix) ||
        !gpul__grow(&doctor->checks, &doctor->capacity, doctor->count, sizeof check))
        doctor->failed = true;
    else doctor->checks[doctor->count++] = check;
    gpul__str_free(&text);
}

static void look_at_files(gpul_doctor *doctor, const gpul__host *host)
{
    if (host->wsl) {
        if (host->wsl_gpu_file) add(doctor, GPUL_CHECK_OK, "device files", NULL, "/dev/dxg (WSL2)");
        else
            add(doctor, GPUL_CHECK_WARN, "device files",
                "update Windows' NVIDIA driver and run wsl --update",
                "/dev/dxg is absent: this WSL gives no GPU");
        return;
    }
    if (host->tegra) {
        add(doctor, GPUL_CHECK_OK, "device files", NULL, "a Jetson: /dev/nvhost* and /dev/nvmap");
        return;
    }
    if (!host->gpu_files && !host->control_file) {
        add(doctor, GPUL_CHECK_WARN, "device files",
            host->container ? "start the container with --gpus all (or its runtime's equivalent)"
                            : "install NVIDIA's driver, or use the CPU device: -d cpu",
            "no /dev/nvidia*%s", host->container ? ", and this is a container" : "");
        return;
    }
    if (host->gpu_files_denied || host->control_file_denied)
        add(doctor, GPUL_CHECK_FAIL, "device files",
            "add the user to the group that owns /dev/nvidia* (ls -l /dev/nvidia*)",
            "this user may not open %d of %d /dev/nvidia*%s", host->gpu_files_denied,
            host->gpu_files, host->control_file_denied ? " nor /dev/nvidiactl" : "");
    else if (!host->uvm_file)
        add(doctor, GPUL_CHECK_FAIL, "device files", "run nvidia-modprobe -u as root",
            "/dev/nvidia-uvm is absent: no memory can be had");
    else
        add(doctor, GPUL_CHECK_OK, "device files", NULL,
            "/dev/nvidiactl, /dev/nvidia-uvm and %d of /dev/nvidia*", host->gpu_files);
}

/* The driver's JIT is a library of its own that container images forget. */
static void look_for_jit(gpul_doctor *doctor)
{
    char why[256];
    void *library = gpul__dl_open("libnvidia-ptxjitcompiler.so.1", why, sizeof why);
    if (!library)
        add(doctor, GPUL_CHECK_WARN, "jit",
            "mount the driver's libraries whole (NVIDIA_DRIVER_CAPABILITIES=compute,utility)",
            "libnvidia-ptxjitcompiler.so.1 is missing: machine code works, PTX does not (%s)", why);
    else gpul__dl_close(library);
}

static const char *text_of_mode(int mode)
{
    return mode == 2 ? "prohibited" : mode == 3 ? "exclusive to one process" : "default";
}

/* One GPU, up to a context of its own on it. */
static void look_at_gpu(gpul_doctor *doctor, int ordinal)
{
    char subject[32], name[32], free_text[32], total_text[32];
    snprintf(subject, sizeof subject, "device %d", ordinal);
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    gpul_device *device = NULL;
    if (gpul_open(&device, &(gpul_device_opts){ .device = name }) != GPUL_OK) {
        const gpul_error *error = gpul_last_error();
        add(doctor, GPUL_CHECK_FAIL, subject, error->hint, "%s", error->message);
        return;
    }
    const gpul_device_info *info = gpul_device_describe(device);
    uint64_t free_bytes = 0, total_bytes = 0;
    bool known = gpul_device_memory(device, &free_bytes, &total_bytes) == GPUL_OK;
    bool low = known && free_bytes < total_bytes / 20;
    add(doctor, low ? GPUL_CHECK_WARN : GPUL_CHECK_OK, subject,
        low ? "another process holds the memory: nvidia-smi names it" : NULL,
        "%s, sm_%d%d, %s of %s free%s%s%s", info->name, info->compute_major, info->compute_minor,
        gpul__bytes(free_text, free_bytes), gpul__bytes(total_text, total_bytes),
        info->mig ? ", a MIG instance" : "", info->compute_mode ? ", compute mode " : "",
        info->compute_mode ? text_of_mode(info->compute_mode) : "");
    doctor->runs = true;
    gpul_device_free(&device);
}

static void look_at_driver(gpul_doctor *doctor, gpul_device_info *first)
{
    gpul__host host;
    gpul__host_look(&host, "");
    gpul__choice choice;
    if (gpul__device_choose(&choice, "cuda", NULL, NULL) != GPUL_OK) {
        const gpul_error *error = gpul_last_error();
        add(doctor, GPUL_CHECK_WARN, "driver", error->hint, "%s", error->message);
        look_at_files(doctor, &host);
        return;
    }
    const gpul__driver *driver = choice.driver;
    char release[32];
    gpul__driver_release(release, sizeof release, driver);
    add(doctor, GPUL_CHECK_OK, "driver", NULL, "%s%s%s, CUDA %d.%d",
        driver->path ? driver->path : driver->name, *release ? ", " : "", release,
        driver->version / 1000, driver->version % 1000 / 10);
    if (host.module_release[0] && *release && strcmp(host.module_release, release) != 0)
        add(doctor, GPUL_CHECK_WARN, "kernel module", "reboot, or reload the nvidia modules",
            "the loaded module is %s, the library %s", host.module_release, release);
    look_at_files(doctor, &host);
    look_for_jit(doctor);
    if (host.visible)
        add(doctor, GPUL_CHECK_OK, "visible", NULL,
            "CUDA_VISIBLE_DEVICES=%s chooses and orders the devices", host.visible);
    int count = 0;
    if (driver->DeviceGetCount(&count) != CUDA_SUCCESS || count == 0) {
        add(doctor, GPUL_CHECK_WARN, "devices", host.visible ? "unset CUDA_VISIBLE_DEVICES" : NULL,
            "the driver shows no device");
        return;
    }
    if (gpul_device_query(first, "cuda:0") != GPUL_OK) memset(first, 0, sizeof *first);
    for (int i = 0; i < count; i++) look_at_gpu(doctor, i);
}

static void look_at_cpu(gpul_doctor *doctor)
{
    gpul_device_info info;
    if (gpul_device_query(&info, "cpu") == GPUL_OK) {
        add(doctor, GPUL_CHECK_OK, "cpu device", NULL, "%s, sm_%d%d", info.name, info.compute_major,
            info.compute_minor);
        doctor->runs = true;
    } else {
        add(doctor, GPUL_CHECK_WARN, "cpu device", gpul_last_error()->hint, "%s",
            gpul_last_error()->message);
    }
}

static void look_at_compilers(gpul_doctor *doctor, const gpul_device_info *first)
{
    int arch = first->compute_major * 10 + first->compute_minor;
    gpul__nvrtc_want want = { .arch = arch, .driver_version = first->driver_version };
    gpul__nvrtc_candidates found;
    if (gpul__nvrtc_candidates_find(&found, &want) != GPUL_OK) {
        doctor->failed = true;
        return;
    }
    bool chosen = false;
    for (size_t i = 0; i < found.count; i++) {
        const gpul__nvrtc_candidate *c = &found.items[i];
        bool wins = c->verdict == GPUL__NVRTC_CHOSEN;
        bool works = c->verdict != GPUL__NVRTC_FAILED;
        chosen |= wins;
        if (works)
            add(doctor, GPUL_CHECK_OK, wins ? "compiler" : "other nvrtc", NULL,
                "%s (%d.%d, from %s): %s", c->path, c->major, c->minor, c->origin, c->reason);
        else
            add(doctor, GPUL_CHECK_WARN, "other nvrtc",
                c->builtins_missing ? "install libnvrtc-builtins of the same release beside it"
                                    : NULL,
                "%s (from %s): %s", c->path, c->origin, c->reason);
        if (!wins || !arch) continue;
        int version = c->major * 1000 + c->minor * 10;
        if (version > first->driver_version)
            add(doctor, GPUL_CHECK_WARN, "verdict",
                "use an NVRTC of the driver's release, or a newer driver",
                "NVRTC %d.%d is newer than the driver's CUDA %d.%d: machine code works%s, its PTX "
                "does not",
                c->major, c->minor, first->driver_version / 1000, first->driver_version % 1000 / 10,
                c->major == first->driver_version / 1000 ? "" : " only within one major release");
        else
            add(doctor, GPUL_CHECK_OK, "verdict", NULL,
                "NVRTC %d.%d, driver CUDA %d.%d, sm_%d: machine code and PTX both work", c->major,
                c->minor, first->driver_version / 1000, first->driver_version % 1000 / 10, arch);
    }
    if (!chosen)
        add(doctor, GPUL_CHECK_FAIL, "compiler",
            "install a CUDA toolkit or NVIDIA's nvidia-cuda-nvrtc wheel, or set GPULAUNCH_NVRTC",
            "no usable NVRTC in %zu places; PTX and CUBIN files still run", found.searched_count);
    doctor->compiles = chosen;
    gpul__nvrtc_candidates_free(&found);
}

struct headers {
    gpul_doctor *doctor;
    size_t count;
};

static bool note_headers(void *user, const char *folder, const char *origin)
{
    struct headers *headers = user;
    char path[4096];
    snprintf(path, sizeof path, "%s/include/cuda_fp16.h", folder);
    if (access(path, R_OK) != 0) return true;
    headers->count++;
    snprintf(path, sizeof path, "%s/include/cccl", folder);
    bool cccl = access(path, R_OK) == 0;
    add(headers->doctor, GPUL_CHECK_OK, "headers", NULL, "%s/include%s (%s)", folder,
        cccl ? ", include/cccl" : "", origin);
    return true;
}

static void look_at_headers(gpul_doctor *doctor)
{
    struct headers headers = { doctor, 0 };
    gpul__places_toolkits(note_headers, &headers, true, true);
    if (!headers.count)
        add(doctor, GPUL_CHECK_WARN, "headers", "install a CUDA toolkit, or set CUDA_PATH to one",
            "no toolkit folder: cuda_fp16.h, cooperative_groups.h and cub are not there; the "
            "standard headers are carried");
}

static void look_at_rest(gpul_doctor *doctor)
{
    const char *path = getenv("PATH");
    bool found = false;
    for (const char *at = path; at && *at && !found;) {
        size_t length = strcspn(at, ":");
        char file[4096];
        snprintf(file, sizeof file, "%.*s/compute-sanitizer", (int)length, at);
        found = access(file, X_OK) == 0;
        at += length + (at[length] == ':');
    }
    if (found) add(doctor, GPUL_CHECK_OK, "sanitizer", NULL, "compute-sanitizer is on PATH");
    else
        add(doctor, GPUL_CHECK_OK, "sanitizer", NULL,
            "compute-sanitizer is not on PATH; the CPU device checks kernels by itself");
    char *cache = gpul__cache_path();
    int folder = gpul__cache_open();
    if (folder >= 0) {
        struct gpul__cache_use removed, left;
        char bytes[32];
        gpul__cache_prune(folder, UINT64_MAX, 0, &removed, &left);
        add(doctor, GPUL_CHECK_OK, "cache", NULL, "%s, %llu entries, %s", cache ? cache : "?",
            (unsigned long long)left.entries, gpul__bytes(bytes, left.bytes));
        close(folder);
    } else {
        add(doctor, GPUL_CHECK_WARN, "cache",
            "set GPULAUNCH_CACHE_DIR to a folder of mode 0700 that is yours",
            "%s cannot be used: every run compiles anew",
            cache ? cache : "no folder (HOME is not set)");
    }
    gpul__free(cache);
}

static void *look(void *user)
{
    gpul_doctor *doctor = user;
    gpul_device_info first = { 0 };
    look_at_driver(doctor, &first);
    look_at_cpu(doctor);
    look_at_compilers(doctor, &first);
    look_at_headers(doctor);
    look_at_rest(doctor);
    return NULL;
}

gpul_status gpul_doctor_new(gpul_doctor **out)
{
    GPUL__OUT(out, NULL);
    gpul_doctor *doctor = gpul__calloc(1, sizeof *doctor);
    if (!doctor) return gpul__no_memory();
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, look, doctor) == 0;
    if (started) pthread_join(thread, NULL);
    if (!started || doctor->failed) {
        gpul_doctor_free(&doctor);
        return gpul__no_memory();
    }
    *out = doctor;
    return GPUL_OK;
}

void gpul_doctor_free(gpul_doctor **doctor)
{
    if (!doctor || !*doctor) return;
    gpul__arena_free(&(*doctor)->arena);
    gpul__free((*doctor)->checks);
    gpul__free(*doctor);
    *doctor = NULL;
}

size_t gpul_doctor_count(const gpul_doctor *doctor)
{
    return doctor ? doctor->count : 0;
}

const gpul_check *gpul_doctor_check(const gpul_doctor *doctor, size_t index)
{
    return doctor && index < doctor->count ? &doctor->checks[index] : NULL;
}

bool gpul_doctor_ready(const gpul_doctor *doctor)
{
    return doctor && doctor->compiles && doctor->runs;
}
