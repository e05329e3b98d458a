/* Typed kernel arguments: gpul_args(a, b, ...) turns C or C++ values into a list that gpul_launch
 * checks against the kernel's signature.  SPDX-License-Identifier: MIT
 *
 *     gpul_launch(saxpy, opts, gpul_args(n, 2.5f, gpul_in(x), y))
 *
 * Accepted without a word around them: every C integer type, bool, float, double and gpul_buffer *.
 * With one: gpul_value(s) (a struct or a CUDA vector type), gpul_half(bits), gpul_bfloat16(bits),
 * gpul_address(a) (a raw device address), gpul_null (a null pointer).  A host pointer, a long double
 * or a bare struct has no row here, so passing one is a compile error and not a fault on the device.
 * At most 32 arguments by gpul_args(); a longer list is an array of gpul_arg in a gpul_arglist. */
#ifndef GPULAUNCH_ARGS_H
#define GPULAUNCH_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct gpul_buffer gpul_buffer;

/* An options struct in place, which lives until the end of the full expression: what gpul_launch_opts(...)
 * and its kin are made of.  C++ wants the members in the order of their declaration; before C++20
 * designators are an extension there, which g++ and clang++ have. */
#ifdef __cplusplus
template <class T> inline const T *gpul_temporary(const T &options)
{
    return &options;
}
template <class T> inline T gpul_placed(T options, const char *file, int line)
{
    options.caller_file = file;
    options.caller_line = line;
    return options;
}
#define GPUL_OPTIONS(type, ...) gpul_temporary(type{ __VA_ARGS__ })
#define GPUL_OPTIONS_HERE(type, ...)                                                               \
    gpul_temporary(gpul_placed(type{ __VA_ARGS__ }, __FILE__, __LINE__))
#else
#define GPUL_OPTIONS(type, ...) (&(type){ __VA_ARGS__ })
#define GPUL_OPTIONS_HERE(type, ...)                                                               \
    (&(type){ .caller_file = __FILE__, .caller_line = __LINE__, __VA_ARGS__ })
#endif

/* What an argument is; the class that is compared with the kernel's parameter. */
typedef enum gpul_arg_kind {
    GPUL_ARG_INT = 1, /* two's complement integer; also bool and char */
    GPUL_ARG_FLOAT,   /* IEEE binary16, bfloat16, binary32 or binary64: see size and format */
    GPUL_ARG_BUFFER,  /* a gpul_buffer; its device address is passed */
    GPUL_ARG_ADDRESS, /* a raw device address, taken as it is */
    GPUL_ARG_BYTES    /* a struct by value; size must equal the parameter's */
} gpul_arg_kind;

enum { GPUL_FORMAT_IEEE = 0, GPUL_FORMAT_BFLOAT = 1 };

/* One argument; 32 bytes, passed by value and never kept.  Build it with the functions below. */
typedef struct gpul_arg {
    uint8_t kind;      /* gpul_arg_kind */
    uint8_t is_signed; /* integers: 1 when the C type is signed */
    uint8_t is_const;  /* buffers: 1 when only reading is intended (gpul_in) */
    uint8_t format;    /* floats: GPUL_FORMAT_* */
    uint32_t size;     /* bytes as the C side has them */
    union {
        uint64_t bits; /* integers sign- or zero-extended; floats as their bit pattern */
        const gpul_buffer *buffer;
        const void *bytes; /* must live until the call returns */
    } v;
    uint64_t reserved[2];
} gpul_arg;

/* A list of arguments in the order of the kernel's parameters; read until the call returns. */
typedef struct gpul_arglist {
    size_t count;
    const gpul_arg *items;
} gpul_arglist;

// clang-format off
#define GPUL_INT_TYPES(X)                                                                          \
    X(bool, bool, 0) X(char, char, (char)-1 < (char)0) X(schar, signed char, 1)                    \
    X(uchar, unsigned char, 0) X(short, short, 1) X(ushort, unsigned short, 0) X(int, int, 1)      \
    X(uint, unsigned, 0) X(long, long, 1) X(ulong, unsigned long, 0) X(llong, long long, 1)        \
    X(ullong, unsigned long long, 0)

