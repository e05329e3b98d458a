/* Records of memory: what the CPU device knows about an allocation beyond the engine's book.  All
 * functions need the lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_MEMORY_H
#define GPUL_CPU_MEMORY_H

#include "cpu/state.h"

typedef struct cpu_region cpu_region;

typedef enum cpu_region_kind {
    REGION_DEVICE,
    REGION_POOL,       /* stream ordered; belongs to its pool */
    REGION_HOST,       /* cuMemHostAlloc */
    REGION_REGISTERED, /* cuMemHostRegister */
    REGION_MANAGED,
    REGION_MODULE, /* a variable of a module */
} cpu_region_kind;

/* The engine's `owner` of an allocation is the address of its record. */
struct cpu_region {
    cpu_region_kind kind;
    cpu_context *context; /* NULL: not bound to one */
    cpu_device *device;
    cpu_pool *pool;
    uint64_t address, size;
    unsigned flags; /* as given when it was made */
    void *host;     /* memory of ours that is freed with it */
    bool freeing;   /* a free is queued */
    bool sync_memops;
    cpu_region **list; /* where it is linked */
    cpu_region *next, *previous;
};

/* The record whose allocation holds the address (or begins at it), or NULL.  `allocation` may be NULL;
 * for variables of modules it tells which one was hit. */
cpu_region *gpul__cpu_region_find(uint64_t address, ptx_allocation *allocation);
cpu_region *gpul__cpu_region_at(uint64_t address);

/* Makes device memory: of the context, or of the pool when that is not NULL. */
CUresult gpul__cpu_region_alloc(uint64_t *address, cpu_context *context, cpu_pool *pool,
                                size_t size);

/* Makes host memory known to kernels; of REGION_REGISTERED the memory stays the caller's, else it came
 * from gpul__aligned and goes with the record (on success only). */
CUresult gpul__cpu_region_register(cpu_region **out, cpu_context *context, cpu_region_kind kind,
                                   void *host, size_t size, unsigned flags);

/* Frees the memory and the record, whatever kind it is (never REGION_MODULE). */
void gpul__cpu_region_free(cpu_region *region);

/* True when [address, address + size) lies inside one live allocation. */
bool gpul__cpu_range_valid(uint64_t address, uint64_t size);

struct cpu_pool {
    CUmemoryPool handle;
    cpu_device *device;
    bool is_default;
    uint64_t used, used_high, threshold, max_size;
    int reuse[3]; /* the three CU_MEMPOOL_ATTR_REUSE switches, kept to be read back */
    cpu_region *regions;
    cpu_pool *next; /* of the device, the default one apart */
};
cpu_pool *gpul__cpu_pool_new(cpu_device *device, uint64_t max_size); /* NULL: no memory */
cpu_pool *gpul__cpu_default_pool(cpu_device *device); /* makes it on first use; NULL: no memory */
void gpul__cpu_pool_free(cpu_pool *pool);
/* Moves what is still allocated to another pool. */
void gpul__cpu_pool_hand_over(cpu_pool *from, cpu_pool *to);

#endif
