/* Functions that PTX calls and the device provides: vprintf, __assertfail, malloc, free.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ptx/exec/block.h"

builtin ptx_builtin_named(const char *name)
{
    static const struct {
        const char *name;
        builtin which;
    } known[] = { { "vprintf", BUILTIN_PRINTF },
                  { "__assertfail", BUILTIN_ASSERT },
                  { "malloc", BUILTIN_MALLOC },
                  { "free", BUILTIN_FREE } };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(known[k].name, name)) return known[k].which;
    return BUILTIN_NONE;
}

bool ptx_read_string(warp *w, const insn *i, unsigned lane, uint64_t address, gpul__str *out)
{
    enum { LIMIT = 1 << 20 };
    for (uint64_t at = address; at - address < LIMIT; at++) {
        char c;
        if (!ptx_read_lane(w, i, lane, at, &c, 1)) return false;
        if (!c) break;
        gpul__str_addn(out, &c, 1);
    }
    return true;
}

static void print(warp *w, const insn *i, const call_info *info)
{
    gpul__str text = { 0 };
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t format = ptx_call_argument(w, info, 0, l);
        uint64_t arguments = ptx_call_argument(w, info, 1, l);
        text.length = 0;
        int count = ptx_format(w, i, (unsigned)l, format, arguments, &text);
        if (!(w->live >> l & 1)) continue;
        if (text.failed) ptx_fault_launch(w->block->launch, PTX_FAULT_OUT_OF_MEMORY);
        else if (text.length) ptx_print(w->block, text.text, text.length);
        ptx_call_result(w, info, l, (uint64_t)(int64_t)count);
    }
    gpul__str_free(&text);
}

/* message, file, line, function, size of a character */
static void assertion(warp *w, const insn *i, const call_info *info)
{
    gpul__str text = { 0 };
    while (w->mask) {
        unsigned l = (unsigned)__builtin_ctz(w->mask);
        gpul__str parts[3] = { { 0 }, { 0 }, { 0 } };
        bool read = true;
        for (uint32_t k = 0; k < 3 && read; k++) {
            uint64_t address = ptx_call_argument(w, info, k == 2 ? 3 : k, (int)l);
            if (address) read = ptx_read_string(w, i, l, address, &parts[k]);
        }
        if (read) {
            uint32_t line = (uint32_t)ptx_call_argument(w, info, 2, (int)l);
            text.length = 0;
            gpul__str_printf(&text, "%s:%u: %s: assertion `%s` failed", gpul__str_text(&parts[1]),
                             line, gpul__str_text(&parts[2]), gpul__str_text(&parts[0]));
            ptx_fault_assert(w, i, l, gpul__str_text(&text));
        }
        for (int k = 0; k < 3; k++) gpul__str_free(&parts[k]);
    }
    gpul__str_free(&text);
}

static void allocate(warp *w, const call_info *info)
{
    const launch *l = w->block->launch;
    uint64_t limit = l->grid->heap_size ? l->grid->heap_size : (uint64_t)8 << 20;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t size = ptx_call_argument(w, info, 0, lane);
        ptx_call_result(w, info, lane, ptx_memory_heap_alloc(l->memory, size, limit));
    }
}

static void release(warp *w, const insn *i, const call_info *info)
{
    worker *own = w->block->worker;
    uint64_t addresses[WARP_LANES];
    uint32_t bad = 0;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        addresses[l] = ptx_call_argument(w, info, 0, l);
        if (!addresses[l]) continue;
        ptx_allocation found;
        bool is_heap = ptx_memory_find(w->block->launch->memory, addresses[l], &found) &&
                       found.kind == PTX_MEMORY_HEAP;
        if (!is_heap || ptx_memory_free(w->block->launch->memory, addresses[l]) != PTX_FREED)
            bad |= 1u << l;
    }
    /* What was accessible a moment ago may be so no longer. */
    memset(own->ranges, 0xff, own->range_count * sizeof *own->ranges);
    fault_access access = { "frees", 0, PTX_SPACE_GLOBAL, addresses };
    if (bad) ptx_fault(w, i, bad, PTX_FAULT_INVALID_FREE, &access, NULL);
}

void ptx_builtin_call(warp *w, const insn *i)
{
    const call_info *info = &w->frame->code->calls[i->extra];
    switch (info->builtin) {
    case BUILTIN_PRINTF: print(w, i, info); break;
    case BUILTIN_ASSERT: assertion(w, i, info); break;
    case BUILTIN_MALLOC: allocate(w, info); break;
    case BUILTIN_FREE: release(w, i, info); break;
    case BUILTIN_NONE: break;
    }
}
