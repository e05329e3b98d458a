/* Seven kernels on the CPU device beside the same algorithms in C on one core, and in OpenCL C where the
 * build found OpenCL: times, ratios, what two workers gain (beside two engines that run apart and two
 * threads of C: what the machine has to give), and the bytes of state that a warp has.  Prints a table;
 * checks every result of the device.
 *
 *     cpu_kernels [--checks] [--isa v2|v3|v4] [--threads N] [--repeat N] [NAME...]
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu_native.h"
#include "cpu_opencl.h"
#include "ptx/engine.h"

/* Processor time of this thread, which does all the work where there is one worker; else, for a moment,
 * time that passes. */
static clockid_t clock_used = CLOCK_THREAD_CPUTIME_ID;

static double now(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "cpu_kernels: %s\n", what);
    exit(1);
}

static uint32_t checks; /* of the engine: --checks */

/* One memory, and over it engines: with one worker, with several, and another with one. */
enum { ONE, MORE, TWIN, ENGINES };
typedef struct device {
    ptx_memory *memory;
    ptx_engine *engine[ENGINES];
    ptx_program *program[ENGINES];
} device;

static ptx_module *read_module(void)
{
    FILE *file = fopen(CPU_KERNELS_PTX, "rb");
    if (!file) fail("cannot read " CPU_KERNELS_PTX);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    if (!text || fread(text, 1, size, file) != size) fail("cannot read " CPU_KERNELS_PTX);
    fclose(file);
    ptx_diags diags = { 0 };
    ptx_module *module;
    if (ptx_parse(&module, text, size, &diags) != PTX_OK) fail("the kernels do not parse");
    ptx_diags_free(&diags);
    free(text);
    return module;
}

static device open_device(ptx_module *module, ptx_isa isa, uint32_t threads)
{
    device d = { 0 };
    ptx_diags diags = { 0 };
    ptx_memory_options memory = { .track = checks != 0 };
    if (ptx_memory_create(&d.memory, &memory) != PTX_OK) fail("no device memory");
    for (int k = 0; k < ENGINES; k++) {
        ptx_engine_options options = { .isa = isa,
                                       .threads = k == MORE ? threads : 1,
                                       .checks = checks };
        if (ptx_engine_create(&d.engine[k], d.memory, &options) != PTX_OK)
            fail("this machine lacks the instruction set");
        if (ptx_program_create(&d.program[k], d.engine[k], &module, 1, NULL, &diags) == PTX_OK)
            continue;
        gpul__str text = { 0 };
        for (size_t n = 0; n < diags.count; n++) ptx_diag_render(&diags.items[n], &text);
        fail(gpul__str_text(&text));
    }
    ptx_diags_free(&diags);
    return d;
}

static void close_device(device *d)
{
    for (int k = 0; k < ENGINES; k++) {
        ptx_program_destroy(d->program[k]);
        ptx_engine_destroy(d->engine[k]);
    }
    ptx_memory_destroy(d->memory);
}

static uint64_t allocate(device *d, size_t size, void **host)
{
    uint64_t address;
    ptx_allocation request = { .size = size };
    if (ptx_memory_alloc(d->memory, &request, 256, &address) != PTX_OK) fail("out of memory");
    *host = ptx_memory_host(d->memory, address, size);
    memset(*host, 0, size);
    ptx_memory_note_write(d->memory, address, size);
    return address;
}

typedef struct shape {
    uint32_t grid[2], block[2];
} shape;

static double launch_on(device *d, int engine, const char *name, shape s, const void *params,
                        size_t size)
{
    ptx_report report;
    ptx_grid grid = { .grid = { s.grid[0], s.grid[1], 1 }, .block = { s.block[0], s.block[1], 1 } };
    const ptx_kernel *kernel = ptx_program_find_kernel(d->program[engine], name);
    double start = now();
    ptx_launch_status status = ptx_launch(kernel, &grid, params, size, &report);
    double time = now() - start;
    if (status != PTX_LAUNCH_OK) {
        gpul__str text = { 0 };
        ptx_report_render(&report, &text);
        fail(gpul__str_text(&text));
    }
    ptx_report_free(&report);
    return time;
}

static void launch(device *d, const char *name, shape s, const void *params, size_t size)
{
    launch_on(d, ONE, name, s, params, size);
}

/* ------------------------------------------------------------------ the trials */

typedef struct trial {
    double device, strict, fast; /* best times */
    double more;                 /* of several workers, time that passes */
    double gain;                 /* of several workers over one: the median of pairs */
    double apart;                /* the same of two engines that share nothing but memory */
} trial;

