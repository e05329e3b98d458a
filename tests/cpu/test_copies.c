/* Copies and fills in all their forms, and their refusals.  SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <stdlib.h>

static void plain(void **state)
{
    (void)state;
    unsigned char in[64], out[64] = { 0 };
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)i;
    CUdeviceptr a = alloc(64), b = alloc(64);
    ok(cu->MemcpyHtoD(a, in, 64));
    ok(cu->MemcpyDtoD(b, a, 64));
    ok(cu->MemcpyDtoH(out, b, 64));
    assert_memory_equal(in, out, 64);
    ok(cu->MemcpyDtoH(out, b + 10, 5));
    assert_memory_equal(in + 10, out, 5);
    memset(out, 0, sizeof out);
    ok(cu->Memcpy((CUdeviceptr)(uintptr_t)out, b, 64)); /* told by address */
    assert_memory_equal(in, out, 64);
    ok(cu->MemcpyDtoD(a + 4, a, 60)); /* overlapping */
    ok(cu->MemcpyHtoD(a, in, 0));

    fails(INVALID_VALUE, cu->MemcpyHtoD(a, in, 65));
    fails(INVALID_VALUE, cu->MemcpyHtoD(a + 1, in, 64));
    fails(INVALID_VALUE, cu->MemcpyHtoD(a, NULL, 4));
    fails(INVALID_VALUE, cu->MemcpyHtoD(0, in, 4));
    fails(INVALID_VALUE, cu->MemcpyDtoH(NULL, a, 4));
    fails(INVALID_VALUE, cu->MemcpyDtoH(out, a, SIZE_MAX));
    fails(INVALID_VALUE, cu->MemcpyDtoD(a, (CUdeviceptr)(uintptr_t)in, 4)); /* host as device */
    fails(INVALID_VALUE, cu->MemcpyHtoD(a, (void *)(uintptr_t)b, 4));       /* device as host */
    ok(cu->MemFree(b));
    fails(INVALID_VALUE, cu->MemcpyDtoH(out, b, 4)); /* freed */
}

static void planes(void **state)
{
    (void)state;
    unsigned char in[8 * 10], out[8 * 10];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)i;
    CUdeviceptr memory;
    size_t pitch;
    ok(cu->MemAllocPitch(&memory, &pitch, 10, 8, 4));
    CUDA_MEMCPY2D up = { .srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = in,
                         .srcPitch = 10,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = memory,
                         .dstPitch = pitch,
                         .WidthInBytes = 10,
                         .Height = 8 };
    ok(cu->Memcpy2D(&up));
    memset(out, 0xee, sizeof out);
    CUDA_MEMCPY2D down = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .srcPitch = pitch,
                           .srcXInBytes = 2,
                           .srcY = 3,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = out,
                           .dstPitch = 10,
                           .dstXInBytes = 1,
                           .dstY = 1,
                           .WidthInBytes = 6,
                           .Height = 4 };
    ok(cu->Memcpy2DUnaligned(&down));
    for (size_t row = 0; row < 8; row++)
        for (size_t x = 0; x < 10; x++) {
            bool inside = row >= 1 && row < 5 && x >= 1 && x < 7;
            unsigned char wanted = inside ? (unsigned char)((row - 1 + 3) * 10 + x - 1 + 2) : 0xee;
            assert_int_equal(out[row * 10 + x], wanted);
        }
    ok(cu->Memcpy2DAsync(&down, NULL));
    CUDA_MEMCPY2D bad = up;
    bad.srcPitch = 9; /* shorter than a row */
    fails(INVALID_VALUE, cu->Memcpy2D(&bad));
    bad = up;
    bad.Height = 9; /* past the end */
    fails(INVALID_VALUE, cu->Memcpy2D(&bad));
    bad = up;
    bad.dstY = SIZE_MAX / 2;
    fails(INVALID_VALUE, cu->Memcpy2D(&bad));
    bad = up;
    bad.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    fails(NOT_SUPPORTED, cu->Memcpy2D(&bad));
    bad.dstMemoryType = (CUmemorytype)0;
    fails(INVALID_VALUE, cu->Memcpy2D(&bad));
    bad.Height = 0; /* nothing to do */
    ok(cu->Memcpy2D(&bad));
    fails(INVALID_VALUE, cu->Memcpy2D(NULL));
}

