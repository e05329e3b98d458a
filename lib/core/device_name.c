/* The one grammar of device names: cuda, cuda:N, cpu, cpu:N, UUIDs and their prefixes, PCI ids, parts of
 * names, auto and auto:free.  SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "core/device.h"
#include "driver/start.h"
#ifdef GPUL_HAVE_CPU
#include "cpu/cpu.h"
#endif

/* A name as it was given, and where it came from, for messages. */
typedef struct naming {
    const char *text;
    const char *origin; /* "" or " (from $GPULAUNCH_DEVICE)" */
    const char *libcuda;
    const gpul_cpu_opts *cpu;
} naming;

static bool gpu_required(void)
{
    const char *value = secure_getenv("GPULAUNCH_REQUIRE_GPU");
    return value && *value && strcmp(value, "0") != 0;
}

static gpul_status start_cuda(gpul__choice *out, const char *libcuda)
{
    out->backend = GPUL_BACKEND_CUDA;
    out->driver = gpul__driver_overridden();
    if (!out->driver) {
        gpul_status status = gpul__driver_load(&out->driver, libcuda);
        if (status != GPUL_OK) return status;
        out->driver = gpul__driver_traced(out->driver);
        return GPUL_OK;
    }
    out->driver = gpul__driver_traced(out->driver);
    CUresult result = out->driver->Init(0);
    return result == CUDA_SUCCESS ? GPUL_OK : gpul__fail_start(out->driver, result, "");
}

#ifdef GPUL_HAVE_CPU
static gpul_status start_cpu(gpul__choice *out, const gpul_cpu_opts *options)
{
    if (options) {
        gpul_status status = gpul__cpu_configure(options);
        if (status != GPUL_OK) return status;
    }
    out->backend = GPUL_BACKEND_CPU;
    out->driver = gpul__driver_traced(gpul__cpu_driver());
    CUresult result = out->driver->Init(0);
    if (result == CUDA_ERROR_NOT_INITIALIZED)
        return gpul__fail(GPUL__ENV_FORK,
                          (.call = "cuInit", .native_kind = GPUL_NATIVE_CUDA, .native = (int)result,
                           .hint = "start the child anew with exec"),
                          "the process was forked after the CPU device was started");
    if (result != CUDA_SUCCESS)
        return gpul__fail_driver(GPUL__ENV_INIT, out->driver, result, "cuInit",
                                 "the CPU device does not start");
    return GPUL_OK;
}
#else
static gpul_status start_cpu(gpul__choice *out, const gpul_cpu_opts *options)
{
    (void)out, (void)options;
    return gpul__fail(GPUL__ENV_NO_CPU, (.call = "gpul_open"),
                      "this library was built without the CPU device");
}
#endif

static gpul_status device_count(int *count, const gpul__choice *choice)
{
    CUresult result = choice->driver->DeviceGetCount(count);
    if (result == CUDA_SUCCESS && *count > 0) return GPUL_OK;
    *count = 0;
    if (choice->backend == GPUL_BACKEND_CUDA)
        return gpul__fail_no_device(choice->driver, result, "");
    return gpul__fail_driver(GPUL__ENV_NO_DEVICE, choice->driver, result, "cuDeviceGetCount",
                             "there is no CPU device");
}

/* Adds the devices of a driver to the record, so that the next try can be right. */
static void list_devices(const gpul__choice *choice)
{
    int count = 0;
    if (choice->driver->DeviceGetCount(&count) != CUDA_SUCCESS) return;
    for (int i = 0; i < count; i++) {
        gpul__choice one = { choice->driver, choice->backend, i };
        char name[256] = "", uuid[48], bus[32] = "";
        bool mig;
        one.driver->DeviceGetName(name, sizeof name - 1, i);
        gpul__device_uuid(uuid, &mig, &one);
        if (one.driver->DeviceGetPCIBusId(bus, sizeof bus, i) != CUDA_SUCCESS) bus[0] = 0;
        gpul__note("%s:%d is %s, %s, %s", choice->backend == GPUL_BACKEND_CPU ? "cpu" : "cuda", i,
                   name, uuid, bus);
    }
}

/* Digits only; false for anything else and for numbers that no ordinal reaches. */
static bool read_ordinal(int *out, const char *text)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    long value = strtol(text, &end, 10);
    if (*end || value > 9999) return false;
    *out = (int)value;
    return true;
}

static gpul_status fail_name(const naming *name, const char *why)
{
    gpul__fail(GPUL__ENV_DEVICE_NAME, (.call = "gpul_open"), "\"%s\"%s names no device: %s",
               name->text, name->origin, why);
    return gpul__hint(
        "write cuda, cuda:N, cpu, cpu:N, a UUID or its beginning, a PCI id, name:TEXT, auto or "
        "auto:free");
}

