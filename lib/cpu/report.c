/* Reports of launches: made by the worker, kept by the context, handed to the core.
 * SPDX-License-Identifier: MIT */
#include "cpu/report.h"

#include "cpu/context.h"
#include "cpu/handle.h"

#include "base/alloc.h"

#include <string.h>

static void destroy(gpul__cpu_report *report)
{
    ptx_report_free(&report->details);
    gpul__free(report->text);
    gpul__free(report);
}

gpul__cpu_report *gpul__cpu_report_new(CUresult result, const cpu_launch *launch, uint64_t number,
                                       CUstream stream, ptx_report *details)
{
    gpul__cpu_report *report = gpul__calloc(1, sizeof *report);
    if (!report) {
        ptx_report_free(details);
        return NULL;
    }
    *report = (gpul__cpu_report){
        .references = 1,
        .result = result,
        .launch = number,
        .function = launch->function,
        .stream = stream,
        .shared = launch->grid.dynamic_shared,
        .details = *details,
    };
    memcpy(report->grid, launch->grid.grid, sizeof report->grid);
    memcpy(report->block, launch->grid.block, sizeof report->block);
    gpul__str text = { 0 };
    ptx_report_render(&report->details, &text);
    report->text = gpul__str_take(&text);
    if (!report->text) {
        gpul__str_free(&text);
        destroy(report);
        return NULL;
    }
    return report;
}

void gpul__cpu_report_drop(gpul__cpu_report *report)
{
    if (report && --report->references == 0) destroy(report);
}

/* The functions of cpu.h below may be called at any time, also in a thread without a context. */

void gpul__cpu_report_free(gpul__cpu_report *report)
{
    if (gpul__cpu_enter()) return;
    gpul__cpu_report_drop(report);
    gpul__cpu_leave(CUDA_SUCCESS);
}

gpul__cpu_report *gpul__cpu_fault_report(CUcontext handle)
{
    if (gpul__cpu_enter()) return NULL;
    cpu_context *context = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    gpul__cpu_report *report = context ? context->report : NULL;
    if (report) report->references++;
    gpul__cpu_leave(CUDA_SUCCESS);
    return report;
}

gpul__cpu_report *gpul__cpu_take_warning(CUcontext handle)
{
    if (gpul__cpu_enter()) return NULL;
    cpu_context *context = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    gpul__cpu_report *report = context ? context->warnings : NULL;
    if (report) {
        context->warnings = report->next;
        report->next = NULL;
    }
    gpul__cpu_leave(CUDA_SUCCESS);
    return report;
}

CUresult gpul__cpu_interrupt(CUcontext handle)
{
    CUresult result = gpul__cpu_enter();
    if (result) return result;
    cpu_context *context = gpul__cpu_handle_get(CPU_CONTEXT, handle);
    if (context) gpul__cpu_cancel_context(context);
    return gpul__cpu_leave(context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
}

bool gpul__cpu_checks(void)
{
    if (gpul__cpu_enter()) return false;
    bool checks = gpul__cpu.options.checks != 0;
    gpul__cpu_leave(CUDA_SUCCESS);
    return checks;
}

uint64_t gpul__cpu_launch_number(void)
{
    return gpul__cpu_thread.launch;
}
