/* Runs kernels of PTX files that are not ours on two devices with the same made-up inputs and compares
 * every byte that comes back.  SPDX-License-Identifier: MIT
 *
 *     corpus-compare load FILE.ptx...           which files load every kernel on $GPULAUNCH_DEVICE; a CPU
 *                                               device gets the capability that the file is made for
 *     corpus-compare select FILE.ptx...         which kernels run clean on the CPU device with which trial
 *     corpus-compare both FILE.ptx...           the same, then on the GPU, and compare (a process a file)
 *
 * Every pointer gets a buffer of its own, filled from the parameter's index; every integer scalar gets the
 * trial's number, every float 0.5.  A kernel counts when it ran without a report of the CPU device, wrote
 * something, and the outputs agree: bit for bit, or, where it uses approximate instructions or float
 * atomics, within 1e-3 of each element read as float.  A kernel whose outputs do not agree runs some more
 * times on the GPU alone: when that differs from run to run, the order in which threads run decides, and
 * the line ends with "order dependent".  */
#include <gpulaunch/gpulaunch.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 18, MAX_PARAMS = 64, MORE_RUNS = 20 };

/* What the buffers hold and what the integers are. */
static const struct trial {
    const char *name;
    int integer;
    enum { SMALL_INTS, FLOATS, ZEROS } fill;
} trials[] = {
    { "ints-64", 64, SMALL_INTS }, { "floats-64", 64, FLOATS },   { "floats-16", 16, FLOATS },
    { "ints-16", 16, SMALL_INTS }, { "floats-128", 128, FLOATS }, { "zeros-32", 32, ZEROS },
    { "ints-1", 1, SMALL_INTS },   { "floats-256", 256, FLOATS }, { "floats-1", 1, FLOATS },
    { "ints-4", 4, SMALL_INTS },   { "floats-4", 4, FLOATS },
};
enum { TRIALS = sizeof trials / sizeof *trials };

static void fill(unsigned char *bytes, unsigned which, const struct trial *trial)
{
    uint32_t state = 12345u + which * 977u;
    for (size_t i = 0; i < BYTES / 4; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t word = 0;
        if (trial->fill == SMALL_INTS) {
            word = (state >> 16) % 16;
        } else if (trial->fill == FLOATS) {
            float value = (float)(state >> 8) / 16777216.0f;
            memcpy(&word, &value, sizeof word);
        }
        memcpy(bytes + 4 * i, &word, sizeof word);
    }
}

struct run {
    unsigned char *bytes[MAX_PARAMS]; /* of pointer parameters; NULL elsewhere */
};

static void release(struct run *run)
{
    for (int i = 0; i < MAX_PARAMS; i++) free(run->bytes[i]);
    memset(run, 0, sizeof *run);
}

/* Launches one kernel of a loaded module; false with a sentence in `why`. */
static bool launch(struct run *run, gpul_device *device, const gpul_kernel *kernel,
                   const struct trial *trial, char *why, size_t room)
{
    const gpul_kernel_info *info = gpul_kernel_describe(kernel);
    gpul_buffer *buffers[MAX_PARAMS] = { 0 };
    gpul_arg args[MAX_PARAMS];
    bool good = info->param_count <= MAX_PARAMS;
    for (uint32_t i = 0; good && i < info->param_count; i++) {
        const gpul_param *p = &info->params[i];
        if (p->is_pointer ||
            (p->value.size == 8 && p->value.type != GPUL_F64 && p->value.type != GPUL_I64)) {
            run->bytes[i] = malloc(BYTES);
            if (!run->bytes[i]) exit(1);
            fill(run->bytes[i], i, trial);
            good = gpul_alloc(&buffers[i], device, BYTES, gpul_alloc_opts(.init = run->bytes[i])) ==
                   GPUL_OK;
            args[i] = gpul_arg_buffer(buffers[i]);
            if (good && !p->is_pointer) args[i] = gpul_address(gpul_buffer_address(buffers[i]));
        } else if (p->value.type == GPUL_F32) {
            args[i] = gpul_arg_float(0.5f);
        } else if (p->value.type == GPUL_F64) {
            args[i] = gpul_arg_double(0.5);
        } else if (p->value.size == 1) {
            args[i] = gpul_arg_uchar((unsigned char)(trial->integer & 1));
        } else if (p->value.size == 2) {
            args[i] = gpul_arg_short((short)trial->integer);
        } else if (p->value.size == 4) {
            args[i] = gpul_arg_int(trial->integer);
        } else if (p->value.size == 8) {
            args[i] = gpul_arg_llong(trial->integer);
        } else {
            good = false;
            snprintf(why, room, "a parameter by value of %u bytes", p->value.size);
        }
    }
    if (good) {
        uint64_t x = 64, y = 1;
        if (info->bound_exact) {
            x = (uint64_t)info->bound_threads[0];
            y = (uint64_t)(info->bound_threads[1] ? info->bound_threads[1] : 1);
        } else if (info->uses_y) {
            x = 16, y = 16;
        }
        gpul_launch_opts how = { .grid = { 4, info->uses_y ? 4 : 1 }, .block = { x, y } };
        if (info->uses_dynamic_shared) how.shared = 16384;
        good = gpul_launch(kernel, &how, (gpul_arglist){ info->param_count, args }) == GPUL_OK &&
               gpul_sync(device) == GPUL_OK;
        for (uint32_t i = 0; good && i < info->param_count; i++)
            if (buffers[i]) good = gpul_read(run->bytes[i], buffers[i], 0, BYTES, NULL) == GPUL_OK;
        if (!good) snprintf(why, room, "%s", gpul_last_error()->message);
    }
    for (int i = 0; i < MAX_PARAMS; i++) gpul_buffer_free(&buffers[i]);
    return good;
}

