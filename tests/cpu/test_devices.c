/* Devices, their attributes, options, and calls before cuInit.  SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include "cpu/handle.h"

static void before_init(void **state)
{
    (void)state;
    int count;
    CUdevice device;
    CUcontext context;
    CUdeviceptr address;
    cu = gpul__cpu_driver();
    fails(NOT_INITIALIZED, cu->DeviceGetCount(&count));
    fails(NOT_INITIALIZED, cu->DeviceGet(&device, 0));
    fails(NOT_INITIALIZED, cu->CtxCreate(&context, 0, 0));
    fails(NOT_INITIALIZED, cu->CtxGetCurrent(&context));
    fails(NOT_INITIALIZED, cu->MemAlloc(&address, 4));
    fails(NOT_INITIALIZED, cu->StreamSynchronize(NULL));
    ok(cu->DriverGetVersion(&count));
    assert_true(count >= 13000);
    fails(INVALID_VALUE, cu->Init(1));
    ok(cu->Init(0));
    ok(cu->Init(0));
    ok(cu->DeviceGetCount(&count));
    assert_int_equal(count, 1);
}

/* A test that only touches entries of the table by number. */
static void no_entry_is_null(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES; i++)
        assert_non_null(gpul__driver_entry(gpul__cpu_driver(), i));
    assert_string_equal(gpul__cpu_driver()->name, "cpu");
    CUtexObject texture;
    CUipcMemHandle handle;
    fails(NOT_SUPPORTED, cu->TexObjectCreate(&texture, NULL, NULL, NULL));
    fails(NOT_SUPPORTED, cu->IpcGetMemHandle(&handle, 0));
}

static void errors_have_names(void **state)
{
    (void)state;
    const char *text;
    ok(cu->GetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    ok(cu->GetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    assert_true(strlen(text) > 5);
    fails(INVALID_VALUE, cu->GetErrorName((CUresult)12345, &text));
    assert_null(text);
    fails(INVALID_VALUE, cu->GetErrorName(CUDA_SUCCESS, NULL));
}

static int attribute(int number)
{
    int value = -77;
    ok(cu->DeviceGetAttribute(&value, (CUdevice_attribute)number, 0));
    return value;
}

static void attributes(void **state)
{
    (void)state;
    for (int number = 1; number <= 147; number++) attribute(number);
    int value;
    fails(INVALID_VALUE, cu->DeviceGetAttribute(&value, (CUdevice_attribute)0, 0));
    fails(INVALID_VALUE, cu->DeviceGetAttribute(&value, (CUdevice_attribute)148, 0));
    fails(INVALID_VALUE, cu->DeviceGetAttribute(NULL, (CUdevice_attribute)1, 0));
    fails(INVALID_DEVICE, cu->DeviceGetAttribute(&value, (CUdevice_attribute)1, 1));
    fails(INVALID_DEVICE, cu->DeviceGetAttribute(&value, (CUdevice_attribute)1, -1));
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), 2147483647);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 232448);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
}

static void identity(void **state)
{
    (void)state;
    char name[256], small[8];
    size_t bytes;
    CUuuid a, b;
    CUdevice device = 9;
    ok(cu->DeviceGet(&device, 0));
    assert_int_equal(device, 0);
    fails(INVALID_DEVICE, cu->DeviceGet(&device, 1));
    fails(INVALID_DEVICE, cu->DeviceGet(&device, -1));
    fails(INVALID_VALUE, cu->DeviceGet(NULL, 0));
    ok(cu->DeviceGetName(name, sizeof name, 0));
    assert_memory_equal(name, "CPU device (", 12);
    assert_non_null(strstr(name, "thread"));
    ok(cu->DeviceGetName(small, sizeof small, 0));
    assert_string_equal(small, "CPU dev");
    fails(INVALID_VALUE, cu->DeviceGetName(name, 0, 0));
    ok(cu->DeviceTotalMem(&bytes, 0));
    assert_true(bytes > 1u << 20);
    ok(cu->DeviceGetUuid(&a, 0));
    ok(cu->DeviceGetUuid_v2(&b, 0));
    assert_memory_equal(&a, &b, sizeof a);
    fails(NOT_SUPPORTED, cu->DeviceGetPCIBusId(name, sizeof name, 0));
    fails(INVALID_DEVICE, cu->DeviceGetByPCIBusId(&device, "0000:65:00.0"));
}

