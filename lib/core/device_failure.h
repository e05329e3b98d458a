/* From a driver's CUresult to an error record.  One function for every driver call that is made on an
 * open device: it tells apart a fork, a sticky fault, exhausted memory and an ordinary refusal.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_DEVICE_FAILURE_H
#define GPUL_CORE_DEVICE_FAILURE_H

#include "base/str.h"
#include "core/device.h"
#ifdef GPUL_HAVE_CPU
#include "cpu/cpu.h"
#endif

/* A driver entry refused.  `code` is what to say when it is an ordinary refusal, `function` ours and
 * `entry` the driver's ("cuMemFree"); the sentence says what was being done. */
typedef struct gpul__refusal {
    int code;
    CUresult result;
    const char *entry;
    const char *caller_file;
    int caller_line;
} gpul__refusal;

gpul_status gpul__refused(gpul_device *device, const gpul__refusal *refusal, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

/* The end of most calls: leaves the context, and makes a record when the entry refused.  `code` and
 * `what` are for an ordinary refusal. */
gpul_status gpul__leave_with(gpul_device *device, bool pushed, int code, CUresult result,
                             const char *entry, const char *what);

/* Whether a result means that the context is lost. */
bool gpul__is_sticky(CUresult result);

/* The launch that a checked call waited for, and which is therefore the one to blame. */
gpul_status gpul__blame(gpul_device *device, CUresult result, const char *entry,
                        const gpul__launch_record *launch);

/* "'scale', grid 4x1x1, block 256x1x1", and the same as a detail with the caller's place. */
void gpul__describe_launch(gpul__str *out, const gpul__launch_record *launch);
void gpul__detail_launch(const gpul__launch_record *launch);

/* The CPU device reports its faults in full: makes the record from that.  False when there is no
 * report; device_failure_cpu.c. */
bool gpul__tell_cpu_fault(gpul_device *device, const gpul__refusal *refusal,
                          const gpul__launch_record *known);

/* The number by which the CPU device's reports name this thread's latest launch; 0 on a GPU. */
static inline uint64_t gpul__native_launch(const gpul_device *device)
{
#ifdef GPUL_HAVE_CPU
    if (__builtin_expect(device->is_cpu, 0)) return gpul__cpu_launch_number();
#endif
    (void)device;
    return 0;
}

/* Passes on, as warnings of the log, what the CPU device found in launches that succeeded. */
void gpul__tell_cpu_warnings(gpul_device *device);
/* The same for a call that has waited: what checkers found to be wrong makes it fail. */
gpul_status gpul__tell_cpu_findings(gpul_device *device, const char *call);

/* The driver's own error log (12.9 and later) since the last failure; "" without one.  The text is freed with gpul__free; NULL when memory is exhausted. */
char *gpul__driver_log(const gpul__driver *driver);

/* "12.5 GiB", "400 bytes". */
const char *gpul__bytes(char buffer[32], uint64_t bytes);

#endif
