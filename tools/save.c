/* --save-directive and --save-case.  SPDX-License-Identifier: MIT */
#include "save.h"

#include <errno.h>
#include <sys/stat.h>

#include "npy.h"
#include "show.h"
#include "values.h"

/* ---- Directives ---- */

/* A word as words_split reads it back. */
static const char *directive_word(const char *source)
{
    if (!strpbrk(source, " \t'\"") && *source && *source != '#') return source;
    return strchr(source, '"') ? mem_format("'%s'", source) : mem_format("\"%s\"", source);
}

static const char *free_name(const directives *d)
{
    for (int i = 1;; i++) {
        const char *name = i == 1 ? "saved" : mem_format("saved%d", i);
        bool taken = false;
        for (size_t k = 0; k < d->cases.count && !d->implicit; k++)
            taken |= same_text(d->cases.items[k].name, name);
        if (!taken) return name;
    }
}

static bool belongs_to_file(const option_use *use)
{
    return option_allowed_in_file(use) && use->id != OPT_OUT;
}

/* "case NAME words" and a "then" line for each further step. */
static const char *directive_lines(const char *name, const element_list *elements)
{
    text out = { 0 };
    text_format(&out, "// gpulaunch: case %s", name);
    for (size_t i = 0; i < elements->count; i++) {
        const element *e = &elements->items[i];
        if (e->kind == ELEMENT_THEN) text_add(&out, "\n// gpulaunch: then");
        else if (e->kind == ELEMENT_WORD) text_format(&out, " %s", directive_word(e->word->text));
        else if (belongs_to_file(&e->use)) {
            const char *joint = e->use.row->style == 's' ? "" : e->use.value.word ? " " : "";
            text_format(&out, " %s%s%s", option_shown(e->use.row), joint,
                        e->use.value.word ? directive_word(e->use.text) : "");
        }
    }
    text_char(&out, '\n');
    return text_of(&out);
}

bool save_directive(const source_file *source, const directives *d, const element_list *elements,
                    const option_use *use)
{
    output out;
    const char *why = NULL, *name = *use->text ? use->text : free_name(d),
               *lines = directive_lines(name, elements);
    if (same_text(source->path, "<stdin>")) {
        message_at(fail(CODE_FILE_WRITE, "a file from stdin cannot be added to"),
                   place_of_option(use));
        return false;
    }
    for (size_t k = 0; k < d->cases.count && !d->implicit; k++)
        if (same_text(d->cases.items[k].name, name)) {
            message_at(fail(CODE_DIRECTIVE_CASE, "case '%s' is there already", name),
                       place_of_option(use));
            return false;
        }
    bool good = output_open(&out, source->path, &why);
    if (good) {
        fwrite(source->text, 1, source->size, out.stream);
        if (source->size && source->text[source->size - 1] != '\n') fputc('\n', out.stream);
        fputs(lines, out.stream);
        good = output_close(&out, &why);
    }
    if (!good)
        message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", source->path, why),
                   place_of_option(use));
    else if (summary_stream)
        fprintf(summary_stream, "saved     case %s in %s\n", name, source->path);
    return good;
}

/* ---- A folder ---- */

typedef struct case_folder {
    const char *path;
    const option_use *use;
} case_folder;

static bool cannot_write(const case_folder *f, const char *path, const char *why)
{
    message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", path, why),
               place_of_option(f->use));
    return false;
}

static bool write_file(const case_folder *f, const char *name, const void *data, size_t size)
{
    output out;
    const char *path = mem_format("%s/%s", f->path, name), *why = NULL;
    if (!output_open(&out, path, &why)) return cannot_write(f, path, why);
    fwrite(data, 1, size, out.stream);
    return output_close(&out, &why) || cannot_write(f, path, why);
}

static bool write_input(const case_folder *f, const buffer *b, const char *name)
{
    output out;
    size_t length, size = b->layout->size;
    const char *path = mem_format("%s/%s", f->path, name), *why = NULL,
               *header = npy_header_text(b->layout, &b->shape, &length);
    if (!output_open(&out, path, &why)) return cannot_write(f, path, why);
    fwrite(header, 1, length, out.stream);
    uint64_t piece = (8 << 20) / size + 1;
    if (piece > b->count) piece = b->count;
    unsigned char *bytes = data_alloc(piece * size);
    bool good = true;
    for (uint64_t first = 0; good && first < b->count; first += piece) {
        uint64_t count = b->count - first < piece ? b->count - first : piece;
        good = content_read(b->content, bytes, first, count);
        if (good) fwrite(bytes, size, count, out.stream);
    }
    data_free(bytes);
    if (!good) output_abandon(&out);
    return good ? output_close(&out, &why) || cannot_write(f, path, why)
                : cannot_write(f, path, "an input cannot be read");
}

static const char *dims(const uint64_t n[3])
{
    return mem_format("%llu,%llu,%llu", (unsigned long long)n[0], (unsigned long long)n[1],
                      (unsigned long long)n[2]);
}

