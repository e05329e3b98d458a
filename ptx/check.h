/* The checker's table: which words and operands each form of an instruction takes.  Private to the
 * front end.  SPDX-License-Identifier: MIT */
#ifndef PTX_CHECK_H
#define PTX_CHECK_H

#include "ptx/parse.h"

/* One form.  Sets have a bit per enumerator; a set of zero allows "not given" alone, and a set whose
 * lowest bit (the enumerator zero) is missing makes the word mandatory. */
typedef struct ptx_rule {
    uint16_t opcode;
    bool later;           /* correct PTX, but the CPU device does not run it */
    bool hints;           /* takes eviction priorities and prefetch sizes */
    uint64_t types[3];    /* of the first, second and third type word; zero: there is none */
    uint64_t modes;       /* ptx_mode */
    uint32_t compares;    /* ptx_compare */
    uint32_t may, must;   /* ptx_flag: allowed, and demanded (implies allowed) */
    uint16_t roundings;   /* ptx_rounding */
    uint16_t operations;  /* ptx_operation */
    uint16_t spaces;      /* ptx_space */
    uint16_t scopes;      /* ptx_scope */
    uint16_t semantics;   /* ptx_semantics */
    uint16_t caches;      /* ptx_cache */
    uint16_t vectors;     /* bit 0: scalar, bits 2, 4, 8: that many elements */
    const char *operands; /* one word each, see check.c */
} ptx_rule;

extern const ptx_rule ptx_rules[];
extern const size_t ptx_rule_count;

/* check_operand.c: one operand against one word of a rule, immediates cut to their type's width. */
typedef struct ptx_checker {
    ptx_parser *parser;
    ptx_function *function;
    ptx_instruction *instruction;
    bool refused[PTX_OP_COUNT]; /* opcodes that were reported for this function */
} ptx_checker;

/* Reports at the instruction; always false. */
bool ptx_check_fail(ptx_checker *checker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool ptx_check_operand(ptx_checker *checker, uint32_t number, ptx_operand *operand,
                       const char *spec, size_t spec_length);
bool ptx_check_move(ptx_checker *checker);
/* A value of `type` that is read; wider registers when `wider`. */
bool ptx_check_source(ptx_checker *checker, uint32_t number, ptx_operand *operand, ptx_type type,
                      bool wider);

/* check_call.c */
bool ptx_check_call(ptx_checker *checker);

#endif
