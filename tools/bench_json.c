/* Results of bench in JSON: written, read as a baseline, and two of them compared.
 * SPDX-License-Identifier: MIT */
#include "bench_json.h"

#include "document.h"
#include "show.h"

#if HAVE_JANSSON
#include <math.h>
#include <stdlib.h>

#include "json.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *series_object(const series *s)
{
    json_t *object = json_object(), *samples = json_array();
    set(object, "median_ns", json_integer((json_int_t)llround(s->median)));
    set(object, "low_ns", json_integer((json_int_t)llround(s->low)));
    set(object, "high_ns", json_integer((json_int_t)llround(s->high)));
    set(object, "mad_ns", json_integer((json_int_t)llround(s->mad)));
    set(object, "min_ns", json_integer((json_int_t)llround(s->least)));
    set(object, "max_ns", json_integer((json_int_t)llround(s->most)));
    set(object, "outliers", json_integer((json_int_t)s->outliers));
    set(object, "batch", json_integer((json_int_t)s->batch));
    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(samples, json_integer((json_int_t)llround(s->ns[i])));
    set(object, "samples_ns", samples);
    return object;
}

static json_t *points_array(const bench_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->points->count; i++) {
        const point *p = &r->points->items[i];
        json_t *object = json_object(), *grid = json_array(), *block = json_array();
        for (size_t k = 0; k < p->settings.count; k++)
            set(object, p->settings.items[k].name, json_words(p->settings.items[k].value));
        set(object, "point", json_words(point_name(p)));
        set(object, "kernel", json_words(p->kernel ? p->kernel : ""));
        set(object, "failed", json_boolean(p->failed));
        for (int k = 0; k < 3; k++) {
            json_array_append_new(grid, json_integer((json_int_t)p->grid[k]));
            json_array_append_new(block, json_integer((json_int_t)p->block[k]));
        }
        set(object, "grid", grid);
        set(object, "threads", block);
        set(object, "bytes", json_integer((json_int_t)p->bytes));
        if (p->cold.measured) set(object, "cold", series_object(&p->cold));
        if (p->hot.measured) set(object, "hot", series_object(&p->hot));
        json_array_append_new(list, object);
    }
    return list;
}

bool write_bench_json(FILE *to, const bench_report *r)
{
    json_t *root = json_object(), *device = json_object();
    set(root, "schema", json_string("gpulaunch/bench/1"));
    set(root, "gpulaunch", json_words(gpul_version()));
    set(root, "source", json_words(r->source));
    set(device, "name", json_words(r->device->name));
    set(device, "uuid", json_words(r->device->uuid));
    set(device, "driver", json_words(r->device->driver_release));
    set(device, "software", json_boolean(r->device->backend == GPUL_BACKEND_CPU));
    set(root, "device", device);
    set(root, "points", points_array(r));
    char *made = json_dumps(root, JSON_INDENT(1));
    if (made) fprintf(to, "%s\n", made);
    else fail(CODE_MEMORY_HOST, "out of host memory");
    bool good = made != NULL;
    free(made);
    json_decref(root);
    return good;
}

void document_points(const bench_report *r)
{
    if (document_root()) set(document_root(), "points", points_array(r));
}

/* ---- Reading ---- */

static json_t *load_results(const char *path, place at)
{
    json_error_t error;
    unsigned char *data;
    size_t size;
    const char *why;
    if (!file_slurp(&data, &size, path, &why)) {
        message_at(fail(CODE_FILE_OPEN, "%s cannot be read: %s", path, why), at);
        return NULL;
    }
    json_t *root = json_loadb((const char *)data, size, 0, &error);
    data_free(data);
    const char *schema = root ? json_string_value(json_object_get(root, "schema")) : NULL;
    if (schema && same_text(schema, "gpulaunch/bench/1") &&
        json_is_array(json_object_get(root, "points")))
        return root;
    message *m = message_at(fail(CODE_BENCH_FILE, "%s is no result of gpulaunch bench", path), at);
    if (!root) message_note(m, "line %d: %s", error.line, error.text);
    message_hint(m, "gpulaunch bench FILE --export %s", path);
    if (root) json_decref(root);
    return NULL;
}

static const json_t *find_point(const json_t *root, const char *name)
{
    const json_t *points = json_object_get(root, "points");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const char *own = json_string_value(json_object_get(json_array_get(points, i), "point"));
        if (own && same_text(own, name)) return json_array_get(points, i);
    }
    return NULL;
}

/* The series that both sides have: cold first. */
static double median_of(const json_t *p, const char *mode)
{
    return json_number_value(json_object_get(json_object_get(p, mode), "median_ns"));
}

static json_t *baseline;

bool baseline_read(const bench_report *r, const option_use *use)
{
    (void)r;
    baseline = load_results(use->text, place_of_option(use));
    return baseline != NULL;
}

