/* Counted references between objects: children hold one to their parent, so that any order of _free is
 * right.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_REFCOUNT_H
#define GPUL_CORE_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct gpul__refs {
    atomic_int count;
} gpul__refs;

static inline void gpul__refs_init(gpul__refs *refs)
{
    atomic_init(&refs->count, 1);
}

static inline void gpul__refs_take(gpul__refs *refs)
{
    atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
}

/* True when this was the last reference: the caller then destroys the object. */
static inline bool gpul__refs_drop(gpul__refs *refs)
{
    return atomic_fetch_sub_explicit(&refs->count, 1, memory_order_acq_rel) == 1;
}

#endif
