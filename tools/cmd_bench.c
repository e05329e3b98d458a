/* gpulaunch bench.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "commands.h"
#include "document.h"
#include "globals.h"
#include "show.h"
#include "values.h"

typedef struct bench_state {
    source_file source;
    directives directives;
    bool use_directives;
    element_list build;
    const element_list *elements;
    session session;
    bench_settings settings;
    sweep_list sweeps;
    point_list points;
    gpul_image *image; /* shared by points that compile alike */
    bool recompile;
} bench_state;

/* ---- Settings ---- */

static bool bad_value(const option_use *use, const char *example)
{
    message_hint(message_at(fail(CODE_BENCH_OPTION, "%s: \"%s\" is not understood",
                                 option_shown(use->row), use->text),
                            place_of_option(use)),
                 "%s %s", option_shown(use->row), example);
    return false;
}

static bool read_setting(bench_settings *b, const option_use *use)
{
    uint64_t *count = use->id == OPT_MIN_SAMPLES ? &b->min_samples
                      : use->id == OPT_SAMPLES   ? &b->samples
                      : use->id == OPT_WARMUP    ? &b->warmup
                      : use->id == OPT_BYTES     ? &b->bytes
                      : use->id == OPT_FLOPS     ? &b->flops
                      : use->id == OPT_ITEMS     ? &b->items
                                                 : NULL;
    if (count)
        return value_count(count, use->text, strlen(use->text)) == VALUE_FINE ||
               bad_value(use, "20");
    switch (use->id) {
    case OPT_MIN_TIME: return seconds_parse(&b->min_time, use->text) || bad_value(use, "0.5s");
    case OPT_MAX_TIME: return seconds_parse(&b->max_time, use->text) || bad_value(use, "15s");
    case OPT_COLD: b->hot = false; return true;
    case OPT_HOT: b->cold = false; return true;
    case OPT_RESTORE: return b->restore = true;
    case OPT_NO_CHECK: b->check = false; return true;
    case OPT_NO_WARN:
        if (!same_text(use->text, "GL1104")) return bad_value(use, "GL1104");
        b->warn = false;
        return true;
    case OPT_FAIL_IF_SLOWER: {
        char *end;
        b->slower = strtod(use->text, &end) / 100;
        if (end == use->text || (*end && !same_text(end, "%")) || b->slower < 0)
            return bad_value(use, "5%");
        return true;
    }
    default: return true;
    }
}

static bool read_settings(bench_state *b)
{
    bool good = true, cold = false, hot = false;
    b->settings = (bench_settings){ .min_time = 0.5,
                                    .max_time = 15,
                                    .min_samples = 20,
                                    .warmup = 1,
                                    .cold = true,
                                    .hot = true,
                                    .check = true,
                                    .warn = true,
                                    .slower = -1 };
    for (size_t i = 0; i < b->elements->count; i++) {
        const element *e = &b->elements->items[i];
        if (e->kind != ELEMENT_OPTION) continue;
        if (e->use.id == OPT_SWEEP) good &= sweep_parse(&b->sweeps, &e->use);
        else good &= read_setting(&b->settings, &e->use);
        cold |= e->use.id == OPT_COLD;
        hot |= e->use.id == OPT_HOT;
    }
    if (cold && hot) b->settings.cold = b->settings.hot = true;
    for (size_t i = 0; i < b->sweeps.count; i++)
        b->recompile |=
            starts_with(b->sweeps.items[i].name, "D.") || same_text(b->sweeps.items[i].name, "k");
    return good;
}

/* ---- One point ---- */

static bool check_once(job *j, const char *when)
{
    bool any = false, ran = execution_run(&j->run);
    for (size_t i = 0; ran && i < j->plan.steps.count; i++) {
        const step *s = j->plan.steps.items[i];
        for (size_t k = 0; k < s->expectations.count; k++) {
            const expectation *e = s->expectations.items[k];
            if (!e->result || e->result->passed) continue;
            report_mismatch(s, e);
            message_note((message *)messages_at(messages_count() - 1),
                         "checked %s measuring; a wrong kernel is not timed", when);
            any = true;
        }
    }
    return ran && !any;
}

static bool has_expectations(const plan *p)
{
    for (size_t i = 0; i < p->steps.count; i++)
        if (p->steps.items[i]->expectations.count) return true;
    return false;
}

