/* What a kernel reaches: functions it may call, the shared variables they mention, and how much
 * local memory a chain of calls needs.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/block.h"

/* ------------------------------------------------------------------ mentions */

typedef struct mentions {
    ptx_program *program;
    code *code;
    size_t callee_room, shared_room;
    code **callees;
    const ptx_variable **shared;
    uint32_t callee_count, shared_count;
    bool failed;
} mentions;

static void mention_callee(mentions *m, const ptx_function *f, bool called)
{
    size_t index;
    if (!pointer_map_get(&m->program->code_map, f, &index)) return;
    code *c = &m->program->codes[index];
    if (!called) {
        c->address_taken = true;
        return;
    }
    for (uint32_t k = 0; k < m->callee_count; k++)
        if (m->callees[k] == c) return;
    if (gpul__grow(&m->callees, &m->callee_room, m->callee_count, sizeof *m->callees))
        m->callees[m->callee_count++] = c;
    else m->failed = true;
}

static void mention_variable(mentions *m, const ptx_variable *v)
{
    if (v->space != PTX_SPACE_SHARED) return;
    for (uint32_t k = 0; k < m->shared_count; k++)
        if (m->shared[k] == v) return;
    if (gpul__grow(&m->shared, &m->shared_room, m->shared_count, sizeof *m->shared))
        m->shared[m->shared_count++] = v;
    else m->failed = true;
}

static void look_at_operand(mentions *m, const ptx_operand *o)
{
    switch ((ptx_operand_kind)o->kind) {
    case PTX_OPERAND_SYMBOL: mention_variable(m, o->variable); break;
    case PTX_OPERAND_ADDRESS:
        if (o->base == PTX_BASE_VARIABLE) mention_variable(m, o->variable);
        break;
    case PTX_OPERAND_FUNCTION: mention_callee(m, o->function, false); break;
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
        for (uint32_t k = 0; k < o->index; k++) look_at_operand(m, &o->items[k]);
        break;
    case PTX_OPERAND_PAIR:
        for (uint32_t k = 0; k < 2; k++) look_at_operand(m, &o->items[k]);
        break;
    default: break;
    }
}

static void look_at_call(mentions *m, const ptx_call *call)
{
    const ptx_function *f = m->code->source;
    if (call->callee.kind == PTX_OPERAND_FUNCTION) {
        mention_callee(m, call->callee.function, true);
    } else if (call->table) {
        const ptx_table *t = &f->tables[call->table - 1];
        for (uint32_t k = 0; k < t->count; k++)
            if (t->targets[k].kind == PTX_OPERAND_FUNCTION) {
                mention_callee(m, t->targets[k].function, true);
                mention_callee(m, t->targets[k].function, false);
            }
    } else {
        m->code->calls_anything = true;
    }
    for (uint32_t k = 0; k < call->argument_count; k++) look_at_operand(m, &call->arguments[k]);
}

static bool keep(mentions *m)
{
    gpul__arena *arena = &m->program->arena;
    code *c = m->code;
    c->callees = gpul__arena_alloc(arena, (m->callee_count + 1) * sizeof *c->callees);
    c->shared = gpul__arena_alloc(arena, (m->shared_count + 1) * sizeof *c->shared);
    if (!c->callees || !c->shared) return false;
    if (m->callee_count) memcpy(c->callees, m->callees, m->callee_count * sizeof *c->callees);
    if (m->shared_count) memcpy(c->shared, m->shared, m->shared_count * sizeof *c->shared);
    c->callee_count = m->callee_count;
    c->shared_count = m->shared_count;
    return true;
}

bool ptx_find_mentions(ptx_program *program)
{
    bool ok = true;
    for (size_t k = 0; ok && k < program->code_count; k++) {
        mentions m = { .program = program, .code = &program->codes[k] };
        const ptx_function *f = m.code->source;
        for (uint32_t n = 0; n < f->instruction_count; n++) {
            const ptx_instruction *i = &f->instructions[n];
            if (i->call) look_at_call(&m, i->call);
            for (uint32_t o = 0; o < i->operand_count; o++) look_at_operand(&m, &i->operands[o]);
        }
        ok = !m.failed && keep(&m);
        gpul__free(m.callees);
        gpul__free(m.shared);
    }
    return ok;
}

/* ------------------------------------------------------------------ reaching */

typedef struct reach {
    ptx_program *program;
    ptx_kernel *kernel;
    bool *seen;      /* by code->index */
    uint32_t *order; /* indices of what was reached */
    uint32_t count;
    uint8_t *state; /* of the search for the deepest chain: 0 new, 1 open, 2 done */
    uint32_t *depth;
} reach;

static void reach_code(reach *r, const code *c)
{
    if (r->seen[c->index]) return;
    r->seen[c->index] = true;
    r->order[r->count++] = c->index;
}

static void reach_all(reach *r)
{
    reach_code(r, r->kernel->code);
    for (uint32_t k = 0; k < r->count; k++) {
        const code *c = &r->program->codes[r->order[k]];
        for (uint32_t n = 0; n < c->callee_count; n++) reach_code(r, c->callees[n]);
        if (!c->calls_anything) continue;
        r->kernel->recursive = true;
        for (size_t n = 0; n < r->program->code_count; n++)
            if (r->program->codes[n].address_taken) reach_code(r, &r->program->codes[n]);
    }
}

/* Bytes of local memory of the deepest chain of calls from each reached function on.  An explicit
 * stack would only matter for chains longer than the program has functions. */