static bool judge_point(const bench_report *r, const point *p, const char *file)
{
    const json_t *old = find_point(baseline, point_name(p));
    const char *mode = p->cold.measured ? "cold" : "hot";
    const series *now = p->cold.measured ? &p->cold : &p->hot;
    double before = old ? median_of(old, mode) : 0;
    const char *at = p->settings.count ? mem_format(" at %s", point_name(p)) : "";
    if (p->failed || !now->measured) return true;
    if (before <= 0) {
        if (r->settings->warn) warn(CODE_BENCH_FILE, "%s has no point%s to compare with", file, at);
        return true;
    }
    const json_t *old_series = json_object_get(old, mode);
    series was = { .low = json_number_value(json_object_get(old_series, "low_ns")),
                   .high = json_number_value(json_object_get(old_series, "high_ns")) };
    double change = now->median / before - 1;
    bool apart = series_apart(now, &was);
    if (summary_stream)
        printf("%s%s: %s %s, was %s: %+.1f %%%s\n", p->kernel, at, mode, time_text(now->median),
               time_text(before), change * 100, apart ? "" : ", within the noise");
    if (r->settings->slower < 0 || change <= r->settings->slower || !apart) return true;
    message *m = fail(CODE_BENCH_SLOWER, "%s is %.1f %% slower than %s%s", p->kernel, change * 100,
                      file, at);
    message_note(m, "%s median %s, was %s; the 95 %% intervals do not touch, so this is not noise",
                 mode, time_text(now->median), time_text(before));
    const char *device =
        json_string_value(json_object_get(json_object_get(baseline, "device"), "name"));
    message_note(m, "%s",
                 device && same_text(device, r->device->name)
                     ? "same device"
                     : mem_format("another device: %s", device ? device : "unknown"));
    return false;
}

bool baseline_judge(const bench_report *r, const char *file)
{
    bool good = true;
    if (!baseline) return true;
    for (size_t i = 0; i < r->points->count; i++)
        good &= judge_point(r, &r->points->items[i], file);
    json_decref(baseline);
    baseline = NULL;
    return good;
}

void compare_results(const word *old_file, const word *new_file)
{
    json_t *old = load_results(old_file->text, place_word(old_file));
    json_t *now = load_results(new_file->text, place_word(new_file));
    const json_t *points = now ? json_object_get(now, "points") : NULL;
    for (size_t i = 0; old && i < json_array_size(points); i++) {
        const json_t *p = json_array_get(points, i);
        const char *name = json_string_value(json_object_get(p, "point")),
                   *kernel = json_string_value(json_object_get(p, "kernel"));
        const json_t *before = name ? find_point(old, name) : NULL;
        static const char *const modes[] = { "cold", "hot" };
        for (int k = 0; k < 2; k++) {
            double b = median_of(p, modes[k]), a = before ? median_of(before, modes[k]) : 0;
            if (a <= 0 || b <= 0) continue;
            series x = { .low = json_number_value(
                             json_object_get(json_object_get(before, modes[k]), "low_ns")),
                         .high = json_number_value(
                             json_object_get(json_object_get(before, modes[k]), "high_ns")) };
            series y = {
                .low = json_number_value(json_object_get(json_object_get(p, modes[k]), "low_ns")),
                .high = json_number_value(json_object_get(json_object_get(p, modes[k]), "high_ns"))
            };
            text line = { 0 };
            text_format(&line, "%s %s", kernel ? kernel : "", name ? name : "");
            pad_to(&line, 32);
            text_format(&line, "%-5s %s", modes[k], time_text(a));
            pad_to(&line, 50);
            text_format(&line, "-> %s", time_text(b));
            pad_to(&line, 66);
            text_format(&line, "%+.1f %%%s", (b / a - 1) * 100,
                        series_apart(&x, &y) ? "" : "   within the noise");
            puts(text_of(&line));
        }
        if (!before)
            printf("%s %s: only in %s\n", kernel ? kernel : "", name ? name : "", new_file->text);
    }
    if (old) json_decref(old);
    if (now) json_decref(now);
}

#else

static bool no_json(place at)
{
    message *m = message_at(
        fail(CODE_CLI_FEATURE, "this needs jansson, and this gpulaunch was built without it"), at);
    message_hint(m, "--export to .csv, .md or .svg, or build with -Djansson=enabled");
    return false;
}

bool write_bench_json(FILE *to, const bench_report *r)
{
    (void)to, (void)r;
    return no_json((place){ 0 });
}

void document_points(const bench_report *r)
{
    (void)r;
}

bool baseline_read(const bench_report *r, const option_use *use)
{
    (void)r;
    return no_json(place_of_option(use));
}

bool baseline_judge(const bench_report *r, const char *file)
{
    (void)r, (void)file;
    return true;
}

void compare_results(const word *old_file, const word *new_file)
{
    (void)new_file;
    no_json(place_word(old_file));
}
#endif
