/* The recording provider and the fault provider: the ground that the library's own tests stand on.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#include "base/alloc.h"
#include "base/file.h"
#include "driver/fault.h"
#include "driver/record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const gpul__driver *d;
static CUcontext context;

#define ok(call)              assert_int_equal(call, CUDA_SUCCESS)
#define refused(call, result) assert_int_equal(call, result)

static int set_up(void **state)
{
    (void)state;
    d = gpul__record_driver();
    gpul__record_reset(NULL);
    return d->Init(0) != CUDA_SUCCESS || d->CtxCreate(&context, 0, 0) != CUDA_SUCCESS;
}

static int tear_down(void **state)
{
    (void)state;
    gpul__record_reset(NULL);
    return 0;
}

static CUmodule load_text(const char *text)
{
    CUmodule module;
    ok(d->ModuleLoadDataEx(&module, text, 0, NULL, NULL));
    return module;
}

static CUmodule load_file(const char *path)
{
    char *text;
    size_t size;
    assert_int_equal(gpul__file_read(&text, &size, path), GPUL_OK);
    CUmodule module = load_text(text);
    gpul__free(text);
    return module;
}

static const char two_kernels[] =
    ".version 8.4 .target sm_80 .address_size 64\n"
    "// .entry not_one()\n"
    ".global .align 8 .u32 table[3] = {1, 2, 0x30};\n"
    ".visible .const .f32 half = 0f3F000000;\n"
    ".visible .entry first(.param .u64 .ptr .global .align 16 p, .param .align 16 .b8 s[20], .param .u8 c)\n"
    ".maxntid 128, 2, 1\n"
    "{ .shared .align 4 .b8 tile[256]; ret; }\n"
    ".func (.param .b32 r) helper(.param .b32 x) { ret; }\n"
    ".entry second() { ret; }\n";

static void every_needed_entry_is_there(void **state)
{
    (void)state;
    bool needed;
    const char *symbol;
    size_t there = 0;
    for (size_t i = 0; (symbol = gpul__driver_symbol(i, &needed)); i++) {
        there += gpul__driver_entry(d, i) != NULL;
        if (needed && !gpul__driver_entry(d, i)) fail_msg("%s is missing", symbol);
    }
    assert_true(there > 180);
}

static void *ask_current(void *out)
{
    d->CtxGetCurrent(out);
    return NULL;
}

static void each_thread_has_its_stack_of_contexts(void **state)
{
    (void)state;
    CUcontext other, current, popped;
    pthread_t thread;
    ok(d->CtxCreate(&other, 0, 0));
    ok(d->CtxGetCurrent(&current));
    assert_ptr_equal(current, other);
    assert_int_equal(pthread_create(&thread, NULL, ask_current, &current), 0);
    pthread_join(thread, NULL);
    assert_null(current);
    ok(d->CtxPopCurrent(&popped));
    assert_ptr_equal(popped, other);
    ok(d->CtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    ok(d->CtxPushCurrent(other));
    ok(d->CtxDestroy(other));
    ok(d->CtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    refused(d->CtxPushCurrent(other), CUDA_ERROR_INVALID_CONTEXT);
    ok(d->CtxSetCurrent(NULL));
    size_t n;
    refused(d->MemGetInfo(&n, &n), CUDA_ERROR_INVALID_CONTEXT);
    refused(d->CtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
}

static void a_context_destroyed_elsewhere_is_noticed(void **state)
{
    (void)state;
    CUcontext other;
    ok(d->CtxCreate(&other, 0, 0));
    ok(d->CtxPushCurrent(context));
    ok(d->CtxPushCurrent(other));
    ok(d->CtxPushCurrent(context));
    ok(d->CtxDestroy(other));
    ok(d->CtxPopCurrent(NULL));
    refused(d->CtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

static void a_child_process_is_refused(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr address;
        _exit(d->MemAlloc(&address, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                      d->Init(0) == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void devices_answer_as_configured(void **state)
{
    (void)state;
    gpul__record_reset(&(gpul__record_config){
        .devices = 2, .compute_capability = 120, .driver_version = 12080, .memory = 1 << 20 });
    int value;
    char id[32];
    CUdevice found;
    refused(d->DeviceGetCount(&value), CUDA_ERROR_NOT_INITIALIZED);
    ok(d->Init(0));
    ok(d->DeviceGetCount(&value));
    assert_int_equal(value, 2);
    ok(d->DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
    assert_int_equal(value, 12);
    ok(d->DriverGetVersion(&value));
    assert_int_equal(value, 12080);
    ok(d->DeviceGetPCIBusId(id, sizeof id, 1));
    ok(d->DeviceGetByPCIBusId(&found, id));
    assert_int_equal(found, 1);
    gpul__record_set_attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0);
    ok(d->DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0));
    assert_int_equal(value, 0);
    CUdevice device;
    refused(d->DeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    CUdeviceptr address;
    ok(d->CtxCreate(&context, 0, 1));
    refused(d->MemAlloc(&address, (1 << 20) + 1), CUDA_ERROR_OUT_OF_MEMORY);
    ok(d->MemAlloc(&address, 1 << 20));
    refused(d->MemAlloc(&address, 1), CUDA_ERROR_OUT_OF_MEMORY);
}

static void memory_is_copied_and_bounded(void **state)
{
    (void)state;
    CUdeviceptr a, b, base;
    size_t size;
    unsigned char in[64], out[64];
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)i;
    ok(d->MemAlloc(&a, 64));
    ok(d->MemAlloc(&b, 64));
    ok(d->MemcpyDtoH(out, a, 64));
    assert_int_equal(out[63], 0xa5);
    ok(d->MemcpyHtoD(a, in, 64));
    ok(d->MemcpyDtoDAsync(b + 16, a, 48, NULL));
    ok(d->MemsetD16(b, 0x1234, 8));
    ok(d->MemcpyDtoHAsync(out, b, 64, NULL));
    assert_int_equal(out[0], 0x34);
    assert_int_equal(out[15], 0x12);
    assert_memory_equal(out + 16, in, 48);
    refused(d->MemcpyHtoD(a + 1, in, 64), CUDA_ERROR_INVALID_VALUE);
    refused(d->MemcpyDtoH(out, a - 1, 2), CUDA_ERROR_INVALID_VALUE);
    refused(d->MemcpyDtoH(out, (uintptr_t)in, 2), CUDA_ERROR_INVALID_VALUE);
    refused(d->MemsetD32(a, 0, 17), CUDA_ERROR_INVALID_VALUE);
    refused(d->MemsetD32(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    ok(d->MemGetAddressRange(&base, &size, a + 63));
    assert_int_equal(base, a);
    assert_int_equal(size, 64);
    refused(d->MemAlloc(&base, 0), CUDA_ERROR_INVALID_VALUE);
    refused(d->MemFree(a + 1), CUDA_ERROR_INVALID_VALUE);
    ok(d->MemFree(a));
    refused(d->MemFree(a), CUDA_ERROR_INVALID_VALUE);
    ok(d->MemFree(b));
    ok(d->MemFree(0));
    assert_string_equal(gpul__record_leaks(), "1 contexts");
}

static void pitched_copies_go_row_by_row(void **state)
{
    (void)state;
    CUdeviceptr to;
    size_t pitch;
    char in[4][6] = { "abcde", "fghij", "klmno", "pqrst" }, out[2][3];
    ok(d->MemAllocPitch(&to, &pitch, 6, 4, 4));
    CUDA_MEMCPY2D copy = { .srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = in,
                           .srcPitch = 6,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = pitch,
                           .WidthInBytes = 6,
                           .Height = 4 };
    ok(d->Memcpy2D(&copy));
    CUDA_MEMCPY2D back = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = to,
                           .srcPitch = pitch,
                           .srcXInBytes = 1,
                           .srcY = 2,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = out,
                           .dstPitch = 3,
                           .WidthInBytes = 3,
                           .Height = 2 };
    ok(d->Memcpy2DAsync(&back, NULL));
    assert_memory_equal(out, "lmnqrs", 6);
    copy.Height = 5;
    refused(d->Memcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    ok(d->MemFree(to));
}

static void pointers_tell_what_they_are(void **state)
{
    (void)state;
    CUdeviceptr device, managed;
    void *pinned;
    unsigned kind;
    int here;
    ok(d->MemAlloc(&device, 8));
    ok(d->MemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL));
    ok(d->MemHostAlloc(&pinned, 8, 0));
    ok(d->PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
    assert_int_equal(kind, CU_MEMORYTYPE_DEVICE);
    ok(d->PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    assert_int_equal(kind, 1);
    ok(d->PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)pinned));
    assert_int_equal(kind, CU_MEMORYTYPE_HOST);
    refused(d->PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&here),
            CUDA_ERROR_INVALID_VALUE);
    ok(d->MemHostRegister(&here, sizeof here, 0));
    refused(d->MemHostRegister(&here, sizeof here, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ok(d->MemHostUnregister(&here));
    refused(d->MemHostUnregister(&here), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    ok(d->MemFree(device));
    ok(d->MemFree(managed));
    ok(d->MemFreeHost(pinned));
}

static void modules_are_read_from_text(void **state)
{
    (void)state;
    CUmodule module = load_text(two_kernels);
    CUfunction first, second;
    size_t offset, size;
    unsigned count;
    int value;
    ok(d->ModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 2);
    ok(d->ModuleGetFunction(&first, module, "first"));
    ok(d->ModuleGetFunction(&second, module, "second"));
    refused(d->ModuleGetFunction(&second, module, "helper"), CUDA_ERROR_NOT_FOUND);
    ok(d->FuncGetParamInfo(first, 0, &offset, &size));
    assert_int_equal(offset * 100 + size, 8);
    ok(d->FuncGetParamInfo(first, 1, &offset, &size));
    assert_int_equal(offset * 100 + size, 1620);
    ok(d->FuncGetParamInfo(first, 2, &offset, &size));
    assert_int_equal(offset * 100 + size, 3601);
    refused(d->FuncGetParamInfo(first, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    ok(d->FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, first));
    assert_int_equal(value, 256);
    ok(d->FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, first));
    assert_int_equal(value, 256);
    CUdeviceptr address;
    unsigned words[3];
    float number;
    ok(d->ModuleGetGlobal(&address, &size, module, "table"));
    assert_int_equal(size, 12);
    ok(d->MemcpyDtoH(words, address, 12));
    assert_int_equal(words[2], 0x30);
    ok(d->ModuleGetGlobal(&address, &size, module, "half"));
    ok(d->MemcpyDtoH(&number, address, 4));
    assert_true(number == 0.5f);
    refused(d->ModuleGetGlobal(&address, &size, module, "tile"), CUDA_ERROR_NOT_FOUND);
    ok(d->ModuleUnload(module));
    refused(d->ModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    refused(d->FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, first),
            CUDA_ERROR_INVALID_HANDLE);
}

static void checked_in_kernels_have_their_layout(void **state)
{
    (void)state;
    CUfunction f;
    CUmodule module = load_file("ptx/kernels/by_value.ptx");
    static const size_t expected[][2] = { { 0, 1 }, { 16, 64 }, { 80, 2 }, { 88, 8 } };
    ok(d->ModuleGetFunction(&f, module, "by_value"));
    for (size_t i = 0; i < 4; i++) {
        size_t offset, size;
        ok(d->FuncGetParamInfo(f, i, &offset, &size));
        assert_int_equal(offset, expected[i][0]);
        assert_int_equal(size, expected[i][1]);
    }
}

static void a_cubin_has_the_same_layout(void **state)
{
    (void)state;
    char path[] = "/tmp/gpulaunch-XXXXXX", command[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(
        command, sizeof command,
        "PATH=\"$PATH:/usr/local/cuda/bin\" ptxas -arch=sm_90 ptx/kernels/by_value.ptx -o %s 2>/dev/null",
        path);
    int failed = system(command);
    char *bytes = NULL;
    size_t length = 0;
    if (!failed) assert_int_equal(gpul__file_read(&bytes, &length, path), GPUL_OK);
    unlink(path);
    if (failed) skip_because("no ptxas here to make a CUBIN");
    CUmodule module;
    CUfunction f;
    size_t offset, size;
    ok(d->ModuleLoadDataEx(&module, bytes, 0, NULL, NULL));
    assert_true(gpul__record_last_jit()->cubin);
    ok(d->ModuleGetFunction(&f, module, "by_value"));
    ok(d->FuncGetParamInfo(f, 1, &offset, &size));
    assert_int_equal(offset, 16);
    assert_int_equal(size, 64);
    refused(d->FuncGetParamInfo(f, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    gpul__record_reset(&(gpul__record_config){ .compute_capability = 80 });
    ok(d->Init(0));
    ok(d->CtxCreate(&context, 0, 0));
    refused(d->ModuleLoadDataEx(&module, bytes, 0, NULL, NULL), CUDA_ERROR_NO_BINARY_FOR_GPU);
    gpul__free(bytes);
}

static void refused_images_leave_the_drivers_words(void **state)
{
    (void)state;
    char log[256] = "x";
    CUmodule module;
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)sizeof log };
    refused(d->ModuleLoadDataEx(&module, ".version 9.9\n.target sm_80\n", 2, options, values),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    assert_non_null(strstr(log, "9.0"));
    assert_int_equal((size_t)values[1], strlen(log) + 1);
    values[1] = (void *)sizeof log;
    refused(d->ModuleLoadDataEx(&module, ".version 8.0\n.target sm_100\n", 2, options, values),
            CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, "higher"));
    values[1] = (void *)sizeof log;
    refused(d->ModuleLoadDataEx(&module, "int main", 2, options, values), CUDA_ERROR_INVALID_IMAGE);
    assert_string_equal(log, "");
    assert_string_equal(gpul__record_leaks(), "1 contexts");
}

static void jit_options_are_decoded_and_answered(void **state)
{
    (void)state;
    char info[512], error[64];
    CUmodule module;
    CUjit_option options[] = { CU_JIT_MAX_REGISTERS,    CU_JIT_OPTIMIZATION_LEVEL,
                               CU_JIT_LOG_VERBOSE,      CU_JIT_WALL_TIME,
                               CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { (void *)40, (void *)2,           (void *)1, NULL,
                       info,       (void *)sizeof info, error,     (void *)sizeof error };
    ok(d->ModuleLoadDataEx(&module, two_kernels, 8, options, values));
    const gpul__record_jit *jit = gpul__record_last_jit();
    assert_int_equal(jit->max_registers, 40);
    assert_int_equal(jit->optimization_level, 2);
    assert_int_equal(jit->verbose, 1);
    assert_int_equal(jit->debug, -1);
    assert_int_equal(jit->options, 8);
    assert_true(jit->ptx && jit->info_log && jit->error_log && jit->wall_time);
    assert_non_null(strstr(info, "'first'"));
    assert_int_equal((size_t)values[5], strlen(info) + 1);
    uint32_t bits = (uint32_t)(uintptr_t)values[3];
    float wall;
    memcpy(&wall, &bits, sizeof wall);
    assert_true(wall == 1.5f);
    ok(d->ModuleUnload(module));

    gpul__record_jit_answer(CUDA_ERROR_INVALID_PTX, "some info", "line 3; error");
    values[5] = (void *)sizeof info;
    values[7] = (void *)8;
    refused(d->ModuleLoadDataEx(&module, two_kernels, 8, options, values), CUDA_ERROR_INVALID_PTX);
    assert_string_equal(error, "line 3;");
    gpul__record_jit_answer(CUDA_SUCCESS, NULL, NULL);
    values[1] = (void *)5;
    refused(d->ModuleLoadDataEx(&module, two_kernels, 2, options, values),
            CUDA_ERROR_INVALID_VALUE);
}

static CUresult launch_packed(CUfunction f, unsigned block, unsigned shared, const void *bytes,
                              size_t size)
{
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)bytes,
                      CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END };
    return d->LaunchKernel(f, 2, 3, 1, block, 1, 1, shared, NULL, NULL, extra);
}

static void launches_keep_their_exact_bytes(void **state)
{
    (void)state;
    CUfunction f;
    unsigned char bytes[64];
    for (int i = 0; i < 64; i++) bytes[i] = (unsigned char)(i * 3);
    ok(d->ModuleGetFunction(&f, load_text(two_kernels), "first"));
    ok(launch_packed(f, 32, 512, bytes, 37));
    ok(launch_packed(f, 64, 0, bytes, 12));
    assert_int_equal(gpul__record_launches(), 2);
    const gpul__record_launch *launch = gpul__record_launch_at(0);
    assert_string_equal(launch->kernel, "first");
    assert_int_equal(launch->grid[1], 3);
    assert_int_equal(launch->shared, 512);
    assert_true(launch->extra);
    assert_int_equal(launch->size, 37);
    assert_int_equal(launch->signature_size, 37);
    assert_memory_equal(launch->bytes, bytes, 37);
    assert_int_equal(gpul__record_launch_at(-1)->size, 12);
    assert_null(gpul__record_launch_at(2));

    uint64_t pointer = 0x1122334455667788;
    unsigned char structure[20] = { 9 }, letter = 'x';
    void *params[] = { &pointer, structure, &letter };
    ok(d->LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    launch = gpul__record_launch_at(-1);
    assert_false(launch->extra);
    assert_int_equal(launch->bytes[0], 0x88);
    assert_int_equal(launch->bytes[16], 9);
    assert_int_equal(launch->bytes[36], 'x');

    refused(launch_packed(f, 32, 0, bytes, 38), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    refused(launch_packed(f, 32, 0, bytes, 0), CUDA_ERROR_INVALID_VALUE);
    refused(launch_packed(f, 257, 0, bytes, 37), CUDA_ERROR_INVALID_VALUE);
    refused(launch_packed(f, 0, 0, bytes, 37), CUDA_ERROR_INVALID_VALUE);
    refused(launch_packed(f, 1, 49152, bytes, 37), CUDA_ERROR_INVALID_VALUE);
    refused(d->FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448),
            CUDA_ERROR_INVALID_VALUE);
    ok(d->FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    ok(launch_packed(f, 1, 49152, bytes, 37));
    assert_int_equal(gpul__record_launches(), 4);
}

static void add_one(void *user, const gpul__record_launch *launch)
{
    uint64_t address;
    memcpy(&address, launch->bytes, sizeof address);
    *(int *)(uintptr_t)address += 1;
    ++*(int *)user;
}

static void a_kernel_can_be_played(void **state)
{
    (void)state;
    CUdeviceptr memory;
    CUfunction f;
    int value = 41, played = 0;
    CUmodule module = load_text(".version 8.0\n.target sm_80\n.entry k(.param .u64 p) { ret; }");
    ok(d->ModuleGetFunction(&f, module, "k"));
    ok(d->MemAlloc(&memory, 4));
    ok(d->MemcpyHtoD(memory, &value, 4));
    gpul__record_on_launch(add_one, &played);
    ok(launch_packed(f, 1, 0, &memory, 8));
    ok(d->MemcpyDtoH(&value, memory, 4));
    assert_int_equal(value, 42);
    assert_int_equal(played, 1);
}

static void cooperative_and_cluster_launches_have_limits(void **state)
{
    (void)state;
    CUfunction f;
    ok(d->ModuleGetFunction(&f, load_text(two_kernels), "second"));
    ok(d->LaunchCooperativeKernel(f, 132 * 2, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    assert_true(gpul__record_launch_at(-1)->cooperative);
    refused(d->LaunchCooperativeKernel(f, 132 * 2 + 1, 1, 1, 1024, 1, 1, 0, NULL, NULL),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                  .value.clusterDim = { 4, 1, 1 } };
    CUlaunchConfig config = { .gridDimX = 8,
                              .gridDimY = 1,
                              .gridDimZ = 1,
                              .blockDimX = 32,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .attrs = &cluster,
                              .numAttrs = 1 };
    ok(d->LaunchKernelEx(&config, f, NULL, NULL));
    assert_int_equal(gpul__record_launch_at(-1)->cluster[0], 4);
    cluster.value.clusterDim.x = 9;
    refused(d->LaunchKernelEx(&config, f, NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    int blocks;
    ok(d->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 0));
    assert_int_equal(blocks, 8);
}

static void streams_and_events_belong_to_their_context(void **state)
{
    (void)state;
    CUstream stream;
    CUevent start, end, untimed;
    float ms = -1;
    ok(d->StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -9));
    ok(d->EventCreate(&start, 0));
    ok(d->EventCreate(&end, 0));
    ok(d->EventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    refused(d->EventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE);
    ok(d->EventRecord(start, stream));
    ok(d->EventRecord(end, stream));
    ok(d->EventRecord(untimed, stream));
    ok(d->EventElapsedTime(&ms, start, end));
    assert_true(ms >= 0);
    refused(d->EventElapsedTime(&ms, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    int priority;
    ok(d->StreamGetPriority(stream, &priority));
    assert_int_equal(priority, -5);
    CUcontext other;
    ok(d->CtxCreate(&other, 0, 0));
    refused(d->StreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    ok(d->CtxDestroy(other));
    assert_string_equal(gpul__record_leaks(), "1 contexts, 1 streams, 3 events");
    ok(d->CtxDestroy(context));
    assert_string_equal(gpul__record_leaks(), "4 objects destroyed with their context");
}

static void captured_work_is_replayed_with_new_arguments(void **state)
{
    (void)state;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[4];
    CUfunction f;
    size_t count = 4;
    unsigned char bytes[37] = { 1 };
    ok(d->ModuleGetFunction(&f, load_text(two_kernels), "first"));
    ok(d->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(d->StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    size_t size = sizeof bytes;
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      CU_LAUNCH_PARAM_END };
    ok(d->LaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, stream, NULL, extra));
    assert_int_equal(gpul__record_launches(), 0);
    ok(d->StreamEndCapture(stream, &graph));
    ok(d->GraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 1);
    ok(d->GraphInstantiate(&exec, graph, 0));
    bytes[0] = 2;
    CUDA_KERNEL_NODE_PARAMS params = { .func = f,
                                       .gridDimX = 5,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 1,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .extra = extra };
    ok(d->GraphLaunch(exec, stream));
    ok(d->GraphExecKernelNodeSetParams(exec, nodes[0], &params));
    ok(d->GraphLaunch(exec, stream));
    assert_int_equal(gpul__record_launches(), 2);
    assert_int_equal(gpul__record_launch_at(0)->bytes[0], 1);
    assert_int_equal(gpul__record_launch_at(1)->bytes[0], 2);
    assert_int_equal(gpul__record_launch_at(1)->grid[0], 5);
    assert_true(gpul__record_launch_at(1)->from_graph);
    ok(d->StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    refused(d->StreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUgraph none;
    refused(d->StreamEndCapture(stream, &none), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ok(d->GraphExecDestroy(exec));
    ok(d->GraphDestroy(graph));
    ok(d->StreamDestroy(stream));
}

static void everything_alive_is_counted(void **state)
{
    (void)state;
    CUdeviceptr address;
    CUgraph graph;
    CUgraphExec exec;
    void *pinned;
    CUmemoryPool pool;
    CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
    static int here;
    ok(d->MemAlloc(&address, 16));
    ok(d->MemAllocManaged(&address, 16, CU_MEM_ATTACH_GLOBAL));
    ok(d->MemHostAlloc(&pinned, 16, 0));
    ok(d->MemHostRegister(&here, sizeof here, 0));
    ok(d->MemPoolCreate(&pool, &props));
    ok(d->GraphCreate(&graph, 0));
    ok(d->GraphInstantiate(&exec, graph, 0));
    load_text(two_kernels);
    const char *all = "1 contexts, 1 modules, 2 allocations, 1 host allocations, 1 registrations, "
                      "1 pools, 1 graphs, 1 instantiated graphs";
    assert_string_equal(gpul__record_leaks(), all);
    assert_string_equal(gpul__record_leaks(), all); /* counting changes nothing */
    ok(d->GraphLaunch(exec, NULL));
    ok(d->GraphDestroy(graph));
    ok(d->GraphExecDestroy(exec));
}

