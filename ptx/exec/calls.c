/* Calls of functions: frames, arguments and results, and the local memory they stand on.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/block.h"
#include "ptx/exec/shadow.h"

enum { DEPTH_LIMIT = 100000 };

/* ------------------------------------------------------------------ local memory */

bool ptx_local_reserve(warp *w, uint32_t size)
{
    if (size <= w->local_size) return true;
    uint32_t wanted = w->local_size * 2 > size ? w->local_size * 2 : size;
    if (wanted > w->block->launch->stack_limit) wanted = w->block->launch->stack_limit;
    if (wanted < size) return false;
    wanted = (wanted + 15) & ~15u;
    uint8_t *grown = gpul__aligned(64, (size_t)wanted * WARP_LANES);
    if (!grown || !ptx_local_make_marks(w, wanted)) {
        gpul__free(grown);
        return false;
    }
    if (w->local) memcpy(grown, w->local, (size_t)w->local_size * WARP_LANES);
    memset(grown + (size_t)w->local_size * WARP_LANES, 0,
           (size_t)(wanted - w->local_size) * WARP_LANES);
    gpul__free(w->local);
    w->local = grown;
    w->local_size = wanted;
    return true;
}

/* Copies bytes of some lanes from one offset in local memory to another. */
static void copy_local(warp *w, uint32_t to, uint32_t from, uint32_t size, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint8_t *column = w->local + 4 * __builtin_ctz(rest);
        for (uint32_t k = 0; k < size;) {
            uint8_t *d = column + (size_t)((to + k) >> 2) * (4 * WARP_LANES) + ((to + k) & 3);
            uint8_t *s = column + (size_t)((from + k) >> 2) * (4 * WARP_LANES) + ((from + k) & 3);
            if (!((to + k) & 3) && !((from + k) & 3) && size - k >= 4) {
                memcpy(d, s, 4);
                k += 4;
            } else {
                *d = *s;
                k++;
            }
        }
    }
}

/* ------------------------------------------------------------------ values that cross a call */

static void read_slot(const uint8_t *regs, uint32_t slot, operand_kind width, int lane,
                      uint64_t *value)
{
    const void *at = regs + slot;
    if (width == OPERAND_64) *value = ((const uint64_t *)at)[lane];
    else if (width == OPERAND_32) *value = ((const uint32_t *)at)[lane];
    else *value = *(const uint32_t *)at >> lane & 1;
}

