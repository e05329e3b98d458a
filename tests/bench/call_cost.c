/* What each call of the library adds to its driver entries: the recording table with every entry that is timed
 * replaced by an empty one, so that what is left is the library's own work.  Median of nine runs, in the
 * thread's own processor time.  SPDX-License-Identifier: MIT
 *
 * A number before the entry is how many driver calls it makes; what it adds is for all of them.
 *
 *     build/tests/bench/call_cost            a line for each call; exit status 1 when one adds more than 50 ns to a driver call */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gpulaunch/device.h>
#include <gpulaunch/texture.h>

#include "core/device.h"
#include "driver/record.h"

enum { CALLS = 200000, RUNS = 9, LIMIT_NS = 50 };

static gpul_device *device, *second;
static gpul_buffer *a, *b, *managed, *pinned, *far;
static gpul_array *array;
static gpul_stream *stream;
static gpul_event *event;
static gpul_module *module;
static const gpul_kernel *kernel;
static gpul_pool *pool;
static CUcontext context;
static char host[4096];

static CUresult get_current(CUcontext *out)
{
    *out = context;
    return CUDA_SUCCESS;
}

static CUresult get_global(CUdeviceptr *address, size_t *bytes, CUmodule in, const char *name)
{
    (void)in, (void)name;
    *address = gpul_buffer_address(a);
    *bytes = 16;
    return CUDA_SUCCESS;
}

/* One function stands for entries with any parameters: it reads none, and callers clean up after themselves on
 * the platforms that the library supports. */
static CUresult nothing(void)
{
    __asm__ volatile("" : : : "memory");
    return CUDA_SUCCESS;
}

