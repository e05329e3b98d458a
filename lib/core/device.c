/* Opening a device: its context (own, primary or adopted) and its stream; and letting it go.
 * SPDX-License-Identifier: MIT */
#include "core/device.h"

#include <string.h>

#include "core/context.h"
#include "core/device_failure.h"
#include "core/launch_shape.h"
#include "core/staging.h"
#include "core/stream.h"

/* A name that is kept for the life of the device. */
struct gpul__kept_name {
    struct gpul__kept_name *next;
    char text[];
};

gpul_status gpul__fail_null(const char *call, const char *what)
{
    return gpul__fail(GPUL__ARGS_NULL,
                      (.call = call, .hint = "an earlier call may have failed: look at its status"),
                      "%s: %s is NULL", call, what);
}

const char *gpul__device_keep_name(gpul_device *device, const char *name)
{
    struct gpul__kept_name *kept;
    pthread_mutex_lock(&device->lock);
    for (kept = device->names; kept; kept = kept->next)
        if (strcmp(kept->text, name) == 0) break;
    if (!kept) {
        size_t length = strlen(name) + 1;
        kept = gpul__malloc(sizeof *kept + length);
        if (kept) {
            memcpy(kept->text, name, length);
            kept->next = device->names;
            device->names = kept;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return kept ? kept->text : NULL;
}

static unsigned context_flags(const gpul_device_opts *opts)
{
    static const unsigned schedules[] = { CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD,
                                          CU_CTX_SCHED_BLOCKING_SYNC };
    return schedules[opts->schedule] | (opts->map_host ? (unsigned)CU_CTX_MAP_HOST : 0);
}

static gpul_status check_options(const gpul_device_opts *opts)
{
    if ((unsigned)opts->context_kind > GPUL_CONTEXT_ADOPT)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "context_kind is %d, which is none of its enumeration",
                          (int)opts->context_kind);
    if ((unsigned)opts->schedule > GPUL_SCHEDULE_BLOCKING)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "schedule is %d, which is none of its enumeration", (int)opts->schedule);
    if (opts->context_kind != GPUL_CONTEXT_OWN && opts->multiprocessors)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_open"),
                          "multiprocessors is %u: only a context of one's own has a share of them",
                          opts->multiprocessors);
    if (opts->context_kind == GPUL_CONTEXT_ADOPT && !opts->context)
        return gpul__fail(GPUL__ARGS_NULL, (.call = "gpul_open"),
                          "GPUL_CONTEXT_ADOPT needs the CUcontext to adopt, and context is NULL");
    if (opts->context_kind != GPUL_CONTEXT_ADOPT && opts->context)
        return gpul__fail(
            GPUL__ARGS_INVALID,
            (.call = "gpul_open", .hint = "set context_kind to GPUL_CONTEXT_ADOPT to use it"),
            "a context is given, but context_kind does not ask to adopt it");
    return GPUL_OK;
}

static gpul_status fail_context(const gpul__choice *choice, CUresult result, const char *entry)
{
    int mode = CU_COMPUTEMODE_DEFAULT;
    choice->driver->DeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, choice->device);
    const char *kind = choice->backend == GPUL_BACKEND_CPU ? "cpu" : "cuda";
    gpul__fail_driver(GPUL__ENV_CONTEXT, choice->driver, result, entry,
                      "no context on %s:%d can be had", kind, choice->device);
    if (mode == CU_COMPUTEMODE_PROHIBITED)
        return gpul__hint("the device's compute mode is prohibited: nvidia-smi -i %d -c 0",
                          choice->device);
    if (mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS)
        return gpul__hint("the device's compute mode is exclusive and another process may hold it: "
                          "nvidia-smi -i %d -c 0",
                          choice->device);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return gpul__hint("a context itself takes some hundred MB of the device's memory: "
                          "nvidia-smi lists the processes there");
    if (gpul__is_sticky(result))
        return gpul__hint("a kernel of this process faulted earlier, and after that the GPU takes "
                          "no new context: start a new process");
    return gpul_last_error()->status;
}

