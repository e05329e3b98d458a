/* The ring of recent launches.  SPDX-License-Identifier: MIT */
#include "core/launch_ring.h"

#include <string.h>

#include "base/alloc.h"
#include "core/launch_shape.h"

#define RELAXED memory_order_relaxed

static gpul__launch_slot *slot_of(gpul__ring *ring, uint64_t number)
{
    return &ring->slots[number % GPUL__RING_SLOTS];
}

static size_t place_of(const char *file)
{
    uintptr_t bits = (uintptr_t)file;
    return (bits >> 4 ^ bits >> 10) % GPUL__RING_FILES;
}

/* A name that is met for the first time, or whose place another one took: looked for among all, then
 * copied.  Two threads may copy the same name; both copies stay. */
static __attribute__((noinline)) const char *keep_slowly(gpul__ring *ring, const char *file)
{
    gpul__kept_file *kept = atomic_load_explicit(&ring->all_files, memory_order_acquire);
    while (kept && !(kept->key == file && strcmp(kept->text, file) == 0)) kept = kept->next;
    if (!kept) {
        size_t size = strlen(file) + 1;
        kept = gpul__malloc(sizeof *kept + size);
        if (!kept) return NULL;
        kept->key = file;
        memcpy(kept->text, file, size);
        gpul__kept_file *head = atomic_load_explicit(&ring->all_files, RELAXED);
        do kept->next = head;
        while (!atomic_compare_exchange_weak(&ring->all_files, &head, kept));
    }
    atomic_store_explicit(&ring->files[place_of(file)], kept, memory_order_release);
    return kept->text;
}

const char *gpul__ring_keep_file(gpul__ring *ring, const char *file)
{
    if (!file) return NULL;
    gpul__kept_file *kept =
        atomic_load_explicit(&ring->files[place_of(file)], memory_order_acquire);
    if (kept && kept->key == file && strcmp(kept->text, file) == 0) return kept->text;
    return keep_slowly(ring, file);
}

void gpul__ring_free(gpul__ring *ring)
{
    gpul__kept_file *kept = atomic_load_explicit(&ring->all_files, memory_order_acquire);
    while (kept) {
        gpul__kept_file *next = kept->next;
        gpul__free(kept);
        kept = next;
    }
}

void gpul__ring_lose(gpul__ring *ring, gpul__launch_slot *slot)
{
    uint64_t stream = atomic_load_explicit(&slot->stream, RELAXED);
    if (atomic_load_explicit(&ring->lost, RELAXED) &&
        atomic_load_explicit(&ring->lost_stream, RELAXED) != stream)
        stream = GPUL__EVERY_STREAM;
    atomic_store_explicit(&ring->lost_stream, stream, RELAXED);
    atomic_store_explicit(&ring->lost, 1, RELAXED);
}

uint64_t gpul__ring_enter(gpul__ring *ring, const char *kernel, uint64_t stream,
                          const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                          const char *file, int line)
{
    const char *kept = gpul__ring_keep_file(ring, file);
    uint64_t number = atomic_fetch_add_explicit(&ring->last, 1, RELAXED) + 1;
    gpul__launch_slot *slot = slot_of(ring, number);
    if (number > GPUL__RING_SLOTS && !atomic_load_explicit(&slot->finished, RELAXED))
        gpul__ring_lose(ring, slot);
    atomic_store_explicit(&slot->number, 0, RELAXED);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->stream, stream, RELAXED);
    atomic_store_explicit(&slot->kernel, kernel, RELAXED);
    atomic_store_explicit(&slot->file, kept, RELAXED);
    atomic_store_explicit(&slot->grid_xy, (uint64_t)grid[1] << 32 | grid[0], RELAXED);
    atomic_store_explicit(&slot->grid_z_shared, (uint64_t)shared << 32 | grid[2], RELAXED);
    atomic_store_explicit(&slot->block,
                          (uint64_t)block[2] << 42 | (uint64_t)block[1] << 21 | block[0], RELAXED);
    atomic_store_explicit(&slot->line, (uint32_t)line, RELAXED);
    atomic_store_explicit(&slot->shape, NULL, RELAXED);
    atomic_store_explicit(&slot->submitted, 0, RELAXED);
    atomic_store_explicit(&slot->native, 0, RELAXED);
    atomic_store_explicit(&slot->finished, 0, RELAXED);
    atomic_store_explicit(&slot->number, number, memory_order_release);
    return number;
}

