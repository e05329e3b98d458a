/* The rules of every instruction, by opcode; the first one whose words fit is the one that counts.
 * Nothing else in the front end knows which types or modifiers an instruction takes.
 * SPDX-License-Identifier: MIT */
#include "ptx/check.h"

/* Sets of types. */
#define T(id)  (UINT64_C(1) << PTX_##id)
#define ANY8   (T(U8) | T(S8))
#define ANY16  (T(U16) | T(S16))
#define ANY32  (T(U32) | T(S32))
#define ANY64  (T(U64) | T(S64))
#define INTS   (ANY16 | ANY32 | ANY64)
#define INTS8  (ANY8 | INTS)
#define BITS   (T(B16) | T(B32) | T(B64))
#define FLOATS (T(F32) | T(F64))
#define HALVES (T(F16) | T(F16X2))
#define BRAINS (T(BF16) | T(BF16X2))
#define FP8X2  (T(E4M3X2) | T(E5M2X2))
#define TINY                                                                                       \
    (T(E2M1X2) | T(E2M3X2) | T(E3M2X2) | T(E2M1X4) | T(E2M3X4) | T(E3M2X4) | T(UE8M0X2) |          \
     T(E4M3X4) | T(E5M2X4))
#define MEMORY (T(B8) | BITS | INTS8 | FLOATS)

/* Sets of words. */
#define NONE              1u
#define R(id)             (1u << PTX_ROUND_##id)
#define IEEE              (R(RN) | R(RZ) | R(RM) | R(RP))
#define INTEGRAL          (R(RNI) | R(RZI) | R(RMI) | R(RPI))
#define C(id)             (1u << PTX_COMPARE_##id)
#define SIGNED_COMPARES   (C(EQ) | C(NE) | C(LT) | C(LE) | C(GT) | C(GE))
#define UNSIGNED_COMPARES (SIGNED_COMPARES | C(LO) | C(LS) | C(HI) | C(HS))
#define FLOAT_COMPARES                                                                             \
    (SIGNED_COMPARES | C(EQU) | C(NEU) | C(LTU) | C(LEU) | C(GTU) | C(GEU) | C(NUM) | C(NAN))
#define O(id)         (1u << PTX_OPERATION_##id)
#define BOOLEAN       (NONE | O(AND) | O(OR) | O(XOR))
#define M(id)         (UINT64_C(1) << PTX_MODE_##id)
#define F(id)         ((uint32_t)PTX_FLAG_##id)
#define S(id)         (1u << PTX_SPACE_##id)
#define SHARED_SPACES (S(SHARED) | S(SHARED_CTA))
#define SHARED_ALL    (SHARED_SPACES | S(SHARED_CLUSTER))
#define PARAM_SPACES  (S(PARAM) | S(PARAM_ENTRY) | S(PARAM_FUNC))
#define P(id)         (1u << PTX_SCOPE_##id)
#define SCOPES        (NONE | P(CTA) | P(CLUSTER) | P(GPU) | P(SYS))
#define Q(id)         (1u << PTX_SEMANTICS_##id)
#define V(n)          (1u << (n))
#define K(id)         (1u << PTX_CACHE_##id)
#define RULE(op, ...)                                                                              \
    {                                                                                              \
        .opcode = PTX_OP_##op, __VA_ARGS__                                                         \
    }
#define TYPES(...) .types = { __VA_ARGS__ }

// clang-format off
/* add and sub take the same words. */
#define SUM(op)                                                                                   \
    RULE(op, TYPES(INTS), .operands = "d0 s0 s0"),                                                \
    RULE(op, TYPES(T(S32)), .must = F(SAT), .operands = "d0 s0 s0"),                              \
    RULE(op, TYPES(ANY32 | ANY64), .must = F(CC), .operands = "d0 s0 s0"),                        \
    RULE(op, TYPES(T(F32)), .roundings = NONE | IEEE, .may = F(FTZ) | F(SAT),                     \
         .operands = "d0 s0 s0"),                                                                 \
    RULE(op, TYPES(T(F64)), .roundings = NONE | IEEE, .operands = "d0 s0 s0"),                    \
    RULE(op, TYPES(HALVES), .roundings = NONE | R(RN), .may = F(FTZ) | F(SAT),                    \
         .operands = "d0 s0 s0"),                                                                 \
    RULE(op, TYPES(BRAINS), .roundings = NONE | R(RN), .operands = "d0 s0 s0"),                   \
    RULE(op, TYPES(T(F32X2)), .roundings = NONE | IEEE, .may = F(FTZ), .operands = "d0 s0 s0",    \
         .later = true),                                                                          \
    RULE(op, TYPES(T(F32), T(F16) | T(BF16)), .roundings = NONE | IEEE, .may = F(SAT),            \
         .operands = "d0 s1 s0", .later = true)

