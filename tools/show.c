/* The summary of a run.  Not here: elements (print.c).  SPDX-License-Identifier: MIT */
#include "show.h"

#include "values.h"

enum { COLUMN_TEXT = 10, COLUMN_VALUE = 19, COLUMN_DIRECTION = 29, COLUMN_SOURCE = 42 };

void pad_to(text *line, size_t column)
{
    size_t length = utf8_length(text_of(line), line->length);
    text_repeat(line, ' ', length + 2 > column ? 2 : column - length);
}

static void say(text *line)
{
    if (!summary_stream) return;
    text_char(line, '\n');
    fwrite(text_of(line), 1, line->length, summary_stream);
}

const char *time_text(double ns)
{
    if (ns < 1e3) return mem_format("%.0f ns", ns);
    if (ns < 1e6) return mem_format("%.3g us", ns / 1e3);
    if (ns < 1e9) return mem_format("%.3g ms", ns / 1e6);
    return mem_format("%.3g s", ns / 1e9);
}

const char *bytes_text(uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    return unit ? mem_format("%.1f %s", value, units[unit])
                : mem_format("%llu bytes", (unsigned long long)bytes);
}

void show_head(const plan *p, const step *s, const gpul_image *image)
{
    const gpul_image_info *info = gpul_image_describe(image);
    const gpul_kernel_info *k = s->kernel;
    text line = { 0 };
    text_add(&line, k->name);
    pad_to(&line, COLUMN_TEXT);
    text_add(&line, p->source->path);
    if (p->request->case_name) text_format(&line, ", case %s", p->request->case_name);
    text_format(&line, "; %s", *info->arch ? info->arch : "unknown architecture");
    if (k->registers >= 0) text_format(&line, ", %d registers", k->registers);
    if (k->shared_bytes > 0) text_format(&line, ", %d bytes shared", k->shared_bytes);
    if (k->local_bytes > 0) text_format(&line, ", %d bytes local", k->local_bytes);
    if (info->from_cache) text_add(&line, ", from the cache");
    else if (info->compile_ns)
        text_format(&line, ", compiled in %.0f ms", (double)info->compile_ns / 1e6);
    say(&line);
    /* What was made of the text without being asked. */
    static const char mark[] = "taken as device code, without __device__: ";
    const char *taken = info->choice ? strstr(info->choice, mark) : NULL;
    if (!taken) return;
    taken += strlen(mark);
    text note = { 0 };
    text_format(&note, "source    %.*s: no __device__; taken as device code",
                (int)strcspn(taken, ";"), taken);
    say(&note);
}

void show_device(const session *s)
{
    text line = { 0 };
    text_format(&line, "device    %s", device_shown(s->info));
    say(&line);
}

static const char *dims_text(const uint64_t n[3])
{
    unsigned rank = n[2] > 1 ? 3 : n[1] > 1 ? 2 : 1;
    text out = { 0 };
    for (unsigned i = 0; i < rank; i++)
        text_format(&out, "%s%llu", i ? "x" : "", (unsigned long long)n[i]);
    return text_of(&out);
}

void show_launch(const step *s)
{
    text line = { 0 };
    bool one = s->grid[0] * s->grid[1] * s->grid[2] == 1;
    text_format(&line, "launch    %s block%s of %s threads", dims_text(s->grid), one ? "" : "s",
                dims_text(s->block));
    if (s->request->shared)
        text_format(&line, ", %llu bytes shared", (unsigned long long)s->request->shared);
    if (s->request->repeat > 1)
        text_format(&line, ", %llu times", (unsigned long long)s->request->repeat);
    if (s->grid_from) {
        pad_to(&line, COLUMN_SOURCE);
        text_add(&line, s->grid_from);
    }
    say(&line);
}

static const char *direction_text(const buffer *b)
{
    static const char *const words[] = { "", "", "out", "in-out", "scratch" };
    return words[b->direction];
}

