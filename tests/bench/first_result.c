/* Time from source to the first result: the same steps by hand and through the library, each in a
 * process of its own.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/first_result raw|ours     prints init, compile, load, launch, total in ms
 *     build/tests/bench/first_result pairs [N]    N interleaved pairs (31) and their median difference */
#include <gpulaunch/gpulaunch.h>
#include <string.h>

#include "raw_cuda.h"

static const char source[] =
    "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n";

enum { N = 4096 };
static float x[N], y[N];
static uint64_t marks[6];

static void verify(void)
{
    for (int i = 0; i < N; i++)
        if (y[i] != 2.0f * (float)i + 1) fprintf(stderr, "y[%d] is %g\n", i, y[i]), exit(1);
}

static void print_marks(void)
{
    for (int i = 1; i < 6; i++) printf("%.3f ", (double)(marks[i] - marks[i - 1]) / 1e6);
    printf("%.3f %.3f\n", (double)(marks[5] - marks[1]) / 1e6, (double)(marks[5] - marks[0]) / 1e6);
}

static int raw(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
#define GET(library, name, ...)                                                                    \
    result (*name)(__VA_ARGS__);                                                                   \
    *(void **)&name = raw_symbol(library, #name)
    GET(cuda, cuInit, unsigned);
    GET(cuda, cuDeviceGet, int *, int);
    GET(cuda, cuCtxCreate_v2, void **, unsigned, int);
    GET(cuda, cuModuleLoadDataEx, void **, const void *, unsigned, int *, void **);
    GET(cuda, cuModuleGetFunction, void **, void *, const char *);
    GET(cuda, cuMemAlloc_v2, address *, size_t);
    GET(cuda, cuMemcpyHtoD_v2, address, const void *, size_t);
    GET(cuda, cuMemcpyDtoH_v2, void *, address, size_t);
    GET(cuda, cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
        unsigned, void *, void **, void **);
    int ordinal;
    void *context, *program, *module, *function;
    RAW(cuInit(0));
    RAW(cuDeviceGet(&ordinal, 0));
    RAW(cuCtxCreate_v2(&context, 0, ordinal));
    marks[1] = now_ns();
    /* The library opens NVRTC when it first compiles, and so does this. */
    const char *path = getenv("GPULAUNCH_NVRTC");
    void *nvrtc = dlopen(path ? path : "libnvrtc.so.13", RTLD_NOW);
    GET(nvrtc, nvrtcCreateProgram, void **, const char *, const char *, int, const char *const *,
        const char *const *);
    GET(nvrtc, nvrtcCompileProgram, void *, int, const char *const *);
    GET(nvrtc, nvrtcGetCUBINSize, void *, size_t *);
    GET(nvrtc, nvrtcGetCUBIN, void *, char *);
    static const char *const options[] = { "-arch=sm_90" };
    RAW(nvrtcCreateProgram(&program, source, "saxpy.cu", 0, NULL, NULL));
    RAW(nvrtcCompileProgram(program, 1, options));
    size_t size;
    RAW(nvrtcGetCUBINSize(program, &size));
    char *cubin = malloc(size);
    RAW(nvrtcGetCUBIN(program, cubin));
    marks[2] = now_ns();
    RAW(cuModuleLoadDataEx(&module, cubin, 0, NULL, NULL));
    RAW(cuModuleGetFunction(&function, module, "saxpy"));
    marks[3] = now_ns();
    struct {
        int n;
        float a;
        address x, y;
    } args = { N, 2, 0, 0 };
    RAW(cuMemAlloc_v2(&args.x, sizeof x));
    RAW(cuMemAlloc_v2(&args.y, sizeof y));
    RAW(cuMemcpyHtoD_v2(args.x, x, sizeof x));
    RAW(cuMemcpyHtoD_v2(args.y, y, sizeof y));
    marks[4] = now_ns();
    size = sizeof args;
    void *extra[] = { (void *)1, &args, (void *)2, &size, NULL };
    RAW(cuLaunchKernel(function, N / 256, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
    RAW(cuMemcpyDtoH_v2(y, args.y, sizeof y));
    marks[5] = now_ns();
    free(cubin);
    return 0;
}

static int ours(void)
{
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *dx, *dy;
    bool bad = gpul_open(&device, gpul_device_opts(.device = "cuda"));
    marks[1] = now_ns();
    bad = bad || gpul_compile(&image, source, GPUL_TEXT,
                              gpul_compile_opts(.device = device, .no_cache = true));
    marks[2] = now_ns();
    bad = bad || gpul_load(&module, device, image, NULL) ||
          gpul_module_kernel(&kernel, module, "saxpy");
    marks[3] = now_ns();
    bad = bad || gpul_alloc(&dx, device, sizeof x, gpul_alloc_opts(.init = x)) ||
          gpul_alloc(&dy, device, sizeof y, gpul_alloc_opts(.init = y));
    marks[4] = now_ns();
    bad = bad ||
          gpul_launch(kernel, gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }),
                      gpul_args((int)N, 2.0f, gpul_in(dx), dy)) ||
          gpul_read(y, dy, 0, sizeof y, NULL);
    marks[5] = now_ns();
    if (bad) fprintf(stderr, "%s\n", gpul_last_error()->message);
    return bad;
}

static int pairs(const char *program, int n)
{
    static const char *const modes[] = { "raw", "ours" };
    static const char *const columns[] = { "init",   "compile", "load",   "copy",
                                           "launch", "total",   "process" };
    double values[2][7][512];
    if (n < 1 || n > 512) return 2;
    for (int i = 0; i < n; i++)
        for (int m = 0; m < 2; m++) {
            int mode = (m + i) % 2;
            char command[600];
            snprintf(command, sizeof command, "'%s' %s", program, modes[mode]);
            FILE *pipe = popen(command, "r");
            for (int c = 0; c < 7; c++)
                if (!pipe || fscanf(pipe, "%lf", &values[mode][c][i]) != 1) {
                    fprintf(stderr, "%s failed\n", command);
                    return 1;
                }
            if (pclose(pipe) != 0) return 1;
        }
    printf(
        "%d interleaved pairs, medians in ms; total is from compile to result, process from main on\n",
        n);
    for (int c = 0; c < 7; c++) {
        double difference[512];
        for (int i = 0; i < n; i++) difference[i] = values[1][c][i] - values[0][c][i];
        double d = median(difference, n), r = median(values[0][c], n), o = median(values[1][c], n);
        printf("%-8s by hand %8.3f  gpulaunch %8.3f  median difference %+7.3f\n", columns[c], r, o,
               d);
    }
    return 0;
}

int main(int argc, char **argv)
{
    marks[0] = now_ns();
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
    if (argc > 1 && strcmp(argv[1], "pairs") == 0)
        return pairs(argv[0], argc > 2 ? atoi(argv[2]) : 31);
    int bad = argc > 1 && strcmp(argv[1], "raw") == 0 ? raw() : ours();
    if (bad) return 1;
    verify();
    print_marks();
    return 0;
}
