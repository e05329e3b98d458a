/* Copies through pinned memory, and between two devices, beside the same copies by the raw driver in the same
 * context and stream.  Best of nine runs each.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/pinned_rate          exit status 1 below 97 percent of the raw rate, 77 without a GPU */
#include <gpulaunch/gpulaunch.h>

#include "raw_cuda.h"

enum { RUNS = 9, LEAST_PERCENT = 97 };
static const size_t size = (size_t)256 << 20;

static int (*raw_to_device)(address to, const void *from, size_t bytes, void *stream);
static int (*raw_to_host)(void *to, address from, size_t bytes, void *stream);
static int (*raw_peer)(address to, void *to_context, address from, void *from_context, size_t bytes,
                       void *stream);

static gpul_device *devices[2];
static gpul_buffer *buffers[2], *pinned;
static gpul_stream *stream;

static void check(gpul_status status)
{
    if (status == GPUL_OK) return;
    fprintf(stderr, "%s\n", gpul_last_error()->message);
    exit(2);
}

static void ours_to_device(void)
{
    check(gpul_write(buffers[0], 0, gpul_buffer_host(pinned), size, stream));
}
static void theirs_to_device(void)
{
    RAW(raw_to_device(gpul_buffer_address(buffers[0]), gpul_buffer_host(pinned), size,
                      gpul_stream_handle(stream)));
}
static void ours_to_host(void)
{
    check(gpul_read(gpul_buffer_host(pinned), buffers[0], 0, size, stream));
}
static void theirs_to_host(void)
{
    RAW(raw_to_host(gpul_buffer_host(pinned), gpul_buffer_address(buffers[0]), size,
                    gpul_stream_handle(stream)));
}
static void ours_peer(void)
{
    check(gpul_copy(buffers[1], 0, buffers[0], 0, size, stream));
}
static void theirs_peer(void)
{
    RAW(raw_peer(gpul_buffer_address(buffers[1]), gpul_device_context(devices[1]),
                 gpul_buffer_address(buffers[0]), gpul_device_context(devices[0]), size,
                 gpul_stream_handle(stream)));
}

/* GB/s of the best run. */
static double rate(void (*copy)(void))
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        uint64_t start = now_ns();
        copy();
        check(gpul_stream_sync(stream));
        double ns = (double)(now_ns() - start);
        if ((double)size / ns > best) best = (double)size / ns;
    }
    return best;
}

static bool compare(const char *what, void (*ours)(void), void (*theirs)(void))
{
    rate(ours); /* warm */
    double raw = rate(theirs), mine = rate(ours), percent = 100 * mine / raw;
    printf("%-28s raw %7.1f GB/s, gpulaunch %7.1f GB/s, %5.1f percent\n", what, raw, mine, percent);
    return percent >= LEAST_PERCENT;
}

int main(void)
{
    int count = 0;
    if (gpul_device_count(&count, "cuda") != GPUL_OK || !count) {
        printf("SKIP: no GPU: %s\n", gpul_last_error()->message);
        return 77;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("SKIP: %s\n", dlerror());
        return 77;
    }
    *(void **)&raw_to_device = raw_symbol(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&raw_to_host = raw_symbol(library, "cuMemcpyDtoHAsync_v2");
    *(void **)&raw_peer = raw_symbol(library, "cuMemcpyPeerAsync");
    check(gpul_open(&devices[0], gpul_device_opts(.device = "cuda:0")));
    check(gpul_alloc(&buffers[0], devices[0], size, NULL));
    check(gpul_alloc(&pinned, devices[0], size, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    check(gpul_stream_new(&stream, devices[0], NULL));
    bool good = compare("pinned to device", ours_to_device, theirs_to_device);
    good = compare("device to pinned", ours_to_host, theirs_to_host) && good;
    if (count > 1) {
        check(gpul_open(&devices[1], gpul_device_opts(.device = "cuda:1")));
        check(gpul_alloc(&buffers[1], devices[1], size, NULL));
        good = compare("device 0 to device 1", ours_peer, theirs_peer) && good;
    } else {
        printf("one device only: no copy between two\n");
    }
    gpul_stream_free(&stream);
    gpul_buffer_free(&pinned);
    for (int i = 0; i < 2; i++) {
        gpul_buffer_free(&buffers[i]);
        gpul_device_free(&devices[i]);
    }
    return good ? 0 : 1;
}
