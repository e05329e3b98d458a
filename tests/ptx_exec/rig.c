/* The rig.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Less than the default: an emulator keeps a record of each page that is reserved. */
static const ptx_memory_options memory_options = { .capacity = 256 << 20 };

char *rig_read_kernels(const char *name, size_t *length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KERNELS, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *length, file), *length);
    text[*length] = 0;
    fclose(file);
    return text;
}

static void fail_with(const ptx_diags *diags)
{
    gpul__str text = { 0 };
    for (size_t k = 0; k < diags->count; k++) ptx_diag_render(&diags->items[k], &text);
    fail_msg("%s", gpul__str_text(&text));
}

rig rig_open_text(const char *text, ptx_isa isa, uint32_t threads)
{
    rig r = { 0 };
    ptx_diags diags = { 0 };
    assert_int_equal(ptx_memory_create(&r.memory, &memory_options), PTX_OK);
    ptx_engine_options options = { .isa = isa, .threads = threads };
    assert_int_equal(ptx_engine_create(&r.engine, r.memory, &options), PTX_OK);
    if (ptx_parse(&r.module, text, strlen(text), &diags) != PTX_OK) fail_with(&diags);
    if (ptx_program_create(&r.program, r.engine, &r.module, 1, NULL, &diags) != PTX_OK)
        fail_with(&diags);
    ptx_diags_free(&diags);
    return r;
}

rig rig_open(const char *file, ptx_isa isa, uint32_t threads)
{
    size_t length;
    char *text = rig_read_kernels(file, &length);
    rig r = rig_open_text(text, isa, threads);
    free(text);
    return r;
}

void rig_close(rig *r)
{
    ptx_report_free(&r->report);
    gpul__str_free(&r->printed);
    ptx_program_destroy(r->program);
    ptx_engine_destroy(r->engine);
    ptx_module_free(r->module);
    ptx_memory_destroy(r->memory);
}

buffer rig_buffer(rig *r, size_t size)
{
    buffer b;
    ptx_allocation request = { .size = size };
    assert_int_equal(ptx_memory_alloc(r->memory, &request, 256, &b.address), PTX_OK);
    b.host = ptx_memory_host(r->memory, b.address, size);
    assert_non_null(b.host);
    return b;
}

static void collect(void *user, const char *text, size_t length)
{
    gpul__str_addn(user, text, length);
}

ptx_launch_status rig_launch_grid(rig *r, const char *name, ptx_grid grid, const void *params,
                                  size_t size)
{
    const ptx_kernel *kernel = ptx_program_find_kernel(r->program, name);
    if (!kernel) fail_msg("there is no kernel %s", name);
    ptx_kernel_info info;
    ptx_kernel_describe(kernel, &info);
    /* A struct of parameters may have padding at its end. */
    if (size > info.param_size && size - info.param_size < 8) size = info.param_size;
    ptx_report_free(&r->report);
    r->printed.length = 0;
    grid.print = collect;
    grid.print_user = &r->printed;
    if (!grid.instruction_budget) grid.instruction_budget = 1u << 28;
    return ptx_launch(kernel, &grid, params, size, &r->report);
}

ptx_launch_status rig_launch(rig *r, const char *name, uint32_t blocks, uint32_t threads,
                             const void *params, size_t size)
{
    ptx_grid grid = { .grid = { blocks, 1, 1 }, .block = { threads, 1, 1 } };
    return rig_launch_grid(r, name, grid, params, size);
}

void rig_run(rig *r, const char *name, uint32_t blocks, uint32_t threads, const void *params,
             size_t size)
{
    ptx_launch_status status = rig_launch(r, name, blocks, threads, params, size);
    if (status != PTX_LAUNCH_OK || r->report.finding_count) {
        gpul__str text = { 0 };
        ptx_report_render(&r->report, &text);
        fail_msg("%s: status %d, result %d\n%s", name, status, r->report.result,
                 gpul__str_text(&text));
    }
}

const ptx_finding *rig_expect_fault(rig *r, ptx_fault_kind kind, int result)
{
    if (!r->report.finding_count)
        fail_msg("nothing was reported, %s was expected", ptx_fault_name(kind));
    const ptx_finding *f = &r->report.findings[0];
    if (f->kind != kind) fail_msg("%s was expected, not: %s", ptx_fault_name(kind), f->message);
    assert_int_equal(r->report.result, result);
    return f;
}

void rig_expect_text(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' does not contain '%s'", text, part);
}

void rig_everywhere(rig_test *test)
{
    static const ptx_isa sets[] = { PTX_ISA_GENERIC, PTX_ISA_V2, PTX_ISA_V3, PTX_ISA_V4 };
    int tried = 0;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        ptx_memory *memory;
        ptx_engine *engine;
        assert_int_equal(ptx_memory_create(&memory, &memory_options), PTX_OK);
        bool there =
            ptx_engine_create(&engine, memory, &(ptx_engine_options){ .isa = sets[k] }) == PTX_OK;
        if (there) ptx_engine_destroy(engine);
        ptx_memory_destroy(memory);
        if (!there) continue;
        test(sets[k], 1);
        test(sets[k], 3);
        tried++;
    }
    assert_true(tried > 0);
}