static void volumes(void **state)
{
    (void)state;
    enum { X = 5, Y = 4, Z = 3 };
    unsigned char in[X * Y * Z], out[2 * 2 * 2];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)i;
    CUdeviceptr memory = alloc(sizeof in);
    ok(cu->MemcpyHtoD(memory, in, sizeof in));
    CUDA_MEMCPY3D copy = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .srcPitch = X,
                           .srcHeight = Y,
                           .srcXInBytes = 1,
                           .srcY = 2,
                           .srcZ = 1,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = out,
                           .dstPitch = 2,
                           .dstHeight = 2,
                           .WidthInBytes = 2,
                           .Height = 2,
                           .Depth = 2 };
    ok(cu->Memcpy3D(&copy));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 2; y++)
            for (size_t x = 0; x < 2; x++)
                assert_int_equal(out[z * 4 + y * 2 + x], (z + 1) * X * Y + (y + 2) * X + x + 1);
    copy.Depth = 3;
    fails(INVALID_VALUE, cu->Memcpy3D(&copy));
}

static void fills(void **state)
{
    (void)state;
    unsigned char bytes[512];
    CUdeviceptr memory = alloc(512);
    ok(cu->MemsetD8(memory, 0xab, 512));
    ok(cu->MemsetD16(memory, 0x1234, 8));
    ok(cu->MemsetD32Async(memory + 16, 0xdeadbeef, 2, NULL));
    ok(cu->MemsetD2D8(memory + 64, 32, 1, 4, 3));
    ok(cu->MemsetD2D16(memory + 256, 16, 2, 2, 2));
    ok(cu->MemsetD2D32Async(memory + 384, 16, 3, 1, 2, NULL));
    ok(cu->MemcpyDtoH(bytes, memory, 512));
    static const unsigned char head[] = { 0x34, 0x12, 0x34, 0x12 };
    assert_memory_equal(bytes, head, 4);
    static const unsigned char word[] = { 0xef, 0xbe, 0xad, 0xde, 0xef, 0xbe, 0xad, 0xde, 0xab };
    assert_memory_equal(bytes + 16, word, sizeof word);
    static const unsigned char row[] = { 1, 1, 1, 1, 0xab };
    assert_memory_equal(bytes + 64 + 64, row, 5);
    static const unsigned char half[] = { 2, 0, 2, 0, 0xab };
    assert_memory_equal(bytes + 256 + 16, half, 5);
    static const unsigned char single[] = { 3, 0, 0, 0, 0xab };
    assert_memory_equal(bytes + 384 + 16, single, 5);

    ok(cu->MemsetD8(memory, 1, 0));
    fails(INVALID_VALUE, cu->MemsetD16(memory + 1, 1, 4)); /* misaligned */
    fails(INVALID_VALUE, cu->MemsetD32(memory + 2, 1, 4));
    fails(INVALID_VALUE, cu->MemsetD8(memory, 1, 513));
    fails(INVALID_VALUE, cu->MemsetD32(memory, 1, SIZE_MAX));
    fails(INVALID_VALUE, cu->MemsetD2D8(memory, 3, 1, 4, 2)); /* pitch below the row */
    fails(INVALID_VALUE, cu->MemsetD8(0, 1, 1));
    fails(INVALID_HANDLE, cu->MemsetD8Async(memory, 1, 1, (CUstream)0x7770));
}

/* Pageable source memory may be changed as soon as the call is back, pinned memory may not. */
static void asynchronous(void **state)
{
    (void)state;
    CUstream stream;
    int value = 1, back = 0, *pinned;
    char *large = calloc(1, 4 << 20);
    CUdeviceptr memory = alloc(4 << 20);
    ok(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 200; i++) {
        value = i;
        ok(cu->MemcpyHtoDAsync(memory, &value, sizeof value, stream));
        value = -1;
        ok(cu->MemcpyDtoHAsync(&back, memory, sizeof back, stream)); /* waits by itself */
        assert_int_equal(back, i);
    }
    memset(large, 7, 4 << 20);
    ok(cu->MemcpyHtoDAsync(memory, large, 4 << 20, stream));
    memset(large, 0, 4 << 20);
    ok(cu->MemcpyDtoHAsync(large, memory, 4 << 20, stream));
    assert_int_equal(large[(4 << 20) - 1], 7);
    ok(cu->MemHostAlloc((void **)&pinned, 64, 0));
    pinned[0] = 5;
    ok(cu->MemcpyHtoDAsync(memory, pinned, 4, stream));
    ok(cu->MemcpyDtoHAsync(pinned + 1, memory, 4, stream));
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(pinned[1], 5);
    free(large);
}

GPUL_TEST_MAIN("CPU device: copies", in_context(plain), in_context(planes), in_context(volumes),
               in_context(fills), in_context(asynchronous));
