/* The report of a failed comparison: elements, the worst one, what the bad indices have in common, and
 * the tolerance that would have passed.  SPDX-License-Identifier: MIT */
#include <math.h>

#include "expect.h"
#include "values.h"

static const char *element_text(const mismatch *m)
{
    text out = { 0 };
    text_format(&out, "%llu", (unsigned long long)m->index);
    if (*m->leaf->path) text_format(&out, ".%s", m->leaf->path);
    if (m->leaf->count > 1) text_format(&out, "[%u]", m->lane);
    return text_of(&out);
}

static const char *number_text(gpul_type type, const unsigned char *bytes, int digits)
{
    text out = { 0 };
    value_print(&out, type, bytes, digits);
    return text_of(&out);
}

/* Two different values must not look the same. */
static int digits_for(const mismatch *m)
{
    int digits = 7;
    while (
        digits < 17 && memcmp(m->got, m->expected, type_size(m->type)) != 0 &&
        same_text(number_text(m->type, m->got, digits), number_text(m->type, m->expected, digits)))
        digits++;
    return digits;
}

static void add_row(text *out, const expectation *e, const mismatch *m)
{
    int digits = digits_for(m);
    const char *got = m->unset ? "(unset)" : number_text(m->type, m->got, digits);
    const char *error = isnan(m->error) || m->unset ? "-" : mem_format("%.3g", m->error);
    text_format(out, "%11s%11s%14s%11s%11s", element_text(m), got,
                number_text(m->type, m->expected, digits), error, mem_format("%.3g", m->allowed));
    const shape *s = &e->buffer->shape;
    if (s->rank > 1) {
        uint64_t rest = m->index;
        text_add(out, "   at ");
        for (unsigned i = 0; i < s->rank; i++) {
            text_format(out, "%s%llu", i ? "," : "", (unsigned long long)(rest % s->dim[i]));
            rest /= s->dim[i];
        }
    }
    text_char(out, '\n');
}

static const char *table(const expectation *e)
{
    const comparison *c = e->result;
    text out = { 0 };
    text_format(&out, "%11s%11s%14s%11s%11s\n", "index", "got", "expected", "|error|", "allowed");
    bool worst_shown = c->worst.error < 0;
    for (size_t i = 0; i < c->first.count; i++) {
        add_row(&out, e, &c->first.items[i]);
        worst_shown |=
            c->first.items[i].index == c->worst.index && c->first.items[i].lane == c->worst.lane;
    }
    uint64_t rest = c->bad > c->first.count ? c->bad - c->first.count : 0;
    if (rest) {
        text_format(&out, "        ...   %llu more", (unsigned long long)rest);
        if (!worst_shown)
            text_format(&out, "; the worst is %s, error %.3g", element_text(&c->worst),
                        c->worst.error);
        text_add(&out, "   (--mismatches all lists them)\n");
    }
    out.data[out.length - 1] = 0;
    return text_of(&out);
}

/* ---- What the bad indices have in common ---- */

static uint64_t threads_of(const step *s)
{
    uint64_t n = 1;
    for (int i = 0; i < 3; i++) n *= s->grid[i] * s->block[i];
    return n;
}

/* Runs that start a constant step apart and have the same length. */
static bool regular(const comparison *c, uint64_t *stride)
{
    if (c->gaps < 3 || c->runs.count < 3) return false;
    *stride = c->runs.items[1].start - c->runs.items[0].start;
    for (size_t i = 1; i + 1 < c->runs.count; i++)
        if (c->runs.items[i + 1].start - c->runs.items[i].start != *stride ||
            c->runs.items[i].length != c->runs.items[0].length)
            return false;
    return true;
}

