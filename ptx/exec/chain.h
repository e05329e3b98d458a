/* Chains: stretches of single-precision operations that one handler runs, see chain.c and ops_chain.c.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_CHAIN_H
#define PTX_EXEC_CHAIN_H

#include <stdint.h>

/* What a step computes: X is the result of the step before it; A, B and C are slots.  Each kind exists
 * three times: the result stays where the next step finds it; goes to the slot d as well, a NaN as it is,
 * because only such operations read it; or goes there with the one NaN. */
// clang-format off
#define CHAIN_KINDS(row)                                                                           \
    row(ADD_AB, SUM(A, B)) row(ADD_XB, SUM(X, B))                                                  \
    row(SUB_AB, DIFFERENCE(A, B)) row(SUB_XB, DIFFERENCE(X, B)) row(SUB_AX, DIFFERENCE(A, X))      \
    row(MUL_AB, PRODUCT(A, B)) row(MUL_XB, PRODUCT(X, B)) row(MUL_XX, PRODUCT(X, X))               \
    row(FMA_ABC, FUSED(A, B, C)) row(FMA_XBC, FUSED(X, B, C)) row(FMA_ABX, FUSED(A, B, X))         \
    row(FMA_XXC, FUSED(X, X, C))                                                                   \
    row(DIV_AB, QUOTIENT(A, B)) row(DIV_XB, QUOTIENT(X, B)) row(DIV_AX, QUOTIENT(A, X))            \
    row(RCP_A, INVERSE(A)) row(RCP_X, INVERSE(X))                                                  \
    row(SQRT_A, ROOT(A)) row(SQRT_X, ROOT(X))                                                      \
    row(RSQRT_A, INVERSE(ROOT(A))) row(RSQRT_X, INVERSE(ROOT(X)))                                  \
    row(NEG_A, NEGATIVE(A)) row(NEG_X, NEGATIVE(X))                                                \
    row(ABS_A, MAGNITUDE(A)) row(ABS_X, MAGNITUDE(X))
// clang-format on

typedef enum chain_kind {
#define ROW(name, value) CHAIN_##name, CHAIN_##name##_KEPT, CHAIN_##name##_STORED,
    CHAIN_KINDS(ROW)
#undef ROW
        CHAIN_END,
} chain_kind;

/* A chain is an array of these that ends with CHAIN_END; insn.imm of its instruction points to it. */
typedef struct chain_step {
    uint32_t kind;
    uint32_t a, b, c, d; /* slots */
} chain_step;

#endif
