/* The ring of recent launches.  SPDX-License-Identifier: MIT */
#include "core/launch_ring.h"

#include <string.h>

#define RELAXED memory_order_relaxed

static gpul__launch_slot *slot_of(gpul__ring *ring, uint64_t number)
{
    return &ring->slots[number % GPUL__RING_SLOTS];
}

/* Only as many words as the name has are written; a longer name keeps its end, after "...". */
static void store_file(gpul__launch_slot *slot, const char *file)
{
    enum { ROOM = GPUL__RING_FILE_WORDS * 8 };
    uint64_t words[GPUL__RING_FILE_WORDS];
    size_t length = file ? strlen(file) : 0, count = length / 8 + 1;
    char *text = (char *)words;
    if (length < ROOM) {
        words[count - 1] = 0;
        if (length) memcpy(text, file, length);
    } else {
        count = GPUL__RING_FILE_WORDS;
        memcpy(text, "...", 3);
        memcpy(text + 3, file + length - (ROOM - 4), ROOM - 3);
    }
    for (size_t i = 0; i < count; i++) atomic_store_explicit(&slot->file[i], words[i], RELAXED);
}

static void remember_lost(gpul__ring *ring, gpul__launch_slot *slot)
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
    uint64_t number = atomic_fetch_add_explicit(&ring->last, 1, RELAXED) + 1;
    gpul__launch_slot *slot = slot_of(ring, number);
    if (number > GPUL__RING_SLOTS && !atomic_load_explicit(&slot->finished, RELAXED))
        remember_lost(ring, slot);
    atomic_store_explicit(&slot->number, 0, RELAXED);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->stream, stream, RELAXED);
    atomic_store_explicit(&slot->kernel, kernel, RELAXED);
    for (int i = 0; i < 3; i++) {
        atomic_store_explicit(&slot->grid[i], grid[i], RELAXED);
        atomic_store_explicit(&slot->block[i], block[i], RELAXED);
    }
    atomic_store_explicit(&slot->shared, shared, RELAXED);
    atomic_store_explicit(&slot->line, (uint32_t)line, RELAXED);
    atomic_store_explicit(&slot->submitted, 0, RELAXED);
    atomic_store_explicit(&slot->native, 0, RELAXED);
    atomic_store_explicit(&slot->finished, 0, RELAXED);
    store_file(slot, file);
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

/* False when the slot is being written, holds another launch, or the launch has finished. */
static bool read_slot(gpul__launch_slot *slot, uint64_t number, gpul__launch_record *out)
{
    if (atomic_load_explicit(&slot->number, memory_order_acquire) != number) return false;
    if (atomic_load_explicit(&slot->finished, RELAXED)) return false;
    uint64_t words[GPUL__RING_FILE_WORDS];
    *out = (gpul__launch_record){ .number = number };
    out->native = atomic_load_explicit(&slot->native, RELAXED);
    out->stream = atomic_load_explicit(&slot->stream, RELAXED);
    out->kernel = atomic_load_explicit(&slot->kernel, RELAXED);
    for (int i = 0; i < 3; i++) {
        out->grid[i] = atomic_load_explicit(&slot->grid[i], RELAXED);
        out->block[i] = atomic_load_explicit(&slot->block[i], RELAXED);
    }
    out->shared = atomic_load_explicit(&slot->shared, RELAXED);
    out->line = atomic_load_explicit(&slot->line, RELAXED);
    for (int i = 0; i < GPUL__RING_FILE_WORDS; i++)
        words[i] = atomic_load_explicit(&slot->file[i], RELAXED);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->number, RELAXED) != number) return false;
    memcpy(out->file, words, sizeof words);
    out->file[sizeof out->file - 1] = 0;
    return true;
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
