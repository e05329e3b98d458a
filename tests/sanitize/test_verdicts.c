/* Each kernel of kernels.cu and bytes.cu runs with the checkers on, in several orders of blocks and warps: what is
 * wrong must be found every time, with its kind and the lines of both accesses, and what is right
 * must not be accused.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include "base/str.h"
#include "ptx/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 65536 };

typedef struct verdict {
    const char *kernel;
    uint32_t blocks, threads;
    ptx_fault_kind kind; /* PTX_FAULT_NONE: it is correct */
    const char *variable;
    uint32_t checks; /* 0: races and uninitialised reads */
    uint32_t dynamic;
} verdict;

static const verdict verdicts[] = {
    { "race_ahead", 1, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "race_behind", 2, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "race_loop", 1, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "race_tile", 1, 256, PTX_FAULT_RACE, "tile", 0, 0 },
    { "race_double_buffer", 1, 64, PTX_FAULT_RACE, "two", 0, 0 },
    { "race_one_word", 1, 96, PTX_FAULT_RACE, "last", 0, 0 },
    { "race_atomic_plain", 1, 64, PTX_FAULT_RACE, "count", 0, 0 },
    { "race_plain_atomic", 1, 64, PTX_FAULT_RACE, "count", 0, 0 },
    { "race_bytes", 1, 256, PTX_FAULT_RACE, "text", 0, 0 },
    { "race_halves", 1, 256, PTX_FAULT_RACE, "text", 0, 0 },
    { "race_vector", 1, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "race_double", 1, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "race_generic", 1, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "race_lock_without_fence", 1, 96, PTX_FAULT_RACE, "sum", 0, 0 },
    { "race_dynamic", 1, 64, PTX_FAULT_RACE, NULL, 0, 256 },
    { "race_in_call", 1, 64, PTX_FAULT_RACE, "box", 0, 0 },
    { "warp_neighbour", 1, 32, PTX_FAULT_WARP_RACE, "box", 0, 0 },
    { "warp_reduction", 1, 64, PTX_FAULT_WARP_RACE, "box", 0, 0 },
    { "warp_part_sync", 1, 32, PTX_FAULT_WARP_RACE, "box", 0, 0 },
    { "warp_clash", 1, 32, PTX_FAULT_STORE_CLASH, "last", 0, 0 },
    { "warp_clash_some", 1, 32, PTX_FAULT_STORE_CLASH, "box", 0, 0 },
    { "init_read", 1, 64, PTX_FAULT_UNINITIALISED, "box", 0, 0 },
    { "init_edge", 1, 64, PTX_FAULT_UNINITIALISED, "box", 0, 0 },
    { "init_heap", 1, 64, PTX_FAULT_UNINITIALISED, NULL, 0, 0 },
    { "init_local", 1, 64, PTX_FAULT_UNINITIALISED, NULL, 0, 0 },
    { "init_counter", 1, 64, PTX_FAULT_UNINITIALISED, "count", 0, 0 },
    { "init_broadcast", 1, 64, PTX_FAULT_UNINITIALISED, "flag", 0, 0 },
    { "blocks_one_word", 4, 64, PTX_FAULT_BLOCK_RACE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "blocks_neighbour", 4, 64, PTX_FAULT_BLOCK_RACE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "blocks_no_fence", 4, 64, PTX_FAULT_BLOCK_RACE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "blocks_counter", 4, 64, PTX_FAULT_BLOCK_RACE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "good_barrier", 3, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_local", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_padding", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_pingpong", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_double_buffer", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_tile", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_reduction", 4, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_shuffle_reduction", 4, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_warp_reduction", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_histogram", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_scan", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_scan_in_place", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_lock", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_lock_per_lane", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_flag", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_bytes", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_halves", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_same_value", 2, 32, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_part_sync", 2, 32, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_exits", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_named", 2, 128, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_vote", 2, 32, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_last_block", 6, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_exchange", 2, 64, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_transpose", 2, 256, PTX_FAULT_NONE, NULL, 0, 0 },
    { "good_blocks", 6, 64, PTX_FAULT_NONE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "good_block_bytes", 6, 64, PTX_FAULT_NONE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "good_block_lock", 20, 64, PTX_FAULT_NONE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "good_block_flags", 6, 64, PTX_FAULT_NONE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "good_block_histogram", 6, 64, PTX_FAULT_NONE, NULL, PTX_CHECK_BLOCKS, 0 },
    { "good_last_block", 6, 64, PTX_FAULT_NONE, NULL, PTX_CHECK_BLOCKS, 0 },
};

