/* Four streams with pinned memory: while one chunk is computed, another comes in and a third goes out.  The
 * time is compared with that of one stream.  SPDX-License-Identifier: MIT */
#include "example.h"

#include <time.h>

enum { CHUNKS = 16, STREAMS = 4 };

typedef struct work {
    const gpul_kernel *scale;
    gpul_stream *streams[STREAMS];
    gpul_buffer *in, *out;       /* pinned */
    gpul_buffer *chunks[CHUNKS]; /* views of device memory */
    size_t bytes;                /* of a chunk */
} work;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Every chunk goes in, through the kernel, and out. */
static double run(const work *w, int streams)
{
    double start = seconds();
    size_t n = w->bytes / sizeof(float);
    for (int i = 0; i < CHUNKS; i++) {
        gpul_stream *stream = w->streams[i % streams];
        size_t at = (size_t)i * w->bytes;
        const char *from = gpul_buffer_host(w->in);
        char *to = gpul_buffer_host(w->out);
        CHECK(gpul_write(w->chunks[i], 0, from + at, w->bytes, stream));
        CHECK(gpul_launch(
            w->scale,
            gpul_launch_opts(.grid = { (n + 255) / 256 }, .block = { 256 }, .stream = stream),
            gpul_args(w->chunks[i], (int)n, 2.0f)));
        CHECK(gpul_read(to + at, w->chunks[i], 0, w->bytes, stream));
    }
    for (int i = 0; i < streams; i++) CHECK(gpul_stream_sync(w->streams[i]));
    return seconds() - start;
}

int main(void)
{
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    gpul_buffer *memory;
    work w = { 0 };
    CHECK(gpul_open(&device, NULL));
    bool gpu = example_on_gpu(device);
    w.bytes = gpu ? (size_t)8 << 20 : (size_t)64 << 10;
    size_t all = CHUNKS * w.bytes;
    CHECK(gpul_image_from_file(&image, KERNELS "scale.ptx"));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&w.scale, module, "scale"));
    CHECK(gpul_alloc(&w.in, device, all, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    CHECK(gpul_alloc(&w.out, device, all, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    CHECK(gpul_alloc(&memory, device, all, NULL));
    for (int i = 0; i < CHUNKS; i++)
        CHECK(gpul_view(&w.chunks[i], memory, (size_t)i * w.bytes, w.bytes));
    for (int i = 0; i < STREAMS; i++) CHECK(gpul_stream_new(&w.streams[i], device, NULL));
    float *in = gpul_buffer_host(w.in), *out = gpul_buffer_host(w.out);
    for (size_t i = 0; i < all / sizeof(float); i++) in[i] = (float)(i % 1000);

    double serial = 1e9, overlapped = 1e9;
    for (int i = 0; i < 5; i++) {
        double one = run(&w, 1), four = run(&w, STREAMS);
        if (one < serial) serial = one;
        if (four < overlapped) overlapped = four;
    }
    for (size_t i = 0; i < all / sizeof(float); i++) {
        if (out[i] == 2 * in[i]) continue;
        fprintf(stderr, "out[%zu] is %g, not %g\n", i, out[i], 2 * in[i]);
        return 1;
    }
    double times = serial / overlapped;
    printf("one stream %.3f ms, four streams %.3f ms: %.2f times as fast\n", 1e3 * serial,
           1e3 * overlapped, times);
    if (gpu && times < 1.5 && !getenv("GPULAUNCH_SANITIZED")) {
        fprintf(stderr, "the copies do not overlap\n");
        return 1;
    }
    for (int i = 0; i < STREAMS; i++) gpul_stream_free(&w.streams[i]);
    for (int i = 0; i < CHUNKS; i++) gpul_buffer_free(&w.chunks[i]);
    gpul_buffer_free(&memory);
    gpul_buffer_free(&w.in);
    gpul_buffer_free(&w.out);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
