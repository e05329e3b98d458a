/* The one seam between the library and whatever runs kernels: a table of Driver API entries, made from driver.def.
 * libcuda fills one (load.c), the CPU device another (lib/cpu), tests a third (record.c).
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_DRIVER_H
#define GPUL_DRIVER_DRIVER_H

#include "driver/cuda_abi.h"

#include <gpulaunch/gpulaunch.h>

typedef struct gpul__driver {
    const char *name; /* "libcuda", "cpu"; never NULL */
    const char *path; /* the file it came from; NULL: none */
    int version;      /* of cuDriverGetVersion: 13000 is 13.0 */
    void *priv;       /* the provider's own */
#define X(field, symbol, need, params, args, letters) CUresult(*field) params;
#include "driver/driver.def"
#undef X
} gpul__driver;

/* The entries by number, in the order of driver.def. */
enum {
#define X(field, symbol, need, params, args, letters) GPUL__ENTRY_##field,
#include "driver/driver.def"
#undef X
    GPUL__DRIVER_ENTRIES
};

/* The exported symbol of an entry and whether it is needed (`needed` may be NULL); NULL past the last. */
const char *gpul__driver_symbol(size_t entry, bool *needed);

/* An entry as a plain address, for those who go through a whole table. */
void *gpul__driver_entry(const gpul__driver *driver, size_t entry);
void gpul__driver_set_entry(gpul__driver *driver, size_t entry, void *function);

/* The release of the driver: that of the loaded kernel module, else of the library's file name; "" when neither is
 * known.  "580.159.04" is one. */
void gpul__driver_release(char *out, size_t size, const gpul__driver *driver);

/* Opens libcuda: `path`, else $GPULAUNCH_LIBCUDA, else where drivers are found.  Each library is loaded once a process and
 * stays loaded.  On success cuInit has succeeded and there is a device.  A failure leaves the thread's error record. */
gpul_status gpul__driver_load(const gpul__driver **out, const char *path);

/* The table whose calls are logged at GPUL_LOG_TRACE; `driver` itself while nobody listens at that level. */
const gpul__driver *gpul__driver_traced(const gpul__driver *driver);

/* Tests: the table that gpul_open takes for the backend cuda instead of loading libcuda; NULL ends it. */
void gpul__driver_override(const gpul__driver *driver);
const gpul__driver *gpul__driver_overridden(void);

#endif