static void several_devices(void **state)
{
    (void)state;
    int count, can;
    size_t total;
    CUcontext first, second;
    CUuuid a, b;
    assert_int_equal(
        gpul__cpu_configure(&(gpul_cpu_opts){ .devices = 3, .memory_bytes = 64 << 20 }), GPUL_OK);
    ok(cu->DeviceGetCount(&count));
    assert_int_equal(count, 3);
    ok(cu->DeviceTotalMem(&total, 2));
    assert_int_equal(total, 64 << 20);
    ok(cu->DeviceGetUuid(&a, 0));
    ok(cu->DeviceGetUuid(&b, 1));
    assert_memory_not_equal(&a, &b, sizeof a);
    ok(cu->DeviceCanAccessPeer(&can, 0, 1));
    assert_true(can);
    ok(cu->DeviceCanAccessPeer(&can, 1, 1));
    assert_false(can);
    fails(INVALID_DEVICE, cu->DeviceCanAccessPeer(&can, 0, 3));

    ok(cu->CtxCreate(&first, 0, 0));
    CUdeviceptr here = alloc(48 << 20), there;
    fails(OUT_OF_MEMORY, cu->MemAlloc(&there, 32 << 20));
    ok(cu->MemsetD8(here, 5, 16));
    ok(cu->CtxCreate(&second, 0, 1));
    there = alloc(48 << 20); /* each device has its own share */
    fails(INVALID_VALUE, cu->CtxEnablePeerAccess(first, 1));
    fails(INVALID_CONTEXT, cu->CtxEnablePeerAccess(second, 0));
    ok(cu->CtxEnablePeerAccess(first, 0));
    fails(PEER_ACCESS_ALREADY_ENABLED, cu->CtxEnablePeerAccess(first, 0));
    ok(cu->CtxDisablePeerAccess(first));
    fails(PEER_ACCESS_NOT_ENABLED, cu->CtxDisablePeerAccess(first));
    ok(cu->MemcpyPeer(there, second, here, first, 16));
    assert_int_equal(read_int(there), 0x05050505);
    fails(INVALID_CONTEXT, cu->MemcpyPeer(there, NULL, here, first, 16));

    /* While a context lives these are fixed. */
    assert_int_not_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .devices = 2 }), GPUL_OK);
    assert_int_equal(gpul_last_error()->status, GPUL_E_ARGUMENT);
    assert_int_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .devices = 3 }), GPUL_OK);
    assert_int_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .instruction_budget = 1000 }), GPUL_OK);
    ok(cu->CtxDestroy(second));
    ok(cu->CtxDestroy(first));
    assert_int_equal(gpul__cpu_configure(NULL), GPUL_OK);
    ok(cu->DeviceGetCount(&count));
    assert_int_equal(count, 1);
}

static void capabilities(void **state)
{
    (void)state;
    static const int known[] = { 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .compute_capability = known[i] }),
                         GPUL_OK);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), known[i] / 10);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), known[i] % 10);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), known[i] >= 90);
    }
    assert_int_not_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .compute_capability = 70 }),
                         GPUL_OK);
    assert_non_null(strstr(gpul_last_error()->message, "70"));
    assert_int_not_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .devices = 1000 }), GPUL_OK);
    assert_int_not_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .threads = 100000 }), GPUL_OK);
    assert_int_equal(gpul__cpu_configure(NULL), GPUL_OK);
}

static void handles(void **state)
{
    (void)state;
    int a = 1, b = 2;
    void *first = gpul__cpu_handle_new(CPU_EVENT, &a);
    assert_ptr_equal(gpul__cpu_handle_get(CPU_EVENT, first), &a);
    assert_null(gpul__cpu_handle_get(CPU_STREAM, first));
    assert_null(gpul__cpu_handle_get(CPU_EVENT, NULL));
    assert_null(gpul__cpu_handle_get(CPU_EVENT, &a));
    assert_null(gpul__cpu_handle_get(CPU_EVENT, (void *)2));
    assert_null(gpul__cpu_handle_get(CPU_EVENT, (char *)first + 1));
    gpul__cpu_handle_drop(first);
    void *second = gpul__cpu_handle_new(CPU_EVENT, &b); /* takes the slot, not the name */
    assert_null(gpul__cpu_handle_get(CPU_EVENT, first));
    assert_ptr_equal(gpul__cpu_handle_get(CPU_EVENT, second), &b);
    gpul__cpu_handle_clear();
    assert_null(gpul__cpu_handle_get(CPU_EVENT, second));
}

static void entries_by_name(void **state)
{
    (void)state;
    void *function = NULL;
    CUdriverProcAddressQueryResult status;
    ok(cu->GetProcAddress("cuMemAlloc", &function, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    assert_memory_equal(&function, &cu->MemAlloc, sizeof function);
    ok(cu->GetProcAddress("cuMemAlloc_v2", &function, 13000, 0, NULL));
    fails(NOT_FOUND, cu->GetProcAddress("cuNothing", &function, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    fails(INVALID_VALUE, cu->GetProcAddress(NULL, &function, 13000, 0, &status));
}

GPUL_TEST_MAIN("CPU device: devices", cmocka_unit_test(before_init),
               cmocka_unit_test(no_entry_is_null), cmocka_unit_test(errors_have_names),
               cmocka_unit_test(attributes), cmocka_unit_test(identity),
               cmocka_unit_test(several_devices), cmocka_unit_test(capabilities),
               cmocka_unit_test(handles), cmocka_unit_test(entries_by_name));
