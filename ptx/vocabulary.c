/* The table of PTX's own words, and the names of the enumerations.  SPDX-License-Identifier: MIT */
#include "ptx/vocabulary.h"

#include <pthread.h>
#include <string.h>

#include "ptx/ptx.h"

typedef struct type_facts {
    const char *name;
    uint8_t bits, class;
} type_facts;

static const type_facts types[] = {
    [PTX_NO_TYPE] = { "", 0, PTX_CLASS_NONE },
#define PTX_TYPE(id, text, bits, class) [PTX_##id] = { text, bits, PTX_CLASS_##class },
#include "ptx/words.def"
};

static const char *const opcode_names[] = {
    [PTX_OP_NONE] = "",
#define PTX_OPCODE(id, text, support) [PTX_OP_##id] = text,
#include "ptx/opcodes.def"
};

enum { RUNS = 1, LATER = 0 };
static const bool opcode_runs[] = {
    [PTX_OP_NONE] = false,
#define PTX_OPCODE(id, text, support) [PTX_OP_##id] = support,
#include "ptx/opcodes.def"
};

static const char *const space_names[] = {
    [PTX_SPACE_GENERIC] = "generic",
#define PTX_SPACE(id, text) [PTX_SPACE_##id] = text,
#include "ptx/words.def"
};

static const struct {
    const char *name;
    uint8_t type;
} specials[] = {
    [PTX_SPECIAL_NONE] = { "", PTX_NO_TYPE },
#define PTX_SPECIAL(id, text, type) [PTX_SPECIAL_##id] = { text, PTX_##type },
#include "ptx/specials.def"
};

const char *ptx_type_name(ptx_type type)
{
    return types[type].name;
}
uint32_t ptx_type_bits(ptx_type type)
{
    return types[type].bits;
}
ptx_type_class ptx_type_class_of(ptx_type type)
{
    return (ptx_type_class)types[type].class;
}
const char *ptx_opcode_name(ptx_opcode opcode)
{
    return opcode_names[opcode];
}
bool ptx_opcode_runs(ptx_opcode opcode)
{
    return opcode_runs[opcode];
}
const char *ptx_space_name(ptx_space space)
{
    return space_names[space];
}
const char *ptx_special_name(ptx_special special)
{
    return specials[special].name;
}
ptx_type ptx_special_type(ptx_special special)
{
    return (ptx_type)specials[special].type;
}

uint32_t ptx_word_hash(const char *text, size_t length)
{
    uint32_t hash = ptx_hash_start();
    for (size_t i = 0; i < length; i++) hash = ptx_hash_step(hash, (unsigned char)text[i]);
    return hash;
}

/* Open addressing, under half full: the words below are about 400. */
enum { SLOTS = 1024 };
static ptx_word slots[SLOTS];
static pthread_once_t built = PTHREAD_ONCE_INIT;

static ptx_word *slot_of(const char *text, size_t length, uint32_t hash)
{
    for (uint32_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
        ptx_word *word = &slots[i];
        if (!word->text) return word;
        if (word->hash == hash && word->length == length && !memcmp(word->text, text, length))
            return word;
    }
}

static ptx_word *add(const char *text, size_t length)
{
    uint32_t hash = ptx_word_hash(text, length);
    ptx_word *word = slot_of(text, length, hash);
    word->text = text;
    word->length = (uint8_t)length;
    word->hash = hash;
    return word;
}

static ptx_word *modifier(const char *text)
{
    ptx_word *word = add(text, strlen(text));
    word->is_modifier = true;
    return word;
}

static void add_special(uint8_t special, const char *text)
{
    const char *dot = strchr(text, '.');
    ptx_word *word = add(text, dot ? (size_t)(dot - text) : strlen(text));
    if (word->special) return; /* the components after the first */
    word->special = special;
    word->special_components = dot != NULL;
}

static void build(void)
{
#define PTX_OPCODE(id, text, support) add(text, sizeof text - 1)->opcode = PTX_OP_##id;
#include "ptx/opcodes.def"
#define PTX_SPECIAL(id, text, type) add_special(PTX_SPECIAL_##id, text);
#include "ptx/specials.def"
#define PTX_DIRECTIVE(id, text) add("." text, sizeof text)->directive = PTX_DIRECTIVE_##id;
#include "ptx/directives.def"
#define PTX_TYPE(id, text, bits, class) modifier("." text)->type = PTX_##id;
#define PTX_SPACE(id, text)             modifier("." text)->space = PTX_SPACE_##id;
#define PTX_ROUNDING(id, text)          modifier("." text)->rounding = PTX_ROUND_##id;
#define PTX_COMPARE(id, text)           modifier("." text)->compare = PTX_COMPARE_##id;
#define PTX_OPERATION(id, text)         modifier("." text)->operation = PTX_OPERATION_##id;
#define PTX_MODE(id, text)              modifier("." text)->mode = PTX_MODE_##id;
#define PTX_SCOPE(id, text)             modifier("." text)->scope = PTX_SCOPE_##id;
#define PTX_SEMANTICS(id, text)         modifier("." text)->semantics = PTX_SEMANTICS_##id;
#define PTX_CACHE(id, text)             modifier("." text)->cache = PTX_CACHE_##id;
#define PTX_EVICTION(id, text)          modifier("." text)->eviction = PTX_EVICTION_##id;
#define PTX_PREFETCH(id, text)          modifier("." text)->prefetch = PTX_PREFETCH_##id;
#define PTX_FLAG(id, text)              modifier("." text)->flag = PTX_FLAG_INDEX_##id + 1;
#include "ptx/words.def"
    modifier(".v2")->vector = 2;
    modifier(".v4")->vector = 4;
    modifier(".v8")->vector = 8;
    modifier(".gl")->scope = PTX_SCOPE_GPU; /* membar's older word */
}

const ptx_word *ptx_word_find(const char *text, size_t length, uint32_t hash)
{
    pthread_once(&built, build);
    const ptx_word *word = slot_of(text, length, hash);
    return word->text ? word : NULL;
}
