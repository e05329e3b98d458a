/* ptx_record: runs every arithmetic instruction on a device and keeps the results, or compares them
 * with kept ones.  Uses the public interface of the library alone.
 *
 *   ptx_record --record FILE [--device D]          run on the device, write the results
 *   ptx_record --replay FILE [--device D]          run on the device, compare with the results
 *   ptx_record --judge FILE                        compare kept results with the reference
 *   ptx_record --sweep NAME FIRST COUNT FILE       one f32 instruction of one source on COUNT inputs in a
 *                                                  row from FIRST (bits); raw 32-bit results
 *   ptx_record --write DIR                         write the PTX modules
 *   --only PREFIX                                  restricts to instructions of that name
 *   --show N                                       prints so many differences, 40 when not given
 *
 * Exits with 0 when all is equal, 1 when something differs or was refused, 2 on other errors.
 * SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>

#include <stdlib.h>
#include <time.h>

#include "../ref.h"
#include "kernel_text.h"
#include "recording.h"

enum { MODULE_KERNELS = 256 };

static unsigned long shown_at_most = 40;

typedef struct options {
    const char *record, *replay, *judge, *write, *device, *only;
    const char *sweep, *sweep_file;
    uint64_t first, count;
} options;

typedef struct results {
    const form *form;
    bool done; /* false: the device refused the instruction */
    recording_entry entry;
} results;

typedef struct tally {
    unsigned equal, nan_payload, near, wrong, refused, missing, unrecorded, shown;
} tally;

static void complain(const char *what)
{
    const gpul_error *e = gpul_last_error();
    fprintf(stderr, "ptx_record: %s: %s (%s, status %d)\n%s", what, e->message, e->call,
            (int)e->status, e->log);
}

/* ------------------------------------------------------------------ running */

static gpul_status run_one(gpul_device *device, gpul_module *module, size_t index, results *r,
                           gpul_buffer *inputs, gpul_buffer *outputs)
{
    uint64_t rows[FORM_INPUTS][4];
    char name[24];
    const gpul_kernel *kernel;
    snprintf(name, sizeof name, "op%zu", index);
    r->entry.count = form_input_count(r->form);
    recording_key(r->entry.key, sizeof r->entry.key, r->form);
    form_inputs(r->form, rows, r->entry.count, 0);
    r->entry.input_hash = recording_hash((const uint64_t(*)[4])rows, r->entry.count);
    gpul_status status = gpul_module_kernel(&kernel, module, name);
    if (status == GPUL_OK)
        status = gpul_write(inputs, 0, rows, r->entry.count * sizeof rows[0], NULL);
    if (status == GPUL_OK)
        status =
            gpul_launch(kernel, gpul_launch_opts(.grid = { r->entry.count / 32 }, .block = { 32 }),
                        gpul_args(inputs, outputs));
    if (status == GPUL_OK) status = gpul_sync(device);
    if (status == GPUL_OK)
        status = gpul_read(r->entry.results, outputs, 0, r->entry.count * sizeof(uint64_t), NULL);
    r->done = status == GPUL_OK;
    if (status != GPUL_OK) complain(r->entry.key);
    return status;
}

static gpul_status load(gpul_module **module, gpul_device *device, const form *forms, size_t count,
                        unsigned arch)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return GPUL_E_MEMORY;
    kernel_text_module(memory, forms, count, arch);
    if (fclose(memory) != 0) return GPUL_E_MEMORY;
    gpul_image *image = NULL;
    gpul_status status = gpul_image_from_memory(&image, text, size, "ops.ptx");
    free(text);
    if (status == GPUL_OK) status = gpul_load(module, device, image, NULL);
    gpul_image_free(&image);
    return status;
}

/* Runs forms[0 .. count).  A module that the device refuses is halved until the instruction it does not
 * take stands alone. */
static gpul_status run_all(gpul_device *device, const form *forms, results *out, size_t count,
                           unsigned arch, gpul_buffer *inputs, gpul_buffer *outputs)
{
    gpul_module *module = NULL;
    gpul_status status = load(&module, device, forms, count, arch);
    if (status == GPUL_E_IMAGE || status == GPUL_E_UNSUPPORTED) {
        if (count == 1) {
            recording_key(out->entry.key, sizeof out->entry.key, out->form);
            complain(out->entry.key);
            return GPUL_OK;
        }
        size_t half = count / 2;
        status = run_all(device, forms, out, half, arch, inputs, outputs);
        if (status != GPUL_OK) return status;
        return run_all(device, forms + half, out + half, count - half, arch, inputs, outputs);
    }
    if (status != GPUL_OK) {
        complain("loading");
        return status;
    }
    for (size_t i = 0; i < count && status == GPUL_OK; i++)
        status = run_one(device, module, i, &out[i], inputs, outputs);
    gpul_module_free(&module);
    return status;
}

