/* Makes handlers and a table out of the rows in OP_ROWS; see ops.h.  Included once per file of
 * operations, at its end.  With OP_RARELY all rows of the file are as RARE ones, which halves its code; with
 * OP_COMMON_ROWS the RARE rows are left out, with OP_RARE_ROWS all others, for another file to hold them.
 * SPDX-License-Identifier: MIT */

// clang-format off

/* First pass: the functions. */
#define OP_FULL(scope, fn, D, SOURCES, VALUES, expression)                                         \
    static void fn##_full(warp *w, const insn *i)                                                  \
    {                                                                                              \
        OP_SLOT_##D *d_ = OP_AT(D, i->d);                                                          \
        SOURCES                                                                                    \
        OP_ENTER_##scope                                                                           \
        OP_LANES { VALUES D r_ = (D)(expression); d_[l] = (OP_SLOT_##D)r_; }                       \
        OP_LEAVE_##scope                                                                           \
    }
#if defined(OP_RARE_ROWS)
#define OP_HANDLERS(...)
#elif defined(OP_RARELY)
#define OP_HANDLERS OP_FULL
#else
#define OP_HANDLERS(scope, fn, D, SOURCES, VALUES, expression)                                     \
    OP_FULL(scope, fn, D, SOURCES, VALUES, expression)                                             \
    static void fn##_some(warp *w, const insn *i)                                                  \
    {                                                                                              \
        OP_SLOT_##D *d_ = OP_AT(D, i->d);                                                          \
        const u32 *m_ = w->lane_mask;                                                              \
        SOURCES                                                                                    \
        OP_ENTER_##scope                                                                           \
        OP_LANES { VALUES D r_ = (D)(expression); d_[l] = m_[l] ? (OP_SLOT_##D)r_ : d_[l]; }       \
        OP_LEAVE_##scope                                                                           \
    }
#endif
#if defined(OP_COMMON_ROWS)
#define OP_RARE(...)
#else
#define OP_RARE OP_FULL
#endif
#define OP_COMPARES(scope, fn, SOURCES, VALUES, condition)                                         \
    static void fn##_full(warp *w, const insn *i)                                                  \
    {                                                                                              \
        u32 r_;                                                                                    \
        SOURCES                                                                                    \
        OP_ENTER_##scope                                                                           \
        _Alignas(64) u32 bits_[WARP_LANES];                                                        \
        OP_LANES { VALUES bits_[l] = (condition) ? 1u << l : 0u; }                                 \
        r_ = 0;                                                                                    \
        for (int l = 0; l < WARP_LANES; l++) r_ |= bits_[l];                                       \
        OP_LEAVE_##scope                                                                           \
        u32 *d_ = OP_PREDICATE(i->d);                                                              \
        *d_ = (*d_ & ~w->mask) | (r_ & w->mask);                                                   \
    }
#define OP_SOURCE(T, name) const OP_SLOT_##T *name##_ = OP_AT(T, i->name);
#define OP_VALUE(T, name)  T name = (T)name##_[l]; (void)name;
#define OP_PICK            const u32 pick_ = *OP_PREDICATE(i->c);
#define OP_PICKED          const u32 p = pick_ >> l & 1; (void)p;
#define OP_IMM             const u32 imm = (u32)i->imm; (void)imm;

#define OP1_IN(S, names, fn, D, A, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a), OP_VALUE(A, a), x)
#define OP2_IN(S, names, fn, D, A, B, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b), OP_VALUE(A, a) OP_VALUE(B, b), x)
#define OP3_IN(S, names, fn, D, A, B, C, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b) OP_SOURCE(C, c), \
                OP_VALUE(A, a) OP_VALUE(B, b) OP_VALUE(C, c), x)
#define OP4_IN(S, names, fn, D, A, B, C, F, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b) OP_SOURCE(C, c) OP_SOURCE(F, f), \
                OP_VALUE(A, a) OP_VALUE(B, b) OP_VALUE(C, c) OP_VALUE(F, f), x)
#define OP2I_IN(S, names, fn, D, A, B, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b) OP_IMM, OP_VALUE(A, a) OP_VALUE(B, b), x)
#define OP3I_IN(S, names, fn, D, A, B, C, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b) OP_SOURCE(C, c) OP_IMM, \
                OP_VALUE(A, a) OP_VALUE(B, b) OP_VALUE(C, c), x)
#define SELECT_IN(S, names, fn, D, A, B, x) \
    OP_HANDLERS(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b) OP_PICK, \
                OP_VALUE(A, a) OP_VALUE(B, b) OP_PICKED, x)
#define COMPARE_IN(S, names, fn, A, B, x) \
    OP_COMPARES(S, fn, OP_SOURCE(A, a) OP_SOURCE(B, b), OP_VALUE(A, a) OP_VALUE(B, b), x)
#define TEST_IN(S, names, fn, A, x) OP_COMPARES(S, fn, OP_SOURCE(A, a), OP_VALUE(A, a), x)

#define RARE1_IN(S, names, fn, D, A, x) \
    OP_RARE(S, fn, D, OP_SOURCE(A, a), OP_VALUE(A, a), x)
