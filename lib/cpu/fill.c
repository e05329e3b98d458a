/* The entries that fill memory.  SPDX-License-Identifier: MIT */
#include "cpu/context.h"
#include "cpu/copy.h"
#include "cpu/entries.h"
#include "cpu/graph.h"

/* `stream` NULL: the synchronous form. */
static CUresult fill2d(const CUDA_MEMSET_NODE_PARAMS *fill, const CUstream *handle)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    cpu_stream *stream;
    result = gpul__cpu_stream_any(context, handle ? *handle : NULL, &stream);
    if (result) return gpul__cpu_leave(result);
    cpu_work *work;
    result = gpul__cpu_fill_check(&work, fill);
    if (result) return gpul__cpu_leave(result);
    result = handle ? gpul__cpu_issue(stream, work) : gpul__cpu_issue_and_wait(stream, work);
    gpul__cpu_work_drop(work);
    return handle ? gpul__cpu_leave(result) : gpul__cpu_leave_synchronised(result);
}

/* The twelve entries: by width of the element, in one or two dimensions, synchronous or not. */
// clang-format off
#define FILLS(bits, type)                                                                          \
    CUresult gpul__cpu_MemsetD##bits(CUdeviceptr address, type value, size_t count)                \
    {                                                                                              \
        return fill2d(&(CUDA_MEMSET_NODE_PARAMS){ address, 0, value, bits / 8, count, 1 }, NULL);  \
    }                                                                                              \
    CUresult gpul__cpu_MemsetD##bits##Async(CUdeviceptr address, type value, size_t count,         \
                                            CUstream stream)                                       \
    {                                                                                              \
        return fill2d(&(CUDA_MEMSET_NODE_PARAMS){ address, 0, value, bits / 8, count, 1 },         \
                      &stream);                                                                    \
    }                                                                                              \
    CUresult gpul__cpu_MemsetD2D##bits(CUdeviceptr address, size_t pitch, type value,              \
                                       size_t width, size_t height)                                \
    {                                                                                              \
        return fill2d(&(CUDA_MEMSET_NODE_PARAMS){ address, pitch, value, bits / 8, width, height },\
                      NULL);                                                                       \
    }                                                                                              \
    CUresult gpul__cpu_MemsetD2D##bits##Async(CUdeviceptr address, size_t pitch, type value,       \
                                              size_t width, size_t height, CUstream stream)        \
    {                                                                                              \
        return fill2d(&(CUDA_MEMSET_NODE_PARAMS){ address, pitch, value, bits / 8, width, height },\
                      &stream);                                                                    \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
// clang-format on