/* "cuda" or "cpu", perhaps with an ordinal at `ordinal`. */
static gpul_status choose_ordinal(gpul__choice *out, const naming *name, const char *ordinal)
{
    int count = 0;
    gpul_status status = device_count(&count, out);
    if (status != GPUL_OK) return status;
    out->device = 0;
    if (ordinal) read_ordinal(&out->device, ordinal);
    if (out->device < count) return GPUL_OK;
    const char *visible = secure_getenv("CUDA_VISIBLE_DEVICES");
    gpul__fail(GPUL__ENV_DEVICE_NAME, (.call = "gpul_open"),
               "\"%s\"%s names no device: there %s %d, numbered from 0%s%s", name->text,
               name->origin, count == 1 ? "is" : "are", count,
               visible && out->backend == GPUL_BACKEND_CUDA ? "; CUDA_VISIBLE_DEVICES is " : "",
               visible && out->backend == GPUL_BACKEND_CUDA ? visible : "");
    list_devices(out);
    return gpul_last_error()->status;
}

static gpul_status choose_uuid(gpul__choice *out, const naming *name)
{
    int count = 0, found = -1, hits = 0;
    gpul_status status = device_count(&count, out);
    if (status != GPUL_OK) return status;
    for (int i = 0; i < count; i++) {
        char uuid[48];
        bool mig;
        if (!gpul__device_uuid(uuid, &mig, &(gpul__choice){ out->driver, out->backend, i }))
            continue;
        if (strncasecmp(uuid, name->text, strlen(name->text)) != 0) continue;
        found = i;
        hits++;
    }
    if (hits == 1) {
        out->device = found;
        return GPUL_OK;
    }
    fail_name(name, hits ? "it is the beginning of several UUIDs" : "no device has that UUID");
    list_devices(out);
    return gpul_last_error()->status;
}

static gpul_status choose_pci(gpul__choice *out, const naming *name)
{
    CUresult result = out->driver->DeviceGetByPCIBusId(&out->device, name->text);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    gpul__fail(
        GPUL__ENV_DEVICE_NAME,
        (.call = "cuDeviceGetByPCIBusId", .native_kind = GPUL_NATIVE_CUDA, .native = (int)result),
        "\"%s\"%s names no device: no visible GPU has that PCI id", name->text, name->origin);
    list_devices(out);
    return gpul_last_error()->status;
}

/* 65:00.0 or 0000:65:00.0 */
static bool looks_like_pci(const char *text)
{
    size_t colons = 0, points = 0;
    for (const char *c = text; *c; c++) {
        if (*c == ':') colons++;
        else if (*c == '.') points++;
        else if (!isxdigit((unsigned char)*c)) return false;
    }
    return (colons == 1 || colons == 2) && points == 1;
}

static bool usable(const gpul__choice *choice, int device)
{
    int mode = CU_COMPUTEMODE_DEFAULT;
    choice->driver->DeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device);
    return mode != CU_COMPUTEMODE_PROHIBITED;
}

/* The first usable GPU with a text in its name; boards of one kind have the same. */
static gpul_status choose_part(gpul__choice *out, const naming *name, const char *part)
{
    int count = 0;
    gpul_status status = device_count(&count, out);
    if (status != GPUL_OK) return status;
    for (int i = 0; i < count; i++) {
        char text[256] = "";
        out->driver->DeviceGetName(text, sizeof text - 1, i);
        if (!strcasestr(text, part) || !usable(out, i)) continue;
        out->device = i;
        return GPUL_OK;
    }
    fail_name(name, "no usable GPU has that in its name");
    list_devices(out);
    return gpul_last_error()->status;
}

/* The share of memory that is free, 0 to 1; -1 when no context can be made.  Only a context can tell. */
static double free_share(const gpul__choice *choice, int device)
{
    CUcontext context;
    size_t free_bytes = 0, total = 0;
    const gpul__driver *driver = choice->driver;
    if (driver->CtxCreate(&context, CU_CTX_SCHED_AUTO, device) != CUDA_SUCCESS) return -1;
    CUresult result = driver->MemGetInfo(&free_bytes, &total);
    driver->CtxDestroy(context);
    return result == CUDA_SUCCESS && total ? (double)free_bytes / (double)total : -1;
}

/* The first usable GPU, or the one with the most free memory; E_DEVICE with the reason when none is. */
static gpul_status choose_gpu(gpul__choice *out, const naming *name, bool by_memory)
{
    int count = 0, best = -1;
    double most = -1;
    gpul_status status = start_cuda(out, name->libcuda);
    if (status == GPUL_OK) status = device_count(&count, out);
    if (status != GPUL_OK) return status;
    for (int i = 0; i < count && (best < 0 || by_memory); i++) {
        if (!usable(out, i)) continue;
        double share = by_memory && count > 1 ? free_share(out, i) : 0;
        if (share < 0 || (best >= 0 && share <= most)) continue;
        best = i;
        most = share;
    }
    if (best < 0)
        return gpul__fail(GPUL__ENV_NO_DEVICE, (.call = "gpul_open"),
                          "none of the %d GPUs can be used: their compute mode prohibits it, or no "
                          "context can be made on them",
                          count);
    out->device = best;
    if (by_memory && count > 1)
        gpul__log(GPUL_LOG_INFO, "device: cuda:%d has the most free memory, %.0f %%", best,
                  most * 100);
    return GPUL_OK;
}