#define RARE2_IN(S, names, fn, D, A, B, x) \
    OP_RARE(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b), OP_VALUE(A, a) OP_VALUE(B, b), x)
#define RARE3_IN(S, names, fn, D, A, B, C, x) \
    OP_RARE(S, fn, D, OP_SOURCE(A, a) OP_SOURCE(B, b) OP_SOURCE(C, c), \
            OP_VALUE(A, a) OP_VALUE(B, b) OP_VALUE(C, c), x)

#define OP1(...)     OP1_IN(plain, __VA_ARGS__)
#define OP2(...)     OP2_IN(plain, __VA_ARGS__)
#define OP3(...)     OP3_IN(plain, __VA_ARGS__)
#define OP4(...)     OP4_IN(plain, __VA_ARGS__)
#define RARE1(...)   RARE1_IN(plain, __VA_ARGS__)
#define RARE2(...)   RARE2_IN(plain, __VA_ARGS__)
#define RARE3(...)   RARE3_IN(plain, __VA_ARGS__)
#define OP2I(...)    OP2I_IN(plain, __VA_ARGS__)
#define OP3I(...)    OP3I_IN(plain, __VA_ARGS__)
#define SELECT(...)  SELECT_IN(plain, __VA_ARGS__)
#define COMPARE(...) COMPARE_IN(plain, __VA_ARGS__)
#define TEST(...)    TEST_IN(plain, __VA_ARGS__)
/* A row whose two handlers are written by hand in the file: fn_full and fn_some. */
#define OP_BY_HAND(names, fn, d, e, a, b, c, f)
/* The same with fn_full alone, for a result of 32 bits: masked as RARE rows are. */
#define BLENDED(names, fn, ...)

#include OP_ROWS

#undef OP1_IN
#undef OP2_IN
#undef OP3_IN
#undef OP4_IN
#undef RARE1_IN
#undef RARE2_IN
#undef RARE3_IN
#undef OP2I_IN
#undef OP3I_IN
#undef SELECT_IN
#undef COMPARE_IN
#undef TEST_IN
#undef OP_BY_HAND
#undef BLENDED

/* Second pass: the table. */
#if defined(OP_RARELY)
#define OP_MASKED(fn, D) OP_BLEND_##D
#else
#define OP_MASKED(fn, D) fn##_some
#endif
#define OP_ENTRY(names, fn, some, ...) { names, some, fn##_full, __VA_ARGS__ },
#if defined(OP_RARE_ROWS)
#define OP_ROW(...)
#else
#define OP_ROW OP_ENTRY
#endif
#if defined(OP_COMMON_ROWS)
#define OP_RARE_ROW(...)
#else
#define OP_RARE_ROW OP_ENTRY
#endif
#define OP1_IN(S, names, fn, D, A, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, 0, 0, 0)
#define OP2_IN(S, names, fn, D, A, B, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, 0, 0)
#define OP3_IN(S, names, fn, D, A, B, C, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, OP_KIND_##C, 0)
#define OP4_IN(S, names, fn, D, A, B, C, F, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, OP_KIND_##C, OP_KIND_##F)
#define RARE1_IN(S, names, fn, D, A, x) \
    OP_RARE_ROW(names, fn, OP_BLEND_##D, OP_KIND_##D, 0, OP_KIND_##A, 0, 0, 0)
#define RARE2_IN(S, names, fn, D, A, B, x) \
    OP_RARE_ROW(names, fn, OP_BLEND_##D, OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, 0, 0)
#define RARE3_IN(S, names, fn, D, A, B, C, x) \
    OP_RARE_ROW(names, fn, OP_BLEND_##D, OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, OP_KIND_##C, 0)
#define OP2I_IN(S, names, fn, D, A, B, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, OPERAND_IMMEDIATE, 0)
#define OP3I_IN(S, names, fn, D, A, B, C, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, OP_KIND_##C, \
           OPERAND_IMMEDIATE)
#define SELECT_IN(S, names, fn, D, A, B, x) \
    OP_ROW(names, fn, OP_MASKED(fn, D), OP_KIND_##D, 0, OP_KIND_##A, OP_KIND_##B, OPERAND_PREDICATE, 0)
#define COMPARE_IN(S, names, fn, A, B, x) \
    OP_ROW(names, fn, fn##_full, OPERAND_PREDICATE, 0, OP_KIND_##A, OP_KIND_##B, 0, 0)
#define TEST_IN(S, names, fn, A, x) \
    OP_ROW(names, fn, fn##_full, OPERAND_PREDICATE, 0, OP_KIND_##A, 0, 0, 0)
#define OP_BY_HAND(names, fn, d, e, a, b, c, f) OP_ROW(names, fn, fn##_some, d, e, a, b, c, f)
#define BLENDED(names, fn, ...) OP_ROW(names, fn, ISA_NAME(ptx_blend_32), __VA_ARGS__)

static const op_entry rows_[] = {
#include OP_ROWS
};
const op_table ISA_NAME(OP_TABLE);
const op_table ISA_NAME(OP_TABLE) = { rows_, sizeof rows_ / sizeof rows_[0] };

// clang-format on