static int repeats = 5;
static double *gains; /* of each pair; room for repeats */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_gain(void)
{
    qsort(gains, (size_t)repeats, sizeof *gains, by_value);
    return gains[repeats / 2];
}

/* A launch by another thread on the twin. */
typedef struct errand {
    device *d;
    const char *name;
    shape s;
    const void *params;
    size_t size;
} errand;

static void *launch_twin(void *argument)
{
    const errand *e = argument;
    launch_on(e->d, TWIN, e->name, e->s, e->params, e->size);
    return NULL;
}

/* What this machine gives at best: two launches at once by two threads, each on an engine of its own,
 * beside the same two one after the other. */
static double time_apart(errand *e)
{
    for (int k = 0; k < repeats; k++) {
        pthread_t other;
        double start = now();
        launch_on(e->d, ONE, e->name, e->s, e->params, e->size);
        launch_twin(e);
        double middle = now();
        if (pthread_create(&other, NULL, launch_twin, e)) fail("no thread");
        launch_on(e->d, ONE, e->name, e->s, e->params, e->size);
        pthread_join(other, NULL);
        gains[k] = (middle - start) / (now() - middle);
    }
    return median_gain();
}

/* One worker by its processor time, and then pairs of one and several by the time that passes, so that
 * both sides of a pair meet the machine in the same state. */
static trial time_device(device *d, const char *name, shape s, const void *params, size_t size)
{
    trial t = { .device = 1e9, .more = 1e9 };
    for (int k = 0; k < repeats; k++) {
        double time = launch_on(d, ONE, name, s, params, size);
        if (time < t.device) t.device = time;
    }
    clock_used = CLOCK_MONOTONIC;
    for (int k = 0; k < repeats; k++) {
        double alone = launch_on(d, ONE, name, s, params, size);
        double together = launch_on(d, MORE, name, s, params, size);
        gains[k] = alone / together;
        if (together < t.more) t.more = together;
    }
    t.gain = median_gain();
    t.apart = time_apart(&(errand){ d, name, s, params, size });
    clock_used = CLOCK_THREAD_CPUTIME_ID;
    return t;
}

#define BEST(result, statement)                                                                    \
    do {                                                                                           \
        result = 1e9;                                                                              \
        for (int r_ = 0; r_ < repeats; r_++) {                                                     \
            double t_ = now();                                                                     \
            statement;                                                                             \
            t_ = now() - t_;                                                                       \
            if (t_ < result) result = t_;                                                          \
        }                                                                                          \
    } while (0)

static void check(bool right, const char *name)
{
    if (right) return;
    fprintf(stderr, "cpu_kernels: %s computes something else\n", name);
    exit(1);
}

static bool near(float a, float b, float relative)
{
    return fabsf(a - b) <= relative * fabsf(b) + relative;
}

static trial saxpy(device *d)
{
    enum { N = 1 << 22 };
    trial t;
    void *x, *y;
    struct {
        int n;
        float a;
        uint64_t x, y;
    } p = { N, 2.5f, allocate(d, 4 * N, &x), allocate(d, 4 * N, &y) };
    float *own = malloc(4 * N);
    for (int i = 0; i < N; i++) ((float *)x)[i] = (float)(i % 1000), ((float *)y)[i] = own[i] = 1;
    shape s = { { N / 256, 1 }, { 256, 1 } };
    launch(d, "saxpy", s, &p, sizeof p);
    native_strict.saxpy(N, p.a, x, own);
    check(!memcmp(own, y, 4 * N), "saxpy");
    t = time_device(d, "saxpy", s, &p, sizeof p);
    BEST(t.strict, native_strict.saxpy(N, p.a, x, own));
    BEST(t.fast, native_fast.saxpy(N, p.a, x, own));
    free(own);
    return t;
}

static trial saxpy_cached(device *d)
{
    enum { N = 1 << 12, ROUNDS = 64 };
    trial t;
    void *x, *y;
    struct {
        int n;
        float a;
        uint64_t x, y;
    } p = { N, 2.5f, allocate(d, 4 * N, &x), allocate(d, 4 * N, &y) };
    float *own = calloc(N, 4);
    shape s = { { N / 256, ROUNDS }, { 256, 1 } };
    t = time_device(d, "saxpy", s, &p, sizeof p);
    BEST(t.strict, for (int k = 0; k < ROUNDS; k++) native_strict.saxpy(N, p.a, x, own));
    BEST(t.fast, for (int k = 0; k < ROUNDS; k++) native_fast.saxpy(N, p.a, x, own));
    free(own);
    return t;
}

