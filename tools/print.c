/* Elements of buffers on stdout: --print.  SPDX-License-Identifier: MIT */
#include "show.h"
#include "values.h"

enum { USUAL = 64, A_ROW = 8 };

static void add_leaf(text *line, const leaf *f, const unsigned char *bytes, bool pure)
{
    size_t size = type_size(f->type);
    if (!size) text_format(line, "0x%llx", (unsigned long long)value_to_int(GPUL_U64, bytes));
    for (uint32_t lane = 0; size && lane < f->count; lane++) {
        if (lane) text_char(line, ' ');
        if (pure && is_poison(bytes + lane * size, size)) text_add(line, "(unset)");
        else value_print(line, f->type, bytes + lane * size, 0);
    }
}

/* Structs and vectors take a line each; numbers stand several in a row, rows of an image in their own.
 * `row`: how many; `pure`: what nobody wrote is shown as such. */
static void print_piece(const char *name, const layout *l, uint64_t row, bool pure,
                        const unsigned char *bytes, uint64_t first, uint64_t count, unsigned width)
{
    if (l->is_struct || l->leaves.items[0].count > 1) row = 1;
    text line = { 0 };
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index = first + i;
        if (i == 0 || index % row == 0) {
            line.length = 0;
            text_format(&line, "%s[%llu]", name, (unsigned long long)index);
            text_repeat(&line, ' ', width + strlen(name) + 4 - line.length);
        } else {
            text_char(&line, ' ');
        }
        for (size_t f = 0; f < l->leaves.count; f++) {
            const leaf *one = &l->leaves.items[f];
            if (f) text_add(&line, "   ");
            if (*one->path) text_format(&line, "%s ", one->path);
            add_leaf(&line, one, bytes + i * l->size + one->offset, pure);
        }
        if (i + 1 == count || (index + 1) % row == 0) {
            text_char(&line, '\n');
            fwrite(text_of(&line), 1, line.length, stdout);
        }
    }
}

static unsigned width_of(uint64_t count)
{
    return (unsigned)strlen(mem_format("%llu", (unsigned long long)(count ? count - 1 : 0)));
}

void print_elements(const char *name, const layout *l, const unsigned char *bytes, uint64_t count)
{
    print_piece(name, l, A_ROW, false, bytes, 0, count, width_of(count));
}

bool print_buffer(const buffer *b, uint64_t count)
{
    if (count > b->count) count = b->count;
    unsigned width = width_of(count);
    uint64_t row = b->shape.rank > 1 && b->shape.dim[0] <= 32 ? b->shape.dim[0] : A_ROW;
    uint64_t piece = ((1 << 20) / b->layout->size + 1) / 32 * 32 + 32;
    if (b->shape.rank > 1 && b->shape.dim[0] <= 32)
        piece = piece / b->shape.dim[0] * b->shape.dim[0];
    if (piece > count) piece = count;
    unsigned char *bytes = data_alloc(piece * b->layout->size);
    bool good = true;
    for (uint64_t first = 0; good && first < count; first += piece) {
        uint64_t n = count - first < piece ? count - first : piece;
        good = buffer_read(b, bytes, first, n);
        if (good)
            print_piece(b->name, b->layout, row, b->direction == DIR_OUT, bytes, first, n, width);
    }
    data_free(bytes);
    if (!good) library_message(NULL);
    return good;
}

static bool read_count(const named_span *n, uint64_t *count)
{
    *count = USUAL;
    if (!n->text) return true;
    if (same_text(n->text, "all")) {
        *count = UINT64_MAX;
        return true;
    }
    return *n->text && value_count(count, n->text, strlen(n->text)) == VALUE_FINE;
}

bool print_requests_bind(const plan *p)
{
    bool good = true;
    for (size_t i = 0; i < p->steps.count; i++) {
        const step *s = p->steps.items[i];
        for (size_t k = 0; k < s->request->prints.count; k++) {
            const named_span *n = &s->request->prints.items[k];
            uint64_t count;
            if (!read_count(n, &count)) {
                message_hint(
                    message_at_span(fail(CODE_CLI_VALUE, "\"%s\" is no count", n->text), n->at),
                    "--print %s:16 or --print %s:all", n->name, n->name);
                good = false;
            } else if (!plan_buffer(p, s, n->name) && !step_argument(s, n->name)) {
                message *m = message_at_span(
                    fail(CODE_ARGS_REFERENCE, "there is no buffer '%s'", n->name), n->name_at);
                const char **names = mem_array(p->buffers.count + 1, sizeof *names);
                for (size_t j = 0; j < p->buffers.count; j++) names[j] = p->buffers.items[j]->name;
                const char *near = nearest_name(n->name, names, p->buffers.count);
                if (near) message_hint(m, "--print %s", near);
                good = false;
            }
        }
    }
    return good;
}

bool print_requested(const plan *p, const step *s)
{
    bool good = true;
    for (size_t k = 0; good && k < s->request->prints.count; k++) {
        const named_span *n = &s->request->prints.items[k];
        const buffer *b = plan_buffer(p, s, n->name);
        uint64_t count;
        read_count(n, &count);
        if (!b) {
            const argument *arg = step_argument(s, n->name);
            printf("%s  %s\n", n->name,
                   arg->kind == ARG_NULL       ? "null"
                   : arg->shown && *arg->shown ? arg->shown
                                               : "a struct");
            continue;
        }
        good = print_buffer(b, count);
        if (good && count < b->count && summary_stream && !n->text)
            fprintf(summary_stream, "          and %llu more: --print %s:all\n",
                    (unsigned long long)(b->count - count), n->name);
    }
    return good;
}
