/* Device memory: an arena of reserved addresses, allocations with gaps between them, freed ones that
 * are remembered for a while, and registered host memory.
 *
 * Two ranges of addresses of equal size are reserved.  The host view holds the bytes; the device
 * range is never accessible, so a device pointer that the host follows by mistake faults, as it
 * would with a GPU.  SPDX-License-Identifier: MIT */
#include "ptx/exec/heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ptx/exec/records.h"

enum {
    DEVICE_ALIGNMENT = 256,
    HEAP_ALIGNMENT = 16,
    FREED_AT_LEAST = 64, /* remembered, however large they are */
    FREED_AT_MOST = 65536,
    COMMIT_STEP = 64 << 20, /* bytes of the host view made accessible at a time */
    PAGE_TRICK = 1 << 16,   /* from here on memory is given back to the system, not overwritten */
    FIRST_OFFSET = 1 << 16,
};

struct ptx_memory {
    pthread_rwlock_t lock;
    ptx_memory_options options;
    uint8_t *host;      /* start of the host view */
    uint64_t device;    /* start of the device range */
    uint64_t size;      /* of both */
    uint64_t committed; /* accessible bytes of the host view */
    uint64_t high;      /* beyond it nothing was ever used: all bytes are zero */
    uint64_t cursor;    /* where the search for the next allocation begins */
    uint64_t used, heap_used, ids;
    records records;
    record *oldest_freed, *newest_freed;
    uint64_t freed_bytes, freed_count;
    atomic_uint_fast64_t generation;
    marks written;
};

/* ------------------------------------------------------------------ create, destroy */

