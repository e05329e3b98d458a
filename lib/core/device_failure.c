/* From CUresult to record: refusals, and faults that end a context.  SPDX-License-Identifier: MIT */
#include "core/device_failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/context.h"

const char *gpul__bytes(char buffer[32], uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < 10240) {
        snprintf(buffer, 32, "%llu byte%s", (unsigned long long)bytes, bytes == 1 ? "" : "s");
        return buffer;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1024;
    snprintf(buffer, 32, "%.1f %s", value, units[unit]);
    return buffer;
}

typedef struct fault {
    CUresult result;
    int code;
    const char *what; /* after "a kernel" or the kernel's name */
} fault;

static const fault faults[] = {
    { CUDA_ERROR_ILLEGAL_ADDRESS, GPUL__EXECUTE_ADDRESS, "touched an address it does not own" },
    { CUDA_ERROR_MISALIGNED_ADDRESS, GPUL__EXECUTE_MISALIGNED, "touched a misaligned address" },
    { CUDA_ERROR_ASSERT, GPUL__EXECUTE_ASSERT, "failed an assertion" },
    { CUDA_ERROR_LAUNCH_FAILED, GPUL__EXECUTE_TRAP,
      "stopped itself (trap), or failed in a way that the device does not tell" },
    { CUDA_ERROR_LAUNCH_TIMEOUT, GPUL__EXECUTE_TIMEOUT, "ran longer than allowed" },
    { CUDA_ERROR_ILLEGAL_INSTRUCTION, GPUL__EXECUTE_INSTRUCTION,
      "ran into an illegal instruction" },
    { CUDA_ERROR_HARDWARE_STACK_ERROR, GPUL__EXECUTE_INSTRUCTION,
      "damaged its call stack, or used it up" },
    { CUDA_ERROR_INVALID_ADDRESS_SPACE, GPUL__EXECUTE_INSTRUCTION,
      "used an address in the wrong address space" },
    { CUDA_ERROR_INVALID_PC, GPUL__EXECUTE_INSTRUCTION, "jumped to an address that holds no code" },
    { CUDA_ERROR_ECC_UNCORRECTABLE, GPUL__EXECUTE_TRAP,
      "ran into a memory error that the device could not correct" },
    { CUDA_ERROR_NVLINK_UNCORRECTABLE, GPUL__EXECUTE_TRAP,
      "ran into a link error that the device could not correct" },
};

static const fault *find_fault(CUresult result)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].result == result) return &faults[i];
    return NULL;
}

bool gpul__is_sticky(CUresult result)
{
    return find_fault(result) != NULL;
}

