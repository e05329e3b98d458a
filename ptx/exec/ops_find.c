/* From the name of an instruction to the row that runs it, and the choice of the instruction set.
 * SPDX-License-Identifier: MIT */
#include "ptx/exec/isa.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#if defined(__x86_64__)
extern const isa_variant ptx_isa_v2, ptx_isa_v3, ptx_isa_v4;
const isa_variant *const ptx_isa_variants[] = { &ptx_isa_v4, &ptx_isa_v3, &ptx_isa_v2, NULL };
#else
extern const isa_variant ptx_isa_generic;
const isa_variant *const ptx_isa_variants[] = { &ptx_isa_generic, NULL };
#endif

bool ptx_isa_available(const isa_variant *isa)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    return isa == &ptx_isa_v4 ? v4 : isa == &ptx_isa_v3 ? v3 : v2;
#else
    (void)isa;
    return true;
#endif
}

/* ------------------------------------------------------------------ spellings */

static const char *const type_words[] = {
#define PTX_TYPE(id, text, bits, class) text,
#include "ptx/words.def"
};
static const char *const mode_words[] = {
    NULL,
#define PTX_MODE(id, text) text,
#include "ptx/words.def"
};
static const char *const compare_words[] = {
    NULL,
#define PTX_COMPARE(id, text) text,
#include "ptx/words.def"
};
static const char *const operation_words[] = {
    NULL,
#define PTX_OPERATION(id, text) text,
#include "ptx/words.def"
};
static const char *const rounding_words[] = {
    NULL,
#define PTX_ROUNDING(id, text) text,
#include "ptx/words.def"
};
static const char *const flag_words[] = {
#define PTX_FLAG(id, text) text,
#include "ptx/words.def"
};

enum { WORD_LIMIT = 16, NAME_LIMIT = 128 };

typedef struct word {
    const char *text;
    size_t length;
} word;

typedef struct spelling {
    word opcode, modifiers[WORD_LIMIT], types[WORD_LIMIT];
    size_t modifier_count, type_count;
    bool overflow;
} spelling;

static void put(word *list, size_t *count, bool *overflow, const char *text, size_t length)
{
    if (*count == WORD_LIMIT) {
        *overflow = true;
        return;
    }
    list[(*count)++] = (word){ text, length };
}