static void write_slot(uint8_t *regs, uint32_t slot, operand_kind width, int lane, uint64_t value)
{
    void *at = regs + slot;
    if (width == OPERAND_64) ((uint64_t *)at)[lane] = value;
    else if (width == OPERAND_32) ((uint32_t *)at)[lane] = (uint32_t)value;
    else *(uint32_t *)at = (*(uint32_t *)at & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
}

typedef struct place {
    frame *frame;
    uint32_t where;
    operand_kind width; /* OPERAND_NONE: local memory */
} place;

static void copy_value(warp *w, place to, place from, uint32_t size, uint32_t lanes)
{
    uint32_t to_local = to.frame->local_base + to.where;
    if (w->watched || w->local_marks)
        ptx_watch_copy(w, (flow_place){ to.frame, to.where, (uint8_t)to.width },
                       (flow_place){ from.frame, from.where, (uint8_t)from.width }, size, lanes);
    uint32_t from_local = from.frame->local_base + from.where;
    if (to.width == OPERAND_NONE && from.width == OPERAND_NONE) {
        copy_local(w, to_local, from_local, size, lanes);
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t value = 0;
        if (from.width != OPERAND_NONE) {
            read_slot(from.frame->regs, from.where, from.width, l, &value);
        } else {
            for (uint32_t k = 0; k < size && k < 8; k++) {
                uint32_t at = from_local + k;
                value |=
                    (uint64_t)
                        w->local[(size_t)(at >> 2) * (4 * WARP_LANES) + 4 * (size_t)l + (at & 3)]
                    << 8 * k;
            }
        }
        if (to.width != OPERAND_NONE) {
            write_slot(to.frame->regs, to.where, to.width, l, value);
        } else {
            for (uint32_t k = 0; k < size && k < 8; k++) {
                uint32_t at = to_local + k;
                w->local[(size_t)(at >> 2) * (4 * WARP_LANES) + 4 * (size_t)l + (at & 3)] =
                    (uint8_t)(value >> 8 * k);
            }
        }
    }
}

/* ------------------------------------------------------------------ frames */

static frame *find_frame(const warp *w, const code *callee, uint32_t return_pc)
{
    for (frame *f = w->frame->children; f; f = f->sibling)
        if (f->return_pc == return_pc && f->code == callee) return f;
    return NULL;
}

static frame *new_frame(warp *w, const code *callee)
{
    worker *owner = w->block->worker;
    frame **list = &owner->free_frames[callee->index];
    frame *f = *list;
    if (f) {
        *list = f->next;
        return f;
    }
    size_t head = (sizeof *f + 63) / 64 * 64;
    f = gpul__aligned(64, head + callee->regs_size + 64);
    if (!f) return NULL;
    *f = (frame){ .code = callee, .regs = (uint8_t *)f + head };
    memset(f->regs, 0, callee->regs_size);
    return f;
}

/* The frame in which the lanes run the callee; NULL: they died of a fault. */
static frame *enter(warp *w, const insn *i, const code *callee, uint32_t lanes)
{
    uint32_t return_pc = (uint32_t)(i - w->frame->code->insns) + 1;
    frame *parent = w->frame;
    uint32_t base = parent->local_base + parent->code->local_size;
    frame *f = find_frame(w, callee, return_pc);
    if (!f) {
        uint64_t end = (uint64_t)base + callee->local_size + FRAME_OVERHEAD;
        if (parent->depth >= DEPTH_LIMIT || end > w->block->launch->stack_limit) {
            ptx_fault(w, i, lanes, PTX_FAULT_STACK_OVERFLOW, NULL, NULL);
            return NULL;
        }
        f = ptx_local_reserve(w, (uint32_t)end) ? new_frame(w, callee) : NULL;
        if (!f) {
            ptx_fault_launch(w->block->launch, PTX_FAULT_OUT_OF_MEMORY);
            ptx_exit_lanes(w, lanes);
            return NULL;
        }
        f->parent = parent;
        /* Steps of a jump double where two before were of one length. */
        f->jump =
            parent->depth - parent->jump->depth == parent->jump->depth - parent->jump->jump->depth
                ? parent->jump->jump
                : parent;
        f->return_pc = return_pc;
        f->depth = parent->depth + 1;
        f->local_base = base + FRAME_OVERHEAD;
        f->lanes = 0;
        f->next = w->frames;
        w->frames = f;
        f->children = NULL;
        f->sibling = parent->children;
        parent->children = f;
        ptx_watch_frame(w, f);
        ptx_fill_slots(callee, f->regs, w, f);
    }
    f->call = &parent->code->calls[i->extra];
    f->lanes |= lanes;
    return f;
}

/* Calls a function of the program for some lanes; false: its parameters are not what the call
 * passes. */
static bool call_code(warp *w, const insn *i, const code *callee, uint32_t lanes)
{
    const call_info *info = &w->frame->code->calls[i->extra];
    const ptx_function *source = callee->source;
    if (info->argument_count != source->param_count || info->result_count != source->result_count)
        return false;
    for (uint32_t k = 0; k < info->argument_count; k++)
        if (info->arguments[k].size != callee->params[k].size) return false;
    for (uint32_t k = 0; k < info->result_count; k++)
        if (info->results[k].size != callee->results[k].size) return false;
    frame *caller = w->frame, *f = enter(w, i, callee, lanes);
    if (!f) return true;
    for (uint32_t k = 0; k < info->argument_count; k++) {
        const call_value *v = &info->arguments[k];
        const formal *p = &callee->params[k];
        copy_value(w, (place){ f, p->where, p->width }, (place){ caller, v->outside, v->width },
                   v->size, lanes);
    }
    ptx_split_add(w, f, 0, lanes, false);
    return true;
}

static const code *code_at(const ptx_program *program, uint64_t address)
{
    uint64_t offset = address - WINDOW_CODE;
    if (offset >= WINDOW_SIZE || offset % CODE_STEP || !offset) return NULL;
    uint64_t index = offset / CODE_STEP - 1;
    if (index >= program->code_count) return NULL;
    const code *c = &program->codes[index];
    return c->lowered ? c : NULL;
}

void ptx_enter_call(warp *w, const insn *i)
{
    const call_info *info = &w->frame->code->calls[i->extra];
    if (info->callee) {
        if (!call_code(w, i, info->callee, w->mask))
            ptx_fault(w, i, w->mask, PTX_FAULT_INVALID_CALL, NULL, NULL);
        return;
    }
    /* Lanes with the same target go together. */
    const uint64_t *pointers = (const uint64_t *)(const void *)(w->regs + info->pointer);
    uint32_t left = w->mask;
    while (left) {
        uint64_t address = pointers[__builtin_ctz(left)];
        uint32_t same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            if (pointers[l] == address) same |= 1u << l;
        }
        left &= ~same;
        const code *callee = code_at(w->block->launch->program, address);
        if (!callee || callee->source->is_entry || !call_code(w, i, callee, same)) {
            uint64_t addresses[WARP_LANES];
            for (int l = 0; l < WARP_LANES; l++) addresses[l] = pointers[l];
            fault_access access = { "calls", 0, PTX_SPACE_GENERIC, addresses };
            ptx_fault(w, i, same, PTX_FAULT_INVALID_CALL, &access, NULL);
        }
    }
}

