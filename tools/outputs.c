/* Saving buffers: which format, may the file be written, raw, .npy and tables.  Not here: images.
 * SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "values.h"

enum { PIECE = 8 << 20 };

/* ---- Before anything runs ---- */

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (same_text(a, b)) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool overwrites_input(const plan *p, const result_file *f)
{
    for (size_t i = 0; i < p->buffers.count; i++) {
        const content *c = p->buffers.items[i]->content;
        const char *input = c && c->spec->source == SOURCE_FILE ? c->spec->path : NULL;
        if (!input && !same_text(p->source->path, f->path)) continue;
        const char *what = same_file(p->source->path, f->path) ? "the source file" : NULL;
        if (!what && (!input || same_text(input, "-") ||
                      !same_file(path_resolve(p->buffers.items[i]->at, input), f->path)))
            continue;
        message *m = message_at_span(
            fail(CODE_FILE_OVERWRITE, "%s is %s", f->path,
                 what ? what : mem_format("the input of %s", p->buffers.items[i]->name)),
            f->at);
        if (what) message_hint(m, "another name for the result");
        else
            message_hint(m, "-o %s=%s,overwrite  replaces it, or choose another name",
                         f->buffer->name, f->path);
        return true;
    }
    return false;
}

static bool can_write(const result_file *f)
{
    if (same_text(f->path, "-")) return true;
    struct stat facts;
    const char *slash = strrchr(f->path, '/');
    const char *folder = slash ? mem_copy(f->path, (size_t)(slash - f->path) + 1) : ".";
    const char *why = NULL;
    if (stat(f->path, &facts) == 0 && S_ISDIR(facts.st_mode)) why = "it is a folder";
    else if (stat(f->path, &facts) == 0 && !S_ISREG(facts.st_mode)) return true;
    else if (access(folder, W_OK | X_OK)) why = strerror(errno);
    if (!why) return true;
    message *m =
        message_at_span(fail(CODE_FILE_WRITE, "%s cannot be written: %s", f->path, why), f->at);
    if (errno == ENOENT) message_hint(m, "mkdir -p %s", shell_quoted(folder));
    return false;
}

static bool read_modifiers(result_file *f, const char *from, span at)
{
    while (*from) {
        const char *end = from + strcspn(from, ",");
        const char *name = mem_copy(from, (size_t)(end - from));
        span part = span_part(at.word, from, end);
        if (same_text(name, "overwrite")) f->overwrite = true;
        else if (same_text(name, "norm")) f->norm = true;
        else if (!format_from_name(&f->format, name)) {
            message *m = message_at_span(
                fail(CODE_CLI_VALUE, "unknown modifier \"%s\" of an output", name), part);
            message_hint(m, "overwrite, norm, or a format: npy raw csv tsv txt pnm pfm png npz");
            return false;
        }
        from = *end ? end + 1 : end;
    }
    return true;
}

static bool bind_one(results *out, const plan *p, const step *s, const named_span *n)
{
    result_file f = { .step = s->index, .at = n->at };
    const char *comma = strchr(n->text, ',');
    const char *path = comma ? mem_copy(n->text, (size_t)(comma - n->text)) : n->text;
    if (comma) f.at.end = n->at.start + (size_t)(comma - n->text);
    f.buffer = plan_buffer(p, s, n->name);
    if (!f.buffer) {
        const argument *arg = step_argument(s, n->name);
        message *m =
            message_at_span(fail(CODE_ARGS_REFERENCE,
                                 arg ? "'%s' is no buffer" : "there is no buffer '%s'", n->name),
                            n->name_at);
        const char **names = mem_array(p->buffers.count + 1, sizeof *names);
        for (size_t i = 0; i < p->buffers.count; i++) names[i] = p->buffers.items[i]->name;
        const char *near = nearest_name(n->name, names, p->buffers.count);
        if (near) message_hint(m, "-o %s=%s", near, n->text);
        return false;
    }
    f.path = path_resolve(n->at, path);
    if (!f.path) return false;
    f.format = same_text(f.path, "-") ? FORMAT_TEXT : format_of_path(f.path);
    if (comma && !read_modifiers(&f, comma + 1, n->at)) return false;
    if (f.format == FORMAT_AUTO) f.format = FORMAT_RAW;
    for (size_t i = 0; i < out->files.count; i++)
        if (same_file(out->files.items[i].path, f.path)) {
            message_at_span(fail(CODE_CLI_VALUE, "two results would be written to %s", f.path),
                            f.at);
            return false;
        }
    if (!f.overwrite && overwrites_input(p, &f)) return false;
    if (!can_write(&f) || !image_format_fits(&f)) return false;
    *list_add(&out->files) = f;
    return true;
}