/* All of an argument at once: compilers make a few wide stores of it, where setting it piece by piece
 * would cost as much as the rest of a launch's checks. */
static inline gpul_arg gpul_arg_whole(gpul_arg_kind kind, int is_signed, int is_const, int format,
                                      size_t size, uint64_t bits)
{
    gpul_arg a = { (uint8_t)kind, (uint8_t)is_signed, (uint8_t)is_const, (uint8_t)format,
                   (uint32_t)size, { bits }, { 0, 0 } };
    return a;
}

static inline gpul_arg gpul_arg_make(gpul_arg_kind kind, int is_signed, size_t size, uint64_t bits)
{
    return gpul_arg_whole(kind, is_signed, 0, 0, size, bits);
}

#define GPUL_ARG_INT_FN(tag, type, sign)                                                           \
    static inline gpul_arg gpul_arg_##tag(type x)                                                  \
    {                                                                                              \
        return gpul_arg_make(GPUL_ARG_INT, sign, sizeof x, (uint64_t)x);                           \
    }
GPUL_INT_TYPES(GPUL_ARG_INT_FN)
#undef GPUL_ARG_INT_FN
// clang-format on

static inline gpul_arg gpul_arg_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return gpul_arg_make(GPUL_ARG_FLOAT, 1, sizeof x, bits);
}

static inline gpul_arg gpul_arg_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return gpul_arg_make(GPUL_ARG_FLOAT, 1, sizeof x, bits);
}

static inline gpul_arg gpul_arg_const_buffer(const gpul_buffer *b)
{
    return gpul_arg_whole(GPUL_ARG_BUFFER, 0, 1, 0, 8, (uint64_t)(uintptr_t)b);
}

static inline gpul_arg gpul_arg_buffer(gpul_buffer *b)
{
    return gpul_arg_whole(GPUL_ARG_BUFFER, 0, 0, 0, 8, (uint64_t)(uintptr_t)b);
}

/* A struct by value of `size` bytes at `bytes`, laid out as the device's compiler lays it out. */
static inline gpul_arg gpul_arg_bytes(const void *bytes, size_t size)
{
    return gpul_arg_whole(GPUL_ARG_BYTES, 0, 0, 0, size, (uint64_t)(uintptr_t)bytes);
}

static inline gpul_arg gpul_arg_same(gpul_arg a)
{
    return a;
}

/* A half or bfloat16 by its 16 bits: gpul_half(0x4200) is 3.0. */
static inline gpul_arg gpul_half(uint16_t bits)
{
    return gpul_arg_make(GPUL_ARG_FLOAT, 1, 2, bits);
}

static inline gpul_arg gpul_bfloat16(uint16_t bits)
{
    return gpul_arg_whole(GPUL_ARG_FLOAT, 1, 0, GPUL_FORMAT_BFLOAT, 2, bits);
}

/* A raw device address for a pointer parameter; nothing about it is checked but its class. */
static inline gpul_arg gpul_address(uint64_t address)
{
    return gpul_arg_make(GPUL_ARG_ADDRESS, 0, 8, address);
}

#define gpul_null gpul_address(0)

/* A buffer that the kernel only reads: refused for a parameter that is not const. */
static inline const gpul_buffer *gpul_in(const gpul_buffer *b)
{
    return b;
}

/* A struct passed by value, which must be an object and not an expression. */
#define gpul_value(object) gpul_arg_bytes(&(object), sizeof(object))

#define gpul_no_args (gpul_arglist_empty())
static inline gpul_arglist gpul_arglist_empty(void)
{
    gpul_arglist list;
    list.count = 0;
    list.items = NULL;
    return list;
}

#ifdef __cplusplus

