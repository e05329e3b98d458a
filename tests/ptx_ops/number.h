/* Floating-point numbers of any format as exact integers times powers of two: the arithmetic of the
 * reference.  Nothing here uses the machine's own floating point.  SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_OPS_NUMBER_H
#define TESTS_PTX_OPS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "form.h"

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

typedef enum number_kind { NUMBER_ZERO, NUMBER_FINITE, NUMBER_INFINITE, NUMBER_NAN } number_kind;

/* digits * 2^exponent, plus something smaller than one unit of it when `more` is set. */
typedef struct number {
    number_kind kind;
    bool negative, more;
    int exponent;
    wide digits;
} number;

typedef struct number_format {
    unsigned exponent_bits, fraction_bits;
    uint64_t nan;        /* the canonical one */
    bool no_infinity;    /* e4m3: the topmost code is NaN and the one below it a number */
    unsigned unused_low; /* bits below the fraction that are zero: tf32 in 32 bits */
} number_format;

typedef enum number_rounding {
    ROUND_NEAREST, /* ties to even */
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY, /* to nearest, ties away from zero */
} number_rounding;

const number_format *number_format_of(form_type type); /* f16 bf16 f32 f64 tf32 e4m3x2 e5m2x2 */
extern const number_format number_e4m3, number_e5m2;

number number_decode(const number_format *format, uint64_t bits);
uint64_t number_encode(const number_format *format, number x, number_rounding rounding);
number number_integer(bool negative, uint64_t magnitude);

number number_add(number a, number b, number_rounding rounding); /* it decides the sign of zero */
number number_multiply(number a, number b);
number number_divide(number a, number b);
number number_root(number a);
number number_integral(number a, number_rounding rounding);
int number_compare(number a, number b); /* -1, 0, 1; 2: unordered */

bool number_subnormal(const number_format *format, uint64_t bits);
/* Whether a number is below the normal range once it is rounded to the format's places, its exponent being
 * free: what .ftz flushes, as recorded on an H200. */
bool number_tiny(const number_format *format, number x, number_rounding rounding);
uint64_t number_flush(const number_format *format, uint64_t bits); /* subnormals to zero */

/* An integral value as an integer of `bits` bits, at the ends of its range when it is outside. */
uint64_t number_to_integer(number a, unsigned bits, bool is_signed);

#endif
