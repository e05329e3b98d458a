/* PTX for the instructions under test.  SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_OPS_KERNEL_TEXT_H
#define TESTS_PTX_OPS_KERNEL_TEXT_H

#include <stdio.h>

#include "../form.h"

/* A module with one kernel for each of forms[0 .. count): "op0", "op1", ...  Kernel parameters: the
 * address of the inputs (four 64-bit values a thread), and that of the outputs (one 64-bit value a
 * thread: the register of the result, extended by zeros). */
void kernel_text_module(FILE *out, const form *forms, size_t count, unsigned arch);

/* The width of the register that holds a value of a type.  Types of eight bits stand in 32 bits, into
 * which the instruction extends its result; only conversions from and to bf16 want .b8 registers. */
unsigned kernel_text_width(const form *form, form_type type);

#endif
