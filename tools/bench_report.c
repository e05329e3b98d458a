/* What bench shows: one block for a single point, one row for each point of a sweep.
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "show.h"

const char *rate_text(double per_second, const char *unit)
{
    static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
    int i = 0;
    while (per_second >= 1000 && i < 5) {
        per_second /= 1000;
        i++;
    }
    return mem_format("%.3g %s%s", per_second, prefixes[i], unit);
}

/* Bytes a second that the device's memory could move; 0 unknown. */
static double peak(const gpul_device_info *d)
{
    return d->backend == GPUL_BACKEND_CUDA
               ? (double)d->memory_clock_khz * 1e3 * 2 * (double)d->memory_bus_bits / 8
               : 0;
}

static const char *rates(const bench_report *r, const point *p, double ns)
{
    text out = { 0 };
    double seconds = ns / 1e9, most = peak(r->device);
    if (seconds <= 0) return "";
    if (p->bytes) {
        double rate = (double)p->bytes / seconds;
        text_add(&out, rate_text(rate, "B/s"));
        if (most > 0)
            text_format(&out, "   %.0f %% of %s", rate / most * 100, rate_text(most, "B/s"));
    }
    if (r->settings->flops)
        text_format(&out, "   %s", rate_text((double)r->settings->flops / seconds, "FLOP/s"));
    if (r->settings->items)
        text_format(&out, "   %s", rate_text((double)r->settings->items / seconds, "items/s"));
    return text_of(&out);
}

static const char *precision_text(double share)
{
    return mem_format(share < 0.1 ? "+-%.2g %%" : "+-%.0f %%", share * 100);
}

static const char *grid_text(const point *p)
{
    text out = { 0 };
    const uint64_t *dims[] = { p->grid, p->block };
    for (int i = 0; i < 2; i++) {
        unsigned rank = dims[i][2] > 1 ? 3 : dims[i][1] > 1 ? 2 : 1;
        for (unsigned k = 0; k < rank; k++)
            text_format(&out, "%s%llu", k ? "x" : "", (unsigned long long)dims[i][k]);
        if (!i) text_add(&out, " blocks of ");
    }
    return text_of(&out);
}

static void show_series(const bench_report *r, const point *p, const char *mode, const series *s)
{
    if (!s->measured) return;
    text line = { 0 };
    text_format(&line, "  %-5s %s", mode, time_text(s->median));
    pad_to(&line, 19);
    text_format(&line, "median of %zu", s->count);
    pad_to(&line, 36);
    text_format(&line, "%s .. %s", time_text(s->first_quantile), time_text(s->last_quantile));
    pad_to(&line, 58);
    text_add(&line, precision_text(s->precision));
    pad_to(&line, 68);
    text_add(&line, rates(r, p, s->median));
    puts(text_of(&line));
}

static const series *best_series(const point *p)
{
    return p->cold.measured ? &p->cold : &p->hot;
}

static void warnings(const bench_report *r, const point *p)
{
    const series *all[] = { &p->cold, &p->hot };
    static const char *const modes[] = { "cold", "hot" };
    if (!r->settings->warn) return;
    for (int i = 0; i < 2; i++) {
        const series *s = all[i];
        if (!s->measured || s->count < 3) continue;
        double spread = (s->last_quantile - s->first_quantile) / s->median;
        if (s->ns[0] > s->median * 1.5)
            message_hint(warn(CODE_BENCH_NOISE, "%s: the first sample took %s, the median %s",
                              modes[i], time_text(s->ns[0]), time_text(s->median)),
                         "--warmup 3");
        if (spread > 0.05)
            message_hint(
                warn(CODE_BENCH_NOISE, "%s: 95 %% of the samples spread over %.0f %% of the median",
                     modes[i], spread * 100),
                r->device->backend == GPUL_BACKEND_CPU
                    ? "the CPU device shares the machine with everything else"
                    : "other work on the GPU or a moving clock: nvidia-smi, and nvidia-smi -lgc");
        if (s->median < 5000 && s->batch == 1)
            message_hint(warn(CODE_BENCH_NOISE,
                              "%s: a launch takes %s; the launch itself is most of it", modes[i],
                              time_text(s->median)),
                         "measure a larger problem, or --hot");
    }
}

