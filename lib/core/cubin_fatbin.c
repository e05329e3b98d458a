/* Reading fatbins: a list of PTX and CUBIN forms of one module.  SPDX-License-Identifier: MIT */
#include "core/cubin.h"

#include <string.h>

struct head {
    uint32_t magic;
    uint16_t version, head_size;
    uint64_t size; /* of what follows */
};

struct entry {
    uint16_t kind, version;
    uint32_t head_size;
    uint64_t size; /* of the form, padded */
    uint32_t compressed_size, options_offset;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags;
};

enum { KIND_PTX = 1, KIND_CUBIN = 2, ENTRIES = 256 };
#define COMPRESSED_FLAGS 0xa000u /* LZ4 0x2000, zstd 0x8000 */

gpul__read gpul__fatbin_read(gpul__fat_entry **entries, size_t *count, gpul__arena *arena,
                             const void *data, size_t size, uint64_t *whole_size)
{
    struct head head;
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
        struct entry entry;
        if (end - at < sizeof entry) return GPUL__READ_CUT;
        memcpy(&entry, bytes + at, sizeof entry);
        if (entry.head_size < sizeof entry || entry.head_size > end - at ||
            entry.size > end - at - entry.head_size)
            return GPUL__READ_CUT;
        const unsigned char *form = bytes + at + entry.head_size;
        uint64_t length = entry.compressed_size && entry.compressed_size <= entry.size
                              ? entry.compressed_size
                              : entry.size;
        /* PTX is padded with NULs. */
        if (entry.kind == KIND_PTX && !(entry.flags & COMPRESSED_FLAGS))
            length = strnlen((const char *)form, length);
        found[(*count)++] = (gpul__fat_entry){
            .format = entry.kind == KIND_PTX     ? GPUL_IMAGE_PTX
                      : entry.kind == KIND_CUBIN ? GPUL_IMAGE_CUBIN
                                                 : GPUL_IMAGE_AUTO,
            .arch = { .number = (int)(entry.arch & 0xffff), .is_virtual = entry.kind == KIND_PTX },
            .compressed = (entry.flags & COMPRESSED_FLAGS) != 0,
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
