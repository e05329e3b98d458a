/* The list of a launch's mistakes.  SPDX-License-Identifier: MIT */
#include "core/launch_mistakes.h"

#include <stdarg.h>

#include "base/str.h"

void gpul__mistake_add(gpul__mistakes *mistakes, int code, const gpul_param *parameter,
                       const char *hint, const char *format, ...)
{
    gpul__str text = { 0 };
    va_list args;
    va_start(args, format);
    gpul__str_vprintf(&text, format, args);
    va_end(args);
    char *kept = gpul__arena_strndup(&mistakes->arena, gpul__str_text(&text), text.length);
    bool grown =
        gpul__grow(&mistakes->items, &mistakes->capacity, mistakes->count, sizeof *mistakes->items);
    if (text.failed || !kept || !grown) {
        mistakes->failed = true;
    } else {
        gpul__mistake *m = &mistakes->items[mistakes->count++];
        *m = (gpul__mistake){ .detail = { .severity = GPUL_ERROR, .code = code, .text = kept },
                              .hint = hint };
        if (parameter) {
            m->detail.file = parameter->file && *parameter->file ? parameter->file : NULL;
            m->detail.line = parameter->line;
            m->detail.column = parameter->column;
            m->detail.end_column = parameter->end_column;
            m->detail.parameter = parameter->value.name;
        }
    }
    gpul__str_free(&text);
}

gpul_status gpul__mistakes_fail(gpul__mistakes *mistakes, const char *caller_file, int caller_line,
                                const char *summary)
{
    gpul_status status;
    if (mistakes->failed || !mistakes->count) {
        status = gpul__no_memory();
    } else {
        const gpul__mistake *first = &mistakes->items[0];
        gpul__fail(first->detail.code,
                   (.call = "gpul_launch", .hint = first->hint, .caller_file = caller_file,
                    .caller_line = caller_line),
                   "%s%s%s", mistakes->count > 1 ? summary : "", mistakes->count > 1 ? ": " : "",
                   first->detail.text);
        for (size_t i = 0; i < mistakes->count; i++) gpul__detail(&mistakes->items[i].detail);
        status = gpul_last_error()->status;
    }
    gpul__free(mistakes->items);
    gpul__arena_free(&mistakes->arena);
    *mistakes = (gpul__mistakes){ 0 };
    return status;
}