static int compare(word a, word b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = memcmp(a.text, b.text, shorter);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static bool write_spelling(char *out, size_t room, spelling *s)
{
    for (size_t k = 1; k < s->modifier_count; k++)
        for (size_t j = k; j > 0 && compare(s->modifiers[j], s->modifiers[j - 1]) < 0; j--) {
            word swap = s->modifiers[j];
            s->modifiers[j] = s->modifiers[j - 1];
            s->modifiers[j - 1] = swap;
        }
    if (s->overflow || s->opcode.length >= room) return false;
    memcpy(out, s->opcode.text, s->opcode.length);
    size_t used = s->opcode.length;
    for (size_t k = 0; k < s->modifier_count + s->type_count; k++) {
        word next = k < s->modifier_count ? s->modifiers[k] : s->types[k - s->modifier_count];
        if (used + 1 + next.length >= room) return false;
        out[used++] = '.';
        memcpy(out + used, next.text, next.length);
        used += next.length;
    }
    out[used] = 0;
    return true;
}

static bool is_type(const char *text, size_t length)
{
    for (size_t k = 0; k < sizeof type_words / sizeof *type_words; k++)
        if (strlen(type_words[k]) == length && !memcmp(type_words[k], text, length)) return true;
    return false;
}

bool ptx_op_canonical(char *out, size_t room, const char *name, size_t length)
{
    spelling s = { 0 };
    const char *end = name + length;
    for (const char *at = name; at <= end;) {
        const char *stop = at;
        while (stop < end && *stop != '.') stop++;
        size_t size = (size_t)(stop - at);
        if (at == name) s.opcode = (word){ at, size };
        else if (is_type(at, size)) put(s.types, &s.type_count, &s.overflow, at, size);
        else put(s.modifiers, &s.modifier_count, &s.overflow, at, size);
        at = stop + 1;
    }
    return write_spelling(out, room, &s);
}

/* The words that do not change what an operation computes. */
enum { NEUTRAL_FLAGS = PTX_FLAG_UNI | PTX_FLAG_SYNC | PTX_FLAG_ALIGNED | PTX_FLAG_CACHE_HINT };

static bool spell(char *out, size_t room, const ptx_instruction *instruction)
{
    spelling s = { 0 };
    const ptx_modifiers *m = &instruction->modifiers;
    const char *opcode = ptx_opcode_name(instruction->opcode);
    s.opcode = (word){ opcode, strlen(opcode) };
    const char *given[] = { mode_words[m->mode], compare_words[m->compare],
                            operation_words[m->operation], rounding_words[m->rounding] };
    for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        if (given[k]) put(s.modifiers, &s.modifier_count, &s.overflow, given[k], strlen(given[k]));
    uint32_t flags = m->flags & ~(uint32_t)NEUTRAL_FLAGS;
    for (unsigned k = 0; k < PTX_FLAG_COUNT; k++)
        if (flags >> k & 1)
            put(s.modifiers, &s.modifier_count, &s.overflow, flag_words[k], strlen(flag_words[k]));
    for (unsigned k = 0; k < m->word_count; k++)
        put(s.modifiers, &s.modifier_count, &s.overflow, m->words[k], strlen(m->words[k]));
    for (unsigned k = 0; k < m->type_count; k++) {
        const char *type = ptx_type_name(m->types[k]);
        put(s.types, &s.type_count, &s.overflow, type, strlen(type));
    }
    return write_spelling(out, room, &s);
}

/* ------------------------------------------------------------------ the index */

typedef struct index_entry {
    const char *name; /* NULL: free */
    const op_entry *row;
} index_entry;

/* Open addressing.  One for each variant, whose tables may differ; built on first use and kept while
 * the process runs, because every program uses it. */
typedef struct op_index {
    index_entry *entries;
    size_t mask;
    gpul__arena names;
    const char *duplicate;
} op_index;

enum { VARIANTS = sizeof ptx_isa_variants / sizeof *ptx_isa_variants };
static op_index indices[VARIANTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static index_entry *probe(index_entry *entries, size_t mask, const char *name)
{
    size_t at = gpul__hash(name, strlen(name)) & mask;
    while (entries[at].name && strcmp(entries[at].name, name)) at = (at + 1) & mask;
    return &entries[at];
}

static const char *next_name(const char *at, size_t *length)
{
    while (*at == ' ') at++;
    *length = strcspn(at, " ");
    return *length ? at : NULL;
}

static bool build(op_index *index, const isa_variant *isa)
{
    size_t count = 0, length;
    for (size_t t = 0; isa->tables[t]; t++)
        for (size_t r = 0; r < isa->tables[t]->count; r++)
            for (const char *at = isa->tables[t]->rows[r].names; (at = next_name(at, &length));
                 at += length)
                count++;
    size_t room = 64;
    while (room < count * 2) room *= 2;
    index_entry *entries = gpul__calloc(room, sizeof *entries);
    if (!entries) return false;
    for (size_t t = 0; isa->tables[t]; t++)
        for (size_t r = 0; r < isa->tables[t]->count; r++)
            for (const char *at = isa->tables[t]->rows[r].names; (at = next_name(at, &length));
                 at += length) {
                char name[NAME_LIMIT];
                if (!ptx_op_canonical(name, sizeof name, at, length)) continue;
                index_entry *entry = probe(entries, room - 1, name);
                char *kept = gpul__arena_strndup(&index->names, name, strlen(name));
                if (!kept) {
                    gpul__free(entries);
                    gpul__arena_free(&index->names);
                    return false;
                }
                if (entry->name) index->duplicate = kept;
                *entry = (index_entry){ kept, &isa->tables[t]->rows[r] };
            }
    index->mask = room - 1;
    index->entries = entries;
    return true;
}

/* NULL: no memory. */
static const op_index *index_of(const isa_variant *isa)
{
    op_index *index = indices;
    while (ptx_isa_variants[index - indices] != isa) index++;
    pthread_mutex_lock(&lock);
    bool built = index->entries || build(index, isa);
    pthread_mutex_unlock(&lock);
    return built ? index : NULL;
}

static const op_entry *look_up(const isa_variant *isa, const char *name, bool *failed)
{
    const op_index *index = index_of(isa);
    if (!index) {
        *failed = true;
        return NULL;
    }
    return probe(index->entries, index->mask, name)->row;
}

const op_entry *ptx_op_find(const isa_variant *isa, const ptx_instruction *instruction,
                            bool *failed)
{
    char name[NAME_LIMIT];
    return spell(name, sizeof name, instruction) ? look_up(isa, name, failed) : NULL;
}

const op_entry *ptx_op_named(const isa_variant *isa, const char *name, bool *failed)
{
    char canonical[NAME_LIMIT];
    return ptx_op_canonical(canonical, sizeof canonical, name, strlen(name))
               ? look_up(isa, canonical, failed)
               : NULL;
}

const char *ptx_op_duplicate(const isa_variant *isa)
{
    const op_index *index = index_of(isa);
    return index ? index->duplicate : NULL;
}

/* Leak checkers see the indices as reachable; a library that is unloaded frees them. */
__attribute__((destructor)) static void free_indices(void)
{
    for (int k = 0; k < VARIANTS; k++) {
        gpul__free(indices[k].entries);
        gpul__arena_free(&indices[k].names);
        indices[k].entries = NULL;
    }
}