static const char *pattern(const step *s, const expectation *e)
{
    const comparison *c = e->result;
    const buffer *b = e->buffer;
    uint64_t stride, width = b->shape.dim[0], threads = threads_of(s);
    uint64_t block = s->block[0] * s->block[1] * s->block[2];
    if (c->nans == c->bad && c->bad > 1) return "all of them are NaN, or should be";
    if (c->bad == c->total) return c->total > 1 ? "no element is right" : NULL;
    if (c->gaps == 1 && c->last_bad + 1 == b->count && c->bad > 1) {
        if (threads == c->first_bad)
            return mem_format("they are the tail: the launch has %llu threads for %llu elements",
                              (unsigned long long)threads, (unsigned long long)b->count);
        return mem_format("they are the tail: all from %llu on", (unsigned long long)c->first_bad);
    }
    if (c->gaps == 1 && c->first_bad == 0 && c->bad > 1)
        return mem_format("they are the head: all up to %llu", (unsigned long long)c->last_bad);
    if (c->gaps == 1 && block > 1 && c->bad == block && c->first_bad % block == 0)
        return mem_format("they are one block: number %llu",
                          (unsigned long long)(c->first_bad / block));
    if (c->gaps == 1 && c->bad > 1)
        return mem_format("they are one run: %llu to %llu", (unsigned long long)c->first_bad,
                          (unsigned long long)c->last_bad);
    if (!regular(c, &stride)) return NULL;
    const bad_run *second = &c->runs.items[1];
    if (b->shape.rank > 1 && stride == width && (second->start + second->length) % width == 0)
        return mem_format("they are the end of every row (%llu of %llu)",
                          (unsigned long long)second->length, (unsigned long long)width);
    if (b->shape.rank > 1 && stride == width && second->start % width == 0)
        return mem_format("they are the start of every row (%llu of %llu)",
                          (unsigned long long)second->length, (unsigned long long)width);
    if (block > 1 && stride == block)
        return mem_format("they are at the same place of every block of %llu: thread %llu",
                          (unsigned long long)block,
                          (unsigned long long)(c->runs.items[0].start % block));
    return mem_format("they are %llu apart", (unsigned long long)stride);
}

void report_mismatch(const step *s, const expectation *e)
{
    const comparison *c = e->result;
    const buffer *b = e->buffer;
    const tolerance *t = &e->tolerance;
    message *m;
    if (t->has_rmse && !c->unset)
        m = fail(CODE_CHECK_DIFFERS,
                 "%s differs from %s: root mean square error %.4g, %.4g allowed", b->name,
                 e->against, c->rmse, t->rmse);
    else if (c->unset == c->bad)
        m = fail(CODE_CHECK_UNWRITTEN, "%llu of %llu elements of %s were never written",
                 (unsigned long long)c->bad, (unsigned long long)c->total, b->name);
    else
        m = fail(CODE_CHECK_DIFFERS, "%s differs from %s in %llu of %llu elements", b->name,
                 e->against, (unsigned long long)c->bad, (unsigned long long)c->total);
    message_at(m, e->at);
    if (c->first.count) message_block(m, table(e));
    if (c->unset && c->unset < c->bad)
        message_note(m, "%llu of them were never written", (unsigned long long)c->unset);
    if (c->unchanged && c->unchanged == c->bad)
        message_note(m, "%s still hold%s the initial value; the kernel did not touch %s",
                     c->bad == 1 ? "it" : mem_format("all %llu", (unsigned long long)c->bad),
                     c->bad == 1 ? "s" : "", c->bad == 1 ? "it" : "them");
    else if (c->unchanged > 1)
        message_note(m, "%llu of them still hold their initial value",
                     (unsigned long long)c->unchanged);
    const char *common_trait = pattern(s, e);
    if (common_trait) message_note(m, "%s", common_trait);
    if (t->fail && c->bad > t->fail)
        message_note(m, "fail=%llu tolerates fewer", (unsigned long long)t->fail);
    bool close = c->nans == 0 && c->unset == 0 && c->needed_atol > 0 && c->unchanged < c->bad &&
                 !t->exact && !t->has_rmse;
    if (close) {
        double needed = c->needed_atol * 1.0005;
        message_note(m, "atol=%.3g would pass%s", needed,
                     t->has_ulp
                         ? mem_format(", and so would ulp=%llu", (unsigned long long)c->largest_ulp)
                         : "");
    }
    bool tail = c->gaps == 1 && c->last_bad + 1 == b->count && threads_of(s) == c->first_bad;
    if (tail && s->request->grid.at.word) {
        uint64_t block = s->block[0] * s->block[1] * s->block[2];
        message_hint(m, "leave --grid %s out; the grid is then rounded up to %llu blocks",
                     mem_copy(s->request->grid.at.word->text + s->request->grid.at.start,
                              s->request->grid.at.end - s->request->grid.at.start),
                     (unsigned long long)((b->count + block - 1) / block));
    }
}
