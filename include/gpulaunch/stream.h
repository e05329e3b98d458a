/* Streams and events beyond the common ones: facts, adoption of raw ones, host functions, values in
 * memory, events with options, events of other processes.  Making, waiting and timing are in gpulaunch.h.
 * SPDX-License-Identifier: MIT
 *
 * The default streams, said once:
 *  - Calls without a stream use the device's own stream.  It is non-blocking: the legacy default stream
 *    (CUstream 0) and it do not wait for each other.
 *  - gpul_stream_new makes non-blocking streams as well; .blocking = true makes one that waits for work of
 *    the legacy default stream and is waited for by it, as cudart's <<<>>> without a stream expects.
 *  - The legacy default stream (raw 0 or 1) and that of each thread (raw 2) are used by adopting them.
 *  - Streams do not wait for each other but by gpul_event_record and gpul_stream_wait.  A buffer that is
 *    written in one stream and read in another is the caller's to order. */
#ifndef GPULAUNCH_STREAM_H
#define GPULAUNCH_STREAM_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Streams ------------------------------------------------------------------------------- */

typedef struct gpul_stream_info {
    int priority;  /* as the device has it; lower is sooner */
    bool blocking; /* ordered against the legacy default stream */
    bool adopted;
    unsigned multiprocessors; /* of its part; 0: all of the device's */
} gpul_stream_info;
GPUL_API gpul_status gpul_stream_describe(gpul_stream_info *out, gpul_stream *stream);

/* The priorities that streams of the device can have: `least` is the last, `greatest` the first to be
 * served, so the lower number.  Either may be NULL. */
GPUL_API gpul_status gpul_device_priorities(gpul_device *device, int *least, int *greatest);

/* A CUstream of somebody else as a gpul_stream; 0, 1 (legacy) and 2 (per thread) are the default streams.
 * It must be of the device's context.  It is never destroyed, and must live until gpul_stream_free. */
GPUL_API gpul_status gpul_stream_adopt(gpul_stream **out, gpul_device *device, void *stream);

/* Calls fn(user) on a thread of the driver's when the stream gets there; work behind it waits until fn
 * returns.  fn must call neither this library nor the driver.  After a fault it is not called.
 * `stream` NULL: the device's own. */
GPUL_API gpul_status gpul_stream_call(gpul_device *device, gpul_stream *stream,
                                      void (*fn)(void *user), void *user);

/* Whose a managed buffer is, from the stream's present place on. */
typedef enum gpul_attach {
    GPUL_ATTACH_GLOBAL = 1, /* every stream's */
    GPUL_ATTACH_HOST = 2,   /* the host's; no kernel touches it */
    GPUL_ATTACH_SINGLE = 4  /* this stream's, and the host's while the stream is idle */
} gpul_attach;
GPUL_API gpul_status gpul_stream_attach(gpul_stream *stream, gpul_buffer *buffer,
                                        gpul_attach attach);

typedef enum gpul_compare {
    GPUL_COMPARE_GEQ = 0, /* signed difference: *word - value >= 0 */
    GPUL_COMPARE_EQ,
    GPUL_COMPARE_AND, /* (*word & value) != 0 */
    GPUL_COMPARE_NOR  /* ~(*word | value) != 0 */
} gpul_compare;

/* The stream waits until a 32-bit word of the buffer, or writes it, in its order.  `offset` is a multiple
 * of 4.  A wait that nothing ends never ends. */
GPUL_API gpul_status gpul_stream_wait_value(gpul_stream *stream, gpul_buffer *buffer, size_t offset,
                                            uint32_t value, gpul_compare compare);
GPUL_API gpul_status gpul_stream_write_value(gpul_stream *stream, gpul_buffer *buffer,
                                             size_t offset, uint32_t value);

/* ---- Events -------------------------------------------------------------------------------- */

typedef struct gpul_event_opts {
    bool blocking;  /* gpul_event_sync sleeps instead of spinning */
    bool no_timing; /* cheaper; gpul_event_elapsed refuses it */
    bool shared;    /* another process can open it; needs no_timing */
} gpul_event_opts;
#define gpul_event_opts(...) (&(gpul_event_opts){ __VA_ARGS__ })

/* gpul_event_new with options. */
GPUL_API gpul_status gpul_event_make(gpul_event **out, gpul_device *device,
                                     const gpul_event_opts *opts);

/* Whether everything before its mark is done; asks, never waits. */
GPUL_API gpul_status gpul_event_done(bool *out, gpul_event *event);
GPUL_API void *gpul_event_handle(const gpul_event *event); /* the CUevent */

/* A CUevent of somebody else, taken as recorded.  It is never destroyed, and must live until
 * gpul_event_free. */
GPUL_API gpul_status gpul_event_adopt(gpul_event **out, gpul_device *device, void *event);

/* An event that another process can open: plain bytes.  It must have been made with .shared. */
typedef struct gpul_shared_event {
    unsigned char handle[64];
} gpul_shared_event;
GPUL_API gpul_status gpul_event_share(gpul_shared_event *out, gpul_event *event);
GPUL_API gpul_status gpul_event_open_shared(gpul_event **out, gpul_device *device,
                                            const gpul_shared_event *shared);

#ifdef __cplusplus
}
#endif
#endif