static void a_fault_stays(void **state)
{
    (void)state;
    CUdeviceptr address;
    gpul__record_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    refused(d->CtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    refused(d->MemAlloc(&address, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    ok(d->CtxDestroy(context));
}

static void libraries_give_kernels_and_modules(void **state)
{
    (void)state;
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    const char *name;
    ok(d->LibraryLoadData(&library, two_kernels, NULL, NULL, 0, NULL, NULL, 0));
    ok(d->LibraryGetKernel(&kernel, library, "first"));
    ok(d->KernelGetFunction(&f, kernel));
    ok(d->FuncGetName(&name, f));
    assert_string_equal(name, "first");
    assert_string_equal(gpul__record_leaks(), "1 contexts, 1 libraries");
    ok(d->LibraryUnload(library));
    refused(d->KernelGetFunction(&f, kernel), CUDA_ERROR_INVALID_HANDLE);
}

static void reserved_ranges_are_mapped(void **state)
{
    (void)state;
    CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
    CUmemAccessDesc access = { prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    size_t grain;
    int value = 7;
    ok(d->MemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ok(d->MemAddressReserve(&address, 4 * grain, 0, 0, 0));
    refused(d->MemcpyHtoD(address, &value, 4), CUDA_ERROR_INVALID_VALUE);
    ok(d->MemCreate(&handle, grain, &prop, 0));
    ok(d->MemMap(address, grain, 0, handle, 0));
    ok(d->MemSetAccess(address, grain, &access, 1));
    ok(d->MemcpyHtoD(address, &value, 4));
    ok(d->MemUnmap(address, grain));
    ok(d->MemRelease(handle));
    ok(d->MemAddressFree(address, 4 * grain));
    assert_string_equal(gpul__record_leaks(), "1 contexts");
}

static void the_chosen_call_fails(void **state)
{
    (void)state;
    const gpul__driver *faulty = gpul__fault_driver(d);
    CUdeviceptr address = 0;
    gpul__fault_at(2, CUDA_ERROR_UNKNOWN);
    ok(faulty->CtxSynchronize());
    refused(faulty->MemAlloc(&address, 4), CUDA_ERROR_UNKNOWN);
    assert_string_equal(gpul__fault_failed(), "cuMemAlloc_v2");
    ok(faulty->MemAlloc(&address, 4));
    assert_int_equal(gpul__fault_calls(), 3);
    gpul__fault_at(1, CUDA_ERROR_INVALID_VALUE);
    refused(faulty->MemFree(address), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(gpul__record_leaks(), "1 contexts");
    gpul__fault_entry("cuCtxSynchronize", 2, CUDA_ERROR_NOT_READY);
    ok(faulty->CtxSynchronize());
    refused(faulty->CtxSynchronize(), CUDA_ERROR_NOT_READY);
    refused(faulty->CtxSynchronize(), CUDA_ERROR_NOT_READY);
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    ok(faulty->CtxSynchronize());
    gpul__fault_without("cuLaunchKernelEx");
    assert_null(faulty->LaunchKernelEx);
    gpul__fault_without(NULL);
    assert_non_null(faulty->LaunchKernelEx);
    assert_null(faulty->LogsCurrent);
}

static void the_provider_allocates_nothing_of_the_librarys(void **state)
{
    (void)state;
    long before = gpul__alloc_live();
    load_text(two_kernels);
    CUdeviceptr address;
    ok(d->MemAlloc(&address, 100));
    assert_int_equal(gpul__alloc_live(), before);
}

#define case_of(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

GPUL_TEST_MAIN("recording provider", case_of(every_needed_entry_is_there),
               case_of(each_thread_has_its_stack_of_contexts),
               case_of(a_context_destroyed_elsewhere_is_noticed),
               case_of(a_child_process_is_refused), case_of(devices_answer_as_configured),
               case_of(memory_is_copied_and_bounded), case_of(pitched_copies_go_row_by_row),
               case_of(pointers_tell_what_they_are), case_of(modules_are_read_from_text),
               case_of(checked_in_kernels_have_their_layout), case_of(a_cubin_has_the_same_layout),
               case_of(refused_images_leave_the_drivers_words),
               case_of(jit_options_are_decoded_and_answered),
               case_of(launches_keep_their_exact_bytes), case_of(a_kernel_can_be_played),
               case_of(cooperative_and_cluster_launches_have_limits),
               case_of(streams_and_events_belong_to_their_context),
               case_of(captured_work_is_replayed_with_new_arguments),
               case_of(everything_alive_is_counted), case_of(a_fault_stays),
               case_of(libraries_give_kernels_and_modules), case_of(reserved_ranges_are_mapped),
               case_of(the_chosen_call_fails),
               case_of(the_provider_allocates_nothing_of_the_librarys));
