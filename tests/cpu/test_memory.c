/* Memory of every kind: allocation, ranges, attributes, pools, and wrong use of them.
 * SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <stdlib.h>

static void alloc_and_free(void **state)
{
    (void)state;
    size_t free_before, free_now, total;
    CUdeviceptr address;
    ok(cu->MemGetInfo(&free_before, &total));
    assert_int_equal(free_before, total);
    CUdeviceptr memory = alloc(1 << 20);
    ok(cu->MemGetInfo(&free_now, &total));
    assert_int_equal(free_before - free_now, 1 << 20);
    assert_int_equal(memory % 256, 0);
    ok(cu->MemFree(memory));
    ok(cu->MemGetInfo(&free_now, &total));
    assert_int_equal(free_before, free_now);
    fails(INVALID_VALUE, cu->MemFree(memory)); /* twice */
    ok(cu->MemFree(0));
    fails(INVALID_VALUE, cu->MemFree(0x1234));
    memory = alloc(100);
    fails(INVALID_VALUE, cu->MemFree(memory + 4)); /* not its start */
    fails(INVALID_VALUE, cu->MemAlloc(&address, 0));
    fails(INVALID_VALUE, cu->MemAlloc(NULL, 4));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&address, total + 1));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&address, SIZE_MAX));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&address, SIZE_MAX / 2));
}

static void out_of_memory(void **state)
{
    (void)state;
    CUdeviceptr a, b, c;
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .memory_bytes = 1 << 20 }), GPUL_OK);
    ok(cu->CtxCreate(&test_context, 0, 0));
    ok(cu->MemAlloc(&a, 600 << 10));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&b, 600 << 10));
    fails(OUT_OF_MEMORY, cu->MemAllocAsync(&b, 600 << 10, NULL));
    ok(cu->MemAlloc(&c, 300 << 10));
    ok(cu->MemFree(a));
    ok(cu->MemAlloc(&b, 600 << 10));
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(gpul__cpu_configure(NULL), GPUL_OK);
    ok(cu->CtxCreate(&test_context, 0, 0));
}

static void pitch_and_ranges(void **state)
{
    (void)state;
    CUdeviceptr memory, base;
    size_t pitch, size;
    ok(cu->MemAllocPitch(&memory, &pitch, 100, 7, 4));
    assert_int_equal(pitch, 512);
    ok(cu->MemGetAddressRange(&base, &size, memory + 1000));
    assert_int_equal(base, memory);
    assert_int_equal(size, 7 * 512);
    fails(INVALID_VALUE, cu->MemAllocPitch(&memory, &pitch, 100, 7, 3));
    fails(INVALID_VALUE, cu->MemAllocPitch(&memory, &pitch, 0, 7, 4));
    fails(OUT_OF_MEMORY, cu->MemAllocPitch(&memory, &pitch, SIZE_MAX / 4, SIZE_MAX / 4, 4));
    fails(NOT_FOUND, cu->MemGetAddressRange(&base, &size, 42));
    memory = alloc(100);
    ok(cu->MemGetAddressRange(&base, &size, memory + 99));
    assert_int_equal(size, 100);
    ok(cu->MemFree(memory));
    fails(NOT_FOUND, cu->MemGetAddressRange(&base, &size, memory));
}

/* Device memory is no host memory and the other way round. */
static void host_memory(void **state)
{
    (void)state;
    void *host;
    unsigned flags;
    CUdeviceptr address, device = alloc(64);
    ok(cu->MemHostAlloc(&host, 1000, CU_MEMHOSTALLOC_WRITECOMBINED));
    memset(host, 3, 1000);
    ok(cu->MemHostGetFlags(&flags, host));
    assert_true(flags & CU_MEMHOSTALLOC_WRITECOMBINED);
    ok(cu->MemHostGetDevicePointer(&address, (char *)host + 10, 0));
    assert_int_equal(address, (uintptr_t)host + 10);
    ok(cu->MemcpyDtoD(device, address, 4)); /* both sides know it */
    assert_int_equal(read_int(device), 0x03030303);
    fails(INVALID_VALUE, cu->MemHostGetDevicePointer(&address, host, 1));
    fails(INVALID_VALUE, cu->MemFreeHost((char *)host + 8));
    fails(INVALID_VALUE, cu->MemFree((CUdeviceptr)(uintptr_t)host));
    fails(INVALID_VALUE, cu->MemFreeHost((void *)(uintptr_t)device));
    ok(cu->MemFreeHost(host));
    fails(INVALID_VALUE, cu->MemFreeHost(host));
    fails(INVALID_VALUE, cu->MemFreeHost(NULL));
    fails(INVALID_VALUE, cu->MemHostAlloc(&host, 0, 0));
    fails(INVALID_VALUE, cu->MemHostAlloc(&host, 8, 64));
    fails(OUT_OF_MEMORY, cu->MemHostAlloc(&host, SIZE_MAX / 2, 0));
}

