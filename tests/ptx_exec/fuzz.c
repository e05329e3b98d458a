/* Hostile PTX all the way: texts are mutated, parsed, checked, lowered and run with a small instruction
 * budget.  Errors, refusals and faults are fine; a crash, a hang or a leak is not.  Best under sanitizers.
 *
 *     fuzz [--seed N] [--rounds N | --seconds N] [--keep FILE] [--isa v2|v3|v4] FILE.ptx...
 *
 * FILE of --keep holds the text that is being tried, so that it is there after a crash.  With --rounds 0
 * the files themselves are tried.  SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "ptx/engine.h"

enum {
    PATIENCE = 60,       /* seconds for one text, then it counts as a hang */
    BUDGET = 20000,      /* warp instructions of a launch */
    KERNELS = 4,         /* tried of one text */
    BUFFER = 1 << 14,    /* bytes that pointers among the arguments have */
    LONGEST = 1 << 20,   /* bytes of a text */
    PARAM_ROOM = 1 << 13 /* bytes of arguments */
};

static uint64_t state = 1;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (uint32_t)(state >> 24) % below : 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "fuzz: %s\n", what);
    exit(1);
}

typedef struct text {
    char *bytes;
    size_t length;
} text;

static text read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    text t = { malloc(LONGEST + 1), 0 };
    if (!t.bytes) fail("out of memory");
    t.length = fread(t.bytes, 1, LONGEST, file);
    fclose(file);
    return t;
}

/* ------------------------------------------------------------------ mutations */

typedef struct piece {
    size_t start, length;
} piece;

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '.' || c == '$';
}

/* A token, or with `line` a whole line, somewhere in the text. */
static piece pick(const text *t, bool line)
{
    if (!t->length) return (piece){ 0, 0 };
    size_t at = any((uint32_t)t->length), end;
    if (line) {
        while (at && t->bytes[at - 1] != '\n') at--;
        for (end = at; end < t->length && t->bytes[end] != '\n'; end++) {}
        if (end < t->length) end++;
        return (piece){ at, end - at };
    }
    while (at && in_word(t->bytes[at]) && in_word(t->bytes[at - 1])) at--;
    for (end = at; end < t->length && in_word(t->bytes[end]); end++) {}
    if (end == at) end++;
    return (piece){ at, end - at };
}

static void replace(text *t, piece where, const char *with, size_t length)
{
    if (t->length - where.length + length > LONGEST) return;
    memmove(t->bytes + where.start + length, t->bytes + where.start + where.length,
            t->length - where.start - where.length);
    memcpy(t->bytes + where.start, with, length);
    t->length += length - where.length;
}

static const char *const words[] = {
    "0",
    "1",
    "-1",
    "31",
    "32",
    "63",
    "64",
    "255",
    "65535",
    "4294967295",
    "2147483648",
    "18446744073709551615",
    "9223372036854775807",
    "0x8000000000000000",
    "0f7F800000",
    "0d7FF8000000000000",
    "1.5",
    ".u8",
    ".s16",
    ".b32",
    ".u64",
    ".f32",
    ".f64",
    ".f16x2",
    ".b128",
    ".pred",
    ".v2",
    ".v4",
    ".v8",
    ".sat",
    ".ftz",
    ".cc",
    ".wide",
    ".hi",
    ".rz",
    ".global",
    ".shared",
    ".local",
    ".const",
    ".param",
    ".volatile",
    ".acquire",
    "@%p1",
    "@!%p0",
    "%tid.x",
    "%clock64",
    "%laneid",
    "_",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "+",
    "-",
    ";",
    ",",
    "|",
    "bra",
    "ret",
    "call",
    "bar.sync 0",
    "exit",
    "trap",
    "shfl.sync.bfly.b32",
    "atom.global.add.u32",
    "vote.sync.ballot.b32",
    "match.any.sync.b32",
    ".align 4",
    ".reg .b32",
    ".func",
    ".entry",
    ".visible",
    ".extern",
    ".loc 1 2 3",
    ".maxntid 1, 1, 1",
    ".branchtargets",
};

