/* Reading fatbins: a list of PTX and CUBIN forms of one module.  SPDX-License-Identifier: MIT */
#include "core/cubin.h"

#include <string.h>

enum {
    OLD_HEAD = 48, /* the shortest head of an entry */
    ENTRIES = 256,
    COMPRESSED = GPUL__FATBIN_LZ4 | GPUL__FATBIN_ZSTD
};

gpul__read gpul__fatbin_read(gpul__fat_entry **entries, size_t *count, gpul__arena *arena,
                             const void *data, size_t size, uint64_t *whole_size)
{
    gpul__fatbin_head head;
    const unsigned char *bytes = data;
    *entries = NULL;
    *count = 0;
    if (whole_size) *whole_size = 0;
    if (size < sizeof head) return size < 4 ? GPUL__READ_FOREIGN : GPUL__READ_CUT;
    memcpy(&head, data, sizeof head);
    if (head.magic != GPUL__FATBIN_MAGIC) return GPUL__READ_FOREIGN;
    if (head.head_size < sizeof head || head.size > UINT64_MAX - head.head_size)
        return GPUL__READ_CUT;
    uint64_t end = head.size + head.head_size;
    if (whole_size) *whole_size = end;
    if (end > size) return GPUL__READ_CUT;

    gpul__fat_entry found[ENTRIES];
    uint64_t at = head.head_size;
    while (at < end && *count < ENTRIES) {
        gpul__fatbin_entry entry;
        if (end - at < OLD_HEAD) return GPUL__READ_CUT;
        memcpy(&entry, bytes + at, OLD_HEAD);
        if (entry.head_size < OLD_HEAD || entry.head_size > end - at ||
            entry.size > end - at - entry.head_size)
            return GPUL__READ_CUT;
        const unsigned char *form = bytes + at + entry.head_size;
        uint64_t length = entry.compressed_size && entry.compressed_size <= entry.size
                              ? entry.compressed_size
                              : entry.size;
        /* PTX is padded with NULs. */
        if (entry.kind == GPUL__FATBIN_PTX && !(entry.flags & COMPRESSED))
            length = strnlen((const char *)form, length);
        found[(*count)++] = (gpul__fat_entry){
            .format = entry.kind == GPUL__FATBIN_PTX     ? GPUL_IMAGE_PTX
                      : entry.kind == GPUL__FATBIN_CUBIN ? GPUL_IMAGE_CUBIN
                                                         : GPUL_IMAGE_AUTO,
            .arch = { .number = (int)(entry.arch & 0xffff),
                      .suffix = entry.flags & GPUL__FATBIN_ARCH_A   ? 'a'
                                : entry.flags & GPUL__FATBIN_ARCH_F ? 'f'
                                                                    : 0,
                      .is_virtual = entry.kind == GPUL__FATBIN_PTX },
            .compressed = (entry.flags & COMPRESSED) != 0,
            .data = form,
            .size = length,
            .kind = entry.kind,
        };
        at += entry.head_size + entry.size;
    }
    *entries = gpul__arena_alloc(arena, (*count + 1) * sizeof **entries);
    if (!*entries) return GPUL__READ_NO_MEMORY;
    memcpy(*entries, found, *count * sizeof *found);
    return GPUL__READ_OK;
}
