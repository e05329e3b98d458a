/* The image of a compile that succeeded: code, signatures, log, warnings, and what was chosen.
 * SPDX-License-Identifier: MIT */
#include "core/compile.h"

#include "base/clock.h"
#include "base/error.h"
#include "core/cubin.h"
#include "core/image_read.h"
#include "core/signature.h"

#include <string.h>

static const char *keep(gpul_image *image, const char *text)
{
    return text ? gpul__arena_strndup(&image->arena, text, strlen(text)) : NULL;
}

static bool is_carried(const gpul__compile *c, const char *file)
{
    if (!file || !gpul__carried_find(file)) return false;
    for (const gpul_header *h = c->opts->headers; h && h->name; h++)
        if (strcmp(h->name, file) == 0) return false;
    return true;
}

/* Messages that are none of the user's business: about probes, in carried headers, and the compiler's
 * remark on how to suppress them. */
static bool is_hidden(const gpul__compile *c, const gpul__log_list *log, size_t i)
{
    const gpul__log_entry *e = &log->items[i];
    if (gpul__probe_is_own(e) || is_carried(c, e->file)) return true;
    if (e->severity == GPUL_WARNING && e->origin == GPUL__LOG_COMPILER && c->warnings_off)
        return true;
    /* A note belongs to the message before it. */
    return e->is_note_of_previous && i > 0 && is_hidden(c, log, i - 1);
}

/* The log without hidden messages, and with echoed lines as the user wrote them. */
static bool write_log(gpul_image *image, const gpul__compile *c, const char *text,
                      const gpul__log_list *log)
{
    gpul__str out = { 0 };
    bool warned = false;
    for (size_t i = 0; i < log->count; i++)
        warned |= log->items[i].severity == GPUL_WARNING &&
                  log->items[i].origin == GPUL__LOG_COMPILER && !is_hidden(c, log, i);
    for (size_t i = 0; i < log->count; i++) {
        const gpul__log_entry *e = &log->items[i];
        bool remark =
            e->origin == GPUL__LOG_REST && gpul__starts(e->text, "Remark: The warnings can be");
        if (is_hidden(c, log, i) || (remark && !warned)) continue;
        const char *at = text + e->first, *end = text + e->end, *probe;
        /* A probe in an echoed line ends it for the reader. */
        while (at < end && (probe = memmem(at, (size_t)(end - at), " typedef ::__gpul::", 19))) {
            gpul__str_addn(&out, at, (size_t)(probe - at));
            const char *line = memchr(probe, '\n', (size_t)(end - probe));
            at = line ? line : end;
        }
        gpul__str_addn(&out, at, (size_t)(end - at));
    }
    if (out.failed) {
        gpul__str_free(&out);
        return false;
    }
    image->info.log = keep(image, gpul__str_text(&out));
    gpul__str_free(&out);
    return image->info.log != NULL;
}

static bool write_diagnostics(gpul_image *image, const gpul__compile *c, const gpul__log_list *log)
{
    image->diagnostics =
        gpul__arena_alloc(&image->arena, (log->count + 1) * sizeof *image->diagnostics);
    if (!image->diagnostics) return false;
    for (size_t i = 0; i < log->count; i++) {
        const gpul__log_entry *e = &log->items[i];
        if (is_hidden(c, log, i) || e->origin == GPUL__LOG_REST) continue;
        size_t length;
        const char *line = e->file && strcmp(e->file, c->source.name) == 0
                               ? gpul__source_line_text(&c->source, e->line, &length)
                               : NULL;
        gpul_detail *d = &image->diagnostics[image->diagnostic_count];
        *d = (gpul_detail){ .severity = e->severity,
                            .line = e->origin == GPUL__LOG_COMPILER ? e->line : 0,
                            .column = e->column,
                            .end_column = e->end_column };
        d->file = e->file ? keep(image, e->file) : NULL;
        d->text = keep(image, e->text);
        d->source =
            line ? gpul__arena_strndup(&image->arena, line, length) : keep(image, e->source);
        if (!d->text || (e->file && !d->file)) return false;
        image->diagnostic_count++;
    }
    return true;
}

static void add_list(gpul__str *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && i < 4; i++)
        gpul__str_printf(out, "%s%s", i ? ", " : "", names[i]);
    if (count > 4) gpul__str_printf(out, " and %zu more", count - 4);
}