/* How many words differ from what was put in. */
static size_t written(const struct run *run, const struct trial *trial)
{
    size_t count = 0;
    unsigned char *fresh = malloc(BYTES);
    if (!fresh) exit(1);
    for (unsigned i = 0; i < MAX_PARAMS; i++) {
        if (!run->bytes[i]) continue;
        fill(fresh, i, trial);
        for (size_t k = 0; k < BYTES; k += 4) count += memcmp(fresh + k, run->bytes[i] + k, 4) != 0;
    }
    free(fresh);
    return count;
}

struct difference {
    size_t words; /* that are not the same bits */
    double worst; /* largest relative error of those, read as floats */
};

static struct difference compare(const struct run *a, const struct run *b)
{
    struct difference d = { 0, 0 };
    for (int i = 0; i < MAX_PARAMS; i++) {
        if (!a->bytes[i]) continue;
        for (size_t k = 0; k < BYTES; k += 4) {
            if (memcmp(a->bytes[i] + k, b->bytes[i] + k, 4) == 0) continue;
            float x, y;
            memcpy(&x, a->bytes[i] + k, 4);
            memcpy(&y, b->bytes[i] + k, 4);
            d.words++;
            double error = fabs((double)x - (double)y) / (fabs((double)y) + 1e-3);
            if (isnan(x) && isnan(y)) error = 0;
            if (!(error <= d.worst)) d.worst = isnan(error) ? INFINITY : error;
        }
    }
    return d;
}

