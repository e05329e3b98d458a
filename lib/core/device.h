/* An open device: its driver table, context and stream, what lives on it, and its first fault.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_DEVICE_H
#define GPUL_CORE_DEVICE_H

#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "core/launch_ring.h"
#include "core/refcount.h"
#include "driver/driver.h"

struct gpul_device {
    gpul__refs refs;
    const gpul__driver *driver;
    CUcontext context;
    CUstream stream;             /* non-blocking: calls without a stream use it */
    unsigned forks;              /* value of gpul__forks when it was opened */
    uint64_t serial;             /* of this object, in the process */
    _Atomic(uint64_t) last_peer; /* serial of the device of the last copy: the ways are open */
    bool checked, is_cpu;
    CUdevice handle;
    gpul_context_kind context_kind;
    gpul_device_info info;
    atomic_int fault; /* the first sticky CUresult; 0 while the context is sound */

    pthread_mutex_t lock;          /* guards what follows */
    gpul_buffer *buffers;          /* those that own memory, newest first */
    struct gpul_stream *streams;   /* made by gpul_stream_new */
    uint64_t streams_made;         /* numbers them from 1 */
    struct gpul__kept_name *names; /* of kernels, for the ring; they live as long as the device */
    char *first_fault;             /* how the first fault was told */
    struct gpul__peer *peers;      /* ways to other devices that were opened */
    size_t peer_count, peer_capacity;

    _Atomic(struct gpul__staging *)
        staging; /* pinned memory for large copies; NULL: none, or in use */

    gpul__ring ring;
    _Atomic(struct gpul__shape *)
        shapes; /* of all kernels' launches; they live as long as the device */
};

static inline void gpul__device_take(gpul_device *device)
{
    gpul__refs_take(&device->refs);
}
void gpul__device_drop(gpul_device *device); /* accepts NULL */

/* The driver table to call: the traced one while somebody listens at that level. */
static inline const gpul__driver *gpul__api(const gpul_device *device)
{
    if (__builtin_expect(gpul__log_on(GPUL_LOG_TRACE), 0))
        return gpul__driver_traced(device->driver);
    return device->driver;
}

/* A copy of a name that lives as long as the device; NULL: no memory. */
const char *gpul__device_keep_name(gpul_device *device, const char *name);

/* "GL0314: `what` is NULL." */
gpul_status gpul__fail_null(const char *call, const char *what);

/* An entry that may be missing: then the answer is that of a device which cannot do it. */
#define GPUL__CALL(driver, field, ...)                                                             \
    ((driver)->field ? (driver)->field(__VA_ARGS__) : CUDA_ERROR_NOT_SUPPORTED)

/* The same for an entry that takes what `back` gives back: both or none. */
#define GPUL__TAKE(driver, field, back, ...)                                                       \
    ((driver)->field && (driver)->back ? (driver)->field(__VA_ARGS__) : CUDA_ERROR_NOT_SUPPORTED)

/* Sets *out to NULL, or fails when out itself is NULL. */
#define GPUL__OUT(out, nothing)                                                                    \
    do {                                                                                           \
        if (!(out)) return gpul__fail_null(__func__, "out");                                       \
        *(out) = (nothing);                                                                        \
    } while (0)
#define GPUL__NEED(what)                                                                           \
    do {                                                                                           \
        if (!(what)) return gpul__fail_null(__func__, #what);                                      \
    } while (0)

/* A driver entry that was called outside an open device refused. */
gpul_status gpul__fail_driver(int code, const gpul__driver *driver, CUresult result,
                              const char *entry, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A device that was chosen by name; device_name.c. */
typedef struct gpul__choice {
    const gpul__driver *driver; /* initialised */
    gpul_backend backend;
    CUdevice device;
} gpul__choice;

/* A context of one's own on `count` multiprocessors, popped again; device_affinity.c.  What the driver refuses in
 * general comes back in *result and *entry, and GPUL_OK. */
gpul_status gpul__affinity_context(gpul_device *device, const gpul__choice *choice, unsigned flags,
                                   unsigned count, CUresult *result, const char **entry);

/* Reads the device grammar; NULL means $GPULAUNCH_DEVICE, else "cuda".  `cpu` may be NULL. */
gpul_status gpul__device_choose(gpul__choice *out, const char *name, const char *libcuda,
                                const gpul_cpu_opts *cpu);

/* "GPU-8f6a0e2c-...", "MIG-..." or "CPU-..."; false when the driver does not say. */
bool gpul__device_uuid(char out[48], bool *mig, const gpul__choice *choice);

/* Facts of a device from its driver; device_info.c. */
gpul_status gpul__device_facts(gpul_device_info *out, const gpul__choice *choice);

#endif
