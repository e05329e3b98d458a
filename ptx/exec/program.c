/* Programs: from parsed modules to kernels that can be launched, and what can be asked about them.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ptx/exec/block.h"
#include "ptx/exec/lower.h"
#include "ptx/float_mode.h"

/* ------------------------------------------------------------------ create, destroy */

/* The parser told it already when the caller gives the diagnostics of both. */
static bool is_reported(const ptx_diags *diags, const ptx_function *source)
{
    for (size_t i = 0; i < diags->count; i++)
        if (diags->items[i].severity == PTX_UNSUPPORTED &&
            diags->items[i].line == source->unsupported->line &&
            strcmp(diags->items[i].text, source->unsupported_reason) == 0)
            return true;
    return false;
}

static void report_refusals(const ptx_program *p, ptx_diags *diags)
{
    for (size_t k = 0; k < p->code_count; k++) {
        const code *c = &p->codes[k];
        const ptx_instruction *i = c->source->unsupported;
        if (!i || is_reported(diags, c->source)) continue;
        char opcode[128] = "";
        size_t length;
        const char *text = ptx_instruction_spelling(c->source->module, i, &length);
        if (length >= sizeof opcode) length = sizeof opcode - 1;
        memcpy(opcode, text, length);
        ptx_diags_add(diags, &(ptx_diag){ .severity = PTX_UNSUPPORTED,
                                          .line = i->line,
                                          .column = 1,
                                          .width = 1,
                                          .text = c->source->unsupported_reason,
                                          .function = c->source->name,
                                          .opcode = opcode });
    }
}

static ptx_status compile(ptx_program *p, const ptx_program_options *options, ptx_diags *diags)
{
    for (size_t m = 0; m < p->module_count; m++)
        if (p->modules[m]->address_size == 32) {
            ptx_diags_add(diags, &(ptx_diag){ .severity = PTX_ERROR,
                                              .text = "modules with 32-bit addresses cannot run" });
            return PTX_INVALID;
        }
    ptx_status status = ptx_link(p, options ? options->owner : 0, diags);
    if (status != PTX_OK) return status;
    if (!ptx_find_mentions(p)) return PTX_OUT_OF_MEMORY;
    for (size_t k = 0; k < p->code_count; k++)
        if (!lower_function(p, &p->codes[k], diags)) return PTX_OUT_OF_MEMORY;
    if (!ptx_make_kernels(p)) return PTX_OUT_OF_MEMORY;
    report_refusals(p, diags);
    if (options && options->defer_unsupported) return PTX_OK;
    for (size_t k = 0; k < p->kernel_count; k++)
        if (p->kernels[k].refusal) return PTX_INVALID;
    return PTX_OK;
}

ptx_status ptx_program_create(ptx_program **out, ptx_engine *engine, ptx_module *const *modules,
                              size_t count, const ptx_program_options *options, ptx_diags *diags)
{
    static atomic_uint_fast64_t ids;
    *out = NULL;
    ptx_program *p = gpul__calloc(1, sizeof *p);
    if (!p) return PTX_OUT_OF_MEMORY;
    p->engine = engine;
    p->isa = engine->isa;
    p->id = atomic_fetch_add(&ids, 1) + 1;
    ptx_module **kept = gpul__arena_alloc(&p->arena, (count + 1) * sizeof *kept);
    if (kept && count) memcpy(kept, modules, count * sizeof *kept);
    p->modules = kept;
    p->module_count = count;
    const fenv_t callers = ptx_float_mode_enter();
    ptx_status status = kept ? compile(p, options, diags) : PTX_OUT_OF_MEMORY;
    ptx_float_mode_leave(&callers);
    if (status == PTX_OK && diags->failed) status = PTX_OUT_OF_MEMORY;
    if (status == PTX_OK) *out = p;
    else ptx_program_destroy(p);
    return status;
}

void ptx_program_destroy(ptx_program *program)
{
    if (!program) return;
    ptx_unlink(program);
    gpul__arena_free(&program->arena);
    gpul__free(program);
}

/* ------------------------------------------------------------------ variables */