void gpul__ring_withdraw(gpul__ring *ring, uint64_t number)
{
    gpul__launch_slot *slot = slot_of(ring, number);
    if (atomic_load_explicit(&slot->number, memory_order_acquire) == number)
        atomic_store_explicit(&slot->finished, 1, RELAXED);
}

static uint64_t oldest(uint64_t last)
{
    return last > GPUL__RING_SLOTS ? last - GPUL__RING_SLOTS + 1 : 1;
}

static bool covered(gpul__launch_slot *slot, uint64_t mark, uint64_t stream)
{
    uint64_t submitted = atomic_load_explicit(&slot->submitted, memory_order_acquire);
    return submitted && submitted <= mark &&
           (stream == GPUL__EVERY_STREAM || atomic_load_explicit(&slot->stream, RELAXED) == stream);
}

void gpul__ring_finished(gpul__ring *ring, uint64_t mark, uint64_t stream)
{
    uint64_t last = atomic_load_explicit(&ring->last, memory_order_acquire);
    uint64_t settled = atomic_load_explicit(&ring->settled, RELAXED), first = oldest(last);
    if (first <= settled) first = settled + 1;
    bool all = true;
    for (uint64_t n = first; n <= last; n++) {
        gpul__launch_slot *slot = slot_of(ring, n);
        bool here = atomic_load_explicit(&slot->number, memory_order_acquire) == n;
        if (here && covered(slot, mark, stream)) atomic_store_explicit(&slot->finished, 1, RELAXED);
        all = all && here && atomic_load_explicit(&slot->finished, RELAXED);
        if (all) atomic_store_explicit(&ring->settled, n, RELAXED);
    }
    if (stream == GPUL__EVERY_STREAM || atomic_load_explicit(&ring->lost_stream, RELAXED) == stream)
        atomic_store_explicit(&ring->lost, 0, RELAXED);
}

static void read_fields(gpul__launch_slot *slot, gpul__launch_record *out)
{
    out->kernel = atomic_load_explicit(&slot->kernel, RELAXED);
    out->file = atomic_load_explicit(&slot->file, RELAXED);
    out->line = atomic_load_explicit(&slot->line, RELAXED);
    uint64_t grid_xy = atomic_load_explicit(&slot->grid_xy, RELAXED);
    uint64_t grid_z_shared = atomic_load_explicit(&slot->grid_z_shared, RELAXED);
    uint64_t block = atomic_load_explicit(&slot->block, RELAXED);
    out->grid[0] = (uint32_t)grid_xy;
    out->grid[1] = (uint32_t)(grid_xy >> 32);
    out->grid[2] = (uint32_t)grid_z_shared;
    out->shared = (uint32_t)(grid_z_shared >> 32);
    for (int i = 0; i < 3; i++) out->block[i] = (uint32_t)(block >> 21 * i & 0x1fffff);
}

static void read_shape(const gpul__shape *shape, gpul__launch_record *out)
{
    out->kernel = shape->kernel;
    out->file = shape->file;
    out->line = (uint32_t)shape->opts.caller_line;
    memcpy(out->grid, shape->grid, sizeof out->grid);
    memcpy(out->block, shape->block, sizeof out->block);
    out->shared = shape->shared;
}

/* False when the slot is being written, holds another launch, or the launch has finished. */
static bool read_slot(gpul__launch_slot *slot, uint64_t number, gpul__launch_record *out)
{
    if (atomic_load_explicit(&slot->number, memory_order_acquire) != number) return false;
    if (atomic_load_explicit(&slot->finished, RELAXED)) return false;
    *out = (gpul__launch_record){ .number = number };
    out->native = atomic_load_explicit(&slot->native, RELAXED);
    out->stream = atomic_load_explicit(&slot->stream, RELAXED);
    const gpul__shape *shape = atomic_load_explicit(&slot->shape, RELAXED);
    if (shape) read_shape(shape, out);
    else read_fields(slot, out);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->number, RELAXED) == number;
}

size_t gpul__ring_pending(gpul__ring *ring, gpul__launch_record *out, size_t room, bool *lost)
{
    uint64_t last = atomic_load_explicit(&ring->last, memory_order_acquire), first = oldest(last);
    size_t count = 0;
    *lost = atomic_load_explicit(&ring->lost, RELAXED);
    for (uint64_t n = last; n >= first && count < room; n--)
        if (read_slot(slot_of(ring, n), n, &out[count])) count++;
    return count;
}
