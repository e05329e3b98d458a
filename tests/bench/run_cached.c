/* `gpulaunch run` of a cached kernel beside a C program that makes the same calls of the library, each in a
 * process of its own, started and ended.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/run_cached calls DEVICE FILE.cu              the C program
 *     build/tests/bench/run_cached pairs DEVICE FILE.cu GPULAUNCH [N]
 *                          N interleaved pairs (31): medians, and the median difference, in ms
 *
 * FILE.cu is written when it does not exist. */
#include <errno.h>
#include <fcntl.h>
#include <gpulaunch/gpulaunch.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw_cuda.h"

extern char **environ;

static const char source[] =
    "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n";

enum { N = 65536 };

/* ---- The C program ---- */

typedef struct compiled {
    const char *path;
    gpul_image *image;
    bool failed;
} compiled;

/* As the command does: while the driver makes the context. */
static void compile_meanwhile(void *user, gpul_device *device)
{
    compiled *c = user;
    c->failed = gpul_compile_file(&c->image, c->path,
                                  gpul_compile_opts(.device = device, .line_info = true));
}

static int calls(const char *name, const char *path)
{
    static float x[N], y[N];
    const float one = 1;
    gpul_device *device = NULL;
    gpul_module *module = NULL;
    const gpul_kernel *kernel;
    gpul_buffer *dx = NULL, *dy = NULL;
    gpul_event *start = NULL, *end = NULL;
    compiled c = { .path = path };
    float milliseconds = 0;
    for (int i = 0; i < N; i++) x[i] = (float)i;
    bool bad =
        gpul_open(&device, gpul_device_opts(.device = name, .meanwhile = compile_meanwhile,
                                            .meanwhile_user = &c)) ||
        c.failed || gpul_load(&module, device, c.image, gpul_load_opts(.keep = true)) ||
        gpul_module_kernel(&kernel, module, "saxpy") || gpul_alloc(&dx, device, sizeof x, NULL) ||
        gpul_alloc(&dy, device, sizeof y, NULL) || gpul_write(dx, 0, x, sizeof x, NULL) ||
        gpul_fill(dy, 0, sizeof y, &one, sizeof one, NULL) || gpul_event_new(&start, device) ||
        gpul_event_new(&end, device) || gpul_event_record(start, NULL) ||
        gpul_launch(kernel, gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }),
                    gpul_args((int)N, 2.0f, gpul_in(dx), dy)) ||
        gpul_event_record(end, NULL) || gpul_sync(device) ||
        gpul_event_elapsed(&milliseconds, start, end) || gpul_read(y, dy, 0, sizeof y, NULL);
    if (bad) fprintf(stderr, "%s\n", gpul_last_error()->message);
    for (int i = 0; !bad && i < N; i++) bad = y[i] != 2.0f * (float)i + 1;
    gpul_event_free(&start);
    gpul_event_free(&end);
    gpul_buffer_free(&dx);
    gpul_buffer_free(&dy);
    gpul_module_free(&module);
    gpul_image_free(&c.image);
    gpul_device_free(&device);
    return bad;
}

/* ---- The pairs ---- */

/* Wall time of a process, in ms; it must end well. */
static double run(const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    uint64_t start = now_ns();
    int error = posix_spawn(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
    if (error || waitpid(child, &status, 0) < 0 || status) {
        fprintf(stderr, "%s: %s\n", argv[0], error ? strerror(error) : "it failed");
        exit(1);
    }
    uint64_t end = now_ns();
    posix_spawn_file_actions_destroy(&actions);
    return (double)(end - start) / 1e6;
}

static int pairs(const char *self, const char *device, const char *path, const char *command, int n)
{
    double times[2][512], difference[512];
    const char *ours[] = { command,   "run", path,           "-d",     device,
                           "n=x.len", "a=2", "x=65536:iota", "y=ones", NULL };
    const char *program[] = { self, "calls", device, path, NULL };
    if (n < 1 || n > 512) return 2;
    run(ours); /* fills the cache */
    run(program);
    for (int i = 0; i < n; i++)
        for (int m = 0; m < 2; m++) {
            int mode = (m + i) % 2;
            times[mode][i] = run(mode ? ours : program);
        }
    for (int i = 0; i < n; i++) difference[i] = times[1][i] - times[0][i];
    double d = median(difference, n), low = difference[n / 10], high = difference[n - 1 - n / 10];
    printf(
        "%d interleaved pairs on %s, whole processes, medians in ms: C program %.3f, gpulaunch run "
        "%.3f, median difference %+.3f (10 to 90 %%: %+.3f to %+.3f)\n",
        n, device, median(times[0], n), median(times[1], n), d, low, high);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    int fd = open(argv[3], O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0 && (write(fd, source, sizeof source - 1) < 0 || close(fd))) return 1;
    if (!strcmp(argv[1], "calls")) return calls(argv[2], argv[3]);
    return argc < 5 ? 2 : pairs(argv[0], argv[2], argv[3], argv[4], argc > 5 ? atoi(argv[5]) : 31);
}