/* C++ has overloads where C has _Generic; a type without one does not compile. */
// clang-format off
#define GPUL_ARG_OVERLOAD(tag, type, sign) \
    static inline gpul_arg gpul_arg_of(type x) { return gpul_arg_##tag(x); }
GPUL_INT_TYPES(GPUL_ARG_OVERLOAD)
#undef GPUL_ARG_OVERLOAD
static inline gpul_arg gpul_arg_of(float x) { return gpul_arg_float(x); }
static inline gpul_arg gpul_arg_of(double x) { return gpul_arg_double(x); }
static inline gpul_arg gpul_arg_of(gpul_buffer *x) { return gpul_arg_buffer(x); }
static inline gpul_arg gpul_arg_of(const gpul_buffer *x) { return gpul_arg_const_buffer(x); }
static inline gpul_arg gpul_arg_of(gpul_arg x) { return x; }
template <typename T> gpul_arg gpul_arg_of(T *x) = delete; /* a host pointer */
gpul_arg gpul_arg_of(long double x) = delete;
// clang-format on

/* Holds the items of one call; a temporary, so it lives until the full expression ends. */
template <size_t N> struct gpul_arg_array {
    gpul_arg items[N];
    operator gpul_arglist() const
    {
        gpul_arglist list = { N, items };
        return list;
    }
};

template <typename... T> static inline gpul_arg_array<sizeof...(T)> gpul_args(T... x)
{
    static_assert(sizeof...(T) > 0, "use gpul_no_args for a kernel without parameters");
    return gpul_arg_array<sizeof...(T)>{ { gpul_arg_of(x)... } };
}

#else

// clang-format off
#define GPUL_ARG_OF(x) _Generic((x),                                                               \
    bool: gpul_arg_bool, char: gpul_arg_char, signed char: gpul_arg_schar,                         \
    unsigned char: gpul_arg_uchar, short: gpul_arg_short, unsigned short: gpul_arg_ushort,         \
    int: gpul_arg_int, unsigned: gpul_arg_uint, long: gpul_arg_long,                               \
    unsigned long: gpul_arg_ulong, long long: gpul_arg_llong,                                      \
    unsigned long long: gpul_arg_ullong, float: gpul_arg_float, double: gpul_arg_double,           \
    gpul_buffer *: gpul_arg_buffer, const gpul_buffer *: gpul_arg_const_buffer,                    \
    gpul_arg: gpul_arg_same)(x)

