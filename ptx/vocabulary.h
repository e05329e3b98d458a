/* Every word that PTX itself knows (opcodes, special registers, directives and what stands behind
 * dots), found by one look-up in a table that is built once.  Private to the front end.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_VOCABULARY_H
#define PTX_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_directive {
    PTX_DIRECTIVE_NONE,
#define PTX_DIRECTIVE(id, text) PTX_DIRECTIVE_##id,
#include "ptx/directives.def"
    PTX_DIRECTIVE_COUNT
} ptx_directive;

/* One spelling and everything it can mean; which of them holds, its surroundings decide.  Zero is
 * "not this".  Dotted words are spelled with their dot. */
typedef struct ptx_word {
    const char *text;
    uint32_t hash;
    uint8_t length;
    uint8_t directive;
    uint16_t opcode;
    uint8_t special;         /* the first component of those that have components */
    bool special_components; /* %tid: one of .x .y .z must follow */
    uint8_t type, space, rounding, compare, operation, mode, scope, semantics, cache, eviction,
        prefetch, vector;
    uint8_t flag; /* its index + 1 */
    bool is_modifier;
} ptx_word;

/* NULL: not a word of PTX.  The hash is ptx_word_hash of the text. */
const ptx_word *ptx_word_find(const char *text, size_t length, uint32_t hash);

static inline uint32_t ptx_hash_start(void)
{
    return 2166136261u;
}
static inline uint32_t ptx_hash_step(uint32_t hash, unsigned char c)
{
    return (hash ^ c) * 16777619u;
}
uint32_t ptx_word_hash(const char *text, size_t length);

#endif
