/* The last launches of a device, so that a fault that comes late can say which of them may be to blame.
 * Lock-free: a launch writes one slot, and only a failing call reads them.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_LAUNCH_RING_H
#define GPUL_CORE_LAUNCH_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUL__EVERY_STREAM UINT64_MAX

enum { GPUL__RING_SLOTS = 64, GPUL__RING_FILES = 16 };

/* A caller's file name, kept for the life of the ring.  `key` is the caller's own pointer, only to be
 * compared. */
typedef struct gpul__kept_file {
    const char *key;
    struct gpul__kept_file *next;
    char text[];
} gpul__kept_file;

/* One launch.  `number` is zero while the slot is being written; launches count from 1. */
typedef struct gpul__launch_slot {
    atomic_uint_least64_t number;
    atomic_uint_least64_t
        submitted;                /* marks from this one on cover it; 0: not with the driver yet */
    atomic_uint_least64_t native; /* the CPU device's own number of it; 0 elsewhere */
    atomic_uint_least64_t stream; /* gpul_stream's id; 0: the device's own */
    _Atomic(const char *) kernel; /* lives as long as the device */
    _Atomic(const char *) file;   /* of the caller; kept by the ring; NULL: not known */
    atomic_uint_least64_t grid_xy, grid_z_shared, block; /* packed, so that three stores do */
    atomic_uint_least32_t line, finished;
    /* Where it is not NULL it tells kernel, file, line, grid, block and shared memory. */
    _Atomic(const struct gpul__shape *) shape;
    unsigned char apart[40]; /* 128 bytes in all: two launches touch one cache line seldom */
} gpul__launch_slot;
_Static_assert(sizeof(gpul__launch_slot) == 128, "a slot is found by a shift");

typedef struct gpul__ring {
    atomic_uint_least64_t last;    /* number of the last launch that was entered */
    atomic_uint_least64_t marks;   /* how many marks were set */
    atomic_uint_least64_t settled; /* every launch up to this one that is still here has finished */
    /* Launches that had not finished when their slot was needed: whether there are any, and their
     * stream (GPUL__EVERY_STREAM when they had several). */
    atomic_uint_least32_t lost;
    atomic_uint_least64_t lost_stream;
    gpul__launch_slot slots[GPUL__RING_SLOTS];
    /* Callers' file names: found by pointer and compared, so that a launch copies none twice. */
    _Atomic(gpul__kept_file *) files[GPUL__RING_FILES];
    _Atomic(gpul__kept_file *) all_files;
} gpul__ring;

/* A launch as a reader gets it. */
typedef struct gpul__launch_record {
    uint64_t number, native, stream;
    const char *kernel, *file; /* file: NULL when the caller is not known */
    uint32_t grid[3], block[3], shared, line;
} gpul__launch_record;

/* Enters a launch and returns its number.  `file` may be NULL. */
uint64_t gpul__ring_enter(gpul__ring *ring, const char *kernel, uint64_t stream,
                          const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                          const char *file, int line);

/* Says that the slot's launch is lost from the ring before it has finished. */
void gpul__ring_lose(gpul__ring *ring, gpul__launch_slot *slot);

/* The same for a launch of a known shape. */
static inline uint64_t gpul__ring_enter_shape(gpul__ring *ring, const struct gpul__shape *shape,
                                              uint64_t stream)
{
    uint64_t number = atomic_fetch_add_explicit(&ring->last, 1, memory_order_relaxed) + 1;
    gpul__launch_slot *slot = &ring->slots[number % GPUL__RING_SLOTS];
    if (__builtin_expect(number > GPUL__RING_SLOTS &&
                             !atomic_load_explicit(&slot->finished, memory_order_relaxed),
                         0))
        gpul__ring_lose(ring, slot);
    atomic_store_explicit(&slot->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->stream, stream, memory_order_relaxed);
    atomic_store_explicit(&slot->shape, shape, memory_order_relaxed);
    atomic_store_explicit(&slot->submitted, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->native, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->number, number, memory_order_release);
    return number;
}

/* A copy of a caller's file name that lives as long as the ring; NULL without one or without memory. */
const char *gpul__ring_keep_file(gpul__ring *ring, const char *file);

/* Frees the kept names. */
void gpul__ring_free(gpul__ring *ring);

/* The driver has taken the launch; `native` is its number there. */
static inline void gpul__ring_submitted(gpul__ring *ring, uint64_t number, uint64_t native)
{
    gpul__launch_slot *slot = &ring->slots[number % GPUL__RING_SLOTS];
    atomic_store_explicit(&slot->native, native, memory_order_relaxed);
    atomic_store_explicit(&slot->submitted, atomic_load(&ring->marks) + 1, memory_order_release);
}

/* The launch did not take place. */
void gpul__ring_withdraw(gpul__ring *ring, uint64_t number);

/* A mark is set before waiting: when the wait has succeeded, the launches that were submitted before
 * the mark have finished, those of the stream or of every one. */
static inline uint64_t gpul__ring_mark(gpul__ring *ring)
{
    return atomic_fetch_add(&ring->marks, 1) + 1;
}
void gpul__ring_finished(gpul__ring *ring, uint64_t mark, uint64_t stream);

/* Copies the launches that are not known to have finished, newest first; returns how many.  *lost says
 * that older ones may be among them that are no longer in the ring. */
size_t gpul__ring_pending(gpul__ring *ring, gpul__launch_record *out, size_t room, bool *lost);

#endif