/* Checks that the caller's context can be used, and takes its device. */
static gpul_status adopt(gpul__choice *choice, CUcontext context, const char *wanted)
{
    CUdevice device = 0;
    CUcontext popped;
    const gpul__driver *driver = choice->driver;
    CUresult result = driver->CtxPushCurrent(context);
    if (result != CUDA_SUCCESS)
        return gpul__fail_driver(GPUL__ENV_CONTEXT, driver, result, "cuCtxPushCurrent",
                                 "the context to adopt cannot be used");
    result = driver->CtxGetDevice(&device);
    driver->CtxPopCurrent(&popped);
    if (result != CUDA_SUCCESS)
        return gpul__fail_driver(GPUL__ENV_CONTEXT, driver, result, "cuCtxGetDevice",
                                 "the context to adopt does not tell its device");
    bool named = wanted && strcmp(wanted, "cuda") != 0 && strcmp(wanted, "cpu") != 0;
    if (named && device != choice->device)
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = "gpul_open"),
                          "the context to adopt is on device %d, and \"%s\" is device %d",
                          (int)device, wanted, (int)choice->device);
    choice->device = device;
    return GPUL_OK;
}

/* Makes or takes the context.  Afterwards the thread has current what it had before. */
static gpul_status take_context(gpul_device *device, const gpul__choice *choice,
                                const gpul_device_opts *opts)
{
    const gpul__driver *driver = choice->driver;
    CUcontext popped;
    CUresult result = CUDA_SUCCESS;
    const char *entry = "cuCtxCreate";
    unsigned flags = context_flags(opts);
    switch (opts->context_kind) {
    case GPUL_CONTEXT_OWN:
        if (opts->multiprocessors) {
            gpul_status status = gpul__affinity_context(device, choice, flags,
                                                        opts->multiprocessors, &result, &entry);
            if (status != GPUL_OK) return status;
            break;
        }
        result = driver->CtxCreate(&device->context, flags, choice->device);
        if (result == CUDA_SUCCESS) driver->CtxPopCurrent(&popped);
        break;
    case GPUL_CONTEXT_PRIMARY:
        if (flags) {
            entry = "cuDevicePrimaryCtxSetFlags";
            result = driver->DevicePrimaryCtxSetFlags(choice->device, flags);
        }
        if (result == CUDA_SUCCESS) {
            entry = "cuDevicePrimaryCtxRetain";
            result = driver->DevicePrimaryCtxRetain(&device->context, choice->device);
        }
        break;
    case GPUL_CONTEXT_ADOPT: device->context = opts->context; break;
    }
    return result == CUDA_SUCCESS ? GPUL_OK : fail_context(choice, result, entry);
}

/* Gives the context back.  An own one is popped from this thread when it is destroyed; a primary one
 * that nobody retains any more must not stay current. */
static void leave_context(gpul_device *device)
{
    const gpul__driver *driver = gpul__api(device);
    CUcontext current = NULL;
    unsigned flags;
    int active = 1;
    switch (device->context_kind) {
    case GPUL_CONTEXT_OWN: driver->CtxDestroy(device->context); break;
    case GPUL_CONTEXT_PRIMARY:
        driver->DevicePrimaryCtxRelease(device->handle);
        driver->DevicePrimaryCtxGetState(device->handle, &flags, &active);
        if (!active && driver->CtxGetCurrent(&current) == CUDA_SUCCESS &&
            current == device->context)
            driver->CtxSetCurrent(NULL);
        break;
    case GPUL_CONTEXT_ADOPT: break;
    }
}

static void destroy(gpul_device *device)
{
    bool pushed;
    if (gpul__enter_quietly(device, &pushed)) {
        gpul__staging_free(device);
        if (device->stream) gpul__api(device)->StreamDestroy(device->stream);
        gpul__leave(device, pushed);
    }
    /* In a forked child the driver is out of reach; the parent's context is not the child's to end. */
    if (device->forks == gpul__forks && device->context) leave_context(device);
    while (device->names) {
        struct gpul__kept_name *next = device->names->next;
        gpul__free(device->names);
        device->names = next;
    }
    gpul__ring_free(&device->ring);
    gpul__shapes_free(device);
    gpul__free(device->first_fault);
    gpul__free(device->peers);
    pthread_mutex_destroy(&device->lock);
    gpul__free(device);
}

void gpul__device_drop(gpul_device *device)
{
    if (device && gpul__refs_drop(&device->refs)) destroy(device);
}