static trial matmul(device *d)
{
    enum { N = 256 };
    trial t;
    void *a, *b, *c;
    struct {
        int n;
        uint64_t a, b, c;
    } p = { N, allocate(d, 4 * N * N, &a), allocate(d, 4 * N * N, &b), allocate(d, 4 * N * N, &c) };
    float *own = malloc(4 * N * N);
    for (int i = 0; i < N * N; i++)
        ((float *)a)[i] = (float)(i % 17) * .25f, ((float *)b)[i] = (float)(i % 13) * .5f;
    shape s = { { N / 16, N / 16 }, { 16, 16 } };
    launch(d, "matmul", s, &p, sizeof p);
    native_strict.matmul(N, a, b, own);
    for (int i = 0; i < N * N; i++) check(near(((float *)c)[i], own[i], 1e-4f), "matmul");
    t = time_device(d, "matmul", s, &p, sizeof p);
    BEST(t.strict, native_strict.matmul(N, a, b, own));
    BEST(t.fast, native_fast.matmul(N, a, b, own));
    free(own);
    return t;
}

static trial reduce(device *d)
{
    enum { N = 1 << 22 };
    trial t;
    void *x, *out;
    struct {
        uint64_t x, out;
        int n;
    } p = { allocate(d, 4 * N, &x), allocate(d, 4, &out), N };
    volatile float sink;
    for (int i = 0; i < N; i++) ((float *)x)[i] = (float)(i % 7) * .125f;
    shape s = { { 64, 1 }, { 256, 1 } };
    launch(d, "reduce", s, &p, 20);
    check(near(*(float *)out, native_fast.reduce(N, x), 1e-3f), "reduce");
    t = time_device(d, "reduce", s, &p, 20);
    BEST(t.strict, sink = native_strict.reduce(N, x));
    BEST(t.fast, sink = native_fast.reduce(N, x));
    (void)sink;
    return t;
}

static trial nbody(device *d)
{
    enum { N = 4096 };
    trial t;
    void *positions, *force;
    struct {
        uint64_t positions, force;
        int n;
        float softening;
    } p = { allocate(d, 16 * N, &positions), allocate(d, 16 * N, &force), N, .01f };
    float *own = malloc(16 * N);
    for (int i = 0; i < 4 * N; i++) ((float *)positions)[i] = (float)((i * 7919) % 1000) / 1000.f;
    shape s = { { N / 128, 1 }, { 128, 1 } };
    launch(d, "nbody", s, &p, sizeof p);
    native_strict.nbody(N, positions, own, p.softening);
    for (int i = 0; i < 4 * N; i++) check(near(((float *)force)[i], own[i], 1e-2f), "nbody");
    t = time_device(d, "nbody", s, &p, sizeof p);
    BEST(t.strict, native_strict.nbody(N, positions, own, p.softening));
    BEST(t.fast, native_fast.nbody(N, positions, own, p.softening));
    free(own);
    return t;
}

static trial histogram(device *d)
{
    enum { N = 1 << 21 };
    trial t;
    void *x, *out;
    struct {
        uint64_t x, out;
        int n;
    } p = { allocate(d, 4 * N, &x), allocate(d, 1024, &out), N };
    unsigned own[256] = { 0 }, seed = 1;
    for (int i = 0; i < N; i++) ((unsigned *)x)[i] = seed = seed * 1664525u + 1013904223u;
    shape s = { { 64, 1 }, { 256, 1 } };
    launch(d, "histogram", s, &p, 20);
    native_strict.histogram(N, x, own);
    check(!memcmp(own, out, sizeof own), "histogram");
    t = time_device(d, "histogram", s, &p, 20);
    BEST(t.strict, native_strict.histogram(N, x, own));
    BEST(t.fast, native_fast.histogram(N, x, own));
    return t;
}

static trial mandelbrot(device *d)
{
    enum { W = 512, H = 512, MOST = 256 };
    trial t;
    void *out;
    struct {
        int w, h, most;
        uint64_t out;
    } p = { W, H, MOST, allocate(d, 4 * W * H, &out) };
    unsigned *own = malloc(4 * W * H);
    shape s = { { W / 16, H / 16 }, { 16, 16 } };
    launch(d, "mandelbrot", s, &p, sizeof p);
    native_strict.mandelbrot(W, H, MOST, own);
    int differ = 0;
    for (int i = 0; i < W * H; i++) differ += ((unsigned *)out)[i] != own[i];
    /* nvcc and gcc contract products and sums differently at the border of the set. */
    check(differ < W * H / 100, "mandelbrot");
    t = time_device(d, "mandelbrot", s, &p, sizeof p);
    BEST(t.strict, native_strict.mandelbrot(W, H, MOST, own));
    BEST(t.fast, native_fast.mandelbrot(W, H, MOST, own));
    free(own);
    return t;
}

