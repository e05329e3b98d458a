/* Events: marks in a stream, and times between them.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/context.h"
#include "core/device_failure.h"
#include "core/stream.h"

struct gpul_event {
    gpul_device *device; /* a reference */
    CUevent handle;
    bool recorded, adopted, timed;
    uint64_t mark, stream; /* launches in the stream that it covers */
};

static gpul_status refused(gpul_device *device, CUresult result, const char *entry,
                           const char *what)
{
    return gpul__refused(device, &(gpul__refusal){ GPUL__EXECUTE_FAILED, result, entry, NULL, 0 },
                         "%s", what);
}

/* What an event begins as: made with flags, adopted, or opened from another process's handle. */
static gpul_status start(gpul_event **out, gpul_device *device, const gpul_event *as,
                         unsigned flags, const gpul_shared_event *shared, const char *call)
{
    gpul_event *event = gpul__malloc(sizeof *event);
    if (!event) return gpul__no_memory();
    *event = *as;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, call);
    if (status == GPUL_OK) {
        const gpul__driver *driver = gpul__api(device);
        const char *entry = shared ? "cuIpcOpenEventHandle" : "cuEventCreate";
        CUresult result = CUDA_SUCCESS;
        CUipcEventHandle handle;
        if (shared) {
            memcpy(&handle, shared->handle, sizeof handle);
            result = GPUL__CALL(driver, IpcOpenEventHandle, &event->handle, handle);
        } else if (!event->adopted) {
            result = driver->EventCreate(&event->handle, flags);
        }
        status = gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result, entry,
                                  "an event cannot be made");
    }
    if (status != GPUL_OK) {
        gpul__free(event);
        return status;
    }
    gpul__device_take(device);
    event->device = device;
    *out = event;
    return GPUL_OK;
}

gpul_status gpul_event_make(gpul_event **out, gpul_device *device, const gpul_event_opts *opts)
{
    static const gpul_event_opts defaults;
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    if (!opts) opts = &defaults;
    if (opts->shared && !opts->no_timing)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_event_make"),
                          "an event that is shared cannot be timed: set .no_timing too");
    unsigned flags = (opts->blocking ? (unsigned)CU_EVENT_BLOCKING_SYNC : 0) |
                     (opts->no_timing ? (unsigned)CU_EVENT_DISABLE_TIMING : 0) |
                     (opts->shared ? (unsigned)CU_EVENT_INTERPROCESS : 0);
    return start(out, device, &(gpul_event){ .timed = !opts->no_timing }, flags, NULL,
                 "gpul_event_make");
}

gpul_status gpul_event_new(gpul_event **out, gpul_device *device)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    return start(out, device, &(gpul_event){ .timed = true }, CU_EVENT_DEFAULT, NULL,
                 "gpul_event_new");
}

/* What others recorded covers no launch that is known here. */
enum { NO_STREAM = -1 };

gpul_status gpul_event_adopt(gpul_event **out, gpul_device *device, void *event)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(event);
    const gpul_event as = { .handle = event,
                            .adopted = true,
                            .recorded = true,
                            .timed = true,
                            .stream = (uint64_t)NO_STREAM };
    return start(out, device, &as, 0, NULL, "gpul_event_adopt");
}

gpul_status gpul_event_open_shared(gpul_event **out, gpul_device *device,
                                   const gpul_shared_event *shared)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    GPUL__NEED(shared);
    const gpul_event as = { .recorded = true, .stream = (uint64_t)NO_STREAM };
    return start(out, device, &as, 0, shared, "gpul_event_open_shared");
}

gpul_status gpul_event_share(gpul_shared_event *out, gpul_event *event)
{
    if (!out) return gpul__fail_null("gpul_event_share", "out");
    memset(out, 0, sizeof *out);
    GPUL__NEED(event);
    CUipcEventHandle handle;
    bool pushed;
    gpul_status status = gpul__enter(event->device, &pushed, "gpul_event_share");
    if (status != GPUL_OK) return status;
    CUresult result =
        GPUL__CALL(gpul__api(event->device), IpcGetEventHandle, &handle, event->handle);
    if (result == CUDA_SUCCESS) memcpy(out->handle, &handle, sizeof handle);
    return gpul__leave_with(event->device, pushed, GPUL__EXECUTE_FAILED, result,
                            "cuIpcGetEventHandle",
                            "an event cannot be shared (it needs .shared when it is made)");
}

void *gpul_event_handle(const gpul_event *event)
{
    return event ? event->handle : NULL;
}

void gpul_event_free(gpul_event **pointer)
{
    if (!pointer || !*pointer) return;
    gpul_event *event = *pointer;
    *pointer = NULL;
    bool pushed;
    if (!event->adopted && gpul__enter_quietly(event->device, &pushed)) {
        gpul__api(event->device)->EventDestroy(event->handle);
        gpul__leave(event->device, pushed);
    }
    gpul__device_drop(event->device);
    gpul__free(event);
}