/* `capability` is that of a CPU device; 0: its default. */
static gpul_device *open_device(const char *name, int capability)
{
    gpul_device *device;
    gpul_device_opts opts = { .device = name };
    opts.cpu.instruction_budget = 20000000;
    opts.cpu.compute_capability = capability;
    if (gpul_open(&device, &opts) == GPUL_OK) return device;
    fprintf(stderr, "%s: %s\n", name ? name : "device", gpul_last_error()->message);
    exit(1);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum { LOADS, NO_KERNELS, REFUSED, OUTCOMES };

static int load_file(const char *path)
{
    gpul_image *image = NULL;
    gpul_module *module = NULL;
    gpul_device *device = NULL;
    size_t kernels = 0, usable = 0;
    bool good = gpul_image_from_file(&image, path) == GPUL_OK;
    if (good) {
        int capability = 0;
        (void)sscanf(gpul_image_describe(image)->arch, "sm_%d", &capability);
        device = open_device(NULL, capability);
        good = gpul_load(&module, device, image, NULL) == GPUL_OK;
        kernels = gpul_image_kernel_count(image);
    }
    /* The CPU device may load a module and refuse single kernels of it. */
    for (size_t k = 0; good && k < kernels; k++) {
        const gpul_kernel *kernel;
        usable +=
            gpul_module_kernel(&kernel, module, gpul_image_kernel(image, k)->symbol) == GPUL_OK;
    }
    if (good && usable == kernels) printf("LOADS %s: %zu kernels\n", base_name(path), kernels);
    else if (good)
        printf("PARTLY %s: %zu of %zu kernels; %s\n", base_name(path), usable, kernels,
               gpul_last_error()->message);
    else printf("REFUSED %s: %s\n", base_name(path), gpul_last_error()->message);
    good = good && usable == kernels;
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    return !good ? REFUSED : kernels ? LOADS : NO_KERNELS;
}

/* How many of some more runs on the GPU do not give what `first` gave. */
static int other_results(gpul_device *gpu, const gpul_kernel *kernel, const struct trial *trial,
                         const struct run *first)
{
    int count = 0;
    for (int r = 0; r < MORE_RUNS; r++) {
        struct run again = { 0 };
        char why[400];
        if (!launch(&again, gpu, kernel, trial, why, sizeof why)) exit(1);
        count += compare(&again, first).words != 0;
        release(&again);
    }
    return count;
}

/* One file: each kernel with the first trial that runs clean and writes something. */
static int run_file(const char *path, bool both)
{
    gpul_image *image = NULL;
    gpul_module *on_cpu = NULL, *on_gpu = NULL;
    gpul_device *cpu = open_device("cpu", 0), *gpu = both ? open_device("cuda", 0) : NULL;
    if (gpul_image_from_file(&image, path) != GPUL_OK ||
        gpul_load(&on_cpu, cpu, image, NULL) != GPUL_OK ||
        (both && gpul_load(&on_gpu, gpu, image, NULL) != GPUL_OK)) {
        printf("REFUSED %s: %s\n", base_name(path), gpul_last_error()->message);
        return 1;
    }
    size_t kernels = gpul_image_kernel_count(image);
    for (size_t k = 0; k < kernels; k++) {
        const char *name = gpul_image_kernel(image, k)->symbol;
        char why[400] = "no trial wrote anything";
        bool counted = false;
        for (int t = 0; t < TRIALS && !counted; t++) {
            const gpul_kernel *kernel;
            struct run a = { 0 }, b = { 0 };
            if (gpul_module_kernel(&kernel, on_cpu, name) == GPUL_OK &&
                launch(&a, cpu, kernel, &trials[t], why, sizeof why)) {
                size_t words = written(&a, &trials[t]);
                if (words && !both) {
                    printf("CLEAN %s %s %s wrote %zu words\n", base_name(path), name,
                           trials[t].name, words);
                    counted = true;
                } else if (words && gpul_module_kernel(&kernel, on_gpu, name) == GPUL_OK) {
                    counted = true;
                    if (launch(&b, gpu, kernel, &trials[t], why, sizeof why)) {
                        struct difference d = compare(&a, &b);
                        printf("%s %s %s %s wrote %zu words, %zu differ, worst %.2g",
                               d.words == 0      ? "EQUAL"
                               : d.worst <= 1e-3 ? "CLOSE"
                                                 : "DIFFERS",
                               base_name(path), name, trials[t].name, words, d.words, d.worst);
                        int others = d.words ? other_results(gpu, kernel, &trials[t], &b) : 0;
                        if (others)
                            printf("; order dependent: %d of %d more runs of the GPU differ",
                                   others, MORE_RUNS);
                        printf("\n");
                    } else {
                        printf("GPU-FAULT %s %s %s: %s\n", base_name(path), name, trials[t].name,
                               why);
                        exit(1);
                    }
                }
            } else {
                /* A fault ends the context of the CPU device, not the device. */
                gpul_module_free(&on_cpu);
                gpul_device_free(&cpu);
                cpu = open_device("cpu", 0);
                if (gpul_load(&on_cpu, cpu, image, NULL) != GPUL_OK) exit(1);
            }
            release(&a);
            release(&b);
        }
        if (!counted) printf("NO-TRIAL %s %s: %s\n", base_name(path), name, why);
        fflush(stdout);
    }
    gpul_module_free(&on_cpu);
    gpul_module_free(&on_gpu);
    gpul_image_free(&image);
    gpul_device_free(&cpu);
    gpul_device_free(&gpu);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: corpus-compare load|select|both FILE.ptx...\n");
        return 2;
    }
    bool loading = strcmp(argv[1], "load") == 0;
    int count[OUTCOMES] = { 0 };
    for (int i = 2; i < argc; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(loading ? 300 : 60);
            int rc = loading ? load_file(argv[i]) : run_file(argv[i], strcmp(argv[1], "both") == 0);
            fflush(stdout);
            _exit(rc);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            printf("%s %s signal %d\n", WTERMSIG(status) == SIGALRM ? "SLOW" : "CRASH",
                   base_name(argv[i]), WTERMSIG(status));
        else if (WEXITSTATUS(status) < OUTCOMES) count[WEXITSTATUS(status)]++;
    }
    if (loading)
        printf("of %d files with kernels %d load every kernel; %d files have none\n",
               count[LOADS] + count[REFUSED], count[LOADS], count[NO_KERNELS]);
    return 0;
}
