/* What the tests know about an instruction from its name alone: its words, the types of its
 * operands, and how exact its result is.  Written from the PTX ISA, without the tables under test.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_OPS_FORM_H
#define TESTS_PTX_OPS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// clang-format off
#define FORM_TYPES(X)                                                                              \
    X(B8, "b8", 8) X(B16, "b16", 16) X(B32, "b32", 32) X(B64, "b64", 64)                           \
    X(U8, "u8", 8) X(U16, "u16", 16) X(U32, "u32", 32) X(U64, "u64", 64)                           \
    X(S8, "s8", 8) X(S16, "s16", 16) X(S32, "s32", 32) X(S64, "s64", 64)                           \
    X(U16X2, "u16x2", 32) X(S16X2, "s16x2", 32) X(F16, "f16", 16) X(F16X2, "f16x2", 32)            \
    X(BF16, "bf16", 16) X(BF16X2, "bf16x2", 32) X(TF32, "tf32", 32) X(F32, "f32", 32)              \
    X(F32X2, "f32x2", 64)                                                                         \
    X(F64, "f64", 64) X(E4M3X2, "e4m3x2", 16) X(E5M2X2, "e5m2x2", 16)                              \
    X(U2, "u2", 2) X(S2, "s2", 2) X(U4, "u4", 4) X(S4, "s4", 4) X(PRED, "pred", 1)
// clang-format on

typedef enum form_type {
    TYPE_NONE,
#define X(id, text, bits) TYPE_##id,
    FORM_TYPES(X)
#undef X
} form_type;

/* How a result is compared. */
typedef enum form_check {
    CHECK_EXACT,  /* bit for bit */
    CHECK_NUMBER, /* bit for bit, but any NaN equals any other */
    CHECK_BOUND,  /* within the ISA's bound of the true value */
} form_check;

enum { FORM_WORDS = 8, FORM_NAME = 48 };

typedef struct form {
    char name[FORM_NAME];       /* as PTX writes it */
    char words[FORM_WORDS][12]; /* words[0] is the opcode; types are words too */
    unsigned word_count;
    form_type types[4]; /* in the order of the text */
    unsigned type_count;
    form_type d;         /* PRED where the result is a predicate */
    bool pair;           /* two predicates, d|e */
    form_type source[4]; /* of register operands, in order */
    unsigned source_count;
    bool immediate; /* one constant more: lop3's table */
    uint32_t constant;
    form_check check;
    unsigned arch; /* the first architecture that has it: 90 stands for all up to 90 */
} form;

unsigned form_bits(form_type type);
const char *form_type_name(form_type type);
bool form_is_float(form_type type);  /* of one value: f16, bf16, f32, f64, tf32 */
bool form_is_signed(form_type type); /* s8 to s64 */
bool form_is_packed(form_type type); /* two values of 16 bits, or two of 8 */

/* Fills a form from a name; false when the tests do not know such an instruction. */
bool form_parse(form *out, const char *name);
bool form_has(const form *form, const char *word);
static inline bool form_is(const form *f, const char *opcode)
{
    return strcmp(f->words[0], opcode) == 0;
}

/* Every instruction that the arithmetic tables must have, in a fixed order. */
typedef struct form_list {
    form *items;
    size_t count, capacity;
} form_list;
bool form_list_make(form_list *out); /* false: memory is exhausted or a name is not known */
void form_list_free(form_list *list);

/* The inputs of an instruction: `count` rows of four 64-bit values, the same in every run, others in
 * every round; what is recorded is round 0.  The bits
 * above an operand's width are garbage on purpose. */
enum { FORM_INPUTS = 256 };
unsigned form_input_count(const form *form); /* at most FORM_INPUTS, a multiple of 32 */
void form_inputs(const form *form, uint64_t (*rows)[4], unsigned count, uint64_t round);
uint64_t form_random(uint64_t seed, uint64_t counter);

#endif
