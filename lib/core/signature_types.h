/* From the text of a C++ type to what a launcher needs: kind, size, alignment, lanes, members.  The text
 * comes from the compiler, from a mangled name or from the source.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SIGNATURE_TYPES_H
#define GPUL_CORE_SIGNATURE_TYPES_H

#include <gpulaunch/gpulaunch.h>

#include "core/source_scan.h"

/* The built-in and vector types that the compiler is asked about by number: X(code, type, element,
 * lanes, align).  A number is only used between a probe and its answer. */
// clang-format off
#define GPUL__TYPE_CODES(X)                                                                        \
    X(2, bool, BOOL, 1, 1) X(3, char, I8, 1, 1) X(4, signed char, I8, 1, 1)                        \
    X(5, unsigned char, U8, 1, 1) X(6, short, I16, 1, 2) X(7, unsigned short, U16, 1, 2)           \
    X(8, int, I32, 1, 4) X(9, unsigned int, U32, 1, 4) X(10, long, I64, 1, 8)                      \
    X(11, unsigned long, U64, 1, 8) X(12, long long, I64, 1, 8)                                    \
    X(13, unsigned long long, U64, 1, 8) X(14, float, F32, 1, 4) X(15, double, F64, 1, 8)          \
    X(16, char1, I8, 1, 1) X(17, char2, I8, 2, 2) X(18, char3, I8, 3, 1) X(19, char4, I8, 4, 4)    \
    X(20, uchar1, U8, 1, 1) X(21, uchar2, U8, 2, 2) X(22, uchar3, U8, 3, 1)                        \
    X(23, uchar4, U8, 4, 4) X(24, short1, I16, 1, 2) X(25, short2, I16, 2, 4)                      \
    X(26, short3, I16, 3, 2) X(27, short4, I16, 4, 8) X(28, ushort1, U16, 1, 2)                    \
    X(29, ushort2, U16, 2, 4) X(30, ushort3, U16, 3, 2) X(31, ushort4, U16, 4, 8)                  \
    X(32, int1, I32, 1, 4) X(33, int2, I32, 2, 8) X(34, int3, I32, 3, 4) X(35, int4, I32, 4, 16)   \
    X(36, uint1, U32, 1, 4) X(37, uint2, U32, 2, 8) X(38, uint3, U32, 3, 4)                        \
    X(39, uint4, U32, 4, 16) X(40, float1, F32, 1, 4) X(41, float2, F32, 2, 8)                     \
    X(42, float3, F32, 3, 4) X(43, float4, F32, 4, 16) X(44, longlong1, I64, 1, 8)                 \
    X(45, longlong2, I64, 2, 16) X(46, ulonglong1, U64, 1, 8) X(47, ulonglong2, U64, 2, 16)        \
    X(48, double1, F64, 1, 8) X(49, double2, F64, 2, 16) X(50, long1, I64, 1, 8)                   \
    X(51, long2, I64, 2, 16) X(52, ulong1, U64, 1, 8) X(53, ulong2, U64, 2, 16)
// clang-format on
enum { GPUL__TYPE_CODE_NONE = 1, GPUL__TYPE_CODE_ENUM = 64 };

/* A struct whose members are known. */
typedef struct gpul__struct {
    const char *name; /* as the compiler prints it: "demo::Params", "Vec<float, 3>" */
    uint32_t size, align;
    gpul_member *members;
    uint32_t member_count;
} gpul__struct;

/* What is known about type names of one source. */
typedef struct gpul__type_book {
    gpul__arena *arena;     /* of the results */
    const gpul__scan *scan; /* typedefs and enumerations; may be NULL */
    gpul__struct *structs;
    size_t struct_count;
} gpul__type_book;

/* The parts of a type's text. */
typedef struct gpul__type_text {
    const char *base;    /* without const, volatile, pointer and dimensions: "demo::Params" */
    const char *pointee; /* of a pointer: its whole text; NULL otherwise */
    bool is_const;       /* the type itself */
    bool is_function;    /* pointer to function, reference, member pointer: nothing to be passed */
    uint32_t count;      /* elements of an array, 1 otherwise */
} gpul__type_text;
bool gpul__type_text_read(gpul__type_text *out, gpul__arena *arena, const char *text);

/* Fills type, element, lanes, size, align, count, is_enum and members from the text, or from the
 * compiler's answer `code` where the text is a name that says nothing (0: none).  Leaves name, type_name
 * and offset alone.  GPUL_TYPE_UNKNOWN when the type is not known.  False: out of memory. */
bool gpul__type_fill(gpul_member *out, const gpul__type_book *book, const char *text, int code);

/* Whether a base name needs the compiler's answer: no built-in or well-known type, no struct, enum or
 * single typedef of the source. */
bool gpul__type_needs_code(const gpul__scan *scan, const char *base);

/* The text of the one typedef of this name; NULL when there is none or several. */
const char *gpul__type_alias(const gpul__scan *scan, gpul__arena *arena, const char *name);

/* The struct of this name: whole, or by its last part when only one has it. */
const gpul__struct *gpul__struct_find(const gpul__type_book *book, const char *name);

/* "Vec" for "demo::Vec<float, 3>": length of the last part, without template arguments. */
const char *gpul__last_part(const char *name, size_t *length);

#endif