bool results_bind(results *out, const plan *p)
{
    bool good = true;
    for (size_t i = 0; i < p->steps.count; i++)
        for (size_t k = 0; k < p->steps.items[i]->request->outs.count; k++)
            good &= bind_one(out, p, p->steps.items[i], &p->steps.items[i]->request->outs.items[k]);
    return good;
}

bool results_use_stdout(const run_request *request)
{
    for (size_t i = 0; i < request->steps.count; i++)
        for (size_t k = 0; k < request->steps.items[i].outs.count; k++) {
            const char *target = request->steps.items[i].outs.items[k].text;
            if (same_text(target, "-") || starts_with(target, "-,")) return true;
        }
    return false;
}

/* ---- Writing ---- */

static bool for_each_piece(FILE *to, const buffer *b,
                           void (*write)(FILE *, const buffer *, const unsigned char *, uint64_t,
                                         uint64_t, char),
                           char separator)
{
    size_t size = b->layout->size;
    uint64_t piece = PIECE / size ? PIECE / size : 1;
    if (piece > b->count) piece = b->count;
    unsigned char *bytes = data_alloc(piece * size);
    bool good = true;
    for (uint64_t first = 0; good && first < b->count; first += piece) {
        uint64_t count = b->count - first < piece ? b->count - first : piece;
        good = buffer_read(b, bytes, first, count);
        if (good) write(to, b, bytes, first, count, separator);
    }
    data_free(bytes);
    if (!good) library_message(NULL);
    return good;
}

static void write_raw(FILE *to, const buffer *b, const unsigned char *bytes, uint64_t first,
                      uint64_t count, char separator)
{
    (void)first, (void)separator;
    fwrite(bytes, b->layout->size, count, to);
}

/* Rows of the fastest dimension; one element a line when the buffer is flat. */
static void write_table(FILE *to, const buffer *b, const unsigned char *bytes, uint64_t first,
                        uint64_t count, char separator)
{
    const layout *l = b->layout;
    char number[64];
    for (uint64_t i = 0; i < count; i++) {
        bool row_end = b->shape.rank < 2 || (first + i + 1) % b->shape.dim[0] == 0, begun = false;
        for (size_t f = 0; f < l->leaves.count; f++) {
            const leaf *one = &l->leaves.items[f];
            size_t size = type_size(one->type);
            for (uint32_t lane = 0; size && lane < one->count; lane++) {
                if (begun) fputc(separator, to);
                begun = true;
                text out = { .data = number, .capacity = sizeof number };
                value_print(&out, one->type, bytes + i * l->size + one->offset + lane * size, 0);
                fwrite(out.data, 1, out.length, to);
            }
        }
        fputc(row_end ? '\n' : separator, to);
    }
}

bool write_buffer(FILE *to, const result_file *f)
{
    const buffer *b = f->buffer;
    size_t length;
    switch (f->format) {
    case FORMAT_NPY: {
        const char *header = npy_header_text(b->layout, &b->shape, &length);
        fwrite(header, 1, length, to);
        return for_each_piece(to, b, write_raw, 0);
    }
    case FORMAT_NPZ: return write_npz(to, f);
    case FORMAT_CSV: return for_each_piece(to, b, write_table, ',');
    case FORMAT_TSV: return for_each_piece(to, b, write_table, '\t');
    case FORMAT_TEXT: return for_each_piece(to, b, write_table, ' ');
    case FORMAT_PNM:
    case FORMAT_PFM:
    case FORMAT_PNG: return write_image(to, f);
    default: return for_each_piece(to, b, write_raw, 0);
    }
}

static bool cannot_write(const result_file *f, const char *why)
{
    message_at_span(fail(CODE_FILE_WRITE, "%s cannot be written: %s", f->path, why), f->at);
    return false;
}

bool results_write(results *r, size_t index)
{
    for (size_t i = 0; i < r->files.count; i++) {
        result_file *f = &r->files.items[i];
        const char *why = NULL;
        if (f->step != index) continue;
        if (!output_open(&f->out, f->path, &why)) return cannot_write(f, why);
        f->open = true;
        if (!write_buffer(f->out.stream, f)) return false;
        if (fflush(f->out.stream) || ferror(f->out.stream)) return cannot_write(f, strerror(errno));
    }
    return true;
}

bool results_keep(results *r)
{
    bool good = true;
    for (size_t i = 0; i < r->files.count; i++) {
        result_file *f = &r->files.items[i];
        const char *why = NULL;
        if (f->open && !output_close(&f->out, &why)) good = cannot_write(f, why);
        f->open = false;
    }
    return good;
}

void results_drop(results *r)
{
    for (size_t i = 0; i < r->files.count; i++) {
        if (r->files.items[i].open) output_abandon(&r->files.items[i].out);
        r->files.items[i].open = false;
    }
}