static void registered_memory(void **state)
{
    (void)state;
    char *own = malloc(4096);
    CUdeviceptr address;
    unsigned flags;
    ok(cu->MemHostRegister(own, 4096, 0));
    fails(HOST_MEMORY_ALREADY_REGISTERED, cu->MemHostRegister(own, 4096, 0));
    fails(HOST_MEMORY_ALREADY_REGISTERED, cu->MemHostRegister(own + 100, 10, 0));
    ok(cu->MemHostGetDevicePointer(&address, own, 0));
    assert_int_equal(address, (uintptr_t)own);
    fails(INVALID_VALUE, cu->MemHostGetFlags(&flags, own));
    fails(HOST_MEMORY_NOT_REGISTERED, cu->MemHostUnregister(own + 1));
    ok(cu->MemHostUnregister(own));
    fails(HOST_MEMORY_NOT_REGISTERED, cu->MemHostUnregister(own));
    fails(INVALID_VALUE, cu->MemHostRegister(NULL, 8, 0));
    fails(INVALID_VALUE, cu->MemHostRegister(own, 0, 0));
    fails(INVALID_VALUE, cu->MemHostRegister((void *)(uintptr_t)alloc(64), 64, 0));
    ok(cu->MemHostRegister(own, 4096, CU_MEMHOSTREGISTER_READ_ONLY));
    ok(cu->MemHostUnregister(own));
    free(own);
}

