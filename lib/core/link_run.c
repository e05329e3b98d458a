/* The driver's linker and nvJitLink.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/context.h"
#include "core/device_failure.h"
#include "core/link.h"
#include "core/module.h"
#include "core/module_log.h"
#include "nvrtc/jitlink.h"

static const gpul_load_opts no_jit;

static gpul_status fail_link(const gpul__link *l, const gpul__failure *about, const char *reason)
{
    const char *said = about->log ? strstr(about->log, "error") : NULL;
    const char *colon = said ? strstr(said, ": ") : NULL;
    size_t length = colon ? strcspn(colon + 2, "\r\n") : 0;
    if (length)
        gpul__fail_at(GPUL__LOAD_LINK, "gpul_link", about, "%zu inputs do not link: %.*s", l->count,
                      (int)length, colon + 2);
    else
        gpul__fail_at(GPUL__LOAD_LINK, "gpul_link", about, "%zu inputs do not link: %s", l->count,
                      reason);
    gpul__log_details(about->log ? about->log : "", NULL, NULL);
    for (size_t i = 0; i < l->count; i++) gpul__note("input %zu: %s", i + 1, l->items[i].name);
    return gpul_last_error()->status;
}

static bool keep_bytes(gpul__link *l, const void *bytes, size_t size)
{
    /* PTX need not end in NUL, and what reads the image wants a size and nothing else. */
    l->bytes = gpul__malloc(size ? size : 1);
    if (!l->bytes) return false;
    memcpy(l->bytes, bytes, size);
    l->size = size;
    return true;
}

/* ---- The driver's ---- */

typedef struct answer {
    CUresult result;
    const char *entry;
    const gpul__link_item *item; /* the one that was refused; NULL: none */
} answer;

/* With the context current.  False: out of memory. */
static bool drive(gpul__link *l, const gpul__driver *driver, char *logs, answer *a)
{
    static const CUjitInputType kinds[] = { CU_JIT_INPUT_CUBIN,     CU_JIT_INPUT_PTX,
                                            CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT,
                                            CU_JIT_INPUT_LIBRARY,   CU_JIT_INPUT_NVVM };
    gpul__jit_options o;
    CUlinkState state;
    void *made = NULL;
    size_t size = 0;
    gpul__jit_fill(&o, l->opts->jit ? l->opts->jit : &no_jit, logs);
    a->entry = "cuLinkCreate";
    a->result = driver->LinkCreate(o.count, o.names, o.values, &state);
    if (a->result != CUDA_SUCCESS) return true;
    a->entry = "cuLinkAddData";
    for (size_t i = 0; i < l->count && a->result == CUDA_SUCCESS; i++) {
        a->item = &l->items[i];
        a->result =
            driver->LinkAddData(state, kinds[a->item->kind], (void *)(uintptr_t)a->item->data,
                                a->item->size, a->item->name, 0, NULL, NULL);
    }
    if (a->result == CUDA_SUCCESS) {
        a->item = NULL;
        a->entry = "cuLinkComplete";
        a->result = driver->LinkComplete(state, &made, &size);
    }
    bool ok = a->result != CUDA_SUCCESS || keep_bytes(l, made, size);
    driver->LinkDestroy(state);
    return ok;
}

/* Linkers answer with many numbers, 999 among them; what is no matter of the context is one of the inputs. */
static bool is_about_inputs(const gpul_device *device, CUresult result)
{
    return !gpul__is_sticky(result) && !atomic_load(&device->fault) &&
           result != CUDA_ERROR_OUT_OF_MEMORY && result != CUDA_ERROR_INVALID_CONTEXT &&
           result != CUDA_ERROR_CONTEXT_IS_DESTROYED && result != CUDA_ERROR_DEINITIALIZED &&
           result != CUDA_ERROR_NOT_INITIALIZED;
}