static gpul_status run_list(gpul_device *device, const form_list *list, results *all)
{
    gpul_buffer *inputs = NULL, *outputs = NULL;
    gpul_status status = gpul_alloc(&inputs, device, FORM_INPUTS * 32, NULL);
    if (status == GPUL_OK) status = gpul_alloc(&outputs, device, FORM_INPUTS * 8, NULL);
    if (status != GPUL_OK) complain("allocating");
    size_t at = 0;
    while (at < list->count && status == GPUL_OK) {
        const unsigned arch = list->items[at].arch;
        size_t end = at;
        while (end < list->count && end - at < MODULE_KERNELS && list->items[end].arch == arch)
            end++;
        status = run_all(device, list->items + at, all + at, end - at, arch, inputs, outputs);
        at = end;
    }
    gpul_buffer_free(&inputs);
    gpul_buffer_free(&outputs);
    return status;
}

/* ------------------------------------------------------------------ comparing */

static void show(tally *t, const form *f, const uint64_t in[4], uint64_t got, const char *wanted)
{
    if (t->shown++ >= shown_at_most) return;
    printf("%s(", f->name);
    for (unsigned i = 0; i < f->source_count; i++) {
        const unsigned bits = form_bits(f->source[i]);
        const uint64_t value = bits < 64 ? in[i] & ((1ull << bits) - 1) : in[i];
        printf("%s%llx", i ? ", " : "", (unsigned long long)value);
    }
    printf(") = %llx, not %s\n", (unsigned long long)got, wanted);
}

static uint64_t cut(const form *f, uint64_t bits)
{
    const unsigned width = f->pair ? 2 : form_bits(f->d);
    return width < 64 ? bits & ((1ull << width) - 1) : bits;
}

/* Compares with what was recorded; an approximate result need only be as good as the ISA asks. */
static void compare(tally *t, const results *r, const recording_entry *kept)
{
    uint64_t rows[FORM_INPUTS][4];
    const form *f = r->form;
    if (!r->done) {
        t->refused++;
        return;
    }
    form_inputs(f, rows, kept->count, 0);
    for (unsigned i = 0; i < kept->count; i++) {
        const uint64_t got = r->entry.results[i], want = kept->results[i];
        char text[96];
        if (got == want) {
            t->equal++;
            continue;
        }
        if (f->check == CHECK_BOUND) {
            if (ref_accepts(f, rows[i], cut(f, got), text, sizeof text)) {
                t->near++;
                continue;
            }
        } else if (ref_same(f, cut(f, got), cut(f, want))) {
            t->nan_payload++;
            continue;
        } else {
            snprintf(text, sizeof text, "%llx", (unsigned long long)want);
        }
        t->wrong++;
        show(t, f, rows[i], got, text);
    }
}

/* Compares what was recorded with the reference. */
static void judge(tally *t, const form *f, const recording_entry *kept)
{
    uint64_t rows[FORM_INPUTS][4];
    form_inputs(f, rows, kept->count, 0);
    for (unsigned i = 0; i < kept->count; i++) {
        char text[96];
        const uint64_t got = cut(f, kept->results[i]);
        if (ref_accepts(f, rows[i], got, text, sizeof text)) {
            t->equal++;
            continue;
        }
        t->wrong++;
        show(t, f, rows[i], kept->results[i], text);
    }
}

/* --refused: how many instructions the device is known to refuse; another number is a failure. */
static unsigned refused_expected;

static int report(const tally *t)
{
    printf(
        "%u results equal, %u NaNs of other payload, %u approximate within the bound, %u wrong\n"
        "%u instructions refused, %u records without one, %u instructions newer than the record\n",
        t->equal, t->nan_payload, t->near, t->wrong, t->refused, t->missing, t->unrecorded);
    return t->wrong || t->refused != refused_expected || t->missing;
}

/* ------------------------------------------------------------------ commands */