static uint32_t deepest(reach *r, const code *c, uint32_t level)
{
    if (r->state[c->index] == 2) return r->depth[c->index];
    if (r->state[c->index] == 1 || level > 10000) {
        r->kernel->recursive = true;
        return 0;
    }
    r->state[c->index] = 1;
    uint32_t most = 0;
    for (uint32_t k = 0; k < c->callee_count; k++) {
        uint32_t below = FRAME_OVERHEAD + deepest(r, c->callees[k], level + 1);
        most = below > most ? below : most;
    }
    r->state[c->index] = 2;
    return r->depth[c->index] = c->local_size + most;
}

/* ------------------------------------------------------------------ the kernel's facts */

static uint32_t align_up(uint32_t offset, uint32_t align)
{
    if (!align) align = 1;
    return (offset + align - 1) / align * align;
}

static bool has_variable(const ptx_kernel *k, const ptx_variable *v)
{
    for (uint32_t n = 0; n < k->shared_count; n++)
        if (k->shared[n].variable == v) return true;
    return false;
}

static bool lay_out_shared(reach *r)
{
    ptx_kernel *kernel = r->kernel;
    size_t most = 0;
    for (uint32_t k = 0; k < r->count; k++)
        most += 2 * (size_t)r->program->codes[r->order[k]].shared_count;
    kernel->shared = gpul__arena_alloc(&r->program->arena, (most + 1) * sizeof *kernel->shared);
    if (!kernel->shared) return false;
    uint64_t end = SHARED_RESERVED;
    uint32_t dynamic_align = 16;
    for (uint32_t k = 0; k < r->count; k++) {
        const code *c = &r->program->codes[r->order[k]];
        for (uint32_t n = 0; n < c->shared_count; n++) {
            const ptx_variable *v = c->shared[n];
            const ptx_variable *d = ptx_program_shared_definition(r->program, v);
            if (v->unsized) {
                if (v->align > dynamic_align) dynamic_align = v->align;
                continue;
            }
            if (!has_variable(kernel, d)) {
                if (end > (1u << 28) || d->size > (1u << 28)) {
                    kernel->refusal = "it uses more shared memory than a block can have";
                    return true;
                }
                end = align_up((uint32_t)end, d->align);
                kernel->shared[kernel->shared_count++] = (shared_symbol){ d, (uint32_t)end };
                end += d->size;
            }
            if (v == d || has_variable(kernel, v)) continue;
            for (uint32_t s = 0; s < kernel->shared_count; s++)
                if (kernel->shared[s].variable == d) {
                    kernel->shared[kernel->shared_count++] =
                        (shared_symbol){ v, kernel->shared[s].offset };
                    break;
                }
        }
    }
    kernel->static_shared = (uint32_t)end - SHARED_RESERVED;
    kernel->shared_end = align_up((uint32_t)end, dynamic_align);
    for (uint32_t k = 0; k < r->count; k++) {
        const code *c = &r->program->codes[r->order[k]];
        for (uint32_t n = 0; n < c->shared_count; n++)
            if (c->shared[n]->unsized && !has_variable(kernel, c->shared[n]))
                kernel->shared[kernel->shared_count++] =
                    (shared_symbol){ c->shared[n], kernel->shared_end };
    }
    return true;
}

static bool lay_out_params(ptx_program *program, ptx_kernel *kernel)
{
    const ptx_function *f = kernel->code->source;
    kernel->param_offsets =
        gpul__arena_alloc(&program->arena, (f->param_count + 1) * sizeof(uint32_t));
    if (!kernel->param_offsets) return false;
    for (uint32_t k = 0; k < f->param_count; k++) {
        kernel->param_offsets[k] = align_up(kernel->param_size, f->params[k].align);
        kernel->param_size = kernel->param_offsets[k] + (uint32_t)f->params[k].size;
    }
    return true;
}

static bool make_kernel(ptx_program *program, ptx_kernel *kernel, reach *r)
{
    r->kernel = kernel;
    r->count = 0;
    memset(r->seen, 0, program->code_count);
    memset(r->state, 0, program->code_count);
    reach_all(r);
    for (uint32_t k = 0; k < r->count; k++) {
        const code *c = &program->codes[r->order[k]];
        kernel->reads_workspace |= c->reads_workspace;
        kernel->prints |= c->prints;
        if (c->peak_registers > kernel->registers) kernel->registers = c->peak_registers;
        if (c->refusal && !kernel->refusal) kernel->refusal = c->refusal;
    }
    kernel->local = deepest(r, kernel->code, 0);
    return lay_out_params(program, kernel) && lay_out_shared(r);
}

bool ptx_make_kernels(ptx_program *program)
{
    size_t count = 0;
    for (size_t k = 0; k < program->code_count; k++) count += program->codes[k].source->is_entry;
    program->kernels = gpul__arena_alloc(&program->arena, (count + 1) * sizeof *program->kernels);
    size_t room = program->code_count + 1;
    reach r = { .program = program };
    r.seen = gpul__calloc(room, sizeof *r.seen);
    r.order = gpul__calloc(room, sizeof *r.order);
    r.state = gpul__calloc(room, sizeof *r.state);
    r.depth = gpul__calloc(room, sizeof *r.depth);
    bool ok = program->kernels && r.seen && r.order && r.state && r.depth;
    for (size_t k = 0; ok && k < program->code_count; k++) {
        if (!program->codes[k].source->is_entry) continue;
        ptx_kernel *kernel = &program->kernels[program->kernel_count++];
        *kernel = (ptx_kernel){ .code = &program->codes[k], .program = program };
        ok = make_kernel(program, kernel, &r);
    }
    gpul__free(r.seen);
    gpul__free(r.order);
    gpul__free(r.state);
    gpul__free(r.depth);
    return ok;
}
