/* One run of NVRTC.  SPDX-License-Identifier: MIT */
#include "core/compile_run.h"

#include "base/log.h"

#include <string.h>

bool gpul__list_add(gpul__list *list, const char *text)
{
    if (!text || !gpul__grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
    return true;
}

void gpul__list_free(gpul__list *list)
{
    gpul__free(list->items);
    *list = (gpul__list){ 0 };
}

/* Keeps the first failing call. */
static bool failed(gpul__run *run, nvrtcResult result, const char *call)
{
    if (result == NVRTC_SUCCESS) return false;
    if (run->result == NVRTC_SUCCESS) {
        run->result = result;
        run->call = call;
    }
    return true;
}

static bool read_log(gpul__run *run, const gpul__nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    bool has = GPUL__NVRTC(nvrtc, GetProgramLogSize, program, &size) == NVRTC_SUCCESS && size > 1;
    run->log = gpul__malloc(size + 1);
    if (!run->log) return false;
    run->log[0] = 0;
    if (has && GPUL__NVRTC(nvrtc, GetProgramLog, program, run->log) != NVRTC_SUCCESS)
        run->log[0] = 0;
    run->log[size] = 0;
    return true;
}

static bool read_ptx(gpul__run *run, const gpul__nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    if (failed(run, GPUL__NVRTC(nvrtc, GetPTXSize, program, &size), "nvrtcGetPTXSize") || size < 2)
        return true;
    run->ptx = gpul__malloc(size + 1);
    if (!run->ptx) return false;
    run->ptx[0] = run->ptx[size] = 0;
    if (failed(run, GPUL__NVRTC(nvrtc, GetPTX, program, run->ptx), "nvrtcGetPTX")) return true;
    run->ptx_size = strlen(run->ptx);
    return true;
}

/* A virtual architecture has no machine code: a size of 0 or 1. */
static bool read_cubin(gpul__run *run, const gpul__nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    if (!nvrtc->GetCUBINSize || !nvrtc->GetCUBIN) return true;
    if (failed(run, GPUL__NVRTC(nvrtc, GetCUBINSize, program, &size), "nvrtcGetCUBINSize") ||
        size < 2)
        return true;
    run->cubin = gpul__malloc(size);
    if (!run->cubin) return false;
    if (!failed(run, GPUL__NVRTC(nvrtc, GetCUBIN, program, run->cubin), "nvrtcGetCUBIN"))
        run->cubin_size = size;
    return true;
}

/* With -dlto there is nothing else. */
static bool read_ltoir(gpul__run *run, const gpul__nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    if (run->ptx || run->cubin || !nvrtc->GetLTOIRSize || !nvrtc->GetLTOIR) return true;
    if (failed(run, GPUL__NVRTC(nvrtc, GetLTOIRSize, program, &size), "nvrtcGetLTOIRSize") ||
        size < 2)
        return true;
    run->ltoir = gpul__malloc(size);
    if (!run->ltoir) return false;
    if (!failed(run, GPUL__NVRTC(nvrtc, GetLTOIR, program, run->ltoir), "nvrtcGetLTOIR"))
        run->ltoir_size = size;
    return true;
}

static bool read_names(gpul__run *run, const gpul__run_input *input, nvrtcProgram program)
{
    for (size_t i = 0; i < run->lowered_count; i++) {
        const char *name = NULL;
        if (failed(run,
                   GPUL__NVRTC(input->nvrtc, GetLoweredName, program, input->expressions[i], &name),
                   "nvrtcGetLoweredName") ||
            !name)
            continue;
        run->lowered[i] = gpul__strdup(name);
        if (!run->lowered[i]) return false;
    }
    return true;
}

/* NVRTC asks whether to stop. */
static int is_cancelled(void *user, void *reserved)
{
    const gpul__run_input *input = user;
    (void)reserved;
    return !input->progress(input->progress_user);
}

static bool run_program(gpul__run *run, const gpul__run_input *input, nvrtcProgram program)
{
    const gpul__nvrtc *nvrtc = input->nvrtc;
    size_t count = 0;
    while (input->expressions && input->expressions[count]) count++;
    if (count) {
        run->lowered = gpul__calloc(count, sizeof *run->lowered);
        if (!run->lowered) return false;
        run->lowered_count = count;
    }
    for (size_t i = 0; i < count; i++)
        if (failed(run, GPUL__NVRTC(nvrtc, AddNameExpression, program, input->expressions[i]),
                   "nvrtcAddNameExpression"))
            return read_log(run, nvrtc, program);
    if (input->progress && nvrtc->SetFlowCallback &&
        failed(run,
               GPUL__NVRTC(nvrtc, SetFlowCallback, program, is_cancelled, (void *)(uintptr_t)input),
               "nvrtcSetFlowCallback"))
        return read_log(run, nvrtc, program);
    failed(run,
           GPUL__NVRTC(nvrtc, CompileProgram, program, (int)input->options->count,
                       input->options->items),
           "nvrtcCompileProgram");
    if (!read_log(run, nvrtc, program)) return false;
    if (run->result != NVRTC_SUCCESS) return true;
    return read_ptx(run, nvrtc, program) && read_cubin(run, nvrtc, program) &&
           read_ltoir(run, nvrtc, program) && read_names(run, input, program);
}

bool gpul__run_nvrtc(gpul__run *out, const gpul__run_input *input)
{
    nvrtcProgram program = NULL;
    *out = (gpul__run){ 0 };
    if (gpul__log_on(GPUL_LOG_DEBUG))
        for (size_t i = 0; i < input->options->count; i++)
            gpul__log(GPUL_LOG_DEBUG, "NVRTC option %zu: %s", i, input->options->items[i]);
    bool ok;
    if (failed(out,
               GPUL__NVRTC(input->nvrtc, CreateProgram, &program, input->source, input->name,
                           (int)input->header_names->count, input->header_texts->items,
                           input->header_names->items),
               "nvrtcCreateProgram")) {
        out->log = gpul__strdup("");
        ok = out->log != NULL;
    } else {
        ok = run_program(out, input, program);
        failed(out, GPUL__NVRTC_FREE(input->nvrtc, DestroyProgram, &program),
               "nvrtcDestroyProgram");
    }
    if (!ok) gpul__run_free(out);
    return ok;
}

void gpul__run_free(gpul__run *run)
{
    gpul__free(run->log);
    gpul__free(run->ptx);
    gpul__free(run->cubin);
    gpul__free(run->ltoir);
    for (size_t i = 0; i < run->lowered_count; i++) gpul__free(run->lowered[i]);
    gpul__free(run->lowered);
    *run = (gpul__run){ 0 };
}
