/* Memory of every kind: managed, pinned, pooled, growing, registered, foreign and shared with other
 * processes; advice, copies of rectangles and boxes, fills of rectangles.  gpul_alloc and the plain copies are in
 * gpulaunch.h.  SPDX-License-Identifier: MIT
 *
 * A kind that the device or its driver lacks is refused with GPUL_E_UNSUPPORTED; nothing is replaced by
 * another kind.  What a buffer may be used for does not depend on its kind: every buffer can be copied,
 * filled, viewed and given to a kernel. */
#ifndef GPULAUNCH_MEMORY_H
#define GPULAUNCH_MEMORY_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a buffer; that of a view is its parent's. */
GPUL_API gpul_memory gpul_buffer_memory(const gpul_buffer *buffer);

/* Where the host reads and writes a managed, pinned or registered buffer; NULL for the other kinds.
 * Nothing waits: synchronise before the host touches what a kernel writes. */
GPUL_API void *gpul_buffer_host(const gpul_buffer *buffer);

/* ---- Managed memory ------------------------------------------------------------------------ */

typedef enum gpul_advice {
    GPUL_ADVICE_READ_MOSTLY = 1, /* may be duplicated where it is read; `where` is not used */
    GPUL_ADVICE_NOT_READ_MOSTLY,
    GPUL_ADVICE_PREFERRED, /* its home is `where` */
    GPUL_ADVICE_NOT_PREFERRED,
    GPUL_ADVICE_ACCESSED_BY, /* `where` keeps a mapping of it */
    GPUL_ADVICE_NOT_ACCESSED_BY
} gpul_advice;

/* Tells the driver how a range of a managed buffer is going to be used.  `where` NULL is the host. */
GPUL_API gpul_status gpul_advise(gpul_buffer *buffer, size_t offset, size_t size,
                                 gpul_advice advice, gpul_device *where);

/* Moves a range of a managed buffer to a device, or to the host (`where` NULL).  With a stream: in its
 * order, without waiting; else on the buffer's device's own stream, and done when the call returns. */
GPUL_API gpul_status gpul_prefetch(gpul_buffer *buffer, size_t offset, size_t size,
                                   gpul_device *where, gpul_stream *stream);

/* ---- Pools --------------------------------------------------------------------------------- */

/* Stream-ordered memory: gpul_alloc with GPUL_MEMORY_POOL takes it in the order of a stream, and the
 * free happens in the order of that stream too.  Thread-safety: safe. */
typedef struct gpul_pool gpul_pool;
typedef struct gpul_pool_opts {
    bool device_default; /* the device's own pool, which other libraries use as well */
    uint64_t keep;       /* unused bytes that a synchronisation does not give back */
} gpul_pool_opts;
#define gpul_pool_opts(...) (&(gpul_pool_opts){ __VA_ARGS__ })
GPUL_API gpul_status gpul_pool_new(gpul_pool **out, gpul_device *device,
                                   const gpul_pool_opts *opts);
GPUL_API void gpul_pool_free(gpul_pool **pool);

/* Gives unused memory back to the device until `keep` bytes are left. */
GPUL_API gpul_status gpul_pool_trim(gpul_pool *pool, uint64_t keep);

typedef struct gpul_pool_info {
    uint64_t used, used_peak;         /* bytes in buffers */
    uint64_t reserved, reserved_peak; /* bytes taken from the device */
    uint64_t keep;
} gpul_pool_info;
GPUL_API gpul_status gpul_pool_describe(gpul_pool_info *out, gpul_pool *pool);

/* Frees a pooled buffer in the order of `stream` instead of the one that it was allocated on; another
 * kind of buffer waits for the stream first.  NULL is the device's own stream.  Views of it must be gone,
 * otherwise the free is the last view's, in the order of this stream. */
GPUL_API gpul_status gpul_buffer_free_on(gpul_buffer **buffer, gpul_stream *stream);

/* ---- Growing buffers ----------------------------------------------------------------------- */

/* Makes a buffer of GPUL_MEMORY_GROWING larger: the contents and the address stay, the new part is
 * undefined.  `size` is the new size; no larger than .reserve of its options.  A buffer never shrinks. */
GPUL_API gpul_status gpul_buffer_grow(gpul_buffer *buffer, size_t size);

/* ---- Memory of others ---------------------------------------------------------------------- */

/* Pins host memory that is there already, so that copies from and to it run at full speed and kernels
 * reach it.  Of the options .name, .type, .portable and .read_only count.  The memory stays the caller's
 * and must outlive the buffer. */
