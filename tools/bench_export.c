/* Results of bench as CSV, Markdown and SVG; JSON is in bench_json.c.  SPDX-License-Identifier: MIT */
#include <math.h>

#include "bench.h"
#include "bench_json.h"
#include "show.h"

static const series *best_series(const point *p)
{
    return p->cold.measured ? &p->cold : &p->hot;
}

static void write_csv(FILE *to, const bench_report *r)
{
    for (size_t i = 0; i < r->sweeps->count; i++) fprintf(to, "%s,", r->sweeps->items[i].name);
    fputs("mode,median_ns,low_ns,high_ns,mad_ns,min_ns,max_ns,samples,batch,bytes\n", to);
    for (size_t i = 0; i < r->points->count; i++) {
        const point *p = &r->points->items[i];
        const series *all[] = { &p->cold, &p->hot };
        for (int k = 0; k < 2; k++) {
            const series *s = all[k];
            if (!s->measured) continue;
            for (size_t n = 0; n < p->settings.count; n++)
                fprintf(to, "%s,", p->settings.items[n].value);
            fprintf(to, "%s,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%zu,%llu,%llu\n", k ? "hot" : "cold",
                    s->median, s->low, s->high, s->mad, s->least, s->most, s->count,
                    (unsigned long long)s->batch, (unsigned long long)p->bytes);
        }
    }
}

static void write_markdown(FILE *to, const bench_report *r)
{
    fprintf(to, "`%s` on %s%s\n\n|", r->source, r->device->name,
            r->device->backend == GPUL_BACKEND_CPU ? " (software)" : "");
    for (size_t i = 0; i < r->sweeps->count; i++) fprintf(to, " %s |", r->sweeps->items[i].name);
    fputs(" mode | median | 95 % interval | samples | rate |\n|", to);
    for (size_t i = 0; i < r->sweeps->count + 5; i++) fputs("---|", to);
    fputc('\n', to);
    for (size_t i = 0; i < r->points->count; i++) {
        const point *p = &r->points->items[i];
        const series *all[] = { &p->cold, &p->hot };
        for (int k = 0; k < 2; k++) {
            const series *s = all[k];
            if (!s->measured) continue;
            fputc('|', to);
            for (size_t n = 0; n < p->settings.count; n++)
                fprintf(to, " %s |", p->settings.items[n].value);
            fprintf(to, " %s | %s | %s to %s | %zu | %s |\n", k ? "hot" : "cold",
                    time_text(s->median), time_text(s->low), time_text(s->high), s->count,
                    p->bytes ? rate_text((double)p->bytes / s->median * 1e9, "B/s") : "");
        }
    }
}

/* A line for each of the other sweeps' values would need a legend; one bar for each point says enough. */
static void write_svg(FILE *to, const bench_report *r)
{
    enum { LEFT = 220, WIDTH = 480, ROW = 24, TOP = 48 };
    double most = 0;
    for (size_t i = 0; i < r->points->count; i++)
        if (best_series(&r->points->items[i])->median > most)
            most = best_series(&r->points->items[i])->median;
    size_t height = TOP + ROW * r->points->count + 16;
    fprintf(
        to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" font-size=\"13\">\n",
        LEFT + WIDTH + 140, height);
    fprintf(
        to,
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"16\" y=\"26\" font-size=\"15\">%s, median time on %s%s</text>\n",
        r->source, r->device->name, r->device->backend == GPUL_BACKEND_CPU ? " (software)" : "");
    for (size_t i = 0; i < r->points->count; i++) {
        const point *p = &r->points->items[i];
        const series *s = best_series(p);
        double length = most > 0 ? WIDTH * s->median / most : 0,
               low = most > 0 ? WIDTH * s->low / most : 0,
               high = most > 0 ? WIDTH * s->high / most : 0;
        size_t y = TOP + ROW * i;
        fprintf(to, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">%s</text>\n", LEFT - 8, y + 15,
                point_name(p));
        fprintf(to, "<rect x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"16\" fill=\"#4a7fb5\"/>\n",
                LEFT, y + 3, length);
        fprintf(
            to,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%zu\" y2=\"%zu\" stroke=\"black\" stroke-width=\"2\"/>\n",
            LEFT + low, LEFT + high, y + 11, y + 11);
        fprintf(to, "<text x=\"%.1f\" y=\"%zu\">%s</text>\n", LEFT + fmax(length, high) + 6, y + 15,
                p->failed ? "failed" : time_text(s->median));
    }
    fputs("</svg>\n", to);
}

bool export_results(const bench_report *r, const option_use *use)
{
    const char *path = use->text, *why = NULL;
    bool json = ends_with(path, ".json"), csv = ends_with(path, ".csv"),
         md = ends_with(path, ".md"), svg = ends_with(path, ".svg");
    if (!json && !csv && !md && !svg) {
        message_hint(message_at(fail(CODE_CLI_VALUE,
                                     "--export: \"%s\" ends in none of .json .csv .md .svg", path),
                                place_of_option(use)),
                     "--export now.json");
        return false;
    }
    output out;
    bool good = output_open(&out, path, &why);
    if (good) {
        if (csv) write_csv(out.stream, r);
        else if (md) write_markdown(out.stream, r);
        else if (svg) write_svg(out.stream, r);
        else good = write_bench_json(out.stream, r);
        if (!good) {
            output_abandon(&out);
            return false;
        }
        good = output_close(&out, &why);
    }
    if (!good)
        message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", path, why),
                   place_of_option(use));
    return good;
}