/* As the description says it, with the range that rand has by itself. */
static const char *source_text(const buffer *b, uint64_t seed)
{
    const char *said = spec_source_text(&b->spec, seed);
    if (b->spec.source != SOURCE_RAND || b->spec.first.word || b->layout->is_struct) return said;
    gpul_type type = b->layout->leaves.items[0].type;
    return mem_format("rand %s%s",
                      type_is_float(type) ? "-1..1"
                      : type == GPUL_BOOL ? "0..1"
                                          : "0..127",
                      said + strlen("rand"));
}

static const char *value_type(const argument *arg)
{
    return arg->layout && arg->kind == ARG_VALUE ? param_type_text(arg->param) : "";
}

void show_arguments(const plan *p, const step *s)
{
    size_t value_column = COLUMN_VALUE, type_column = COLUMN_TEXT;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        size_t name = 2 + strlen(arg->name) + 2;
        if (name > type_column) type_column = name;
    }
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        const char *type = arg->kind == ARG_BUFFER  ? arg->buffer->layout->type_name
                           : arg->kind == ARG_VALUE ? value_type(arg)
                                                    : "";
        if (type_column + strlen(type) + 2 > value_column)
            value_column = type_column + strlen(type) + 2;
    }
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        text line = { 0 };
        text_format(&line, "  %s", arg->name);
        pad_to(&line, type_column);
        if (arg->kind == ARG_NULL) {
            text_add(&line, param_type_text(arg->param));
            pad_to(&line, value_column);
            text_add(&line, "null");
        } else if (arg->kind == ARG_BUFFER) {
            const buffer *b = arg->buffer;
            text_add(&line, b->layout->type_name);
            pad_to(&line, value_column);
            text_add(&line, shape_text(&b->shape));
            if (*direction_text(b) && !arg->reused) {
                pad_to(&line, COLUMN_DIRECTION + value_column - COLUMN_VALUE);
                text_add(&line, direction_text(b));
            }
            const char *source = arg->reused ? mem_format("%s of step %zu", b->name, b->step + 1)
                                             : source_text(b, p->seed);
            if (*source || b->shape_from)
                pad_to(&line, COLUMN_SOURCE + value_column - COLUMN_VALUE);
            text_add(&line, source);
            if (!arg->reused && b->shape_from)
                text_format(&line, "%s%s", *source ? ", " : "", b->shape_from);
            if (!arg->reused && b->content && b->content->file.remark)
                text_format(&line, ", %s", b->content->file.remark);
        } else {
            text_add(&line, value_type(arg));
            pad_to(&line, value_column);
            text_add(&line, arg->shown && *arg->shown
                                ? arg->shown
                                : mem_format("%u bytes", arg->param->value.size));
            if (arg->source) {
                pad_to(&line, COLUMN_SOURCE + value_column - COLUMN_VALUE);
                text_add(&line, arg->source);
            }
        }
        say(&line);
    }
}

void show_time(const step *s, double nanoseconds, bool software)
{
    text line = { 0 };
    text_format(&line, "time      %s", time_text(nanoseconds));
    pad_to(&line, COLUMN_SOURCE);
    if (s->request->repeat > 1)
        text_format(&line, "%llu launches; %s each", (unsigned long long)s->request->repeat,
                    time_text(nanoseconds / (double)s->request->repeat));
    else
        text_add(&line,
                 software ? "one launch, in software" : "one launch; use 'bench' to measure");
    say(&line);
}

void show_checks(const step *s)
{
    for (size_t i = 0; i < s->expectations.count; i++) {
        const expectation *e = s->expectations.items[i];
        const comparison *c = e->result;
        gpul_type type = e->buffer->layout->leaves.items[0].type;
        text line = { 0 };
        if (!c) continue;
        text_format(&line, "check     %s = %s   %s", e->buffer->name, e->against,
                    c->passed ? "passed" : "FAILED");
        pad_to(&line, COLUMN_SOURCE);
        if (e->tolerance.has_rmse) text_format(&line, "root mean square error %.3g; ", c->rmse);
        else if (c->largest_error > 0) text_format(&line, "largest error %.2g; ", c->largest_error);
        text_add(&line, tolerance_text(&e->tolerance, type));
        say(&line);
    }
}

/* ---- Previews ---- */

bool is_poison(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != POISON_FIRST) return false;
    return size >= 4;
}