static void *reserve(uint64_t size)
{
    void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* One bit for each byte of the arena; pages of it that nobody touches take no memory. */
static bool make_marks(ptx_memory *m)
{
    if (!m->options.track) return true;
    void *bits = mmap(NULL, m->size / 8 + sizeof(uint64_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits == MAP_FAILED) return false;
    m->written = (marks){ bits, m->device, m->size };
    return true;
}

ptx_status ptx_memory_create(ptx_memory **out, const ptx_memory_options *options)
{
    *out = NULL;
    ptx_memory *m = gpul__calloc(1, sizeof *m);
    if (!m) return PTX_OUT_OF_MEMORY;
    if (options) m->options = *options;
    if (!m->options.capacity) m->options.capacity = (uint64_t)16 << 30;
    if (!m->options.quarantine) m->options.quarantine = (uint64_t)64 << 20;
    if (m->options.capacity > (uint64_t)1 << 42) m->options.capacity = (uint64_t)1 << 42;
    uint64_t wanted = m->options.capacity * 2 + ((uint64_t)256 << 20);
    for (; wanted >= (uint64_t)COMMIT_STEP; wanted /= 2) {
        m->size = wanted / COMMIT_STEP * COMMIT_STEP;
        m->host = reserve(m->size);
        void *device = m->host ? reserve(m->size) : NULL;
        if (device) {
            m->device = (uint64_t)(uintptr_t)device;
            break;
        }
        if (m->host) munmap(m->host, m->size);
        m->host = NULL;
    }
    if (!m->host || !make_marks(m) || pthread_rwlock_init(&m->lock, NULL)) {
        if (m->host) {
            munmap(m->host, m->size);
            munmap((void *)(uintptr_t)m->device, m->size);
        }
        if (m->written.bits) munmap(m->written.bits, m->size / 8 + sizeof(uint64_t));
        gpul__free(m);
        return PTX_OUT_OF_MEMORY;
    }
    m->cursor = m->high = FIRST_OFFSET;
    *out = m;
    return PTX_OK;
}

void ptx_memory_destroy(ptx_memory *memory)
{
    if (!memory) return;
    munmap(memory->host, memory->size);
    munmap((void *)(uintptr_t)memory->device, memory->size);
    if (memory->written.bits) munmap(memory->written.bits, memory->size / 8 + sizeof(uint64_t));
    records_free(&memory->records);
    pthread_rwlock_destroy(&memory->lock);
    gpul__free(memory);
}

const marks *ptx_memory_marks(const ptx_memory *memory)
{
    return &memory->written;
}

void ptx_memory_note_write(ptx_memory *memory, uint64_t address, uint64_t size)
{
    marks_set(&memory->written, address, size, true);
}

void ptx_memory_note_copy(ptx_memory *memory, uint64_t to, uint64_t from, uint64_t size)
{
    marks_copy(&memory->written, to, from, size);
}

uint64_t ptx_memory_generation(const ptx_memory *memory)
{
    return atomic_load_explicit(&memory->generation, memory_order_acquire);
}

bool ptx_memory_is_device_address(const ptx_memory *memory, uint64_t address)
{
    return address - memory->device < memory->size;
}

/* ------------------------------------------------------------------ allocating */

static uint64_t gap_behind(const ptx_allocation *a)
{
    if (a->kind == PTX_MEMORY_HEAP) return 32;
    return a->size < 4096 ? 256 : a->size < ((uint64_t)1 << 20) ? 4096 : 65536;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* An offset in the arena with room for the request, searched from the cursor on and then from the
 * start; 0: there is none. */
static uint64_t find_room(ptx_memory *m, const ptx_allocation *request, uint64_t alignment)
{
    uint64_t gap = gap_behind(request), offset = m->cursor;
    bool wrapped = false;
    for (;;) {
        offset = align_up(offset, alignment);
        uint64_t end = m->size;
        const record *next = NULL;
        if (offset < m->size) {
            next = records_after(&m->records, m->device + offset);
            if (next && next->what.address - m->device < m->size)
                end = next->what.address - m->device;
            else next = NULL;
        }
        const record *before =
            offset < m->size ? records_before(&m->records, m->device + offset, NULL) : NULL;
        if (before && before->what.address >= m->device) {
            uint64_t taken =
                before->what.address - m->device + before->what.size + gap_behind(&before->what);
            if (taken > offset) {
                offset = taken;
                continue;
            }
        }
        if (offset < end && end - offset >= request->size && end - offset - request->size >= gap)
            return offset;
        if (next) {
            offset = end + next->what.size + gap_behind(&next->what);
        } else {
            if (wrapped) return 0;
            wrapped = true;
            offset = FIRST_OFFSET;
        }
    }
}

static bool commit(ptx_memory *m, uint64_t end)
{
    if (end <= m->committed) return true;
    uint64_t wanted = align_up(end, COMMIT_STEP);
    if (wanted > m->size) wanted = m->size;
    if (mprotect(m->host + m->committed, wanted - m->committed, PROT_READ | PROT_WRITE))
        return false;
    m->committed = wanted;
    return true;
}

/* Zeroes bytes, large stretches by giving the pages back. */
static void wipe(uint8_t *at, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (size >= PAGE_TRICK) {
        uint8_t *first = (uint8_t *)(uintptr_t)align_up((uint64_t)(uintptr_t)at, page);
        uint64_t pages = (size - (uint64_t)(first - at)) / page * page;
        if (!madvise(first, pages, MADV_DONTNEED)) {
            memset(at, 0, (size_t)(first - at));
            memset(first + pages, 0, size - pages - (uint64_t)(first - at));
            return;
        }
    }
    memset(at, 0, size);
}

static ptx_status add_record(ptx_memory *m, const ptx_allocation *request, uint64_t address,
                             uint64_t bias)
{
    record *r = gpul__calloc(1, sizeof *r);
    if (!r) return PTX_OUT_OF_MEMORY;
    r->what = *request;
    r->what.name[PTX_NAME_SIZE - 1] = 0;
    r->what.address = address;
    r->what.freed = false;
    r->what.id = ++m->ids;
    r->bias = bias;
    if (!records_add(&m->records, r)) {
        gpul__free(r);
        return PTX_OUT_OF_MEMORY;
    }
    return PTX_OK;
}

static void forget_oldest(ptx_memory *m)
{
    record *r = m->oldest_freed;
    m->oldest_freed = r->newer_freed;
    if (!m->oldest_freed) m->newest_freed = NULL;
    m->freed_bytes -= r->what.size;
    m->freed_count--;
    records_remove(&m->records, r);
    gpul__free(r);
}

static ptx_status allocate(ptx_memory *m, const ptx_allocation *request, uint64_t alignment,
                           uint64_t *address)
{
    if (request->size > m->options.capacity - m->used) return PTX_OUT_OF_MEMORY;
    uint64_t offset = find_room(m, request, alignment);
    while (!offset && m->oldest_freed) {
        forget_oldest(m);
        offset = find_room(m, request, alignment);
    }
    if (!offset || !commit(m, offset + request->size)) return PTX_OUT_OF_MEMORY;
    ptx_status status =
        add_record(m, request, m->device + offset, (uint64_t)(uintptr_t)m->host - m->device);
    if (status != PTX_OK) return status;
    uint8_t *at = m->host + offset;
    if (m->options.poison) memset(at, m->options.poison_byte, request->size);
    else if (offset < m->high) wipe(at, request->size);
    bool variable = request->kind == PTX_MEMORY_GLOBAL;
    if (variable || offset < m->high)
        marks_set(&m->written, m->device + offset, request->size, variable);
    if (m->high < offset + request->size) m->high = offset + request->size;
    m->cursor = offset + request->size + gap_behind(request);
    m->used += request->size;
    *address = m->device + offset;
    return PTX_OK;
}

ptx_status ptx_memory_alloc(ptx_memory *memory, const ptx_allocation *request, uint64_t alignment,
                            uint64_t *address)
{
    *address = 0;
    if (alignment < DEVICE_ALIGNMENT) alignment = DEVICE_ALIGNMENT;
    if (!request->size || (alignment & (alignment - 1)) || alignment > memory->size)
        return PTX_INVALID;
    pthread_rwlock_wrlock(&memory->lock);
    ptx_status status = allocate(memory, request, alignment, address);
    pthread_rwlock_unlock(&memory->lock);
    return status;
}

uint64_t ptx_memory_heap_alloc(ptx_memory *memory, uint64_t size, uint64_t limit)
{
    uint64_t address = 0;
    ptx_allocation request = { .kind = PTX_MEMORY_HEAP, .size = size ? size : 1 };
    pthread_rwlock_wrlock(&memory->lock);
    if (memory->heap_used <= limit && request.size <= limit - memory->heap_used &&
        allocate(memory, &request, HEAP_ALIGNMENT, &address) == PTX_OK)
        memory->heap_used += request.size;
    pthread_rwlock_unlock(&memory->lock);
    return address;
}

/* ------------------------------------------------------------------ freeing */

static void retire(ptx_memory *m, record *r)
{
    uint8_t *at = (uint8_t *)(uintptr_t)(r->what.address + r->bias);
    if (m->options.poison) memset(at, m->options.poison_byte, r->what.size);
    else if (r->what.size >= PAGE_TRICK) wipe(at, r->what.size);
    r->what.freed = true;
    m->used -= r->what.size;
    if (r->what.kind == PTX_MEMORY_HEAP) m->heap_used -= r->what.size;
    if (m->newest_freed) m->newest_freed->newer_freed = r;
    else m->oldest_freed = r;
    m->newest_freed = r;
    m->freed_bytes += r->what.size;
    m->freed_count++;
    while (m->freed_count > FREED_AT_LEAST &&
           (m->freed_bytes > m->options.quarantine || m->freed_count > FREED_AT_MOST))
        forget_oldest(m);
    atomic_fetch_add(&m->generation, 1);
}

static record *exact(ptx_memory *m, uint64_t address)
{
    record *r = records_before(&m->records, address, NULL);
    return r && r->what.address == address ? r : NULL;
}

ptx_free_result ptx_memory_free(ptx_memory *memory, uint64_t address)
{
    ptx_free_result result = PTX_FREE_UNKNOWN;
    pthread_rwlock_wrlock(&memory->lock);
    record *r = exact(memory, address);
    if (r && ptx_memory_is_device_address(memory, address)) {
        result = r->what.freed ? PTX_FREE_TWICE : PTX_FREED;
        if (result == PTX_FREED) retire(memory, r);
    }
    pthread_rwlock_unlock(&memory->lock);
    return result;
}

/* ------------------------------------------------------------------ registered host memory */

ptx_status ptx_memory_register(ptx_memory *memory, void *host, const ptx_allocation *request)
{
    uint64_t address = (uint64_t)(uintptr_t)host;
    if (!request->size || !host || address + request->size < address) return PTX_INVALID;
    if (address < memory->device + memory->size && memory->device < address + request->size)
        return PTX_INVALID;
    ptx_status status = PTX_INVALID;
    pthread_rwlock_wrlock(&memory->lock);
    const record *before = records_before(&memory->records, address, NULL);
    const record *after = records_after(&memory->records, address);
    bool overlaps = (before && address - before->what.address < before->what.size) ||
                    (after && after->what.address - address < request->size);
    if (!overlaps) status = add_record(memory, request, address, 0);
    pthread_rwlock_unlock(&memory->lock);
    return status;
}

bool ptx_memory_unregister(ptx_memory *memory, void *host)
{
    uint64_t address = (uint64_t)(uintptr_t)host;
    pthread_rwlock_wrlock(&memory->lock);
    record *r = ptx_memory_is_device_address(memory, address) ? NULL : exact(memory, address);
    if (r) {
        records_remove(&memory->records, r);
        gpul__free(r);
        atomic_fetch_add(&memory->generation, 1);
    }
    pthread_rwlock_unlock(&memory->lock);
    return r != NULL;
}

/* ------------------------------------------------------------------ looking up */

/* The record that holds the address. */
static record *holder(ptx_memory *m, uint64_t address)
{
    record *r = records_before(&m->records, address, NULL);
    return r && address - r->what.address < r->what.size ? r : NULL;
}

static bool fits(const record *r, uint64_t address, uint64_t size)
{
    return r && !r->what.freed && size <= r->what.size - (address - r->what.address);
}

bool ptx_memory_find(ptx_memory *memory, uint64_t address, ptx_allocation *out)
{
    pthread_rwlock_rdlock(&memory->lock);
    const record *r = holder(memory, address);
    if (r) *out = r->what;
    pthread_rwlock_unlock(&memory->lock);
    return r != NULL;
}

void *ptx_memory_host(ptx_memory *memory, uint64_t address, uint64_t size)
{
    pthread_rwlock_rdlock(&memory->lock);
    const record *r = holder(memory, address);
    void *host = fits(r, address, size) ? (void *)(uintptr_t)(address + r->bias) : NULL;
    pthread_rwlock_unlock(&memory->lock);
    return host;
}

bool ptx_memory_lookup(ptx_memory *memory, uint64_t address, uint64_t size, bool writes, range *out)
{
    pthread_rwlock_rdlock(&memory->lock);
    const record *r = holder(memory, address);
    bool found = fits(r, address, size) && !(writes && r->what.read_only);
    if (found) *out = (range){ r->what.address, r->what.address + r->what.size, r->bias, address };
    pthread_rwlock_unlock(&memory->lock);
    return found;
}

bool ptx_memory_set_read_only(ptx_memory *memory, uint64_t address, bool read_only)
{
    pthread_rwlock_wrlock(&memory->lock);
    record *r = holder(memory, address);
    if (r && r->what.freed) r = NULL;
    if (r) {
        r->what.read_only = read_only;
        atomic_fetch_add(&memory->generation, 1);
    }
    pthread_rwlock_unlock(&memory->lock);
    return r != NULL;
}

void ptx_memory_usage(ptx_memory *memory, uint64_t *used, uint64_t *capacity)
{
    pthread_rwlock_rdlock(&memory->lock);
    *used = memory->used;
    *capacity = memory->options.capacity;
    pthread_rwlock_unlock(&memory->lock);
}

void ptx_memory_each(ptx_memory *memory, bool (*each)(void *user, const ptx_allocation *a),
                     void *user)
{
    pthread_rwlock_rdlock(&memory->lock);
    record_place place;
    for (const record *r = records_first(&memory->records, &place); r;
         r = records_next(&memory->records, &place))
        if (!r->what.freed && !each(user, &r->what)) break;
    pthread_rwlock_unlock(&memory->lock);
}

/* ------------------------------------------------------------------ explaining a fault */

static bool host_has_page(uint64_t address)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    if (address >> 47) return false;
    return !mincore((void *)(uintptr_t)(address & ~(page - 1)), 1, &resident);
}

/* Of two neighbours the one that the access most likely meant: the nearer, if it is near at all.  In host
 * memory something else may lie a little further on. */
static const record *nearest_of(const record *before, const record *after, uint64_t address,
                                bool in_device)
{
    uint64_t limit = in_device ? 1 << 20 : 4096;
    uint64_t past = before ? address - before->what.address - before->what.size : UINT64_MAX;
    uint64_t short_of = after ? after->what.address - address : UINT64_MAX;
    const record *nearer = past <= short_of ? before : after;
    uint64_t distance = past <= short_of ? past : short_of;
    if (nearer && nearer->what.size > limit) limit = nearer->what.size;
    return nearer && distance <= limit ? nearer : NULL;
}

ptx_fault_kind ptx_memory_explain(ptx_memory *memory, uint64_t address, uint64_t size,
                                  ptx_allocation *nearest, bool *has_nearest)
{
    ptx_fault_kind kind = PTX_FAULT_OUT_OF_BOUNDS;
    *has_nearest = false;
    pthread_rwlock_rdlock(&memory->lock);
    const record *r = holder(memory, address);
    if (r) {
        kind = r->what.freed            ? PTX_FAULT_FREED
               : fits(r, address, size) ? PTX_FAULT_READ_ONLY
                                        : PTX_FAULT_OUT_OF_BOUNDS;
    } else if (address < 65536) {
        kind = PTX_FAULT_NULL;
    } else {
        bool in_device = ptx_memory_is_device_address(memory, address);
        const record *before = records_before(&memory->records, address, NULL);
        const record *after = records_after(&memory->records, address);
        /* Neighbours on the other side of the arena's edge are none. */
        if (before && ptx_memory_is_device_address(memory, before->what.address) != in_device)
            before = NULL;
        if (after && ptx_memory_is_device_address(memory, after->what.address) != in_device)
            after = NULL;
        r = nearest_of(before, after, address, in_device);
        if (!in_device && !r && host_has_page(address)) kind = PTX_FAULT_HOST_ADDRESS;
    }
    if (r) {
        *nearest = r->what;
        *has_nearest = true;
    }
    pthread_rwlock_unlock(&memory->lock);
    return kind;
}