gpul_status gpul__link_by_driver(gpul__link *l)
{
    gpul_device *device = l->device;
    const gpul__driver *driver = gpul__api(device);
    if (!driver->LinkCreate || !driver->LinkAddData || !driver->LinkComplete ||
        !driver->LinkDestroy)
        return gpul__fail(GPUL__ENV_OLD_DRIVER, (.call = "gpul_link"),
                          "this driver has no linker (cuLinkCreate)");
    if (l->opts->jit) {
        gpul_status status = gpul__load_check_options(l->opts->jit, &device->info);
        if (status != GPUL_OK) return status;
    }
    char *logs = gpul__calloc(2, GPUL__JIT_LOG_ROOM);
    if (!logs) return gpul__no_memory();
    bool pushed;
    answer a = { CUDA_SUCCESS, NULL, NULL };
    gpul_status status = gpul__enter(device, &pushed, "gpul_link");
    if (status == GPUL_OK) {
        if (!drive(l, driver, logs, &a)) status = gpul__no_memory();
        gpul__leave(device, pushed);
    }
    if (status == GPUL_OK && a.result == CUDA_SUCCESS) {
        l->of_cpu = device->is_cpu;
        l->log = gpul__jit_keep_log(&l->arena, logs);
        if (!l->log) status = gpul__no_memory();
    } else if (status == GPUL_OK && is_about_inputs(device, a.result)) {
        gpul__failure about = { .call = a.entry,
                                .native_kind = GPUL_NATIVE_CUDA,
                                .native = (int)a.result,
                                .log = logs + GPUL__JIT_LOG_ROOM };
        const char *reason = gpul_native_text(GPUL_NATIVE_CUDA, (int)a.result);
        if (a.item) {
            gpul__str text = { 0 };
            gpul__str_printf(&text, "'%s' is refused: %s", a.item->name, reason);
            status = fail_link(l, &about, gpul__str_text(&text));
            gpul__str_free(&text);
        } else {
            status = fail_link(l, &about, reason);
        }
    } else if (status == GPUL_OK) {
        status =
            gpul__refused(device, &(gpul__refusal){ GPUL__LOAD_LINK, a.result, a.entry, NULL, 0 },
                          "%zu inputs do not link", l->count);
    }
    gpul__free(logs);
    return status;
}

/* ---- nvJitLink ---- */

typedef struct option_list {
    const char **items;
    size_t count, capacity;
    bool failed;
} option_list;

static void option(option_list *list, const char *text)
{
    if (!text || !gpul__grow(&list->items, &list->capacity, list->count, sizeof *list->items))
        list->failed = true;
    else list->items[list->count++] = text;
}

static void fill_options(option_list *list, gpul__link *l, bool ltoir)
{
    const gpul_load_opts *jit = l->opts->jit ? l->opts->jit : &no_jit;
    char arch[24];
    gpul__arch_text(arch, l->arch);
    option(list, gpul__arena_printf(&l->arena, "-arch=%s", arch));
    if (ltoir) option(list, "-lto");
    /* The CPU device runs PTX. */
    if (l->device && l->device->is_cpu) option(list, "-ptx");
    if (jit->level)
        option(list, gpul__arena_printf(&l->arena, "-O%d", (int)(jit->level - GPUL_JIT_O0)));
    if (jit->max_registers)
        option(list, gpul__arena_printf(&l->arena, "-maxrregcount=%u", jit->max_registers));
    if (jit->line_info) option(list, "-lineinfo");
    if (jit->debug) option(list, "-g");
    if (jit->verbose) option(list, "-verbose");
    for (const char *const *flag = l->opts->flags; flag && *flag; flag++) option(list, *flag);
}

/* "" when there is none; NULL: no memory. */
static const char *read_log(gpul__link *l, nvJitLinkHandle handle, bool error,
                            const gpul__jitlink *lib)
{
    size_t size = 0;
    int result = error ? lib->GetErrorLogSize(handle, &size) : lib->GetInfoLogSize(handle, &size);
    if (result || size < 2) return "";
    char *log = gpul__arena_alloc(&l->arena, size + 1);
    if (!log) return NULL;
    log[0] = log[size] = 0;
    result = error ? lib->GetErrorLog(handle, log) : lib->GetInfoLog(handle, log);
    if (result) log[0] = 0;
    return log;
}

