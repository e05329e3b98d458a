/* What the two files of the printer share.  Private to the front end.  SPDX-License-Identifier: MIT */
#ifndef PTX_PRINT_H
#define PTX_PRINT_H

#include "ptx/ptx.h"

/* Without guard and semicolon it is an operand list's element; used for tables too. */
void ptx_print_operand(const ptx_function *function, const ptx_operand *operand, gpul__str *out);

#endif
