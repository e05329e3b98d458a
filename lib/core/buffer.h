/* Device memory of known size.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_BUFFER_H
#define GPUL_CORE_BUFFER_H

#include "base/str.h"
#include "core/device.h"

struct gpul_buffer {
    gpul_device *device; /* a reference */
    CUdeviceptr address;
    size_t size;
    gpul_type type; /* of its elements; GPUL_TYPE_UNKNOWN: any */
    gpul__refs refs;
    gpul_buffer *parent; /* a reference; NULL when it owns its memory */
    char *name;
    gpul_buffer *next, **link; /* owners only: in the device's list, under its lock */

    gpul_memory memory;  /* that of a view is its parent's */
    void *host;          /* where the host reaches it; NULL: nowhere */
    gpul_pool *pool;     /* a reference; NULL: the device's default pool, or none */
    gpul_stream *stream; /* a reference; POOL: freed in this order, NULL: the device's own stream */
    gpul_module *module; /* a reference: the variable is part of it */
    size_t reserved;     /* GROWING: bytes of address space */
    size_t *pieces;      /* GROWING: mapped one behind the other, in bytes */
    size_t piece_count, piece_capacity;
};

/* One more reference.  A borrowed buffer is const; a reference to it ends with gpul_buffer_free like any. */
static inline gpul_buffer *gpul__buffer_take(const gpul_buffer *buffer)
{
    gpul_buffer *taken = (gpul_buffer *)(uintptr_t)buffer;
    gpul__refs_take(&taken->refs);
    return taken;
}

/* "buffer 'x'", or "a buffer" when it has no name. */
void gpul__buffer_title(gpul__str *out, const gpul_buffer *buffer);

/* A buffer without memory behind it yet, and its end when none is found for it; NULL: no host memory. */
gpul_buffer *gpul__buffer_new(gpul_device *device, size_t size, const gpul_alloc_opts *opts);
void gpul__buffer_forget(gpul_buffer *buffer);

/* Enters the device's list of owners; from then on gpul_buffer_free is right. */
void gpul__buffer_keep(gpul_buffer *buffer);

/* Takes memory of the kind in the options, and gives any memory back; buffer_kinds.c.  With the context
 * current.  *entry is what refused. */
CUresult gpul__memory_take(gpul_buffer *buffer, const gpul_alloc_opts *opts, const char **entry);
void gpul__memory_give_back(gpul_buffer *buffer);

/* GL0810 and GL0813: a range that lies outside the buffer, and a pattern that does not fit. */
gpul_status gpul__check_range(const char *call, const char *role, const gpul_buffer *buffer,
                              size_t offset, size_t size);
gpul_status gpul__check_pattern(const gpul_buffer *destination, size_t offset, size_t size,
                                size_t pattern);

/* GL0815: `size` bytes, not 0, from `from` to `to` that share some. */
gpul_status gpul__check_overlap(const char *call, CUdeviceptr to, CUdeviceptr from, size_t size);

/* The pattern as a number of its size: 1, 2 or 4 bytes. */
uint32_t gpul__pattern_number(const void *pattern, size_t size);

/* The bytes from the first to past the last of `height` rows, of which there is one; false: more than can be counted. */
static inline bool gpul__rows_span(size_t *out, size_t pitch, size_t width, size_t height)
{
    return !__builtin_mul_overflow(pitch, height - 1, out) &&
           !__builtin_add_overflow(*out, width, out);
}

/* GL0810: rows that are longer than their pitch, and more of them than there are addresses. */
gpul_status gpul__fail_pitch(const char *call, const char *role, size_t pitch, size_t width);
gpul_status gpul__fail_large(const char *call, const char *role, size_t width, size_t height,
                             size_t depth);

/* One operation on memory: what the entries share around the driver call itself.  Without a stream of the
 * caller's its end is waited for. */
typedef struct gpul__transfer {
    const char *call;
    gpul_device *device;
    const gpul_stream *caller_stream;
    CUstream stream;
    uint64_t stream_id;
    bool pushed;
} gpul__transfer;
gpul_status gpul__transfer_begin(gpul__transfer *t);
gpul_status gpul__transfer_finish(gpul__transfer *t, CUresult result, const char *entry);

/* GL0804: what was asked for, what is free, what there is, and the largest live buffers.  Needs the
 * device's context current. */
gpul_status gpul__fail_exhausted(gpul_device *device, CUresult result, const char *entry,
                                 uint64_t asked, const char *name);

#endif