static char *read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, f);
    assert_true(length > 0 && length < (1 << 20) - 1);
    fclose(f);
    return text;
}

/* The line of the source with "@word kernel" in it; 0: there is none. */
static uint32_t marked_line(const char *source, const char *word, const char *kernel)
{
    char mark[96];
    int length = snprintf(mark, sizeof mark, "@%s %s", word, kernel);
    uint32_t line = 1;
    for (const char *at = source; *at; at++) {
        if (*at == '\n') line++;
        char after = strncmp(at, mark, (size_t)length) ? 'x' : at[length];
        if (after == '\n' || after == ' ') return line;
    }
    return 0;
}

typedef struct device {
    ptx_memory *memory;
    ptx_engine *engine;
    ptx_module *module;
    ptx_program *program;
    uint64_t out, in;
} device;

static device open_device(const char *text, uint32_t checks, uint64_t seed, uint32_t threads)
{
    device d = { 0 };
    ptx_diags diags = { 0 };
    ptx_engine_options options = { .threads = threads, .checks = checks, .seed = seed };
    ptx_memory_options memory = { .track = (checks & PTX_CHECK_INIT) != 0 };
    assert_int_equal(ptx_memory_create(&d.memory, &memory), PTX_OK);
    assert_int_equal(ptx_engine_create(&d.engine, d.memory, &options), PTX_OK);
    assert_int_equal(ptx_parse(&d.module, text, strlen(text), &diags), PTX_OK);
    assert_int_equal(ptx_program_create(&d.program, d.engine, &d.module, 1, NULL, &diags), PTX_OK);
    ptx_diags_free(&diags);
    ptx_allocation request = { .size = WORDS * 4 };
    assert_int_equal(ptx_memory_alloc(d.memory, &request, 256, &d.out), PTX_OK);
    assert_int_equal(ptx_memory_alloc(d.memory, &request, 256, &d.in), PTX_OK);
    return d;
}

static void close_device(device *d)
{
    ptx_program_destroy(d->program);
    ptx_engine_destroy(d->engine);
    ptx_module_free(d->module);
    ptx_memory_destroy(d->memory);
}

static void launch(const device *d, const verdict *v, ptx_report *report)
{
    int *out = ptx_memory_host(d->memory, d->out, WORDS * 4);
    int *in = ptx_memory_host(d->memory, d->in, WORDS * 4);
    memset(out, 0, WORDS * 4);
    for (int k = 0; k < WORDS; k++) in[k] = k % 7;
    ptx_memory_note_write(d->memory, d->out, WORDS * 4);
    ptx_memory_note_write(d->memory, d->in, WORDS * 4);
    const ptx_kernel *kernel = ptx_program_find_kernel(d->program, v->kernel);
    assert_non_null(kernel);
    const uint64_t params[2] = { d->out, d->in };
    ptx_grid grid = { .grid = { v->blocks, 1, 1 },
                      .block = { v->threads, 1, 1 },
                      .dynamic_shared = v->dynamic,
                      .instruction_budget = 1 << 24 };
    assert_int_equal(ptx_launch(kernel, &grid, params, sizeof params, report), PTX_LAUNCH_OK);
}

static void fail_with(const verdict *v, uint64_t seed, const ptx_report *report, const char *why)
{
    gpul__str text = { 0 };
    ptx_report_render(report, &text);
    fail_msg("%s, seed %d: %s\n%s", v->kernel, (int)seed, why, gpul__str_text(&text));
}