static void managed_memory(void **state)
{
    (void)state;
    CUdeviceptr address;
    int mostly = -1;
    ok(cu->MemAllocManaged(&address, 256, CU_MEM_ATTACH_GLOBAL));
    int *both = (int *)(uintptr_t)address;
    both[3] = 77;
    assert_int_equal(read_int(address + 12), 77);
    ok(cu->MemsetD32(address, 9, 64));
    assert_int_equal(both[63], 9);
    ok(cu->MemPrefetchAsync(address, 256, 0, NULL));
    ok(cu->MemPrefetchAsync(address, 256, CU_DEVICE_CPU, NULL));
    fails(INVALID_DEVICE, cu->MemPrefetchAsync(address, 256, 5, NULL));
    fails(INVALID_VALUE, cu->MemPrefetchAsync(alloc(16), 16, 0, NULL));
    ok(cu->MemAdvise(address, 256, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    fails(INVALID_VALUE, cu->MemAdvise(address, 257, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    fails(INVALID_VALUE, cu->MemAdvise(address, 256, (CUmem_advise)77, 0));
    ok(cu->MemRangeGetAttribute(&mostly, sizeof mostly, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address,
                                256));
    assert_int_equal(mostly, 0);
    ok(cu->StreamAttachMemAsync(NULL, address, 0, CU_MEM_ATTACH_HOST));
    ok(cu->MemFree(address));
    fails(INVALID_VALUE, cu->MemAllocManaged(&address, 256, 0));
    fails(INVALID_VALUE, cu->MemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
}

static unsigned type_of(CUdeviceptr address)
{
    unsigned type = 99;
    ok(cu->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    return type;
}

static void pointer_attributes(void **state)
{
    (void)state;
    CUdeviceptr device = alloc(100), managed, start;
    void *host, *back;
    size_t size;
    int ordinal, outside = 1;
    unsigned yes;
    unsigned long long first, second;
    CUcontext context;
    ok(cu->MemHostAlloc(&host, 64, 0));
    ok(cu->MemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    assert_int_equal(type_of(device + 50), CU_MEMORYTYPE_DEVICE);
    assert_int_equal(type_of((CUdeviceptr)(uintptr_t)host), CU_MEMORYTYPE_HOST);
    assert_int_equal(type_of(managed), CU_MEMORYTYPE_DEVICE);
    ok(cu->PointerGetAttribute(&yes, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    assert_int_equal(yes, 1);
    ok(cu->PointerGetAttribute(&yes, CU_POINTER_ATTRIBUTE_IS_MANAGED, device));
    assert_int_equal(yes, 0);
    ok(cu->PointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, device));
    assert_ptr_equal(context, test_context);
    ok(cu->PointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 9));
    assert_int_equal(start, device);
    ok(cu->PointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, device + 9));
    assert_int_equal(size, 100);
    ok(cu->PointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device));
    assert_int_equal(ordinal, 0);
    ok(cu->PointerGetAttribute(&back, CU_POINTER_ATTRIBUTE_HOST_POINTER, managed));
    assert_int_equal((uintptr_t)back, managed);
    fails(INVALID_VALUE, cu->PointerGetAttribute(&back, CU_POINTER_ATTRIBUTE_HOST_POINTER, device));
    ok(cu->PointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, device));
    ok(cu->PointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, managed));
    assert_true(first != second);
    fails(INVALID_VALUE, cu->PointerGetAttribute(&yes, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                 (CUdeviceptr)(uintptr_t)&outside));
    fails(INVALID_VALUE, cu->PointerGetAttribute(&yes, (CUpointer_attribute)0, device));

    /* The plural form answers zeros for memory that nobody knows. */
    CUpointer_attribute wanted[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                     CU_POINTER_ATTRIBUTE_MAPPED };
    unsigned mapped = 5;
    ok(cu->PointerGetAttributes(2, wanted, (void *[]){ &yes, &mapped }, (uintptr_t)&outside));
    assert_int_equal(yes, 0);
    assert_int_equal(mapped, 0);
    ok(cu->MemFree(device));
    fails(INVALID_VALUE, cu->PointerGetAttribute(&yes, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
}

static void stream_ordered(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr memory;
    CUmemoryPool pool, current;
    cuuint64_t used;
    ok(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cu->MemAllocAsync(&memory, 256, stream));
    ok(cu->MemsetD32Async(memory, 11, 64, stream));
    ok(cu->DeviceGetDefaultMemPool(&pool, 0));
    ok(cu->MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 256);
    ok(cu->PointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
    assert_ptr_equal(current, pool);
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(read_int(memory + 252), 11);
    ok(cu->MemFreeAsync(memory, stream));
    fails(INVALID_VALUE, cu->MemFreeAsync(memory, stream));
    ok(cu->StreamSynchronize(stream));
    fails(INVALID_VALUE, cu->MemFree(memory));
    ok(cu->MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 0);
    ok(cu->MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    assert_int_equal(used, 256);
    ok(cu->MemAllocAsync(&memory, 256, NULL));
    ok(cu->MemFree(memory)); /* the plain form takes it too */
    fails(INVALID_VALUE, cu->MemAllocAsync(&memory, 0, stream));
    fails(INVALID_HANDLE, cu->MemAllocAsync(&memory, 4, (CUstream)0x5550));
}

static void pools(void **state)
{
    (void)state;
    CUmemoryPool pool, other;
    CUdeviceptr memory;
    cuuint64_t value = 1 << 20;
    CUmemAccess_flags access;
    CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
    CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = location };
    ok(cu->MemPoolCreate(&pool, &props));
    ok(cu->MemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    value = 0;
    ok(cu->MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    assert_int_equal(value, 1 << 20);
    ok(cu->MemAllocFromPoolAsync(&memory, 64, pool, NULL));
    ok(cu->DeviceSetMemPool(0, pool));
    ok(cu->DeviceGetMemPool(&other, 0));
    assert_ptr_equal(other, pool);
    ok(cu->MemPoolGetAccess(&access, pool, &location));
    assert_int_equal(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ok(cu->MemPoolTrimTo(pool, 0));
    ok(cu->MemPoolDestroy(pool));
    ok(cu->DeviceGetMemPool(&other, 0));
    assert_ptr_not_equal(other, pool);
    fails(INVALID_HANDLE, cu->MemPoolTrimTo(pool, 0));
    fails(INVALID_HANDLE, cu->MemAllocFromPoolAsync(&memory, 64, pool, NULL));
    fails(INVALID_VALUE, cu->MemPoolDestroy(other)); /* the default one stays */
    ok(cu->MemFree(memory));                         /* outlives its pool */
    props.maxSize = 100;
    ok(cu->MemPoolCreate(&pool, &props));
    fails(OUT_OF_MEMORY, cu->MemAllocFromPoolAsync(&memory, 101, pool, NULL));
    props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    fails(INVALID_VALUE, cu->MemPoolCreate(&pool, &props));
}

GPUL_TEST_MAIN("CPU device: memory", in_context(alloc_and_free), in_context(out_of_memory),
               in_context(pitch_and_ranges), in_context(host_memory), in_context(registered_memory),
               in_context(managed_memory), in_context(pointer_attributes),
               in_context(stream_ordered), in_context(pools));
