/* Copies of boxes of bytes, of which rectangles are those of one layer, and of whole arrays.
 * SPDX-License-Identifier: MIT */
#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/texture.h"

/* One side of a copy that was checked. */
typedef struct side {
    CUmemorytype kind;
    void *host;
    CUdeviceptr address; /* of its first byte */
    CUarray array;
    size_t x, y, z, pitch, rows; /* rows: from layer to layer */
    size_t span;                 /* bytes from the first to past the last; arrays: 0 */
    gpul_device *device;         /* NULL: the host */
} side;

typedef struct extent {
    size_t width, height, depth; /* none is 0 */
} extent;

typedef struct box_copy {
    const char *call;
    extent size;
    side to, from;
    gpul_device *device; /* of either side */
} box_copy;

gpul_status gpul__fail_pitch(const char *call, const char *role, size_t pitch, size_t width)
{
    return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                      "%s: the %s's rows of %zu bytes are longer than its pitch of %zu", call, role,
                      width, pitch);
}

gpul_status gpul__fail_large(const char *call, const char *role, size_t width, size_t height,
                             size_t depth)
{
    if (depth == 1)
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                          "%s: %zu rows of %zu bytes are more of the %s than can be addressed",
                          call, height, width, role);
    return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                      "%s: %zu layers of %zu rows of %zu bytes are more of the %s than can be "
                      "addressed",
                      call, depth, height, width, role);
}

static bool outside(size_t first, size_t count, size_t all)
{
    return first > all || count > all - first;
}

static gpul_status check_array(const box_copy *job, const char *role, const gpul_box *box)
{
    const gpul_array *array = box->array;
    size_t row = array->width * array->element, rows = array->height ? array->height : 1;
    size_t layers = array->depth ? array->depth : 1;
    if (outside(box->offset, job->size.width, row) || outside(box->row, job->size.height, rows))
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = job->call),
                          "%s: %zu rows of %zu bytes from row %zu, byte %zu on lie "
                          "outside the %s, an array of %zu rows of %zu bytes",
                          job->call, job->size.height, job->size.width, box->row, box->offset, role,
                          rows, row);
    if (outside(box->layer, job->size.depth, layers))
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = job->call),
                          "%s: %zu layers from layer %zu on lie outside the %s, an array of %zu",
                          job->call, job->size.depth, box->layer, role, layers);
    if (box->pitch || box->rows)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = job->call),
                          "%s: an array has no %s, and the %s's is %zu", job->call,
                          box->pitch ? "pitch" : "rows", role, box->pitch ? box->pitch : box->rows);
    return GPUL_OK;
}

static gpul_status check_side(side *out, const box_copy *job, const char *role, const gpul_box *box)
{
    const char *call = job->call;
    size_t layer;
    *out = (side){ .kind = CU_MEMORYTYPE_HOST,
                   .host = NULL,
                   .address = 0,
                   .array = NULL,
                   .x = 0,
                   .y = 0,
                   .z = 0,
                   .pitch = box->pitch ? box->pitch : job->size.width,
                   .rows = box->rows ? box->rows : job->size.height,
                   .span = 0,
                   .device = NULL };
    if (!!box->buffer + !!box->host + !!box->array != 1)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "%s: the %s must be exactly one of a buffer, host memory and an array",
                          call, role);
    if (box->array) {
        out->kind = CU_MEMORYTYPE_ARRAY;
        out->array = box->array->handle;
        out->device = box->array->device;
        out->x = box->offset;
        out->y = box->row;
        out->z = box->layer;
        return check_array(job, role, box);
    }
    if (box->row || box->layer)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "%s: only an array has a first %s; the %s's offset says where it begins",
                          call, box->row ? "row" : "layer", role);
    if (out->pitch < job->size.width)
        return gpul__fail_pitch(call, role, out->pitch, job->size.width);
    if (out->rows < job->size.height)
        return gpul__fail(GPUL__MEMORY_RANGE, (.call = call),
                          "%s: the %s's layers of %zu rows are longer than its %zu rows from layer "
                          "to layer",
                          call, role, job->size.height, out->rows);
    if (!gpul__rows_span(&out->span, out->pitch, job->size.width, job->size.height) ||
        __builtin_mul_overflow(out->pitch, out->rows, &layer) ||
        !gpul__rows_span(&out->span, layer, out->span, job->size.depth))
        return gpul__fail_large(call, role, job->size.width, job->size.height, job->size.depth);
    if (box->host) {
        out->kind = CU_MEMORYTYPE_HOST;
        out->host = (char *)box->host + box->offset;
        return GPUL_OK;
    }
    out->kind = CU_MEMORYTYPE_DEVICE;
    out->device = box->buffer->device;
    out->address = box->buffer->address + box->offset;
    return gpul__check_range(call, role, box->buffer, box->offset, out->span);
}

