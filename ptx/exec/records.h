/* An ordered set of allocation records: chunks of pointers, sorted by address, so that hundreds of
 * thousands of small allocations stay cheap to add, find and remove.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_RECORDS_H
#define PTX_EXEC_RECORDS_H

#include "ptx/engine.h"

typedef struct record {
    ptx_allocation what;
    uint64_t bias;              /* host address minus device address */
    struct record *newer_freed; /* in the order of freeing */
} record;

enum { RECORD_CHUNK = 128 };

typedef struct record_chunk {
    record *items[RECORD_CHUNK];
    size_t count; /* at least 1 */
} record_chunk;

typedef struct records {
    record_chunk **chunks;
    size_t count, room;
} records;

/* A place in the set; valid until it changes. */
typedef struct record_place {
    size_t chunk, item;
} record_place;

bool records_add(records *set, record *added);
void records_remove(records *set, const record *removed);
/* The last record that begins at or before the address; NULL: none. */
record *records_before(const records *set, uint64_t address, record_place *place);
/* The first record that begins after the address; NULL: none. */
record *records_after(const records *set, uint64_t address);
record *records_next(const records *set, record_place *place);
record *records_first(const records *set, record_place *place);
void records_free(records *set); /* the records too */

#endif
