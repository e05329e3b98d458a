/* Making a plan step by step; all mistakes of one stage are reported together.
 * SPDX-License-Identifier: MIT */
#include "plan.h"

#include "expect.h"

static step *new_step(plan *p, size_t index)
{
    const step_request *request = &p->request->steps.items[index];
    const gpul_kernel_info *kernel = choose_kernel(p, request);
    if (!kernel) return NULL;
    step *s = mem_alloc(sizeof *s);
    *s = (step){ .request = request, .index = index, .kernel = kernel };
    s->arguments = mem_array(kernel->param_count + 1, sizeof *s->arguments);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        s->arguments[i].param = &kernel->params[i];
        s->arguments[i].name = param_name(kernel, i);
    }
    return s;
}

static bool check_swap(const plan *p, const step *s)
{
    const step_request *r = s->request;
    if (!r->swap_a) return true;
    const char *names[] = { r->swap_a, r->swap_b };
    buffer *pair[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = plan_buffer(p, s, names[i]);
        if (pair[i]) continue;
        message *m = message_at_span(
            fail(CODE_ARGS_REFERENCE, "--swap: there is no buffer '%s'", names[i]), r->swap_at);
        message_note(m, "it exchanges two buffers of '%s' by the names of their parameters",
                     s->kernel->name);
        return false;
    }
    if (pair[0]->bytes == pair[1]->bytes && layout_same(pair[0]->layout, pair[1]->layout))
        return true;
    message_at_span(fail(CODE_ARGS_LENGTH,
                         "--swap: '%s' has %llu bytes and '%s' has %llu; they must be alike",
                         names[0], (unsigned long long)pair[0]->bytes, names[1],
                         (unsigned long long)pair[1]->bytes),
                    r->swap_at);
    return false;
}

bool plan_bind(plan *p)
{
    p->seed = p->request->seed;
    for (size_t i = 0; i < p->request->steps.count; i++) {
        step *s = new_step(p, i);
        if (!s) return false;
        *list_add(&p->steps) = s;
        bool good = bind_step(p, s);
        bool lengths = good && resolve_lengths(p, s);
        p->only_literals = !lengths; /* their mistakes are told together with the others */
        good = bind_values(p, s) && lengths;
        if (!good || !geometry_channels(s) || !check_swap(p, s) || !bind_expectations(p, s))
            return false;
    }
    return true;
}

void plan_free(plan *p)
{
    for (size_t i = 0; i < p->buffers.count; i++) content_free(p->buffers.items[i]->content);
    for (size_t i = 0; i < p->steps.count; i++)
        for (size_t k = 0; k < p->steps.items[i]->expectations.count; k++)
            content_free(p->steps.items[i]->expectations.items[k]->content);
}