/* One change; `other` lends tokens and lines. */
static void mutate(text *t, const text *other)
{
    piece where = pick(t, any(3) == 0);
    switch (any(9)) {
    case 0: replace(t, where, "", 0); break;
    case 1:
        if (t->length) t->bytes[any((uint32_t)t->length)] = (char)any(256);
        break;
    case 2:
    case 3: {
        /* A token of this text or of another one in its place. */
        piece from = pick(other, false);
        char *copy = malloc(from.length + 1);
        if (!copy) fail("out of memory");
        memcpy(copy, other->bytes + from.start, from.length);
        replace(t, pick(t, false), copy, from.length);
        free(copy);
        break;
    }
    case 4: {
        /* A line of either, put in somewhere else. */
        piece from = pick(other, true);
        char *copy = malloc(from.length + 1);
        if (!copy) fail("out of memory");
        memcpy(copy, other->bytes + from.start, from.length);
        piece to = pick(t, true);
        to.length = 0;
        replace(t, to, copy, from.length);
        free(copy);
        break;
    }
    case 5:
    case 6: {
        const char *word = words[any(sizeof words / sizeof *words)];
        replace(t, pick(t, false), word, strlen(word));
        break;
    }
    case 7: {
        /* A modifier behind a word. */
        piece at = pick(t, false);
        at.start += at.length;
        at.length = 0;
        const char *word = words[any(sizeof words / sizeof *words)];
        replace(t, at, word, strlen(word));
        break;
    }
    default: {
        char number[24];
        int length = snprintf(number, sizeof number, "%u", any(10) ? any(300) : any(UINT32_MAX));
        replace(t, pick(t, false), number, (size_t)length);
    }
    }
}

/* ------------------------------------------------------------------ one text */

typedef struct device {
    ptx_memory *memory;
    ptx_engine *engine;
    uint64_t buffer;
} device;

static unsigned long parsed, compiled, launched, clean;

static void drop_text(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
}

static void run_kernel(const device *d, const ptx_kernel *kernel)
{
    ptx_kernel_info info;
    ptx_kernel_describe(kernel, &info);
    if (info.param_size > PARAM_ROOM) return;
    static uint8_t params[PARAM_ROOM + 8];
    for (uint32_t k = 0; k < info.param_count; k++) {
        ptx_param_info p;
        if (!ptx_kernel_param(kernel, k, &p) || p.offset + 8 > sizeof params) break;
        uint64_t value = p.size == 8 ? d->buffer + 4 * any(8) : any(70);
        memcpy(params + p.offset, &value, p.size < 8 ? p.size : 8);
    }
    ptx_grid grid = { .grid = { 1 + any(3), 1, 1 },
                      .block = { 1 + any(80), 1, 1 },
                      .dynamic_shared = 256,
                      .cooperative = info.uses_grid_sync,
                      .instruction_budget = BUDGET,
                      .heap_size = 1 << 16,
                      .print = drop_text };
    for (int k = 0; k < 3; k++)
        if (info.required[k]) grid.block[k] = info.required[k];
    ptx_report report;
    ptx_launch_status status = ptx_launch(kernel, &grid, params, info.param_size, &report);
    launched += status == PTX_LAUNCH_OK || status == PTX_LAUNCH_FAULT;
    clean += status == PTX_LAUNCH_OK;
    gpul__str rendered = { 0 };
    ptx_report_render(&report, &rendered);
    gpul__str_free(&rendered);
    ptx_report_free(&report);
}

