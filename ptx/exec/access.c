/* Memory access lane by lane: the path behind the fast handlers, where faults are found, and reading
 * and writing for built-in functions.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/memory_table.h"

static const struct {
    uint64_t window;
    ptx_space space;
} windows[MEMORY_SPACES] = {
    [MEMORY_SHARED] = { WINDOW_SHARED, PTX_SPACE_SHARED },
    [MEMORY_LOCAL] = { WINDOW_LOCAL, PTX_SPACE_LOCAL },
    [MEMORY_PARAM] = { WINDOW_PARAM, PTX_SPACE_PARAM },
};

static memory_space space_of(uint64_t address)
{
    for (memory_space s = MEMORY_SHARED; s <= MEMORY_PARAM; s++)
        if (address - windows[s].window < WINDOW_SIZE) return s;
    return MEMORY_GLOBAL;
}

uint32_t ptx_lanes_in_space(const uint64_t *addresses, uint32_t lanes, memory_space space,
                            uint64_t *offsets)
{
    uint32_t found = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (space_of(addresses[l]) != space) continue;
        found |= 1u << l;
        offsets[l] = addresses[l] - windows[space].window;
    }
    return found;
}

/* ------------------------------------------------------------------ faults */

static ptx_fault_kind kind_of(const warp *w, memory_space space, uint64_t address, uint32_t size)
{
    if (address & (size - 1)) return PTX_FAULT_MISALIGNED;
    if (space == MEMORY_PARAM)
        return address < w->block->launch->kernel->param_size ? PTX_FAULT_READ_ONLY
                                                              : PTX_FAULT_OUT_OF_BOUNDS;
    if (space != MEMORY_GLOBAL) return PTX_FAULT_OUT_OF_BOUNDS;
    if (space_of(address) != MEMORY_GLOBAL) return PTX_FAULT_ADDRESS_SPACE;
    ptx_allocation nearest;
    bool has_nearest;
    return ptx_memory_explain(w->block->launch->memory, address, size, &nearest, &has_nearest);
}

void ptx_fault_address(warp *w, const insn *i, uint32_t lanes, memory_space space, uint32_t size,
                       const char *action, const uint64_t *addresses)
{
    fault_access access = { action, size, PTX_SPACE_GLOBAL, addresses };
    if (space != MEMORY_GLOBAL) access.space = windows[space].space;
    while (lanes) {
        unsigned first = (unsigned)__builtin_ctz(lanes);
        ptx_fault_kind kind = kind_of(w, space, addresses[first], size);
        uint32_t same = 0;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            if (kind_of(w, space, addresses[l], size) == kind) same |= 1u << l;
        }
        ptx_fault(w, i, same, kind, &access, NULL);
        lanes &= ~same;
    }
}

/* ------------------------------------------------------------------ addresses of many lanes */

static bool resolve_one(warp *w, const insn *i, memory_space space, uint64_t address, uint32_t size,
                        bool writes, uint64_t *host)
{
    const block *b = w->block;
    if (address & (size - 1)) return false;
    if (space == MEMORY_SHARED || space == MEMORY_PARAM) {
        uint32_t limit = space == MEMORY_SHARED ? b->shared_size : b->launch->kernel->param_size;
        if (address >= limit || size > limit - address || (space == MEMORY_PARAM && writes))
            return false;
        *host = address + (uint64_t)(uintptr_t)(space == MEMORY_SHARED ? b->shared : b->params);
        return true;
    }
    range *cached = &b->ranges[i->extra];
    if (address < cached->lo || address > cached->hi - size) {
        range found;
        if (!ptx_memory_lookup(b->launch->memory, address, size, writes, &found)) return false;
        *cached = found;
    }
    *host = address + cached->bias;
    return true;
}

uint32_t ptx_resolve(warp *w, const insn *i, memory_space space, const uint64_t *addresses,
                     uint32_t lanes, uint32_t size, bool writes, const char *action, uint64_t *host)
{
    uint32_t bad = 0;
    if (space == MEMORY_LOCAL) {
        fault_access access = { action, size, PTX_SPACE_LOCAL, addresses };
        ptx_fault(w, i, lanes, PTX_FAULT_ADDRESS_SPACE, &access, NULL);
        return 0;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (!resolve_one(w, i, space, addresses[l], size, writes, &host[l])) bad |= 1u << l;
    }
    if (bad) ptx_fault_address(w, i, bad, space, size, action, addresses);
    return lanes & ~bad;
}

/* ------------------------------------------------------------------ one lane, any address */

/* Copies byte by byte where memory is laid out by lanes. */
static bool copy_local(warp *w, unsigned lane, uint64_t offset, void *buffer, uint32_t size,
                       bool writes)
{
    if (offset >= w->local_top || size > w->local_top - offset) return false;
    uint8_t *bytes = buffer;
    for (uint32_t k = 0; k < size; k++) {
        uint64_t at = offset + k;
        uint8_t *place = w->local + (at >> 2) * (4 * WARP_LANES) + 4 * lane + (at & 3);
        if (writes) *place = bytes[k];
        else bytes[k] = *place;
    }
    return true;
}

static bool copy_lane(warp *w, const insn *i, unsigned lane, uint64_t address, void *buffer,
                      uint32_t size, bool writes)
{
    const block *b = w->block;
    memory_space space = space_of(address);
    uint64_t offset = address - windows[space].window;
    uint8_t *host = NULL;
    if (space == MEMORY_LOCAL) {
        if (copy_local(w, lane, offset, buffer, size, writes)) return true;
    } else if (space == MEMORY_SHARED) {
        if (offset < b->shared_size && size <= b->shared_size - offset) host = b->shared + offset;
    } else if (space == MEMORY_GLOBAL) {
        range found;
        if (ptx_memory_lookup(b->launch->memory, address, size, writes, &found))
            host = (uint8_t *)(uintptr_t)(address + found.bias);
    } else if (!writes) {
        uint32_t limit = b->launch->kernel->param_size;
        if (offset < limit && size <= limit - offset) {
            memcpy(buffer, b->params + offset, size);
            return true;
        }
    }
    if (host) {
        if (writes) memcpy(host, buffer, size);
        else memcpy(buffer, host, size);
        return true;
    }
    uint64_t addresses[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) addresses[l] = offset;
    ptx_fault_address(w, i, 1u << lane, space, 1, writes ? "writes" : "reads", addresses);
    return false;
}

bool ptx_read_lane(warp *w, const insn *i, unsigned lane, uint64_t address, void *out,
                   uint32_t size)
{
    return copy_lane(w, i, lane, address, out, size, false);
}

bool ptx_write_lane(warp *w, const insn *i, unsigned lane, uint64_t address, const void *in,
                    uint32_t size)
{
    return copy_lane(w, i, lane, address, (void *)(uintptr_t)in, size, true);
}
