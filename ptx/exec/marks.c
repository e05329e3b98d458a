/* Setting, clearing and copying the bits of written memory.  SPDX-License-Identifier: MIT */
#include "ptx/exec/marks.h"

static void change_bits(uint8_t *at, uint8_t bits, bool written)
{
    if (written) __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
    else __atomic_fetch_and(at, (uint8_t)~bits, __ATOMIC_RELAXED);
}

void marks_set(const marks *m, uint64_t address, uint64_t size, bool written)
{
    uint64_t at;
    if (!size || !marks_clip(m, address, size, &at)) return;
    uint64_t end = at + size, first = (at + 7) >> 3, last = end >> 3;
    if (first > last) {
        change_bits(m->bits + last, (uint8_t)(((1u << size) - 1) << (at & 7)), written);
        return;
    }
    if (at & 7) change_bits(m->bits + (at >> 3), (uint8_t)(0xffu << (at & 7)), written);
    memset(m->bits + first, written ? 0xff : 0, last - first);
    if (end & 7) change_bits(m->bits + last, (uint8_t)((1u << (end & 7)) - 1), written);
}

void marks_copy(const marks *m, uint64_t to, uint64_t from, uint64_t size)
{
    uint64_t target, source;
    if (!marks_clip(m, to, size, &target)) return;
    if (!marks_clip(m, from, size, &source) || marks_all(m, from, size)) {
        marks_set(m, to, size, true);
        return;
    }
    bool backwards = to > from; /* the stretches may overlap */
    for (uint64_t k = 0; k < size; k++) {
        uint64_t n = backwards ? size - 1 - k : k;
        change_bits(m->bits + ((target + n) >> 3), (uint8_t)(1u << ((target + n) & 7)),
                    marks_bit(m, source + n));
    }
}
