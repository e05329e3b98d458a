/* The ordered set of allocation records.  SPDX-License-Identifier: MIT */
#include "ptx/exec/records.h"

#include <string.h>

/* Index of the last chunk whose first record begins at or before the address; -1: none. */
static ptrdiff_t chunk_of(const records *set, uint64_t address)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->chunks[middle]->items[0]->what.address <= address) low = middle + 1;
        else high = middle;
    }
    return (ptrdiff_t)low - 1;
}

static ptrdiff_t item_of(const record_chunk *chunk, uint64_t address)
{
    size_t low = 0, high = chunk->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (chunk->items[middle]->what.address <= address) low = middle + 1;
        else high = middle;
    }
    return (ptrdiff_t)low - 1;
}

record *records_before(const records *set, uint64_t address, record_place *place)
{
    ptrdiff_t chunk = chunk_of(set, address);
    if (chunk < 0) return NULL;
    ptrdiff_t item = item_of(set->chunks[chunk], address);
    if (place) *place = (record_place){ (size_t)chunk, (size_t)item };
    return set->chunks[chunk]->items[item];
}

record *records_next(const records *set, record_place *place)
{
    if (place->chunk >= set->count) return NULL;
    if (++place->item >= set->chunks[place->chunk]->count) {
        place->chunk++;
        place->item = 0;
        if (place->chunk >= set->count) return NULL;
    }
    return set->chunks[place->chunk]->items[place->item];
}

record *records_first(const records *set, record_place *place)
{
    *place = (record_place){ 0, 0 };
    return set->count ? set->chunks[0]->items[0] : NULL;
}

record *records_after(const records *set, uint64_t address)
{
    record_place place;
    if (!records_before(set, address, &place)) return records_first(set, &place);
    return records_next(set, &place);
}

static bool insert_chunk(records *set, size_t at)
{
    record_chunk *chunk = gpul__calloc(1, sizeof *chunk);
    if (!chunk) return false;
    if (!gpul__grow(&set->chunks, &set->room, set->count, sizeof *set->chunks)) {
        gpul__free(chunk);
        return false;
    }
    memmove(set->chunks + at + 1, set->chunks + at, (set->count - at) * sizeof *set->chunks);
    set->chunks[at] = chunk;
    set->count++;
    return true;
}

bool records_add(records *set, record *added)
{
    if (!set->count && !insert_chunk(set, 0)) return false;
    ptrdiff_t found = set->chunks[0]->count ? chunk_of(set, added->what.address) : 0;
    size_t at = found < 0 ? 0 : (size_t)found;
    record_chunk *chunk = set->chunks[at];
    size_t item = chunk->count ? (size_t)(item_of(chunk, added->what.address) + 1) : 0;
    if (chunk->count == RECORD_CHUNK) {
        /* Appending opens a new chunk; an insertion in between halves this one. */
        size_t keep = item == RECORD_CHUNK ? RECORD_CHUNK : RECORD_CHUNK / 2;
        if (!insert_chunk(set, at + 1)) return false;
        record_chunk *second = set->chunks[at + 1];
        second->count = RECORD_CHUNK - keep;
        memcpy(second->items, chunk->items + keep, second->count * sizeof *chunk->items);
        chunk->count = keep;
        if (item >= keep && (item > keep || keep == RECORD_CHUNK)) {
            chunk = second;
            item -= keep;
        }
    }
    memmove(chunk->items + item + 1, chunk->items + item,
            (chunk->count - item) * sizeof *chunk->items);
    chunk->items[item] = added;
    chunk->count++;
    return true;
}

void records_remove(records *set, const record *removed)
{
    record_place place;
    if (records_before(set, removed->what.address, &place) != removed) return;
    record_chunk *chunk = set->chunks[place.chunk];
    chunk->count--;
    memmove(chunk->items + place.item, chunk->items + place.item + 1,
            (chunk->count - place.item) * sizeof *chunk->items);
    if (chunk->count) return;
    set->count--;
    memmove(set->chunks + place.chunk, set->chunks + place.chunk + 1,
            (set->count - place.chunk) * sizeof *set->chunks);
    gpul__free(chunk);
}

void records_free(records *set)
{
    for (size_t c = 0; c < set->count; c++) {
        for (size_t k = 0; k < set->chunks[c]->count; k++) gpul__free(set->chunks[c]->items[k]);
        gpul__free(set->chunks[c]);
    }
    gpul__free(set->chunks);
    *set = (records){ 0 };
}
