/* Handles of the CPU device: numbers that look like pointers and that nobody follows.  A handle that
 * was freed, belongs to something else or comes from another driver is recognised.
 * All functions here need the state's lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_HANDLE_H
#define GPUL_CPU_HANDLE_H

#include <stddef.h>

typedef enum cpu_kind {
    CPU_NOTHING,
    CPU_CONTEXT,
    CPU_STREAM,
    CPU_EVENT,
    CPU_MODULE,
    CPU_FUNCTION,
    CPU_LIBRARY,
    CPU_KERNEL,
    CPU_POOL,
    CPU_LINK,
    CPU_GRAPH,
    CPU_NODE,
    CPU_EXEC,
} cpu_kind;

/* A new handle for `object`; NULL when memory is exhausted. */
void *gpul__cpu_handle_new(cpu_kind kind, void *object);

/* The object behind a handle; NULL when it is none, not of this kind, or freed. */
void *gpul__cpu_handle_get(cpu_kind kind, const void *handle);

/* From now on the handle is recognised as freed.  NULL is accepted. */
void gpul__cpu_handle_drop(const void *handle);

/* Gives the table's memory back; every handle that is still there becomes invalid. */
void gpul__cpu_handle_clear(void);

#endif
