/* Large copies between pageable memory, or a file, and a device: several threads move pieces through pinned memory of
 * theirs, each while the copy of its other piece is under way.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_STAGING_H
#define GPUL_CORE_STAGING_H

#include "core/device.h"

/* From this size on it pays (the bench copy_rate prints both ways for each size): below it, making the threads and waiting for the
 * last piece cost what is gained. */
#define GPUL__STAGING_LEAST ((size_t)16 << 20)

/* What is copied; one of `from`, `to` and `file` is used. */
typedef struct gpul__staged {
    gpul_device *device;
    CUstream stream;
    CUdeviceptr address; /* on the device */
    size_t size;
    const char *from; /* to the device; NULL: not from memory */
    char *to;         /* from the device; NULL: to the device */
    int file;         /* read from `file_offset` on */
    uint64_t file_offset;
    int error; /* errno of a read that failed; -1: the file is too short */
} gpul__staged;

/* Whether host memory at `host` is better copied so.  With the context current. */
bool gpul__staging_suits(const gpul_device *device, const void *host, size_t size);

/* Copies and waits until the stream has done it.  False: no pinned memory or no threads, and nothing was copied.  With the
 * context current.  *entry is what gave *result. */
bool gpul__staging_copy(gpul__staged *copy, CUresult *result, const char **entry);

/* Reads a part of a file as a whole: 0, or an error as gpul__staged has it. */
int gpul__staging_read(int file, char *out, size_t size, uint64_t offset);

/* With the context current, before it goes. */
void gpul__staging_free(gpul_device *device);

#endif
