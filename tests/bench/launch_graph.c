/* What a repeated launch costs beside the raw cuLaunchKernel, issue time only: typed, prepared with the same arguments,
 * prepared with one argument changed before each launch, and a sequence of 1,000 replayed, whose time is that until it has run.
 * Interleaved with the raw loop, 15 pairs each, medians of the ratios.  Needs a GPU.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/launch_graph                                                              */
#include <gpulaunch/gpulaunch.h>
#include <string.h>

#include "raw_cuda.h"

/* The kernel does nothing, so that the queue never fills: what is measured is the issue. */
static const char ptx[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry four(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n{ ret; }\n";

enum { LAUNCHES = 20000, PAIRS = 15, STEPS = 1000, REPLAYS = 20, EVERY = 500 };

static result (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, void *, void **, void **);
static result (*stream_synchronize)(void *);
static gpul_device *device;
static gpul_stream *stream;
static const gpul_kernel *four;
static gpul_buffer *x, *y;
static gpul_prepared *prepared;
static gpul_sequence *sequence;

static void check(gpul_status status)
{
    if (status == GPUL_OK) return;
    fprintf(stderr, "%s\n", gpul_last_error()->message);
    exit(1);
}

static uint64_t waited;

/* Now and then all loops wait alike, outside the measured time, so that none meets a full queue. */
static void drain(int i)
{
    if (i % EVERY != EVERY - 1) return;
    uint64_t start = now_ns();
    RAW(stream_synchronize(gpul_stream_handle(stream)));
    waited += now_ns() - start;
}

static double raw(void)
{
    struct {
        int n;
        float a;
        address x, y;
    } args = { 0, 2, gpul_buffer_address(x), gpul_buffer_address(y) };
    void *params[] = { &args.n, &args.a, &args.x, &args.y };
    void *function = gpul_kernel_handle(four), *in = gpul_stream_handle(stream);
    for (int i = 0; i < LAUNCHES; i++) {
        args.n = i;
        RAW(launch_kernel(function, 4, 1, 1, 128, 1, 1, 0, in, params, NULL));
        drain(i);
    }
    return LAUNCHES;
}

static double typed(void)
{
    for (int i = 0; i < LAUNCHES; i++) {
        check(gpul_launch(four, gpul_launch_opts(.grid = { 4 }, .block = { 128 }, .stream = stream),
                          gpul_args(i, 2.0f, gpul_in(x), y)));
        drain(i);
    }
    return LAUNCHES;
}

static double prepared_same(void)
{
    for (int i = 0; i < LAUNCHES; i++) {
        check(gpul_prepared_launch(prepared));
        drain(i);
    }
    return LAUNCHES;
}

static double prepared_new(void)
{
    for (int i = 0; i < LAUNCHES; i++) {
        check(gpul_prepared_set(prepared, 0, gpul_argument(i)));
        check(gpul_prepared_launch(prepared));
        drain(i);
    }
    return LAUNCHES;
}

static double replayed(void)
{
    for (int i = 0; i < REPLAYS; i++) check(gpul_sequence_play(sequence, stream));
    check(gpul_stream_sync(stream));
    return (double)STEPS * REPLAYS;
}

static double measure(double (*loop)(void))
{
    waited = 0;
    uint64_t start = now_ns();
    double launches = loop();
    double ns = (double)(now_ns() - start - waited) / launches;
    RAW(stream_synchronize(gpul_stream_handle(stream)));
    return ns;
}

static void compare(const char *what, double (*loop)(void), const char *target)
{
    double r[PAIRS], t[PAIRS], ratio[PAIRS];
    measure(raw);
    measure(loop);
    for (int i = 0; i < PAIRS; i++) {
        if (i % 2) t[i] = measure(loop), r[i] = measure(raw);
        else r[i] = measure(raw), t[i] = measure(loop);
        ratio[i] = t[i] / r[i];
    }
    double q = median(ratio, PAIRS);
    printf("%-32s raw %6.0f ns  ours %6.0f ns  ratio %.3f  (target %s)\n", what, median(r, PAIRS),
           median(t, PAIRS), q, target);
    fflush(stdout);
}

int main(void)
{
    gpul_image *image;
    gpul_module *module;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&launch_kernel = raw_symbol(cuda, "cuLaunchKernel");
    *(void **)&stream_synchronize = raw_symbol(cuda, "cuStreamSynchronize");
    check(gpul_open(&device, gpul_device_opts(.device = "cuda")));
    check(gpul_image_from_memory(&image, ptx, strlen(ptx), "four.ptx"));
    check(gpul_load(&module, device, image, NULL));
    check(gpul_module_kernel(&four, module, "four"));
    check(gpul_alloc(&x, device, 4096, NULL));
    check(gpul_alloc(&y, device, 4096, NULL));
    check(gpul_stream_new(&stream, device, NULL));
    const gpul_launch_opts opts = { .grid = { 4 }, .block = { 128 }, .stream = stream };
    check(gpul_prepare(&prepared, four, &opts, gpul_args(0, 2.0f, gpul_in(x), y)));
    check(gpul_sequence_new(&sequence, device));
    for (int i = 0; i < STEPS; i++)
        check(gpul_sequence_launch(sequence, four,
                                   gpul_launch_opts(.grid = { 4 }, .block = { 128 }),
                                   gpul_args(i, 2.0f, gpul_in(x), y)));
    check(gpul_sequence_play(sequence, stream));
    check(gpul_stream_sync(stream));
    printf("%s, driver %s; prepared is %s graph, the sequence is %s\n",
           gpul_device_describe(device)->name, gpul_device_describe(device)->driver_release,
           gpul_prepared_is_graph(prepared) ? "a" : "NO",
           gpul_sequence_is_graph(sequence) ? "a graph" : "NO graph");
    compare("typed", typed, "1.03");
    compare("prepared, same arguments", prepared_same, "0.65");
    compare("prepared, one argument changed", prepared_new, "0.78");
    compare("sequence of 1,000, a launch", replayed, "560 ns");
    gpul_sequence_free(&sequence);
    gpul_prepared_free(&prepared);
    gpul_stream_free(&stream);
    gpul_buffer_free(&x);
    gpul_buffer_free(&y);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    return 0;
}