bool stats_of(const buffer *b, buffer_stats *out)
{
    gpul_type type;
    uint32_t lanes;
    *out = (buffer_stats){ 0 };
    if (!layout_plain_type(b->layout, &type, &lanes) || !type_size(type)) return true;
    size_t size = type_size(type);
    uint64_t piece = (4 << 20) / b->layout->size + 1, finite = 0;
    if (piece > b->count) piece = b->count;
    unsigned char *bytes = data_alloc(piece * b->layout->size);
    double sum = 0;
    for (uint64_t first = 0; first < b->count; first += piece) {
        uint64_t count = b->count - first < piece ? b->count - first : piece;
        if (!buffer_read(b, bytes, first, count)) {
            data_free(bytes);
            library_message(NULL);
            return false;
        }
        for (uint64_t i = 0; i < count * lanes; i++) {
            double value = value_to_double(type, bytes + i * size);
            if (b->direction == DIR_OUT && is_poison(bytes + i * size, size)) out->unset++;
            else if (value != value) out->nans++;
            else if (value - value != 0) out->infinities++;
            else {
                if (!finite || value < out->low) out->low = value;
                if (!finite || value > out->high) out->high = value;
                sum += value;
                finite++;
            }
        }
    }
    data_free(bytes);
    out->known = true;
    out->mean = finite ? sum / (double)finite : 0;
    return true;
}

static void preview_element(text *line, const buffer *b, uint64_t index, bool poison)
{
    unsigned char one[1024];
    const layout *l = b->layout;
    if (l->size > sizeof one || !buffer_read(b, one, index, 1)) return;
    bool many = l->leaves.count > 1 || l->leaves.items[0].count > 1;
    if (many) text_char(line, '(');
    for (size_t f = 0, shown = 0; f < l->leaves.count; f++) {
        const leaf *part = &l->leaves.items[f];
        size_t size = type_size(part->type);
        for (uint32_t lane = 0; size && lane < part->count && shown < 8; lane++, shown++) {
            const unsigned char *at = one + part->offset + lane * size;
            if (shown) text_char(line, ' ');
            if (poison && is_poison(at, size)) text_add(line, "(unset)");
            else value_print(line, part->type, at, type_is_float(part->type) ? 5 : 0);
        }
    }
    if (many) text_char(line, ')');
}

static void show_preview(const buffer *b)
{
    text line = { 0 };
    text_format(&line, "  %s  =", b->name);
    pad_to(&line, COLUMN_TEXT);
    bool many = b->layout->leaves.count > 1 || b->layout->leaves.items[0].count > 1;
    uint64_t head = many ? 2 : 6;
    for (uint64_t i = 0; i < b->count && i < head; i++) {
        if (i) text_char(&line, ' ');
        preview_element(&line, b, i, b->direction == DIR_OUT);
    }
    if (b->count > head) {
        text_add(&line, b->count > head + 1 ? " ... " : " ");
        preview_element(&line, b, b->count - 1, b->direction == DIR_OUT);
    }
    buffer_stats stats;
    if (b->bytes <= (uint64_t)1 << 30 && stats_of(b, &stats) && stats.known && b->count > 1) {
        text_format(&line, "    min %.5g max %.5g mean %.5g", stats.low, stats.high, stats.mean);
        if (stats.unset) text_format(&line, " unset %llu", (unsigned long long)stats.unset);
        if (stats.nans) text_format(&line, " nan %llu", (unsigned long long)stats.nans);
        if (stats.infinities) text_format(&line, " inf %llu", (unsigned long long)stats.infinities);
    }
    say(&line);
}

void show_previews(const step *s)
{
    if (!summary_stream) return;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        const step_request *r = s->request;
        bool swapped =
            r->swap_a && (same_text(arg->name, r->swap_a) || same_text(arg->name, r->swap_b));
        if (arg->kind != ARG_BUFFER || arg->buffer->direction == DIR_SCRATCH) continue;
        if (!swapped && (arg->buffer->direction == DIR_IN || (arg->reused && arg->param->is_const)))
            continue;
        show_preview(arg->buffer);
    }
}
