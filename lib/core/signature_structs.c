/* Structs from the compiler's answers: members, their offsets, and whether they are all there.
 * SPDX-License-Identifier: MIT */
#include "core/signature.h"

#include <stdlib.h>
#include <string.h>

enum { PER_MEMBER = 4, BEFORE_MEMBERS = 2 };

static bool is_inside(const char *name, const char *parent)
{
    size_t length = strlen(parent);
    return strncmp(name, parent, length) == 0 && name[length] == '.';
}

/* Members first..end of an item that are direct children of `parent` (NULL: of the struct itself). */
static bool fill_members(const gpul__type_book *book, const gpul__probe_item *item,
                         const char *parent, uint32_t base, gpul_member **out, uint32_t *count)
{
    gpul_member *members =
        gpul__arena_alloc(book->arena, (item->parts.count + 1) * sizeof *members);
    if (!members) return false;
    *count = 0;
    for (size_t i = 0; i < item->parts.count; i++) {
        const gpul__declarator *part = &item->parts.items[i];
        const char *own = parent ? part->name + strlen(parent) + 1 : part->name;
        if ((parent && !is_inside(part->name, parent)) || strchr(own, '.')) continue;
        const long long *numbers = item->numbers + BEFORE_MEMBERS + PER_MEMBER * i;
        gpul_member *m = &members[*count];
        const char *text =
            strchr(part->name, '.') || i >= item->type_count ? part->type : item->types[i];
        if (!gpul__type_fill(m, book, text, (int)numbers[3])) return false;
        m->name = gpul__arena_strndup(book->arena, own, strlen(own));
        /* Of a template's instance the source spells "T". */
        const char *spelled = item->decl && item->decl->is_template ? text : part->type;
        m->type_name = gpul__arena_strndup(book->arena, spelled, strlen(spelled));
        if (!m->name || !m->type_name) return false;
        m->offset = (uint32_t)numbers[0] - base;
        uint32_t size = (uint32_t)numbers[1], one = m->count ? m->size / m->count : 0;
        if (part->nested) {
            m->type = m->element = GPUL_STRUCT;
            if (!strchr(part->type, '[') &&
                !fill_members(book, item, part->name, (uint32_t)numbers[0],
                              (gpul_member **)&m->members, &m->member_count))
                return false;
        } else if (m->type == GPUL_TYPE_UNKNOWN) {
            m->type = m->element = GPUL_OTHER;
        } else if (m->is_enum && !strchr(part->type, '[') && size != m->size) {
            m->type = m->element = size == 1   ? GPUL_I8
                                   : size == 2 ? GPUL_I16
                                   : size == 8 ? GPUL_I64
                                               : GPUL_I32;
        } else if (size != m->size && one && size % one == 0) {
            m->count = size / one;
        } else if (size != m->size) {
            /* The name was taken for another type: only the size is sure. */
            m->type = m->element = GPUL_OTHER;
            m->members = NULL;
            m->member_count = 0;
            m->count = 1;
        }
        m->size = size;
        if (numbers[2] > m->align) m->align = (uint32_t)numbers[2];
        ++*count;
    }
    *out = members;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const gpul_member *first = a, *second = b;
    return (first->offset > second->offset) - (first->offset < second->offset);
}

/* Every byte must belong to a member or be padding; otherwise members are missing from the list. */
static bool is_complete(const gpul__struct *s, gpul_member *scratch, bool is_loose)
{
    memcpy(scratch, s->members, s->member_count * sizeof *scratch);
    qsort(scratch, s->member_count, sizeof *scratch, by_offset);
    uint32_t end = 0;
    for (uint32_t i = 0; i < s->member_count; i++) {
        /* The alignment that a member itself asks for; more only where the source says so. */
        uint32_t align = is_loose || !scratch[i].align ? s->align : scratch[i].align;
        if (scratch[i].offset > end && scratch[i].offset - end >= align) return false;
        uint32_t stop = scratch[i].offset + scratch[i].size;
        if (stop > s->size || stop < scratch[i].offset) return false;
        if (stop > end) end = stop;
    }
    return s->size - end < s->align;
}

static int by_size(const void *a, const void *b)
{
    const gpul__struct *first = a, *second = b;
    return (first->size > second->size) - (first->size < second->size);
}

static const gpul__probe_item *item_of(const gpul__probe *probe, const char *name)
{
    for (size_t i = 0; i < probe->count; i++)
        if (probe->items[i].kind == GPUL__PROBE_STRUCT && probe->items[i].answered &&
            strcmp(probe->items[i].type, name) == 0)
            return &probe->items[i];
    return NULL;
}

bool gpul__signature_structs(gpul__type_book *book, const gpul__probe *probe)
{
    size_t count = 0;
    for (size_t i = 0; i < probe->count; i++)
        count += probe->items[i].kind == GPUL__PROBE_STRUCT && probe->items[i].answered;
    book->structs = gpul__arena_alloc(book->arena, (count + 1) * sizeof *book->structs);
    if (!book->structs) return false;
    for (size_t i = 0; i < probe->count; i++) {
        const gpul__probe_item *item = &probe->items[i];
        if (item->kind != GPUL__PROBE_STRUCT || !item->answered ||
            item->number_count < BEFORE_MEMBERS)
            continue;
        book->structs[book->struct_count++] = (gpul__struct){ .name = item->type,
                                                              .size = (uint32_t)item->numbers[0],
                                                              .align = (uint32_t)item->numbers[1] };
    }
    /* What contains is never smaller than what it contains: from small to large, and once more for
     * structs that only wrap another. */
    qsort(book->structs, book->struct_count, sizeof *book->structs, by_size);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < book->struct_count; i++) {
            gpul__struct *s = &book->structs[i];
            const gpul__probe_item *item = item_of(probe, s->name);
            if (!item || item->number_count < BEFORE_MEMBERS + PER_MEMBER * item->parts.count ||
                !item->parts.count)
                continue;
            uint32_t members = 0;
            if (!fill_members(book, item, NULL, 0, &s->members, &members)) return false;
            s->member_count = members;
            gpul_member *scratch = gpul__malloc((members + 1) * sizeof *scratch);
            if (!scratch) return false;
            if (!is_complete(s, scratch, item->is_loose)) s->member_count = 0;
            gpul__free(scratch);
            if (!s->member_count) s->members = NULL;
        }
    return true;
}
