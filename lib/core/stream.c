/* Streams, and waiting for all of a device.  SPDX-License-Identifier: MIT */
#include "core/stream.h"

#include "core/context.h"
#include "core/device_failure.h"

gpul_status gpul__stream_of(CUstream *out, uint64_t *id, gpul_device *device,
                            const gpul_stream *stream, const char *call)
{
    if (stream && stream->device != device)
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = call),
                          "%s: the stream belongs to another device than the other arguments",
                          call);
    *out = stream ? stream->handle : device->stream;
    *id = stream ? stream->id : 0;
    return GPUL_OK;
}

CUresult gpul__stream_wait(gpul_device *device, CUstream stream, uint64_t id)
{
    uint64_t mark = gpul__ring_mark(&device->ring);
    CUresult result = gpul__api(device)->StreamSynchronize(stream);
    if (result == CUDA_SUCCESS) gpul__ring_finished(&device->ring, mark, id);
    return result;
}

static gpul_status refused(gpul_device *device, CUresult result, const char *entry,
                           const char *what)
{
    return gpul__refused(device, &(gpul__refusal){ GPUL__EXECUTE_FAILED, result, entry, NULL, 0 },
                         "%s", what);
}

static void add_to_list(gpul_stream *stream)
{
    gpul_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    stream->id = ++device->streams_made;
    stream->next = device->streams;
    stream->link = &device->streams;
    if (stream->next) stream->next->link = &stream->next;
    device->streams = stream;
    pthread_mutex_unlock(&device->lock);
}

/* Streams are found by gpul_sync through the list, so the last reference is dropped under the lock. */
static void drop(gpul_stream *stream)
{
    gpul_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    bool last = gpul__refs_drop(&stream->refs);
    if (last) {
        *stream->link = stream->next;
        if (stream->next) stream->next->link = stream->link;
    }
    pthread_mutex_unlock(&device->lock);
    if (!last) return;
    bool pushed;
    if (!stream->adopted && gpul__enter_quietly(device, &pushed)) {
        gpul__api(device)->StreamDestroy(stream->handle);
        gpul__green_free(stream, device);
        gpul__leave(device, pushed);
    }
    gpul__free(stream);
    gpul__device_drop(device);
}

/* Lower is sooner: `greatest` is the lowest number. */
static CUresult create(gpul_device *device, gpul_stream *stream, const gpul_stream_opts *opts,
                       const char **entry)
{
    if (opts->multiprocessors) return gpul__green_stream(stream, device, opts, entry);
    const gpul__driver *driver = gpul__api(device);
    unsigned flags = opts->blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    int least = 0, greatest = 0;
    *entry = "cuCtxGetStreamPriorityRange";
    CUresult result = driver->CtxGetStreamPriorityRange(&least, &greatest);
    if (result != CUDA_SUCCESS) return result;
    int priority = opts->priority;
    if (priority > least) priority = least;
    if (priority < greatest) priority = greatest;
    *entry = "cuStreamCreateWithPriority";
    return driver->StreamCreateWithPriority(&stream->handle, flags, priority);
}

/* What a stream begins as: made, or adopted. */
static gpul_status start(gpul_stream **out, gpul_device *device, const gpul_stream_opts *opts,
                         CUstream adopted, const char *call)
{
    gpul_stream *stream = gpul__calloc(1, sizeof *stream);
    if (!stream) return gpul__no_memory();
    stream->adopted = !opts;
    stream->handle = adopted;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, call);
    if (status == GPUL_OK) {
        const char *entry = NULL;
        CUresult result = opts ? create(device, stream, opts, &entry) : CUDA_SUCCESS;
        status = gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result, entry,
                                  "a stream cannot be made");
    }
    if (status != GPUL_OK) {
        gpul__free(stream);
        return status;
    }
    gpul__refs_init(&stream->refs);
    gpul__device_take(device);
    stream->device = device;
    add_to_list(stream);
    *out = stream;
    return GPUL_OK;
}