static bool write_choice(gpul_image *image, gpul__compile *c)
{
    gpul__str *choice = &c->choice;
    gpul__str_printf(choice, "; %s by NVRTC %d.%d",
                     image->cubin && image->ptx ? "machine code and PTX"
                     : image->cubin             ? "machine code"
                     : image->ltoir             ? "LTO-IR"
                                                : "PTX",
                     c->nvrtc->major, c->nvrtc->minor);
    if (c->set_aside && c->host.function_count) {
        gpul__str_add(choice, "; host code set aside: ");
        add_list(choice, c->host.functions, c->host.function_count);
    }
    if (c->set_aside && c->host.header_count) {
        gpul__str_add(choice, "; host headers set aside: ");
        add_list(choice, c->host.headers, c->host.header_count);
    }
    if (c->set_aside && c->host.taken_count) {
        gpul__str_add(choice, "; taken as device code, without __device__: ");
        add_list(choice, c->host.taken, c->host.taken_count);
    }
    if (c->bundled_tried && c->folders.count) gpul__str_add(choice, "; with NVRTC's own headers");
    if (choice->failed) return false;
    image->info.choice = keep(image, gpul__str_text(choice));
    return image->info.choice != NULL;
}

/* Whether the image has anything to launch or to look at. */
static bool is_empty(const gpul__compile *c, const gpul_image *image)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        if (*image->kernels[i].symbol) return false;
    if (c->is_linked_later) return false;
    return !(c->opts->expressions && *c->opts->expressions && image->global_count);
}

static gpul_status fill(gpul_image *image, gpul__compile *c, gpul__run *run,
                        const gpul__log_list *log, const gpul__probe *probe)
{
    image->ptx = run->ptx;
    image->cubin = run->cubin;
    image->info.ptx = image->ptx;
    image->info.ptx_size = run->ptx_size;
    image->info.cubin = image->cubin;
    image->info.cubin_size = run->cubin_size;
    image->ltoir = run->ltoir;
    image->info.ltoir = image->ltoir;
    image->info.ltoir_size = run->ltoir_size;
    run->ptx = NULL;
    run->cubin = run->ltoir = NULL;
    if (!image->ptx && !image->cubin && !image->ltoir)
        return gpul__fail(GPUL__IMAGE_FORM, (.call = "gpul_compile", .log = run->log),
                          "the compiler gave neither PTX nor machine code nor LTO-IR");
    char arch[24];
    image->info.name = keep(image, c->source.name);
    image->info.arch = keep(image, gpul__arch_text(arch, c->arch));
    image->info.nvrtc_path = keep(image, c->nvrtc->path);
    image->info.nvrtc_major = c->nvrtc->major;
    image->info.nvrtc_minor = c->nvrtc->minor;
    image->arch = c->arch;
    if (!image->info.name || !image->info.arch || !image->info.nvrtc_path) return gpul__no_memory();

    ptx_signature *ptx = NULL;
    ptx_diags diags = { 0 };
    gpul__cubin cubin;
    bool ok = true;
    if (image->ptx)
        ok =
            ptx_signature_read(&ptx, image->ptx, image->info.ptx_size, &diags) != PTX_OUT_OF_MEMORY;
    gpul__read read = GPUL__READ_FOREIGN;
    if (ok && image->cubin) {
        read = gpul__cubin_read(&cubin, &c->arena, image->cubin, image->info.cubin_size, NULL);
        ok = read != GPUL__READ_NO_MEMORY;
    }
    gpul__signature_input input = { .files = &c->files,
                                    .tokens = &c->tokens,
                                    .scan = &c->scan,
                                    .probe = probe,
                                    .ptx = ptx,
                                    .cubin = read == GPUL__READ_OK ? &cubin : NULL,
                                    .lowered = run->lowered,
                                    .lowered_count = run->lowered_count };
    gpul__image_set_ptx_facts(image, ptx);
    ok = ok && (image->ltoir || gpul__signature_build(image, &input)) &&
         write_log(image, c, run->log, log) && write_diagnostics(image, c, log) &&
         write_choice(image, c);
    ptx_signature_free(ptx);
    ptx_diags_free(&diags);
    if (!ok) return gpul__no_memory();
    if (is_empty(c, image)) return gpul__compile_fail_empty(c, image->info.log);
    image->info.compile_ns = gpul__now() - c->started_ns;
    return GPUL_OK;
}

gpul_status gpul__compile_image(gpul_image **out, gpul__compile *c, gpul__run *run,
                                const gpul__log_list *log, const gpul__probe *probe)
{
    gpul_image *image = gpul__image_new();
    if (!image) return gpul__no_memory();
    gpul_status status = fill(image, c, run, log, probe);
    if (status) gpul_image_free(&image);
    *out = image;
    return status;
}