/* Whether two boxes whose first rows are so many rows apart have a row in the same place. */
static bool rows_meet(const box_copy *job, CUdeviceptr apart)
{
    size_t rows = job->to.rows;
    CUdeviceptr layers = apart / rows, rest = apart % rows;
    return (layers < job->size.depth && rest < job->size.height) ||
           (layers + 1 < job->size.depth && rows - rest < job->size.height);
}

/* With one layout, boxes that interleave are told from boxes that share bytes; else the whole spans count. */
static bool overlap(const box_copy *job)
{
    const side *to = &job->to, *from = &job->from;
    if (to->kind != CU_MEMORYTYPE_DEVICE || from->kind != CU_MEMORYTYPE_DEVICE) return false;
    const side *low = to->address <= from->address ? to : from;
    CUdeviceptr apart = (low == to ? from : to)->address - low->address;
    if (apart >= low->span) return false;
    if (to->pitch != from->pitch || (job->size.depth > 1 && to->rows != from->rows)) return true;
    CUdeviceptr rows = apart / to->pitch, rest = apart % to->pitch;
    return (rest < job->size.width && rows_meet(job, rows)) ||
           (to->pitch - rest < job->size.width && rows_meet(job, rows + 1));
}

/* Fills to, from and device, or refuses: sides that are no memory or two, what lies outside, boxes that overlap,
 * and sides of two devices. */
static gpul_status check_box(box_copy *job, const char *call, const gpul_box *to,
                             const gpul_box *from, extent size)
{
    job->call = call;
    job->size = size;
    gpul_status status = check_side(&job->to, job, "destination", to);
    if (status == GPUL_OK) status = check_side(&job->from, job, "source", from);
    if (status != GPUL_OK) return status;
    job->device = job->to.device ? job->to.device : job->from.device;
    if (!job->device)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = job->call),
                          "%s: both sides are host memory, and no device is named", job->call);
    if (job->from.device && job->from.device != job->device)
        return gpul__fail(GPUL__ARGS_FOREIGN,
                          (.call = job->call,
                           .hint = "gpul_copy copies between devices, a row or a whole at a time"),
                          "%s: source and destination belong to different devices", job->call);
    if (!overlap(job)) return GPUL_OK;
    CUdeviceptr a = job->to.address, b = job->from.address;
    return gpul__fail(
        GPUL__MEMORY_OVERLAP, (.call = job->call, .hint = "copy through a second buffer"),
        "source and destination overlap: %zu rows of %zu bytes, their starts "
        "%llu bytes apart",
        job->size.height, job->size.width, (unsigned long long)(a > b ? a - b : b - a));
}

/* The plane as a box of one layer. */
static gpul_box box_of(const gpul_plane *plane)
{
    return (gpul_box){ .buffer = plane->buffer,
                       .host = plane->host,
                       .array = plane->array,
                       .offset = plane->offset,
                       .row = plane->row,
                       .pitch = plane->pitch };
}

/* Every member of the driver's structs is named below, and the job is not cleared: the compiler clears large structs by
 * an instruction that takes longer than all the checks. */
