/* What loading PTX costs on the CPU device, and how much state a warp has.
 *
 *     cpu_load [--repeat N] [FILE.ptx...]
 *
 * Loads a module of at least 100 KB, made of the benchmark kernels again and again, and prints the best
 * time of the engine alone (parse, check, lower) and of gpul_load().  Then the bytes that one warp of each
 * kernel of the files holds (registers, local memory, bookkeeping), else of the benchmark kernels.
 * SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "ptx/engine.h"

static int repeats = 20;

static void fail(const char *what)
{
    fprintf(stderr, "cpu_load: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static gpul__str read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    gpul__str text = { 0 };
    char part[4096];
    size_t got;
    if (!file) fail(path);
    while ((got = fread(part, 1, sizeof part, file))) gpul__str_addn(&text, part, got);
    fclose(file);
    return text;
}

/* The kernels once more under other names, until the text has 100 KB. */
static gpul__str large_module(void)
{
    gpul__str source = read_file(CPU_KERNELS_PTX), out = { 0 };
    const char *text = gpul__str_text(&source), *body = strstr(text, ".visible .entry");
    static const char entry[] = ".entry ";
    if (!body) fail("the kernels lack an entry");
    gpul__str_addn(&out, text, (size_t)(body - text));
    for (int copy = 0; out.length < 100 * 1024; copy++)
        for (const char *at = body; *at;) {
            const char *next = strstr(at, entry);
            const char *end = next ? strchr(next, '(') : NULL;
            if (!end) {
                gpul__str_add(&out, at);
                break;
            }
            gpul__str_addn(&out, at, (size_t)(end - at));
            gpul__str_printf(&out, "_%d", copy);
            at = end;
        }
    gpul__str_free(&source);
    return out;
}

static void time_engine(const gpul__str *text)
{
    ptx_memory *memory;
    ptx_engine *engine;
    if (ptx_memory_create(&memory, NULL) != PTX_OK ||
        ptx_engine_create(&engine, memory, &(ptx_engine_options){ .threads = 1 }) != PTX_OK)
        fail("no engine");
    double parsing = 1e9, lowering = 1e9;
    for (int r = 0; r < repeats; r++) {
        ptx_diags diags = { 0 };
        ptx_module *module;
        ptx_program *program;
        double start = now();
        if (ptx_parse(&module, text->text, text->length, &diags) != PTX_OK) fail("no parse");
        double middle = now();
        if (ptx_program_create(&program, engine, &module, 1, NULL, &diags) != PTX_OK)
            fail("the module is refused");
        double end = now();
        if (middle - start < parsing) parsing = middle - start;
        if (end - middle < lowering) lowering = end - middle;
        ptx_program_destroy(program);
        ptx_module_free(module);
        ptx_diags_free(&diags);
    }
    printf("engine: %.2f ms (parse and check %.2f, lower %.2f)\n", parsing + lowering, parsing,
           lowering);
    ptx_engine_destroy(engine);
    ptx_memory_destroy(memory);
}

static void time_library(const gpul__str *text)
{
    gpul_device *device;
    if (gpul_open(&device, &(gpul_device_opts){ .device = "cpu" }) != GPUL_OK)
        fail(gpul_last_error()->message);
    double best = 1e9;
    for (int r = 0; r < repeats; r++) {
        gpul_image *image;
        gpul_module *module;
        double start = now();
        if (gpul_image_from_memory(&image, text->text, text->length, NULL) != GPUL_OK ||
            gpul_load(&module, device, image, NULL) != GPUL_OK)
            fail(gpul_last_error()->message);
        double time = now() - start;
        if (time < best) best = time;
        gpul_module_free(&module);
        gpul_image_free(&image);
    }
    printf("gpul_image_from_memory and gpul_load: %.2f ms; goal 10\n", best);
    gpul_device_free(&device);
}

/* ------------------------------------------------------------------ state */

typedef struct states {
    uint32_t *bytes;
    size_t count, room;
} states;

static void add_states(states *s, const char *path, ptx_engine *engine, bool show)
{
    gpul__str text = read_file(path);
    ptx_diags diags = { 0 };
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    const ptx_program_options options = { .defer_unsupported = true };
    if (ptx_parse(&module, text.text, text.length, &diags) == PTX_OK &&
        ptx_program_create(&program, engine, &module, 1, &options, &diags) == PTX_OK)
        for (size_t k = 0; k < ptx_program_kernel_count(program); k++) {
            ptx_kernel_info info;
            ptx_kernel_describe(ptx_program_kernel(program, k), &info);
            if (info.refused) continue;
            if (s->count == s->room) {
                s->room = s->room ? 2 * s->room : 256;
                s->bytes = realloc(s->bytes, s->room * sizeof *s->bytes);
                if (!s->bytes) fail("out of memory");
            }
            s->bytes[s->count++] = info.warp_state;
            if (show) printf("%-13s %7u bytes a warp\n", info.name, info.warp_state);
        }
    ptx_program_destroy(program);
    ptx_module_free(module);
    ptx_diags_free(&diags);
    gpul__str_free(&text);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void print_states(char **files, int count)
{
    ptx_memory *memory;
    ptx_engine *engine;
    states s = { 0 };
    if (ptx_memory_create(&memory, NULL) != PTX_OK ||
        ptx_engine_create(&engine, memory, &(ptx_engine_options){ .threads = 1 }) != PTX_OK)
        fail("no engine");
    if (!count) add_states(&s, CPU_KERNELS_PTX, engine, true);
    for (int k = 0; k < count; k++) add_states(&s, files[k], engine, false);
    qsort(s.bytes, s.count, sizeof *s.bytes, ascending);
    if (s.count)
        printf("%zu kernels: a warp holds %u bytes (median), %u (90 %%), %u (99 %%), %u (most); "
               "goal 16384 for a typical one\n",
               s.count, s.bytes[s.count / 2], s.bytes[s.count * 9 / 10],
               s.bytes[s.count * 99 / 100], s.bytes[s.count - 1]);
    free(s.bytes);
    ptx_engine_destroy(engine);
    ptx_memory_destroy(memory);
}

int main(int argc, char **argv)
{
    int first = 1;
    if (argc > 2 && !strcmp(argv[1], "--repeat")) {
        repeats = atoi(argv[2]);
        first = 3;
    }
    gpul__str text = large_module();
    printf("a module of %zu bytes, best of %d\n", text.length, repeats);
    time_engine(&text);
    time_library(&text);
    gpul__str_free(&text);
    print_states(argv + first, argc - first);
    return 0;
}
