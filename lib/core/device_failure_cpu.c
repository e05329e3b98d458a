/* Faults of the CPU device, which knows the launch, the thread, the line and the memory.  Without that
 * device in the build there is nothing to tell.  SPDX-License-Identifier: MIT */
#include "core/device_failure.h"
#include "core/signature_name.h"

#include <string.h>

static gpul_status cannot_interrupt(const gpul_device *device)
{
    gpul__fail(GPUL__EXECUTE_UNSUPPORTED, (.call = "gpul_interrupt"),
               "a kernel that runs on %s cannot be ended", device->info.name);
    return gpul__hint("end the process, or run the kernel on the CPU device");
}

#ifdef GPUL_HAVE_CPU
#include "cpu/cpu.h"

static int code_of(const gpul__cpu_report *report)
{
    ptx_fault_kind kind = PTX_FAULT_NONE;
    for (size_t i = 0; i < report->details.finding_count && kind == PTX_FAULT_NONE; i++)
        if (!report->details.findings[i].warning) kind = report->details.findings[i].kind;
    switch (kind) {
    case PTX_FAULT_BARRIER:
    case PTX_FAULT_DEADLOCK:
    case PTX_FAULT_LANE_MASK:
    case PTX_FAULT_GRID_SYNC: return GPUL__EXECUTE_BARRIER;
    case PTX_FAULT_STACK_OVERFLOW: return GPUL__EXECUTE_STACK;
    case PTX_FAULT_BUDGET:
    case PTX_FAULT_CANCELLED: return GPUL__EXECUTE_TIMEOUT;
    case PTX_FAULT_OUT_OF_MEMORY: return GPUL__MEMORY_HOST;
    default: break;
    }
    switch (report->result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS: return GPUL__EXECUTE_ADDRESS;
    case CUDA_ERROR_MISALIGNED_ADDRESS: return GPUL__EXECUTE_MISALIGNED;
    case CUDA_ERROR_ASSERT: return GPUL__EXECUTE_ASSERT;
    case CUDA_ERROR_LAUNCH_TIMEOUT: return GPUL__EXECUTE_TIMEOUT;
    case CUDA_ERROR_LAUNCH_FAILED: return GPUL__EXECUTE_TRAP;
    default: return GPUL__EXECUTE_INSTRUCTION;
    }
}

/* The launch in our ring that the report is about; else what the report itself says of it. */
static void find_launch(gpul_device *device, const gpul__cpu_report *report,
                        gpul__launch_record *out)
{
    gpul__launch_record pending[GPUL__RING_SLOTS];
    bool lost;
    size_t count = gpul__ring_pending(&device->ring, pending, GPUL__RING_SLOTS, &lost);
    for (size_t i = 0; i < count; i++) {
        if (pending[i].native != report->launch) continue;
        *out = pending[i];
        return;
    }
    *out = (gpul__launch_record){ .kernel = report->details.kernel ? report->details.kernel : "?",
                                  .shared = report->shared };
    memcpy(out->grid, report->grid, sizeof out->grid);
    memcpy(out->block, report->block, sizeof out->block);
}

static void add_details(const ptx_report *report)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        const ptx_finding *f = &report->findings[i];
        bool mild = f->warning && !f->defect;
        gpul__detail(&(gpul_detail){ .severity = mild ? GPUL_WARNING : GPUL_ERROR,
                                     .file = f->file,
                                     .line = f->line,
                                     .text = f->brief,
                                     .source = f->text && *f->text ? f->text : NULL });
        if (!f->has_other) continue;
        gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE,
                                     .file = f->other_file,
                                     .line = f->other_line,
                                     .text = f->kind == PTX_FAULT_UNINITIALISED
                                                 ? "where the value is used"
                                                 : "the earlier access",
                                     .source = *f->other_text ? f->other_text : NULL });
    }
    for (size_t i = 0; i < report->position_count; i++) {
        const ptx_position *p = &report->positions[i];
        gpul__str text = { 0 };
        gpul__str_printf(&text, "%llu thread%s, the first (%u,%u,%u) of block (%u,%u,%u): %s in %s",
                         (unsigned long long)p->threads, p->threads == 1 ? "" : "s", p->thread[0],
                         p->thread[1], p->thread[2], p->block[0], p->block[1], p->block[2],
                         p->state, p->function);
        gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE,
                                     .file = p->file,
                                     .line = p->line,
                                     .text = gpul__str_text(&text),
                                     .source = p->text && *p->text ? p->text : NULL });
        gpul__str_free(&text);
    }
}

/* The sentence of a finding, without the kernel's symbol that it begins with. */
static const char *without_symbol(const gpul__cpu_report *report, const char *sentence)
{
    const char *symbol = report->details.kernel ? report->details.kernel : "";
    size_t length = strlen(symbol);
    if (length && strncmp(sentence, symbol, length) == 0 && gpul__starts(sentence + length, ": "))
        sentence += length + 2;
    return sentence;
}

