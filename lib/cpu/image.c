/* Telling images apart by their first bytes.  The API gives no size: PTX ends in NUL, everything else
 * says in its header how long it is.  SPDX-License-Identifier: MIT */
#include "cpu/image.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

#define ELF_MAGIC      "\177ELF"
#define LINK_MAGIC     "GPULINK"
#define FATBIN_MAGIC   0xba55ed50u
#define FATBIN_WRAPPER 0x466243b1u

enum { FATBIN_PTX = 1 };

/* The container that nvcc and fatbinary write: a header, then entries with a header each. */
struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of all entries */
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;            /* of the data, padding included */
    uint32_t compressed_size; /* 0: not compressed */
    uint32_t options_offset;
    uint16_t minor, major;
    uint32_t arch;
};

struct link_header {
    char magic[8];
    uint64_t count;
};

/* ---- PTX text --------------------------------------------------------------------------- */

/* Skips blanks and comments. */
static const char *skip(const char *at, const char *end, unsigned *line)
{
    while (at < end) {
        if (*at == '\n') ++*line;
        if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
            at++;
        } else if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
            while (at < end && *at != '\n') at++;
        } else if (end - at >= 2 && at[0] == '/' && at[1] == '*') {
            for (at += 2; at < end && !(end - at >= 2 && at[0] == '*' && at[1] == '/'); at++)
                if (*at == '\n') ++*line;
            at = end - at >= 2 ? at + 2 : end;
        } else {
            break;
        }
    }
    return at;
}

static const char *read_number(const char *at, const char *end, unsigned *out)
{
    *out = 0;
    for (; at < end && *at >= '0' && *at <= '9' && *out < 1000; at++)
        *out = *out * 10 + (unsigned)(*at - '0');
    return at;
}

bool gpul__cpu_ptx_version(const char *text, size_t length, unsigned *major, unsigned *minor,
                           unsigned *line)
{
    static const char word[] = ".version";
    const char *end = text + length;
    *major = *minor = 0;
    *line = 1;
    const char *at = skip(text, end, line);
    if ((size_t)(end - at) < sizeof word - 1 || memcmp(at, word, sizeof word - 1) != 0)
        return false;
    at = skip(at + sizeof word - 1, end, line);
    at = read_number(at, end, major);
    if (at < end && *at == '.') read_number(at + 1, end, minor);
    return true;
}

static CUresult add(cpu_image *image, size_t *capacity, const char *text, size_t length)
{
    if (!gpul__grow(&image->texts, capacity, image->count, sizeof *image->texts))
        return CUDA_ERROR_OUT_OF_MEMORY;
    image->texts[image->count++] = (cpu_text){ text, length };
    return CUDA_SUCCESS;
}

/* ---- fat binaries ----------------------------------------------------------------------- */

/* Takes the PTX of the highest architecture that the device can run. */
static CUresult open_fatbin(cpu_image *image, const unsigned char *bytes, unsigned capability)
{
    struct fatbin_header header;
    memcpy(&header, bytes, sizeof header);
    if (header.header_size < sizeof header) return CUDA_ERROR_INVALID_IMAGE;
    const unsigned char *at = bytes + header.header_size, *best = NULL;
    uint64_t left = header.size;
    uint32_t best_arch = 0;
    uint64_t best_size = 0;
    bool compressed = false;
    while (left >= sizeof(struct fatbin_entry)) {
        struct fatbin_entry entry;
        memcpy(&entry, at, sizeof entry);
        if (entry.header_size < sizeof entry || entry.header_size > left ||
            entry.size > left - entry.header_size)
            return CUDA_ERROR_INVALID_IMAGE;
        if (entry.kind == FATBIN_PTX && entry.arch <= capability && entry.arch >= best_arch) {
            compressed = entry.compressed_size != 0;
            best = at + entry.header_size;
            best_arch = entry.arch;
            best_size = entry.size;
        }
        at += entry.header_size + entry.size;
        left -= entry.header_size + entry.size;
    }
    if (best && !compressed) {
        size_t capacity = 0;
        size_t length = strnlen((const char *)best, (size_t)best_size);
        return add(image, &capacity, (const char *)best, length);
    }
    snprintf(image->reason, sizeof image->reason, "%s",
             best ? "the CPU device does not unpack compressed fat binaries: make it with "
                    "--no-compress, or hand over the PTX"
                  : "the CPU device runs PTX, and the fat binary holds none for it");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* ---- linked images ---------------------------------------------------------------------- */

void *gpul__cpu_image_link(const cpu_text *texts, size_t count, size_t *size)
{
    struct link_header header = { LINK_MAGIC, count };
    *size = sizeof header;
    for (size_t i = 0; i < count; i++) *size += sizeof(uint64_t) + texts[i].length + 1;
    char *bytes = gpul__malloc(*size), *at = bytes;
    if (!bytes) return NULL;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    for (size_t i = 0; i < count; i++) {
        uint64_t length = texts[i].length;
        memcpy(at, &length, sizeof length);
        at += sizeof length;
        memcpy(at, texts[i].text, texts[i].length);
        at[length] = 0;
        at += length + 1;
    }
    return bytes;
}

static CUresult open_linked(cpu_image *image, const char *bytes)
{
    struct link_header header;
    memcpy(&header, bytes, sizeof header);
    if (header.count == 0 || header.count > CPU_MAX_TEXTS) return CUDA_ERROR_INVALID_IMAGE;
    const char *at = bytes + sizeof header;
    size_t capacity = 0;
    for (uint64_t i = 0; i < header.count; i++) {
        uint64_t length;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        CUresult result = add(image, &capacity, at, (size_t)length);
        if (result) return result;
        at += length + 1;
    }
    return CUDA_SUCCESS;
}

/* ---- everything ------------------------------------------------------------------------- */

static CUresult open_bytes(cpu_image *image, const void *bytes, unsigned capability)
{
    uint32_t magic = 0;
    unsigned major, minor, line;
    /* Byte by byte: text may end before the magic would. */
    for (size_t i = 0; i < sizeof magic; i++) {
        uint32_t byte = ((const unsigned char *)bytes)[i];
        if (byte == 0) break;
        magic |= byte << (8 * i);
    }
    if (magic == FATBIN_MAGIC) return open_fatbin(image, bytes, capability);
    if (magic == FATBIN_WRAPPER) {
        const void *inner;
        memcpy(&inner, (const char *)bytes + 8, sizeof inner);
        memcpy(&magic, inner, sizeof magic);
        if (magic == FATBIN_MAGIC) return open_fatbin(image, inner, capability);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (strncmp(bytes, ELF_MAGIC, strlen(ELF_MAGIC)) == 0) {
        snprintf(image->reason, sizeof image->reason,
                 "the CPU device runs PTX, and this is machine code of a GPU (CUBIN)");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (strncmp(bytes, LINK_MAGIC, sizeof LINK_MAGIC) == 0) return open_linked(image, bytes);
    size_t length = strlen(bytes), capacity = 0;
    if (!gpul__cpu_ptx_version(bytes, length, &major, &minor, &line))
        return CUDA_ERROR_INVALID_IMAGE;
    return add(image, &capacity, bytes, length);
}

CUresult gpul__cpu_image_open(cpu_image *out, const void *bytes, unsigned capability)
{
    *out = (cpu_image){ 0 };
    CUresult result = open_bytes(out, bytes, capability);
    if (result) {
        gpul__free(out->texts);
        out->texts = NULL;
        out->count = 0;
    }
    return result;
}

void gpul__cpu_image_close(cpu_image *image)
{
    gpul__free(image->texts);
    *image = (cpu_image){ 0 };
}
