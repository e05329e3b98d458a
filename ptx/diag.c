/* The list of messages and its two renderings.  SPDX-License-Identifier: MIT */
#include "ptx/diag.h"

#include <string.h>

static const char *copy(ptx_diags *diags, const char *text)
{
    if (!text) return NULL;
    char *own = gpul__arena_strndup(&diags->arena, text, strlen(text));
    if (!own) diags->failed = true;
    return own;
}

void ptx_diags_add(ptx_diags *diags, const ptx_diag *diag)
{
    if (diag->severity == PTX_ERROR) diags->errors++;
    else if (diag->severity == PTX_UNSUPPORTED) diags->unsupported++;
    else diags->warnings++;
    if (diags->count >= PTX_DIAG_LIMIT) return;
    if (!gpul__grow(&diags->items, &diags->capacity, diags->count, sizeof *diags->items)) {
        diags->failed = true;
        return;
    }
    ptx_diag kept = *diag;
    kept.text = copy(diags, diag->text);
    kept.function = copy(diags, diag->function);
    kept.opcode = copy(diags, diag->opcode);
    kept.source = copy(diags, diag->source);
    if (kept.text) diags->items[diags->count++] = kept;
}

void ptx_diags_sort(ptx_diags *diags, size_t first)
{
    for (size_t i = first + 1; i < diags->count; i++) {
        ptx_diag moved = diags->items[i];
        size_t at = i;
        for (; at > first && diags->items[at - 1].line > moved.line; at--)
            diags->items[at] = diags->items[at - 1];
        diags->items[at] = moved;
    }
}

void ptx_diags_free(ptx_diags *diags)
{
    gpul__arena_free(&diags->arena);
    gpul__free(diags->items);
    *diags = (ptx_diags){ 0 };
}

static const char *severity_name(ptx_severity severity)
{
    return severity == PTX_ERROR ? "error" : severity == PTX_WARNING ? "warning" : "refused";
}

void ptx_diag_render(const ptx_diag *diag, gpul__str *out)
{
    if (diag->line) gpul__str_printf(out, "line %u, column %u: ", diag->line, diag->column);
    gpul__str_printf(out, "%s: %s", severity_name(diag->severity), diag->text);
    if (diag->function) gpul__str_printf(out, " (in `%s`", diag->function);
    if (diag->opcode)
        gpul__str_printf(out, "%sinstruction `%s`", diag->function ? ", " : " (", diag->opcode);
    gpul__str_add(out, diag->function || diag->opcode ? ")\n" : "\n");
    if (!diag->source || !diag->column) return;
    size_t length = strlen(diag->source);
    gpul__str_printf(out, "%6u | %s\n       | ", diag->line, diag->source);
    if (diag->column > length + 1) {
        gpul__str_add(out, "(further right)\n");
        return;
    }
    for (uint32_t i = 0; i + 1 < diag->column; i++)
        gpul__str_addn(out, diag->source[i] == '\t' ? "\t" : " ", 1);
    gpul__str_add(out, "^");
    for (uint32_t i = 1; i < diag->width && diag->column + i <= length; i++)
        gpul__str_add(out, "~");
    gpul__str_add(out, "\n");
}

void ptx_diags_render_log(const ptx_diags *diags, gpul__str *out)
{
    for (size_t i = 0; i < diags->count; i++) {
        const ptx_diag *diag = &diags->items[i];
        gpul__str_add(out, "ptxas application ptx input");
        if (diag->line) gpul__str_printf(out, ", line %u", diag->line);
        gpul__str_printf(out, "; %s: %s", diag->severity == PTX_WARNING ? "warning " : "error   ",
                         diag->text);
        if (diag->function) gpul__str_printf(out, " in '%s'", diag->function);
        gpul__str_add(out, "\n");
    }
    size_t fatal = diags->errors + diags->unsupported;
    if (fatal) gpul__str_add(out, "ptxas fatal   : Ptx assembly aborted due to errors\n");
}