static void show_single(const bench_report *r, const point *p)
{
    bool cpu = r->device->backend == GPUL_BACKEND_CPU;
    text head = { 0 };
    text_format(&head, "%s   %s, sm_%d%d, %s", p->kernel, r->device->name, r->device->compute_major,
                r->device->compute_minor, grid_text(p));
    if (cpu) text_add(&head, "; times of software, not of a GPU");
    puts(text_of(&head));
    show_series(r, p, "cold", &p->cold);
    show_series(r, p, "hot", &p->hot);
    warnings(r, p);
}

/* Bars are in proportion to speed, the longest among the points so far being the fastest. */
static void add_bar(text *line, const bench_report *r, const point *p)
{
    double fastest = 0;
    for (size_t i = 0; i < r->points->count; i++) {
        const series *s = best_series(&r->points->items[i]);
        if (s->measured && (fastest == 0 || s->median < fastest)) fastest = s->median;
    }
    size_t length = (size_t)(24 * fastest / best_series(p)->median + 0.5);
    for (size_t i = 0; i < length && i < 24; i++) text_add(line, "\xe2\x96\x88");
}

static void show_row(const bench_report *r, const point *p)
{
    size_t name_width = 0;
    for (size_t i = 0; i < r->sweeps->count; i++) {
        size_t longest = 0;
        for (size_t k = 0; k < r->sweeps->items[i].values.count; k++)
            if (strlen(r->sweeps->items[i].values.items[k]) > longest)
                longest = strlen(r->sweeps->items[i].values.items[k]);
        name_width += strlen(r->sweeps->items[i].name) + longest + 2;
    }
    text line = { 0 };
    if (p == &r->points->items[0]) {
        bool cpu = r->device->backend == GPUL_BACKEND_CPU;
        printf("%s   %s, sm_%d%d%s\n", p->kernel ? p->kernel : r->source, r->device->name,
               r->device->compute_major, r->device->compute_minor,
               cpu ? "; times of software, not of a GPU" : "");
    }
    text_format(&line, "  %s", point_name(p));
    if (p->failed) {
        pad_to(&line, name_width + 4);
        text_add(&line, "failed");
        puts(text_of(&line));
        return;
    }
    size_t column = name_width + 4;
    const series *all[] = { &p->cold, &p->hot };
    static const char *const modes[] = { "cold", "hot" };
    for (int i = 0; i < 2; i++) {
        if (!all[i]->measured) continue;
        pad_to(&line, column);
        text_format(&line, "%s %s %s", modes[i], time_text(all[i]->median),
                    precision_text(all[i]->precision));
        column += 26;
    }
    pad_to(&line, column);
    text_add(&line, rate_text((double)p->bytes / best_series(p)->median * 1e9, "B/s"));
    if (r->bars) {
        pad_to(&line, column + 12);
        add_bar(&line, r, p);
    }
    puts(text_of(&line));
    fflush(stdout);
}

void report_point(const bench_report *r, const point *p)
{
    if (!summary_stream) return;
    if (r->sweeps->count) show_row(r, p);
    else if (!p->failed) show_single(r, p);
}

/* "block=512 is best: 1.04x block=256, 1.31x block=64", among points that differ in this sweep only. */
void report_best(const bench_report *r)
{
    if (r->sweeps->count != 1 || !summary_stream) return;
    if (!same_text(r->sweeps->items[0].name, "block") &&
        !starts_with(r->sweeps->items[0].name, "D.") && !same_text(r->sweeps->items[0].name, "k"))
        return;
    const point *best = NULL;
    for (size_t i = 0; i < r->points->count; i++) {
        const point *p = &r->points->items[i];
        if (!p->failed && best_series(p)->measured &&
            (!best || best_series(p)->median < best_series(best)->median))
            best = p;
    }
    if (!best || r->points->count < 2) return;
    text line = { 0 };
    text_format(&line, "%s is best", point_name(best));
    size_t shown = 0;
    for (size_t i = 0; i < r->points->count; i++) {
        const point *p = &r->points->items[i];
        if (p == best || p->failed || !best_series(p)->measured) continue;
        text_format(&line, "%s %.2fx %s", shown++ ? "," : ":",
                    best_series(p)->median / best_series(best)->median, point_name(p));
    }
    puts(text_of(&line));
}
