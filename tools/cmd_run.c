/* gpulaunch run.  SPDX-License-Identifier: MIT */
#include "commands.h"
#include "document.h"
#include "globals.h"
#include "job.h"
#include "sanitize.h"
#include "save.h"
#include "show.h"
#include "suppress.h"
#include "timeline.h"

typedef struct run_state {
    job job;
    session session;
    const element_list *build;
    bool compiled;
    bool failed; /* a result could not be shown or written */
    FILE *messages_to;
} run_state;

/* Shows and writes what a step left, while it is still there. */
static void after_step(void *user, execution *x, size_t index)
{
    run_state *r = user;
    step *s = x->plan->steps.items[index];
    show_time(s, x->times_ns[index], r->session.info->backend == GPUL_BACKEND_CPU);
    if (!s->request->print_none && !s->request->prints.count) show_previews(s);
    if (summary_stream) fflush(summary_stream);
    bool good =
        print_requested(x->plan, s) && globals_get(x, s) && results_write(&r->job.results, index);
    fflush(stdout);
    if (document_wanted()) document_step(x->plan, s, x->times_ns[index]);
    if (!good) r->failed = true;
}

static void show_step(const run_state *r, size_t index)
{
    const plan *p = &r->job.plan;
    const step *s = p->steps.items[index];
    show_head(p, s, r->job.image);
    if (!index) show_device(&r->session);
    show_launch(s);
    show_arguments(p, s);
}

static int judge(run_state *r)
{
    plan *p = &r->job.plan;
    for (size_t i = 0; i < p->steps.count; i++) {
        const step *s = p->steps.items[i];
        show_checks(s);
        if (document_wanted()) document_checks(s);
        for (size_t k = 0; k < s->expectations.count; k++)
            if (s->expectations.items[k]->result && !s->expectations.items[k]->result->passed)
                report_mismatch(s, s->expectations.items[k]);
    }
    return messages_status();
}

static void before_step(void *user, execution *x, size_t index)
{
    (void)x;
    show_step(user, index);
    if (summary_stream) fflush(summary_stream);
}

/* The compiler, or the cache, works while the driver makes the context. */
static void compile_meanwhile(void *user, session *s)
{
    run_state *r = user;
    double start = timeline_now();
    r->compiled = job_compile_image(&r->job, s, r->build);
    timeline_beside("compile", start);
}

static bool set_up(run_state *r, const element_list *elements, const element_list *build)
{
    job *j = &r->job;
    r->build = build;
    timeline_phase("open the device");
    if (!session_open_meanwhile(&r->session, option_find(elements, OPT_DEVICE),
                                option_find(elements, OPT_REQUIRE_GPU) != NULL, compile_meanwhile,
                                r) ||
        !r->compiled)
        return false;
    document_device(r->session.info);
    timeline_phase("load the image");
    if (!job_load_image(j, &r->session)) return false;
    document_image(j->image);
    messages_flush();
    timeline_phase("bind arguments, read files");
    if (!job_bind(j, &r->session)) return false;
    bool good = results_bind(&j->results, &j->plan);
    good &= print_requests_bind(&j->plan);
    timeline_phase("load");
    return good && job_load(j, &r->session, false) && globals_bind(&j->run);
}

static int run_job(run_state *r, const element_list *elements, const element_list *build)
{
    job *j = &r->job;
    if (!set_up(r, elements, build)) return messages_status();
    messages_flush();
    const option_use *keep = option_find(elements, OPT_SAVE_CASE);
    if (keep && !save_case(j, &r->session, keep)) return messages_status();
    if (j->request.dry_run) {
        for (size_t i = 0; i < j->plan.steps.count; i++) show_step(r, i);
        if (summary_stream) fputs("dry run   nothing was launched\n", summary_stream);
        return 0;
    }
    timeline_phase("allocate");
    j->run.before_step = before_step;
    j->run.after_step = after_step;
    j->run.user = r;
    if (!execution_allocate(&j->run)) return messages_status();
    bool good = execution_run(&j->run) && !r->failed;
    if (!good) return messages_status() ? messages_status() : EXIT_BUG;
    int status = judge(r);
    if (!results_keep(&j->results)) return messages_status();
    return status;
}

/* The words of --args-from stand before those of the command line. */
static bool args_from(element_list *elements)
{
    const option_use *use = option_find(elements, OPT_ARGS_FROM);
    source_file file;
    if (!use) return true;
    if (!source_read_path(&file, use->text, place_of_option(use))) return false;
    word_list words = { 0 };
    for (unsigned i = 1; i <= file.lines.count; i++) {
        word like = { .file = file.path, .line_text = source_line(&file, i), .line = i };
        size_t bad;
        if (words_split(&words, &like, 0, &bad)) continue;
        message_at(
            fail(CODE_CLI_VALUE, "a quote is not closed"),
            place_source(file.path, i, (unsigned)bad + 1, (unsigned)bad + 2, like.line_text));
        return false;
    }
    element_list made = { 0 };
    if (!options_parse(&made, words.items, words.count, CMD_RUN)) return false;
    for (size_t i = 0; i < elements->count; i++) *list_add(&made) = elements->items[i];
    *elements = made;
    return true;
}

int cmd_run(element_list *elements)
{
    const word *file = take_word(elements);
    if (!file) {
        need_file("run");
        return 0;
    }
    run_state r = { 0 };
    source_file source = { 0 };
    directives d = { 0 };
    element_list build = { 0 };
    const option_use *trace = option_find(elements, OPT_TRACE),
                     *checker = option_find(elements, OPT_SANITIZE);
    const option_use *keep = option_find(elements, OPT_SAVE_DIRECTIVE);
    paths_trusted = option_find(elements, OPT_TRUST) != NULL;
    if (checker && !sanitize(elements, checker)) return 0;
    const option_use *hidden = option_find(elements, OPT_SUPPRESSIONS);
    if (hidden && !suppressions_read(hidden)) return 0;
    if (trace) {
        timeline_start();
        log_start(common.verbose);
    }
    timeline_phase("read the source");
    if (!args_from(elements) || !source_read(&source, file)) return 0;
    bool use = !option_find(elements, OPT_NO_DIRECTIVES) && (!source.is_image || source.is_ptx);
    const option_use *named = option_find(elements, OPT_CASE);
    bool good = !use || directives_read(&d, &source, false);
    if (use && !options_parse(&build, d.build.items, d.build.count, CMD_COMPILE)) good = false;
    good = good && job_request(&r.job, &source, use ? &d : NULL, named ? named->text : NULL,
                               elements, CMD_RUN);
    if (!good) return messages_status();
    messages_flush();
    bool data = results_use_stdout(&r.job.request) || (common.json && !common.json_file);
    if (data && summary_stream) summary_stream = stderr;
    int status = run_job(&r, elements, &build);
    if (hidden) suppressions_tell();
    if (keep && status <= EXIT_CHECK && !save_directive(&source, &d, elements, keep))
        status = messages_status();
    timeline_phase("free and close");
    job_free(&r.job);
    session_close(&r.session);
    timeline_phase(NULL);
    if (common.verbose) timeline_show(stderr);
    if (trace && !timeline_write(trace)) status = messages_status();
    return status;
}