gpul_status gpul_event_record(gpul_event *event, gpul_stream *stream)
{
    GPUL__NEED(event);
    gpul_device *device = event->device;
    CUstream handle;
    uint64_t id;
    gpul_status status = gpul__stream_of(&handle, &id, device, stream, "gpul_event_record");
    if (status != GPUL_OK) return status;
    bool pushed;
    status = gpul__enter(device, &pushed, "gpul_event_record");
    if (status != GPUL_OK) return status;
    uint64_t mark = gpul__ring_mark(&device->ring);
    CUresult result = gpul__api(device)->EventRecord(event->handle, handle);
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return refused(device, result, "cuEventRecord", "an event cannot be recorded");
    event->recorded = true;
    event->mark = mark;
    event->stream = id;
    return GPUL_OK;
}

static gpul_status need_recorded(const gpul_event *event, const char *call, const char *which)
{
    if (event->recorded) return GPUL_OK;
    return gpul__fail(GPUL__EXECUTE_EVENT,
                      (.call = call, .hint = "call gpul_event_record on it first"),
                      "%s: %s was not recorded", call, which);
}

/* Waits for an event with the context current. */
static CUresult wait_for(gpul_event *event)
{
    CUresult result = gpul__api(event->device)->EventSynchronize(event->handle);
    if (result == CUDA_SUCCESS)
        gpul__ring_finished(&event->device->ring, event->mark, event->stream);
    return result;
}

gpul_status gpul_event_done(bool *out, gpul_event *event)
{
    GPUL__OUT(out, false);
    GPUL__NEED(event);
    gpul_status status = need_recorded(event, "gpul_event_done", "the event");
    bool pushed;
    if (status == GPUL_OK) status = gpul__enter(event->device, &pushed, "gpul_event_done");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(event->device)->EventQuery(event->handle);
    *out = result == CUDA_SUCCESS;
    if (*out) gpul__ring_finished(&event->device->ring, event->mark, event->stream);
    if (result == CUDA_ERROR_NOT_READY) result = CUDA_SUCCESS;
    return gpul__leave_with(event->device, pushed, GPUL__EXECUTE_FAILED, result, "cuEventQuery",
                            "asking whether an event is done");
}

gpul_status gpul_event_sync(gpul_event *event)
{
    GPUL__NEED(event);
    gpul_status status = need_recorded(event, "gpul_event_sync", "the event");
    if (status != GPUL_OK) return status;
    bool pushed;
    status = gpul__enter(event->device, &pushed, "gpul_event_sync");
    if (status != GPUL_OK) return status;
    CUresult result = wait_for(event);
    gpul__leave(event->device, pushed);
    if (result != CUDA_SUCCESS)
        return refused(event->device, result, "cuEventSynchronize", "waiting for an event");
    return GPUL_OK;
}

gpul_status gpul_stream_wait(gpul_stream *stream, gpul_event *event)
{
    GPUL__NEED(event);
    gpul_device *device = event->device;
    CUstream handle;
    uint64_t id;
    gpul_status status = gpul__stream_of(&handle, &id, device, stream, "gpul_stream_wait");
    if (status == GPUL_OK) status = need_recorded(event, "gpul_stream_wait", "the event");
    if (status != GPUL_OK) return status;
    bool pushed;
    status = gpul__enter(device, &pushed, "gpul_stream_wait");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(device)->StreamWaitEvent(handle, event->handle, 0);
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return refused(device, result, "cuStreamWaitEvent", "a stream cannot wait for an event");
    return GPUL_OK;
}

gpul_status gpul_event_elapsed(float *out, gpul_event *start, gpul_event *end)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(start);
    GPUL__NEED(end);
    gpul_device *device = start->device;
    if (end->device != device)
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = "gpul_event_elapsed"),
                          "the two events belong to different devices");
    if (!start->timed || !end->timed)
        return gpul__fail(GPUL__EXECUTE_EVENT, (.call = "gpul_event_elapsed"),
                          "%s was made with .no_timing", start->timed ? "end" : "start");
    gpul_status status = need_recorded(start, "gpul_event_elapsed", "start");
    if (status == GPUL_OK) status = need_recorded(end, "gpul_event_elapsed", "end");
    if (status != GPUL_OK) return status;
    bool pushed;
    status = gpul__enter(device, &pushed, "gpul_event_elapsed");
    if (status != GPUL_OK) return status;
    const char *entry = "cuEventSynchronize";
    CUresult result = wait_for(end);
    if (result == CUDA_SUCCESS) {
        entry = "cuEventElapsedTime";
        result = gpul__api(device)->EventElapsedTime(out, start->handle, end->handle);
    }
    gpul__leave(device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    *out = 0;
    if (result == CUDA_ERROR_NOT_READY)
        return gpul__fail(GPUL__EXECUTE_EVENT,
                          (.call = entry, .native_kind = GPUL_NATIVE_CUDA, .native = (int)result,
                           .hint = "wait for it with gpul_event_sync first"),
                          "the start event has not been reached yet");
    return refused(device, result, entry, "the time between two events");
}