/* abs and neg */
#define SIGN(op)                                                                                  \
    RULE(op, TYPES(T(S16) | T(S32) | T(S64) | T(F64) | BRAINS), .operands = "d0 s0"),             \
    RULE(op, TYPES(T(F32) | HALVES), .may = F(FTZ), .operands = "d0 s0")

#define EXTREME(op)                                                                               \
    RULE(op, TYPES(INTS | T(U16X2) | T(F64)), .operands = "d0 s0 s0"),                            \
    RULE(op, TYPES(T(S16X2)), .may = F(RELU), .operands = "d0 s0 s0"),                            \
    RULE(op, TYPES(T(S32)), .must = F(RELU), .operands = "d0 s0 s0"),                             \
    RULE(op, TYPES(T(F32) | HALVES), .may = F(FTZ) | F(NAN), .operands = "d0 s0 s0"),             \
    RULE(op, TYPES(T(F32) | HALVES), .may = F(FTZ) | F(NAN), .must = F(XORSIGN) | F(ABS),         \
         .operands = "d0 s0 s0"),                                                                 \
    RULE(op, TYPES(BRAINS), .may = F(NAN), .operands = "d0 s0 s0"),                               \
    RULE(op, TYPES(BRAINS), .may = F(NAN), .must = F(XORSIGN) | F(ABS), .operands = "d0 s0 s0")

#define LOGIC(op, operands_p, operands_b)                                                         \
    RULE(op, TYPES(T(PRED)), .operands = operands_p),                                             \
    RULE(op, TYPES(BITS), .operands = operands_b)

/* What atom and red have in common: operations with their types. */
#define ATOMIC(op, op_set, type_set, flags_must, arguments, is_later)                             \
    RULE(op, TYPES(type_set), .operations = op_set, .must = flags_must, .may = F(CACHE_HINT),     \
         .spaces = NONE | S(GLOBAL) | SHARED_ALL, .scopes = SCOPES,                               \
         .semantics = NONE | Q(RELAXED) | Q(ACQUIRE) | Q(RELEASE) | Q(ACQ_REL), .hints = true,    \
         .operands = arguments, .later = is_later)
#define ATOMICS(op, d)                                                                            \
    ATOMIC(op, O(AND) | O(OR) | O(XOR), T(B32) | T(B64), 0, d "a s0 h", false),                   \
    ATOMIC(op, O(ADD), T(U32) | T(S32) | T(U64) | T(F32) | T(F64), 0, d "a s0 h", false),   \
    ATOMIC(op, O(MIN) | O(MAX), ANY32 | ANY64, 0, d "a s0 h", false),                             \
    ATOMIC(op, O(INC) | O(DEC), T(U32), 0, d "a s0 h", false),                                    \
    ATOMIC(op, O(ADD), HALVES | BRAINS, F(NOFTZ), d "a s0 h", false)

#define FENCE_WORDS(op)                                                                           \
    RULE(op, .must = F(PROXY), .may = F(ASYNC), .scopes = SCOPES, .spaces = NONE | S(GLOBAL) | SHARED_ALL,         \
         .semantics = NONE | Q(ACQUIRE) | Q(RELEASE) | Q(ACQ_REL), .operands = "")

