/* Limits of an open device, and several devices at once: access to each other's memory.  gpul_copy copies
 * between the devices of one kind by itself.  SPDX-License-Identifier: MIT
 *
 * Any number of devices may be open in a process, and one device several times: each gpul_open makes a
 * context of its own.  Objects of two devices do not mix; buffers meet in gpul_copy. */
#ifndef GPULAUNCH_DEVICE_H
#define GPULAUNCH_DEVICE_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a context sets aside for kernels; the numbers are those of CUlimit. */
typedef enum gpul_limit {
    GPUL_LIMIT_STACK = 0,            /* bytes of call stack for each thread */
    GPUL_LIMIT_PRINTF = 1,           /* bytes of printf output between two waits */
    GPUL_LIMIT_HEAP = 2,             /* bytes for malloc and new inside kernels */
    GPUL_LIMIT_PENDING_LAUNCHES = 4, /* launches by kernels that may wait */
    GPUL_LIMIT_L2_FETCH = 5,         /* bytes fetched into L2 at once, a hint: 0 to 128 */
    GPUL_LIMIT_PERSISTING_L2 = 6     /* bytes of L2 that access windows may hold */
} gpul_limit;

/* The value in force, which may be larger than what was set.  Printf and heap are fixed once a kernel that
 * uses them has been launched. */
GPUL_API gpul_status gpul_device_limit(uint64_t *out, gpul_device *device, gpul_limit limit);
GPUL_API gpul_status gpul_device_set_limit(gpul_device *device, gpul_limit limit, uint64_t value);

/* Gives L2 lines that access windows hold back to all. */
GPUL_API gpul_status gpul_device_reset_persisting(gpul_device *device);

/* How `device` reaches the memory of `peer`. */
typedef struct gpul_peer_info {
    bool access;         /* directly, without a way through the host */
    bool native_atomics; /* atomic operations of kernels work on it */
    bool arrays;         /* arrays too, not only linear memory */
    int rank;            /* of the link; 0 is the fastest */
} gpul_peer_info;
GPUL_API gpul_status gpul_peer_describe(gpul_peer_info *out, gpul_device *device,
                                        gpul_device *peer);

/* Lets kernels of `device` use plain device memory of `peer`: its address is passed as
 * gpul_address(gpul_buffer_address(buffer)).  Refused with E_UNSUPPORTED where the hardware does not allow
 * it.  One direction; twice is once.  gpul_copy needs no such call. */
GPUL_API gpul_status gpul_peer_enable(gpul_device *device, gpul_device *peer);

#ifdef __cplusplus
}
#endif
#endif