static const char *buffer_word(const case_folder *f, const buffer *b, const gpul_param *param,
                               bool *good)
{
    static const char *const directions[] = { "", "in", "out", "inout", "scratch" };
    gpul_type type;
    uint32_t lanes;
    bool open = !param->pointee || param->pointee->type == GPUL_VOID || !param->pointee->type;
    const char *prefix = "";
    if (open && layout_plain_type(b->layout, &type, &lanes))
        prefix = lanes > 1 ? mem_format("%sx%u/", type_short(type), lanes)
                           : mem_format("%s/", type_short(type));
    if (!b->content)
        return mem_format("%s=%s%s,%s", b->name, prefix, shape_text(&b->shape),
                          directions[b->direction]);
    const char *name = mem_format("%s-%zu.npy", b->name, b->step + 1);
    *good &= write_input(f, b, name);
    return mem_format("%s=%s@%s,%s", b->name, prefix, name, directions[b->direction]);
}

static void add_step(text *out, const case_folder *f, const step *s, bool *good)
{
    if (s->index) text_add(out, " \\\n    --then");
    text_format(out, " -k %s", shell_quoted(s->kernel->name));
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        text_add(out, " \\\n    ");
        if (arg->kind == ARG_NULL) text_format(out, "%s=null", arg->name);
        else if (arg->kind == ARG_BUFFER && arg->reused)
            text_format(out, "%s=%%%s", arg->name, arg->buffer->name);
        else if (arg->kind == ARG_BUFFER)
            text_add(out, buffer_word(f, arg->buffer, arg->param, good));
        else if (arg->layout->is_struct || !*arg->shown) {
            const char *name = mem_format("%s-%zu.bin", arg->name, s->index + 1);
            *good &= write_file(f, name, arg->bytes, arg->param->value.size);
            text_format(out, "%s=@%s", arg->name, name);
        } else {
            text_format(out, "%s=%s", arg->name, arg->shown);
        }
    }
    text_format(out, " \\\n    --grid %s --block %s", dims(s->grid), dims(s->block));
    if (s->request->shared)
        text_format(out, " --shared %llu", (unsigned long long)s->request->shared);
    if (s->request->repeat > 1)
        text_format(out, " --repeat %llu", (unsigned long long)s->request->repeat);
    if (s->request->swap_a)
        text_format(out, " --swap %s,%s", s->request->swap_a, s->request->swap_b);
    const named_list *lists[] = { &s->request->expects, &s->request->expect_kernels };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            text_format(out, " \\\n    %s %s", k ? "--expect-kernel" : "--expect",
                        shell_quoted(
                            mem_format("%s=%s", lists[k]->items[i].name, lists[k]->items[i].text)));
}

bool save_case(const job *j, const session *s, const option_use *use)
{
    case_folder f = { .path = use->text, .use = use };
    bool good = true;
    if (mkdir(f.path, 0777) && errno != EEXIST) return cannot_write(&f, f.path, strerror(errno));
    const char *slash = strrchr(j->source->path, '/'), *base = slash ? slash + 1 : j->source->path;
    if (same_text(base, "<stdin>")) base = "kernel.cu";
    good &= write_file(&f, base, j->source->text, j->source->size);
    text command = { 0 };
    text_format(&command, "#!/bin/sh\n# Run in this folder.\ngpulaunch run %s --no-directives",
                shell_quoted(base));
    for (size_t i = 0; i < j->request.compile.count; i++) {
        const option_use *c = &j->request.compile.items[i].use;
        text_format(&command, " %s%s%s", option_shown(c->row),
                    c->value.word && c->row->style != 's' ? " " : "",
                    c->value.word ? shell_quoted(c->text) : "");
    }
    for (size_t i = 0; i < j->plan.steps.count; i++)
        add_step(&command, &f, j->plan.steps.items[i], &good);
    text_add(&command, " \\\n    \"$@\"\n");
    good &= write_file(&f, "command.sh", text_of(&command), command.length);
    const gpul_image_info *image = gpul_image_describe(j->image);
    text versions = { 0 };
    text_format(
        &versions,
        "gpulaunch %s\nnvrtc %d.%d\narch %s\ndevice %s\ncc %d.%d\ndriver %s, CUDA %d.%d\ncommand %s\n",
        gpul_version(), image->nvrtc_major, image->nvrtc_minor, image->arch, s->info->name,
        s->info->compute_major, s->info->compute_minor,
        *s->info->driver_release ? s->info->driver_release : "none", s->info->driver_version / 1000,
        s->info->driver_version % 1000 / 10, command_line_text());
    good &= write_file(&f, "versions.txt", text_of(&versions), versions.length);
    if (good && summary_stream)
        fprintf(summary_stream, "saved     %s: sh command.sh in it runs this again\n", f.path);
    return good;
}
