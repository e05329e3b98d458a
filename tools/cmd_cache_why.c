/* gpulaunch cache why: whether `run` would find its compile of a file in the cache, and if not, what changed.
 * SPDX-License-Identifier: MIT */
#include "commands.h"
#include "compiling.h"
#include "plan.h"
#include "session.h"

#include <stdio.h>

static void ask(const source_file *source, const element_list *options, const session *s,
                const option_use *kernel)
{
    /* As run compiles it. */
    compile_job job = {
        .source = source, .options = options, .session = s, .line_info = true, .cache_only = true
    };
    if (kernel && expression_needed(kernel->text)) *list_add(&job.expressions) = kernel->text;
    gpul_image *image = compile_source(&job);
    if (image) printf("%s is in the cache\n", source->path);
    else if (gpul_last_error()->code == CODE_CACHE_MISS) puts(gpul_last_error()->message);
    gpul_image_free(&image);
}

void cache_why(element_list *elements)
{
    const word *file = take_word(elements);
    source_file source;
    element_list all = { 0 };
    session s = { 0 };
    if (!file) {
        message_hint(fail(CODE_CLI_FILE, "'cache why' needs a file"), "gpulaunch cache why FILE");
        return;
    }
    if (!no_more_words(elements) || !compile_request(&source, &all, elements, file)) return;
    if (source.is_image)
        message_at_span(
            fail(CODE_CLI_FILE, "%s is compiled already: it needs no cache", source.path),
            span_of(file));
    else if (session_open(&s, option_find(elements, OPT_DEVICE), false))
        ask(&source, &all, &s, option_find(elements, OPT_KERNEL));
    session_close(&s);
}