gpul_status gpul_copy_2d(const gpul_plane *destination, const gpul_plane *source, size_t width,
                         size_t height, gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(source);
    if (!width || !height) return GPUL_OK;
    const gpul_box to_box = box_of(destination), from_box = box_of(source);
    box_copy job;
    gpul_status status =
        check_box(&job, "gpul_copy_2d", &to_box, &from_box, (extent){ width, height, 1 });
    if (status != GPUL_OK) return status;
    const side *to = &job.to, *from = &job.from;
    CUDA_MEMCPY2D copy = { .srcXInBytes = from->x,
                           .srcY = from->y,
                           .srcMemoryType = from->kind,
                           .srcHost = from->host,
                           .srcDevice = from->address,
                           .srcArray = from->array,
                           .srcPitch = from->pitch,
                           .dstXInBytes = to->x,
                           .dstY = to->y,
                           .dstMemoryType = to->kind,
                           .dstHost = to->host,
                           .dstDevice = to->address,
                           .dstArray = to->array,
                           .dstPitch = to->pitch,
                           .WidthInBytes = width,
                           .Height = height };
    gpul__transfer t = { .call = job.call, .device = job.device, .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(t.device), Memcpy2DAsync, &copy, t.stream);
    return gpul__transfer_finish(&t, result, "cuMemcpy2DAsync");
}

static gpul_status copy_box(const char *call, const gpul_box *destination, const gpul_box *source,
                            size_t width, size_t height, size_t depth, gpul_stream *stream)
{
    box_copy job;
    gpul_status status =
        check_box(&job, call, destination, source, (extent){ width, height, depth });
    if (status != GPUL_OK) return status;
    const side *to = &job.to, *from = &job.from;
    CUDA_MEMCPY3D copy = { .srcXInBytes = from->x,
                           .srcY = from->y,
                           .srcZ = from->z,
                           .srcLOD = 0,
                           .srcMemoryType = from->kind,
                           .srcHost = from->host,
                           .srcDevice = from->address,
                           .srcArray = from->array,
                           .reserved0 = NULL,
                           .srcPitch = from->pitch,
                           .srcHeight = from->rows,
                           .dstXInBytes = to->x,
                           .dstY = to->y,
                           .dstZ = to->z,
                           .dstLOD = 0,
                           .dstMemoryType = to->kind,
                           .dstHost = to->host,
                           .dstDevice = to->address,
                           .dstArray = to->array,
                           .reserved1 = NULL,
                           .dstPitch = to->pitch,
                           .dstHeight = to->rows,
                           .WidthInBytes = width,
                           .Height = height,
                           .Depth = depth };
    gpul__transfer t = { .call = call, .device = job.device, .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    CUresult result = GPUL__CALL(gpul__api(t.device), Memcpy3DAsync, &copy, t.stream);
    return gpul__transfer_finish(&t, result, "cuMemcpy3DAsync");
}

gpul_status gpul_copy_3d(const gpul_box *destination, const gpul_box *source, size_t width,
                         size_t height, size_t depth, gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(source);
    if (!width || !height || !depth) return GPUL_OK;
    return copy_box("gpul_copy_3d", destination, source, width, height, depth, stream);
}

/* Between all elements of the array and host memory. */
static gpul_status copy_whole(const char *call, const gpul_box *to, const gpul_box *from,
                              const gpul_array *array, gpul_stream *stream)
{
    return copy_box(call, to, from, array->width * array->element,
                    array->height ? array->height : 1, array->depth ? array->depth : 1, stream);
}

gpul_status gpul_array_write(gpul_array *destination, const void *source, gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(source);
    return copy_whole("gpul_array_write", gpul_box(.array = destination),
                      gpul_box(.host = (void *)(uintptr_t)source), destination, stream);
}

gpul_status gpul_array_read(void *destination, const gpul_array *source, gpul_stream *stream)
{
    GPUL__NEED(destination);
    GPUL__NEED(source);
    return copy_whole("gpul_array_read", gpul_box(.host = destination), gpul_box(.array = source),
                      source, stream);
}