static void describe_global(const program_global *g, ptx_global_info *out)
{
    *out = (ptx_global_info){ .name = g->variable->name,
                              .address = g->address,
                              .size = g->variable->size,
                              .space = (ptx_space)g->variable->space,
                              .managed = g->managed != NULL };
}

size_t ptx_program_global_count(const ptx_program *program)
{
    return program->global_count;
}

bool ptx_program_global(const ptx_program *program, size_t index, ptx_global_info *out)
{
    if (index >= program->global_count) return false;
    describe_global(&program->globals[index], out);
    return true;
}

bool ptx_program_find_global(const ptx_program *program, const char *name, ptx_global_info *out)
{
    for (size_t k = 0; k < program->global_count; k++)
        if (!strcmp(program->globals[k].variable->name, name)) {
            describe_global(&program->globals[k], out);
            return true;
        }
    return false;
}

/* ------------------------------------------------------------------ kernels */

size_t ptx_program_kernel_count(const ptx_program *program)
{
    return program->kernel_count;
}

const ptx_kernel *ptx_program_kernel(const ptx_program *program, size_t index)
{
    return index < program->kernel_count ? &program->kernels[index] : NULL;
}

const ptx_kernel *ptx_program_find_kernel(const ptx_program *program, const char *name)
{
    for (size_t k = 0; k < program->kernel_count; k++)
        if (!strcmp(program->kernels[k].code->source->name, name)) return &program->kernels[k];
    return NULL;
}

/* What a register allocator for a GPU would come to: the values that live at once, some more for
 * addresses that here are constants, in steps of eight, within what the bounds of a launch allow. */
static uint32_t estimate_registers(const ptx_kernel *k, uint32_t max_threads)
{
    const ptx_function *f = k->code->source;
    uint32_t count = (k->registers + 6 + 7) / 8 * 8, most = 255;
    if (f->has_maxntid || f->has_reqntid) {
        uint32_t share = 65536 / (max_threads ? max_threads : 1) / 8 * 8;
        if (share < most) most = share;
    }
    if (f->maxnreg && f->maxnreg < most) most = f->maxnreg;
    return count < most ? count : most;
}

void ptx_kernel_describe(const ptx_kernel *kernel, ptx_kernel_info *out)
{
    const ptx_function *f = kernel->code->source;
    *out = (ptx_kernel_info){ .name = f->name,
                              .static_shared = kernel->static_shared,
                              .local = kernel->local,
                              .constant = kernel->program->constant_size,
                              .max_threads = 1024,
                              .uses_grid_sync = kernel->reads_workspace,
                              .param_count = f->param_count,
                              .param_size = kernel->param_size,
                              .refused = kernel->refusal != NULL,
                              .refusal = kernel->refusal };
    if (f->has_maxntid) {
        memcpy(out->max_block, f->maxntid, sizeof out->max_block);
        out->max_threads = f->maxntid[0] * f->maxntid[1] * f->maxntid[2];
    }
    if (f->has_reqntid) {
        memcpy(out->required, f->reqntid, sizeof out->required);
        out->max_threads = f->reqntid[0] * f->reqntid[1] * f->reqntid[2];
    }
    if (out->max_threads > 1024) out->max_threads = 1024;
    if (f->has_reqnctapercluster) memcpy(out->cluster, f->reqnctapercluster, sizeof out->cluster);
    out->registers = estimate_registers(kernel, out->max_threads);
    out->warp_state = (uint32_t)(sizeof(warp) + sizeof(frame) + kernel->code->regs_size +
                                 kernel->code->local_size * WARP_LANES);
}

bool ptx_kernel_param(const ptx_kernel *kernel, uint32_t index, ptx_param_info *out)
{
    const ptx_function *f = kernel->code->source;
    if (index >= f->param_count) return false;
    const ptx_variable *v = &f->params[index];
    *out = (ptx_param_info){ .name = v->name,
                             .offset = kernel->param_offsets[index],
                             .size = (uint32_t)v->size,
                             .align = v->align,
                             .type = (ptx_type)v->type,
                             .is_array = v->is_array,
                             .is_pointer = v->is_pointer };
    return true;
}
