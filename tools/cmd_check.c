/* gpulaunch check: finds the cases and judges the whole.  Not here: who runs them (check_workers.c).
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "commands.h"
#include "document.h"
#include "expect.h"
#include "files.h"
#include "render.h"
#include "request.h"
#include "sanitize.h"
#include "suppress.h"
#include "session.h"

/* ---- Cases ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef list_of(const char *) path_list;

static void find_files(path_list *out, const char *folder)
{
    DIR *open_folder = opendir(folder);
    path_list here = { 0 };
    if (!open_folder) return;
    for (struct dirent *entry; (entry = readdir(open_folder));)
        if (entry->d_name[0] != '.')
            *list_add(&here) =
                mem_format("%s%s%s", folder, ends_with(folder, "/") ? "" : "/", entry->d_name);
    closedir(open_folder);
    if (here.count) qsort(here.items, here.count, sizeof *here.items, by_name);
    for (size_t i = 0; i < here.count; i++) {
        struct stat facts;
        if (stat(here.items[i], &facts)) continue;
        if (S_ISDIR(facts.st_mode)) find_files(out, here.items[i]);
        else if (ends_with(here.items[i], ".cu")) *list_add(out) = here.items[i];
    }
}

static void broken_result(check_result *r, size_t first_message)
{
    text details = { 0 };
    *r = (check_result){ .status = CASE_FAIL, .summary = "", .file = "" };
    for (size_t i = first_message; i < messages_count(); i++) {
        message *m = (message *)messages_at(i);
        text_add(&details, message_rendered(m));
        m->shown = true;
        if (r->code || m->severity != SEVERITY_ERROR) continue;
        unsigned end;
        r->code = m->code;
        r->summary = mem_format("GL%04d %s", m->code, m->text);
        place_in_file(&m->at, &r->file, &r->line, &r->column, &end);
    }
    r->details = text_of(&details);
}

typedef struct collector {
    check_list *list;
    list_of(check_result) broken;
    const char *filter;
} collector;

static void add_case(collector *c, const check_case *one, const check_result *result)
{
    const char *full = mem_format("%s/%s", one->source->path, one->name);
    if (c->filter && fnmatch(c->filter, full, 0) != 0 && fnmatch(c->filter, one->name, 0) != 0)
        return;
    *list_add(&c->list->cases) = *one;
    *list_add(&c->broken) = result ? *result
                                   : (check_result){ .status = CASE_SKIP,
                                                     .summary = "not run",
                                                     .details = "",
                                                     .file = "" };
}

/* `named`: given by name, so that a file without directives is a case too. */
static void add_file(collector *c, const char *path, place at, bool named)
{
    source_file *source = mem_alloc(sizeof *source);
    directives *d = mem_alloc(sizeof *d);
    size_t before = messages_count();
    check_case one = { .source = source, .directives = d, .name = "default" };
    bool good = source_read_path(source, path, at) && directives_read(d, source, true);
    if (good) { /* unknown words and options are errors of the file, not of a case */
        element_list ignored = { 0 };
        good = options_parse(&ignored, d->build.items, d->build.count, CMD_COMPILE);
    }
    if (!good) {
        check_result result;
        one.broken = true;
        broken_result(&result, before);
        add_case(c, &one, &result);
        return;
    }
    if (!d->any && !named) return;
    for (size_t i = 0; i < d->cases.count; i++) {
        one.name = d->cases.items[i].name;
        add_case(c, &one, NULL);
    }
}

