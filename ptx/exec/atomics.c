/* atom and red.  Global memory is changed with the processor's atomic instructions, because other
 * workers and the host see it; shared memory belongs to one worker, so plain code does.  Lanes take
 * effect in ascending order.
 *
 * Fields: d the old value, or NO_SLOT when nobody wants it; a and imm the address; b the operand
 * (of cas: what to compare with), c the new value of cas.  SPDX-License-Identifier: MIT */
#include "ptx/exec/pattern.h"

#include "ptx/exec/isa.h"

/* ------------------------------------------------------------------ operations */

static u32 bits_of(f32 value)
{
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static f32 float_of(u32 bits)
{
    f32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Subnormal numbers become zero of the same sign: what the hardware does in global memory. */
static u32 flush(u32 bits)
{
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static u32 add_f32(u32 a, u32 b)
{
    u32 sum = bits_of(float_of(a) + float_of(b));
    return (sum & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : sum;
}

static u32 add_f32_flushed(u32 a, u32 b)
{
    return flush(add_f32(flush(a), flush(b)));
}

static u64 add_f64(u64 a, u64 b)
{
    f64 x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    x += y;
    memcpy(&a, &x, 8);
    return a;
}

static f32 float_of_half(u32 h)
{
    u32 sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ffu;
    if (exponent == 31) return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    f32 small = (f32)fraction * 0x1p-24f;
    return sign ? -small : small;
}

/* To nearest, ties to even; a sum of two halves is exact in f32, so it is rounded once. */
static u32 half_of_float(f32 value)
{
    u32 bits = bits_of(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return 0x7fffu;
    if (rest >= 0x477ff000u) return sign | 0x7c00u;
    if (rest < 0x38800000u) {
        /* A multiple of 2^-24, found by letting f32 round to it. */
        f32 shifted = float_of(rest) + 0.5f;
        return sign | (bits_of(shifted) - bits_of(0.5f));
    }
    u32 rounded = rest + 0xfffu + (rest >> 13 & 1);
    return sign | ((rounded >> 13) - (112u << 10));
}

static u32 add_f16(u32 a, u32 b)
{
    return half_of_float(float_of_half(a & 0xffffu) + float_of_half(b & 0xffffu));
}

static u32 add_bf16(u32 a, u32 b)
{
    u32 sum = bits_of(float_of(a << 16) + float_of(b << 16));
    if ((sum & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (sum + 0x7fffu + (sum >> 16 & 1)) >> 16;
}

static u32 add_f16x2(u32 a, u32 b)
{
    return add_f16(a, b) | add_f16(a >> 16, b >> 16) << 16;
}

static u32 add_bf16x2(u32 a, u32 b)
{
    return add_bf16(a & 0xffffu, b & 0xffffu) | add_bf16(a >> 16, b >> 16) << 16;
}

/* ------------------------------------------------------------------ where */

/* Host addresses of the active lanes; returns those that are valid, and whether they are in memory
 * that only this worker sees. */
static u32 places(warp *w, const insn *i, unsigned size, u64 *host, bool *own)
{
    _Alignas(64) u64 a[WARP_LANES];
    memory_space space = i->space & SPACE_MASK;
    bool address32 = i->space & SPACE_ADDRESS32;
    *own = space == MEMORY_SHARED;
    if (address32) addresses_of(w, i, 32, a);
    else addresses_of(w, i, 64, a);
    if (space == MEMORY_GENERIC) {
        u64 offsets[WARP_LANES];
        if (!w->mask) return 0;
        unsigned first = (unsigned)__builtin_ctz(w->mask);
        u32 shared = ptx_lanes_in_space(a, w->mask, MEMORY_SHARED, offsets);
        *own = shared >> first & 1;
        if (!shared) {
            space = MEMORY_GLOBAL;
        } else {
            /* Both kinds in one warp: real atomics do for both. */
            if (shared != w->mask) *own = false;
            u32 good = ptx_resolve(w, i, MEMORY_SHARED, offsets, shared, size, true,
                                   "atomically changes", host);
            u32 others = w->mask & ~shared;
            return others ? good | ptx_resolve(w, i, MEMORY_GLOBAL, a, others, size, true,
                                               "atomically changes", host)
                          : good;
        }
    }
    u64 base = 0;
    if (LIKELY(w->mask == ALL_LANES) && space <= MEMORY_SHARED &&
        LIKELY(space == MEMORY_SHARED ? locate_all(w, i, MEMORY_SHARED, a, size, true, &base)
                                      : locate_all(w, i, MEMORY_GLOBAL, a, size, true, &base))) {
        OP_LANES
        {
            host[l] = base + a[l];
        }
        return ALL_LANES;
    }
    return ptx_resolve(w, i, space, a, w->mask, size, true, "atomically changes", host);
}

/* ------------------------------------------------------------------ handlers */

#define FOR_LANES(lanes) for (u32 rest = (lanes); rest; rest &= rest - 1)

/* `plain` computes the new value from old, b and c; `atomic` is a built-in that does all of it, or
 * a loop of compare and exchange. */
#define ATOMIC(name, T, S, plain, atomic)                                                          \
    static void name(warp *w, const insn *i)                                                       \
    {                                                                                              \
        _Alignas(64) u64 host[WARP_LANES];                                                         \
        bool own;                                                                                  \
        u32 lanes = places(w, i, sizeof(T), host, &own);                                           \
        const S *bs = OP_AT(S, i->b);                                                              \
        const S *cs = OP_AT(S, i->c == NO_SLOT ? i->b : i->c);                                     \
        S *ds = i->d == NO_SLOT ? NULL : OP_AT(S, i->d);                                           \
        if (own) {                                                                                 \
            FOR_LANES(lanes)                                                                       \
            {                                                                                      \
                int l = __builtin_ctz(rest);                                                       \
                T *at = (T *)(uintptr_t)host[l], old = *at, b = (T)bs[l], c = (T)cs[l];            \
                (void)b, (void)c;                                                                  \
                *at = (T)(plain);                                                                  \
                if (ds) ds[l] = (S)old;                                                            \
            }                                                                                      \
        } else {                                                                                   \
            FOR_LANES(lanes)                                                                       \
            {                                                                                      \
                int l = __builtin_ctz(rest);                                                       \
                T *at = (T *)(uintptr_t)host[l], old, b = (T)bs[l], c = (T)cs[l];                  \
                (void)b, (void)c;                                                                  \
                atomic;                                                                            \
                if (ds) ds[l] = (S)old;                                                            \
            }                                                                                      \
        }                                                                                          \
    }

#define BUILT_IN(function) old = function(at, b, __ATOMIC_ACQ_REL)
#define LOOP(result)                                                                               \
    do {                                                                                           \
        old = __atomic_load_n(at, __ATOMIC_RELAXED);                                               \
        while (!__atomic_compare_exchange_n(at, &old, (result), false, __ATOMIC_SEQ_CST,           \
                                            __ATOMIC_RELAXED)) {}                                  \
    } while (0)
#define SWAP_IF                                                                                    \
    old = b;                                                                                       \
    __atomic_compare_exchange_n(at, &old, c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define INTEGER(bits, T, S, ST)                                                                    \
    ATOMIC(add_##bits, T, S, old + b, BUILT_IN(__atomic_fetch_add))                                \
    ATOMIC(and_##bits, T, S, old &b, BUILT_IN(__atomic_fetch_and))                                 \
    ATOMIC(or_##bits, T, S, old | b, BUILT_IN(__atomic_fetch_or))                                  \
    ATOMIC(xor_##bits, T, S, old ^ b, BUILT_IN(__atomic_fetch_xor))                                \
    ATOMIC(exch_##bits, T, S, b, BUILT_IN(__atomic_exchange_n))                                    \
    ATOMIC(cas_##bits, T, S, old == b ? c : old, SWAP_IF)                                          \
    ATOMIC(umin_##bits, T, S, b < old ? b : old, LOOP(b < old ? b : old))                          \
    ATOMIC(umax_##bits, T, S, b > old ? b : old, LOOP(b > old ? b : old))                          \
    ATOMIC(smin_##bits, T, S, (ST)b < (ST)old ? b : old, LOOP((ST)b < (ST)old ? b : old))          \
    ATOMIC(smax_##bits, T, S, (ST)b > (ST)old ? b : old, LOOP((ST)b > (ST)old ? b : old))          \
    ATOMIC(inc_##bits, T, S, old >= b ? 0 : old + 1, LOOP(old >= b ? 0 : old + 1))                 \
    ATOMIC(dec_##bits, T, S, old == 0 || old > b ? b : old - 1,                                    \
           LOOP(old == 0 || old > b ? b : old - 1))
INTEGER(32, u32, u32, s32)
INTEGER(64, u64, u64, s64)
ATOMIC(cas_16, u16, u32, old == b ? c : old, SWAP_IF)
ATOMIC(exch_16, u16, u32, b, BUILT_IN(__atomic_exchange_n))
ATOMIC(fadd_32, u32, u32, add_f32(old, b), LOOP(add_f32_flushed(old, b)))
ATOMIC(fadd_64, u64, u64, add_f64(old, b), LOOP(add_f64(old, b)))
ATOMIC(hadd_16, u16, u32, (u16)add_f16(old, b), LOOP((u16)add_f16(old, b)))
ATOMIC(hadd_32, u32, u32, add_f16x2(old, b), LOOP(add_f16x2(old, b)))
ATOMIC(bfadd_16, u16, u32, (u16)add_bf16(old, b), LOOP((u16)add_bf16(old, b)))
ATOMIC(bfadd_32, u32, u32, add_bf16x2(old, b), LOOP(add_bf16x2(old, b)))

/* ------------------------------------------------------------------ the table */

handler *ISA_NAME(ptx_atomic_handler)(ptx_operation operation, ptx_type type)
{
    bool is_signed = ptx_type_class_of(type) == PTX_CLASS_SIGNED, wide = ptx_type_bits(type) == 64;
    bool is_float = ptx_type_class_of(type) == PTX_CLASS_FLOAT;
    if (is_float) {
        if (operation != PTX_OPERATION_ADD) return NULL;
        return type == PTX_F32      ? fadd_32
               : type == PTX_F64    ? fadd_64
               : type == PTX_F16    ? hadd_16
               : type == PTX_F16X2  ? hadd_32
               : type == PTX_BF16   ? bfadd_16
               : type == PTX_BF16X2 ? bfadd_32
                                    : NULL;
    }
    if (ptx_type_bits(type) == 16)
        return operation == PTX_OPERATION_CAS    ? cas_16
               : operation == PTX_OPERATION_EXCH ? exch_16
                                                 : NULL;
    if (ptx_type_bits(type) != 32 && !wide) return NULL;
    switch (operation) {
    case PTX_OPERATION_ADD: return wide ? add_64 : add_32;
    case PTX_OPERATION_AND: return wide ? and_64 : and_32;
    case PTX_OPERATION_OR: return wide ? or_64 : or_32;
    case PTX_OPERATION_XOR: return wide ? xor_64 : xor_32;
    case PTX_OPERATION_EXCH: return wide ? exch_64 : exch_32;
    case PTX_OPERATION_CAS: return wide ? cas_64 : cas_32;
    case PTX_OPERATION_MIN:
        return is_signed ? (wide ? smin_64 : smin_32) : (wide ? umin_64 : umin_32);
    case PTX_OPERATION_MAX:
        return is_signed ? (wide ? smax_64 : smax_32) : (wide ? umax_64 : umax_32);
    case PTX_OPERATION_INC: return wide ? inc_64 : inc_32;
    case PTX_OPERATION_DEC: return wide ? dec_64 : dec_32;
    default: return NULL;
    }
}
