/* Spans of the host and the device, and writing them.  The library calls timeline_call from any thread, so
 * the spans are kept by malloc and behind a lock.  SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "render.h"

enum row { ROW_PHASE = 1, ROW_CALL = 2, ROW_DEVICE = 3, ROW_BESIDE = 4 };

typedef struct event_span {
    char *name, *detail;  /* malloc'd; detail NULL: none */
    double start, length; /* microseconds */
    int row;
} event_span;

static struct {
    pthread_mutex_t lock;
    bool on;
    event_span *spans;
    size_t count, capacity;
    double origin, phase_start;
    const char *phase;
} line = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The phases alone, for those who want no trace. */
static struct {
    struct {
        const char *name;
        double length;
        bool beside;
    } items[24];
    size_t count;
} phases;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void timeline_start(void)
{
    line.on = true;
    line.origin = now();
}

bool timeline_on(void)
{
    return line.on;
}

/* What does not fit into memory is left out: a timeline is no reason to fail. */
static void add(const char *name, size_t name_length, const char *detail, double start,
                double length, int row)
{
    pthread_mutex_lock(&line.lock);
    if (line.count == line.capacity) {
        size_t wanted = line.capacity ? line.capacity * 2 : 256;
        event_span *larger = realloc(line.spans, wanted * sizeof *larger);
        if (larger) {
            line.spans = larger;
            line.capacity = wanted;
        }
    }
    char *copy = line.count < line.capacity ? strndup(name, name_length) : NULL;
    if (copy)
        line.spans[line.count++] =
            (event_span){ copy, detail ? strdup(detail) : NULL, start - line.origin, length, row };
    pthread_mutex_unlock(&line.lock);
}

static void keep_phase(const char *name, double start, double length, bool beside)
{
    pthread_mutex_lock(&line.lock);
    if (phases.count < sizeof phases.items / sizeof *phases.items) {
        phases.items[phases.count].name = name;
        phases.items[phases.count].length = length;
        phases.items[phases.count++].beside = beside;
    }
    pthread_mutex_unlock(&line.lock);
    if (line.on) add(name, strlen(name), NULL, start, length, beside ? ROW_BESIDE : ROW_PHASE);
}

void timeline_phase(const char *name)
{
    double at = now();
    if (line.phase) keep_phase(line.phase, line.phase_start, at - line.phase_start, false);
    line.phase = name;
    line.phase_start = at;
}

double timeline_now(void)
{
    return now();
}

void timeline_beside(const char *name, double start)
{
    keep_phase(name, start, now() - start, true);
}

void timeline_show(FILE *to)
{
    for (size_t i = 0; i < phases.count; i++)
        fprintf(to, "gpulaunch: time: %9.3f ms  %s%s\n", phases.items[i].length / 1e3,
                phases.items[i].name, phases.items[i].beside ? " (at the same time)" : "");
}

void timeline_call(const char *text_of_call)
{
    const char *open = strchr(text_of_call, '('), *comma = strrchr(text_of_call, ',');
    if (!line.on || !open || !comma) return;
    char *end;
    double ns = strtod(comma + 1, &end);
    if (strcmp(end, " ns") != 0) return;
    double at = now();
    add(text_of_call, (size_t)(open - text_of_call), text_of_call, at - ns / 1e3, ns / 1e3,
        ROW_CALL);
}

void timeline_device(const char *name, double nanoseconds)
{
    if (line.on)
        add(name, strlen(name), NULL, now() - nanoseconds / 1e3, nanoseconds / 1e3, ROW_DEVICE);
}

static void write_name(FILE *to, int row, const char *name)
{
    fprintf(
        to,
        "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n",
        row, name);
}

static void write_span(FILE *to, const event_span *e, bool last)
{
    text out = { 0 };
    text_format(&out,
                "{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":", e->row,
                e->start, e->length);
    add_json_string(&out, e->name);
    if (e->detail) {
        text_add(&out, ",\"args\":{\"call\":");
        add_json_string(&out, e->detail);
        text_char(&out, '}');
    }
    fprintf(to, "%s}%s\n", text_of(&out), last ? "" : ",");
}

bool timeline_write(const option_use *use)
{
    output out;
    const char *why = NULL;
    timeline_phase(NULL);
    bool good = output_open(&out, use->text, &why);
    if (good) {
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out.stream);
        write_name(out.stream, ROW_PHASE, "host: gpulaunch");
        write_name(out.stream, ROW_CALL, "host: driver calls");
        write_name(out.stream, ROW_BESIDE, "host: beside it");
        write_name(out.stream, ROW_DEVICE, "device (its own times, placed by their end)");
        for (size_t i = 0; i < line.count; i++)
            write_span(out.stream, &line.spans[i], i + 1 == line.count);
        fputs("]}\n", out.stream);
        good = output_close(&out, &why);
    }
    if (!good)
        message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", use->text, why),
                   place_of_option(use));
    for (size_t i = 0; i < line.count; i++) {
        free(line.spans[i].name);
        free(line.spans[i].detail);
    }
    free(line.spans);
    line.spans = NULL;
    line.count = line.capacity = 0;
    return good;
}
