/* Interned names and their stack of bindings.  SPDX-License-Identifier: MIT */
#include "ptx/symbols.h"

#include <string.h>

enum { FIRST_SLOTS = 1024, LONGEST_NUMBER = 9 };

bool ptx_symbols_init(ptx_symbols *symbols, gpul__arena *arena)
{
    *symbols = (ptx_symbols){ .arena = arena, .slot_count = FIRST_SLOTS };
    symbols->slots = gpul__calloc(FIRST_SLOTS, sizeof *symbols->slots);
    if (!symbols->slots ||
        !gpul__grow(&symbols->scopes, &symbols->scope_capacity, 0, sizeof *symbols->scopes)) {
        ptx_symbols_free(symbols);
        return false;
    }
    symbols->scopes[0] = NULL;
    return true;
}

void ptx_symbols_free(ptx_symbols *symbols)
{
    gpul__free(symbols->slots);
    gpul__free(symbols->scopes);
    *symbols = (ptx_symbols){ 0 };
}

static bool enlarge(ptx_symbols *symbols)
{
    size_t count = symbols->slot_count * 2;
    ptx_name **slots = gpul__calloc(count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < symbols->slot_count; i++) {
        ptx_name *name = symbols->slots[i];
        if (!name) continue;
        size_t at = name->hash & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = name;
    }
    gpul__free(symbols->slots);
    symbols->slots = slots;
    symbols->slot_count = count;
    return true;
}

/* Splits %r17 into its prefix and number, unless the number is written in a way that no member of a
 * range has (leading zeros, too long). */
static bool split(ptx_symbols *symbols, ptx_name *name)
{
    uint32_t start = name->length;
    while (start > 0 && name->text[start - 1] >= '0' && name->text[start - 1] <= '9') start--;
    uint32_t digits = name->length - start;
    if (!digits || !start || digits > LONGEST_NUMBER) return true;
    if (digits > 1 && name->text[start] == '0') return true;
    for (uint32_t i = start; i < name->length; i++)
        name->number = name->number * 10 + (uint32_t)(name->text[i] - '0');
    name->prefix = ptx_intern(symbols, name->text, start, ptx_word_hash(name->text, start));
    return name->prefix != NULL;
}

ptx_name *ptx_intern(ptx_symbols *symbols, const char *text, uint32_t length, uint32_t hash)
{
    size_t mask = symbols->slot_count - 1, at = hash & mask;
    for (ptx_name *name; (name = symbols->slots[at]); at = (at + 1) & mask)
        if (name->hash == hash && name->length == length && !memcmp(name->text, text, length))
            return name;
    if (symbols->name_count * 2 >= symbols->slot_count) {
        if (!enlarge(symbols)) return NULL;
        mask = symbols->slot_count - 1;
        for (at = hash & mask; symbols->slots[at];) at = (at + 1) & mask;
    }
    ptx_name *name = gpul__arena_alloc(symbols->arena, sizeof *name + length + 1);
    if (!name) return NULL;
    char *copy = (char *)(name + 1);
    memcpy(copy, text, length);
    *name = (ptx_name){
        .text = copy, .length = length, .hash = hash, .word = ptx_word_find(text, length, hash)
    };
    symbols->slots[at] = name;
    symbols->name_count++;
    return split(symbols, name) ? name : NULL;
}

bool ptx_scope_open(ptx_symbols *symbols)
{
    if (!gpul__grow(&symbols->scopes, &symbols->scope_capacity, (size_t)symbols->depth + 1,
                    sizeof *symbols->scopes))
        return false;
    symbols->scopes[++symbols->depth] = NULL;
    return true;
}

void ptx_scope_close(ptx_symbols *symbols)
{
    for (ptx_binding *b = symbols->scopes[symbols->depth]; b; b = b->sibling) {
        if (b->kind == PTX_BOUND_RANGE) b->name->range = b->outer;
        else b->name->binding = b->outer;
    }
    symbols->depth--;
}

ptx_binding *ptx_bind(ptx_symbols *symbols, ptx_name *name, ptx_bound kind, uint32_t depth)
{
    ptx_binding *binding = gpul__arena_alloc(symbols->arena, sizeof *binding);
    if (!binding) return NULL;
    ptx_binding **top = kind == PTX_BOUND_RANGE ? &name->range : &name->binding;
    *binding = (ptx_binding){ .kind = (uint8_t)kind,
                              .depth = depth,
                              .name = name,
                              .outer = *top,
                              .sibling = symbols->scopes[depth] };
    *top = binding;
    symbols->scopes[depth] = binding;
    return binding;
}

ptx_binding *ptx_lookup(const ptx_name *name)
{
    ptx_binding *own = name->binding;
    for (ptx_binding *range = name->prefix ? name->prefix->range : NULL; range;
         range = range->outer) {
        if (own && own->depth >= range->depth) break;
        if (name->number < range->count) return range;
    }
    return own;
}
