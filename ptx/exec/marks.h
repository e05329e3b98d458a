/* Which bytes of device memory have been written: one bit for each byte of the arena.  Kept when the memory
 * was created with `track`.  Bits are changed by whoever writes the bytes, without a lock: bytes that
 * two threads write at the same time get their bits all the same.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_MARKS_H
#define PTX_EXEC_MARKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct marks {
    uint8_t *bits;  /* NULL: nothing is kept, and everything counts as written */
    uint64_t start; /* the address of the first byte */
    uint64_t size;  /* bytes of memory; what lies outside counts as written */
} marks;

/* The part of [address, address + size) that has bits; false: none. */
static inline bool marks_clip(const marks *m, uint64_t address, uint64_t size, uint64_t *first)
{
    *first = address - m->start;
    return m->bits && *first < m->size && size <= m->size - *first;
}

static inline bool marks_bit(const marks *m, uint64_t at)
{
    return __atomic_load_n(&m->bits[at >> 3], __ATOMIC_RELAXED) >> (at & 7) & 1;
}

/* True when all of `size` bytes have been written. */
static inline bool marks_all(const marks *m, uint64_t address, uint64_t size)
{
    uint64_t at;
    if (!marks_clip(m, address, size, &at)) return true;
    while (size) {
        /* The arena is followed by 8 spare bytes of bits. */
        uint64_t word, part = 64 - (at & 7);
        if (part > size) part = size;
        memcpy(&word, m->bits + (at >> 3), sizeof word);
        word = ~word >> (at & 7);
        if (part < 64) word &= ((uint64_t)1 << part) - 1;
        if (word) return false;
        at += part;
        size -= part;
    }
    return true;
}

void marks_set(const marks *m, uint64_t address, uint64_t size, bool written);
/* As the bytes are copied, so are their bits. */
void marks_copy(const marks *m, uint64_t to, uint64_t from, uint64_t size);

#endif
