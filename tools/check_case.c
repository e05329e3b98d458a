/* Running one case in a worker.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "globals.h"
#include "job.h"
#include "render.h"
#include "values.h"

/* ---- require ---- */

static const char *version_text(int version)
{
    return mem_format("%d.%d", version / 1000, version % 1000 / 10);
}

/* "9.0" as 9000 + 0: major * 1000 + minor * 10. */
static int version_of(const char *value)
{
    char *end;
    long major = strtol(value, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return (int)(major * 1000 + minor * 10);
}

/* NULL when the device has what the word wants, else why not. */
static const char *unmet(const char *required, const gpul_device_info *d, const gpul_image *image)
{
    const char *value = strstr(required, ">=");
    uint64_t number = 0;
    if (value) value += 2;
    const char *device =
        d->backend == GPUL_BACKEND_CPU ? "the CPU device" : mem_format("device %d", d->ordinal);
    if (value) value_count(&number, value, strlen(value));
    if (starts_with(required, "cc")) {
        int has = d->compute_major * 1000 + d->compute_minor * 10;
        return has >= version_of(value)
                   ? NULL
                   : mem_format("needs %s, %s has %s", required, device, version_text(has));
    }
    if (starts_with(required, "driver"))
        return d->driver_version >= version_of(value)
                   ? NULL
                   : mem_format("needs %s, the driver has %s", required,
                                version_text(d->driver_version));
    if (starts_with(required, "nvrtc")) {
        if (!image) return NULL;
        const gpul_image_info *info = gpul_image_describe(image);
        int has = info->nvrtc_major * 1000 + info->nvrtc_minor * 10;
        return has >= version_of(value)
                   ? NULL
                   : mem_format("needs %s, there is NVRTC %s", required, version_text(has));
    }
    if (same_text(required, "coop"))
        return d->cooperative ? NULL
                              : mem_format("needs cooperative launches, %s has none", device);
    uint64_t has =
        starts_with(required, "mem") ? d->memory_total
        : starts_with(required, "shared")
            ? (d->shared_per_block_optin > d->shared_per_block ? d->shared_per_block_optin
                                                               : d->shared_per_block)
            : (uint64_t)d->multiprocessors;
    return has >= number
               ? NULL
               : mem_format("needs %s, %s has %llu", required, device, (unsigned long long)has);
}

static const char *unmet_of(const check_case *c, const case_definition *definition,
                            const gpul_device_info *d, const gpul_image *image)
{
    const word_list *lists[] = { &c->directives->require, &definition->require };
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < lists[i]->count; k++) {
            const char *why = unmet(lists[i]->items[k]->text, d, image);
            if (why) return why;
        }
    return NULL;
}

/* ---- One case ---- */

static bool update_file(const expectation *e)
{
    result_file f = { .buffer = e->buffer,
                      .path = path_resolve(e->spec.source_span, e->spec.path),
                      .at = e->spec.source_span };
    const char *why = NULL;
    if (!f.path) return false;
    f.format = e->spec.format ? e->spec.format : format_of_path(f.path);
    if (!f.format) f.format = FORMAT_RAW;
    if (!image_format_fits(&f)) return false;
    bool good = output_open(&f.out, f.path, &why);
    if (good && !write_buffer(f.out.stream, &f)) {
        output_abandon(&f.out);
        return false;
    }
    good = good && output_close(&f.out, &why);
    if (!good)
        message_at_span(fail(CODE_FILE_WRITE, "%s cannot be written: %s", f.path, why), f.at);
    return good;
}

static void after_step(void *user, execution *x, size_t index)
{
    const step *s = x->plan->steps.items[index];
    bool *failed = user;
    for (size_t i = 0; i < s->expectations.count; i++)
        if (s->expectations.items[i]->update && !update_file(s->expectations.items[i]))
            *failed = true;
}

/* Launches on a GPU go one at a time, as every case wants its memory for itself; the lock ends with the process. */
static void take_turn(const check_list *list, const session *s)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (list->turn < 0 || s->info->backend != GPUL_BACKEND_CUDA) return;
    while (fcntl(list->turn, F_SETLKW, &whole) && errno == EINTR) continue;
}

static void end_turn(const check_list *list)
{
    struct flock whole = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
    if (list->turn >= 0) fcntl(list->turn, F_SETLK, &whole);
}