static bool run_point(bench_state *b, point *out)
{
    job j;
    element_list more = { 0 };
    const option_use *named = option_find(b->elements, OPT_CASE);
    if (!job_request(&j, &b->source, b->use_directives ? &b->directives : NULL,
                     named ? named->text : NULL, b->elements, CMD_BENCH))
        return false;
    for (size_t i = 0; i < out->settings.count; i++)
        if (!sweep_apply(&j.request, &more, &b->sweeps.items[i], out->settings.items[i].value))
            return false;
    if (!request_add(&j.request, &more, 4)) return false;
    bool good = true;
    if (b->recompile || !b->image) {
        good = job_compile(&j, &b->session, &b->build);
        if (good && !b->recompile) b->image = j.image;
    } else {
        j.image = b->image;
    }
    if (good) document_image(j.image);
    messages_flush();
    good = good && job_bind(&j, &b->session) && job_load(&j, &b->session, false) &&
           globals_bind(&j.run) && execution_allocate(&j.run);
    messages_flush();
    bool check = good && b->settings.check && has_expectations(&j.plan);
    if (check) good = check_once(&j, "before");
    for (size_t i = 0; good && i < j.plan.steps.count; i++) {
        j.run.pattern = POISON_FIRST;
        good = execution_fill(&j.run, i);
    }
    good = good && measure_point(&j.run, &b->settings, out);
    if (good && check) good = check_once(&j, "after");
    if (!b->recompile) j.image = NULL; /* kept for the next point */
    job_free(&j);
    return good;
}

/* ---- All points ---- */

/* The next combination, the last sweep running fastest; false after the last. */
static bool next_point(const sweep_list *sweeps, size_t *index)
{
    for (size_t i = sweeps->count; i-- > 0;) {
        if (++index[i] < sweeps->items[i].values.count) return true;
        index[i] = 0;
    }
    return false;
}

static void measure_all(bench_state *b, const bench_report *report)
{
    size_t *index = mem_array(b->sweeps.count + 1, sizeof *index);
    interrupts_hold(true);
    do {
        point *p = list_add(&b->points);
        *p = (point){ 0 };
        for (size_t i = 0; i < b->sweeps.count; i++)
            *list_add(&p->settings) =
                (setting){ b->sweeps.items[i].name, b->sweeps.items[i].values.items[index[i]] };
        p->failed = !run_point(b, p);
        report_point(report, p);
        messages_flush();
        if (p->failed && (!b->sweeps.count || messages_status() == EXIT_USAGE)) break;
    } while (!interrupted && next_point(&b->sweeps, index));
    interrupts_hold(false);
}

static int compare_command(element_list *elements)
{
    const word *old_file = take_word(elements), *new_file = take_word(elements);
    if (!old_file || !new_file || !no_more_words(elements)) {
        if (!messages_failed())
            message_hint(fail(CODE_CLI_FILE, "--compare takes two files"),
                         "gpulaunch bench --compare OLD.json NEW.json");
        return 0;
    }
    compare_results(old_file, new_file);
    return 0;
}

int cmd_bench(element_list *elements)
{
    if (option_find(elements, OPT_COMPARE)) return compare_command(elements);
    bench_state b = { .elements = elements };
    const word *file = take_word(elements);
    if (!file) {
        need_file("bench");
        return 0;
    }
    paths_trusted = option_find(elements, OPT_TRUST) != NULL;
    bool good = read_settings(&b) && source_read(&b.source, file);
    b.use_directives = good && !option_find(elements, OPT_NO_DIRECTIVES) &&
                       (!b.source.is_image || b.source.is_ptx);
    if (b.use_directives)
        good = directives_read(&b.directives, &b.source, false) &&
               options_parse(&b.build, b.directives.build.items, b.directives.build.count,
                             CMD_COMPILE);
    if (!good) return messages_status();
    messages_flush();
    if (document_wanted() && !common.json_file) summary_stream = NULL;
    if (!session_open(&b.session, option_find(elements, OPT_DEVICE),
                      option_find(elements, OPT_REQUIRE_GPU) != NULL))
        return messages_status();
    document_device(b.session.info);
    bench_report report = { .source = b.source.path,
                            .device = b.session.info,
                            .settings = &b.settings,
                            .sweeps = &b.sweeps,
                            .points = &b.points,
                            .bars = isatty(STDOUT_FILENO) };
    const option_use *base = option_find(elements, OPT_BASELINE),
                     *export_to = option_find(elements, OPT_EXPORT);
    if (!base || baseline_read(&report, base)) {
        measure_all(&b, &report);
        if (!interrupted) report_best(&report);
        if (export_to) export_results(&report, export_to);
        document_points(&report);
        if (base) baseline_judge(&report, base->text);
    }
    gpul_image_free(&b.image);
    session_close(&b.session);
    if (interrupted) return EXIT_INTERRUPTED;
    return messages_status();
}
