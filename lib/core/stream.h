/* Streams: the device's own and those of the caller.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_STREAM_H
#define GPUL_CORE_STREAM_H

#include "core/device.h"

struct gpul_stream {
    gpul__refs refs;
    gpul_device *device; /* a reference */
    CUstream handle;
    bool adopted;                     /* never destroyed */
    CUgreenCtx green;                 /* NULL: it runs on the whole device */
    unsigned multiprocessors;         /* of its part; 0: all */
    uint64_t id;                      /* in the ring of launches; 0 is the device's own stream */
    struct gpul_stream *next, **link; /* in the device's list, newest first, under its lock */
};

/* The CUstream to use: that of `stream`, or the device's own for NULL.  A stream of another device is a
 * failing status. */
gpul_status gpul__stream_of(CUstream *out, uint64_t *id, gpul_device *device,
                            const gpul_stream *stream, const char *call);

/* Streams on a part of the multiprocessors: what the options ask for that cannot be; making one, and giving
 * its green context back.  With the device's context current; *entry is what refused. */
gpul_status gpul__green_check(const gpul_device *device, const gpul_stream_opts *opts);
CUresult gpul__green_stream(gpul_stream *stream, gpul_device *device, const gpul_stream_opts *opts,
                            const char **entry);
void gpul__green_free(gpul_stream *stream, gpul_device *device);

/* Waits for one stream with the device's context current; what was launched there has then finished. */
CUresult gpul__stream_wait(gpul_device *device, CUstream stream, uint64_t id);

/* Whether what is queued there goes into a graph and not to the device.  The driver must have the entry. */
static inline bool gpul__stream_is_captured(const gpul__driver *driver, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = driver->StreamIsCapturing(stream, &status);
    return result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

#endif