GPUL_API gpul_status gpul_register(gpul_buffer **out, gpul_device *device, void *memory,
                                   size_t size, const gpul_alloc_opts *opts);

/* A device address of another library as a buffer.  The driver is asked whether the whole range is one
 * allocation.  The memory stays its owner's and must outlive the buffer. */
GPUL_API gpul_status gpul_wrap(gpul_buffer **out, gpul_device *device, uint64_t address,
                               size_t size, const gpul_alloc_opts *opts);

/* A buffer that another process can open: plain bytes, to be sent by any means. */
typedef struct gpul_shared {
    unsigned char handle[64];
    uint64_t offset, size;
} gpul_shared;

/* Only plain device memory (GPUL_MEMORY_DEVICE) and views of it can be shared.  It must outlive every use
 * in the other process; opening a handle of one's own process is refused by the driver.  Drivers share
 * whole blocks of 2 MiB: what else lies in one, the other process can reach too, unless the buffer's size is a
 * multiple of that. */
GPUL_API gpul_status gpul_buffer_share(gpul_shared *out, gpul_buffer *buffer);
GPUL_API gpul_status gpul_open_shared(gpul_buffer **out, gpul_device *device,
                                      const gpul_shared *shared, const gpul_alloc_opts *opts);

/* ---- Two and three dimensions -------------------------------------------------------------- */

/* A buffer whose rows begin `*pitch` bytes apart, as the device likes them best; of `height` rows with
 * `width` bytes in use each. */
GPUL_API gpul_status gpul_alloc_2d(gpul_buffer **out, size_t *pitch, gpul_device *device,
                                   size_t width, size_t height, const gpul_alloc_opts *opts);

typedef struct gpul_array gpul_array; /* texture.h */

/* Where a rectangle of bytes lies: in exactly one of a buffer, host memory or an array. */
typedef struct gpul_plane {
    const gpul_buffer *buffer;
    void *host; /* of a source it is only read */
    const gpul_array *array;
    size_t offset; /* bytes from its start to the rectangle's first byte; arrays: in the row */
    size_t row;    /* arrays: the first row; else 0 */
    size_t pitch;  /* bytes from row to row; 0: rows lie one behind the other.  Arrays: 0 */
} gpul_plane;
#define gpul_plane(...) (&(gpul_plane){ __VA_ARGS__ })

/* Copies `height` rows of `width` bytes.  As gpul_copy: without a stream it is done when the call returns;
 * rows outside a buffer or array and rectangles of one buffer that overlap are refused. */
GPUL_API gpul_status gpul_copy_2d(const gpul_plane *destination, const gpul_plane *source,
                                  size_t width, size_t height, gpul_stream *stream);

/* Where a box of bytes lies, as gpul_plane, with layers of rows. */
typedef struct gpul_box {
    const gpul_buffer *buffer;
    void *host; /* of a source it is only read */
    const gpul_array *array;
    size_t offset;     /* bytes from its start to the box's first byte; arrays: in the row */
    size_t row, layer; /* arrays: the first row and the first layer; else 0 */
    size_t pitch;      /* bytes from row to row; 0: rows lie one behind the other.  Arrays: 0 */
    size_t rows; /* rows from layer to layer; 0: layers lie one behind the other.  Arrays: 0 */
} gpul_box;
#define gpul_box(...) (&(gpul_box){ __VA_ARGS__ })

/* Copies `depth` layers of `height` rows of `width` bytes, by the rules of gpul_copy_2d. */
GPUL_API gpul_status gpul_copy_3d(const gpul_box *destination, const gpul_box *source, size_t width,
                                  size_t height, size_t depth, gpul_stream *stream);

/* Repeats a pattern of 1, 2 or 4 bytes in `height` rows of `width` bytes; `offset`, `pitch` and `width` are
 * multiples of it. */
GPUL_API gpul_status gpul_fill_2d(gpul_buffer *destination, size_t offset, size_t pitch,
                                  size_t width, size_t height, const void *pattern,
                                  size_t pattern_size, gpul_stream *stream);

/* ---- Files --------------------------------------------------------------------------------- */

/* Bytes of an open file, from `file_offset` on, into a buffer: read piece by piece, so that the file is never as a whole in
 * host memory, and by several threads where it is large.  On the device's own stream, and done when the call returns; the
 * descriptor's own position stays.  A file that is too short, or cannot be read, is GPUL_E_SYSTEM, and then
 * the range may hold a part of it. */
GPUL_API gpul_status gpul_write_file(gpul_buffer *destination, size_t offset, int file,
                                     uint64_t file_offset, size_t size);

#ifdef __cplusplus
}
#endif
#endif
