/* Events: marks in a stream, and times between them.  SPDX-License-Identifier: MIT */
#include "core/context.h"
#include "core/device_failure.h"
#include "core/stream.h"

struct gpul_event {
    gpul_device *device; /* a reference */
    CUevent handle;
    bool recorded;
    uint64_t mark, stream; /* launches in the stream that it covers */
};

static gpul_status refused(gpul_device *device, CUresult result, const char *entry,
                           const char *what)
{
    return gpul__refused(device, &(gpul__refusal){ GPUL__EXECUTE_FAILED, result, entry, NULL, 0 },
                         "%s", what);
}

gpul_status gpul_event_new(gpul_event **out, gpul_device *device)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    gpul_event *event = gpul__calloc(1, sizeof *event);
    if (!event) return gpul__no_memory();
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_event_new");
    if (status == GPUL_OK) {
        CUresult result = gpul__api(device)->EventCreate(&event->handle, CU_EVENT_DEFAULT);
        gpul__leave(device, pushed);
        if (result != CUDA_SUCCESS)
            status = refused(device, result, "cuEventCreate", "an event cannot be made");
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

void gpul_event_free(gpul_event **pointer)
{
    if (!pointer || !*pointer) return;
    gpul_event *event = *pointer;
    *pointer = NULL;
    bool pushed;
    if (gpul__enter_quietly(event->device, &pushed)) {
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