static int record(const options *o, gpul_device *device, const results *all, size_t count)
{
    const gpul_device_info *info = gpul_device_describe(device);
    recording_head head;
    snprintf(head.device, sizeof head.device, "%s", info->name);
    snprintf(head.compute, sizeof head.compute, "%d.%d", info->compute_major, info->compute_minor);
    snprintf(head.driver, sizeof head.driver, "%s, CUDA %d.%d", info->driver_release,
             info->driver_version / 1000, info->driver_version % 1000 / 10);
    const time_t now = time(NULL);
    strftime(head.date, sizeof head.date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    FILE *file = fopen(o->record, "wb");
    if (file == NULL) {
        perror(o->record);
        return 2;
    }
    bool ok = recording_write_head(file, &head);
    unsigned refused = 0;
    for (size_t i = 0; i < count && ok; i++) {
        const form *f = all[i].form;
        const unsigned bits = f->d == TYPE_PRED ? 8 : kernel_text_width(f, f->d);
        if (!all[i].done) refused++;
        else ok = recording_write(file, &all[i].entry, bits / 8);
    }
    const long size = ftell(file);
    if (fclose(file) != 0 || !ok) {
        perror(o->record);
        return 2;
    }
    printf("%s, %s: %zu instructions recorded, %u refused, %ld bytes\n", head.device, head.driver,
           count - refused, refused, size);
    return refused != 0;
}

static int replay(const char *path, const form_list *list, const results *all, bool only)
{
    recording_head head;
    tally t = { 0 };
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 2;
    }
    if (!recording_read_head(file, &head)) {
        fprintf(stderr, "ptx_record: %s is no recording\n", path);
        fclose(file);
        return 2;
    }
    printf("recorded on %s (%s, %s) at %s\n", head.device, head.compute, head.driver, head.date);
    size_t at = 0;
    int more;
    recording_entry kept;
    while ((more = recording_read(file, &kept)) == 1) {
        size_t i = at;
        char key[sizeof kept.key] = "";
        for (; i < list->count; i++) {
            recording_key(key, sizeof key, &list->items[i]);
            if (strcmp(key, kept.key) == 0) break;
        }
        if (i == list->count) {
            if (only) continue;
            fprintf(stderr, "ptx_record: no instruction %s\n", kept.key);
            t.missing++;
            continue;
        }
        for (size_t j = at; j < i; j++) t.unrecorded += list->items[j].arch <= 90;
        at = i + 1;
        uint64_t rows[FORM_INPUTS][4];
        form_inputs(&list->items[i], rows, kept.count, 0);
        if (kept.count != form_input_count(&list->items[i]) ||
            kept.input_hash != recording_hash((const uint64_t(*)[4])rows, kept.count)) {
            fprintf(stderr, "ptx_record: %s was recorded with other inputs\n", kept.key);
            t.missing++;
        } else if (all != NULL) {
            compare(&t, &all[i], &kept);
        } else {
            judge(&t, &list->items[i], &kept);
        }
    }
    fclose(file);
    if (more < 0) {
        fprintf(stderr, "ptx_record: %s is damaged\n", path);
        return 2;
    }
    return report(&t);
}

static int sweep(const options *o, gpul_device *device)
{
    enum { CHUNK = 1 << 20 };
    form f;
    if (!form_parse(&f, o->sweep) || f.d != TYPE_F32 || f.source_count != 1 || o->count % 32 != 0) {
        fprintf(stderr, "ptx_record: --sweep wants one f32 source, and a multiple of 32 inputs\n");
        return 2;
    }
    gpul_module *module = NULL;
    gpul_buffer *inputs = NULL, *outputs = NULL;
    const gpul_kernel *kernel = NULL;
    uint64_t(*rows)[4] = calloc(CHUNK, sizeof *rows), *out = calloc(CHUNK, sizeof *out);
    FILE *file = fopen(o->sweep_file, "wb");
    gpul_status status = rows && out && file ? GPUL_OK : GPUL_E_SYSTEM;
    if (status == GPUL_OK) status = load(&module, device, &f, 1, 90);
    if (status == GPUL_OK) status = gpul_module_kernel(&kernel, module, "op0");
    if (status == GPUL_OK) status = gpul_alloc(&inputs, device, CHUNK * sizeof *rows, NULL);
    if (status == GPUL_OK) status = gpul_alloc(&outputs, device, CHUNK * sizeof *out, NULL);
    for (uint64_t at = 0; at < o->count && status == GPUL_OK; at += CHUNK) {
        const size_t part = o->count - at < CHUNK ? (size_t)(o->count - at) : CHUNK;
        for (size_t i = 0; i < part; i++) rows[i][0] = (uint32_t)(o->first + at + i);
        status = gpul_write(inputs, 0, rows, part * sizeof *rows, NULL);
        if (status == GPUL_OK)
            status = gpul_launch(kernel, gpul_launch_opts(.grid = { part / 32 }, .block = { 32 }),
                                 gpul_args(inputs, outputs));
        if (status == GPUL_OK) status = gpul_read(out, outputs, 0, part * sizeof *out, NULL);
        for (size_t i = 0; i < part && status == GPUL_OK; i++) {
            const uint32_t bits = (uint32_t)out[i];
            if (fwrite(&bits, sizeof bits, 1, file) != 1) status = GPUL_E_SYSTEM;
        }
    }
    if (status != GPUL_OK) complain(o->sweep);
    gpul_buffer_free(&inputs);
    gpul_buffer_free(&outputs);
    gpul_module_free(&module);
    if (file != NULL && fclose(file) != 0) status = GPUL_E_SYSTEM;
    free(rows);
    free(out);
    return status == GPUL_OK ? 0 : 2;
}