void ptx_leave_call(warp *w, const insn *i)
{
    (void)i;
    frame *f = w->frame, *caller = f->parent;
    const call_info *info = f->call;
    for (uint32_t k = 0; k < info->result_count; k++) {
        const call_value *v = &info->results[k];
        const formal *r = &f->code->results[k];
        copy_value(w, (place){ caller, v->outside, v->width }, (place){ f, r->where, r->width },
                   v->size, w->mask);
    }
    f->lanes &= ~w->mask;
    ptx_split_add(w, caller, f->return_pc, w->mask, false);
    if (!f->lanes) {
        ptx_frame_release(w, f);
        w->frame = w->root;
    }
}

/* ------------------------------------------------------------------ built-in functions */

uint64_t ptx_call_argument(const warp *w, const call_info *info, uint32_t index, int lane)
{
    uint64_t value = 0;
    if (index >= info->argument_count) return 0;
    const call_value *v = &info->arguments[index];
    if (v->width != OPERAND_NONE) {
        read_slot(w->regs, v->outside, v->width, lane, &value);
        return value;
    }
    for (uint32_t k = 0; k < v->size && k < 8; k++) {
        uint32_t at = w->frame->local_base + v->outside + k;
        value |=
            (uint64_t)w->local[(size_t)(at >> 2) * (4 * WARP_LANES) + 4 * (size_t)lane + (at & 3)]
            << 8 * k;
    }
    return value;
}

void ptx_call_result(warp *w, const call_info *info, int lane, uint64_t value)
{
    if (!info->result_count) return;
    const call_value *v = &info->results[0];
    if (v->width == OPERAND_NONE)
        ptx_local_written(w, lane, w->frame->local_base + v->outside, v->size, true);
    else if (w->frame->shadow) write_slot(w->frame->shadow, v->outside, v->width, lane, 0);
    if (v->width != OPERAND_NONE) {
        write_slot(w->regs, v->outside, v->width, lane, value);
        return;
    }
    for (uint32_t k = 0; k < v->size && k < 8; k++) {
        uint32_t at = w->frame->local_base + v->outside + k;
        w->local[(size_t)(at >> 2) * (4 * WARP_LANES) + 4 * (size_t)lane + (at & 3)] =
            (uint8_t)(value >> 8 * k);
    }
}