/* False: out of memory. */
static bool fetch(gpul__link *l, const gpul__jitlink *lib, nvJitLinkHandle handle, int *result,
                  const char **call)
{
    bool ptx = l->device && l->device->is_cpu;
    size_t size = 0;
    *call = ptx ? "nvJitLinkGetLinkedPtxSize" : "nvJitLinkGetLinkedCubinSize";
    *result = ptx ? lib->GetLinkedPtxSize(handle, &size) : lib->GetLinkedCubinSize(handle, &size);
    if (*result) return true;
    l->bytes = gpul__calloc(1, size + 1);
    if (!l->bytes) return false;
    l->size = size;
    *call = ptx ? "nvJitLinkGetLinkedPtx" : "nvJitLinkGetLinkedCubin";
    *result = ptx ? lib->GetLinkedPtx(handle, l->bytes) : lib->GetLinkedCubin(handle, l->bytes);
    return true;
}

static gpul_status use_library(gpul__link *l, const gpul__jitlink *lib, const option_list *options)
{
    static const int kinds[] = { NVJITLINK_INPUT_CUBIN,   NVJITLINK_INPUT_PTX,
                                 NVJITLINK_INPUT_FATBIN,  NVJITLINK_INPUT_OBJECT,
                                 NVJITLINK_INPUT_LIBRARY, NVJITLINK_INPUT_LTOIR };
    nvJitLinkHandle handle = NULL;
    const char *call = "nvJitLinkCreate", *refused = NULL, *log = "";
    int result = lib->Create(&handle, (uint32_t)options->count, options->items);
    for (size_t i = 0; i < l->count && !result; i++) {
        const gpul__link_item *item = &l->items[i];
        call = "nvJitLinkAddData";
        result = lib->AddData(handle, kinds[item->kind], item->data, item->size, item->name);
        if (result) refused = item->name;
    }
    if (!result) {
        call = "nvJitLinkComplete";
        result = lib->Complete(handle);
    }
    bool ok = result || fetch(l, lib, handle, &result, &call);
    if (handle) log = read_log(l, handle, result != 0, lib);
    gpul_status status = GPUL_OK;
    if (!ok || !log) status = gpul__no_memory();
    else if (result) {
        gpul__str why = { 0 };
        gpul__str_printf(&why, "%s%s%snvJitLink %u.%u answers %s", refused ? "'" : "",
                         refused ? refused : "", refused ? "' is refused: " : "", lib->major,
                         lib->minor, gpul__jitlink_error(result));
        status = fail_link(l, &(gpul__failure){ .call = call, .log = log }, gpul__str_text(&why));
        gpul__str_free(&why);
    }
    l->log = log ? log : "";
    if (handle) lib->Destroy(&handle);
    return status;
}

gpul_status gpul__link_by_library(gpul__link *l)
{
    const gpul__jitlink *library;
    bool ltoir = false, cpu = l->device && l->device->is_cpu;
    for (size_t i = 0; i < l->count; i++) ltoir |= l->items[i].kind == GPUL__LINK_LTOIR;
    for (size_t i = 0; cpu && i < l->count; i++)
        if (l->items[i].kind != GPUL__LINK_LTOIR) {
            gpul__fail(GPUL__LOAD_LINK, (.call = "gpul_link"),
                       "'%s' is no LTO-IR: nvJitLink makes PTX, which the CPU device runs, of "
                       "LTO-IR alone",
                       l->items[i].name);
            return gpul__hint("compile every input with -dlto, or every one with -rdc=true");
        }
    int version = l->device && !cpu ? l->device->info.driver_version : 0;
    gpul_status status =
        gpul__jitlink_choose(&library, l->opts->nvjitlink, (unsigned)version / 1000);
    if (status != GPUL_OK) return status;
    option_list options = { 0 };
    fill_options(&options, l, ltoir);
    status = options.failed ? gpul__no_memory() : use_library(l, library, &options);
    gpul__free(options.items);
    return status;
}