static void check(gpul_status status)
{
    if (status == GPUL_OK) return;
    fprintf(stderr, "%s\n", gpul_last_error()->message);
    exit(2);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- The calls ---- */

static gpul_status call_write(void)
{
    return gpul_write(a, 0, host, 64, stream);
}
static gpul_status call_read(void)
{
    return gpul_read(host, a, 0, 64, stream);
}
static gpul_status call_copy(void)
{
    return gpul_copy(b, 0, a, 0, 64, stream);
}
static gpul_status call_copy_peer(void)
{
    return gpul_copy(far, 0, a, 0, 64, stream);
}
static gpul_status call_array_write(void)
{
    return gpul_array_write(array, host, stream);
}
static gpul_status call_limit(void)
{
    uint64_t bytes;
    return gpul_device_limit(&bytes, device, GPUL_LIMIT_STACK);
}
static gpul_status call_array_read(void)
{
    return gpul_array_read(host, array, stream);
}
static gpul_status call_set_limit(void)
{
    return gpul_device_set_limit(device, GPUL_LIMIT_PERSISTING_L2, 0);
}
static gpul_status call_global_write(void)
{
    return gpul_global_write(module, "table", 0, host, 16);
}
static gpul_status call_global_read(void)
{
    return gpul_global_read(host, module, "table", 0, 16);
}
static gpul_status call_wait_value(void)
{
    return gpul_stream_wait_value(stream, a, 0, 0, GPUL_COMPARE_EQ);
}
static gpul_status call_write_value(void)
{
    return gpul_stream_write_value(stream, a, 0, 0);
}
static gpul_status call_elapsed(void)
{
    float ms;
    return gpul_event_elapsed(&ms, event, event);
}
static gpul_status call_sync(void)
{
    return gpul_sync(device);
}
static gpul_status call_describe_pool(void)
{
    gpul_pool_info info;
    return gpul_pool_describe(&info, pool);
}
static gpul_status call_copy_pinned(void)
{
    return gpul_copy(b, 0, pinned, 0, 64, stream);
}
static gpul_status call_fill(void)
{
    return gpul_fill(a, 0, 64, "abcd", 4, stream);
}
static gpul_status call_copy_2d(void)
{
    return gpul_copy_2d(gpul_plane(.buffer = b), gpul_plane(.host = host), 8, 8, stream);
}
static gpul_status call_copy_3d(void)
{
    return gpul_copy_3d(gpul_box(.buffer = b), gpul_box(.host = host), 8, 4, 2, stream);
}
static gpul_status call_fill_2d(void)
{
    return gpul_fill_2d(a, 0, 64, 8, 8, "ab", 2, stream);
}
static gpul_status call_prefetch(void)
{
    return gpul_prefetch(managed, 0, 64, device, stream);
}
static gpul_status call_advise(void)
{
    return gpul_advise(managed, 0, 64, GPUL_ADVICE_PREFERRED, device);
}
static gpul_status call_trim(void)
{
    return gpul_pool_trim(pool, 0);
}
static gpul_status call_record(void)
{
    return gpul_event_record(event, stream);
}
static gpul_status call_wait(void)
{
    return gpul_stream_wait(stream, event);
}
static gpul_status call_event_done(void)
{
    bool done;
    return gpul_event_done(&done, event);
}
static gpul_status call_event_sync(void)
{
    return gpul_event_sync(event);
}
static gpul_status call_stream_done(void)
{
    bool done;
    return gpul_stream_done(&done, stream);
}
static gpul_status call_stream_sync(void)
{
    return gpul_stream_sync(stream);
}
static void empty(void *user)
{
    (void)user;
}
static gpul_status call_host(void)
{
    return gpul_stream_call(device, stream, empty, NULL);
}
static gpul_status call_attach(void)
{
    return gpul_stream_attach(stream, managed, GPUL_ATTACH_GLOBAL);
}
static gpul_status call_occupancy(void)
{
    int blocks;
    return gpul_kernel_occupancy(&blocks, kernel, 128, 0);
}
static gpul_status call_suggest(void)
{
    return gpul_kernel_suggest(NULL, NULL, kernel, NULL);
}
static gpul_status call_prefer(void)
{
    return gpul_kernel_prefer(kernel, gpul_kernel_prefs(.cache = GPUL_CACHE_L1));
}
static gpul_status call_memory(void)
{
    uint64_t bytes;
    return gpul_device_memory(device, &bytes, NULL);
}
static gpul_status call_launch(void)
{
    return gpul_launch(kernel, gpul_launch_opts(.grid = { 4 }, .block = { 128 }, .stream = stream),
                       gpul_args(4, 2.0f, gpul_in(a), b));
}
static gpul_status call_launch_extra(void)
{
    return gpul_launch(kernel,
                       gpul_launch_opts(.grid = { 4 }, .block = { 128 }, .stream = stream,
                                        .extra = gpul_launch_extra(.has_priority = true)),
                       gpul_args(4, 2.0f, gpul_in(a), b));
}

static const struct {
    const char *name, *entry;
    gpul_status (*call)(void);
} rows[] = {
    { "gpul_launch, 4 arguments", "cuLaunchKernel", call_launch },
    { "gpul_launch with .extra", "cuLaunchKernelEx", call_launch_extra },
    { "gpul_write", "cuMemcpyHtoDAsync", call_write },
    { "gpul_read", "cuMemcpyDtoHAsync", call_read },
    { "gpul_copy", "cuMemcpyDtoDAsync", call_copy },
    { "gpul_copy, pinned", "cuMemcpyAsync", call_copy_pinned },
    { "gpul_copy, two devices", "cuMemcpyPeerAsync", call_copy_peer },
    { "gpul_fill", "cuMemsetD32Async", call_fill },
    { "gpul_copy_2d", "cuMemcpy2DAsync", call_copy_2d },
    { "gpul_copy_3d", "cuMemcpy3DAsync", call_copy_3d },
    { "gpul_fill_2d", "cuMemsetD2D16Async", call_fill_2d },
    { "gpul_array_write", "cuMemcpy3DAsync", call_array_write },
    { "gpul_array_read", "cuMemcpy3DAsync", call_array_read },
    { "gpul_prefetch", "cuMemPrefetchAsync", call_prefetch },
    { "gpul_advise", "cuMemAdvise", call_advise },
    { "gpul_pool_trim", "cuMemPoolTrimTo", call_trim },
    { "gpul_pool_describe", "5: cuMemPoolGetAttribute", call_describe_pool },
    { "gpul_event_record", "cuEventRecord", call_record },
    { "gpul_stream_wait", "cuStreamWaitEvent", call_wait },
    { "gpul_event_done", "cuEventQuery", call_event_done },
    { "gpul_event_sync", "cuEventSynchronize", call_event_sync },
    { "gpul_event_elapsed", "cuEventElapsedTime", call_elapsed },
    { "gpul_stream_done", "cuStreamQuery", call_stream_done },
    { "gpul_stream_sync", "cuStreamSynchronize", call_stream_sync },
    { "gpul_stream_call", "cuLaunchHostFunc", call_host },
    { "gpul_stream_wait_value", "cuStreamWaitValue32", call_wait_value },
    { "gpul_stream_write_value", "cuStreamWriteValue32", call_write_value },
    { "gpul_sync", "2: cuStreamSynchronize", call_sync },
    { "gpul_global_write", "3: cuMemcpyHtoDAsync ...", call_global_write },
    { "gpul_global_read", "3: cuMemcpyDtoHAsync ...", call_global_read },
    { "gpul_stream_attach", "cuStreamAttachMemAsync", call_attach },
    { "gpul_kernel_occupancy", "cuOccupancyMaxActiveBlocks...", call_occupancy },
    { "gpul_kernel_suggest", "cuOccupancyMaxPotentialBlockSize", call_suggest },
    { "gpul_kernel_prefer", "cuFuncSetCacheConfig", call_prefer },
    { "gpul_device_memory", "cuMemGetInfo", call_memory },
    { "gpul_device_limit", "cuCtxGetLimit", call_limit },
    { "gpul_device_set_limit", "cuCtxSetLimit", call_set_limit },
};

static int by_value(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

static double median_of(gpul_status (*call)(void))
{
    double times[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double start = now_ns();
        for (int i = 0; i < CALLS; i++) check(call());
        times[run] = (now_ns() - start) / CALLS;
    }
    qsort(times, RUNS, sizeof *times, by_value);
    return times[RUNS / 2];
}

static void prepare(void)
{
    static const char ptx[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .const .align 4 .b8 table[16];\n"
        ".visible .entry four(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n"
        "{ ret; }\n";
    gpul_image *image;
    gpul__record_driver();
    gpul__record_reset(&(gpul__record_config){ .devices = 2 });
    gpul__driver_override(gpul__record_driver());
    check(gpul_open(&device, NULL));
    check(gpul_image_from_memory(&image, ptx, sizeof ptx - 1, "cost.ptx"));
    check(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    check(gpul_module_kernel(&kernel, module, "four"));
    check(gpul_alloc(&a, device, 4096, NULL));
    check(gpul_alloc(&b, device, 4096, NULL));
    check(gpul_alloc(&managed, device, 4096, gpul_alloc_opts(.memory = GPUL_MEMORY_MANAGED)));
    check(gpul_alloc(&pinned, device, 4096, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    check(gpul_pool_new(&pool, device, NULL));
    check(gpul_stream_new(&stream, device, NULL));
    check(gpul_event_new(&event, device));
    check(gpul_event_record(event, stream));
    check(gpul_open(&second, gpul_device_opts(.device = "cuda:1")));
    check(gpul_alloc(&far, second, 4096, NULL));
    check(gpul_copy(far, 0, a, 0, 64, stream)); /* opens the way */
    check(gpul_array_new(&array, device, gpul_array_opts(.type = GPUL_U8, .width = 64)));
}

int main(void)
{
    static gpul__driver null;
    prepare();
    const gpul__driver *record = device->driver;
    null = *record;
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES; i++)
        gpul__driver_set_entry(&null, i, (void *)(uintptr_t)nothing);
    null.CtxGetCurrent = get_current;
    null.ModuleGetGlobal = get_global;
    context = device->context;
    device->driver = &null;
    int over = 0;
    printf("%-28s %-34s %8s\n", "call", "driver entry", "adds ns");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double ns = median_of(rows[i].call);
        printf("%-28s %-34s %8.1f\n", rows[i].name, rows[i].entry, ns);
        int calls = atoi(rows[i].entry);
        over += ns > LIMIT_NS * (calls ? calls : 1);
    }
    device->driver = record;
    gpul_array_free(&array);
    gpul_buffer_free(&far);
    gpul_device_free(&second);
    gpul_event_free(&event);
    gpul_stream_free(&stream);
    gpul_pool_free(&pool);
    gpul_buffer_free(&a);
    gpul_buffer_free(&b);
    gpul_buffer_free(&managed);
    gpul_buffer_free(&pinned);
    gpul_module_free(&module);
    gpul_device_free(&device);
    return over ? 1 : 0;
}