static void try_text(const device *d, const text *t)
{
    char *exact = malloc(t->length ? t->length : 1);
    if (!exact) fail("out of memory");
    memcpy(exact, t->bytes, t->length);
    ptx_diags diags = { 0 };
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    if (ptx_parse(&module, exact, t->length, &diags) == PTX_OK) {
        parsed++;
        gpul__str printed = { 0 };
        ptx_print_module(module, &printed);
        gpul__str_free(&printed);
        const ptx_program_options options = { .defer_unsupported = true };
        if (ptx_program_create(&program, d->engine, &module, 1, &options, &diags) == PTX_OK) {
            compiled++;
            size_t count = ptx_program_kernel_count(program);
            for (size_t k = 0; k < count && k < KERNELS; k++)
                run_kernel(d, ptx_program_kernel(program, k));
        }
        ptx_program_destroy(program);
        ptx_module_free(module);
    }
    gpul__str log = { 0 };
    for (size_t k = 0; k < diags.count; k++) ptx_diag_render(&diags.items[k], &log);
    gpul__str_free(&log);
    ptx_diags_free(&diags);
    free(exact);
}

static void keep(const char *path, const text *t)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(t->bytes, 1, t->length, file) != t->length || fclose(file))
        fail("the text cannot be kept");
}

int main(int argc, char **argv)
{
    unsigned long rounds = 200, seconds = 0;
    const char *kept = NULL;
    ptx_isa isa = PTX_ISA_AUTO;
    int first = 1;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        const char *value = argv[first + 1];
        if (!strcmp(argv[first], "--seed")) state = strtoull(value, NULL, 10) * 2654435761u + 1;
        else if (!strcmp(argv[first], "--rounds")) rounds = strtoul(value, NULL, 10);
        else if (!strcmp(argv[first], "--seconds")) seconds = strtoul(value, NULL, 10);
        else if (!strcmp(argv[first], "--keep")) kept = value;
        else if (!strcmp(argv[first], "--isa"))
            isa = value[1] == '2' ? PTX_ISA_V2 : value[1] == '3' ? PTX_ISA_V3 : PTX_ISA_V4;
        else fail("an option is unknown");
    }
    if (first >= argc) fail("no file is given");
    size_t count = (size_t)(argc - first);
    text *texts = calloc(count, sizeof *texts);
    if (!texts) fail("out of memory");
    for (size_t k = 0; k < count; k++) texts[k] = read_file(argv[first + (int)k]);
    device d = { 0 };
    const ptx_engine_options options = { .isa = isa, .threads = 2 };
    const ptx_allocation request = { .size = BUFFER };
    if (ptx_memory_create(&d.memory, NULL) != PTX_OK ||
        ptx_engine_create(&d.engine, d.memory, &options) != PTX_OK ||
        ptx_memory_alloc(d.memory, &request, 256, &d.buffer) != PTX_OK)
        fail("no device");
    memset(ptx_memory_host(d.memory, d.buffer, BUFFER), 0, BUFFER);
    text tried = { malloc(LONGEST + 1), 0 };
    if (!tried.bytes) fail("out of memory");
    time_t end = time(NULL) + (time_t)seconds;
    unsigned long done = 0;
    for (; seconds ? time(NULL) < end : done < (rounds ? rounds : count); done++) {
        const text *base = &texts[rounds || seconds ? any((uint32_t)count) : done];
        memcpy(tried.bytes, base->bytes, base->length);
        tried.length = base->length;
        uint32_t changes = rounds || seconds ? 1 + any(any(4) ? 2 : 12) : 0;
        for (uint32_t k = 0; k < changes; k++)
            mutate(&tried, any(2) ? base : &texts[any((uint32_t)count)]);
        if (kept) keep(kept, &tried);
        alarm(PATIENCE);
        try_text(&d, &tried);
        alarm(0);
    }
    printf("%lu texts, %lu parsed, %lu compiled, %lu launches, %lu of them clean\n", done, parsed,
           compiled, launched, clean);
    free(tried.bytes);
    for (size_t k = 0; k < count; k++) free(texts[k].bytes);
    free(texts);
    ptx_engine_destroy(d.engine);
    ptx_memory_destroy(d.memory);
    return 0;
}