/* Fills the messages; returns why the case is skipped, or NULL. */
static const char *run_case(const check_case *c, const check_list *list, session *s,
                            const element_list *options, bool *fault)
{
    element_list build = { 0 };
    job j = { 0 };
    const char *skipped = NULL;
    bool failed = false;
    if (!options_parse(&build, c->directives->build.items, c->directives->build.count,
                       CMD_COMPILE) ||
        !job_request(&j, c->source, c->directives, c->name, options, CMD_RUN))
        return NULL;
    skipped = unmet_of(c, j.definition, s->info, NULL);
    bool good = !skipped && job_compile(&j, s, &build);
    if (good) skipped = unmet_of(c, j.definition, s->info, j.image);
    good = good && !skipped && job_bind(&j, s) && job_load(&j, s, true) && globals_bind(&j.run);
    if (good && !j.request.dry_run) {
        j.run.always_twice = true;
        j.run.after_step = after_step;
        j.run.user = &failed;
        take_turn(list, s);
        bool ran = execution_allocate(&j.run) && execution_run(&j.run);
        for (size_t i = 0; ran && i < j.plan.steps.count; i++) {
            const step *one = j.plan.steps.items[i];
            for (size_t k = 0; k < one->expectations.count; k++)
                if (one->expectations.items[k]->result &&
                    !one->expectations.items[k]->result->passed)
                    report_mismatch(one, one->expectations.items[k]);
        }
        *fault = !ran;
    }
    job_free(&j);
    end_turn(list);
    return skipped;
}

static void first_error(check_result *r)
{
    text details = { 0 };
    for (size_t i = 0; i < messages_count(); i++) {
        const message *m = messages_at(i);
        text_add(&details, message_rendered(m));
        if (m->severity != SEVERITY_ERROR || r->code) continue;
        r->code = m->code;
        r->summary = mem_format("GL%04d %s", m->code, m->text);
        const char *file;
        unsigned line, column, end;
        if (!place_in_file(&m->at, &file, &line, &column, &end)) continue;
        r->file = file;
        r->line = line;
        r->column = column;
    }
    r->details = text_of(&details);
}

/* Did the case fail as `fails GLnnnn` says?  If not, a message says so. */
static bool failed_as_expected(const case_definition *definition)
{
    for (size_t i = 0; i < messages_count(); i++)
        if (messages_at(i)->severity == SEVERITY_ERROR &&
            messages_at(i)->code == definition->fails_code)
            return true;
    message *m;
    if (!messages_failed())
        m = fail(CODE_CHECK_PASSED, "case '%s' passed, but is expected to fail with %s",
                 definition->name, definition->fails);
    else
        m = fail(CODE_CHECK_PASSED, "case '%s' failed otherwise than by %s", definition->name,
                 definition->fails);
    message_at_span(m, definition->fails_at);
    return false;
}

static double milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

_Noreturn void check_worker(const check_list *list, const element_list *options, int parent)
{
    session s = { 0 };
    message_style.held = true;
    summary_stream = NULL;
    bool open = session_open(&s, option_find(options, OPT_DEVICE),
                             option_find(options, OPT_REQUIRE_GPU) != NULL);
    if (open && list->first_worker) { /* which device it is, said once */
        message_style.held = false;
        messages_flush();
        message_style.held = true;
    }
    const char *no_device = open ? NULL : messages_at(messages_count() - 1)->text;
    int no_device_code = open ? 0 : messages_status();
    bool fault = false;
    for (size_t i; !fault && index_read(parent, &i);) {
        const check_case *c = &list->cases.items[i];
        check_result r = { .summary = "", .details = "", .file = "" };
        messages_restart();
        double start = milliseconds_now();
        const char *skipped = open ? run_case(c, list, &s, options, &fault) : no_device;
        r.milliseconds = milliseconds_now() - start;
        const case_definition *definition = directives_case(c->directives, c->name);
        bool expected = !skipped && definition->fails && failed_as_expected(definition);
        r.status = skipped ? CASE_SKIP : messages_failed() && !expected ? CASE_FAIL : CASE_PASS;
        if (!expected) first_error(&r);
        if (!skipped && definition->fails && !expected) { /* the last message is the verdict */
            const message *last = messages_at(messages_count() - 1);
            r.code = last->code;
            r.summary = mem_format("GL%04d %s", last->code, last->text);
        }
        if (skipped) r.summary = skipped;
        if (!open) r.code = no_device_code;
        r.last = fault;
        fflush(stderr);
        if (!record_write(parent, &r)) _exit(EXIT_BUG);
    }
    if (!fault) session_close(&s);
    _exit(0);
}