const ptx_rule ptx_rules[] = {
    SUM(ADD),
    RULE(ADD, TYPES(T(U16X2) | T(S16X2)), .operands = "d0 s0 s0"),
    SUM(SUB),
    RULE(MUL, TYPES(INTS), .modes = M(LO) | M(HI), .operands = "d0 s0 s0"),
    RULE(MUL, TYPES(ANY16 | ANY32), .modes = M(WIDE), .operands = "dx s0 s0"),
    RULE(MUL, TYPES(T(F32)), .roundings = NONE | IEEE, .may = F(FTZ) | F(SAT),
         .operands = "d0 s0 s0"),
    RULE(MUL, TYPES(T(F64)), .roundings = NONE | IEEE, .operands = "d0 s0 s0"),
    RULE(MUL, TYPES(HALVES), .roundings = NONE | R(RN), .may = F(FTZ) | F(SAT),
         .operands = "d0 s0 s0"),
    RULE(MUL, TYPES(BRAINS), .roundings = NONE | R(RN), .operands = "d0 s0 s0"),
    RULE(MUL, TYPES(T(F32X2)), .roundings = NONE | IEEE, .may = F(FTZ), .operands = "d0 s0 s0",
         .later = true),
    RULE(MAD, TYPES(INTS), .modes = M(LO) | M(HI), .operands = "d0 s0 s0 s0"),
    RULE(MAD, TYPES(T(S32)), .modes = M(HI), .must = F(SAT), .operands = "d0 s0 s0 s0"),
    RULE(MAD, TYPES(ANY32 | ANY64), .modes = M(LO) | M(HI), .must = F(CC),
         .operands = "d0 s0 s0 s0"),
    RULE(ADDC, TYPES(ANY32 | ANY64), .may = F(CC), .operands = "d0 s0 s0"),
    RULE(SUBC, TYPES(ANY32 | ANY64), .may = F(CC), .operands = "d0 s0 s0"),
    RULE(MADC, TYPES(ANY32 | ANY64), .modes = M(LO) | M(HI), .may = F(CC),
         .operands = "d0 s0 s0 s0"),
    RULE(MAD, TYPES(ANY16 | ANY32), .modes = M(WIDE), .operands = "dx s0 s0 sx"),
    RULE(MAD, TYPES(T(F32)), .roundings = IEEE, .may = F(FTZ) | F(SAT), .operands = "d0 s0 s0 s0"),
    RULE(MAD, TYPES(T(F64)), .roundings = IEEE, .operands = "d0 s0 s0 s0"),
    RULE(MUL24, TYPES(ANY32), .modes = M(LO) | M(HI), .operands = "d0 s0 s0"),
    RULE(MAD24, TYPES(ANY32), .modes = M(LO) | M(HI), .operands = "d0 s0 s0 s0"),
    RULE(MAD24, TYPES(T(S32)), .modes = M(HI), .must = F(SAT), .operands = "d0 s0 s0 s0"),
    RULE(SAD, TYPES(INTS), .operands = "d0 s0 s0 s0"),
    RULE(DIV, TYPES(INTS), .operands = "d0 s0 s0"),
    RULE(DIV, TYPES(T(F32)), .roundings = IEEE | R(APPROX) | R(FULL), .may = F(FTZ),
         .operands = "d0 s0 s0"),
    RULE(DIV, TYPES(T(F64)), .roundings = IEEE, .operands = "d0 s0 s0"),
    RULE(REM, TYPES(INTS), .operands = "d0 s0 s0"),
    SIGN(ABS),
    SIGN(NEG),
    EXTREME(MIN),
    EXTREME(MAX),
    RULE(POPC, TYPES(T(B32) | T(B64)), .operands = "dw s0"),
    RULE(CLZ, TYPES(T(B32) | T(B64)), .operands = "dw s0"),
    RULE(BFIND, TYPES(ANY32 | ANY64), .may = F(SHIFTAMT), .operands = "dw s0"),
    RULE(FNS, TYPES(T(B32)), .operands = "dw sw sw sw"),
    RULE(BREV, TYPES(T(B32) | T(B64)), .operands = "d0 s0"),
    RULE(BFE, TYPES(ANY32 | ANY64), .operands = "d0 s0 su su"),
    RULE(BFI, TYPES(T(B32) | T(B64)), .operands = "d0 s0 s0 su su"),
    RULE(SZEXT, TYPES(ANY32), .must = F(CLAMP), .operands = "d0 s0 sw"),
    RULE(SZEXT, TYPES(ANY32), .must = F(WRAP), .operands = "d0 s0 sw"),
    RULE(BMSK, TYPES(T(B32)), .must = F(CLAMP), .operands = "dw sw sw"),
    RULE(BMSK, TYPES(T(B32)), .must = F(WRAP), .operands = "dw sw sw"),
    RULE(DP4A, TYPES(ANY32, ANY32), .operands = "du s0 s1 su"),
    RULE(DP2A, TYPES(ANY32, ANY32), .modes = M(LO) | M(HI), .operands = "du s0 s1 su"),

    RULE(FMA, TYPES(T(F32)), .roundings = IEEE, .may = F(FTZ) | F(SAT), .operands = "d0 s0 s0 s0"),
    RULE(FMA, TYPES(T(F64)), .roundings = IEEE, .operands = "d0 s0 s0 s0"),
    RULE(FMA, TYPES(HALVES), .roundings = R(RN), .may = F(FTZ) | F(SAT),
         .operands = "d0 s0 s0 s0"),
    RULE(FMA, TYPES(HALVES), .roundings = R(RN), .may = F(FTZ), .must = F(RELU),
         .operands = "d0 s0 s0 s0"),
    RULE(FMA, TYPES(BRAINS), .roundings = R(RN), .may = F(RELU), .operands = "d0 s0 s0 s0"),
    RULE(FMA, TYPES(HALVES | BRAINS), .roundings = R(RN), .may = F(RELU), .must = F(OOB),
         .operands = "d0 s0 s0 s0", .later = true),
    RULE(FMA, TYPES(T(F32X2)), .roundings = IEEE, .may = F(FTZ), .operands = "d0 s0 s0 s0",
         .later = true),
    RULE(FMA, TYPES(T(F32), T(F16) | T(BF16)), .roundings = IEEE, .may = F(SAT),
         .operands = "d0 s1 s1 s0", .later = true),
    RULE(RCP, TYPES(T(F32)), .roundings = IEEE | R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(RCP, TYPES(T(F64)), .roundings = IEEE, .operands = "d0 s0"),
    RULE(RCP, TYPES(T(F64)), .roundings = R(APPROX), .must = F(FTZ), .operands = "d0 s0"),
    RULE(SQRT, TYPES(T(F32)), .roundings = IEEE | R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(SQRT, TYPES(T(F64)), .roundings = IEEE, .operands = "d0 s0"),
    RULE(RSQRT, TYPES(FLOATS), .roundings = R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(SIN, TYPES(T(F32)), .roundings = R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(COS, TYPES(T(F32)), .roundings = R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(LG2, TYPES(T(F32)), .roundings = R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(EX2, TYPES(T(F32)), .roundings = R(APPROX), .may = F(FTZ), .operands = "d0 s0"),
    RULE(EX2, TYPES(HALVES), .roundings = R(APPROX), .operands = "d0 s0"),
    RULE(EX2, TYPES(BRAINS), .roundings = R(APPROX), .must = F(FTZ), .operands = "d0 s0"),
    RULE(TANH, TYPES(T(F32) | HALVES | BRAINS), .roundings = R(APPROX), .operands = "d0 s0"),
    RULE(TESTP, TYPES(FLOATS), .modes = M(FINITE) | M(INFINITE) | M(NUMBER) | M(NOTANUMBER) |
         M(NORMAL) | M(SUBNORMAL), .operands = "q s0"),
    RULE(COPYSIGN, TYPES(FLOATS), .operands = "d0 s0 s0"),

    RULE(SET, TYPES(ANY32 | T(F32), T(B16) | T(B32) | T(B64)), .compares = C(EQ) | C(NE),
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(ANY32 | T(F32), T(U16) | T(U32) | T(U64)), .compares = UNSIGNED_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(ANY32 | T(F32), T(S16) | T(S32) | T(S64)), .compares = SIGNED_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(ANY32 | T(F32), T(F32)), .compares = FLOAT_COMPARES, .may = F(FTZ),
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(ANY32 | T(F32), T(F64)), .compares = FLOAT_COMPARES, .operations = BOOLEAN,
         .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(BF16), T(F16)), .compares = FLOAT_COMPARES, .operations = BOOLEAN,
         .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16) | ANY16 | ANY32, T(F16)), .compares = FLOAT_COMPARES, .may = F(FTZ),
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(BF16) | ANY16 | ANY32, T(BF16)), .compares = FLOAT_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16) | T(BF16), T(B16) | T(B32) | T(B64)), .compares = C(EQ) | C(NE),
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16) | T(BF16), T(U16) | T(U32) | T(U64)), .compares = UNSIGNED_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16) | T(BF16), T(S16) | T(S32) | T(S64)), .compares = SIGNED_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16) | T(BF16), T(F32)), .compares = FLOAT_COMPARES, .may = F(FTZ),
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16) | T(BF16), T(F64)), .compares = FLOAT_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(F16X2) | ANY32, T(F16X2)), .compares = FLOAT_COMPARES, .may = F(FTZ),
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SET, TYPES(T(BF16X2) | ANY32, T(BF16X2)), .compares = FLOAT_COMPARES,
         .operations = BOOLEAN, .operands = "d0 s1 s1 b"),
    RULE(SETP, TYPES(BITS), .compares = C(EQ) | C(NE), .operations = BOOLEAN,
         .operands = "Q s0 s0 b"),
    RULE(SETP, TYPES(T(U16) | T(U32) | T(U64)), .compares = UNSIGNED_COMPARES,
         .operations = BOOLEAN, .operands = "Q s0 s0 b"),
    RULE(SETP, TYPES(T(S16) | T(S32) | T(S64)), .compares = SIGNED_COMPARES,
         .operations = BOOLEAN, .operands = "Q s0 s0 b"),
    RULE(SETP, TYPES(T(F32) | T(F16X2)), .compares = FLOAT_COMPARES, .may = F(FTZ),
         .operations = BOOLEAN, .operands = "Q s0 s0 b"),
    RULE(SETP, TYPES(T(F64) | T(BF16X2)), .compares = FLOAT_COMPARES, .operations = BOOLEAN,
         .operands = "Q s0 s0 b"),
    RULE(SETP, TYPES(T(F16)), .compares = FLOAT_COMPARES, .may = F(FTZ), .operations = BOOLEAN,
         .operands = "q s0 s0 b"),
    RULE(SETP, TYPES(T(BF16)), .compares = FLOAT_COMPARES, .operations = BOOLEAN,
         .operands = "q s0 s0 b"),
    RULE(SELP, TYPES(BITS | INTS | FLOATS), .operands = "d0 s0 s0 p"),
    RULE(SLCT, TYPES(BITS | INTS | FLOATS, T(S32)), .operands = "d0 s0 s0 s1"),
    RULE(SLCT, TYPES(BITS | INTS | FLOATS, T(F32)), .may = F(FTZ), .operands = "d0 s0 s0 s1"),

    LOGIC(AND, "q p p", "d0 s0 s0"),
    LOGIC(OR, "q p p", "d0 s0 s0"),
    LOGIC(XOR, "q p p", "d0 s0 s0"),
    LOGIC(NOT, "q p", "d0 s0"),
    RULE(CNOT, TYPES(BITS), .operands = "d0 s0"),
    RULE(LOP3, TYPES(T(B32)), .operands = "dw sw sw sw i"),
    RULE(LOP3, TYPES(T(B32)), .operations = O(AND) | O(OR), .operands = "Pw sw sw sw i p"),
    RULE(SHF, TYPES(T(B32)), .modes = M(LEFT) | M(RIGHT), .must = F(CLAMP),
         .operands = "dw sw sw sw"),
    RULE(SHF, TYPES(T(B32)), .modes = M(LEFT) | M(RIGHT), .must = F(WRAP),
         .operands = "dw sw sw sw"),
    RULE(SHL, TYPES(BITS), .operands = "d0 s0 su"),
    RULE(SHR, TYPES(BITS | INTS), .operands = "d0 s0 su"),
    RULE(PRMT, TYPES(T(B32)), .modes = NONE | M(F4E) | M(B4E) | M(RC8) | M(ECL) | M(ECR) | M(RC16),
         .operands = "dw sw sw sw"),

    RULE(MOV, TYPES(T(PRED) | BITS | T(B128) | INTS | FLOATS), .vectors = NONE | V(2) | V(4),
         .operands = "*"),
    RULE(LD, TYPES(MEMORY | T(B128)), .spaces = NONE | S(CONST) | S(GLOBAL) | S(LOCAL) | SHARED_ALL |
         PARAM_SPACES, .vectors = NONE | V(2) | V(4) | V(8), .scopes = SCOPES,
         .semantics = NONE | Q(WEAK) | Q(RELAXED) | Q(ACQUIRE) | Q(VOLATILE),
         .caches = NONE | K(CA) | K(CG) | K(CS) | K(LU) | K(CV), .hints = true,
         .may = F(MMIO) | F(CACHE_HINT), .operands = "L a h"),
    RULE(LD, TYPES(MEMORY | T(B128)), .spaces = S(GLOBAL), .vectors = NONE | V(2) | V(4) | V(8),
         .caches = NONE | K(CA) | K(CG) | K(CS), .hints = true, .may = F(CACHE_HINT),
         .must = F(NC), .semantics = NONE | Q(WEAK), .operands = "L a h"),
    RULE(LDU, TYPES(MEMORY), .spaces = NONE | S(GLOBAL), .vectors = NONE | V(2) | V(4),
         .operands = "L a"),
    RULE(ST, TYPES(MEMORY | T(B128)), .spaces = NONE | S(GLOBAL) | S(LOCAL) | SHARED_ALL |
         PARAM_SPACES, .vectors = NONE | V(2) | V(4) | V(8), .scopes = SCOPES,
         .semantics = NONE | Q(WEAK) | Q(RELAXED) | Q(RELEASE) | Q(VOLATILE),
         .caches = NONE | K(WB) | K(CG) | K(CS) | K(WT), .hints = true,
         .may = F(MMIO) | F(CACHE_HINT), .operands = "a W h"),

    RULE(CVT, TYPES(INTS8, INTS8), .may = F(SAT), .operands = "D0 S1"),
    RULE(CVT, TYPES(INTS8, T(F32)), .roundings = INTEGRAL, .may = F(FTZ) | F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(INTS8, T(F64) | T(F16)), .roundings = INTEGRAL, .may = F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(INTS8, T(BF16)), .roundings = INTEGRAL, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F32), INTS8), .roundings = IEEE, .may = F(FTZ) | F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16) | T(F64), INTS8), .roundings = IEEE, .may = F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(BF16), INTS8), .roundings = IEEE, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F32), T(F32)), .roundings = NONE | INTEGRAL, .may = F(FTZ) | F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16), T(F16)), .roundings = NONE | INTEGRAL, .may = F(FTZ) | F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F64), T(F64)), .roundings = NONE | INTEGRAL, .may = F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(BF16), T(BF16)), .roundings = NONE | INTEGRAL, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F32), T(F16)), .may = F(FTZ) | F(SAT), .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F32), T(BF16)), .roundings = NONE | IEEE, .may = F(FTZ), .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F64), T(F32)), .may = F(FTZ) | F(SAT), .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F64), T(F16)), .may = F(SAT), .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F64), T(BF16)), .roundings = NONE | IEEE, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F32), T(F64)), .roundings = IEEE, .may = F(FTZ) | F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16), T(F64)), .roundings = IEEE, .may = F(SAT), .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16), T(F32)), .roundings = IEEE, .may = F(FTZ) | F(SAT),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16), T(F32)), .roundings = R(RN) | R(RZ), .may = F(SATFINITE) | F(RELU),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(BF16), T(F32)), .roundings = IEEE, .may = F(FTZ), .operands = "D0 S1"),
    RULE(CVT, TYPES(T(BF16), T(F32)), .roundings = R(RN) | R(RZ), .may = F(SATFINITE) | F(RELU),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(BF16), T(F64)), .roundings = IEEE, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(BF16), T(F16)), .roundings = NONE | IEEE, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16), T(BF16)), .roundings = NONE | IEEE, .operands = "D0 S1"),
    RULE(CVT, TYPES(T(TF32), T(F32)), .roundings = R(RNA), .may = F(SATFINITE),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(TF32), T(F32)), .roundings = R(RN) | R(RZ), .may = F(RELU) | F(SATFINITE),
         .operands = "D0 S1"),
    RULE(CVT, TYPES(T(F16X2) | T(BF16X2), T(F32)), .roundings = R(RN) | R(RZ),
         .may = F(SATFINITE) | F(RELU), .operands = "d0 s1 s1"),
    RULE(CVT, TYPES(FP8X2, T(F32)), .roundings = R(RN), .may = F(RELU), .must = F(SATFINITE),
         .operands = "d0 s1 s1"),
    RULE(CVT, TYPES(FP8X2, T(F16X2)), .roundings = R(RN), .may = F(RELU), .must = F(SATFINITE),
         .operands = "d0 s1"),
    RULE(CVT, TYPES(T(F16X2), FP8X2), .roundings = R(RN), .may = F(RELU), .operands = "d0 s1"),
    RULE(CVT, TYPES(ANY16, T(S32)), .modes = M(PACK), .must = F(SAT), .operands = "dw s1 s1"),
    RULE(CVT, TYPES(ANY8 | T(U4) | T(S4) | T(U2) | T(S2), T(S32), T(B32)), .modes = M(PACK),
         .must = F(SAT), .operands = "dw s1 s1 s2"),
    RULE(CVT, TYPES(TINY | FP8X2 | T(F16X2) | T(BF16X2), TINY | FP8X2 | T(F32) | T(F16X2) |
         T(BF16X2)), .roundings = R(RN) | R(RZ) | R(RP) | R(RS), .may = F(SATFINITE) | F(RELU) |
         F(SCALED), .operands = "~", .later = true),

    RULE(CVTA, TYPES(T(U32) | T(U64)), .spaces = S(CONST) | S(GLOBAL) | S(LOCAL) | SHARED_ALL |
         PARAM_SPACES, .operands = "d0 y0"),
    RULE(CVTA, TYPES(T(U32) | T(U64)), .must = F(TO), .spaces = S(CONST) | S(GLOBAL) | S(LOCAL) |
         SHARED_ALL | PARAM_SPACES, .operands = "d0 s0"),
    RULE(ISSPACEP, .spaces = S(CONST) | S(GLOBAL) | S(LOCAL) | SHARED_ALL | PARAM_SPACES,
         .operands = "q A"),
    RULE(PREFETCH, .modes = M(L1) | M(L2), .spaces = NONE | S(GLOBAL) | S(LOCAL), .operands = "a"),
    RULE(PREFETCH, .spaces = S(GLOBAL), .hints = true, .operands = "a"),
    RULE(PREFETCHU, .modes = M(L1), .operands = "a"),
    RULE(SHFL, TYPES(T(B32)), .must = F(SYNC), .modes = M(UP) | M(DOWN) | M(BFLY) | M(IDX),
         .operands = "Pw sw sw sw sw"),
    RULE(SHFL, TYPES(T(B32)), .modes = M(UP) | M(DOWN) | M(BFLY) | M(IDX), .operands = "Pw sw sw sw"),

    RULE(BRA, .may = F(UNI), .operands = "l"),
    RULE(BRX, .modes = M(IDX), .may = F(UNI), .operands = "sw t"),
    RULE(CALL, .may = F(UNI), .operands = "*"),
    RULE(RET, .may = F(UNI), .operands = ""),
    RULE(EXIT, .operands = ""),

    RULE(BAR, .modes = M(BAR_SYNC), .scopes = NONE | P(CTA), .operands = "su su?"),
    RULE(BAR, .modes = M(ARRIVE), .scopes = NONE | P(CTA), .operands = "su su"),
    RULE(BAR, TYPES(T(U32)), .modes = M(RED), .scopes = NONE | P(CTA), .operations = O(POPC),
         .operands = "dw su su? p"),
    RULE(BAR, TYPES(T(PRED)), .modes = M(RED), .scopes = NONE | P(CTA),
         .operations = O(AND) | O(OR), .operands = "q su su? p"),
    RULE(BAR, .modes = M(BAR_SYNC), .must = F(WARP), .operands = "su"),
    RULE(BARRIER, .modes = M(BAR_SYNC), .may = F(ALIGNED), .scopes = NONE | P(CTA),
         .operands = "su su?"),
    RULE(BARRIER, .modes = M(ARRIVE), .may = F(ALIGNED), .scopes = NONE | P(CTA),
         .operands = "su su"),
    RULE(BARRIER, TYPES(T(U32)), .modes = M(RED), .may = F(ALIGNED), .scopes = NONE | P(CTA),
         .operations = O(POPC), .operands = "dw su su? p"),
    RULE(BARRIER, TYPES(T(PRED)), .modes = M(RED), .may = F(ALIGNED), .scopes = NONE | P(CTA),
         .operations = O(AND) | O(OR), .operands = "q su su? p"),
    RULE(BARRIER, .modes = M(ARRIVE), .scopes = P(CLUSTER), .may = F(ALIGNED),
         .semantics = NONE | Q(RELEASE) | Q(RELAXED), .operands = ""),
    RULE(BARRIER, .modes = M(WAIT), .scopes = P(CLUSTER), .may = F(ALIGNED),
         .semantics = NONE | Q(ACQUIRE), .operands = ""),
    RULE(MEMBAR, .scopes = P(CTA) | P(GPU) | P(SYS), .operands = ""),
    FENCE_WORDS(MEMBAR),
    RULE(FENCE, .scopes = P(CTA) | P(CLUSTER) | P(GPU) | P(SYS),
         .semantics = NONE | Q(SC) | Q(ACQ_REL) | Q(ACQUIRE) | Q(RELEASE), .operands = ""),
    FENCE_WORDS(FENCE),
    ATOMICS(ATOM, "d0 "),
    ATOMIC(ATOM, O(EXCH), T(B32) | T(B64), 0, "d0 a s0 h", false),
    ATOMIC(ATOM, O(CAS), T(B16) | T(B32) | T(B64), 0, "d0 a s0 s0 h", false),
    ATOMIC(ATOM, O(EXCH), T(B128), 0, "d0 a s0 h", true),
    ATOMIC(ATOM, O(CAS), T(B128), 0, "d0 a s0 s0 h", true),
    ATOMICS(RED, ""),
    RULE(ATOM, TYPES(T(F32) | HALVES | BRAINS), .operations = O(ADD),
         .may = F(NOFTZ) | F(CACHE_HINT), .vectors = V(2) | V(4) | V(8), .spaces = NONE | S(GLOBAL),
         .scopes = SCOPES, .semantics = NONE | Q(RELAXED) | Q(ACQUIRE) | Q(RELEASE) | Q(ACQ_REL),
         .hints = true, .operands = "L a W h"),
    RULE(RED, TYPES(T(F32) | HALVES | BRAINS), .operations = O(ADD),
         .may = F(NOFTZ) | F(CACHE_HINT), .vectors = V(2) | V(4) | V(8), .spaces = NONE | S(GLOBAL),
         .scopes = SCOPES, .semantics = NONE | Q(RELAXED) | Q(RELEASE), .hints = true,
         .operands = "a W h"),
    RULE(ATOM, TYPES(HALVES | BRAINS), .operations = O(MIN) | O(MAX),
         .may = F(NOFTZ) | F(CACHE_HINT), .vectors = V(2) | V(4) | V(8), .spaces = NONE | S(GLOBAL),
         .scopes = SCOPES, .semantics = NONE | Q(RELAXED) | Q(ACQUIRE) | Q(RELEASE) | Q(ACQ_REL),
         .hints = true, .operands = "~", .later = true),
    RULE(RED, TYPES(HALVES | BRAINS), .operations = O(MIN) | O(MAX),
         .may = F(NOFTZ) | F(CACHE_HINT), .vectors = V(2) | V(4) | V(8), .spaces = NONE | S(GLOBAL),
         .scopes = SCOPES, .semantics = NONE | Q(RELAXED) | Q(RELEASE), .hints = true,
         .operands = "~", .later = true),
    RULE(VOTE, TYPES(T(PRED)), .must = F(SYNC), .modes = M(ALL) | M(ANY) | M(VOTE_UNI),
         .operands = "q p su"),
    RULE(VOTE, TYPES(T(B32)), .must = F(SYNC), .modes = M(BALLOT), .operands = "dw p su"),
    RULE(VOTE, TYPES(T(PRED)), .modes = M(ALL) | M(ANY) | M(VOTE_UNI), .operands = "q p"),
    RULE(VOTE, TYPES(T(B32)), .modes = M(BALLOT), .operands = "dw p"),
    RULE(MATCH, TYPES(T(B32) | T(B64)), .must = F(SYNC), .modes = M(ANY), .operands = "dw s0 su"),
    RULE(MATCH, TYPES(T(B32) | T(B64)), .must = F(SYNC), .modes = M(ALL), .operands = "Pw s0 su"),
    RULE(ACTIVEMASK, TYPES(T(B32)), .operands = "dw"),
    RULE(REDUX, TYPES(ANY32), .must = F(SYNC), .operations = O(ADD) | O(MIN) | O(MAX),
         .operands = "d0 s0 su"),
    RULE(REDUX, TYPES(T(B32)), .must = F(SYNC), .operations = O(AND) | O(OR) | O(XOR),
         .operands = "d0 s0 su"),
    RULE(REDUX, TYPES(T(F32)), .must = F(SYNC), .may = F(ABS) | F(NAN),
         .operations = O(MIN) | O(MAX), .operands = "d0 s0 su"),
    RULE(ELECT, .must = F(SYNC), .operands = "2w su"),
    RULE(GRIDDEPCONTROL, .modes = M(WAIT) | M(LAUNCH_DEPENDENTS), .operands = ""),

    RULE(BRKPT, .operands = ""),
    RULE(NANOSLEEP, TYPES(T(U32)), .operands = "su"),
    RULE(PMEVENT, .may = F(MASK), .operands = "i"),
    RULE(TRAP, .operands = ""),
    RULE(SETMAXNREG, TYPES(T(U32)), .must = F(SYNC) | F(ALIGNED), .operations = O(INC) | O(DEC),
         .operands = "i"),
    RULE(DISCARD, .spaces = NONE | S(GLOBAL), .modes = M(L2), .operands = "a i"),
    RULE(APPLYPRIORITY, .spaces = NONE | S(GLOBAL), .hints = true, .operands = "a i"),
};
// clang-format on

const size_t ptx_rule_count = sizeof ptx_rules / sizeof *ptx_rules;