static gpul_status fail_required(const naming *name)
{
    const gpul_error *why = gpul_last_error();
    gpul__str reason = { 0 };
    gpul__str_add(&reason, why->message);
    int native = why->native;
    gpul_native_kind kind = why->native_kind;
    gpul__fail(GPUL__ENV_REQUIRE_GPU, (.call = "gpul_open", .native_kind = kind, .native = native),
               "GPULAUNCH_REQUIRE_GPU is set, so \"%s\" does not fall back to the CPU device: %s",
               name->text, gpul__str_text(&reason));
    gpul__str_free(&reason);
    return gpul__hint("gpulaunch doctor says what is wrong with the GPU; unset "
                      "GPULAUNCH_REQUIRE_GPU to allow the CPU device");
}

static gpul_status choose_auto(gpul__choice *out, const naming *name, bool by_memory)
{
    gpul_status status = choose_gpu(out, name, by_memory);
    if (status == GPUL_OK || status == GPUL_E_MEMORY) return status;
    if (gpu_required()) return fail_required(name);
    gpul__str why = { 0 };
    gpul__str_add(&why, gpul_last_error()->message);
    out->device = 0;
    status = start_cpu(out, name->cpu);
    if (status == GPUL_OK)
        gpul__log(GPUL_LOG_WARN, "device: the CPU device is used, because %s",
                  gpul__str_text(&why));
    else gpul__note("no GPU either: %s", gpul__str_text(&why));
    gpul__str_free(&why);
    return status;
}

static bool is_kind(const char *text, const char *kind, const char **ordinal)
{
    size_t length = strlen(kind);
    if (strncmp(text, kind, length) != 0 || (text[length] && text[length] != ':')) return false;
    *ordinal = text[length] ? text + length + 1 : NULL;
    return true;
}

gpul_status gpul__device_choose(gpul__choice *out, const char *text, const char *libcuda,
                                const gpul_cpu_opts *cpu)
{
    naming name = { text, "", libcuda, cpu };
    const char *ordinal = NULL;
    *out = (gpul__choice){ 0 };
    if (!name.text) {
        name.text = secure_getenv("GPULAUNCH_DEVICE");
        name.origin = " (from $GPULAUNCH_DEVICE)";
        if (!name.text || !*name.text) name.text = "cuda";
    }
    gpul_status status;
    int number;
    bool cuda = is_kind(name.text, "cuda", &ordinal);
    if ((cuda || is_kind(name.text, "cpu", &ordinal)) && ordinal && !read_ordinal(&number, ordinal))
        return fail_name(&name, "a number is expected after the colon");
    if (cuda) {
        status = start_cuda(out, libcuda);
        return status == GPUL_OK ? choose_ordinal(out, &name, ordinal) : status;
    }
    if (is_kind(name.text, "cpu", &ordinal)) {
        status = start_cpu(out, cpu);
        return status == GPUL_OK ? choose_ordinal(out, &name, ordinal) : status;
    }
    if (strcmp(name.text, "auto") == 0) return choose_auto(out, &name, false);
    if (strcmp(name.text, "auto:free") == 0) return choose_auto(out, &name, true);
    if (strncasecmp(name.text, "CPU-", 4) == 0) {
        status = start_cpu(out, cpu);
        return status == GPUL_OK ? choose_uuid(out, &name) : status;
    }
    if (strncasecmp(name.text, "GPU-", 4) == 0 || strncasecmp(name.text, "MIG-", 4) == 0) {
        status = start_cuda(out, libcuda);
        return status == GPUL_OK ? choose_uuid(out, &name) : status;
    }
    if (strncmp(name.text, "name:", 5) == 0 && name.text[5]) {
        status = start_cuda(out, libcuda);
        return status == GPUL_OK ? choose_part(out, &name, name.text + 5) : status;
    }
    if (looks_like_pci(name.text)) {
        status = start_cuda(out, libcuda);
        return status == GPUL_OK ? choose_pci(out, &name) : status;
    }
    return fail_name(&name, "it follows no form of the grammar");
}

gpul_status gpul_device_count(int *out, const char *kind)
{
    GPUL__OUT(out, 0);
    gpul__choice choice = { 0 };
    gpul_status status;
    if (kind && strcmp(kind, "cuda") == 0) status = start_cuda(&choice, NULL);
    else if (kind && strcmp(kind, "cpu") == 0) status = start_cpu(&choice, NULL);
    else if (!kind) status = gpul__device_choose(&choice, NULL, NULL, NULL);
    else
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_device_count"),
                          "\"%s\" is no kind of device: \"cuda\" and \"cpu\" are", kind);
    return status == GPUL_OK ? device_count(out, &choice) : status;
}

gpul_status gpul_device_query(gpul_device_info *out, const char *device)
{
    GPUL__OUT(out, (gpul_device_info){ 0 });
    gpul__choice choice;
    gpul_status status = gpul__device_choose(&choice, device, NULL, NULL);
    if (status == GPUL_OK) status = gpul__device_facts(out, &choice);
    if (status != GPUL_OK) *out = (gpul_device_info){ 0 };
    return status;
}
