/* Single values: text to bytes of a type and back.  Range, sign and exactness are checked; the C locale
 * is used always.  Not here: lists, structs and buffers.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_VALUES_H
#define TOOLS_VALUES_H

#include <gpulaunch/gpulaunch.h>
#include <stdint.h>

#include "mem.h"

typedef enum value_fault {
    VALUE_FINE = 0,
    VALUE_NO_NUMBER, /* not a number (of this kind) at all */
    VALUE_NOT_WHOLE, /* 2.5 for an integer */
    VALUE_RANGE,     /* does not fit the type */
    VALUE_OCTAL      /* 010: ten or eight? */
} value_fault;

/* Reads all of `length` bytes as one value of `type` into `out`. */
value_fault value_parse(void *out, gpul_type type, const char *source, size_t length);

/* Whether a number other than 0 was read as 0, because the type reaches no nearer to it. */
bool value_vanishes(gpul_type type, const void *value, const char *source, size_t length);

/* A count or size: whole, not negative, with K M G T as powers of 1024. */
value_fault value_count(uint64_t *out, const char *source, size_t length);

/* 1048576 as 1M when that is exact. */
const char *count_text(uint64_t value);

/* Does it look like a number, as opposed to a name?  (2.5, -inf, nan, 64K, 0x1f, true, 'A') */
bool value_is_number(const char *source, size_t length);

/* The exact decimal digits of a whole number, however large: "4G" gives 4294967296; NULL if none. */
const char *value_whole_text(const char *source, size_t length);

bool type_is_integer(gpul_type type); /* bool included */
bool type_is_float(gpul_type type);
bool type_is_signed(gpul_type type);
const char *type_lowest(gpul_type type); /* "-2147483648"; NULL for floats */
const char *type_highest(gpul_type type);
const char *type_name(gpul_type type);  /* as C spells it: "unsigned char" */
const char *type_short(gpul_type type); /* "u8" */
const char *type_numpy(gpul_type type); /* "uint8" */
size_t type_size(gpul_type type);
bool type_from_short(gpul_type *out, const char *name, size_t length);

double value_to_double(gpul_type type, const void *bytes);
void value_from_double(gpul_type type, void *bytes, double value); /* rounds, clamps integers */
void value_from_int(gpul_type type, void *bytes, int64_t value);   /* keeps the low bits */
int64_t value_to_int(gpul_type type, const void *bytes); /* integers; u64 keeps its bits */

/* digits 0: the shortest text that reads back as the same value; else %.<digits>g. */
void value_print(text *out, gpul_type type, const void *bytes, int digits);

#endif