static int write_modules(const char *directory, const form_list *list)
{
    size_t at = 0;
    for (unsigned n = 0; at < list->count; n++) {
        const unsigned arch = list->items[at].arch;
        size_t end = at;
        char path[4096];
        while (end < list->count && end - at < MODULE_KERNELS && list->items[end].arch == arch)
            end++;
        snprintf(path, sizeof path, "%s/ops%02u.sm_%u.ptx", directory, n, arch);
        FILE *file = fopen(path, "w");
        if (file != NULL) kernel_text_module(file, list->items + at, end - at, arch);
        if (file == NULL || fclose(file) != 0) {
            perror(path);
            return 2;
        }
        at = end;
    }
    return 0;
}

static bool parse_options(options *o, int count, char **words)
{
    for (int i = 1; i < count; i++) {
        const char *w = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        if (next == NULL) return false;
        if (strcmp(w, "--record") == 0) o->record = words[++i];
        else if (strcmp(w, "--replay") == 0) o->replay = words[++i];
        else if (strcmp(w, "--judge") == 0) o->judge = words[++i];
        else if (strcmp(w, "--write") == 0) o->write = words[++i];
        else if (strcmp(w, "--device") == 0) o->device = words[++i];
        else if (strcmp(w, "--only") == 0) o->only = words[++i];
        else if (strcmp(w, "--refused") == 0)
            refused_expected = (unsigned)strtoul(words[++i], NULL, 10);
        else if (strcmp(w, "--show") == 0) shown_at_most = strtoul(words[++i], NULL, 10);
        else if (strcmp(w, "--sweep") == 0 && i + 4 < count) {
            o->sweep = words[++i];
            o->first = strtoull(words[++i], NULL, 0);
            o->count = strtoull(words[++i], NULL, 0);
            o->sweep_file = words[++i];
        } else return false;
    }
    return !!o->record + !!o->replay + !!o->judge + !!o->write + !!o->sweep == 1;
}

/* Leaves what the device can have and `--only` asks for. */
static void filter(form_list *list, const char *only, unsigned arch)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const form *f = &list->items[i];
        if (f->arch > 90 && f->arch > arch) continue;
        if (only != NULL && strncmp(f->name, only, strlen(only)) != 0) continue;
        list->items[kept++] = *f;
    }
    list->count = kept;
}

int main(int count, char **words)
{
    options o = { 0 };
    if (!parse_options(&o, count, words)) {
        fprintf(
            stderr,
            "usage: ptx_record --record|--replay|--judge FILE | --write DIR |\n"
            "       --sweep NAME FIRST COUNT FILE  [--device D] [--only PREFIX] [--show N] [--refused N]\n");
        return 2;
    }
    form_list list;
    if (!form_list_make(&list)) return 2;
    int result = 2;
    gpul_device *device = NULL;
    results *all = NULL;
    if (o.write != NULL || o.judge != NULL) {
        filter(&list, o.only, 120);
        result = o.write != NULL ? write_modules(o.write, &list)
                                 : replay(o.judge, &list, NULL, o.only != NULL);
    } else if (gpul_open(&device, gpul_device_opts(.device = o.device)) != GPUL_OK) {
        complain("opening the device");
    } else if (o.sweep != NULL) {
        result = sweep(&o, device);
    } else {
        const gpul_device_info *info = gpul_device_describe(device);
        filter(&list, o.only, (unsigned)(info->compute_major * 10 + info->compute_minor));
        all = calloc(list.count, sizeof *all);
        for (size_t i = 0; all != NULL && i < list.count; i++) all[i].form = &list.items[i];
        if (all != NULL && run_list(device, &list, all) == GPUL_OK)
            result = o.record != NULL ? record(&o, device, all, list.count)
                                      : replay(o.replay, &list, all, o.only != NULL);
    }
    free(all);
    gpul_device_free(&device);
    form_list_free(&list);
    return result;
}
