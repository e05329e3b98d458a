/* The reference: what an instruction gives, written from the PTX ISA, one value at a time.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_OPS_REF_H
#define TESTS_PTX_OPS_REF_H

#include "form.h"
#include "number.h"

/* The result of an exact instruction, cut to the width of its type; predicates are 0 or 1, and 2 more
 * for the second of a pair.  False: the reference does not know the instruction, or the ISA leaves
 * the result open for these inputs. */
bool ref_exact(const form *form, const uint64_t in[4], uint64_t *out);
bool ref_integer(const form *form, const uint64_t in[4], uint64_t *out);
bool ref_bits(const form *form, const uint64_t in[4], uint64_t *out);
bool ref_compare(const form *form, const uint64_t in[4], uint64_t *out);
bool ref_float(const form *form, const uint64_t in[4], uint64_t *out);
bool ref_convert(const form *form, const uint64_t in[4], uint64_t *out);

/* The true value of an approximate instruction of one result, and how far it may be off. */
bool ref_true_value(const form *form, const uint64_t in[4], long double *value, long double *bound);
long double ref_value_of(form_type type, uint64_t bits);

/* Whether `got` is a result that the ISA allows: equal where it is exact (any NaN for any NaN where
 * the payload is open), within the bound where it is approximate.  `expected` gets a text when it is not. */
bool ref_accepts(const form *form, const uint64_t in[4], uint64_t got, char *expected, size_t room);

/* Whether two results are the same in the sense of the form's check, for forms that are not
 * approximate. */
bool ref_same(const form *form, uint64_t a, uint64_t b);

#endif