bool gpul__tell_cpu_fault(gpul_device *device, const gpul__refusal *refusal,
                          const gpul__launch_record *known)
{
    gpul__cpu_report *report = gpul__cpu_fault_report(device->context);
    if (!report) return false;
    gpul__launch_record found;
    if (known) found = *known;
    else find_launch(device, report, &found);
    gpul__str launch = { 0 };
    gpul__describe_launch(&launch, &found);
    const char *finding = report->details.finding_count ? report->details.findings[0].message : "";
    finding = without_symbol(report, finding); /* the kernel is said already */
    gpul__failure about = {
        .call = refusal->entry,
        .native_kind = GPUL_NATIVE_CUDA,
        .native = (int)refusal->result,
        .log = report->text,
        .caller_file = found.file,
        .caller_line = (int)found.line,
    };
    gpul__fail_at(code_of(report), "", &about, "%s: %s", gpul__str_text(&launch),
                  *finding ? finding : gpul_native_text(GPUL_NATIVE_CUDA, (int)refusal->result));
    gpul__str_free(&launch);
    add_details(&report->details);
    gpul__detail_launch(&found);
    gpul__hint("free this device and open it again to go on");
    gpul__cpu_report_free(report);
    return true;
}

/* The kernel as a user writes it; a launch that has ended is told by its symbol. */
static const char *name_of(gpul__arena *arena, const gpul__launch_record *launch)
{
    gpul__demangled name;
    return gpul__demangle(&name, arena, launch->kernel) ? name.name : launch->kernel;
}

/* Each as a line of its own: "FILE:LINE: warning: 'kernel': what happened (PTX line N: instruction)". */
static void log_warnings(gpul_device *device, const gpul__cpu_report *report)
{
    gpul__launch_record found;
    find_launch(device, report, &found);
    gpul__arena arena = { 0 };
    const char *kernel = name_of(&arena, &found);
    for (size_t i = 0; i < report->details.finding_count; i++) {
        const ptx_finding *f = &report->details.findings[i];
        gpul__str line = { 0 };
        if (f->file) gpul__str_printf(&line, "%s:%u: ", f->file, (unsigned)f->line);
        gpul__str_printf(&line, "warning: '%s': %s", kernel, f->brief);
        if (f->text && *f->text)
            gpul__str_printf(&line, " (PTX line %u: %s)", (unsigned)f->ptx_line, f->text);
        gpul__log(GPUL_LOG_WARN, "%s", gpul__str_text(&line));
        gpul__str_free(&line);
    }
    gpul__arena_free(&arena);
}

void gpul__tell_cpu_warnings(gpul_device *device)
{
    gpul__cpu_report *report;
    /* With checkers on a wait takes them all, see below. */
    if (!device->is_cpu || gpul__cpu_checks()) return;
    while ((report = gpul__cpu_take_warning(device->context))) {
        log_warnings(device, report);
        gpul__cpu_report_free(report);
    }
}

static size_t count_defects(const gpul__cpu_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->details.finding_count; i++)
        count += report->details.findings[i].defect;
    return count;
}

gpul_status gpul__tell_cpu_findings(gpul_device *device, const char *call)
{
    enum { MOST = 16 };
    gpul__cpu_report *report, *kept[MOST];
    size_t count = 0, defects = 0;
    if (!device->is_cpu) return GPUL_OK;
    while (count < MOST && (report = gpul__cpu_take_warning(device->context))) {
        size_t found = count_defects(report);
        if (found) {
            kept[count++] = report;
            defects += found;
        } else {
            log_warnings(device, report);
            gpul__cpu_report_free(report);
        }
    }
    if (!count) return GPUL_OK;
    gpul__launch_record found;
    find_launch(device, kept[0], &found);
    gpul__arena arena = { 0 };
    gpul_status status = gpul__fail(GPUL__EXECUTE_CHECK, (.call = call, .log = kept[0]->text),
                                    "'%s': %s", name_of(&arena, &found),
                                    without_symbol(kept[0], kept[0]->details.findings[0].message));
    gpul__arena_free(&arena);
    for (size_t k = 0; k < count; k++) {
        add_details(&kept[k]->details);
        gpul__cpu_report_free(kept[k]);
    }
    return status;
}

gpul_status gpul_interrupt(gpul_device *device)
{
    GPUL__NEED(device);
    if (!device->is_cpu) return cannot_interrupt(device);
    CUresult result = gpul__cpu_interrupt(device->context);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return gpul__refused(
        device, &(gpul__refusal){ GPUL__EXECUTE_FAILED, result, "gpul_interrupt", NULL, 0 },
        "the kernels of the device cannot be interrupted");
}

#else

gpul_status gpul_interrupt(gpul_device *device)
{
    GPUL__NEED(device);
    return cannot_interrupt(device);
}

bool gpul__tell_cpu_fault(gpul_device *device, const gpul__refusal *refusal,
                          const gpul__launch_record *known)
{
    (void)device, (void)refusal, (void)known;
    return false;
}

void gpul__tell_cpu_warnings(gpul_device *device)
{
    (void)device;
}

gpul_status gpul__tell_cpu_findings(gpul_device *device, const char *call)
{
    (void)device, (void)call;
    return GPUL_OK;
}

#endif
