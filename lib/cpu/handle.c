/* The table of handles.  A handle is a generation (upper 32 bits) and a slot of the table; the
 * generation of a slot moves on when its handle is freed, so that an old handle never means a new
 * object.  SPDX-License-Identifier: MIT */
#include "cpu/handle.h"

#include "base/alloc.h"

#include <stdint.h>

/* Slots are numbered from here, so that no handle looks like NULL or a special stream. */
enum { FIRST = 0x100, ALIGNMENT_BITS = 4, NO_SLOT = -1 };

struct slot {
    cpu_kind kind;
    uint32_t generation;
    int64_t next_free;
    void *object;
};

static struct slot *slots;
static size_t slot_count, slot_capacity;
static int64_t first_free = NO_SLOT;
/* Survives gpul__cpu_handle_clear, so that generations are never used twice. */
static uint32_t next_generation = 1;

static struct slot *slot_of(const void *handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    uint64_t number = (value & UINT32_MAX) >> ALIGNMENT_BITS;
    if (value % (1u << ALIGNMENT_BITS) != 0 || number < FIRST || number - FIRST >= slot_count)
        return NULL;
    struct slot *slot = &slots[number - FIRST];
    return slot->kind && slot->generation == value >> 32 ? slot : NULL;
}

void *gpul__cpu_handle_new(cpu_kind kind, void *object)
{
    int64_t index = first_free;
    if (index == NO_SLOT) {
        if (slot_count >= (1u << (32 - ALIGNMENT_BITS)) - FIRST ||
            !gpul__grow(&slots, &slot_capacity, slot_count, sizeof *slots))
            return NULL;
        index = (int64_t)slot_count++;
    } else {
        first_free = slots[index].next_free;
    }
    uint32_t generation = next_generation++;
    /* User addresses have 47 or more bits: a generation below 2^15 could be one, an odd one above
     * never is. */
    generation |= 0x80000000u;
    slots[index] = (struct slot){ kind, generation, NO_SLOT, object };
    return (void *)(uintptr_t)((uint64_t)generation << 32 | (uint64_t)(index + FIRST)
                                                                << ALIGNMENT_BITS);
}

void *gpul__cpu_handle_get(cpu_kind kind, const void *handle)
{
    struct slot *slot = slot_of(handle);
    return slot && slot->kind == kind ? slot->object : NULL;
}

void gpul__cpu_handle_drop(const void *handle)
{
    struct slot *slot = slot_of(handle);
    if (!slot) return;
    slot->kind = CPU_NOTHING;
    slot->object = NULL;
    slot->next_free = first_free;
    first_free = slot - slots;
}

void gpul__cpu_handle_clear(void)
{
    gpul__free(slots);
    slots = NULL;
    slot_count = slot_capacity = 0;
    first_free = NO_SLOT;
}
