/* How long each buffer is: said, the source's own, another buffer's, or the only known one.
 * SPDX-License-Identifier: MIT */
#include "plan.h"

static bool set_shape(buffer *b, const shape *s, const char *from)
{
    b->shape = *s;
    b->shape_from = from;
    b->count = shape_count(s);
    if (b->content && b->content->spec->source == SOURCE_FILE) {
        b->width = b->content->file.width;
        b->height = b->content->file.height;
        b->channels = b->content->file.channels;
    }
    if (b->count == UINT64_MAX ||
        __builtin_mul_overflow(b->count, (uint64_t)b->layout->size, &b->bytes) ||
        b->bytes > UINT64_MAX / 4) {
        message_at_span(fail(CODE_ARGS_LENGTH,
                             "%s would have %s elements of %zu bytes: more than there can be",
                             b->name, shape_text(s), b->layout->size),
                        b->at);
        return false;
    }
    return true;
}

/* What the description or its source says by itself. */
static bool own_shape(buffer *b)
{
    shape source = b->content ? content_shape(b->content) : (shape){ 0 };
    if (b->spec.shape_kind == SHAPE_GIVEN) return set_shape(b, &b->spec.shape, NULL);
    if (source.rank && b->spec.shape_kind == SHAPE_NONE) return set_shape(b, &source, NULL);
    return true;
}

/* x=in.shape and x=in.len; true when something was found out. */
static bool from_reference(const plan *p, const step *s, buffer *b, bool *good)
{
    if (b->spec.shape_kind != SHAPE_OF && b->spec.shape_kind != SHAPE_LENGTH_OF) return false;
    buffer *other = plan_buffer(p, s, b->spec.shape_of);
    if (!other) {
        *good = false;
        message *m =
            message_at_span(fail(CODE_ARGS_REFERENCE, "there is no buffer '%s'", b->spec.shape_of),
                            b->spec.shape_span);
        const char **names = mem_array(p->buffers.count + 1, sizeof *names);
        for (size_t i = 0; i < p->buffers.count; i++) names[i] = p->buffers.items[i]->name;
        const char *near = nearest_name(b->spec.shape_of, names, p->buffers.count);
        if (near)
            message_hint(m, "%s=%s.%s", b->name, near,
                         b->spec.shape_kind == SHAPE_OF ? "shape" : "len");
        b->shape.rank = 1; /* said once */
        return true;
    }
    if (!other->shape.rank || other == b) return false;
    bool whole = b->spec.shape_kind == SHAPE_OF;
    shape flat = shape_flat(other->count);
    *good &= set_shape(b, whole ? &other->shape : &flat,
                       mem_format("%s.%s", other->name, whole ? "shape" : "len"));
    return true;
}

/* The buffers whose length is known and counts for others. */
static bool counts(const argument *arg)
{
    return arg->kind == ARG_BUFFER && arg->buffer->shape.rank &&
           arg->buffer->direction != DIR_SCRATCH;
}

static void unknown_length(const step *s, const buffer *b, bool differ)
{
    const char *source =
        b->at.word ? mem_copy(b->at.word->text + b->at.start, b->at.end - b->at.start) : "1M";
    message *m;
    if (differ) {
        text known = { 0 };
        for (uint32_t i = 0; i < s->kernel->param_count; i++)
            if (counts(&s->arguments[i]))
                text_format(&known, "%s%s %s", known.length ? ", " : "", s->arguments[i].name,
                            shape_text(&s->arguments[i].buffer->shape));
        m = fail(CODE_ARGS_LENGTH, "how long is %s? The known lengths differ: %s", b->name,
                 text_of(&known));
    } else if (b->spec.shape_kind != SHAPE_NONE) {
        m = fail(CODE_ARGS_LENGTH, "how long is %s? %s depends on itself", b->name,
                 b->spec.shape_of);
    } else {
        const char *word_text = mem_copy(source, strcspn(source, ":,"));
        m = fail(CODE_ARGS_LENGTH,
                 "how long is %s? %s has no length, and no other buffer of '%s' has one", b->name,
                 b->at.word ? word_text : "it", s->kernel->name);
    }
    if (b->at.word) message_at_span(m, b->at);
    const char *slash =
        b->spec.type ? strchr(source, '/') : NULL; /* the length stands behind TYPE/ */
    const char *type = slash ? mem_copy(source, (size_t)(slash - source) + 1) : "";
    bool more = b->spec.shape_kind == SHAPE_NONE && b->at.word;
    message_hint(m, "%s=%s1M%s%s", b->name, type, more ? ":" : "",
                 more ? (slash ? slash + 1 : source) : "");
}

/* The one shape or length that all known buffers agree on. */
static bool agreed(const step *s, shape *out, const char **from, bool *differ)
{
    const buffer *first = NULL;
    bool same_shape = true;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        if (!counts(&s->arguments[i])) continue;
        const buffer *b = s->arguments[i].buffer;
        if (!first) first = b;
        else if (b->count != first->count) *differ = true;
        else if (!shape_same(&b->shape, &first->shape)) same_shape = false;
    }
    if (!first || *differ) return false;
    *out = same_shape ? first->shape : shape_flat(first->count);
    *from = mem_format("from %s", first->name);
    return true;
}

bool resolve_lengths(plan *p, step *s)
{
    bool good = true, progress = true;
    uint32_t count = s->kernel->param_count;
    for (uint32_t i = 0; i < count; i++) {
        argument *arg = &s->arguments[i];
        if (arg->kind == ARG_BUFFER && !arg->reused) good &= own_shape(arg->buffer);
    }
    while (progress && good) {
        progress = false;
        for (uint32_t i = 0; i < count; i++) {
            argument *arg = &s->arguments[i];
            if (arg->kind == ARG_BUFFER && !arg->reused && !arg->buffer->shape.rank)
                progress |= from_reference(p, s, arg->buffer, &good);
        }
        if (progress || !good) continue;
        shape common_shape;
        const char *from = NULL;
        bool differ = false, known = agreed(s, &common_shape, &from, &differ);
        for (uint32_t i = 0; i < count; i++) {
            argument *arg = &s->arguments[i];
            if (arg->kind != ARG_BUFFER || arg->reused || arg->buffer->shape.rank) continue;
            if (known && arg->buffer->spec.shape_kind == SHAPE_NONE) {
                good &= set_shape(arg->buffer, &common_shape, from);
                progress = true;
            }
        }
        if (progress) continue;
        for (uint32_t i = 0; i < count; i++) {
            argument *arg = &s->arguments[i];
            if (arg->kind != ARG_BUFFER || arg->reused || arg->buffer->shape.rank) continue;
            unknown_length(s, arg->buffer, differ);
            good = false;
        }
    }
    for (uint32_t i = 0; good && i < count; i++) {
        argument *arg = &s->arguments[i];
        if (arg->kind != ARG_BUFFER || arg->reused || !arg->buffer->content) continue;
        content *c = arg->buffer->content;
        if (!content_resize(c, arg->buffer->count)) good = false;
        for (size_t k = 0; k < c->overlays.count; k++)
            good &= content_resize(c->overlays.items[k], arg->buffer->count);
    }
    return good;
}
