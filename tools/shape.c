/* Shapes and element layouts.  SPDX-License-Identifier: MIT */
#include "shape.h"

#include <ctype.h>

#include "values.h"

shape shape_flat(uint64_t count)
{
    return (shape){ .rank = 1, .dim = { count } };
}

uint64_t shape_count(const shape *s)
{
    uint64_t count = s->rank ? 1 : 0;
    for (unsigned i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(count, s->dim[i], &count)) return UINT64_MAX;
    return count;
}

bool shape_same(const shape *a, const shape *b)
{
    if (a->rank != b->rank) return false;
    return memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0;
}

const char *shape_text(const shape *s)
{
    text out = { 0 };
    for (unsigned i = 0; i < s->rank; i++)
        text_format(&out, "%s%llu", i ? "x" : "", (unsigned long long)s->dim[i]);
    return text_of(&out);
}

bool shape_parse(shape *out, const char *source, size_t length, const char **fault)
{
    *out = (shape){ 0 };
    *fault = NULL;
    if (!length || !isdigit((unsigned char)source[0])) return false;
    size_t at = 0;
    while (at <= length) {
        const char *x = memchr(source + at, 'x', length - at);
        /* the x of a hexadecimal number is no separator */
        if (x && x == source + at + 1 && source[at] == '0') x = memchr(x + 1, 'x', length - at - 2);
        size_t end = x ? (size_t)(x - source) : length;
        uint64_t value;
        value_fault wrong = value_count(&value, source + at, end - at);
        if (wrong == VALUE_NO_NUMBER) return false;
        if (wrong) {
            *fault = wrong == VALUE_RANGE   ? "too large"
                     : wrong == VALUE_OCTAL ? "a number with a leading 0 could be read in two ways"
                                            : "not a whole number";
            return false;
        }
        if (out->rank == 3) {
            *fault = "more than three dimensions";
            return false;
        }
        if (!value) {
            *fault = "a dimension of 0";
            return false;
        }
        out->dim[out->rank++] = value;
        if (!x) break;
        at = end + 1;
    }
    if (shape_count(out) > UINT64_MAX / 4096) {
        *fault = "too large";
        return false;
    }
    return true;
}

bool triple_parse(uint64_t out[3], unsigned *given, const char *source)
{
    *given = 0;
    for (;;) {
        size_t length = strcspn(source, ",");
        if (*given == 3 || memchr(source, 'e', length) || memchr(source, 'E', length) ||
            value_count(&out[*given], source, length) != VALUE_FINE)
            return false;
        ++*given;
        if (!source[length]) return true;
        source += length + 1;
    }
}

static void add_leaves(layout *l, const gpul_member *m, const char *path, size_t offset)
{
    uint32_t count = m->count ? m->count : 1;
    if (m->type == GPUL_STRUCT && m->member_count && m->lanes <= 1) {
        size_t stride = m->size / count;
        for (uint32_t i = 0; i < count; i++) {
            const char *base = count > 1 ? mem_format("%s[%u]", path, i) : path;
            for (uint32_t k = 0; k < m->member_count; k++) {
                const gpul_member *inner = &m->members[k];
                add_leaves(l, inner, mem_format("%s%s%s", base, *base ? "." : "", inner->name),
                           offset + i * stride + inner->offset);
            }
        }
        return;
    }
    leaf *made = list_add(&l->leaves);
    gpul_type type = m->lanes > 1 || m->type == GPUL_STRUCT ? m->element : m->type;
    *made = (leaf){ .path = path, .type = type, .offset = offset, .type_name = m->type_name };
    size_t one = type_size(type);
    if (!one) {
        made->type = type == GPUL_POINTER ? GPUL_POINTER : GPUL_OTHER;
        made->count = count;
    } else {
        made->count = (uint32_t)(m->size / one);
    }
}

layout *layout_of(const gpul_member *m)
{
    layout *l = mem_alloc(sizeof *l);
    l->type_name = m->type_name && *m->type_name ? m->type_name : type_name(m->type);
    while (starts_with(l->type_name, "const ") || starts_with(l->type_name, "volatile "))
        l->type_name = strchr(l->type_name, ' ') + 1;
    l->size = m->size;
    l->align = m->align ? m->align : 1;
    l->is_struct = m->type == GPUL_STRUCT && m->member_count && m->lanes <= 1;
    add_leaves(l, m, "", 0);
    return l;
}

layout *layout_plain(gpul_type type, unsigned lanes)
{
    layout *l = mem_alloc(sizeof *l);
    l->type_name = lanes > 1 ? mem_format("%sx%u", type_short(type), lanes) : type_name(type);
    l->size = type_size(type) * lanes;
    l->align = lanes == 3 ? type_size(type) : l->size;
    *list_add(&l->leaves) =
        (leaf){ .path = "", .type = type, .count = lanes, .type_name = l->type_name };
    return l;
}

const leaf *layout_leaf(const layout *l, const char *path)
{
    for (size_t i = 0; i < l->leaves.count; i++)
        if (same_text(l->leaves.items[i].path, path)) return &l->leaves.items[i];
    return NULL;
}

bool layout_plain_type(const layout *l, gpul_type *type, uint32_t *lanes)
{
    if (l->leaves.count != 1 || l->leaves.items[0].offset) return false;
    *type = l->leaves.items[0].type;
    *lanes = l->leaves.items[0].count;
    return true;
}

bool layout_same(const layout *a, const layout *b)
{
    if (a->size != b->size || a->leaves.count != b->leaves.count) return false;
    for (size_t i = 0; i < a->leaves.count; i++) {
        const leaf *x = &a->leaves.items[i], *y = &b->leaves.items[i];
        if (x->type != y->type || x->offset != y->offset || x->count != y->count) return false;
    }
    return true;
}

bool layout_readable(const layout *l)
{
    for (size_t i = 0; i < l->leaves.count; i++)
        if (!type_size(l->leaves.items[i].type)) return false;
    return true;
}