char *gpul__driver_log(const gpul__driver *driver)
{
    /* Lines up to here belong to earlier failures; one for each process, as the log itself is. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static CUlogIterator seen;
    enum { ROOM = 26 * 1024 };
    if (!driver->LogsDumpToMemory) return gpul__strdup("");
    char *text = gpul__calloc(1, ROOM);
    if (!text) return NULL;
    size_t size = ROOM - 1;
    pthread_mutex_lock(&lock);
    if (driver->LogsDumpToMemory(&seen, text, &size, 0) != CUDA_SUCCESS) text[0] = 0;
    pthread_mutex_unlock(&lock);
    text[ROOM - 1] = 0;
    return text;
}

void gpul__describe_launch(gpul__str *out, const gpul__launch_record *l)
{
    gpul__str_printf(out, "'%s', grid %ux%ux%u, block %ux%ux%u", l->kernel, l->grid[0], l->grid[1],
                     l->grid[2], l->block[0], l->block[1], l->block[2]);
    if (l->shared) gpul__str_printf(out, ", %u bytes of dynamic shared memory", l->shared);
}

void gpul__detail_launch(const gpul__launch_record *launch)
{
    gpul__str text = { 0 };
    gpul__describe_launch(&text, launch);
    gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE,
                                 .file = launch->file,
                                 .line = launch->line,
                                 .text = gpul__str_text(&text) });
    gpul__str_free(&text);
}

static void hint_fault(const gpul_device *device, bool exact)
{
    if (device->is_cpu) gpul__hint("free this device and open it again to go on");
    else if (exact)
        gpul__hint(
            "run it on the CPU device or under compute-sanitizer to see the line; only a new "
            "process can go on with the GPU");
    else
        gpul__hint(
            "open the device with .checked = true to have the launch named, or run it on the "
            "CPU device to see the line; only a new process can go on with the GPU");
}

static void remember(gpul_device *device)
{
    char *copy = gpul__strdup(gpul_last_error()->message);
    pthread_mutex_lock(&device->lock);
    if (device->first_fault) gpul__free(copy);
    else device->first_fault = copy;
    pthread_mutex_unlock(&device->lock);
}

/* What is said when the fault is not tied to one launch. */
static void tell_pending(const fault *f, const gpul__failure *about,
                         const gpul__launch_record *pending, size_t count, bool lost)
{
    if (count)
        gpul__fail_at(f->code, "", about,
                      "a kernel %s; %s%zu launches had not finished, and the fault is in one of "
                      "them",
                      f->what, lost ? "at least " : "", count);
    else
        gpul__fail_at(f->code, "", about,
                      "a kernel %s; every launch made through this device had finished, so the "
                      "fault lies elsewhere in the context",
                      f->what);
    for (size_t i = 0; i < count; i++) gpul__detail_launch(&pending[i]);
    if (lost)
        gpul__note("older launches may not have finished either; the last %d are remembered",
                   GPUL__RING_SLOTS);
}

/* The first call that notices a fault.  `known` is the launch to blame when there is no doubt. */
static void tell_fault(gpul_device *device, const fault *f, const gpul__refusal *refusal,
                       const gpul__launch_record *known)
{
    gpul__launch_record pending[GPUL__RING_SLOTS];
    bool lost = false;
    size_t count = known ? 0 : gpul__ring_pending(&device->ring, pending, GPUL__RING_SLOTS, &lost);
    const gpul__launch_record *one = known ? known : count == 1 && !lost ? &pending[0] : NULL;
    char *log = gpul__driver_log(device->driver);
    gpul__failure about = {
        .call = refusal->entry,
        .native_kind = GPUL_NATIVE_CUDA,
        .native = (int)refusal->result,
        .log = log,
        .caller_file = one ? one->file : NULL,
        .caller_line = one ? (int)one->line : 0,
    };
    gpul__str launch = { 0 };
    if (one) gpul__describe_launch(&launch, one);
    if (known)
        gpul__fail_at(f->code, "", &about, "%s: the kernel %s", gpul__str_text(&launch), f->what);
    else if (one)
        gpul__fail_at(f->code, "", &about,
                      "a kernel %s; the only launch that had not finished is %s", f->what,
                      gpul__str_text(&launch));
    else tell_pending(f, &about, pending, count, lost);
    if (one) gpul__detail_launch(one);
    gpul__str_free(&launch);
    gpul__free(log);
    hint_fault(device, known != NULL);
}

static gpul_status tell_sticky(gpul_device *device, const gpul__refusal *refusal, int first)
{
    pthread_mutex_lock(&device->lock);
    char *text = gpul__strdup(device->first_fault ? device->first_fault : "");
    pthread_mutex_unlock(&device->lock);
    gpul__fail(
        GPUL__EXECUTE_STICKY,
        (.call = refusal->entry, .native_kind = GPUL_NATIVE_CUDA, .native = (int)refusal->result),
        "an earlier fault ended this context: %s (%d)%s%s",
        gpul_native_name(GPUL_NATIVE_CUDA, first), first, text && *text ? "; " : "",
        text ? text : "");
    gpul__free(text);
    if (device->is_cpu)
        return gpul__hint("repair the first fault; free this device and open it again to go on");
    return gpul__hint("repair the first fault; only a new process can go on with the GPU");
}

static gpul_status faulted(gpul_device *device, const gpul__refusal *refusal,
                           const gpul__launch_record *known)
{
    const fault *f = find_fault(refusal->result);
    int none = 0;
    if (!f || !atomic_compare_exchange_strong(&device->fault, &none, (int)refusal->result))
        return tell_sticky(device, refusal, none ? none : atomic_load(&device->fault));
    if (!device->is_cpu || !gpul__tell_cpu_fault(device, refusal, known))
        tell_fault(device, f, refusal, known);
    remember(device);
    return gpul_last_error()->status;
}

gpul_status gpul__blame(gpul_device *device, CUresult result, const char *entry,
                        const gpul__launch_record *launch)
{
    return faulted(device, &(gpul__refusal){ 0, result, entry, NULL, 0 }, launch);
}

/* What a refusal is called when the device cannot do it at all. */
static int unsupported(int code)
{
    switch (code) {
    case GPUL__LAUNCH_REFUSED: return GPUL__LAUNCH_UNSUPPORTED;
    case GPUL__MEMORY_FAILED: return GPUL__MEMORY_UNSUPPORTED;
    case GPUL__EXECUTE_FAILED: return GPUL__EXECUTE_UNSUPPORTED;
    default: return code;
    }
}

gpul_status gpul__leave_with(gpul_device *device, bool pushed, int code, CUresult result,
                             const char *entry, const char *what)
{
    gpul__leave(device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return gpul__refused(device, &(gpul__refusal){ code, result, entry, NULL, 0 }, "%s", what);
}

gpul_status gpul__refused(gpul_device *device, const gpul__refusal *refusal, const char *format,
                          ...)
{
    if (device->forks != gpul__forks) return gpul__fail_forked(refusal->entry);
    if (gpul__is_sticky(refusal->result) || atomic_load(&device->fault))
        return faulted(device, refusal, NULL);
    int code = refusal->code;
    if (refusal->result == CUDA_ERROR_INVALID_CONTEXT ||
        refusal->result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
        refusal->result == CUDA_ERROR_DEINITIALIZED)
        code = GPUL__ENV_CONTEXT;
    else if (refusal->result == CUDA_ERROR_OUT_OF_MEMORY) code = GPUL__MEMORY_EXHAUSTED;
    else if (refusal->result == CUDA_ERROR_NOT_SUPPORTED) code = unsupported(code);
    gpul__str text = { 0 };
    va_list args;
    va_start(args, format);
    gpul__str_vprintf(&text, format, args);
    va_end(args);
    char *log = gpul__driver_log(device->driver);
    gpul__fail(
        code,
        (.call = refusal->entry, .native_kind = GPUL_NATIVE_CUDA, .native = (int)refusal->result,
         .log = log, .caller_file = refusal->caller_file, .caller_line = refusal->caller_line),
        "%s: %s", gpul__str_text(&text), gpul_native_text(GPUL_NATIVE_CUDA, (int)refusal->result));
    gpul__free(log);
    gpul__str_free(&text);
    if (code == GPUL__MEMORY_UNSUPPORTED || code == GPUL__EXECUTE_UNSUPPORTED) {
        if (device->is_cpu) return gpul__hint("the CPU device does not have it; a GPU may");
        return gpul__hint("either the device cannot do it, or its driver (CUDA %d.%d) lacks %s",
                          device->driver->version / 1000, device->driver->version % 1000 / 10,
                          refusal->entry);
    }
    if (refusal->result == CUDA_ERROR_DEINITIALIZED)
        return gpul__hint("the driver is shutting down: free devices before the process ends");
    if (code == GPUL__ENV_CONTEXT)
        return gpul__hint(
            "the context was destroyed outside the library, or with its adopted owner");
    return gpul_last_error()->status;
}