static bool names_lines(const ptx_finding *f, uint32_t now, uint32_t then)
{
    /* The second place is where the value is used; an atomic operation has none. */
    if (f->kind == PTX_FAULT_UNINITIALISED)
        return f->line == now && (!f->has_other || f->other_line >= now);
    if (f->has_other != (then != 0)) return false;
    if (!f->has_other) return f->line == now;
    return (f->line == now && f->other_line == then) || (f->line == then && f->other_line == now);
}

static void judge(const verdict *v, uint64_t seed, const char *source, const ptx_report *report)
{
    if (v->kind == PTX_FAULT_NONE) {
        if (report->finding_count) fail_with(v, seed, report, "it is correct");
        return;
    }
    uint32_t now = marked_line(source, "now", v->kernel);
    uint32_t then = marked_line(source, "then", v->kernel);
    assert_true(now > 0);
    for (size_t k = 0; k < report->finding_count; k++) {
        const ptx_finding *f = &report->findings[k];
        if (f->kind != v->kind || !names_lines(f, now, then)) continue;
        if (!v->variable && f->variable) continue;
        if (v->variable && (!f->variable || strcmp(f->variable, v->variable))) continue;
        assert_true(f->warning && f->threads > 0);
        assert_int_equal(f->defect,
                         f->kind != PTX_FAULT_WARP_RACE && f->kind != PTX_FAULT_BLOCK_RACE);
        return;
    }
    fail_with(v, seed, report, "it was not found, or not at its lines");
}

/* Those of one block first, then those that need the checker between blocks, with all of them on. */
static void run_file(const char *ptx, const char *cu, uint64_t seed, uint32_t threads,
                     uint32_t checks, size_t *judged)
{
    char *text = read_file(ptx), *source = read_file(cu);
    device d = open_device(text, checks, seed, threads);
    for (size_t k = 0; k < sizeof verdicts / sizeof *verdicts; k++) {
        const verdict *v = &verdicts[k];
        ptx_report report = { 0 };
        if (v->checks & ~checks) continue;
        if ((checks & PTX_CHECK_BLOCKS) && !v->checks) continue;
        if (!ptx_program_find_kernel(d.program, v->kernel)) continue;
        launch(&d, v, &report);
        judge(v, seed, source, &report);
        ptx_report_free(&report);
        ++*judged;
    }
    close_device(&d);
    free(source);
    free(text);
}

static void run_all(uint64_t seed, uint32_t threads)
{
    const uint32_t usual = PTX_CHECK_RACES | PTX_CHECK_INIT;
    size_t judged = 0;
    run_file("kernels.ptx", "kernels.cu", seed, threads, usual, &judged);
    run_file("bytes.ptx", "bytes.cu", seed, threads, usual, &judged);
    run_file("kernels.ptx", "kernels.cu", seed, threads, usual | PTX_CHECK_BLOCKS, &judged);
    run_file("bytes.ptx", "bytes.cu", seed, threads, usual | PTX_CHECK_BLOCKS, &judged);
    assert_int_equal(judged, sizeof verdicts / sizeof *verdicts);
}

static void in_the_usual_order(void **state)
{
    (void)state;
    run_all(0, 1);
    run_all(0, 3);
}

static void in_other_orders(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) run_all(seed, seed % 3 + 1);
}

/* Without checkers the same kernels run as they always did. */
static void silent_when_off(void **state)
{
    (void)state;
    char *text = read_file("kernels.ptx");
    device d = open_device(text, 0, 0, 1);
    for (size_t k = 0; k < sizeof verdicts / sizeof *verdicts; k++) {
        ptx_report report = { 0 };
        if (!ptx_program_find_kernel(d.program, verdicts[k].kernel)) continue;
        launch(&d, &verdicts[k], &report);
        assert_int_equal(report.finding_count, 0);
        ptx_report_free(&report);
    }
    close_device(&d);
    free(text);
}

GPUL_TEST_MAIN("sanitize-verdicts", cmocka_unit_test(in_the_usual_order),
               cmocka_unit_test(in_other_orders), cmocka_unit_test(silent_when_off));