static const struct {
    const char *name;
    trial (*run)(device *d);
    double goal; /* times native -O3, AVX2 */
} trials[] = { { "saxpy", saxpy, 12 },           { "saxpy-cached", saxpy_cached, 0 },
               { "matmul", matmul, 25 },         { "reduce", reduce, 3.3 },
               { "nbody", nbody, 1.1 },          { "histogram", histogram, 7.5 },
               { "mandelbrot", mandelbrot, 1.2 } };
enum { TRIALS = sizeof trials / sizeof *trials };

/* ------------------------------------------------------------------ the machine */

static void *one_native(void *out)
{
    native_strict.mandelbrot(512, 512, 256, out);
    return NULL;
}

/* How much faster two threads of C do twice the work than one: what the machine has to give at this
 * moment, to judge the gain of two workers by. */
static double native_gain(void)
{
    unsigned *out = malloc(8 * 512 * 512);
    if (!out) fail("out of memory");
    clock_used = CLOCK_MONOTONIC;
    for (int k = 0; k < repeats; k++) {
        pthread_t other;
        double start = now();
        one_native(out);
        one_native(out);
        double middle = now();
        if (pthread_create(&other, NULL, one_native, out + 512 * 512)) fail("no thread");
        one_native(out);
        pthread_join(other, NULL);
        gains[k] = (middle - start) / (now() - middle);
    }
    clock_used = CLOCK_THREAD_CPUTIME_ID;
    free(out);
    return median_gain();
}

static uint32_t state_of(const device *d, const char *named)
{
    ptx_kernel_info info;
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(named, "-"), named);
    ptx_kernel_describe(ptx_program_find_kernel(d->program[ONE], name), &info);
    return info.warp_state;
}

int main(int argc, char **argv)
{
    ptx_isa isa = PTX_ISA_AUTO;
    uint32_t threads = 2;
    bool wanted[TRIALS] = { false }, all = true;
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "--isa") && k + 1 < argc) {
            const char *name = argv[++k];
            isa = !strcmp(name, "v2") ? PTX_ISA_V2 : !strcmp(name, "v3") ? PTX_ISA_V3 : PTX_ISA_V4;
        } else if (!strcmp(argv[k], "--checks")) {
            checks = PTX_CHECK_RACES | PTX_CHECK_INIT;
        } else if (!strcmp(argv[k], "--threads") && k + 1 < argc) {
            threads = (uint32_t)atoi(argv[++k]);
        } else if (!strcmp(argv[k], "--repeat") && k + 1 < argc) {
            repeats = atoi(argv[++k]);
        } else {
            all = false;
            for (int t = 0; t < TRIALS; t++) wanted[t] |= !strcmp(trials[t].name, argv[k]);
        }
    }
    ptx_module *module = read_module();
    if (repeats < 1 || !(gains = calloc((size_t)repeats, sizeof *gains)))
        fail("no room for the times");
    device d = open_device(module, isa, threads);
    printf("%s; milliseconds, best of %d; gains: median of pairs\n",
           ptx_engine_isa_name(d.engine[ONE]), repeats);
    printf("%-13s %9s %9s %9s %7s %6s %9s %9s %6s %6s %7s %6s\n", "kernel", "device", "C -O3",
           "C -Ofast", "ratio", "goal", "OpenCL", "threads", "gain", "apart", "C gain", "state");
    for (int t = 0; t < TRIALS; t++) {
        if (!all && !wanted[t]) continue;
        trial a = trials[t].run(&d);
        double machine = native_gain(), opencl = opencl_time(trials[t].name, repeats);
        char goal[16] = "-", by_opencl[16] = "-";
        if (trials[t].goal > 0) snprintf(goal, sizeof goal, "%.1f", trials[t].goal);
        if (opencl > 0) snprintf(by_opencl, sizeof by_opencl, "%.3f", opencl * 1e3);
        printf("%-13s %9.3f %9.3f %9.3f %7.2f %6s %9s %9.3f %6.2f %6.2f %7.2f %6u\n",
               trials[t].name, a.device * 1e3, a.strict * 1e3, a.fast * 1e3, a.device / a.strict,
               goal, by_opencl, a.more * 1e3, a.gain, a.apart, machine,
               state_of(&d, trials[t].name));
    }
    printf("OpenCL: %s\n", opencl_platform());
    close_device(&d);
    ptx_module_free(module);
    free(gains);
    return 0;
}