static gpul_status start_stream(gpul_device *device)
{
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_open");
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(device);
    const char *entry = "cuStreamCreate";
    size_t free_bytes = 0, total = 0;
    CUresult result = driver->StreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS) {
        entry = "cuMemGetInfo";
        result = driver->MemGetInfo(&free_bytes, &total);
        device->info.memory_free = free_bytes;
    }
    gpul__leave(device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return gpul__refused(device, &(gpul__refusal){ GPUL__ENV_CONTEXT, result, entry, NULL, 0 },
                         "the new context cannot be used");
}

/* What the caller does while the context is made. */
typedef struct meanwhile {
    gpul_device *device;
    const gpul_device_opts *opts;
    pthread_t thread;
    bool started;
} meanwhile;

static void *call_meanwhile(void *pointer)
{
    const meanwhile *m = pointer;
    m->opts->meanwhile(m->opts->meanwhile_user, m->device);
    return NULL;
}

/* The context, and at the same time what the caller does; without a thread one after the other. */
static gpul_status make_context(gpul_device *device, const gpul__choice *choice,
                                const gpul_device_opts *opts)
{
    meanwhile m = { .device = device, .opts = opts };
    if (opts->meanwhile) m.started = pthread_create(&m.thread, NULL, call_meanwhile, &m) == 0;
    gpul_status status = take_context(device, choice, opts);
    if (status == GPUL_OK) status = start_stream(device);
    if (m.started) pthread_join(m.thread, NULL);
    else if (opts->meanwhile) call_meanwhile(&m);
    return status;
}

gpul_status gpul_open(gpul_device **out, const gpul_device_opts *opts)
{
    static const gpul_device_opts defaults;
    GPUL__OUT(out, NULL);
    if (!opts) opts = &defaults;
    gpul__choice choice;
    gpul_status status = check_options(opts);
    if (status == GPUL_OK) status = gpul__watch_forks();
    if (status == GPUL_OK)
        status = gpul__device_choose(&choice, opts->device, opts->libcuda, &opts->cpu);
    if (status == GPUL_OK && opts->context_kind == GPUL_CONTEXT_ADOPT)
        status = adopt(&choice, opts->context, opts->device);
    if (status != GPUL_OK) return status;

    gpul_device *device = gpul__calloc(1, sizeof *device);
    if (!device) return gpul__no_memory();
    if (pthread_mutex_init(&device->lock, NULL) != 0) {
        gpul__free(device);
        return gpul__no_memory();
    }
    static _Atomic(uint64_t) opened;
    gpul__refs_init(&device->refs);
    device->serial = atomic_fetch_add(&opened, 1) + 1;
    device->driver = choice.driver;
    device->forks = gpul__forks;
    device->checked = opts->checked;
    device->is_cpu = choice.backend == GPUL_BACKEND_CPU;
    device->handle = choice.device;
    device->context_kind = opts->context_kind;
    status = gpul__device_facts(&device->info, &choice);
    if (status == GPUL_OK) status = make_context(device, &choice, opts);
    if (status != GPUL_OK) {
        destroy(device);
        return status;
    }
    gpul__log(GPUL_LOG_INFO, "device: %s:%d, %s, compute capability %d.%d, CUDA %d.%d",
              choice.backend == GPUL_BACKEND_CPU ? "cpu" : "cuda", device->info.ordinal,
              device->info.name, device->info.compute_major, device->info.compute_minor,
              device->info.driver_version / 1000, device->info.driver_version % 1000 / 10);
    *out = device;
    return GPUL_OK;
}

void gpul_device_free(gpul_device **device)
{
    if (!device) return;
    gpul__device_drop(*device);
    *device = NULL;
}

const gpul_device_info *gpul_device_describe(const gpul_device *device)
{
    return device ? &device->info : NULL;
}

void *gpul_device_context(const gpul_device *device)
{
    return device ? device->context : NULL;
}

gpul_status gpul_device_memory(gpul_device *device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (free_bytes) *free_bytes = 0;
    if (total_bytes) *total_bytes = 0;
    GPUL__NEED(device);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_device_memory");
    if (status != GPUL_OK) return status;
    size_t now = 0, total = 0;
    CUresult result = gpul__api(device)->MemGetInfo(&now, &total);
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return gpul__refused(
            device, &(gpul__refusal){ GPUL__MEMORY_FAILED, result, "cuMemGetInfo", NULL, 0 },
            "the device does not tell its free memory");
    if (free_bytes) *free_bytes = now;
    if (total_bytes) *total_bytes = total;
    return GPUL_OK;
}
