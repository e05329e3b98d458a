/* Copies by way of pinned memory.  Each thread owns two pieces of it and takes the next part of the copy as soon as one of
 * them is free, so that filling, copying and emptying overlap; the memory stays with the device for the next copy.
 * SPDX-License-Identifier: MIT */
#include "core/staging.h"

#include <sched.h>
#include <string.h>

enum { PIECE = 1 << 20, MOST_THREADS = 8, DEPTH = 2 };

struct gpul__staging {
    unsigned threads;
    char *memory; /* `threads` times DEPTH pieces */
    CUevent events[MOST_THREADS * DEPTH];
};

/* One copy under way, shared by its threads. */
typedef struct job {
    gpul__staged *copy;
    struct gpul__staging *staging;
    const gpul__driver *driver;
    atomic_size_t next;  /* the first byte that nobody has taken */
    atomic_uint thread;  /* numbers the threads */
    atomic_bool stopped; /* something failed: no more is begun */
    pthread_mutex_t lock;
    CUresult result; /* the first failure, and the entry; under the lock */
    const char *entry;
} job;

/* One of a thread's pieces. */
typedef struct piece {
    char *memory;
    CUevent event;
    size_t offset, size; /* of the part in it; size 0: none */
} piece;

/* ---- The pinned memory ---- */

static unsigned threads_here(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (unsigned)count;
}

static void give_back(const gpul__driver *driver, struct gpul__staging *staging)
{
    for (unsigned i = 0; i < staging->threads * DEPTH; i++)
        if (staging->events[i]) driver->EventDestroy(staging->events[i]);
    if (staging->memory) driver->MemFreeHost(staging->memory);
    gpul__free(staging);
}

static struct gpul__staging *take_staging(gpul_device *device)
{
    struct gpul__staging *staging = atomic_exchange(&device->staging, NULL);
    if (staging) return staging;
    const gpul__driver *driver = gpul__api(device);
    if (!driver->MemHostAlloc || !driver->MemFreeHost) return NULL;
    staging = gpul__calloc(1, sizeof *staging);
    if (!staging) return NULL;
    staging->threads = threads_here();
    void *memory = NULL;
    CUresult result = driver->MemHostAlloc(&memory, (size_t)staging->threads * DEPTH * PIECE, 0);
    staging->memory = result == CUDA_SUCCESS ? memory : NULL;
    for (unsigned i = 0; i < staging->threads * DEPTH && result == CUDA_SUCCESS; i++)
        result = driver->EventCreate(&staging->events[i], CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS) return staging;
    give_back(driver, staging);
    return NULL;
}

/* Another thread's copy may have put its own there meanwhile: one is enough. */
static void keep_staging(gpul_device *device, struct gpul__staging *staging)
{
    struct gpul__staging *none = NULL;
    if (!atomic_compare_exchange_strong(&device->staging, &none, staging))
        give_back(gpul__api(device), staging);
}

void gpul__staging_free(gpul_device *device)
{
    struct gpul__staging *staging = atomic_exchange(&device->staging, NULL);
    if (staging) give_back(gpul__api(device), staging);
}

bool gpul__staging_suits(const gpul_device *device, const void *host, size_t size)
{
    if (size < GPUL__STAGING_LEAST || device->is_cpu || device->info.integrated) return false;
    const gpul__driver *driver = gpul__api(device);
    /* Memory that the driver knows is pinned, managed or the device's own, and needs no staging. */
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    return driver->PointerGetAttribute &&
           driver->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       (CUdeviceptr)(uintptr_t)host) == CUDA_ERROR_INVALID_VALUE;
}

/* ---- Copying ---- */

static bool good(job *j, CUresult result, const char *entry)
{
    if (result == CUDA_SUCCESS) return true;
    pthread_mutex_lock(&j->lock);
    if (j->result == CUDA_SUCCESS) {
        j->result = result;
        j->entry = entry;
    }
    pthread_mutex_unlock(&j->lock);
    atomic_store(&j->stopped, true);
    return false;
}

