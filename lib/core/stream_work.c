/* What is put into a stream beside launches and copies: host functions, values in memory, whose managed
 * memory is; and a stream's facts.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/stream.h"

gpul_status gpul_stream_describe(gpul_stream_info *out, gpul_stream *stream)
{
    if (!out) return gpul__fail_null("gpul_stream_describe", "out");
    memset(out, 0, sizeof *out);
    GPUL__NEED(stream);
    gpul_device *device = stream->device;
    bool pushed;
    unsigned flags = 0;
    int priority = 0;
    gpul_status status = gpul__enter(device, &pushed, "gpul_stream_describe");
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(device);
    const char *entry = "cuStreamGetFlags";
    CUresult result = GPUL__CALL(driver, StreamGetFlags, stream->handle, &flags);
    if (result == CUDA_SUCCESS) {
        entry = "cuStreamGetPriority";
        result = GPUL__CALL(driver, StreamGetPriority, stream->handle, &priority);
    }
    if (result == CUDA_SUCCESS) {
        out->blocking = !(flags & CU_STREAM_NON_BLOCKING);
        out->priority = priority;
        out->adopted = stream->adopted;
        out->multiprocessors = stream->multiprocessors;
    }
    return gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result, entry,
                            "a stream does not tell about itself");
}

gpul_status gpul_device_priorities(gpul_device *device, int *least, int *greatest)
{
    int low = 0, high = 0;
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    GPUL__NEED(device);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_device_priorities");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__api(device)->CtxGetStreamPriorityRange(&low, &high);
    if (least) *least = low;
    if (greatest) *greatest = high;
    return gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result,
                            "cuCtxGetStreamPriorityRange", "the priorities of streams");
}

gpul_status gpul_stream_call(gpul_device *device, gpul_stream *stream, void (*fn)(void *user),
                             void *user)
{
    GPUL__NEED(device);
    GPUL__NEED(fn);
    CUstream handle;
    uint64_t id;
    gpul_status status = gpul__stream_of(&handle, &id, device, stream, "gpul_stream_call");
    bool pushed;
    if (status == GPUL_OK) status = gpul__enter(device, &pushed, "gpul_stream_call");
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(device), LaunchHostFunc, handle, fn, user);
    return gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result, "cuLaunchHostFunc",
                            "a host function cannot be queued");
}

/* The start of a call on a stream and a buffer, with the context current. */
static gpul_status begin(const char *call, gpul_stream *stream, const gpul_buffer *buffer,
                         bool *pushed)
{
    if (!stream) return gpul__fail_null(call, "stream");
    if (!buffer) return gpul__fail_null(call, "buffer");
    CUstream handle;
    uint64_t id;
    gpul_status status = gpul__stream_of(&handle, &id, buffer->device, stream, call);
    return status == GPUL_OK ? gpul__enter(buffer->device, pushed, call) : status;
}

gpul_status gpul_stream_attach(gpul_stream *stream, gpul_buffer *buffer, gpul_attach attach)
{
    static const char call[] = "gpul_stream_attach";
    if (attach != GPUL_ATTACH_GLOBAL && attach != GPUL_ATTACH_HOST && attach != GPUL_ATTACH_SINGLE)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "attach is %d, which is none of gpul_attach", (int)attach);
    if (buffer && (buffer->memory != GPUL_MEMORY_MANAGED || buffer->parent))
        return gpul__fail(GPUL__MEMORY_KIND, (.call = call),
                          "only a whole buffer of GPUL_MEMORY_MANAGED can be attached to a stream");
    bool pushed;
    gpul_status status = begin(call, stream, buffer, &pushed);
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(stream->device), StreamAttachMemAsync, stream->handle,
                                 buffer->address, 0, (unsigned)attach); /* the same numbers */
    return gpul__leave_with(stream->device, pushed, GPUL__MEMORY_FAILED, result,
                            "cuStreamAttachMemAsync", "managed memory cannot be attached");
}

static gpul_status check_word(const char *call, const gpul_buffer *buffer, size_t offset)
{
    if (!buffer) return gpul__fail_null(call, "buffer");
    if ((buffer->address + offset) % 4)
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                          "%s: the word at offset %zu is not aligned to 4 bytes", call, offset);
    return gpul__check_range(call, "buffer", buffer, offset, 4);
}

gpul_status gpul_stream_wait_value(gpul_stream *stream, gpul_buffer *buffer, size_t offset,
                                   uint32_t value, gpul_compare compare)
{
    static const char call[] = "gpul_stream_wait_value";
    if ((unsigned)compare > GPUL_COMPARE_NOR)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "compare is %d, which is none of gpul_compare", (int)compare);
    bool pushed;
    gpul_status status = check_word(call, buffer, offset);
    if (status == GPUL_OK) status = begin(call, stream, buffer, &pushed);
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(stream->device), StreamWaitValue32, stream->handle,
                                 buffer->address + offset, value, (unsigned)compare);
    return gpul__leave_with(stream->device, pushed, GPUL__EXECUTE_FAILED, result,
                            "cuStreamWaitValue32", "a stream cannot wait for a value");
}

gpul_status gpul_stream_write_value(gpul_stream *stream, gpul_buffer *buffer, size_t offset,
                                    uint32_t value)
{
    static const char call[] = "gpul_stream_write_value";
    bool pushed;
    gpul_status status = check_word(call, buffer, offset);
    if (status == GPUL_OK) status = begin(call, stream, buffer, &pushed);
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(stream->device), StreamWriteValue32, stream->handle,
                                 buffer->address + offset, value, 0);
    return gpul__leave_with(stream->device, pushed, GPUL__EXECUTE_FAILED, result,
                            "cuStreamWriteValue32", "a stream cannot write a value");
}