gpul_status gpul_stream_new(gpul_stream **out, gpul_device *device, const gpul_stream_opts *opts)
{
    static const gpul_stream_opts defaults;
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    if (!opts) opts = &defaults;
    gpul_status status = gpul__green_check(device, opts);
    return status == GPUL_OK ? start(out, device, opts, NULL, "gpul_stream_new") : status;
}

gpul_status gpul_stream_adopt(gpul_stream **out, gpul_device *device, void *stream)
{
    enum { LARGEST_DEFAULT = 2 }; /* 0 and 1 legacy, 2 per thread: of whatever context is current */
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    if ((uintptr_t)stream > LARGEST_DEFAULT && gpul__api(device)->StreamGetCtx) {
        CUcontext context = NULL;
        bool pushed;
        gpul_status status = gpul__enter(device, &pushed, "gpul_stream_adopt");
        if (status != GPUL_OK) return status;
        CUresult result = gpul__api(device)->StreamGetCtx(stream, &context);
        status = gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result, "cuStreamGetCtx",
                                  "the stream to adopt cannot be used");
        if (status != GPUL_OK) return status;
        if (context != device->context)
            return gpul__fail(GPUL__ARGS_FOREIGN,
                              (.call = "gpul_stream_adopt",
                               .hint = "open a device with that context: GPUL_CONTEXT_ADOPT"),
                              "the stream to adopt belongs to another context than the device's");
    }
    return start(out, device, NULL, stream, "gpul_stream_adopt");
}

void gpul_stream_free(gpul_stream **stream)
{
    if (!stream) return;
    if (*stream) drop(*stream);
    *stream = NULL;
}

void *gpul_stream_handle(const gpul_stream *stream)
{
    return stream ? stream->handle : NULL;
}

gpul_status gpul_stream_sync(gpul_stream *stream)
{
    GPUL__NEED(stream);
    gpul_device *device = stream->device;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_stream_sync");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__stream_wait(device, stream->handle, stream->id);
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return refused(device, result, "cuStreamSynchronize", "waiting for a stream");
    return gpul__tell_cpu_findings(device, "gpul_stream_sync");
}

gpul_status gpul_stream_done(bool *out, gpul_stream *stream)
{
    GPUL__OUT(out, false);
    GPUL__NEED(stream);
    gpul_device *device = stream->device;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_stream_done");
    if (status != GPUL_OK) return status;
    uint64_t mark = gpul__ring_mark(&device->ring);
    CUresult result = gpul__api(device)->StreamQuery(stream->handle);
    gpul__leave(device, pushed);
    if (result == CUDA_ERROR_NOT_READY) return GPUL_OK;
    if (result != CUDA_SUCCESS)
        return refused(device, result, "cuStreamQuery", "asking whether a stream is done");
    gpul__ring_finished(&device->ring, mark, stream->id);
    *out = true;
    return GPUL_OK;
}

/* The newest stream with an id below `id`, with a reference; NULL: there is none. */
static gpul_stream *stream_below(gpul_device *device, uint64_t id)
{
    pthread_mutex_lock(&device->lock);
    gpul_stream *stream = device->streams;
    while (stream && stream->id >= id) stream = stream->next;
    if (stream) gpul__refs_take(&stream->refs);
    pthread_mutex_unlock(&device->lock);
    return stream;
}

gpul_status gpul_sync(gpul_device *device)
{
    GPUL__NEED(device);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_sync");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__stream_wait(device, device->stream, 0);
    gpul_stream *stream = NULL;
    for (uint64_t id = UINT64_MAX; result == CUDA_SUCCESS; id = stream->id, drop(stream)) {
        stream = stream_below(device, id);
        if (!stream) break;
        result = gpul__stream_wait(device, stream->handle, stream->id);
    }
    gpul__leave(device, pushed);
    if (result != CUDA_SUCCESS)
        return refused(device, result, "cuStreamSynchronize", "waiting for the device");
    return gpul__tell_cpu_findings(device, "gpul_sync");
}
