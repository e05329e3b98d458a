/* The format: "gpulaunch-ptx-record 1\n", four lines of the head, an empty line; then for each entry its
 * key and a newline, one byte of encoding (bytes of a result, or 0), two of count, four of the hash,
 * and the results, all little-endian.  Encoding 0 is for results of at most two values: the values in
 * eight bytes each, then a bit per result.  SPDX-License-Identifier: MIT */
#include "recording.h"

#include <inttypes.h>
#include <stdlib.h>

static const char magic[] = "gpulaunch-ptx-record 1";

void recording_key(char *out, size_t room, const form *f)
{
    if (f->immediate) snprintf(out, room, "%s#%u", f->name, (unsigned)f->constant);
    else snprintf(out, room, "%s", f->name);
}

uint32_t recording_hash(const uint64_t (*inputs)[4], unsigned count)
{
    uint32_t hash = 0x811c9dc5;
    const uint8_t *bytes = (const uint8_t *)inputs;
    for (size_t i = 0; i < count * sizeof inputs[0]; i++) hash = (hash ^ bytes[i]) * 0x01000193;
    return hash;
}

static bool put(FILE *file, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        if (fputc((int)(value >> 8 * i & 0xff), file) == EOF) return false;
    return true;
}

static bool get(FILE *file, uint64_t *value, unsigned bytes)
{
    *value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        int c = fgetc(file);
        if (c == EOF) return false;
        *value |= (uint64_t)c << 8 * i;
    }
    return true;
}

bool recording_write_head(FILE *file, const recording_head *h)
{
    return fprintf(file, "%s\ndevice: %s\ncompute: %s\ndriver: %s\ndate: %s\n\n", magic, h->device,
                   h->compute, h->driver, h->date) > 0;
}

static bool line_of(FILE *file, const char *name, char *out, size_t room)
{
    char line[512];
    const size_t length = strlen(name);
    if (fgets(line, sizeof line, file) == NULL || strncmp(line, name, length) != 0) return false;
    line[strcspn(line, "\n")] = 0;
    return snprintf(out, room, "%s", line + length) < (int)room;
}

bool recording_read_head(FILE *file, recording_head *h)
{
    char rest[4];
    return line_of(file, magic, rest, sizeof rest) &&
           line_of(file, "device: ", h->device, sizeof h->device) &&
           line_of(file, "compute: ", h->compute, sizeof h->compute) &&
           line_of(file, "driver: ", h->driver, sizeof h->driver) &&
           line_of(file, "date: ", h->date, sizeof h->date) && fgetc(file) == '\n';
}

bool recording_write(FILE *file, const recording_entry *e, unsigned bytes_each)
{
    uint64_t other = e->results[0];
    bool two = true;
    for (unsigned i = 0; i < e->count && two; i++) {
        if (e->results[i] == e->results[0]) continue;
        if (other == e->results[0]) other = e->results[i];
        two = e->results[i] == other;
    }
    bool ok = fprintf(file, "%s\n", e->key) > 0 && put(file, two ? 0 : bytes_each, 1) &&
              put(file, e->count, 2) && put(file, e->input_hash, 4);
    if (!two) {
        for (unsigned i = 0; i < e->count; i++) ok = ok && put(file, e->results[i], bytes_each);
        return ok;
    }
    ok = ok && put(file, e->results[0], 8) && put(file, other, 8);
    for (unsigned i = 0; i < e->count; i += 8) {
        uint64_t bits = 0;
        for (unsigned j = i; j < i + 8 && j < e->count; j++)
            bits |= (uint64_t)(e->results[j] != e->results[0]) << (j - i);
        ok = ok && put(file, bits, 1);
    }
    return ok;
}

int recording_read(FILE *file, recording_entry *e)
{
    char line[sizeof e->key + 1];
    uint64_t bytes, count, hash, first, second, bits;
    if (fgets(line, sizeof line, file) == NULL) return feof(file) ? 0 : -1;
    const size_t length = strcspn(line, "\n");
    if (line[length] == 0 || length >= sizeof e->key) return -1;
    line[length] = 0;
    strcpy(e->key, line);
    if (!get(file, &bytes, 1) || !get(file, &count, 2) || !get(file, &hash, 4)) return -1;
    if (bytes > 8 || count > FORM_INPUTS) return -1;
    e->count = (unsigned)count;
    e->input_hash = (uint32_t)hash;
    if (bytes != 0) {
        for (unsigned i = 0; i < e->count; i++)
            if (!get(file, &e->results[i], (unsigned)bytes)) return -1;
        return 1;
    }
    if (!get(file, &first, 8) || !get(file, &second, 8)) return -1;
    for (unsigned i = 0; i < e->count; i += 8) {
        if (!get(file, &bits, 1)) return -1;
        for (unsigned j = i; j < i + 8 && j < e->count; j++)
            e->results[j] = bits >> (j - i) & 1 ? second : first;
    }
    return 1;
}