static bool take_part(job *j, piece *p)
{
    size_t offset = atomic_fetch_add(&j->next, PIECE), size = j->copy->size;
    p->size = 0;
    if (offset >= size || atomic_load(&j->stopped)) return false;
    p->offset = offset;
    p->size = size - offset < PIECE ? size - offset : PIECE;
    return true;
}

static bool read_file(job *j, const piece *p)
{
    gpul__staged *copy = j->copy;
    int error = gpul__staging_read(copy->file, p->memory, p->size, copy->file_offset + p->offset);
    if (!error) return true;
    pthread_mutex_lock(&j->lock);
    if (!copy->error) copy->error = error;
    pthread_mutex_unlock(&j->lock);
    atomic_store(&j->stopped, true);
    return false;
}

/* The piece's own copy has ended, and what came from the device is where it belongs. */
static bool empty(job *j, piece *p)
{
    if (!p->size) return true;
    if (!good(j, j->driver->EventSynchronize(p->event), "cuEventSynchronize")) return false;
    if (j->copy->to) memcpy(j->copy->to + p->offset, p->memory, p->size);
    p->size = 0;
    return true;
}

static bool send(job *j, piece *p)
{
    const gpul__staged *copy = j->copy;
    CUdeviceptr at = copy->address + p->offset;
    if (copy->to) {
        if (!good(j, j->driver->MemcpyDtoHAsync(p->memory, at, p->size, copy->stream),
                  "cuMemcpyDtoHAsync"))
            return false;
    } else {
        if (copy->from) memcpy(p->memory, copy->from + p->offset, p->size);
        else if (!read_file(j, p)) return false;
        if (!good(j, j->driver->MemcpyHtoDAsync(at, p->memory, p->size, copy->stream),
                  "cuMemcpyHtoDAsync"))
            return false;
    }
    return good(j, j->driver->EventRecord(p->event, copy->stream), "cuEventRecord");
}

static void move_parts(job *j)
{
    unsigned thread = atomic_fetch_add(&j->thread, 1);
    piece pieces[DEPTH];
    for (unsigned i = 0; i < DEPTH; i++)
        pieces[i] = (piece){ j->staging->memory + (size_t)(thread * DEPTH + i) * PIECE,
                             j->staging->events[thread * DEPTH + i], 0, 0 };
    unsigned turn = 0;
    bool going = true;
    while (going) {
        piece *p = &pieces[turn++ % DEPTH];
        going = empty(j, p) && take_part(j, p) && send(j, p);
    }
    for (unsigned i = 0; i < DEPTH && !atomic_load(&j->stopped); i++)
        if (!empty(j, &pieces[turn++ % DEPTH])) break;
}

static void *help(void *pointer)
{
    job *j = pointer;
    if (good(j, j->driver->CtxSetCurrent(j->copy->device->context), "cuCtxSetCurrent"))
        move_parts(j);
    return NULL;
}

bool gpul__staging_copy(gpul__staged *copy, CUresult *result, const char **entry)
{
    gpul_device *device = copy->device;
    job j = { .copy = copy, .driver = gpul__api(device) };
    if (pthread_mutex_init(&j.lock, NULL)) return false;
    j.staging = take_staging(device);
    if (!j.staging) {
        pthread_mutex_destroy(&j.lock);
        return false;
    }
    copy->error = 0;
    pthread_t threads[MOST_THREADS];
    size_t parts = (copy->size + PIECE - 1) / PIECE;
    unsigned started = 0, wanted = j.staging->threads - 1;
    if (wanted >= parts) wanted = (unsigned)parts - 1;
    while (started < wanted && pthread_create(&threads[started], NULL, help, &j) == 0) started++;
    move_parts(&j);
    for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
    /* Pieces may still be under way after a failure, and then nothing may use them again. */
    CUresult end = j.driver->StreamSynchronize(copy->stream);
    if (j.result == CUDA_SUCCESS && end != CUDA_SUCCESS) {
        j.result = end;
        j.entry = "cuStreamSynchronize";
    }
    *result = j.result;
    *entry = j.entry;
    keep_staging(device, j.staging);
    pthread_mutex_destroy(&j.lock);
    return true;
}
