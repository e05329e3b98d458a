/* The stages of a case.  SPDX-License-Identifier: MIT */
#include "job.h"

#include "progress.h"

static bool no_such_case(const directives *d, const element_list *command_line, const char *name)
{
    const option_use *use = option_find(command_line, OPT_CASE);
    message *m = fail(CODE_DIRECTIVE_CASE, "there is no case '%s'", name);
    if (use) message_at(m, place_of_option(use));
    const char **names = mem_array(d->cases.count + 1, sizeof *names);
    text all = { 0 };
    for (size_t i = 0; i < d->cases.count; i++) {
        names[i] = d->cases.items[i].name;
        text_format(&all, "%s%s", i ? ", " : "", names[i]);
    }
    if (d->any) message_note(m, "the file's cases: %s", text_of(&all));
    else message_note(m, "the file has no directives");
    const char *near = nearest_name(name, names, d->cases.count);
    if (near) message_hint(m, "--case %s", near);
    return false;
}

/* The kernels that the file's cases compare with: none of them is meant when no kernel is named. */
static void find_references(run_request *out, const directives *d)
{
    for (size_t i = 0; i < d->cases.count; i++)
        for (size_t k = 0; k < d->cases.items[i].steps.count; k++) {
            const word_list *words = &d->cases.items[i].steps.items[k];
            for (size_t n = 0; n < words->count; n++) {
                const char *w = words->items[n]->text, *value = NULL;
                if (same_text(w, "--expect-kernel") && n + 1 < words->count)
                    value = strchr(words->items[n + 1]->text, '=');
                else if (starts_with(w, "--expect-kernel="))
                    value = strchr(w + strlen("--expect-kernel="), '=');
                if (value)
                    *list_add(&out->references) = mem_copy(value + 1, strcspn(value + 1, ","));
            }
        }
}

bool job_request(job *j, const source_file *source, const directives *d, const char *case_name,
                 const element_list *command_line, unsigned command)
{
    *j = (job){ .source = source };
    request_init(&j->request);
    bool good = true;
    if (d) {
        j->definition = directives_case(d, case_name);
        if (!j->definition) return no_such_case(d, command_line, case_name);
        find_references(&j->request, d);
        if (d->any && !d->implicit) j->request.case_name = j->definition->name;
        good &= request_add_words(&j->request, &d->args, 0, 1, command);
        for (size_t i = 0; i < j->definition->steps.count; i++)
            good &= request_add_words(&j->request, &j->definition->steps.items[i], i, 2, command);
    }
    good &= request_add(&j->request, command_line, 3);
    return request_finish(&j->request) && good;
}

bool job_compile_image(job *j, session *s, const element_list *build)
{
    element_list all = { 0 };
    for (size_t i = 0; build && i < build->count; i++)
        if (build->items[i].kind == ELEMENT_OPTION) *list_add(&all) = build->items[i];
    for (size_t i = 0; i < j->request.compile.count; i++)
        *list_add(&all) = j->request.compile.items[i];
    compile_job c = { .source = j->source, .options = &all, .session = s, .line_info = true };
    compile_expressions(&c, &j->request);
    progress(mem_format("compiling %s", j->source->path));
    j->image = compile_source(&c);
    progress(NULL);
    return j->image;
}

bool job_load_image(job *j, session *s)
{
    if (!j->source->is_image || !s) return true;
    /* A file that this device cannot load is told before any word about arguments. */
    const plan p = { .source = j->source, .image = j->image, .request = &j->request };
    return load_image(&j->module, &p, s);
}

bool job_compile(job *j, session *s, const element_list *build)
{
    return job_compile_image(j, s, build) && job_load_image(j, s);
}

bool job_bind(job *j, const session *s)
{
    j->plan = (plan){
        .source = j->source, .image = j->image, .device = s ? s->info : NULL, .request = &j->request
    };
    return plan_bind(&j->plan);
}

bool job_load(job *j, session *s, bool strict)
{
    /* the CPU device watches every access itself */
    bool fences = s->info->backend == GPUL_BACKEND_CUDA || j->request.guard;
    j->run = (execution){
        .plan = &j->plan, .session = s, .module = j->module, .guard = fences && !j->request.no_guard
    };
    j->module = NULL;
    j->run.times_ns = mem_array(j->plan.steps.count + 1, sizeof *j->run.times_ns);
    return execution_load(&j->run) && plan_geometry(&j->plan, strict);
}

void job_free(job *j)
{
    results_drop(&j->results);
    if (j->run.plan) execution_free(&j->run);
    gpul_module_free(&j->module);
    plan_free(&j->plan);
    gpul_image_free(&j->image);
}
