/* What the driver's JIT makes of PTX, kept in the compile cache.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_JIT_KEEP_H
#define GPUL_CORE_JIT_KEEP_H

#include "core/module.h"

/* Machine code in place of PTX. */
typedef struct gpul__jit_kept {
    void *entry;      /* owns what follows; freed with gpul__free */
    const void *code; /* NULL: the PTX is loaded as it is */
    size_t size;
    const char *log; /* the JIT's, of the time when it ran */
    size_t log_size;
    double jit_ms;
    bool found; /* in the cache; else the JIT ran just now */
} gpul__jit_kept;

/* Finds, or makes and keeps, the machine code of the PTX that `load` is about to give to the driver.  Nothing of it fails a load:
 * what stands in its way is said in the log, and the driver gets the PTX. */
void gpul__jit_keep(gpul__jit_kept *out, const gpul__load *load);

#endif