/* A plain ladder, on purpose: it reads at a glance and a compiler's message points into it. */
#define GPUL_EACH_1(a)       GPUL_ARG_OF(a)
#define GPUL_EACH_2(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_1(__VA_ARGS__)
#define GPUL_EACH_3(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_2(__VA_ARGS__)
#define GPUL_EACH_4(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_3(__VA_ARGS__)
#define GPUL_EACH_5(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_4(__VA_ARGS__)
#define GPUL_EACH_6(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_5(__VA_ARGS__)
#define GPUL_EACH_7(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_6(__VA_ARGS__)
#define GPUL_EACH_8(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_7(__VA_ARGS__)
#define GPUL_EACH_9(a, ...)  GPUL_ARG_OF(a), GPUL_EACH_8(__VA_ARGS__)
#define GPUL_EACH_10(a, ...) GPUL_ARG_OF(a), GPUL_EACH_9(__VA_ARGS__)
#define GPUL_EACH_11(a, ...) GPUL_ARG_OF(a), GPUL_EACH_10(__VA_ARGS__)
#define GPUL_EACH_12(a, ...) GPUL_ARG_OF(a), GPUL_EACH_11(__VA_ARGS__)
#define GPUL_EACH_13(a, ...) GPUL_ARG_OF(a), GPUL_EACH_12(__VA_ARGS__)
#define GPUL_EACH_14(a, ...) GPUL_ARG_OF(a), GPUL_EACH_13(__VA_ARGS__)
#define GPUL_EACH_15(a, ...) GPUL_ARG_OF(a), GPUL_EACH_14(__VA_ARGS__)
#define GPUL_EACH_16(a, ...) GPUL_ARG_OF(a), GPUL_EACH_15(__VA_ARGS__)
#define GPUL_EACH_17(a, ...) GPUL_ARG_OF(a), GPUL_EACH_16(__VA_ARGS__)
#define GPUL_EACH_18(a, ...) GPUL_ARG_OF(a), GPUL_EACH_17(__VA_ARGS__)
#define GPUL_EACH_19(a, ...) GPUL_ARG_OF(a), GPUL_EACH_18(__VA_ARGS__)
#define GPUL_EACH_20(a, ...) GPUL_ARG_OF(a), GPUL_EACH_19(__VA_ARGS__)
#define GPUL_EACH_21(a, ...) GPUL_ARG_OF(a), GPUL_EACH_20(__VA_ARGS__)
#define GPUL_EACH_22(a, ...) GPUL_ARG_OF(a), GPUL_EACH_21(__VA_ARGS__)
#define GPUL_EACH_23(a, ...) GPUL_ARG_OF(a), GPUL_EACH_22(__VA_ARGS__)
#define GPUL_EACH_24(a, ...) GPUL_ARG_OF(a), GPUL_EACH_23(__VA_ARGS__)
#define GPUL_EACH_25(a, ...) GPUL_ARG_OF(a), GPUL_EACH_24(__VA_ARGS__)
#define GPUL_EACH_26(a, ...) GPUL_ARG_OF(a), GPUL_EACH_25(__VA_ARGS__)
#define GPUL_EACH_27(a, ...) GPUL_ARG_OF(a), GPUL_EACH_26(__VA_ARGS__)
#define GPUL_EACH_28(a, ...) GPUL_ARG_OF(a), GPUL_EACH_27(__VA_ARGS__)
#define GPUL_EACH_29(a, ...) GPUL_ARG_OF(a), GPUL_EACH_28(__VA_ARGS__)
#define GPUL_EACH_30(a, ...) GPUL_ARG_OF(a), GPUL_EACH_29(__VA_ARGS__)
#define GPUL_EACH_31(a, ...) GPUL_ARG_OF(a), GPUL_EACH_30(__VA_ARGS__)
#define GPUL_EACH_32(a, ...) GPUL_ARG_OF(a), GPUL_EACH_31(__VA_ARGS__)
#define GPUL_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, \
                  _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, name, ...) \
    name
#define GPUL_EACH(...)                                                                             \
    GPUL_PICK(__VA_ARGS__, GPUL_EACH_32, GPUL_EACH_31, GPUL_EACH_30, GPUL_EACH_29, GPUL_EACH_28,   \
              GPUL_EACH_27, GPUL_EACH_26, GPUL_EACH_25, GPUL_EACH_24, GPUL_EACH_23, GPUL_EACH_22,  \
              GPUL_EACH_21, GPUL_EACH_20, GPUL_EACH_19, GPUL_EACH_18, GPUL_EACH_17, GPUL_EACH_16,  \
              GPUL_EACH_15, GPUL_EACH_14, GPUL_EACH_13, GPUL_EACH_12, GPUL_EACH_11, GPUL_EACH_10,  \
              GPUL_EACH_9, GPUL_EACH_8, GPUL_EACH_7, GPUL_EACH_6, GPUL_EACH_5, GPUL_EACH_4,        \
              GPUL_EACH_3, GPUL_EACH_2, GPUL_EACH_1, GPUL_TOO_MANY_ARGUMENTS)(__VA_ARGS__)
#define GPUL_COUNT(...)                                                                            \
    GPUL_PICK(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, \
              14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define gpul_args(...)                                                                             \
    ((gpul_arglist){ GPUL_COUNT(__VA_ARGS__), (gpul_arg[]){ GPUL_EACH(__VA_ARGS__) } })
// clang-format on

#endif
#endif
