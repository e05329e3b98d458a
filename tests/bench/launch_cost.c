/* What a typed launch costs beside the raw cuLaunchKernel, issue time only: 20,000 launches a sample,
 * nine interleaved pairs, medians; on the main thread, on a fresh thread, and with a foreign context
 * current.  Needs a GPU.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/launch_cost                                                               */
#include <gpulaunch/gpulaunch.h>
#include <pthread.h>

#include "raw_cuda.h"

static const char source[] =
    "extern \"C\" __global__ void four(int n, float a, const float *x, float *y)"
    "{ if (n < 0) y[0] = a * x[0]; }\n"
    "extern \"C\" __global__ void eight(int n, float a, const float *x, float *y, int m, double d,"
    " const int *z, short s) { if (n < 0) y[0] = a * x[0] + m + (float)d + z[0] + s; }\n";

enum { LAUNCHES = 20000, PAIRS = 9 };

static result (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, void *, void **, void **);
static result (*stream_synchronize)(void *);
static gpul_device *device;
static gpul_stream *stream;
static const gpul_kernel *four, *eight;
static gpul_buffer *x, *y;

static void check(gpul_status status)
{
    if (status == GPUL_OK) return;
    fprintf(stderr, "%s\n", gpul_last_error()->message);
    exit(1);
}

/* Both forms pack a fresh argument every time, as a loop in a program does. */
static double raw_four(void)
{
    struct {
        int n;
        float a;
        address x, y;
    } args = { 0, 2, gpul_buffer_address(x), gpul_buffer_address(y) };
    size_t size = sizeof args;
    void *extra[] = { (void *)1, &args, (void *)2, &size, NULL };
    void *function = gpul_kernel_handle(four), *raw = gpul_stream_handle(stream);
    uint64_t start = now_ns();
    for (int i = 0; i < LAUNCHES; i++) {
        args.n = i;
        RAW(launch_kernel(function, 4, 1, 1, 128, 1, 1, 0, raw, NULL, extra));
    }
    double ns = (double)(now_ns() - start) / LAUNCHES;
    RAW(stream_synchronize(raw));
    return ns;
}

static double typed_four(void)
{
    uint64_t start = now_ns();
    for (int i = 0; i < LAUNCHES; i++)
        check(gpul_launch(four, gpul_launch_opts(.grid = { 4 }, .block = { 128 }, .stream = stream),
                          gpul_args(i, 2.0f, gpul_in(x), y)));
    double ns = (double)(now_ns() - start) / LAUNCHES;
    check(gpul_stream_sync(stream));
    return ns;
}

static double raw_eight(void)
{
    struct {
        int n;
        float a;
        address x, y;
        int m;
        double d;
        address z;
        short s;
    } args = {
        0, 2, gpul_buffer_address(x), gpul_buffer_address(y), 3, 4, gpul_buffer_address(x), 5
    };
    size_t size = offsetof(__typeof__(args), s) + 2;
    void *extra[] = { (void *)1, &args, (void *)2, &size, NULL };
    void *function = gpul_kernel_handle(eight), *raw = gpul_stream_handle(stream);
    uint64_t start = now_ns();
    for (int i = 0; i < LAUNCHES; i++) {
        args.n = i;
        RAW(launch_kernel(function, 4, 1, 1, 128, 1, 1, 0, raw, NULL, extra));
    }
    double ns = (double)(now_ns() - start) / LAUNCHES;
    RAW(stream_synchronize(raw));
    return ns;
}

static double typed_eight(void)
{
    uint64_t start = now_ns();
    for (int i = 0; i < LAUNCHES; i++)
        check(gpul_launch(eight,
                          gpul_launch_opts(.grid = { 4 }, .block = { 128 }, .stream = stream),
                          gpul_args(i, 2.0f, gpul_in(x), y, 3, 4.0, gpul_in(x), (short)5)));
    double ns = (double)(now_ns() - start) / LAUNCHES;
    check(gpul_stream_sync(stream));
    return ns;
}

static void compare(const char *what, double (*raw)(void), double (*typed)(void))
{
    double r[PAIRS], t[PAIRS], ratio[PAIRS];
    raw();
    typed();
    for (int i = 0; i < PAIRS; i++) {
        if (i % 2) t[i] = typed(), r[i] = raw();
        else r[i] = raw(), t[i] = typed();
        ratio[i] = t[i] / r[i];
    }
    double q = median(ratio, PAIRS);
    printf("%-34s raw %7.1f ns  typed %7.1f ns  ratio %.4f\n", what, median(r, PAIRS),
           median(t, PAIRS), q);
    fflush(stdout);
}

static void *on_a_fresh_thread(void *unused)
{
    /* The raw loop needs a context on this thread; ours makes it current by itself. */
    check(gpul_stream_sync(stream));
    compare("4 arguments, fresh thread", raw_four, typed_four);
    compare("8 arguments, fresh thread", raw_eight, typed_eight);
    return unused;
}

int main(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&launch_kernel = raw_symbol(cuda, "cuLaunchKernel");
    *(void **)&stream_synchronize = raw_symbol(cuda, "cuStreamSynchronize");
    gpul_image *image;
    gpul_module *module;
    check(gpul_open(&device, gpul_device_opts(.device = "cuda")));
    check(gpul_compile(&image, source, GPUL_TEXT, gpul_compile_opts(.device = device)));
    check(gpul_load(&module, device, image, NULL));
    check(gpul_module_kernel(&four, module, "four"));
    check(gpul_module_kernel(&eight, module, "eight"));
    check(gpul_alloc(&x, device, 4096, NULL));
    check(gpul_alloc(&y, device, 4096, NULL));
    check(gpul_stream_new(&stream, device, NULL));
    printf("%s, driver %s\n", gpul_device_describe(device)->name,
           gpul_device_describe(device)->driver_release);
    compare("4 arguments", raw_four, typed_four);
    compare("8 arguments", raw_eight, typed_eight);
    pthread_t thread;
    if (pthread_create(&thread, NULL, on_a_fresh_thread, NULL) == 0) pthread_join(thread, NULL);

    /* With another context current, ours is pushed and popped around each launch; the raw loop runs
     * with its own context current, as a program that knows where it is would have it. */
    result (*context_create)(void **, unsigned, int);
    result (*context_set)(void *);
    *(void **)&context_create = raw_symbol(cuda, "cuCtxCreate_v2");
    *(void **)&context_set = raw_symbol(cuda, "cuCtxSetCurrent");
    void *foreign;
    RAW(context_create(&foreign, 0, 0));
    double r[PAIRS], t[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        RAW(context_set(gpul_device_context(device)));
        r[i] = raw_four();
        RAW(context_set(foreign));
        t[i] = typed_four();
    }
    double a = median(r, PAIRS), b = median(t, PAIRS);
    printf("%-34s raw %7.1f ns  typed %7.1f ns  ratio %.4f\n", "4 arguments, foreign context", a, b,
           b / a);
    RAW(context_set(gpul_device_context(device)));
    gpul_stream_free(&stream);
    gpul_buffer_free(&x);
    gpul_buffer_free(&y);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    return 0;
}