static bool collect(collector *c, element_list *elements)
{
    const word *w;
    bool any = false;
    while ((w = take_word(elements))) {
        struct stat facts;
        any = true;
        if (stat(w->text, &facts) == 0 && S_ISDIR(facts.st_mode)) {
            path_list files = { 0 };
            size_t before = c->list->cases.count;
            find_files(&files, w->text);
            for (size_t i = 0; i < files.count; i++)
                add_file(c, files.items[i], place_word(w), false);
            if (c->list->cases.count == before && !c->filter) {
                message *m = message_at_span(
                    fail(CODE_CLI_FILE, "%s has no .cu file with directives", w->text), span_of(w));
                message_hint(m, "gpulaunch help directives");
            }
        } else if (access(w->text, R_OK)) {
            message_at_span(fail(CODE_FILE_OPEN, "%s cannot be read: %s", w->text, strerror(errno)),
                            span_of(w));
        } else {
            add_file(c, w->text, place_word(w), true);
        }
    }
    if (!any) need_file("check");
    else if (!c->list->cases.count && c->filter)
        fail(CODE_CLI_FILE, "no case fits --filter %s", c->filter ? c->filter : "");
    for (size_t i = 0; i < messages_count(); i++)
        if (messages_at(i)->severity == SEVERITY_ERROR && !messages_at(i)->shown) return false;
    return true;
}

/* ---- The command ---- */

static int verdict(const check_list *list, bool gpu_needed)
{
    size_t failed = 0, passed = 0;
    int no_device = 0;
    for (size_t i = 0; i < list->cases.count; i++) {
        failed += list->results[i].status == CASE_FAIL;
        passed += list->results[i].status == CASE_PASS;
        if (list->results[i].status == CASE_SKIP && list->results[i].code)
            no_device = list->results[i].code;
    }
    if (failed) return EXIT_CHECK;
    if (passed) return EXIT_OK;
    return gpu_needed && no_device ? EXIT_DEVICE : EXIT_SKIPPED;
}

static bool read_format(check_list *list, const option_use *use)
{
    static const char *const names[] = { "text", "tap", "junit", "github" };
    if (!use) return true;
    for (int i = 0; i < 4; i++)
        if (same_text(use->text, names[i])) {
            list->format = (check_format)i;
            return true;
        }
    message_at(
        fail(CODE_CLI_VALUE, "--format: \"%s\" is not text, tap, junit or github", use->text),
        place_of_option(use));
    return false;
}

static bool read_jobs(uint64_t *jobs, const option_use *use)
{
    if (!use) return true;
    if (!option_read_count(jobs, use, 1)) return false;
    if (*jobs <= CHECK_MOST_JOBS) return true;
    message_at(
        fail(CODE_CLI_VALUE, "--jobs: at most %d cases run at the same time", CHECK_MOST_JOBS),
        place_of_option(use));
    return false;
}

int cmd_check(element_list *elements)
{
    check_list list = { 0 };
    const option_use *filter = option_find(elements, OPT_FILTER);
    collector c = { .list = &list, .filter = filter ? filter->text : NULL };
    paths_trusted = option_find(elements, OPT_TRUST) != NULL;
    expectations_update = option_find(elements, OPT_UPDATE) != NULL;
    const option_use *checker = option_find(elements, OPT_SANITIZE);
    if (checker && !sanitize_on_cpu(elements, checker)) return messages_status();
    const option_use *hidden = option_find(elements, OPT_SUPPRESSIONS);
    if (hidden && !suppressions_read(hidden)) return messages_status();
    uint64_t jobs = 1;
    if (!read_format(&list, option_find(elements, OPT_FORMAT)) ||
        !read_jobs(&jobs, option_find(elements, OPT_JOBS)) || !collect(&c, elements))
        return messages_status();
    list.results = c.broken.items;
    if (document_wanted() && !common.json_file) summary_stream = NULL;
    messages_flush();
    report_begin(&list);
    bool ran = check_all(&list, (size_t)jobs, elements);
    report_end(&list);
    document_cases(&list);
    if (interrupted) return EXIT_INTERRUPTED;
    if (!ran) return messages_status();
    const char *required = getenv("GPULAUNCH_REQUIRE_GPU");
    bool gpu_needed =
        option_find(elements, OPT_REQUIRE_GPU) || (required && same_text(required, "1"));
    return verdict(&list, gpu_needed);
}
