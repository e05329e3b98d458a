/* Writing and verifying fences; notes about faults.  SPDX-License-Identifier: MIT */
#include "fences.h"

#include "values.h"

/* As a float 1.72, as a double 0.45: of a size that y += small changes, which it would not do to 1e37. */
static const uint32_t fence_word = 0x3fdca975;

bool fence_write(device_buffer *d, uint64_t bytes)
{
    size_t whole = gpul_buffer_size(d->whole);
    /* the fence behind begins where the buffer ends, at any byte: the bytes of the word repeat from there */
    unsigned char *tail = data_alloc(whole - d->before - bytes);
    for (size_t i = 0; i < whole - d->before - bytes; i++)
        memcpy(tail + i, (const char *)&fence_word + i % 4, 1);
    bool good =
        gpul_fill(d->whole, 0, d->before, &fence_word, 4, NULL) == GPUL_OK &&
        gpul_write(d->whole, d->before + bytes, tail, whole - d->before - bytes, NULL) == GPUL_OK;
    data_free(tail);
    return good;
}

/* First and last changed byte of a fence. */
static bool changed(const unsigned char *bytes, size_t count, size_t *first, size_t *last)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == ((const unsigned char *)&fence_word)[i % 4]) continue;
        if (!any) *first = i;
        *last = i;
        any = true;
    }
    return any;
}

static void broken(const plan *p, const step *s, const buffer *b, bool behind, size_t first,
                   size_t last)
{
    device_buffer *d = b->device;
    size_t size = b->layout->size;
    const char *kernel = s->kernel->name, *element_name = b->layout->type_name;
    message *m;
    if (behind) { /* whole elements: one byte of a store may be what was there before */
        first = first / size * size;
        last = last / size * size + size - 1;
        m = fail(CODE_EXECUTE_FENCE, "'%s' wrote outside its buffers: %zu bytes past the end of %s",
                 kernel, last + 1, b->name);
        message_note(
            m, "%s is %llu %ss (%llu bytes); changed: bytes %llu-%llu, as %s %s[%llu] to %s[%llu]",
            b->name, (unsigned long long)b->count, element_name, (unsigned long long)b->bytes,
            (unsigned long long)(b->bytes + first), (unsigned long long)(b->bytes + last),
            element_name, b->name, (unsigned long long)((b->bytes + first) / size), b->name,
            (unsigned long long)((b->bytes + last) / size));
    } else {
        first = d->before - (d->before - first + size - 1) / size * size;
        size_t distance = d->before - first;
        m = fail(CODE_EXECUTE_FENCE,
                 "'%s' wrote outside its buffers: %zu bytes before the start of %s", kernel,
                 distance, b->name);
        message_note(m, "changed: bytes -%zu to -%zu, as %s %s[-%zu] to %s[-%zu]", distance,
                     d->before - last, element_name, b->name, (distance + size - 1) / size, b->name,
                     (d->before - last + size - 1) / size);
    }
    message_note(
        m,
        "caught by the guard area that run and check put around every buffer; results were not saved");
    message_note_at(m, place_of_kernel(p, s->kernel), "the kernel");
    message_hint(m, "the usual cause is a missing bounds test: if (i < n)");
    message_hint(
        m, "-d cpu  runs the kernel on the CPU device, which names the exact line and thread");
}

bool fences_verify(const plan *p, const step *s)
{
    bool good = true;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const buffer *b = p->buffers.items[i];
        device_buffer *d = b->device;
        size_t whole = gpul_buffer_size(d->whole), after = whole - d->before - b->bytes;
        unsigned char *bytes = data_alloc(d->before > after ? d->before : after);
        size_t first, last;
        if (gpul_read(bytes, d->whole, 0, d->before, NULL)) {
            library_message(p);
            good = false;
        } else if (changed(bytes, d->before, &first, &last)) {
            broken(p, s, b, false, first, last);
            good = false;
        }
        if (good && gpul_read(bytes, d->whole, d->before + b->bytes, after, NULL)) {
            library_message(p);
            good = false;
        } else if (good && changed(bytes, after, &first, &last)) {
            broken(p, s, b, true, first, last);
            good = false;
        }
        data_free(bytes);
        if (!good) return false;
    }
    return good;
}

/* More threads than elements, and no test in the kernel. */
static void hint_at_bounds(message *m, const step *s)
{
    uint64_t threads = 1, most = 0;
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(threads, s->grid[i] * s->block[i], &threads)) return;
    const char *name = NULL;
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        if (arg->kind != ARG_BUFFER || arg->buffer->count <= most) continue;
        most = arg->buffer->count;
        name = arg->name;
    }
    if (!name || threads <= most) return;
    message_hint(
        m,
        "the launch has %llu threads, and %s holds %llu element%s: is a bounds test missing, "
        "if (i < n)?",
        (unsigned long long)threads, name, (unsigned long long)most, most == 1 ? "" : "s");
    if (most <= 1024) message_hint(m, "--grid 1 --block %llu", (unsigned long long)most);
}

/* What the arguments have to do with a bad address. */
static void hint_at_address(message *m, const step *s)
{
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *n = &s->arguments[i];
        gpul_type type;
        uint32_t lanes;
        if (n->kind != ARG_VALUE || !layout_plain_type(n->layout, &type, &lanes) || lanes != 1 ||
            !type_is_integer(type))
            continue;
        uint64_t value = (uint64_t)value_to_int(type, n->bytes);
        for (uint32_t k = 0; k < s->kernel->param_count; k++) {
            const argument *b = &s->arguments[k];
            if (b->kind != ARG_BUFFER || b->buffer->count < 2 || value <= b->buffer->count ||
                value / 4096 > b->buffer->count)
                continue;
            message_hint(m, "%s is %s but %s holds %llu elements; write %s=%s.len", n->name,
                         n->shown, b->name, (unsigned long long)b->buffer->count, n->name, b->name);
            return;
        }
    }
    hint_at_bounds(m, s);
}

void fault_notes(message *m, const step *s)
{
    text words = { 0 };
    for (uint32_t i = 0; i < s->kernel->param_count; i++) {
        const argument *arg = &s->arguments[i];
        text_format(&words, " %s=", arg->name);
        if (arg->kind == ARG_BUFFER)
            text_format(&words, "%llu %ss", (unsigned long long)arg->buffer->count,
                        arg->buffer->layout->type_name);
        else if (arg->kind == ARG_NULL) text_add(&words, "null");
        else text_add(&words, arg->shown && *arg->shown ? arg->shown : "...");
    }
    if (words.length) message_note(m, "the arguments:%s", text_of(&words));
    for (uint32_t i = 0; i < s->kernel->param_count && m->code == CODE_EXECUTE_ADDRESS; i++)
        if (s->arguments[i].kind == ARG_NULL)
            message_note(m, "%s is a null pointer", s->arguments[i].name);
    if (m->code == CODE_EXECUTE_ADDRESS) hint_at_address(m, s);
    /* A GPU names no place. */
    if (m->at.kind == PLACE_NONE && m->code != CODE_EXECUTE_TIMEOUT)
        message_hint(
            m, "-d cpu  runs the kernel on the CPU device, which names line, thread and address");
}
